"""A ResidualMLP from a state dict alone."""

from __future__ import annotations

import pytest
import torch
from gauges.small_networks import make_net, random
from torch import Tensor, nn

from depthgauge.errors import UserError
from depthgauge.nets.from_state_dict import build_residual_mlp
from depthgauge.nets.residual_mlp import ResidualMLP

FEATURES, WIDTH, CLASSES, BLOCKS = 6, 8, 4, 3
Weights = dict[str, Tensor]


def weights() -> Weights:
    return dict(make_net(FEATURES, WIDTH, CLASSES, BLOCKS).state_dict())


def test_sizes_are_in_the_shapes():
    for terminal_norm in [True, False]:
        for sizes in [(6, 8, 4, 3), (9, 5, 2, 1), (3, 4, 7, 12), (6, 8, 4, 0)]:
            net = make_net(*sizes, terminal_norm=terminal_norm)
            found = build_residual_mlp(net.state_dict(), "mine.pt")
            x = random(5, sizes[0])
            assert found.num_blocks == len(found.blocks) == sizes[-1]
            assert torch.equal(found(x), net(x))


def test_the_width_inside_the_blocks_is_in_the_shapes():
    for hidden in [1, 3, 20]:
        net = ResidualMLP(FEATURES, WIDTH, CLASSES, BLOCKS, hidden=hidden)
        found, x = build_residual_mlp(net.state_dict(), "mine.pt"), random(5, FEATURES)
        assert {block.fc1.out_features for block in found.blocks} == {hidden}
        assert torch.equal(found(x), net(x))


def test_the_order_of_the_names_of_blocks_does_not_matter():
    net = make_net(blocks=12)
    mixed = dict(sorted(net.state_dict().items()))
    assert list(mixed).index("blocks.10.fc1.weight") < list(mixed).index("blocks.2.fc1.weight")
    x = random(5, FEATURES)
    assert torch.equal(build_residual_mlp(mixed, "mine.pt")(x), net(x))


class SequentialBlock(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Sequential(
            nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WIDTH), nn.GELU(), nn.Linear(WIDTH, WIDTH)
        )

    def forward(self, h: Tensor) -> Tensor:
        return self.net(h)


class NormLastBlock(nn.Module):
    """Its LayerNorm comes first in the forward pass and last among the names."""

    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)
        self.pre = nn.LayerNorm(WIDTH)

    def forward(self, h: Tensor) -> Tensor:
        return self.down(nn.functional.gelu(self.up(self.pre(h))))


class BareBlock(nn.Sequential):
    """The block is the nn.Sequential itself: names such as `blocks.0.1.weight`."""

    def __init__(self) -> None:
        parts = SequentialBlock().net
        super().__init__(*parts)


class Theirs(nn.Module):
    def __init__(self, block: type[nn.Module]) -> None:
        super().__init__()
        self.embed = nn.Linear(FEATURES, WIDTH)
        self.blocks = nn.ModuleList(block() for _ in range(BLOCKS))
        self.out_ln, self.out_head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, CLASSES)

    def forward(self, x: Tensor) -> Tensor:
        h = self.embed(x)
        for block in self.blocks:
            h = h + block(h)
        return self.out_head(self.out_ln(h))


@pytest.mark.parametrize("block", [SequentialBlock, NormLastBlock, BareBlock])
def test_other_names_inside_the_blocks(block):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        theirs = Theirs(block)
        for parameter in theirs.parameters():
            nn.init.normal_(parameter)
    x = random(5, FEATURES)
    found = build_residual_mlp(theirs.state_dict(), "mine.pt")
    torch.testing.assert_close(found(x), theirs(x))


def without(*names: str) -> Weights:
    kept = weights()
    assert kept.keys() >= set(names)
    return {name: tensor for name, tensor in kept.items() if name not in names}


def a_wider_branch() -> Weights:
    return weights() | {
        "blocks.0.fc1.weight": torch.ones(32, WIDTH),
        "blocks.0.fc1.bias": torch.ones(32),
        "blocks.0.fc2.weight": torch.ones(WIDTH, 32),
    }


def a_third_linear() -> Weights:
    third = {"blocks.0.fc3.weight": torch.ones(WIDTH, WIDTH), "blocks.0.fc3.bias": torch.ones(8)}
    return weights() | third


WRONG = {
    "head of another width": (
        lambda: weights() | {"out_head.weight": torch.ones(CLASSES, 9)},
        "does not fit the network: size mismatch for out_head.weight",
    ),
    "norm of another width": (
        lambda: weights() | {"out_ln.weight": torch.ones(9)},
        "does not fit the network: size mismatch for out_ln.weight",
    ),
    "block of another width": (
        lambda: weights() | {"blocks.1.fc1.weight": torch.ones(9, 9)},
        "does not fit the network: size mismatch for blocks.1.fc1.weight",
    ),
    "one branch wider than the others": (
        a_wider_branch,
        "does not fit the network: size mismatch for blocks.1.fc1.weight",
    ),
    "no bias in a block": (
        lambda: without("blocks.2.fc1.bias"),
        'does not fit the network: Missing key(s) in state_dict: "blocks.2.fc1.bias"',
    ),
    "an unknown part": (
        lambda: weights() | {"pos.weight": torch.ones(2)},
        'does not fit the network: Unexpected key(s) in state_dict: "pos.weight"',
    ),
    "no second Linear": (
        lambda: without("blocks.1.fc2.weight", "blocks.1.fc2.bias"),
        "block 1 of mine.pt is not LayerNorm, Linear, GELU, Linear; its parts are ln, fc1",
    ),
    "no LayerNorm": (
        lambda: without("blocks.0.ln.weight", "blocks.0.ln.bias"),
        "block 0 of mine.pt is not LayerNorm, Linear, GELU, Linear; its parts are fc1, fc2",
    ),
    "a third Linear": (a_third_linear, "block 0 of mine.pt is not LayerNorm, Linear, GELU"),
    "a block left out": (
        lambda: {n: t for n, t in weights().items() if not n.startswith("blocks.1.")},
        "block 1 of mine.pt is not LayerNorm, Linear, GELU, Linear; its parts are no parameters",
    ),
    "no embedding": (lambda: without("embed.weight"), "mine.pt is not a ResidualMLP"),
    "no head": (lambda: without("out_head.weight"), "mine.pt is not a ResidualMLP"),
    "an embedding of images": (
        lambda: weights() | {"embed.weight": torch.ones(8, 3, 3, 3)},
        "mine.pt is not a ResidualMLP",
    ),
    "another network": (
        lambda: {"conv1.weight": torch.ones(2, 3, 3, 3)},
        "mine.pt is not a ResidualMLP, whose parts are embed, blocks, out_ln and out_head",
    ),
}


def test_what_does_not_fit_is_said_in_one_sentence():
    for make, expected in WRONG.values():
        with pytest.raises(UserError) as caught:
            build_residual_mlp(make(), "mine.pt")
        told = str(caught.value)
        assert expected in told
        assert "mine.pt" in told
        assert "\n" not in told
