"""The comparison of a study with the published runs of thirty epochs, plain and penalised."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from depthgauge.config import NetConfig
from depthgauge.diagnosis.report import Report
from depthgauge.gauges.reading import Reading
from depthgauge.published.compare import (
    FigureComparison,
    PublishedComparison,
    ReadingComparison,
    check_network,
    compare_figure,
    unlike_published,
)
from depthgauge.published.figures import Figure, ThirtyEpochs, published
from depthgauge.published.main_audit import report_of
from depthgauge.results.study import StudyResult

NAME = "thirty-epochs"

PENALISED = "[penalty=0.01]"
RULES = [
    *("bp", "dfa", "state_bridge", "credit_bridge", "ep", "ep[credit=displacement]"),
    *(rule + PENALISED for rule in ("bp", "dfa", "state_bridge", "credit_bridge")),
    *(f"{rule}[{control}]" for rule in ("bp", "dfa") for control in ("shallow", "wide_block")),
]
"""The rules of the experiment, with both forms of Equilibrium Propagation, and the controls."""

SEED = 42
"""The only seed for which plain State Bridge, and Γ layer by layer, were published."""

Value = Callable[[Report], float | None]


def check_thirty_epochs(net: NetConfig) -> None:
    """Refuse a network for which nothing was published at thirty epochs."""
    check_network(net, published().thirty_epochs.config, "study of 30 epochs")


def compare_thirty_epochs(study: StudyResult) -> PublishedComparison:
    """Compare a study with the published runs of thirty epochs.

    Accuracies, the alignment Γ and the perturbation correlation ρ are compared. Γ and ρ are
    measured by the published conventions.
    """
    figures = published().thirty_epochs
    unlike = unlike_published(study.config, figures.config.epochs)
    accuracies = {"bp": figures.bp, "dfa": figures.dfa} | _with_penalty(figures.penalised)
    alignments, perturbations = _with_penalty(figures.deep_cos), _with_penalty(figures.deep_rho)
    alike = not unlike
    return PublishedComparison(
        NAME,
        unlike,
        {
            "accuracies": _compare(study, accuracies, lambda r: r.headline_acc, alike),
            "deep_alignment": _compare(
                study, alignments, lambda r: _value(r.alignment_published), alike
            ),
            "deep_perturbation": _compare(
                study, perturbations, lambda r: _value(r.perturbation_published), alike
            ),
        },
        one_seed=[row for row in _one_seed(study, figures) if None not in row.measured],
    )


def _value(reading: Reading | None) -> float | None:
    """Return the value of a reading; None if the audit did not take it."""
    return None if reading is None else reading.value


def _with_penalty(figures: Mapping[str, Figure]) -> dict[str, Figure]:
    """Return the figures under the labels of the penalised rules."""
    return {rule + PENALISED: figure for rule, figure in figures.items()}


def _compare(
    study: StudyResult, figures: Mapping[str, Figure], value: Value, alike: bool
) -> list[FigureComparison]:
    """Compare a reading of each rule's networks with the rule's published figure.

    The function `value` takes the reading from the report on a network. `alike` says whether the
    recipe is the published one.
    """
    comparisons = []
    for label, figure in figures.items():
        networks = study.rules[label].networks if label in study.rules else ()
        reports = [network.report for network in networks if network.report is not None]
        values = [known for report in reports if (known := value(report)) is not None]
        if values:
            comparisons.append(compare_figure(label, values, figure, alike))
    return comparisons


def _one_seed(study: StudyResult, figures: ThirtyEpochs) -> Iterator[ReadingComparison]:
    """Yield the figures that were published for one seed, with the measured figures."""
    null = published().null_calibration
    bridge, penalised = (_report(study, name) for name in ("state_bridge", f"dfa{PENALISED}"))
    if bridge is not None:
        yield ReadingComparison(
            "state_bridge: accuracy", (bridge.headline_acc,), (figures.state_bridge,)
        )
    alignment = penalised.alignment_published if penalised is not None else None
    if alignment is not None:
        what = f"dfa{PENALISED}: Γ, as published"
        yield ReadingComparison(f"{what}, l = 0 … L", alignment.per_layer, null.layers)
        yield ReadingComparison(f"{what}, deep", (alignment.value,), (null.deep,))


def _report(study: StudyResult, label: str) -> Report | None:
    return report_of(study.rules[label], SEED) if label in study.rules else None
