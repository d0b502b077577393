"""The models' sizes against published figures."""

from hvdbench import models


def test_alexnet_has_the_published_parameter_count() -> None:
    # torchvision's AlexNet, the same network, documents num_params 61100840.
    assert models.spec("alexnet").param_count == 61_100_840
    assert len(models.spec("alexnet").variables()) == 16


def test_alexnet_forward_flops_match_published_multiply_adds() -> None:
    # torchvision documents 0.71 GFLOPS, counting a multiply-add as one.
    assert round(models.spec("alexnet").forward_flops_per_image / 2e9, 2) == 0.71


def test_tiny_is_small_and_has_the_same_layers() -> None:
    tiny, full = models.spec("alexnet_tiny"), models.spec("alexnet")
    assert tiny.param_count < 200_000
    assert [v.name for v in tiny.variables()] == [v.name for v in full.variables()]
