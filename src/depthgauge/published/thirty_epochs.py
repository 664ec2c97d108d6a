"""The published thirty-epoch runs, plain and penalised, and what was measured beside them."""

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
"""What was run for thirty epochs; both forms of Equilibrium Propagation, and the baselines."""

SEED = 42
"""State Bridge without a penalty and the alignment layer by layer were published for it alone."""

Value = Callable[[Report], float | None]


def check_thirty_epochs(net: NetConfig) -> None:
    """Refuse a network of which nothing was published at thirty epochs."""
    check_network(net, published().thirty_epochs.config, "study of 30 epochs")


def compare_thirty_epochs(study: StudyResult) -> PublishedComparison:
    """Return accuracies, deep Γ and deep ρ as published, with their prediction intervals."""
    figures = published().thirty_epochs
    unlike = unlike_published(study.config, figures.config.epochs)
    accuracies = {"bp": figures.bp, "dfa": figures.dfa} | _labelled(figures.penalised)
    alignments, perturbations = _labelled(figures.deep_cos), _labelled(figures.deep_rho)
    alike = not unlike
    return PublishedComparison(
        NAME,
        unlike,
        {
            "accuracies": _compared(study, accuracies, lambda r: r.headline_acc, alike),
            "deep_alignment": _compared(
                study, alignments, lambda r: _value(r.alignment_published), alike
            ),
            "deep_perturbation": _compared(
                study, perturbations, lambda r: _value(r.perturbation_published), alike
            ),
        },
        one_seed=[row for row in _one_seed(study, figures) if None not in row.measured],
    )


def _value(reading: Reading | None) -> float | None:
    """The value of a reading; an audit that was not asked for it has none."""
    return None if reading is None else reading.value


def _labelled(figures: Mapping[str, Figure]) -> dict[str, Figure]:
    return {rule + PENALISED: figure for rule, figure in figures.items()}


def _compared(
    study: StudyResult, figures: Mapping[str, Figure], value: Value, alike: bool
) -> list[FigureComparison]:
    found = []
    for label, figure in figures.items():
        networks = study.rules[label].networks if label in study.rules else ()
        reports = [network.report for network in networks if network.report is not None]
        values = [known for report in reports if (known := value(report)) is not None]
        if values:
            found.append(compare_figure(label, values, figure, alike))
    return found


def _one_seed(study: StudyResult, figures: ThirtyEpochs) -> Iterator[ReadingComparison]:
    """What was published for one seed, without a spread."""
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
