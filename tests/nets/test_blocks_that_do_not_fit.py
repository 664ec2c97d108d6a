"""Modules that cannot be the blocks of a stream are refused, each with one sentence."""

from __future__ import annotations

import pytest
import torch
from nets.stacks import Stack, batch, see, stack
from torch import Tensor, nn

from depthgauge.errors import UserError
from depthgauge.nets.stream_reader import StreamReader


class Pooling(nn.Module):
    def forward(self, h: Tensor) -> Tensor:
        return h[:, ::2]

    returns = "stream"


def without_a_run(net: Stack, index: int) -> None:
    """The block stays where it is, but another one of the same kind does its work."""
    listed = list(net.layers)
    net.call = lambda block, h: h if block is listed[index] else block(h)


def test_a_branch_that_changes_the_shape_is_refused():
    net = stack(depth=2)
    net.layers[1] = Pooling()
    net.norm, net.head = nn.Identity(), nn.Linear(3, 5).double()
    with pytest.raises(
        UserError, match=r"^the last block changes the stream's shape from \(7, 6\)"
    ):
        see(net, returns="branch")


def test_a_last_block_that_does_not_run_is_named():
    net = stack()
    without_a_run(net, 2)
    with pytest.raises(UserError, match=r"^block 2 of 3 did not run in the forward pass;"):
        see(net)


def test_an_earlier_block_that_does_not_run_is_named():
    for index in [0, 1]:
        net = stack()
        without_a_run(net, index)
        with pytest.raises(UserError, match=rf"^block {index} of 3 did not run in the forward"):
            see(net)


def test_blocks_none_of_which_runs():
    net = stack()
    net.spare = nn.ModuleList([nn.Linear(2, 2).double()])
    with pytest.raises(UserError, match=r"^block 0 of 1 did not run"):
        StreamReader(net, "spare").see(*batch())


def test_a_block_that_runs_twice_is_named():
    for index in [0, 1, 2]:
        net = stack()
        twice = net.layers[index]
        net.call = lambda block, h, twice=twice: block(block(h)) if block is twice else block(h)
        with pytest.raises(
            UserError, match=rf"^block {index} runs twice in a forward pass; give each"
        ):
            see(net)


def test_a_stream_of_whole_numbers_is_not_a_stream():
    net = nn.Sequential(nn.Embedding(5, 6), nn.Linear(6, 5))
    with pytest.raises(UserError, match=r"^block 0 gets whole numbers"):
        StreamReader(net, list(net)).see(torch.arange(5), torch.arange(5))


def test_a_block_without_a_tensor_is_named():
    for returned in [None, 3, (None, "word"), {}]:
        net = stack(pack=lambda _, returned=returned: returned)
        with pytest.raises(
            UserError, match=rf"block 0 returns {type(returned).__name__} without a"
        ):
            see(net)


def test_a_block_that_is_given_no_tensor_is_named():
    net = stack(call=lambda block, h: block((h,)))
    with pytest.raises(UserError, match="block 0 gets no tensor"):
        see(net)


def test_a_network_that_detaches_its_stream_is_refused():
    for place in [0, 1, 2]:
        net = stack()
        cut = net.layers[place]
        net.call = lambda block, h, cut=cut: block(h).detach() if block is cut else block(h)
        with pytest.raises(UserError, match=r"^no gradient reaches the stream"):
            see(net)


def test_blocks_beside_the_way_to_the_logits_are_refused():
    net = stack()
    net.side = nn.ModuleList([nn.Linear(6, 6).double()])
    net.call = lambda block, h: (block(h), block is net.layers[0] and net.side[0](h))[0]
    with pytest.raises(UserError, match=r"^no gradient reaches the stream"):
        StreamReader(net, "side", returns="stream").see(*batch())
