"""AlexNet, the single-tower network of "One weird trick" (Krizhevsky 2014, arXiv:1404.5997)."""

from __future__ import annotations

from hvdbench.models.spec import Conv, Dense, ModelSpec, Pool


def _alexnet(
    name: str, image_size: int, channels: tuple[int, ...], dense: tuple[int, int], learning_rate: float
) -> ModelSpec:
    conv1, conv2, conv3, conv4, conv5 = channels
    classes = 1000
    return ModelSpec(
        name,
        image_size,
        classes,
        (
            Conv("conv1", conv1, kernel=11, stride=4, pad=2),
            Pool("pool1"),
            Conv("conv2", conv2, kernel=5, pad=2),
            Pool("pool2"),
            Conv("conv3", conv3, kernel=3, pad=1),
            Conv("conv4", conv4, kernel=3, pad=1),
            Conv("conv5", conv5, kernel=3, pad=1),
            Pool("pool5"),
            Dense("fc6", dense[0]),
            Dense("fc7", dense[1]),
            Dense("fc8", classes, relu=False),
        ),
        learning_rate,
    )


# 61,100,840 parameters, 1,429,364,800 FLOPs forward and 4,147,532,160 forward and backward an image.
ALEXNET = _alexnet("alexnet", 224, (64, 192, 384, 256, 256), (4096, 4096), learning_rate=0.001)

# The same sixteen variables narrowed, so that a whole distributed run takes seconds.
ALEXNET_TINY = _alexnet("alexnet_tiny", 64, (8, 16, 32, 24, 24), (128, 128), learning_rate=0.005)
