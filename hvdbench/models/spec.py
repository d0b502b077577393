"""A network as data: its variables, bytes and FLOPs follow from the layer list without TensorFlow."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod


@dataclass(frozen=True)
class Conv:
    """Convolution with ReLU; `pad` pixels of zeros on each side before a VALID window."""

    name: str
    channels: int
    kernel: int
    stride: int = 1
    pad: int = 0


@dataclass(frozen=True)
class Pool:
    """Max-pooling, VALID window of `kernel` pixels."""

    name: str
    kernel: int = 3
    stride: int = 2


@dataclass(frozen=True)
class Dense:
    """Fully connected layer; `relu` False on the last one."""

    name: str
    units: int
    relu: bool = True


Layer = Conv | Pool | Dense


@dataclass(frozen=True)
class Variable:
    """One trainable variable; `fan_in` sets the spread of its initial values (0 for a bias)."""

    name: str
    shape: tuple[int, ...]
    fan_in: int

    @property
    def elements(self) -> int:
        return prod(self.shape)


@dataclass(frozen=True)
class LayerCost:
    """One layer's output shape (height, width, channels), variables and multiply-adds per image."""

    layer: Layer
    output: tuple[int, int, int]
    variables: tuple[Variable, ...]
    macs: int


@dataclass(frozen=True)
class ModelSpec:
    """A single-tower image network: square images of `image_size` pixels and 3 channels."""

    name: str
    image_size: int
    classes: int
    layers: tuple[Layer, ...]
    learning_rate: float

    def with_classes(self, classes: int) -> ModelSpec:
        """The same network with a last layer of `classes` units."""
        *others, last = self.layers
        assert isinstance(last, Dense)
        return replace(self, classes=classes, layers=(*others, replace(last, units=classes)))

    def costs(self) -> tuple[LayerCost, ...]:
        """Each layer's shape, variables and multiply-adds, in order."""
        shape, found = (self.image_size, self.image_size, 3), []
        for layer in self.layers:
            found.append(_cost(layer, shape))
            shape = found[-1].output
        return tuple(found)

    def variables(self) -> tuple[Variable, ...]:
        """The trainable variables in creation order: weight, bias, weight, bias ..."""
        return tuple(variable for cost in self.costs() for variable in cost.variables)

    @property
    def param_count(self) -> int:
        return sum(variable.elements for variable in self.variables())

    @property
    def forward_flops_per_image(self) -> int:
        """2 FLOPs per multiply-add of convolutions and dense layers; bias, ReLU and pooling are left out."""
        return 2 * sum(cost.macs for cost in self.costs())

    @property
    def train_flops_per_image(self) -> int:
        """Forward plus backward: each layer again for its weights and again for its input, but the first."""
        macs = [cost.macs for cost in self.costs()]
        return 2 * (3 * sum(macs) - macs[0])


def _cost(layer: Layer, shape: tuple[int, int, int]) -> LayerCost:
    height, _, channels = shape
    if isinstance(layer, Dense):
        fan_in = prod(shape)
        return LayerCost(
            layer, (1, 1, layer.units), _pair(layer.name, (fan_in, layer.units), fan_in), fan_in * layer.units
        )
    if isinstance(layer, Pool):
        size = (height - layer.kernel) // layer.stride + 1
        return LayerCost(layer, (size, size, channels), (), 0)
    size = (height + 2 * layer.pad - layer.kernel) // layer.stride + 1
    kernel = (layer.kernel, layer.kernel, channels, layer.channels)
    return LayerCost(
        layer, (size, size, layer.channels), _pair(layer.name, kernel, prod(kernel[:3])), size * size * prod(kernel)
    )


def _pair(name: str, shape: tuple[int, ...], fan_in: int) -> tuple[Variable, Variable]:
    return Variable(f"{name}/weights", shape, fan_in), Variable(f"{name}/biases", shape[-1:], 0)
