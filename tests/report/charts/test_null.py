"""The null: a histogram of the draws, and the training feedback beside it."""

from __future__ import annotations

import pytest
from report.charts.drawn import marks
from report.studies import make_audit, make_network, make_null, make_run, make_study

from depthgauge.report.charts import null
from depthgauge.report.charts.null import NullData, null_data
from depthgauge.results.study import StudyResult


def audited(*networks) -> StudyResult:
    return make_study(audit=make_audit(*networks))


def data_of(*networks) -> NullData:
    """Return what the panel of the first rule shows."""
    data = null_data(audited(*networks)[networks[0].network.label])
    assert data is not None
    return data


def test_a_panel_for_each_rule_that_has_a_null():
    figure = null.draw(
        audited(
            make_network("bp"),
            make_network("dfa", null=make_null()),
            make_network("fa", null=make_null(word="generic")),
        )
    )
    assert [(panel.title, panel.note.partition(" ")[0]) for panel in figure.panels] == [
        ("dfa", "mixed"),
        ("fa", "generic"),
    ]


def test_a_row_for_each_seed_the_first_on_top():
    networks = [make_network("dfa", s, null=make_null(observed=0.1 * s)) for s in (1, 2, 3)]
    data = data_of(*networks)
    assert data.seeds == (1, 2, 3)
    assert [(mark.value, mark.bottom) for mark in data.observed] == [
        (pytest.approx(0.1), 2),
        (pytest.approx(0.2), 1),
        (pytest.approx(0.3), 0),
    ]
    assert all(mark.bottom < mark.top < mark.bottom + 1 for mark in (*data.observed, *data.bars))
    drawn = [mark.style for mark in marks(null.draw(audited(*networks))) if mark.rows == "observed"]
    assert [mark["y"] for mark in drawn] == sorted(mark["y"] for mark in drawn)


def test_seeds_that_differ_are_counted():
    words = ("specific", "mixed", "mixed")
    networks = [make_network("dfa", s, null=make_null(word=w)) for s, w in enumerate(words)]
    assert data_of(*networks).words == "2 mixed, 1 specific; 3 draws for each seed"


def test_one_seed_has_its_p_value_which_no_number_of_draws_can_make_zero():
    few, many = make_null(word="specific"), make_null([0.0] * 99, word="specific")
    assert data_of(make_network("dfa", null=few)).words == "specific (p ≤ 0.01), 3 draws"
    assert data_of(make_network("dfa", null=many)).words == "specific (p ≤ 0.01), 99 draws"
    more = make_null([0.0] * 999, word="specific")
    assert data_of(make_network("dfa", null=more)).words == "specific (p = 0.01), 999 draws"


def test_the_line_says_what_each_layer_is():
    read = make_null(words=("absent", "specific"), observed=0.25)
    (line,) = data_of(make_network("dfa", 4, null=read)).observed
    assert line.says == (
        "seed 4: training feedback 0.250, mixed (p ≤ 0.01); embedding absent, block 0 specific"
    )


def test_the_bars_count_the_draws():
    data = data_of(make_network("dfa", null=make_null([0.0] * 3 + [1.0] * 6, 0.5)))
    first, last = data.bars
    assert first.top - first.bottom == pytest.approx((last.top - last.bottom) / 2)
    assert (first.low, last.high) == (pytest.approx(0), pytest.approx(1))
    assert [bar.says.partition(" near")[0] for bar in data.bars] == [
        "seed 1: 3 of 9 draws",
        "seed 1: 6 of 9 draws",
    ]


def counted(data: NullData) -> int:
    return sum(int(bar.says.split(": ")[1].partition(" ")[0]) for bar in data.bars)


@pytest.mark.parametrize(
    ("draws", "seen"),
    [
        ([0.2] * 5, 0.2),
        ([0.1], 0.9),
        ([0.0, 1e-9], None),
        ([0.0, 0.01], 1.0),
        ([0.1 + n / 7e3 for n in range(99)], 0.11),
    ],
)
def test_every_draw_is_in_a_bar_however_little_they_vary(draws, seen):
    data = data_of(make_network("dfa", null=make_null(draws, seen)))
    assert counted(data) == len(draws)
    assert all(bar.high - bar.low > data.span.width / 200 for bar in data.bars)
    low, high = data.span.ends
    assert all(low < bar.low < bar.high < high for bar in data.bars)
    assert [mark.value for mark in data.observed] == [seen] * (seen is not None)


def test_a_study_without_an_audit_is_told_how_to_get_one():
    assert null.reason_missing(make_study(make_run())) == (
        "has no audit, so there is no null calibration to draw; `depthgauge audit` makes one"
    )


@pytest.mark.parametrize(
    "network", [make_network(), make_network(null=make_null([])), make_network(accuracy=None)]
)
def test_an_audit_without_draws_has_nothing_to_draw(network):
    assert "without null calibration" in (null.reason_missing(audited(network)) or "")


def test_panels_stay_when_another_rule_is_seen_alone():
    """A panel is one rule: without its bars it would be an empty frame."""
    figure = null.draw(audited(make_network("dfa", null=make_null())))
    assert marks(figure, alone="bp") == marks(figure) != []
