"""The comparison of a study with the published main audit, by the published conventions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

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
from depthgauge.published.figures import PublishedAudit, PublishedScale, published
from depthgauge.results.rule import RuleResult
from depthgauge.results.study import StudyResult

NAME = "main-audit"

SEED = 42
"""The only seed for which norms, stability and Γ were published."""

PUBLISHED_AS = {"ep": None, "ep[credit=displacement]": "ep"}
"""The published name of our label, where it differs; None if the rule was not published.

The published ep uses the displacement as credit. Our ep does not, unless its option says so.
"""


Value = TypeVar("Value")


def _find_published(figures: Mapping[str, Value], label: str) -> Value | None:
    """Return the published value of a rule; None if there is none."""
    name = PUBLISHED_AS.get(label, label)
    return None if name is None else figures.get(name)


def check_main_audit(net: NetConfig) -> None:
    """Refuse a network for which no audit was published."""
    check_network(net, published().main_audit.config, "audit")


def compare_main_audit(study: StudyResult) -> PublishedComparison:
    """Compare a study with the published main audit.

    Accuracies and verdicts are compared over all seeds. Norms, stability and alignment Γ are
    compared for seed 42 alone. Gradient norms are of the mean loss of a batch of 128. Γ is measured
    by the published convention.
    """
    figures = published().main_audit
    unlike = unlike_published(study.config, figures.config.epochs)
    audited = [rule for rule in study.rules.values() if rule.basis == "audit"]
    return PublishedComparison(
        NAME,
        unlike,
        {"accuracies": [row for rule in audited for row in _accuracies(rule, figures, not unlike)]},
        one_seed=[row for rule in audited for row in _one_seed(rule, figures)],
        verdicts=[_verdict(rule, figures) for rule in audited],
    )


def _verdict(rule: RuleResult, figures: PublishedAudit) -> VerdictComparison:
    known = _find_published(figures.rules, rule.label)
    return VerdictComparison(
        rule.label, str(rule.verdict.published), known.verdict if known else None
    )


def _accuracies(
    rule: RuleResult, figures: PublishedAudit, alike: bool
) -> Iterator[FigureComparison]:
    accuracies, frozen = (list(rule.values[name].values()) for name in ("accuracy", "frozen"))
    known = _find_published(figures.rules, rule.label)
    if accuracies and known is not None:
        yield compare_figure(rule.label, accuracies, known.accuracy, alike)
    if frozen and rule.label == "dfa":
        yield compare_figure("dfa, blocks frozen", frozen, figures.frozen.accuracy, alike)


def report_of(rule: RuleResult, seed: int) -> Report | None:
    """Return the report on a rule's network with this seed, if there is one."""
    reports = (network.report for network in rule.networks if network.seed == seed)
    return next(reports, None)


def _one_seed(rule: RuleResult, figures: PublishedAudit) -> Iterator[ReadingComparison]:
    """Yield each list of numbers that was published for one seed, with the measured numbers."""
    report = report_of(rule, SEED)
    if report is None:
        return
    scale = _find_published(figures.scale, rule.label) or PublishedScale()
    own = _find_published(figures.rules, rule.label)
    stability = _find_published(figures.stability, rule.label)
    gamma = report.alignment_published.per_layer if report.alignment_published else None
    pairs: list[tuple[str, Sequence[float | None] | None, Sequence[float] | None]] = [
        ("‖h_l‖, l = 0 … L", report.residual_norms, scale.h),
        ("‖h_L‖", report.residual_norms[-1:], _as_list(scale.h_L)),
        ("‖g_l‖ for N = 128", report.bp_grad_norms_n128, scale.g),
        ("stability", [report.cross_batch_stability], _as_list(stability)),
        ("Γ, as published, l = 0 … L", gamma, own.gamma_layers_0_to_4 if own else None),
        ("Γ, as published, blocks", gamma and gamma[:-1], own.gamma_per_block if own else None),
    ]
    for what, measured, figure in pairs:
        if figure is not None and measured is not None:
            yield ReadingComparison(f"{rule.label}: {what}", tuple(measured), tuple(figure))


def _as_list(value: float | None) -> list[float] | None:
    return None if value is None else [value]
