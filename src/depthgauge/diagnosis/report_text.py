"""A report as text, for a terminal or an appendix."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from depthgauge import __version__
from depthgauge.diagnostics.interval_text import THREE_DIGITS
from depthgauge.gauges.reading import Reading
from depthgauge.gauges.reference_check import ReferenceCheckReading
from depthgauge.number_format import exact, in_form, signed, with_powers
from depthgauge.verdict.judge import Verdict
from depthgauge.verdict.sensitivity import StableRange

if TYPE_CHECKING:
    from depthgauge.diagnosis.report import Report

LABEL = 22
CELL = 10
SIDE_BY_SIDE = 9


def diagnosis_text(report: Report) -> str:
    """Write verdict, diagnostics, readings layer by layer, thresholds and conventions."""
    parts = [
        [_heading(report)],
        [report.notes] if report.notes else [],
        list(_findings(report.judgement)),
        list(_numbers(report)),
        list(_layers(report)),
        list(_robustness(report)),
        list(report.remarks),
        list(_conventions(report)),
    ]
    return "\n\n".join("\n".join(part) for part in parts if part)


def _heading(report: Report) -> str:
    """Write our verdict, and the verdict of the published protocol if its word differs."""
    ours, published = f"{report.method_name}: {report.judgement}", report.judgement.published
    if published.word == report.verdict:
        return ours
    fired = f" ({', '.join(published.fired)})" if published.fired else ""
    return f"{ours}; by the published protocol: {published.word}{fired}"


def _findings(verdict: Verdict) -> Iterator[str]:
    for finding in verdict.findings:
        yield f"{finding.id}  {finding.outcome:9} {finding.sentence}"
    for finding in verdict.besides:
        yield f"{finding.id} {finding.outcome:9} {finding.sentence}; never a verdict by itself"


def _numbers(report: Report) -> Iterator[str]:
    yield _line("accuracy", report.accuracy)
    if report.headline_acc is not None and report.headline_acc != report.accuracy.value:
        yield f"{'headline accuracy':{LABEL}}{report.headline_acc:.4f}"
    if report.frozen_baseline_acc is not None:
        yield f"{'frozen baseline':{LABEL}}{report.frozen_baseline_acc:.4f}"
    yield _line(report.numerics.name, report.numerics)
    for precision, cosines in report.numerics.of_native.items():
        yield f"{f'  in {precision}':{LABEL}}{_cells(cosines)}"
    yield _line(report.stability.name, report.stability)
    for name, check in (
        ("reference check", report.reference_check),
        ("  of the plain twin", report.plain_check),
    ):
        if check is not None:
            yield f"{name:{LABEL}}{_check_result(check)}"
    if report.null is not None:
        deep = report.null.deep
        yield (
            f"{'null of Γ, deep':{LABEL}}{deep.word}"
            if deep.observed is None or deep.mean is None or deep.spread is None
            else f"{'null of Γ, deep':{LABEL}}{deep.word}: {signed(deep.observed, 4)} against "
            f"{signed(deep.mean, 4)} ± {deep.spread:.4f} over {report.null.draws} fresh feedbacks, "
            f"p = {in_form(deep.p_upper, THREE_DIGITS)}"
        )


def _check_result(check: ReferenceCheckReading) -> str:
    if check.value is None:
        return check.note
    value = with_powers(f"{check.value:.1e}")
    return value if check.is_true else f"{value}, failed by {check.places}"


def _line(label: str, reading: Reading) -> str:
    value = reading.note if reading.value is None else in_form(reading.value, "{:.4f}")
    return f"{label:{LABEL}}{value}"


def _layers(report: Report) -> Iterator[str]:
    """Write a table with a column for each layer, at most nine columns side by side."""
    rows: dict[str, Sequence[float | None]] = {
        "‖h_l‖": report.residual_norms,
        "‖g_l‖ per sample": report.bp_grad_norms,
        "‖g_l‖ for N = 128": report.bp_grad_norms_n128,
    }
    for label, reading in (
        ("Γ", report.alignment),
        ("ρ", report.perturbation),
        ("nudging", report.nudging),
    ):
        if reading is not None:
            rows[label] = reading.per_layer
    if report.lesion.per_layer:
        rows["lost without block l−1"] = (None, *report.lesion.per_layer)
    if report.rewind is not None and report.rewind.per_layer:
        rows["lost, l−1 rewound"] = (None, *report.rewind.per_layer)
    count = len(report.residual_norms)
    for start in range(0, count, SIDE_BY_SIDE):
        layers = range(start, min(start + SIDE_BY_SIDE, count))
        yield f"{'layer':{LABEL}}" + "".join(f"{layer:>{CELL}}" for layer in layers)
        for label, values in rows.items():
            if values:
                yield f"{label:{LABEL}}{_cells(values[layers.start : layers.stop])}"


def _cells(values: Sequence[float | None]) -> str:
    return "".join(f"{_cell(value):>{CELL}}" for value in values)


def _cell(value: float | None) -> str:
    return in_form(value, THREE_DIGITS)


def _robustness(report: Report) -> Iterator[str]:
    yield "The verdict keeps its word while one threshold moves within this range:"
    for stable in report.sensitivity:
        yield f"  {stable.threshold:{LABEL - 2}}{write_range(stable)}"


def write_range(stable: StableRange) -> str:
    """Write the stable range of a threshold."""
    low = "0" if stable.low is None else in_form(stable.low, THREE_DIGITS)
    high = "any value" if stable.high is None else in_form(stable.high, THREE_DIGITS)
    return f"{low} to {high} (used: {exact(stable.used)})"


def _conventions(report: Report) -> Iterator[str]:
    yield f"Measured by depthgauge {__version__}; thresholds: " + ", ".join(
        f"{name} {exact(value)}" for name, value in report.thresholds.items()
    )
    readings = (
        report.scale,
        report.reference,
        report.numerics,
        report.stability,
        report.reference_check,
        report.lesion,
        report.rewind,
        report.alignment,
        report.perturbation,
        report.nudging,
    )
    for reading in readings:
        if reading is not None and reading.measured_on:
            missing = reading.note if reading is report.rewind else ""
            how = f"{reading.unit}; {reading.convention}; {reading.measured_on}"
            yield f"{reading.name}: {missing or how}."
