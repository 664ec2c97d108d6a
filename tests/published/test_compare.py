"""Published figures, and whether a measurement agrees with them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from depthgauge.config import Recipe
from depthgauge.errors import UserError
from depthgauge.studies.published import (
    PUBLISHED_SEEDS,
    ROUNDING,
    compare,
    compare_ladder,
    published,
    published_ladder,
)


def ladder(results: dict[str, dict[str, list[float | None]]], **config: Any) -> dict[str, Any]:
    """A ladder document with only what a comparison looks at."""
    net = {"width": config.get("width", 256), "blocks": config.get("blocks", 4)}
    return {
        "config": {
            "net": net,
            "task": {"evaluated_on": config.get("evaluated_on", "test")},
            "recipe": Recipe(epochs=config.get("epochs", 100)).model_dump(),
        },
        "results": {
            rule: {
                k: {str(seed): {"final_acc": value} for seed, value in enumerate(values)}
                for k, values in rungs.items()
            }
            for rule, rungs in results.items()
        },
    }


# The figures


@pytest.mark.parametrize(
    ("width", "blocks", "rule", "k", "figure"),
    [
        (256, 4, "bp", "4", [0.617, 0.002]),
        (256, 4, "bp", "0", [0.389, 0.001]),
        (256, 4, "fa", "2", [0.349, 0.016]),
        (256, 4, "dfa", "1", [0.244, 0.015]),
        (512, 2, "bp", "2", [0.603, 0.001]),
        (512, 2, "fa", "0", [0.359, 0.000]),
        (512, 2, "dfa", "1", [0.226, 0.015]),
    ],
)
def test_some_figures(width, blocks, rule, k, figure):
    assert published_ladder(width, blocks)[rule][k] == figure


@pytest.mark.parametrize(("width", "blocks"), [(256, 4), (512, 2)])
def test_every_ladder_is_whole_and_made_of_accuracies(width, blocks):
    figures = published_ladder(width, blocks)
    assert figures["config"] == {"width": width, "blocks": blocks, "epochs": 100}
    for rule in ("bp", "fa", "dfa"):
        assert list(figures[rule]) == [str(k) for k in range(blocks + 1)]
        for mean, spread in figures[rule].values():
            assert 0.1 < mean < 1
            assert 0 <= spread < 0.05


def test_the_initialisation_figures_are_there():
    seeds = published()["init_identity"]["per_seed"]
    assert seeds["42"]["per_block_ratio"][0] == pytest.approx(0.0959526, abs=1e-7)
    assert seeds["42"]["rel_dev"] == pytest.approx(0.1959638, abs=1e-7)
    assert seeds["123"]["cos"] == pytest.approx(0.9805399, abs=1e-7)


def test_a_network_that_was_not_published_is_answered_with_those_that_were():
    with pytest.raises(UserError) as caught:
        published_ladder(128, 4)
    assert "--width 128 --blocks 4" in str(caught.value)
    assert "--width 256 --blocks 4 and --width 512 --blocks 2" in str(caught.value)


# One comparison


def test_one_run_has_only_the_published_spread_to_go_by():
    """t(0.975, 2) = 4.302653; 4.302653 · 0.002 · √(1/3 + 1) + 0.0005 = 0.0104366."""
    found = compare("bp k=4", [0.620], [0.617, 0.002])
    assert found.half_width == pytest.approx(0.0104366, abs=1e-7)
    assert found.difference == pytest.approx(0.003)
    assert found.inside is True
    assert (found.n, found.measured, found.measured_std) == (1, 0.620, None)
    assert (found.what, found.published, found.published_std) == ("bp k=4", 0.617, 0.002)


def test_three_runs_pool_both_spreads():
    values, figure = [0.30, 0.31, 0.35], [0.32, 0.01]
    found = compare("x", values, figure)
    pooled = (2 * np.var(values, ddof=1) + 2 * 0.01**2) / 4
    expected = stats.t.ppf(0.975, 4) * math.sqrt(pooled * (1 / 3 + 1 / 3)) + ROUNDING
    assert found.half_width == pytest.approx(expected, rel=1e-12)
    assert found.measured == pytest.approx(0.32)
    assert found.measured_std == pytest.approx(np.std(values, ddof=1))


@pytest.mark.parametrize("n", [2, 3, 5])
def test_the_interval_is_that_of_scipys_two_sample_test(n):
    """Without rounding, a measurement on the edge has p = 0.05 in the pooled t-test."""
    generator = np.random.default_rng(n)
    values = list(0.4 + 0.01 * generator.standard_normal(n))
    found = compare("x", values, [0.5, 0.01])
    edge = found.half_width - ROUNDING
    test = stats.ttest_ind_from_stats(
        edge, np.std(values, ddof=1), n, 0.0, 0.01, PUBLISHED_SEEDS, equal_var=True
    )
    assert test.pvalue == pytest.approx(0.05, abs=1e-9)


@pytest.mark.parametrize(("shift", "inside"), [(0.999, True), (1.001, False)])
@pytest.mark.parametrize("sign", [-1, 1])
def test_inside_means_within_the_half_width_on_either_side(shift, inside, sign):
    figure = [0.5, 0.01]
    half_width = compare("x", [0.5], figure).half_width
    found = compare("x", [0.5 + sign * shift * half_width], figure)
    assert found.inside is inside
    assert found.difference == pytest.approx(sign * shift * half_width)


def test_a_spread_published_as_zero_is_the_largest_that_is_printed_so():
    zero, smallest = compare("x", [0.36], [0.359, 0.0]), compare("x", [0.36], [0.359, ROUNDING])
    assert zero.half_width == smallest.half_width
    assert zero.half_width > ROUNDING
    assert zero.published_std == 0.0
    assert zero.inside is True


def test_what_was_not_measured_alike_gets_no_interval():
    found = compare("x", [0.1], [0.9, 0.01], alike=False)
    assert (found.half_width, found.inside) == (None, None)
    assert found.difference == pytest.approx(-0.8)


@pytest.mark.parametrize("n", [1, 3])
def test_the_interval_covers_95_per_cent_of_new_measurements(n):
    """Both studies drawn from one normal distribution, wide beside the rounding."""
    draws = 4000
    generator = np.random.default_rng(2024 + n)
    before = 10.0 * generator.standard_normal((draws, PUBLISHED_SEEDS))
    now = 10.0 * generator.standard_normal((draws, n))
    figures = np.stack([before.mean(1), before.std(1, ddof=1)], axis=1).tolist()
    inside = [
        compare("x", values, figure).inside
        for values, figure in zip(now.tolist(), figures, strict=True)
    ]
    assert np.mean(inside) == pytest.approx(0.95, abs=0.012)  # 3.5 standard errors


# A whole ladder


def test_every_rung_that_was_published_is_compared():
    found = compare_ladder(
        ladder({"bp": {"0": [0.39, 0.389], "4": [0.62]}, "mine": {"0": [0.3]}, "dfa": {"7": [0.1]}})
    )
    assert [rung["what"] for rung in found["rungs"]] == ["bp k=0", "bp k=4"]
    assert [rung["n"] for rung in found["rungs"]] == [2, 1]
    assert [rung["published"] for rung in found["rungs"]] == [0.389, 0.617]
    assert all(rung["inside"] for rung in found["rungs"])
    assert found["unlike"] == []


def test_a_rule_with_options_is_not_the_published_rule():
    assert compare_ladder(ladder({"dfa[normalise=batch]": {"0": [0.3]}}))["rungs"] == []


def test_other_epochs_are_not_alike():
    found = compare_ladder(ladder({"bp": {"4": [0.617]}}, epochs=30))
    (rung,) = found["rungs"]
    assert rung["inside"] is None
    assert rung["half_width"] is None
    assert all(check["inside"] is None for check in found["cross_checks"])
    assert found["unlike"] == ["epochs 30 instead of 100"]


def test_another_split_is_not_alike():
    found = compare_ladder(ladder({"bp": {"4": [0.617]}}, evaluated_on="validation"))
    assert found["unlike"] == ["evaluated_on validation instead of test"]
    assert found["rungs"][0]["inside"] is None


def test_diverged_runs_are_left_out():
    found = compare_ladder(ladder({"fa": {"0": [0.355, None], "1": [None]}}))
    assert [(rung["what"], rung["n"]) for rung in found["rungs"]] == [("fa k=0", 1)]


def test_the_ladder_is_checked_against_the_main_audit():
    found = compare_ladder(
        ladder({"bp": {"4": [0.6]}, "dfa": {"0": [0.35], "4": [0.3]}, "fa": {"1": [0.4]}})
    )
    checks = {check["what"]: check["published"] for check in found["cross_checks"]}
    assert checks == {
        "bp: k = L, main audit": 0.615,
        "dfa: k = L, main audit": 0.306,
        "dfa: k = 0, frozen baseline": 0.349,
    }


def test_the_main_audit_says_nothing_about_other_networks():
    found = compare_ladder(ladder({"bp": {"2": [0.6]}}, width=512, blocks=2))
    assert found["cross_checks"] == []
    assert [rung["published"] for rung in found["rungs"]] == [0.603]
