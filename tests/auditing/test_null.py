"""Null calibration of a trained network, compared with the slow oracle."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
import torch
from auditing.small_trained import BLOCKS, PlainDFA, UnbatchedFA, make_batch, make_trained
from oracles.null_loop import alignment, null_loop

from depthgauge.auditing.null import SAMPLES, calibrate_null, reason_missing
from depthgauge.rules.bp import BP
from depthgauge.rules.dfa import DFA
from depthgauge.rules.fa import FA

RULES = {"dfa": DFA, "fa": FA, "plain dfa": PlainDFA, "unbatched fa": UnbatchedFA}


@pytest.fixture(params=RULES)
def trained(request):
    return make_trained(RULES[request.param]())


def kind(trained) -> str:
    """Return which of the two formulas a rule has."""
    return "dfa" if isinstance(trained.rule, DFA) else "fa"


@pytest.mark.parametrize("convention", ["depthgauge", "published"])
def test_the_first_twenty_draws_are_those_of_the_plain_loop(trained, convention):
    batch = make_batch()
    expected = np.array(null_loop(trained.net, batch, kind(trained), 20, convention))
    found = calibrate_null(trained, batch, 20, convention)
    assert found.fresh_deep == pytest.approx(expected[:, 1:].mean(1), rel=0, abs=1e-6)
    for layer, values in zip(found.per_layer, expected.T, strict=True):
        assert layer.mean == pytest.approx(values.mean(), abs=1e-6)
        assert layer.spread == pytest.approx(values.std(ddof=1), abs=1e-6)
    assert found.over_all.mean == pytest.approx(expected.mean(), abs=1e-6)
    assert found.over_all.spread == pytest.approx(expected.mean(1).std(ddof=1), abs=1e-6)
    assert found.deep.spread == pytest.approx(expected[:, 1:].mean(1).std(ddof=1), abs=1e-6)
    assert (found.draws, found.convention) == (20, convention)


@pytest.mark.parametrize("convention", ["depthgauge", "published"])
def test_observed_is_the_training_feedback(trained, convention):
    batch = make_batch()
    Bs = list(trained.feedback["B"])
    expected = alignment(trained.net, batch, kind(trained), Bs, convention)
    found = calibrate_null(trained, batch, 3, convention)
    assert [layer.observed for layer in found.per_layer] == pytest.approx(expected, abs=1e-6)
    assert found.over_all.observed == pytest.approx(np.mean(expected), abs=1e-6)
    assert found.deep.observed == pytest.approx(np.mean(expected[1:]), abs=1e-6)


def test_the_conventions_differ_where_the_layers_do():
    trained, batch = make_trained(DFA()), make_batch()
    ours, published = (calibrate_null(trained, batch, 5, c) for c in ("depthgauge", "published"))
    apart = np.abs(np.array(ours.fresh_deep) - np.array(published.fresh_deep))
    assert apart.min() > 1e-4
    assert len(ours.per_layer) == len(published.per_layer) == BLOCKS + 1


def test_the_published_deep_figure_of_direct_feedback_by_hand():
    """Layers 1 … L of g with B_1, …, B_{L−1}, B_{L−1}."""
    trained, batch = make_trained(DFA()), make_batch()
    B = trained.feedback["B"]
    shifted = replace(trained, feedback={"B": torch.stack([B[1], B[2], B[2]])})
    ours = calibrate_null(shifted, batch, 2).deep.observed
    assert calibrate_null(trained, batch, 2, "published").deep.observed == pytest.approx(ours)


@pytest.mark.parametrize(("rule", "together"), [(DFA, 100), (FA, 8)])
def test_draws_do_not_depend_on_how_many_are_worked_on_at_once(rule, together):
    trained, batch = make_trained(rule()), make_batch(12)
    more = together + 3
    expected = np.array(null_loop(trained.net, batch, rule.name, more))[:, 1:].mean(1)
    found = calibrate_null(trained, batch, more)
    assert found.fresh_deep == pytest.approx(expected, abs=1e-6)
    fewer = calibrate_null(trained, batch, 5)
    assert found.fresh_deep[:5] == pytest.approx(fewer.fresh_deep, abs=1e-9)


def test_p_values_are_counts_of_draws():
    trained, batch = make_trained(DFA()), make_batch()
    found = calibrate_null(trained, batch, 39)
    fresh, observed = np.array(found.fresh_deep), found.deep.observed
    assert found.deep.p_upper == (1 + int((fresh >= observed).sum())) / 40
    away = np.abs(fresh - fresh.mean()) >= abs(observed - fresh.mean())
    assert found.deep.p_two_sided == (1 + int(away.sum())) / 40
    assert found.deep.z == pytest.approx((observed - fresh.mean()) / fresh.std(ddof=1))


def test_feedback_made_for_the_network_is_specific():
    """B = the transposed path of the error through the readout points along g_L."""
    trained, batch = make_trained(DFA(), w2_std=0.01), make_batch()
    path = trained.net.out_head.weight.T.detach()
    chosen = replace(trained, feedback={"B": torch.stack([path] * BLOCKS)})
    deep = calibrate_null(chosen, batch, 99).deep
    assert deep.word == "specific"
    assert deep.p_upper == 1 / 100
    assert deep.observed > 0.8


def test_the_last_block_of_feedback_alignment_is_generic():
    """Its credit is the gradient itself, whatever the feedback."""
    last = calibrate_null(make_trained(FA()), make_batch(), 19).per_layer[-1]
    assert last.word == "generic"
    assert last.observed == pytest.approx(1)
    assert last.z is None


def test_every_draw_is_reported_once():
    heard = []
    calibrate_null(make_trained(DFA()), make_batch(5), 230, on_draws=heard.append)
    assert sum(heard) == 230
    assert len(heard) > 1


def test_random_state_network_and_feedback_stay_as_they_were(trained):
    parameters = {name: t.clone() for name, t in trained.net.state_dict().items()}
    feedback = {name: t.clone() for name, t in trained.feedback.items()}
    trained.net.train()
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    calibrate_null(trained, make_batch(5), 2)
    assert torch.equal(torch.rand(3), expected)
    assert trained.net.training
    assert all(parameter.grad is None for parameter in trained.net.parameters())
    for before, now in ((parameters, trained.net.state_dict()), (feedback, trained.feedback)):
        assert all(torch.equal(before[name], now[name]) for name in before)


@pytest.mark.parametrize(
    ("rule", "feedback", "words"),
    [
        (DFA(), None, "not saved"),
        (None, {"B": torch.zeros(3, 16, 5)}, "--rule"),
        (BP(), {}, "bp has no random feedback"),
    ],
    ids=["not saved", "rule not known", "bp"],
)
def test_without_feedback_there_is_no_number(rule, feedback, words):
    trained = replace(make_trained(None), rule=rule, feedback=feedback)
    reason = reason_missing(trained)
    assert words in reason
    with pytest.raises(ValueError, match=re.escape(reason)):
        calibrate_null(trained, make_batch(), 3)


def test_with_feedback_there_is_a_null(trained):
    assert reason_missing(trained) is None


def test_a_network_in_float64(trained):
    batch = make_batch()
    expected = calibrate_null(trained, batch, 5)
    double = replace(
        trained, net=trained.net.double(), feedback={"B": trained.feedback["B"].double()}
    )
    found = calibrate_null(double, batch, 5)
    assert found.fresh_deep == pytest.approx(expected.fresh_deep, abs=1e-6)


def test_the_samples_are_as_many_as_in_the_protocol():
    assert SAMPLES == 2048
