"""The models: a literal table from name to specification; nothing here imports TensorFlow."""

from __future__ import annotations

from hvdbench.errors import UsageError
from hvdbench.models.alexnet import ALEXNET, ALEXNET_TINY
from hvdbench.models.spec import ModelSpec

MODELS = {"alexnet": ALEXNET, "alexnet_tiny": ALEXNET_TINY}


def spec(name: str, classes: int | None = None) -> ModelSpec:
    """The named model, with another number of classes when asked; raises UsageError listing the known names."""
    if name not in MODELS:
        raise UsageError(f"--model {name!r} is unknown; choose one of {', '.join(sorted(MODELS))}")
    if classes is None:
        return MODELS[name]
    if classes < 2:
        raise UsageError(f"--classes is {classes} but a classifier needs two; raise it")
    return MODELS[name].with_classes(classes)
