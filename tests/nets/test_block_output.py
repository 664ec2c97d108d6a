"""The reader detects whether blocks return the stream or a branch, or asks the user."""

from __future__ import annotations

from itertools import product

import pytest
import torch
from nets.stacks import Stack, assert_seen, batch, scaled, see, stack, states_and_gradients
from torch import Tensor, nn

from depthgauge.errors import UserError
from depthgauge.nets.residual_mlp import ResidualMLP
from depthgauge.nets.stream_reader import StreamReader

RETURNS = ("stream", "branch")
DEPTHS = (1, 2, 3)


def found(net: nn.Module, **options: str) -> str:
    reader = StreamReader(net, "layers", **options)
    reader.see(*batch())
    return "branch" if reader.adds else "stream"


def test_what_blocks_return_is_seen():
    for returns, depth, dtype in product(RETURNS, DEPTHS, (torch.float32, torch.float64)):
        for factor in (1e-30, 1e-8, 1e-3, 1.0, 1e3, 1e8):
            net = scaled(stack(returns, depth, dtype), factor)
            assert found(net) == returns, (depth, dtype, factor)


def outcomes(returns: str, depth: int, factor: float) -> set[str]:
    """What is found, over twenty initialisations in float32."""
    kinds = set()
    for seed in range(20):
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            net = scaled(Stack(returns, depth), factor)
        try:
            kinds.add(found(net))
        except UserError:
            kinds.add("refused")
    return kinds


def test_a_branch_1e8_times_larger_than_the_stream_is_seen_at_every_initialisation():
    for returns, depth in product(RETURNS, DEPTHS):
        assert outcomes(returns, depth, 1e8) == {returns}, depth


def test_where_the_branch_drowns_the_stream_the_answer_is_right_or_none():
    for returns, depth in product(RETURNS, DEPTHS):
        assert outcomes(returns, depth, 1e12) <= {returns, "refused"}, depth


def test_a_branch_that_starts_at_zero_is_seen():
    for returns in RETURNS:
        for depth in DEPTHS:
            assert found(scaled(stack(returns, depth), 0.0)) == returns


def test_one_block_far_larger_than_the_others_does_not_mislead():
    for returns in RETURNS:
        for factor in [1e-8, 1.0, 1e8]:
            net = stack(returns, 3, torch.float32)
            with torch.no_grad():
                net.layers[0].fc2.weight *= factor
            assert found(net) == returns


def test_bfloat16_is_precise_enough():
    for returns in RETURNS:
        for depth in DEPTHS:
            assert found(stack(returns, depth, torch.bfloat16)) == returns


def test_both_kinds_are_read_alike_for_the_same_function():
    for depth in DEPTHS:
        stream, branch = see(stack("stream", depth)), see(stack("branch", depth))
        assert_seen(stream, list(branch.states), list(branch.gradients))


def test_a_network_without_skip_connections_returns_the_stream():
    for depth in DEPTHS:
        for factor in [1e-8, 1.0, 1e8]:
            net = scaled(stack("stream", depth), factor)
            for block in net.layers:
                block.forward = block.branch
            assert found(net) == "stream"


@pytest.mark.parametrize("residual_add", [True, False])
@pytest.mark.parametrize("returns", ["auto", "said"])
def test_the_reference_network_says_it_itself_and_is_right(residual_add: bool, returns: str):
    torch.manual_seed(0)
    net = ResidualMLP(4, 6, 5, 3, residual_add=residual_add).double()
    kind = "branch" if residual_add else "stream"
    reader = StreamReader(net, returns="auto" if returns == "auto" else kind)
    assert reader.adds == residual_add
    assert StreamReader(net, returns="stream").adds is False
    seen = reader.see(*batch())
    trace = net.trace(batch()[0])
    torch.testing.assert_close(seen.states[-1], trace.states[-1].detach())


def test_what_is_said_is_not_looked_at_again():
    """Said wrongly, the last state comes out differently."""
    for returns in RETURNS:
        for depth in DEPTHS:
            net = stack(returns, depth)
            states, _ = states_and_gradients(net, *batch())
            right = see(net, returns=returns)
            torch.testing.assert_close(list(right.states), states)
            wrong = see(net, returns="branch" if returns == "stream" else "stream")
            assert not torch.allclose(wrong.states[-1], states[-1])


class Between(Stack):
    """Something happens to the stream between its blocks."""

    def forward(self, x: Tensor) -> Tensor:
        h = self.embed(x)
        for block in self.layers:
            h = 1.5 * block(h)
        return self.head(h)


def test_a_stream_that_is_changed_between_blocks_must_be_explained():
    net = Between().double()
    with pytest.raises(UserError, match="give returns='stream' or returns='branch'"):
        see(net)
    assert len(see(net, returns="stream").states) == 4


def test_blocks_of_both_kinds_must_be_explained():
    net = stack()
    net.layers[0].returns = "branch"
    with pytest.raises(UserError, match="give returns='stream' or returns='branch'"):
        see(net)


class Afterwards(Stack):
    """The last state is scaled in place before it is read out."""

    def forward(self, x: Tensor) -> Tensor:
        h = self.embed(x)
        for block in self.layers:
            out = block(h)
            h = out if block.returns == "stream" else h + out
        return self.head(h.mul_(0.1))


def test_a_change_in_place_after_the_blocks_does_not_mislead():
    for returns in RETURNS:
        for depth in DEPTHS:
            net = scaled(Afterwards(returns, depth).double(), 0.1)
            assert found(net) == returns
