"""Random feedback: where it is drawn from, its shape and its scale."""

from __future__ import annotations

import math

import pytest
import torch
from oracles.plain_loop import PlainNet
from training.small_runs import BLOCKS, CLASSES, FEATURES, WIDTH, Run, Setting, run_config

from depthgauge.config import NetConfig
from depthgauge.nets.net_shape import NetShape
from depthgauge.nets.residual_mlp import ResidualMLP
from depthgauge.rules.bp import BP
from depthgauge.rules.dfa import DFA
from depthgauge.rules.fa import FA
from depthgauge.training.initial_run import initialise


def started(rule, setting: Setting | None = None, seed: int = 42):
    setting = setting or Setting()
    return initialise(run_config(Run(rule, seed, 0), setting), setting.task, rule)


@pytest.mark.parametrize("seed", [0, 42, 123])
@pytest.mark.parametrize(
    ("rule", "shape"), [(DFA(), (WIDTH, CLASSES)), (FA(), (WIDTH, WIDTH))], ids=["dfa", "fa"]
)
def test_feedback_is_drawn_right_after_the_net_from_the_same_stream(rule, shape, seed):
    net, feedback = started(rule, seed=seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        expected_net = PlainNet(FEATURES, WIDTH, CLASSES, BLOCKS)
        expected = [torch.randn(shape) / math.sqrt(shape[1]) for _ in range(BLOCKS)]
    for ours, theirs in zip(net.parameters(), expected_net.parameters(), strict=True):
        assert torch.equal(ours, theirs)
    assert feedback.keys() == {"B"}
    assert torch.equal(feedback["B"], torch.stack(expected))


@pytest.mark.parametrize("rule", [DFA(), FA()], ids=["dfa", "fa"])
def test_feedback_has_the_published_scale(rule):
    with torch.random.fork_rng(devices=[]):
        net = ResidualMLP(4, 200, 50, 5)
    matrices = rule.feedback(NetShape.of(net), torch.Generator().manual_seed(1))["B"]
    columns = 50 if isinstance(rule, DFA) else 200
    assert matrices.shape == (5, 200, columns)
    assert float(matrices.std()) * math.sqrt(columns) == pytest.approx(1, abs=0.02)
    assert abs(float(matrices.mean())) * math.sqrt(columns) < 0.02
    flat = matrices.flatten(1)
    between = torch.corrcoef(flat) - torch.eye(5)
    assert between.abs().max() < 0.05


@pytest.mark.parametrize("rule", [DFA(), FA()], ids=["dfa", "fa"])
def test_feedback_comes_from_the_generator_it_is_given(rule):
    with torch.random.fork_rng(devices=[]):
        net = ResidualMLP(4, 16, 5, 2)
    state = torch.get_rng_state()
    first = rule.feedback(NetShape.of(net), torch.Generator().manual_seed(10000))["B"]
    again = rule.feedback(NetShape.of(net), torch.Generator().manual_seed(10000))["B"]
    other = rule.feedback(NetShape.of(net), torch.Generator().manual_seed(10001))["B"]
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    assert torch.equal(torch.get_rng_state(), state)


def test_backpropagation_keeps_nothing():
    assert started(BP())[1] == {}


def test_without_blocks_dfa_keeps_a_matrix_for_the_embedding_and_fa_none():
    shallow = Setting(net=NetConfig(width=WIDTH, blocks=0))
    assert started(DFA(), shallow)[1]["B"].shape == (1, WIDTH, CLASSES)
    assert started(FA(), shallow)[1]["B"].shape == (0, WIDTH, WIDTH)


def test_starting_a_run_leaves_the_global_random_state_alone():
    before = torch.get_rng_state()
    started(DFA())
    assert torch.equal(torch.get_rng_state(), before)
