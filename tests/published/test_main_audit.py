"""What of the published audit is compared with which method."""

from __future__ import annotations

from typing import Any

from depthgauge.config import Recipe
from depthgauge.studies.published import published
from depthgauge.studies.published_audit import compare_audit

FIGURES = published()["main_audit"]


def audited(*methods: str) -> dict[str, Any]:
    config = {
        "recipe": Recipe(epochs=100).model_dump(mode="json"),
        "task": {"evaluated_on": "test"},
    }
    report = {
        "residual_norms": [1.0],
        "bp_grad_norms_n128": [1.0],
        "cross_batch_stability": 0.5,
        "readings": {},
    }
    return {
        "config": config,
        "verdicts": {method: {"verdict_in_words": "trustworthy"} for method in methods},
        "summary": [{"method": method, "acc": 0.4, "frozen_acc": 0.3} for method in methods],
        "reports": {f"{method}_s42": report for method in methods},
    }


def test_the_published_equilibrium_propagation_is_the_displacement_form():
    comparison = compare_audit(audited("ep", "ep[credit=displacement]"))
    assert [(row["what"], row["published"]) for row in comparison["accuracies"]] == [
        ("ep[credit=displacement]", FIGURES["ep"]["accuracy"][0])
    ]
    assert [(row["what"], row["published"]) for row in comparison["one_seed"]] == [
        ("ep[credit=displacement]: stability", [FIGURES["stability_seed42"]["ep"]])
    ]
    assert [row["published"] for row in comparison["verdicts"]] == [None, FIGURES["ep"]["verdict"]]


def test_what_was_never_published_is_said_to_be_so():
    comparison = compare_audit(audited("sdfa"))
    assert comparison["accuracies"] == []
    assert comparison["verdicts"] == [
        {"what": "sdfa", "measured": "trustworthy", "published": None}
    ]
