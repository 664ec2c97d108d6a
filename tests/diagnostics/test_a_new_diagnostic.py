"""A diagnostic that a user registers takes part in everything."""

from __future__ import annotations

from dataclasses import replace

import pytest
from diagnosis.examined_networks import shown
from diagnostics.toy import LOST, TOY, registered
from gauges.small_networks import make_net
from verdict.example_ladders import bp_depth

from depthgauge import Thresholds, UserError, diagnose, judge, watch
from depthgauge.diagnostics.readings import diverged_readings
from depthgauge.number_format import exact
from depthgauge.verdict.decision_utility import RunEvidence, count_walk_backs
from depthgauge.verdict.first_fired import first_fired, readings_from_metrics
from depthgauge.verdict.sensitivity import sensitivity
from depthgauge.verdict.thresholds import meanings, thresholds_from

MISSED = {
    "growth": 1.0,
    "gradient": 0.05,
    "error_share": 0.05,
    "depth_gain": 0.2,
    "largest_lesion": 0.3,
}
NOT_MISSED = {**MISSED, "largest_lesion": 0.01}


@pytest.fixture
def toy():
    with registered():
        yield


@pytest.fixture
def besides():
    with registered(replace(TOY, counts=False)):
        yield


@pytest.mark.usefixtures("toy")
def test_it_is_in_the_verdict_and_walks_back_by_itself():
    assert str(judge([NOT_MISSED] * 3)) == "walk back (DX)"
    assert judge([MISSED] * 3, used_depth=bp_depth()).word == "trustworthy"
    assert [finding.id for finding in judge([MISSED]).findings] == ["D1", "D2", "D3", "DX"]
    without = {name: value for name, value in MISSED.items() if name != "largest_lesion"}
    assert judge([without] * 3, used_depth=bp_depth()).word == "no alarm, depth untested"


@pytest.mark.usefixtures("toy")
def test_the_error_rate_is_shared_with_it():
    """At n = 3 and std 0.01 the half width is 0.0442 at 1 − 0.05/3, and 0.0512 at 1 − 0.05/4."""
    assert Thresholds().error_rate_of_each == pytest.approx(0.05 / 4)
    gains = [0.02 + 0.047 + shift for shift in (-0.01, 0.0, 0.01)]
    assert judge([{**MISSED, "depth_gain": gain} for gain in gains]).unclear == ("D3",)


@pytest.mark.usefixtures("besides")
def test_where_it_does_not_count_it_is_found_beside_the_verdict():
    verdict = judge([NOT_MISSED] * 3, used_depth=bp_depth())
    assert (verdict.word, verdict.fired) == ("trustworthy", ())
    assert [(f.id, f.outcome) for f in verdict.besides] == [("D2s", "untested"), ("DX", "fires")]
    assert Thresholds().error_rate_of_each == pytest.approx(0.05 / 3)
    assert "lesion_lost" not in [stable.threshold for stable in sensitivity([NOT_MISSED])]
    report = diagnose(make_net(), shown())
    assert [finding["id"] for finding in report.to_dict()["besides"]] == ["D2s", "DX"]
    assert f"DX {report.judgement.besides[1].outcome}" in str(report)


@pytest.mark.usefixtures("toy")
def test_its_threshold_is_one_of_the_thresholds():
    assert Thresholds().lesion_lost == 0.05
    assert thresholds_from({"lesion_lost": 0.5})["lesion_lost"] == 0.5
    assert judge([MISSED], Thresholds(lesion_lost=0.5)).fired == ("DX",)
    assert "no block is missed" in meanings()["lesion_lost"]


def test_it_is_gone_afterwards():
    with registered():
        pass
    with pytest.raises(UserError, match="no threshold 'lesion_lost'"):
        Thresholds(lesion_lost=0.5)
    with pytest.raises(UserError, match="no diagnostic reads 'largest_lesion'"):
        judge([MISSED])


@pytest.mark.usefixtures("toy")
def test_how_far_its_threshold_may_move_is_said():
    found = {stable.threshold: stable for stable in sensitivity([MISSED])}["lesion_lost"]
    assert (found.used, found.low, found.high) == (0.05, None, pytest.approx(0.3))


@pytest.mark.usefixtures("toy")
def test_reporting_it_is_a_strategy_of_its_own():
    readings = [{**one, "stability": 0.1} for one in (MISSED, NOT_MISSED)]
    counts = count_walk_backs([RunEvidence(0.6, 0.1, 0.5, one) for one in readings])
    assert list(counts)[-2:] == ["accuracy + mean Γ + DX", "all"]
    assert counts["accuracy + mean Γ + DX"] == counts["all"] == (1, 2)
    assert counts["accuracy + mean Γ + D3"] == (0, 2)


@pytest.mark.usefixtures("toy")
def test_the_epoch_at_which_it_first_fired_is_found_where_training_records_its_reading():
    lines = [{"epoch": e, "diverged": False, "lesion": lost} for e, lost in enumerate((0.2, 0.01))]
    assert first_fired(readings_from_metrics(lines)) == {"DX": 1}
    assert first_fired(readings_from_metrics([{"epoch": 7, "diverged": True}]))["DX"] == 7
    assert diverged_readings()["largest_lesion"] == 0.0


def test_it_is_watched_where_it_needs_only_what_training_records():
    first = replace(LOST, name="first_norm", from_epoch=lambda line: line["h_norm"][0])
    with registered(replace(TOY, quantities=(first,), thresholds=())):
        watched = watch(make_net(), log_dir=None)(*shown(1)[0])
    assert watched.readings["first_norm"] == watched.residual_norms[0]


@pytest.mark.usefixtures("toy")
@pytest.mark.parametrize("fires", [True, False])
def test_it_is_in_a_diagnosis_its_text_and_its_document(fires):
    lost = diagnose(make_net(), shown()).lesion.value
    assert lost > 0
    used = Thresholds(lesion_lost=lost * (2 if fires else 0.5))
    report = diagnose(make_net(), shown(), 0.6, 0.5, 0.3, thresholds=used)
    assert report.seed_readings["largest_lesion"] == lost
    assert report.judgement.fired == (("DX",) if fires else ())
    line = next(line for line in str(report).splitlines() if line.startswith("DX  "))
    assert line.split(maxsplit=2)[1:] == [
        "fires" if fires else "passes",
        f"lesion: the most missed block is worth {100 * lost:.1f} points",
    ]
    assert f"lesion_lost {exact(used.lesion_lost)}" in str(report)
    document = report.to_dict()
    assert document["fired"] == (["DX"] if fires else [])
    assert document["findings"][-1]["id"] == "DX"
    assert document["findings"][-1]["intervals"]["largest_lesion"]["center"] == lost
    assert document["thresholds"]["lesion_lost"] == used.lesion_lost
    assert document["sensitivity"][-1]["threshold"] == "lesion_lost"


def test_one_that_takes_a_name_of_another_is_refused():
    for change, words in [
        ({"id": "D2s"}, "a diagnostic D2s exists already"),
        (
            {"thresholds": (replace(TOY.thresholds[0], name="growth"),)},
            "a threshold growth exists already",
        ),
        (
            {"thresholds": (replace(TOY.thresholds[0], name="error_rate"),)},
            "a threshold error_rate exists already",
        ),
        ({"quantities": (replace(LOST, name="numerics"),)}, "DX defines a quantity numerics"),
    ]:
        with pytest.raises(UserError, match=words), registered(replace(TOY, **change)):
            pass
        assert "lesion_lost" not in Thresholds()
