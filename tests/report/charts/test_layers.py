"""What is known of each layer: the values, the choice of rows, and the drawing."""

from __future__ import annotations

import pytest
from report.charts.drawn import Mark, lines, marks
from report.studies import (
    make_audit,
    make_line,
    make_network,
    make_null,
    make_run,
    make_study,
)

from depthgauge.report.charts import layers
from depthgauge.report.charts.layers import (
    ALIGNMENT,
    GRADIENT,
    LESION,
    PERTURBATION,
    STREAM,
    LayerQuantity,
    bands,
    layer_curves,
)
from depthgauge.results.study import StudyResult

READ = {
    "norms": (1.0, 10.0, 100.0),
    "gradients": (1.0, 0.1, 0.0),
    "gamma": (0.9, None, 0.7),
    "rho": (0.8, 0.6, -0.1),
}


def audited(**read) -> StudyResult:
    return make_study(audit=make_audit(make_network("dfa", **READ | read)))


def norms(*values, epoch=1, **more):
    return make_line(epoch, h_norm=list(values), **more)


def drawn(study: StudyResult, quantity: LayerQuantity = STREAM, **chosen) -> list[Mark]:
    """Draw one panel."""
    (panel,) = (panel for panel in layers.draw(study).panels if panel.id == quantity.id)
    return marks(panel, **chosen)


def test_norms_are_known_after_every_epoch_of_every_rung():
    runs = [make_run("bp", k=k, lines=[norms(1, 3, 9, epoch=e) for e in (0, 1)]) for k in (2, 0)]
    curves = layer_curves(make_study(*runs))[STREAM]
    places = [(curve.k, curve.epoch, curve.is_last, curve.run) for curve in curves]
    assert places == [
        (run.config.k, epoch, epoch == 1, run.identity) for run in runs for epoch in (0, 1)
    ]
    assert {tuple(curve.values) for curve in curves} == {(1, 3, 9)}


def test_an_audit_adds_what_it_read_in_its_units():
    study = audited(null=make_null())
    report = study["dfa"].networks[0].report
    read = {quantity: curves for quantity, curves in layer_curves(study).items() if curves}
    assert list(read) == [STREAM, GRADIENT, ALIGNMENT, PERTURBATION, LESION]
    ((gamma,), (rho,), (lesion,)) = (read[one] for one in (ALIGNMENT, PERTURBATION, LESION))
    assert (gamma.values, rho.values) == ((0.9, None, 0.7), (0.8, 0.6, -0.1))
    assert lesion.values == pytest.approx([100 * share for share in report.lesion.per_layer])
    (band,) = bands(study)
    assert (band.low, band.high) == (pytest.approx([-0.1, 0, 0.1]), pytest.approx([0.1, 0.2, 0.3]))


def test_an_audit_without_runs_has_its_own_norms():
    assert layer_curves(audited())[STREAM][0].values == [1, 10, 100]


def test_networks_with_recorded_epochs_have_no_second_curve_from_the_audit():
    run = make_run("dfa", lines=[norms(1, 2, 3)])
    network = make_network("dfa", **READ, run=run.identity)
    study = make_study(run, audit=make_audit(network))
    (curve,) = layer_curves(study)[STREAM]
    assert list(curve.values) == [1, 2, 3]
    assert [curve.run for curve in layer_curves(study)[ALIGNMENT]] == [run.identity]


@pytest.mark.parametrize("run", [make_run(k=0), make_run(lines=[]), make_run(state="running")])
def test_a_study_without_finished_networks_has_no_layers(run):
    assert "no layers" in (layers.reason_missing(make_study(run)) or "")


# The drawing


def test_a_file_shows_the_last_epoch_of_runs_with_all_blocks_trained():
    last = make_line(2, h_norm=[1.0, 3.0, 9.0], g_norm=[0.5, 0.05, 0.005])
    runs = [make_run("bp", lines=[make_line(1), last]), make_run("bp", k=0)]
    found = marks(layers.draw(make_study(*runs)))
    assert lines(found, STREAM.title) == [[(0, 1), (1, 3), (2, 9)]]
    assert lines(found, GRADIENT.title) == [[(0, 0.5), (1, 0.05), (2, 0.005)]]
    points = [mark for mark in found if mark.panel == STREAM.title and mark.kind == "symbol"]
    assert [(point.says, point.run) for point in points] == [
        ("bp, embedding: 1", runs[0].identity),
        ("bp, block 0: 3", runs[0].identity),
        ("bp, block 1: 9", runs[0].identity),
    ]


