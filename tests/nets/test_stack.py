"""A stack is its three parts, one after the other; its blocks need no path."""

from __future__ import annotations

import torch
from torch import nn

from depthgauge.losses.cross_entropy import CrossEntropy
from depthgauge.nets.cut.probe import probe
from depthgauge.nets.find_blocks import find_blocks
from depthgauge.nets.stack import Stack


def test_a_stack_runs_its_parts_and_can_be_trained():
    embed, head = nn.Linear(3, 4), nn.Linear(4, 2)
    blocks = [nn.Sequential(nn.LayerNorm(4), nn.Linear(4, 4)) for _ in range(3)]
    net = Stack(embed, blocks, head)
    x = torch.randn(5, 3)
    h = embed(x)
    for block in blocks:
        h = block(h)
    assert torch.equal(net(x), head(h))
    assert find_blocks(net) == blocks
    seen = probe(net, find_blocks(net), x, torch.tensor([0, 1, 1, 0, 1]), CrossEntropy().value)
    assert seen.training is seen.ladder is seen.resume is None
    assert seen.passage is not None
    assert seen.passage.returns == "stream"
