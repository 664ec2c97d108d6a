"""Training: what its panels show, and how means over seeds are drawn."""

from __future__ import annotations

import pytest
from report.charts.drawn import Mark, lines, marks
from report.studies import make_audit, make_line, make_network, make_run, make_study

from depthgauge.report.charts import training
from depthgauge.report.charts.training import TrainingData, recorded, run_records, training_data
from depthgauge.results.study import StudyResult
from depthgauge.verdict.thresholds import Thresholds

ACCURACY, GROWTH = "training-accuracy", "training-growth"
GRADIENT = "training-gradient"
TITLES = {ACCURACY: "Accuracy", GROWTH: "growth (D1)"}


def growing(*growths, **more):
    return [make_line(e, h_norm=[1.0, 1.0, g], **more) for e, g in enumerate(growths)]


def data_of(study: StudyResult) -> dict[str, TrainingData]:
    """Return what each panel shows."""
    records = [run_records(run, study.thresholds) for run in study.runs]
    every = {
        one.id: training_data(one, records) for one in recorded(study.thresholds, study.chance)
    }
    return {id: data for id, data in every.items() if data.curves}


def values(data: TrainingData) -> list[tuple[float | None, ...]]:
    return [
        tuple(None if value is None else round(value, 9) for value in curve.values)
        for curve in data.curves
    ]


def drawn(study: StudyResult, id: str, **chosen) -> list[Mark]:
    """Draw one panel."""
    (panel,) = (panel for panel in training.draw(study).panels if panel.id == id)
    return marks(panel, **chosen)


def test_accuracy_growth_and_gradient_by_epoch():
    run = make_run(
        "bp",
        lines=[
            make_line(0),
            make_line(1, accuracy=0.7, h_norm=[1.0, 5.0, 6.0], g_norm=[1.0, 1.0, 0.01]),
        ],
    )
    data = data_of(make_study(run))
    assert values(data[ACCURACY]) == [(0, 70)]
    assert values(data[GROWTH]) == [(2, 5)]
    assert values(data[GRADIENT]) == [(0.1, 0.01)]
    assert [data[id].span.log for id in (ACCURACY, GROWTH, GRADIENT)] == [False, True, True]
    (curve,) = data[GROWTH].curves
    assert (curve.run, curve.says) == (run.identity, "bp, k = 2, seed 1")


def test_thresholds_and_chance_lie_within_the_axes():
    data = data_of(make_study(make_run("bp")))
    for id, value in ((ACCURACY, 12.5), (GROWTH, 50), (GRADIENT, 1.28e-5)):
        (line,) = data[id].lines
        low, high = data[id].span.ends
        assert line.value == value
        assert low < value < high
    assert data[ACCURACY].span.low == 0
    assert data[GROWTH].lines[0].says == "threshold: above 50"


def fired(data: TrainingData) -> list[tuple[int, int, float]]:
    return [(mark.seed, mark.epoch, mark.value) for mark in data.fired]


def test_a_star_marks_where_each_seed_first_fires():
    runs = [
        make_run("x", s, lines=growing(1.0, *g)) for s, g in ((1, (60.0, 90.0)), (2, (2.0, 70.0)))
    ]
    data = data_of(make_study(*runs))
    assert fired(data[GROWTH]) == [(1, 1, 60), (2, 2, 70)]
    assert fired(data[GRADIENT]) == []
    assert data[GROWTH].fired[0].says == "x, k = 2, seed 1: D1 first fires at epoch 1"


def test_the_gradient_fires_only_together_with_its_share_of_the_error():
    low = [make_line(1, g_norm=[1.0, 1.0, 1e-9], g_over_e=share) for share in (1e-9, 0.5)]
    runs = [
        make_run(rule, lines=[make_line(0), line]) for rule, line in zip("xy", low, strict=True)
    ]
    data = data_of(make_study(*runs))
    assert [(mark.rule, mark.value) for mark in data[GRADIENT].fired] == [("x", 1e-9)]


def test_metrics_without_the_share_are_drawn_and_never_fire():
    line = make_line(0, g_norm=[1.0, 1.0, 1e-9])
    del line["g_over_e"]
    data = data_of(make_study(make_run(lines=[line])))
    assert values(data[GRADIENT]) == [(1e-9,)]
    assert data[GRADIENT].fired == ()


def test_where_epochs_are_lost_nobody_can_say_which_one_fired_first():
    lines_ = [make_line(epoch, growth=growth) for epoch, growth in ((0, 1.0), (3, 90.0))]
    data = data_of(make_study(make_run("x", lines=lines_)))
    assert values(data[GROWTH]) == [(1, None, None, 90)]
    assert data[GROWTH].fired == ()


def test_the_thresholds_are_those_of_the_audit():
    audit = make_audit(make_network("x"), thresholds=Thresholds(growth=3.0))
    data = data_of(make_study(make_run("x", lines=growing(1.0, 4.0)), audit=audit))
    assert fired(data[GROWTH]) == [(1, 1, 4)]
    assert data[GROWTH].lines[0].value == 3


