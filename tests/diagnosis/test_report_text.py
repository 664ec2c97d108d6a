"""A report as a page of text."""

from __future__ import annotations

import dataclasses
import re

import pytest
import torch
from diagnosis.examined_networks import BLOCKS, overflowing, shown
from diagnosis.example_reports import STRANGE, strange
from gauges.small_networks import make_net

from depthgauge import Report, Thresholds, diagnose
from depthgauge.diagnosis.report_text import write_range
from depthgauge.gauges.null import calibrate
from depthgauge.number_format import exact, in_form
from depthgauge.verdict.sensitivity import StableRange

COLUMNS = 120
REPR = re.compile(r"\b(None|nan|NaN|True|False|tensor|torch\.|dtype)\b|[\[{]'|Reading\(")


def paragraph(report: Report, start: str) -> list[str]:
    """The lines of every paragraph in which one starts so."""
    parts = [part.splitlines() for part in str(report).split("\n\n")]
    found = [part for part in parts if any(line.startswith(start) for line in part)]
    assert found, f"no line starts with {start!r}"
    return [line for part in found for line in part]


def table(report: Report) -> list[str]:
    return paragraph(report, "layer")


def row(report: Report, label: str) -> list[str]:
    (line,) = (line for line in table(report) if line.startswith(label))
    return line.removeprefix(label).split()


def test_the_verdict_comes_first():
    report = diagnose(make_net(), shown(1), 0.5, 0.5, method_name="mine")
    assert str(report).splitlines()[0] == "mine: walk back (D3, single seed)"


def test_the_published_word_stands_beside_ours_where_it_is_another():
    """A network without a ladder is not vouched for; papers that say trustworthy can be matched."""
    healthy = str(diagnose(make_net(), shown(1), 0.6, 0.5, method_name="net.pt"))
    assert healthy.splitlines()[0] == (
        "net.pt: no alarm, depth untested (single seed); by the published protocol: trustworthy"
    )
    few = diagnose(make_net(), shown(1), 0.53, 0.52, samples=400, method_name="net.pt")
    assert (few.judgement.fired, few.judgement.published.fired) == ((), ("D3",))
    assert str(few).splitlines()[0].endswith("; by the published protocol: walk back (D3)")


def test_every_diagnostic_has_its_finding_and_sentence(full):
    lines, verdict = paragraph(full, "D1  "), full.judgement
    for line, found in zip(lines, (*verdict.findings, *verdict.besides), strict=True):
        name, outcome, sentence = line.split(maxsplit=2)
        assert (name, outcome) == (found.id, found.outcome)
        aside = "; never a verdict by itself" if found in verdict.besides else ""
        assert sentence == found.sentence + aside


@pytest.mark.parametrize("moved", [{}, {"growth": 77.0, "stability": 0.125, "error_rate": 0.01}])
def test_all_thresholds_are_there_with_their_values(moved):
    used = Thresholds(**moved)
    text = str(diagnose(make_net(), shown(1), thresholds=used))
    for name, value in used.items():
        assert f"{name} {exact(value)}" in text


def test_every_layers_norms_are_in_its_column(full):
    assert row(full, "layer") == [str(layer) for layer in range(BLOCKS + 1)]
    for label, values in {
        "‖h_l‖": full.residual_norms,
        "‖g_l‖ per sample": full.bp_grad_norms,
        "‖g_l‖ for N = 128": full.bp_grad_norms_n128,
        "Γ ": full.alignment.per_layer,
        "ρ ": full.perturbation.per_layer,
        "nudging ": full.nudging.per_layer,
    }.items():
        assert row(full, label) == [in_form(value, "{:.3g}") for value in values], label
    lost = [in_form(value, "{:.3g}") for value in full.lesion.per_layer]
    assert row(full, "lost without block l−1") == ["–", *lost]


def test_a_rewound_block_stands_beside_the_one_that_was_skipped():
    net = make_net()
    report = diagnose(net, shown(1), initial=make_net(seed=5))
    lost = [in_form(value, "{:.3g}") for value in report.rewind.per_layer]
    assert row(report, "lost, l−1 rewound") == ["–", *lost]
    how = "accuracy lost; one block at its initial weights at a time; "
    assert f"rewind: {how}{report.rewind.measured_on}." in paragraph(report, "Measured by")
    without = str(diagnose(net, shown(1))).splitlines()
    assert "rewind: n/a: the initial weights are not at hand." in without


def test_columns_are_aligned(full):
    ends = {tuple(m.end() for m in re.finditer(r"\S+", line[22:])) for line in table(full)}
    assert len(ends) == 1


@pytest.mark.parametrize("blocks", [1, 3, 9, 12, 24])
def test_tables_fit_the_page_and_have_every_layer(blocks):
    report = diagnose(make_net(blocks=blocks), shown(1), 0.6, 0.5)
    for start in ("layer", "The verdict keeps its word", "accuracy"):
        assert max(map(len, paragraph(report, start))) <= COLUMNS, start
    cells = str(report).split()
    for values in (report.residual_norms, report.bp_grad_norms, report.bp_grad_norms_n128):
        assert all(f"{value:.3g}" in cells for value in values)
    assert all(str(layer) in cells for layer in range(blocks + 1))


