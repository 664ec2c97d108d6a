"""Where there is nothing to find, p-values are uniform: random feedback on an untrained network."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from auditing.small_trained import make_batch, make_trained
from scipy.stats import kstest
from torch import Tensor

from depthgauge.auditing import null
from depthgauge.auditing.null import calibrate_null
from depthgauge.auditing.trained_network import TrainedNetwork
from depthgauge.gauges.null import NullReading
from depthgauge.rules.contract import Rule
from depthgauge.rules.dfa import DFA
from depthgauge.rules.fa import FA

pytestmark = pytest.mark.slow

FEEDBACKS, DRAWS = 200, 199
LEVEL = 0.01


def untrained(rule: Rule) -> TrainedNetwork:
    """At its initialisation, with the published small branches."""
    return make_trained(rule, w2_std=0.01, width=32)


def with_feedback(
    trained: TrainedNetwork, seed: int, shift: Tensor | float = 0.0
) -> TrainedNetwork:
    generator = torch.Generator().manual_seed(seed)
    drawn = trained.rule.feedback(trained.net, generator)
    return replace(trained, feedback={"B": drawn["B"] + shift})


def uniform(p_values: list[float]) -> bool:
    return kstest(p_values, "uniform").pvalue > LEVEL


def readings(
    trained: TrainedNetwork, monkeypatch: pytest.MonkeyPatch, shift: Tensor | float = 0.0
) -> list[NullReading]:
    """One for each random feedback, each against fresh draws of its own: independent p-values."""
    found = []
    for number in range(FEEDBACKS):
        monkeypatch.setattr(null, "FIRST_SEED", 1_000_000 + 1000 * number)
        observed = with_feedback(trained, number, shift)
        found.append(calibrate_null(observed, make_batch(64), DRAWS))
    return found


def test_direct_feedback_at_every_layer(monkeypatch):
    found = readings(untrained(DFA()), monkeypatch)
    for layer in range(len(found[0].per_layer)):
        assert uniform([reading.per_layer[layer].p_upper for reading in found])
        assert uniform([reading.per_layer[layer].p_two_sided for reading in found])
    assert uniform([reading.over_all.p_upper for reading in found])
    assert uniform([reading.deep.p_upper for reading in found])
    assert uniform([reading.deep.p_two_sided for reading in found])
    alarms = sum(reading.deep.word in ("specific", "mixed") for reading in found)
    assert alarms <= 0.1 * FEEDBACKS


def test_feedback_alignment_where_the_feedback_matters(monkeypatch):
    found = readings(untrained(FA()), monkeypatch)
    for layer in range(len(found[0].per_layer) - 1):
        assert uniform([reading.per_layer[layer].p_upper for reading in found])
    assert uniform([reading.deep.p_upper for reading in found])


def test_with_the_draws_of_the_protocol_which_all_feedbacks_share():
    trained, batch = untrained(DFA()), make_batch(64)
    found = [calibrate_null(with_feedback(trained, n), batch, 999) for n in range(FEEDBACKS)]
    assert uniform([reading.deep.p_upper for reading in found])


def test_feedback_with_a_little_of_the_true_path_is_found_out(monkeypatch):
    """The same check must fail where there is something to find."""
    trained = untrained(DFA())
    path = trained.net.out_head.weight.T.detach()
    found = readings(trained, monkeypatch, shift=path)
    p_values = [reading.deep.p_upper for reading in found]
    assert kstest(p_values, "uniform").pvalue < 1e-6
    assert sum(p_values) / len(p_values) < 0.4