def test_the_mean_over_seeds_is_geometric_for_norms():
    runs = [make_run("bp", seed, lines=[norms(1.0, 2.0, h)]) for seed, h in ((1, 1.0), (2, 100.0))]
    found = drawn(make_study(*runs))
    assert lines(found) == [[(0, 1), (1, 2), (2, 10)]]
    assert [line[-1] for line in lines(found, seeds=True)] == [(2, 1), (2, 100)]
    point = [mark for mark in found if mark.kind == "symbol"][-1]
    assert (point.says, point.run) == ("bp, block 1: 10, mean of 2 seeds", None)


def test_the_mean_over_seeds_is_arithmetic_for_alignments():
    gammas = ((0.2, 0.9), (-0.4, 0.1))
    networks = [make_network("x", seed, gamma=gamma) for seed, gamma in enumerate(gammas)]
    found = drawn(make_study(audit=make_audit(*networks)), ALIGNMENT)
    assert lines(found) == [[(0, -0.1), (1, 0.5)]]


def test_what_has_no_logarithm_is_left_out():
    metrics = [make_line(h_norm=[1.0, None, 4.0], g_norm=[0.3, 0.0, 0.1])]
    found = marks(layers.draw(make_study(make_run("bp", lines=metrics))))
    assert lines(found, STREAM.title) == [[(0, 1), (2, 4)]]
    assert lines(found, GRADIENT.title) == [[(0, 0.3), (2, 0.1)]]


def test_a_band_of_fresh_feedback_lies_behind_gamma_and_is_named():
    study = audited(null=make_null())
    first, *_ = found = drawn(study, ALIGNMENT)
    assert [mark.rows for mark in found].count("bands") == 1
    assert first.rows == "bands"
    assert [y for _, y in first.points] == pytest.approx([-0.1, 0, 0.1])
    notes = {panel.id: panel.note for panel in layers.draw(study).panels}
    assert "fresh feedback" in notes[ALIGNMENT.id]


def test_lesions_begin_with_the_first_block_and_credit_with_the_embedding():
    for quantity, places in (
        (ALIGNMENT, ["embedding", "block 1"]),
        (LESION, ["block 0", "block 1"]),
    ):
        says = [mark.says for mark in drawn(audited(), quantity) if mark.kind == "symbol"]
        assert [words.partition(":")[0] for words in says] == [f"dfa, {place}" for place in places]


def test_networks_with_fewer_blocks_have_shorter_lines():
    short = make_run("x[wide_block]", k=1, lines=[make_line(h_norm=[1.0, 2.0], g_norm=[1.0, 1.0])])
    assert sorted(map(len, lines(drawn(make_study(make_run("bp"), short))))) == [2, 3]


def test_diverged_networks_are_said():
    nothing = [make_line(h_norm=[None] * 3, g_norm=[None] * 3, diverged=True)]
    study = make_study(make_run("bp"), make_run("x", accuracy=None, lines=nothing))
    assert layers.draw(study).panels[0].note == "x: 1 diverged"


# What a reader chooses


def chosen_study() -> StudyResult:
    """Norms that tell rule, k, seed and epoch apart at the end; seed 2 stops an epoch early."""
    return make_study(
        *(
            make_run(rule, seed, k=k, lines=_ends(scale * (10 * k + seed), epochs=4 - seed))
            for rule, scale in (("bp", 1.0), ("dfa", 1000.0))
            for k in (2, 1)
            for seed in (1, 2)
        )
    )


def _ends(first: float, epochs: int):
    return [norms(1.0, 1.0, first * 2**epoch, epoch=epoch) for epoch in range(epochs)]


@pytest.mark.parametrize(
    ("chosen", "ends"),
    [
        ({"seed": 1}, [21 * 4, 21000 * 4]),
        ({"seed": 1, "epoch": 0}, [21, 21000]),
        ({"seed": 2}, [22 * 2, 22000 * 2]),
        ({"seed": 1, "k": 1, "epoch": 1}, [11 * 2, 11000 * 2]),
        ({"seed": 1, "alone": "dfa"}, [21000 * 4]),
        ({"k": 0}, []),
    ],
)
def test_k_seed_epoch_and_a_rule_alone_choose_the_rows(chosen, ends):
    found = drawn(chosen_study(), **chosen)
    for seeds in (False, True):
        drawn_ends = [line[-1][1] for line in lines(found, seeds=seeds)]
        assert drawn_ends == pytest.approx(ends, rel=1e-5)


def test_the_mean_over_all_seeds_is_of_the_chosen_epoch():
    ((*_, last),) = lines(drawn(chosen_study(), alone="bp", epoch=0))
    assert last[1] == pytest.approx((21 * 22) ** 0.5, rel=1e-5)


def test_a_reader_is_told_where_values_are_only_known_with_all_blocks_trained():
    study = audited()
    for k, told in ((2, []), (1, ["only known with all blocks trained"])):
        found = drawn(study, ALIGNMENT, k=k)
        assert [mark.style["text"] for mark in found if mark.kind == "text"] == told
