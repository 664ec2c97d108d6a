"""A report's numbers, as attributes, as plain values and as JSON."""

from __future__ import annotations

import json
import math

import numpy as np
import torch
from diagnosis.examined_networks import BLOCKS, overflowing, shown
from diagnosis.example_reports import STRANGE, strange
from gauges.small_networks import make_net

from depthgauge import Thresholds, __version__, diagnose
from depthgauge.config import SCHEMA_VERSION
from depthgauge.diagnosis.report import Report
from depthgauge.verdict.judge import judge
from depthgauge.verdict.sensitivity import sensitivity

ALWAYS = {
    "scale",
    "reference",
    "reference_check",
    "numerics",
    "stability",
    "depth",
    "lesion",
    "rewind",
    "accuracy",
}
OF_CREDIT = {"alignment", "perturbation", "nudging"}


def strictly_parsed(text: str):
    def refuse(constant: str):
        raise AssertionError(f"{constant} is not JSON")

    return json.loads(text, parse_constant=refuse)


def test_the_norms_are_those_of_the_readings(full):
    assert full.residual_norms == list(full.scale.residual_norms)
    assert full.bp_grad_norms == list(full.reference.per_layer)
    assert full.bp_grad_norms_n128 == [norm / 128 for norm in full.bp_grad_norms]
    assert len(full.residual_norms) == len(full.bp_grad_norms) == BLOCKS + 1
    assert all(norm > 0 for norm in full.residual_norms + full.bp_grad_norms)


def test_the_other_numbers_are_those_of_the_readings(full):
    assert full.cross_batch_stability == full.stability.value
    assert -1 <= full.cross_batch_stability <= 1
    assert (full.headline_acc, full.frozen_baseline_acc) == (0.61, 0.5)
    assert full.verdict == "no alarm, depth untested"
    assert str(full.judgement) == "no alarm, depth untested (single seed)"
    assert full.published_verdict == "trustworthy"


def test_what_was_not_measured_is_none():
    report = diagnose(make_net(), shown(7))
    assert report.cross_batch_stability is None
    assert report.frozen_baseline_acc is None
    assert report.to_dict()["cross_batch_stability"] is None


def test_the_verdict_is_that_of_its_seed_readings(full):
    tight = Thresholds(growth=1.01)
    seeds = [full.seed_readings]
    assert judge(seeds, full.thresholds, 0.3) == full.judgement
    assert sensitivity(seeds, full.thresholds, 0.3) == full.sensitivity
    assert judge(seeds, tight).fired == ("D1",)
    assert full.seed_readings["growth"] == full.scale.value
    assert full.seed_readings["error_share"] == full.reference.over_error
    assert full.seed_readings["depth_gain"] == full.depth.value == 0.11


def test_what_is_not_finite_is_no_reference_to_a_verdict():
    for block in range(BLOCKS):
        found = diagnose(overflowing(block), shown()).seed_readings
        assert (found["growth"], found["gradient"], found["error_share"]) == (math.inf, 0.0, 0.0)


def test_plain_values_have_every_reading_with_unit_convention_and_samples(full):
    readings = full.to_dict()["readings"]
    assert readings.keys() == ALWAYS | OF_CREDIT | {"null"}
    for name, reading in readings.items():
        for key in ("unit", "convention", "measured_on"):
            assert reading.get(key), f"{name} does not say its {key}"


def test_plain_values_without_credit_have_the_other_readings():
    assert diagnose(make_net(), shown(1)).to_dict()["readings"].keys() == ALWAYS


def test_plain_values_are_the_reports_numbers(full):
    document = full.to_dict()
    for name in (
        "method_name",
        "notes",
        "verdict",
        "published_verdict",
        "headline_acc",
        "frozen_baseline_acc",
        "residual_norms",
        "bp_grad_norms",
        "bp_grad_norms_n128",
        "cross_batch_stability",
        "source",
    ):
        assert document[name] == getattr(full, name), name
    assert document["schema_version"] == SCHEMA_VERSION
    assert document["verdict_in_words"] == str(full.judgement)
    assert (document["fired"], document["single_seed"]) == ([], True)
    assert [d["id"] for d in document["findings"]] == ["D1", "D2", "D3"]
    assert document["thresholds"] == dict(Thresholds())
    assert document["readings"]["alignment"]["per_layer"] == list(full.alignment.per_layer)
    assert [s["threshold"] for s in document["sensitivity"]] == [
        "growth",
        "gradient",
        "error_share",
        "numerics",
        "depth_gain",
    ]


def test_json_is_the_plain_values_and_can_be_read_by_eyes(full):
    text = full.to_json()
    assert strictly_parsed(text) == full.to_dict()
    assert "of the √ of it" in text
    assert "\n" in text


def test_json_is_strict_whatever_was_measured():
    for kind in STRANGE:
        report = strange(kind)
        parsed = strictly_parsed(report.to_json())
        assert parsed == report.to_dict()
        assert parsed["verdict"] == report.verdict


def test_a_reading_without_a_number_says_why():
    for kind in STRANGE:
        for name, reading in strange(kind).to_dict()["readings"].items():
            assert reading["value"] is not None or reading["note"], f"{name} has neither"


def test_what_is_not_finite_is_a_name_in_the_plain_values():
    document = diagnose(overflowing(1), shown()).to_dict()
    assert document["residual_norms"][0] > 0
    assert document["residual_norms"][-1] == document["bp_grad_norms"][-1] == "NaN"
    assert document["fired"] == ["D1", "D2"]


def test_a_report_is_read_back_from_its_plain_values(full):
    assert Report.from_dict(strictly_parsed(full.to_json())) == full


def test_a_report_from_before_our_words_is_read_back(full):
    """Its file is somebody's only copy of what was measured."""
    document = full.to_dict()
    del document["published_verdict"]
    document["verdict"] = "trustworthy"
    lifted = Report.from_dict(document)
    assert (lifted.verdict, lifted.published_verdict) == ("trustworthy", "trustworthy")


def test_what_is_not_finite_is_read_back():
    document = diagnose(overflowing(1), shown()).to_dict()
    assert Report.from_dict(document).to_dict() == document


def test_accuracies_may_be_numbers_of_other_libraries():
    for kind in [np.float32, np.float64, torch.tensor]:
        report = diagnose(make_net(), shown(1), kind(0.625), kind(0.5), kind(0.25))
        parsed = strictly_parsed(report.to_json())
        assert (parsed["headline_acc"], parsed["frozen_baseline_acc"]) == (0.625, 0.5)
        assert parsed["readings"]["depth"]["bp_gain"] == 0.25


def test_depth_says_which_accuracy_it_used():
    given = diagnose(make_net(), shown(1), 0.5, 0.3).depth
    measured = diagnose(make_net(), shown(1), None, 0.3).depth
    assert given.measured_on != measured.measured_on


def test_a_report_says_which_software_measured(full):
    assert f"depthgauge {__version__}" in str(full)
