"""The reference network: its initialisation, its contract, and the published figures."""

from __future__ import annotations

import math

import pytest
import torch
from oracles.plain_loop import PlainNet
from training.small_runs import CLASSES, FEATURES, make_task

from depthgauge.config import NetConfig
from depthgauge.errors import UserError
from depthgauge.nets.registry import initial_net
from depthgauge.nets.residual_mlp import ResidualMLP
from depthgauge.registry import NETS
from depthgauge.tasks.inputs import as_inputs


def seeded(seed: int, *shape: int, **options) -> ResidualMLP:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return ResidualMLP(*shape, **options)


@pytest.mark.parametrize(
    "options", [{}, {"residual_add": False}, {"terminal_norm": False}, {"w2_std": 0.5}], ids=str
)
@pytest.mark.parametrize("blocks", [0, 1, 3])
def test_initialised_and_evaluated_as_the_plain_network(blocks, options):
    net = seeded(42, 12, 16, 5, blocks, **options)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(42)
        plain = PlainNet(12, 16, 5, blocks, **options)
    for ours, theirs in zip(net.parameters(), plain.parameters(), strict=True):
        assert torch.equal(ours, theirs)
    x = torch.randn(7, 12, generator=torch.Generator().manual_seed(0))
    assert torch.equal(net(x), plain(x))


def test_the_second_linear_of_a_block_starts_small():
    net = seeded(1, 4, 200, 3, 2)
    for block in net.blocks:
        assert block.fc2.weight.std().item() == pytest.approx(0.01, rel=0.02)
        assert not block.fc2.bias.any()
        assert block.fc1.weight.abs().max().item() == pytest.approx(1 / math.sqrt(200), rel=0.01)


@pytest.mark.parametrize("residual_add", [True, False])
def test_the_trace_is_the_recursion(residual_add):
    net = seeded(3, 6, 8, 4, 3, residual_add=residual_add, w2_std=0.4).double()
    x = torch.randn(5, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    trace = net.trace(x)
    assert len(trace.states) == net.num_blocks + 1 == 4
    assert len(trace.branches) == len(net.blocks) == 3
    assert torch.equal(trace.states[0], net.embed(x))
    for index, block in enumerate(net.blocks):
        assert torch.equal(trace.branches[index], block(trace.states[index]))
        before = trace.states[index] if residual_add else torch.zeros_like(trace.states[index])
        assert torch.equal(trace.states[index + 1], before + trace.branches[index])
    assert torch.equal(trace.logits, net.out_head(net.out_ln(trace.states[-1])))
    assert torch.equal(trace.logits, net.readout(trace.states[-1]))
    assert torch.equal(trace.logits, net(x))


def test_a_net_is_found_by_name():
    assert NETS.find("residual_mlp") == (ResidualMLP, "")
    with pytest.raises(UserError, match=r"'transformer'.*residual_mlp"):
        NETS.find("transformer")


def test_a_net_is_built_from_its_configuration_and_seed():
    options = {"residual_add": False, "w2_std": 0.3, "terminal_norm": False}
    before = torch.get_rng_state()
    net = initial_net(NetConfig(width=16, blocks=2, **options), make_task(), 7)
    assert torch.equal(torch.get_rng_state(), before)
    expected = seeded(7, FEATURES, 16, CLASSES, 2, **options)
    assert net.residual_add is False
    assert net.state_dict().keys() == expected.state_dict().keys()
    for name, parameter in expected.state_dict().items():
        assert torch.equal(net.state_dict()[name], parameter)


@pytest.fixture(scope="module")
def first_test_images(cifar10):
    return as_inputs(cifar10.evaluation.x[:256], cifar10, torch.float32)


@pytest.mark.cifar
@pytest.mark.parametrize(
    ("seed", "per_block", "change", "cosine"),
    [
        (42, (0.0959526, 0.0955488, 0.0963721, 0.0981805), 0.1959638, 0.9811522),
        (123, (0.0958486, 0.0969007, 0.1001719, 0.0981875), 0.1983737, 0.9805399),
    ],
)
def test_published_distance_of_the_untrained_stack_from_the_identity(
    seed, per_block, change, cosine, first_test_images
):
    with torch.no_grad():
        trace = seeded(seed, 3072, 256, 10, 4).trace(first_test_images)
    for branch, state, published in zip(trace.branches, trace.states[:-1], per_block, strict=True):
        ratio = branch.norm(dim=-1) / state.norm(dim=-1)
        assert float(ratio.median()) == pytest.approx(published, abs=1e-6)
    first, last = trace.states[0], trace.states[-1]
    moved = (last - first).norm(dim=-1) / first.norm(dim=-1)
    assert float(moved.median()) == pytest.approx(change, abs=1e-6)
    between = (first * last).sum(-1) / (first.norm(dim=-1) * last.norm(dim=-1))
    assert float(between.median()) == pytest.approx(cosine, abs=1e-6)
