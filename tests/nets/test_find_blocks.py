"""Blocks are found by a dotted path, or given; what cannot be found is answered with what is."""

from __future__ import annotations

import re

import pytest
import torch
from nets.stacks import assert_seen, batch, stack, states_and_gradients
from torch import nn

from depthgauge.errors import UserError
from depthgauge.nets.find_blocks import find_blocks
from depthgauge.nets.residual_mlp import ResidualMLP
from depthgauge.nets.stream_reader import StreamReader


def nested() -> nn.Module:
    net = nn.Module()
    net.body = nn.Module()
    net.body.stages = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
    net.body.named = nn.ModuleDict({"one": nn.Linear(3, 3), "two": nn.Linear(3, 3)})
    net.body.empty = nn.ModuleList()
    net.extra = nn.ModuleList([nn.ReLU()])
    net.head = nn.Linear(3, 2)
    net.count = 3
    return net


def test_the_contract_needs_no_path():
    net = ResidualMLP(3, 4, 2, 3)
    assert find_blocks(net) == list(net.blocks) == find_blocks(net, "blocks")


def test_a_dotted_path():
    net = nested()
    assert find_blocks(net, "body.stages") == list(net.body.stages)
    assert find_blocks(net, "body.named") == list(net.body.named.values())
    assert find_blocks(net, "extra") == [net.extra[0]]


def test_a_slice_and_a_list():
    net = nested()
    first, second = net.body.stages
    assert find_blocks(net, "body.stages[1:]") == [second]
    assert find_blocks(net, "body.stages[:-1]") == [first]
    assert find_blocks(net, "body.stages.0,head") == [first, net.head]
    assert find_blocks(net, "body.stages[:], extra[0:1]") == [first, second, net.extra[0]]
    assert find_blocks(net, "extra,extra") == [net.extra, net.extra]


def test_a_slice_or_a_list_that_names_nothing():
    with pytest.raises(
        UserError, match=r"^the slice 'body\.stages\[2:\]' has no blocks in it: there"
    ):
        find_blocks(nested(), "body.stages[2:]")
    with pytest.raises(
        UserError, match=r"^'tail' in the list of blocks 'head,tail' names no module"
    ):
        find_blocks(nested(), "head,tail")
    with pytest.raises(UserError, match="matches no modules of Module"):
        find_blocks(nested(), "body.stage[0:1]")


def test_the_modules_themselves():
    net = nested()
    first, second = net.body.stages
    assert find_blocks(net, [second, first]) == [second, first]
    assert find_blocks(net, net.body.stages) == [first, second]
    assert find_blocks(net, (block for block in net.body.stages)) == [first, second]


def test_a_path_that_matches_nothing_is_answered_with_the_lists_there_are():
    for path in [
        "transformer.h",
        "body.stage",
        "body.stages.7",
        "body.empty",
        "head",
        "count",
        "",
        ".",
        "body.",
    ]:
        sentence = (
            f"the path {path!r} matches no modules of Module; lists of modules in it: "
            "'body.stages' (2 modules), 'extra' (1 modules)"
        )
        with pytest.raises(UserError, match=f"^{re.escape(sentence)}$"):
            find_blocks(nested(), path)


def test_no_path_where_one_is_needed():
    with pytest.raises(UserError, match=r"^Module has no `blocks`, so the path .* 'body\.stages'"):
        find_blocks(nested())


def test_nothing_to_offer():
    with pytest.raises(UserError, match=r"lists of modules in it: none$"):
        find_blocks(nn.Linear(2, 2), "layers")


def test_modules_of_another_network_are_refused():
    for blocks in [[], [nn.Linear(3, 3)], ["body.stages.0"]]:
        with pytest.raises(UserError, match=r"^the blocks that were given are not modules of the"):
            find_blocks(nested(), blocks)


def test_a_stranger_among_the_blocks_is_refused():
    net = nested()
    with pytest.raises(UserError, match="not modules of the network"):
        find_blocks(net, [*net.body.stages, nn.Linear(3, 3)])


def test_a_block_that_is_listed_twice_is_seen_at_both_calls():
    net = stack(depth=1)
    net.layers.append(net.layers[0])
    reader = StreamReader(net, "layers")
    seen = reader.see(*batch())
    states, gradients = states_and_gradients(net, *batch())
    assert_seen(seen, states, gradients)
    first, second = (reader.logits(seen.inputs, skip=block) for block in (0, 1))
    once = stack(depth=1)(seen.inputs)
    assert torch.equal(first, second)
    torch.testing.assert_close(first, once)
    shift = torch.ones_like(states[1])
    shifted = net.head(net.norm(net.layers[1](states[1] + shift)))
    torch.testing.assert_close(reader.logits(seen.inputs, shift=(1, shift)), shifted)


def test_blocks_given_as_modules_are_seen_like_those_of_a_path():
    net = stack()
    by_path = StreamReader(net, "layers").see(*batch())
    given = StreamReader(net, list(net.layers)).see(*batch())
    assert all(torch.equal(a, b) for a, b in zip(by_path.states, given.states, strict=True))
    last_two = StreamReader(net, net.layers[1:]).see(*batch())
    assert len(last_two.states) == 3
    assert torch.equal(last_two.states[0], by_path.states[1])
