"""Every network of the package against its forward pass by hand, with all its options."""

from __future__ import annotations

import math

import pytest
import torch
from oracles import architectures as by_hand
from torch import Tensor, nn

from depthgauge.nets.architectures.cnn import CNN, CNNOptions
from depthgauge.nets.architectures.gpt import GPT
from depthgauge.nets.architectures.resnet import ResNet, ResNetOptions
from depthgauge.nets.architectures.transformer import TransformerOptions
from depthgauge.nets.architectures.vit import ViT, ViTOptions

IMAGE = (2, 4, 6)
OUTPUTS = 3


def shaken(net: nn.Module) -> nn.Module:
    """The network in float64 with weights so large that every part shows in the output."""
    net.double()
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in net.parameters():
            draw = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
            parameter.add_(draw, alpha=0.3)
    return net


def images() -> Tensor:
    return torch.randn(3, *IMAGE, generator=torch.Generator().manual_seed(2)).double()


def assert_equal(found: Tensor, expected: Tensor) -> None:
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("attention", ["product", "fused"])
@pytest.mark.parametrize("per_position", [True, False])
@pytest.mark.parametrize("depth", [0, 2])
def test_gpt(attention: str, per_position: bool, depth: int) -> None:
    options = TransformerOptions(heads=2, attention=attention)
    net = shaken(
        GPT(7, 5, OUTPUTS, width=4, depth=depth, per_position=per_position, options=options)
    )
    tokens = torch.randint(7, (3, 5), generator=torch.Generator().manual_seed(3))
    expected = by_hand.gpt(
        net.state_dict(), tokens, blocks=depth, heads=2, per_position=per_position
    )
    assert_equal(net(tokens), expected)


def test_gpt_does_not_see_later_tokens() -> None:
    net = shaken(GPT(7, 5, OUTPUTS, width=4, depth=2))
    tokens = torch.randint(7, (2, 5), generator=torch.Generator().manual_seed(3))
    changed = tokens.clone()
    changed[:, 3:] = (tokens[:, 3:] + 1) % 7
    assert torch.equal(net(tokens)[:, :3], net(changed)[:, :3])
    assert not torch.allclose(net(tokens)[:, 3:], net(changed)[:, 3:])


@pytest.mark.parametrize("attention", ["product", "fused"])
@pytest.mark.parametrize("pool", ["cls", "mean"])
@pytest.mark.parametrize("depth", [0, 2])
def test_vit(attention: str, pool: str, depth: int) -> None:
    options = ViTOptions(patch=2, heads=2, pool=pool, attention=attention)
    net = shaken(ViT(IMAGE, OUTPUTS, width=4, depth=depth, options=options))
    expected = by_hand.vit(net.state_dict(), images(), blocks=depth, heads=2, patch=2, pool=pool)
    assert_equal(net(images()), expected)


@pytest.mark.parametrize("norm", ["group", "batch"])
@pytest.mark.parametrize(
    ("depth", "strides"), [(0, []), (2, [1, 2]), (3, [1, 2, 2]), (5, [1, 1, 2, 1, 2])]
)
def test_resnet(norm: str, depth: int, strides: list[int]) -> None:
    net = shaken(ResNet(2, OUTPUTS, width=4, depth=depth, options=ResNetOptions(norm=norm)))
    channels, groups = 4, []
    for stride in strides:
        groups += [math.gcd(8, channels), math.gcd(8, channels * stride)]
        channels *= stride
    groups.append(math.gcd(8, channels))
    if norm == "batch":
        groups = [0] * len(groups)
    expected = by_hand.resnet(net.state_dict(), images(), strides=strides, groups=groups)
    assert_equal(net(images()), expected)


@pytest.mark.parametrize("depth", [0, 1, 2, 3])
def test_cnn(depth: int) -> None:
    net = shaken(CNN(IMAGE, OUTPUTS, width=3, depth=depth, options=CNNOptions(hidden=5)))
    assert_equal(net(images()), by_hand.cnn(net.state_dict(), images(), blocks=depth))


def test_the_cnn_of_the_published_record_has_its_number_of_parameters() -> None:
    with torch.device("meta"):
        net = CNN((3, 32, 32), 10)
    assert sum(p.numel() for p in net.parameters()) == 2_193_226
    assert len(net.blocks) == 3


def test_dropout_acts_in_training_alone() -> None:
    net = GPT(7, 5, OUTPUTS, width=4, depth=1, options=TransformerOptions(heads=1, dropout=0.5))
    shaken(net)
    tokens = torch.zeros(2, 5, dtype=torch.long)
    torch.manual_seed(0)
    assert not torch.allclose(net(tokens), net(tokens))
    net.eval()
    assert torch.equal(net(tokens), net(tokens))
