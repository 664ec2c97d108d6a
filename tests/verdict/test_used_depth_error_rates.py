"""Simulate how often used depth and its words are wrong; docs/error-rates.md has the tables."""

from __future__ import annotations

import math

import pytest
from verdict.simulated_ladders import (
    ADDING,
    AS_GOOD,
    EMBEDDED,
    LONG,
    ONE_DELTA,
    Noise,
    count_errors,
    find_depth,
    keep,
    rest_of,
    simulate_runs,
    swap,
    word_of,
)
from verdict.simulated_seeds import HEALTHY

import depthgauge as dg
from depthgauge.diagnostics.used_depth import LEAST_SEEDS
from depthgauge.verdict.judge import judge
from depthgauge.verdict.rung_comparisons import LadderScores, scores_of
from depthgauge.verdict.used_depth import twins_needed

STUDIES = 400
HEAVY = Noise("t4", 0.1, 15)
SAMPLED = Noise(samples=6400)


def share(found, what):
    return found["counts"].get(what, 0) / STUDIES


def beyond(bound):
    """Return the bound plus three standard errors."""
    return bound + 3 * math.sqrt(bound * (1 - bound) / STUDIES)


@pytest.mark.parametrize("n", [3, 5, 10])
@pytest.mark.parametrize(
    ("task", "rules", "noise"),
    [
        (ADDING, ("nttt", "nnnw"), Noise()),
        (ADDING, ("nttt",), HEAVY),
        (ADDING, ("nttt",), SAMPLED),
        (AS_GOOD, ("tttt",), Noise()),
        (ONE_DELTA, ("tttt",), Noise()),
        (LONG, ("t" * 8, "nnnntttt", "n" * 8), HEAVY),
    ],
    ids=["noise adds", "heavy tails", "evaluation", "noise as good", "a gain of δ", "skipped"],
)
def test_wrong_claims_are_as_rare_as_documented(task, rules, noise, n):
    for rule, found in count_errors(task, rules, noise, [n], STUDIES).items():
        for what in ("low too large", "a rung wrongly", "high too small", "idle wrongly"):
            assert share(found, what) <= beyond(0.05), (rule, what)
        if found["used"] >= found["used_by_bp"]:
            assert share(found, "shallow") <= beyond(0.05), rule
        if found["earning"] < found["used_by_bp"]:
            assert share(found, "trustworthy") <= beyond(0.09), rule


def test_clear_cases_are_found():
    rules = ("tttt", "...t", "t.t.", "nnnt", "nnnn")
    found = count_errors(EMBEDDED, rules, Noise(spread=0.4), [5], STUDIES)
    assert share(found["bp"], "low right") > 0.95
    assert share(found["tttt"], "trustworthy") > 0.95
    for rule in ("...t", "t.t.", "nnnt"):
        assert share(found[rule], "shallow") > 0.95
    assert share(found["nnnn"], "trustworthy") == 0


def by_stages(task, rule, runs, samples, bp):
    """Return used depth by the stages of `auditing.ladder_stages`, which train only needed runs."""
    scores = {k: scores_of(runs(task.rung(rule, k)), samples=samples) for k in (0, *task.ks)}
    needed = twins_needed(LadderScores(scores, {}), bp.delta if bp else None)
    given = {
        "accuracies": {k: runs(task.rung(rule, k)) for k in (0, *task.ks)},
        "twins": {k: runs(task.twin(rule, k)) for k in needed},
        "samples": samples,
        "bp": bp,
    }
    depth = dg.used_depth(**given)
    if depth.low and depth.needs_confirming:
        given["confirming"] = runs(keep(rule, depth.earning_blocks))
        depth = dg.used_depth(**given)
    if depth.seeds >= LEAST_SEEDS and not depth.is_idle and rest_of(depth):
        depth = dg.used_depth(**given, rest_on_noise=runs(swap(rule, rest_of(depth))))
    return depth


@pytest.mark.parametrize("noise", [Noise(spread=1.5), HEAVY, SAMPLED])
def test_the_stages_find_the_same_as_all_runs_together(noise):
    for rule in ("tttt", "nttt", "nnnn", "t.t.", "hhht", "ssss"):
        for bp_runs, runs in simulate_runs(EMBEDDED, [rule], noise, [4], 60):
            bp = find_depth(EMBEDDED, "tttt", bp_runs, noise.samples)
            together = find_depth(EMBEDDED, rule, runs, noise.samples, bp)
            staged = by_stages(EMBEDDED, rule, runs, noise.samples, bp)
            assert (staged.low, staged.high, staged.rungs_in_use, staged.gaining) == (
                together.low,
                together.high,
                together.rungs_in_use,
                together.gaining,
            )


def test_the_words_are_those_of_the_verdict():
    seen = set()
    for rule in ("tttt", "nttt", "...t"):
        for bp_runs, runs in simulate_runs(EMBEDDED, [rule], Noise(spread=1.5), [3], 40):
            bp = find_depth(EMBEDDED, "tttt", bp_runs)
            depth = find_depth(EMBEDDED, rule, runs, bp=bp)
            assert judge([HEALTHY] * 3, used_depth=depth).word == word_of(depth)
            seen.add(word_of(depth))
    assert seen == {"trustworthy", "shallow", "inconclusive", "no alarm, depth untested"}
