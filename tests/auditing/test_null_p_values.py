"""Random feedback on an untrained network has uniform p-values, since there is nothing to find."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from auditing.small_trained import make_batch, make_trained
from scipy.stats import kstest
from torch import Tensor

from depthgauge.auditing.null import calibrate_null
from depthgauge.auditing.trained_network import TrainedNetwork
from depthgauge.gauges.null import NullReading
from depthgauge.nets.net_shape import NetShape
from depthgauge.rules.contract import Rule
from depthgauge.rules.dfa import DFA
from depthgauge.rules.fa import FA

pytestmark = pytest.mark.slow

FEEDBACKS, DRAWS = 200, 199
LEVEL = 0.01


def untrained(rule: Rule) -> TrainedNetwork:
    """Return a network at initialisation, with the small branches of the protocol."""
    return make_trained(rule, w2_std=0.01, width=32)


def with_feedback(
    trained: TrainedNetwork, seed: int, shift: Tensor | float = 0.0
) -> TrainedNetwork:
    generator = torch.Generator().manual_seed(seed)
    drawn = trained.rule.feedback(NetShape.of(trained.net), generator)
    return replace(trained, feedback={"B": drawn["B"] + shift})


def uniform(p_values: list[float]) -> bool:
    return kstest(p_values, "uniform").pvalue > LEVEL


def readings(trained: TrainedNetwork, shift: Tensor | float = 0.0) -> list[NullReading]:
    """Calibrate each random feedback with its own fresh draws, so that p-values are independent."""
    return [
        calibrate_null(
            with_feedback(trained, number, shift),
            make_batch(64),
            DRAWS,
            first_seed=1_000_000 + 1000 * number,
        )
        for number in range(FEEDBACKS)
    ]


def test_direct_feedback_at_every_layer():
    found = readings(untrained(DFA()))
    for layer in range(len(found[0].per_layer)):
        assert uniform([reading.per_layer[layer].p_upper for reading in found])
        assert uniform([reading.per_layer[layer].p_two_sided for reading in found])
    assert uniform([reading.over_all.p_upper for reading in found])
    assert uniform([reading.deep.p_upper for reading in found])
    assert uniform([reading.deep.p_two_sided for reading in found])
    alarms = sum(reading.deep.word in ("specific", "mixed") for reading in found)
    assert alarms <= 0.1 * FEEDBACKS


def test_feedback_alignment_where_the_feedback_matters():
    found = readings(untrained(FA()))
    for layer in range(len(found[0].per_layer) - 1):
        assert uniform([reading.per_layer[layer].p_upper for reading in found])
    assert uniform([reading.deep.p_upper for reading in found])


def test_p_values_are_uniform_with_the_shared_draws_of_the_protocol():
    trained, batch = untrained(DFA()), make_batch(64)
    found = [calibrate_null(with_feedback(trained, n), batch, 999) for n in range(FEEDBACKS)]
    assert uniform([reading.deep.p_upper for reading in found])


def test_feedback_with_a_little_of_the_true_path_is_detected():
    """The same check must fail if there is something to find."""
    trained = untrained(DFA())
    path = trained.net.out_head.weight.T.detach()
    found = readings(trained, shift=path)
    p_values = [reading.deep.p_upper for reading in found]
    assert kstest(p_values, "uniform").pvalue < 1e-6
    assert sum(p_values) / len(p_values) < 0.4