@pytest.mark.parametrize("kind", STRANGE)
def test_there_are_no_python_values_in_the_text(kind):
    lines = [line for line in str(strange(kind)).splitlines() if REPR.search(line)]
    assert lines == []


def test_there_are_no_python_values_in_a_usual_report(full):
    assert REPR.search(str(full)) is None


def test_labels_that_are_no_classes_leave_accuracy_and_lesion_out():
    def squares(answers, targets):
        return (answers - targets).square().sum(1)

    batches = [(x, torch.ones(len(x), 4)) for x, _ in shown()]
    report = diagnose(make_net(), batches, loss=squares)
    assert REPR.search(str(report)) is None
    assert "n/a: the labels are not class numbers" in paragraph(report, "accuracy")[0]
    assert not any(line.startswith("lost") for line in table(report))


def test_accuracies_are_named(full):
    lines = paragraph(full, "accuracy")
    assert lines[0].split() == ["accuracy", f"{full.accuracy.value:.4f}"]
    assert lines[1].split() == ["headline", "accuracy", "0.6100"]
    assert lines[2].split() == ["frozen", "baseline", "0.5000"]


def test_a_headline_that_was_measured_is_not_said_twice():
    text = str(diagnose(make_net(), shown(1), frozen_baseline_acc=0.1))
    assert "headline" not in text
    assert "frozen baseline       0.1000" in text


@pytest.mark.parametrize("drift", [True, False])
def test_drift_is_said_above_its_threshold(drift):
    stability = diagnose(make_net(), shown()).cross_batch_stability
    assert stability > 0
    limit = Thresholds(stability=stability * (0.9 if drift else 1.1))
    lines = str(diagnose(make_net(), shown(), thresholds=limit)).splitlines()
    assert f"D2s stability         {stability:.4f}" in lines
    finding = next(line for line in lines if line.startswith("D2s "))
    assert finding.split()[:2] == ["D2s", "fires" if drift else "passes"]
    assert "drift rather than noise above" in finding


def test_too_few_batches_for_stability_are_counted():
    text = str(diagnose(make_net(), shown(3)))
    assert "D2s stability         n/a: needs at least 8 batches, was given 3" in text


def test_notes_and_remarks_are_there_where_there_are_any(full):
    assert "of the √ of it" in str(full).splitlines()
    without = dataclasses.replace(full, notes="")
    assert len(str(full).split("\n\n")) == len(str(without).split("\n\n")) + 1
    remarked = dataclasses.replace(full, remarks=("One.", "Two."))
    assert "\n\nOne.\nTwo.\n\n" in str(remarked)
    assert "\n\n\n" not in str(without)


def test_every_reading_says_how_it_was_measured(full):
    lines = paragraph(full, "Measured by")
    for name in (
        "scale",
        "reference",
        "numerics",
        "stability",
        "lesion",
        "alignment",
        "perturbation",
        "nudging",
    ):
        r = getattr(full, name)
        assert f"{r.name}: {r.unit}; {r.convention}; {r.measured_on}." in lines


def test_the_null_calibration_is_one_line(full):
    found = "specific: +0.3000 against −0.0100 ± 0.0062 over 20 fresh feedbacks, p = 0.0476"
    assert f"null of Γ, deep       {found}" in str(full).splitlines()
    undefined = calibrate(torch.full((4,), torch.nan), torch.zeros(3, 4), "", "")
    text = str(dataclasses.replace(full, null=undefined))
    assert "null of Γ, deep       n/a" in text.splitlines()
    assert "null of Γ" not in str(dataclasses.replace(full, null=None))


def test_the_range_of_every_threshold_is_there(full):
    lines = paragraph(full, "The verdict keeps its word")
    assert len(lines) == 1 + len(full.sensitivity)
    for line, stable in zip(lines[1:], full.sensitivity, strict=True):
        assert line.split(maxsplit=1) == [stable.threshold, write_range(stable)]


def test_a_range_in_words():
    for low, high, words in [
        (None, None, "0 to any value (used: 50)"),
        (1.234567, None, "1.23 to any value (used: 50)"),
        (None, 6940.0, "0 to 6,940 (used: 50)"),
        (11.0, 694.0, "11 to 694 (used: 50)"),
    ]:
        assert write_range(StableRange("growth", 50.0, low, high)) == words


def test_a_stream_that_is_no_number_is_shown_as_such():
    cells = row(diagnose(overflowing(1), shown(1)), "‖h_l‖")
    assert len(cells) == BLOCKS + 1
    assert float(cells[0]) > 0
    assert not re.fullmatch(r"[\d.e+-]+", cells[-1])
