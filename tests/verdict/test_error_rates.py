"""Simulate how often the verdict is wrong and how often it is right, with a known truth."""

from __future__ import annotations

import numpy as np
import pytest
from verdict.simulated_seeds import (
    AT_THE_THRESHOLD,
    BP,
    DFA,
    LIMITS,
    LOG_SPREADS,
    SEED_COUNTS,
    WORST_HEALTHY,
    as_seeds,
    simulate,
    word_shares,
    words,
    worst_at_the_threshold,
)

from depthgauge.verdict.judge import judge

pytestmark = pytest.mark.slow

ALLOWED, WANTED = 0.05, 0.80
PER_TAIL = 0.05 / 6
SAMPLING = 0.0026
"""Four standard errors of a share of PER_TAIL over the repetitions."""

counts = pytest.mark.parametrize("n", SEED_COUNTS)
cases = pytest.mark.parametrize("case", AT_THE_THRESHOLD)
symmetric = pytest.mark.parametrize("tails", ["normal", "t4"])


@counts
@cases
@symmetric
@pytest.mark.parametrize("word", ["trustworthy", "walk back"])
def test_at_the_threshold_each_word_is_rarer_than_five_per_cent(word, case, n, tails):
    assert worst_at_the_threshold(word, case, n, tails) < ALLOWED


@counts
@pytest.mark.parametrize("log_spread", LOG_SPREADS)
@pytest.mark.parametrize(
    "case", [case for case in AT_THE_THRESHOLD if case.startswith(("D1", "D2"))]
)
def test_without_a_frozen_baseline_no_alarm_is_as_rare(case, n, log_spread):
    readings = simulate(AT_THE_THRESHOLD[case], n, log_spread, "t4")
    del readings["depth_gain"]
    found = words(readings)
    assert np.mean(found == "no alarm, depth untested") < ALLOWED
    assert np.mean(found == "walk back") < ALLOWED


@counts
def test_one_diagnostic_at_its_threshold_errs_as_often_as_its_interval_allows(n):
    for word in ("trustworthy", "walk back"):
        share = worst_at_the_threshold(word, "D3", n, "normal")
        assert share == pytest.approx(PER_TAIL, abs=SAMPLING)
    assert word_shares(AT_THE_THRESHOLD["D1"], n, 0.1)["inconclusive"] > 0.97


@counts
def test_three_at_once_err_more_often_than_one(n):
    share = worst_at_the_threshold("walk back", "all, D2's one noise", n, "normal")
    assert share == pytest.approx(3 * PER_TAIL, abs=2 * SAMPLING)


def test_the_simulation_sees_an_error_rate_that_is_too_high():
    readings = simulate(AT_THE_THRESHOLD["D1"], 5, 0.5, "normal")
    assert np.mean(words(readings, {**LIMITS, "error_rate": 0.5}) == "walk back") > ALLOWED


@counts
@symmetric
@pytest.mark.parametrize("log_spread", LOG_SPREADS)
def test_dfa_is_walked_back_at_every_spread(n, tails, log_spread):
    assert word_shares(DFA, n, log_spread, tails)["walk back"] >= WANTED


@symmetric
@pytest.mark.parametrize(
    ("n", "log_spread"),
    [(3, 0.1), (3, 0.5), (5, 0.1), (5, 0.5), (5, 1.0), (10, 0.1), (10, 0.5), (10, 1.0)],
)
def test_bp_is_trustworthy_unless_three_seeds_scatter_by_a_factor_of_e(n, tails, log_spread):
    assert word_shares(BP, n, log_spread, tails)["trustworthy"] >= WANTED


@symmetric
@pytest.mark.parametrize(
    ("n", "log_spread"), [(3, 0.1), (5, 0.1), (5, 0.5), (10, 0.1), (10, 0.5), (10, 1.0)]
)
def test_the_worst_healthy_network_is_trustworthy_with_enough_seeds(n, tails, log_spread):
    assert word_shares(WORST_HEALTHY, n, log_spread, tails)["trustworthy"] >= WANTED


@symmetric
@pytest.mark.parametrize(
    ("truth", "n", "log_spread"),
    [(BP, 3, 1.0), (WORST_HEALTHY, 3, 0.5), (WORST_HEALTHY, 3, 1.0), (WORST_HEALTHY, 5, 1.0)],
    ids=["BP, 3 seeds", "worst healthy, 3 seeds", "3 seeds, wide", "5 seeds, wide"],
)
def test_where_seeds_are_too_few_the_word_is_inconclusive_and_not_wrong(
    truth, n, tails, log_spread
):
    shares = word_shares(truth, n, log_spread, tails)
    assert shares["trustworthy"] < WANTED
    assert shares["walk back"] < 0.001
    assert shares["trustworthy"] + shares["inconclusive"] > 0.999


@counts
@pytest.mark.parametrize("truth", [BP, WORST_HEALTHY, DFA, *AT_THE_THRESHOLD.values()])
def test_the_simulated_words_are_the_ones_of_the_package(truth, n):
    readings = simulate(truth, n, 0.5, "t4")
    found = words(readings)
    for row in range(12):
        assert judge(as_seeds(readings, row), protocol="published").word == found[row]
