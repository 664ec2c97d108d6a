"""The published main audit, and what was measured beside it, like with like."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from depthgauge.config import NetConfig
from depthgauge.diagnosis.report import Report
from depthgauge.published.compare import (
    FigureComparison,
    PublishedComparison,
    ReadingComparison,
    VerdictComparison,
    check_network,
    compare_figure,
    unlike_published,
)
from depthgauge.published.figures import published
from depthgauge.results.rule import RuleResult
from depthgauge.results.study import StudyResult

NAME = "main-audit"

SEED = 42
"""Norms, stability and Γ were published for this seed alone."""

PUBLISHED_AS = {"ep": None, "ep[credit=displacement]": "ep"}
"""The published Equilibrium Propagation took the displacement for the credit; ours does not."""


def _figures(figures: Mapping[str, Any], label: str) -> dict[str, Any]:
    """What was published of a rule; empty if nothing was."""
    name = PUBLISHED_AS.get(label, label)
    found: dict[str, Any] = figures.get(name, {}) if name is not None else {}
    return found


def check_main_audit(net: NetConfig) -> None:
    """Refuse a network of which no audit was published."""
    check_network(net, published()["main_audit"]["config"], "audit")


def compare_main_audit(study: StudyResult) -> PublishedComparison:
    """Return accuracies, norms, stability and Γ of one seed, and verdicts beside the published.

    Gradient norms are compared for the mean loss of a batch of 128, Γ in the published pairing.
    """
    figures = published()["main_audit"]
    unlike = unlike_published(study.config, figures["config"]["epochs"])
    audited = [rule for rule in study.rules.values() if rule.basis == "audit"]
    return PublishedComparison(
        NAME,
        unlike,
        {"accuracies": [one for r in audited for one in _accuracies(r, figures, not unlike)]},
        one_seed=[row for rule in audited for row in _one_seed(rule, figures)],
        verdicts=[
            VerdictComparison(
                rule.label, str(rule.verdict), _figures(figures, rule.label).get("verdict")
            )
            for rule in audited
        ],
    )


def _accuracies(
    rule: RuleResult, figures: Mapping[str, Any], alike: bool
) -> Iterator[FigureComparison]:
    reached, frozen = (list(rule.values[name].values()) for name in ("accuracy", "frozen"))
    figure = _figures(figures, rule.label).get("accuracy")
    if reached and figure is not None:
        yield compare_figure(rule.label, reached, figure, alike)
    if frozen and rule.label == "dfa":
        yield compare_figure("dfa, blocks frozen", frozen, figures["frozen"]["accuracy"], alike)


def report_of(rule: RuleResult, seed: int) -> Report | None:
    """Return the report of a rule's network with this seed, where there is one."""
    reports = (network.report for network in rule.networks if network.seed == seed)
    return next(reports, None)


def _one_seed(rule: RuleResult, figures: Mapping[str, Any]) -> Iterator[ReadingComparison]:
    """Each published list of numbers beside the same numbers, measured."""
    report = report_of(rule, SEED)
    if report is None:
        return
    scale, own = _figures(figures["scale_seed42_N128"], rule.label), _figures(figures, rule.label)
    stability = figures["stability_seed42"].get(PUBLISHED_AS.get(rule.label, rule.label))
    gamma = report.alignment_published.per_layer if report.alignment_published else None
    pairs: list[tuple[str, Sequence[float | None] | None, Sequence[float] | None]] = [
        ("‖h_l‖, l = 0 … L", report.residual_norms, scale.get("h")),
        ("‖h_L‖", report.residual_norms[-1:], _listed(scale.get("h_L"))),
        ("‖g_l‖ for N = 128", report.bp_grad_norms_n128, scale.get("g")),
        ("stability", [report.cross_batch_stability], _listed(stability)),
        ("Γ, as published, l = 0 … L", gamma, own.get("gamma_layers_0_to_4")),
        ("Γ, as published, blocks", gamma and gamma[:-1], own.get("gamma_per_block")),
    ]
    for what, measured, figure in pairs:
        if figure is not None and measured is not None:
            yield ReadingComparison(f"{rule.label}: {what}", tuple(measured), tuple(figure))


def _listed(value: float | None) -> list[float] | None:
    return None if value is None else [value]