def test_a_run_that_diverged_ends_early_with_a_star_at_the_bad_end():
    lost = make_line(2, accuracy=None, h_norm=[None] * 3, g_norm=[None] * 3, diverged=True)
    study = make_study(make_run("x", accuracy=None, lines=[*growing(1.0, 2.0), lost]))
    data = data_of(study)
    assert values(data[GROWTH]) == [(1, 2)]
    assert fired(data[GROWTH]) == [(1, 2, data[GROWTH].span.ends[1])]
    assert fired(data[GRADIENT]) == [(1, 2, data[GRADIENT].span.ends[0])]
    assert data[GROWTH].epochs == 2
    notes = {panel.id: panel.note for panel in training.draw(study).panels}
    assert (notes[ACCURACY], notes[GROWTH]) == ("x: 1 diverged", "★: D1 first fires")


def test_a_gradient_of_zero_leaves_a_gap():
    lines_ = [make_line(e, g_norm=[1.0, 1.0, g]) for e, g in enumerate((0.1, 0.0, None, 0.2))]
    assert values(data_of(make_study(make_run(lines=lines_)))[GRADIENT]) == [(0.1, None, None, 0.2)]


def test_a_run_in_progress_is_drawn_as_far_as_it_is():
    run = make_run(state="running", accuracy=None, lines=growing(1.0, 2.0))
    assert values(data_of(make_study(run))[GROWTH]) == [(1, 2)]


@pytest.mark.parametrize("run", [make_run(k=0), make_run(k=1), make_run(lines=[])])
def test_without_recorded_epochs_there_is_no_training_to_draw(run):
    assert "no recorded epochs" in (training.reason_missing(make_study(run)) or "")


# The drawing


def test_the_mean_over_seeds_is_geometric_on_the_logarithmic_axis():
    runs = [make_run("bp", seed, lines=growing(1.0, g)) for seed, g in ((1, 2.0), (2, 32.0))]
    found = drawn(make_study(*runs), GROWTH)
    assert lines(found) == [[(0, 1), (1, 8)]]
    assert lines(found, seeds=True) == [[(0, 1), (1, 2)], [(0, 1), (1, 32)]]


def test_the_mean_over_seeds_is_arithmetic_elsewhere_and_of_the_seeds_that_are_there():
    rows = ((0.1, 0.2, 0.6), (0.3, None, 0.8), (0.2, 0.5))
    runs = [
        make_run("bp", seed, lines=[make_line(e, accuracy=a) for e, a in enumerate(row)])
        for seed, row in enumerate(rows)
    ]
    found = drawn(make_study(*runs), ACCURACY)
    assert lines(found) == [[(0, 20), (1, 35), (2, 70)]]
    assert [mark.says for mark in found if mark.kind == "symbol"] == [
        "bp, epoch 0: 20, mean of 3 seeds",
        "bp, epoch 1: 35, mean of 2 seeds",
        "bp, epoch 2: 70, mean of 2 seeds",
    ]


def test_a_value_stands_at_its_epoch_also_where_others_were_lost():
    run = make_run("x", lines=[make_line(epoch, accuracy=0.5) for epoch in (0, 1, 4)])
    found = drawn(make_study(run), ACCURACY)
    assert lines(found, seeds=True) == lines(found) == [[(0, 50), (1, 50), (4, 50)]]


@pytest.mark.parametrize(
    ("chosen", "ends"),
    [({}, [2, 100]), ({"k": 1}, [1, 99]), ({"alone": "dfa"}, [100]), ({"k": 0}, [])],
)
def test_k_and_a_rule_alone_choose_the_rows(chosen, ends):
    study = make_study(
        *(
            make_run(rule, k=k, lines=growing(1.0, growth + k))
            for rule, growth in (("bp", 0.0), ("dfa", 98.0))
            for k in (1, 2)
        )
    )
    found = drawn(study, GROWTH, **chosen)
    assert [line[-1][1] for line in lines(found)] == ends
    assert len([mark for mark in found if mark.rows == "fired"]) == sum(end > 50 for end in ends)


def test_a_control_with_other_blocks_is_drawn_beside_the_rules():
    wide = make_run("x[wide_block]", k=1, lines=growing(1.0, 2.0))
    assert len(lines(drawn(make_study(make_run("bp"), wide), GROWTH))) == 2


def test_lines_and_stars_lead_to_their_run_and_a_mean_of_seeds_to_none():
    runs = [make_run("bp", seed, lines=growing(1.0, 99.0)) for seed in (1, 2)]
    found = drawn(make_study(*runs), GROWTH)
    identities = [run.identity for run in runs]
    seeds = [m.run for m in found if m.kind == "line" and "strokeOpacity" in m.style]
    assert seeds == [m.run for m in found if m.rows == "fired"] == identities
    means = [m.run for m in found if m.rows == "curves" and m.kind == "symbol"]
    assert means == [None, None]
