"""A study as its folder tells it, whatever has become of its runs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from store.claiming import ended_owner, put_claim
from store.small_runs_on_disk import BASE, finished, run_config, started
from studies.compared_studies import BP, change_json, put_plan, write_audit, write_study

from depthgauge.errors import UserError
from depthgauge.store.owner import this_process
from depthgauge.store.study_folder import StudyFolder
from depthgauge.studies.gathered import STATES, gather
from depthgauge.verdict.thresholds import Thresholds


@pytest.fixture
def study(tmp_path) -> StudyFolder:
    """An empty one."""
    folder = StudyFolder(tmp_path / "study")
    folder.open(BASE, "cpu", None, 3)
    return folder


def states(study: StudyFolder) -> dict[int, str]:
    return {run.config.seed: run.state for run in gather(study.path).runs}


# States


def test_every_state_that_a_run_can_be_in(study):
    finished(study.runs, run_config(seed=1), 0.7)
    finished(study.runs, run_config(seed=2), 0.0, diverged_in=1)
    started(study.runs, run_config(seed=3), 1).fail("no luck", "Traceback", {"version": "9"})
    started(study.runs, run_config(seed=4), 1)
    started(study.runs, run_config(seed=5), 1)
    put_plan(study, [run_config(seed=seed) for seed in (1, 2, 3, 5, 6)], 0.5)
    claimed = put_plan(study, [run_config(seed=4), run_config(seed=7)], 0.5)
    put_claim(study.path / "claims", claimed.name, this_process())
    assert states(study) == {
        1: "finished",
        2: "diverged",
        3: "failed",
        4: "running",
        5: "stopped",
        6: "not begun",
        7: "running",
    }
    found = gather(study.path)
    assert found.counts == dict.fromkeys(STATES, 1) | {"running": 2}
    by_seed = {run.config.seed: run for run in found.runs}
    assert [by_seed[seed].accuracy for seed in (1, 2, 3, 4)] == [0.7, None, None, None]
    assert {seed: run.reason for seed, run in by_seed.items() if run.reason} == {3: "no luck"}
    assert [by_seed[seed].provenance for seed in (1, 3, 5)] == [
        {"commit": "abc"},
        {"version": "9"},
        {},
    ]
    assert [len(by_seed[seed].lines) for seed in (1, 5, 6)] == [4, 2, 0]
    assert {run.config.seed for run in found.runs if run.done} == {1, 2}


@pytest.mark.parametrize("how", ["ended", "released", "nobody"])
def test_what_nobody_trains_any_more_has_stopped(study, how):
    started(study.runs, run_config(seed=1), 1)
    cohort = put_plan(study, [run_config(seed=1), run_config(seed=2)], 0.5)
    if how == "ended":
        put_claim(study.path / "claims", cohort.name, ended_owner())
    elif how == "released":
        path = put_claim(study.path / "claims", cohort.name, this_process())
        change_json(path, released=True)
    assert states(study) == {1: "stopped", 2: "not begun"}


def test_what_ended_in_a_cohort_that_is_being_trained_is_not_running(study):
    finished(study.runs, run_config(seed=1), 0.7)
    started(study.runs, run_config(seed=2), 1).fail("no luck", "", {})
    cohort = put_plan(study, [run_config(seed=seed) for seed in (1, 2, 3)], 0.5)
    put_claim(study.path / "claims", cohort.name, this_process())
    assert states(study) == {1: "finished", 2: "failed", 3: "running"}


def test_runs_that_no_plan_knows_are_there_too(study):
    put_plan(study, [run_config("bp")], 0.5)
    finished(study.runs, run_config("dfa"), 0.7)
    started(study.runs, run_config("dfa", seed=43), 0)
    found = [(run.method, run.config.seed, run.state) for run in gather(study.path).runs]
    assert found == [("bp", 42, "not begun"), ("dfa", 42, "finished"), ("dfa", 43, "stopped")]


@pytest.mark.parametrize(
    ("unfinished", "complete"),
    [({}, True), ({"failed": 1}, True), ({"stopped": 1}, False), ({"not begun": 1}, False)],
)
def test_a_study_is_complete_when_nothing_is_left_to_train(study, unfinished, complete):
    finished(study.runs, run_config(seed=1), 0.7)
    put_plan(study, [run_config(seed=1), *([run_config(seed=2)] if unfinished else [])], 0.5)
    if unfinished and "not begun" not in unfinished:
        folder = started(study.runs, run_config(seed=2), 1)
        if "failed" in unfinished:
            folder.fail("no luck", "", {})
    found = gather(study.path)
    assert found.counts == {"finished": 1} | unfinished
    assert found.complete is complete


def test_a_result_whose_metrics_are_lost_still_has_its_last_epoch(study):
    folder = finished(study.runs, run_config(), 0.7)
    last = folder.metrics.lines()[-1]
    folder.metrics_path.unlink()
    (run,) = gather(study.path).runs
    assert (run.state, run.accuracy, run.lines) == ("finished", 0.7, [last])


# Order and names


def test_runs_are_ordered_by_rule_as_planned_then_k_and_seed(study):
    put_plan(study, [run_config("fa", k, seed) for k in (2, 0) for seed in (5, 3)], 0.5)
    put_plan(study, [run_config("bp", 1, 9), run_config("fa", 1, 4)], 0.5)
    found = [(run.method, run.config.k, run.config.seed) for run in gather(study.path).runs]
    fa = [("fa", 0, 3), ("fa", 0, 5), ("fa", 1, 4), ("fa", 2, 3), ("fa", 2, 5)]
    assert found == [*fa, ("bp", 1, 9)]
    assert gather(study.path).methods == ["fa", "bp"]
    assert gather(study.path).seeds == [3, 4, 5, 9]


def test_controls_come_last(study):
    put_plan(study, [run_config("bp[wide_block]"), run_config("bp[shallow]"), run_config()], 0.5)
    assert gather(study.path).methods == ["dfa", "bp[wide_block]", "bp[shallow]"]


@pytest.mark.parametrize("newest", ["0" * 64, "f" * 64])
def test_of_a_rule_that_was_edited_the_newest_has_the_plain_label(study, newest):
    older = "7" * 64
    put_plan(study, [run_config("mine", source=older)], 0.5)
    put_plan(study, [run_config("mine", source=newest)], 0.5)
    named = {run.config.rule.source: run.method for run in gather(study.path).runs}
    assert named == {newest: "mine", older: "mine@7777777"}


def test_runs_from_before_there_was_a_plan_are_the_older_ones(study):
    finished(study.runs, run_config("mine", source="7" * 64), 0.7)
    put_plan(study, [run_config("mine", source="8" * 64)], 0.5)
    named = {run.config.rule.source[0]: run.method for run in gather(study.path).runs}
    assert named == {"8": "mine", "7": "mine@7777777"}


def test_full_is_all_blocks_and_at_least_one(tmp_path):
    rungs = {0: {1: 0.2}, 1: {1: 0.2}, 2: {1: 0.2}}
    rules = {"bp": rungs, "bp[shallow]": {0: {1: 0.2}}, "bp[wide_block]": {0: {1: 0.2}, 1: {1: 0}}}
    found = gather(write_study(tmp_path / "study", rules))
    assert {(run.method, run.config.k) for run in found.runs if run.is_full} == {
        ("bp", 2),
        ("bp[wide_block]", 1),
    }
    assert {run.method: run.control for run in found.runs} == {
        "bp": None,
        "bp[shallow]": "shallow",
        "bp[wide_block]": "wide_block",
    }


# Chance, thresholds, audits


def test_chance_is_the_plans(study):
    put_plan(study, [run_config()], 0.25)
    assert gather(study.path).chance == 0.25


def test_chance_of_older_studies_is_in_their_documents(study, tmp_path):
    put_plan(study, [run_config()], None)
    assert gather(study.path).chance is None
    (study.path / "ladder.json").write_text(json.dumps({"config": {"chance": 0.125}}))
    assert gather(study.path).chance == 0.125
    audit = write_audit(tmp_path / "audit", {"bp": {1: (0.5, 0.4)}})
    shutil.copy(audit / "audit.json", study.path)
    assert gather(study.path).chance == 0.1


def test_an_audit_without_a_study(tmp_path):
    folder = write_audit(tmp_path / "audit", {"fa": {3: (0.5, 0.4)}, "bp": {1: (0.5, 0.4)}})
    found = gather(folder)
    assert (found.name, found.runs, found.chance) == ("audit", (), 0.1)
    assert (found.methods, found.seeds) == (["fa", "bp"], [1, 3])
    assert (found.complete, found.counts, found.device) == (True, {}, None)


def test_thresholds_are_the_audits_or_the_protocols(tmp_path):
    folder = write_audit(tmp_path / "audit", {"bp": {1: (0.5, 0.4)}})
    assert gather(folder).thresholds == Thresholds()
    change_json(folder / "audit.json", thresholds={"growth": 7.0})
    assert gather(folder).thresholds == Thresholds(growth=7.0)


def test_the_folder_is_called_by_its_own_name(tmp_path, monkeypatch):
    folder = write_study(tmp_path / "mine", {"bp": BP})
    monkeypatch.chdir(folder)
    found = gather(Path())
    assert (found.name, found.device, found.threads, found.base) == ("mine", "cpu", 1, BASE)


# One clear sentence


def sentence(folder: Path) -> str:
    with pytest.raises(UserError) as refused:
        gather(folder)
    assert "\n" not in str(refused.value)
    return str(refused.value)


def test_a_folder_that_is_no_studys(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("x")
    for name in ("empty", "missing", "file"):
        expected = f"{tmp_path / name} is not the folder of a study"
        assert sentence(tmp_path / name).startswith(expected)


@pytest.mark.parametrize(
    "content",
    [
        *("{", "[]", "{}", '{"schema_version": 2}', '{"base": {}, "threads": 1}'),
        '{"base": {"net": 3, "task": {}, "recipe": {}}, "threads": 1}',
    ],
)
def test_a_damaged_study(study, content):
    study.study_path.write_text(content)
    assert sentence(study.path).startswith(str(study.study_path))


def broken_audits() -> dict[str, dict[str, object]]:
    verdict = {"verdict": "trustworthy", "verdict_in_words": "", "fired": [], "diagnostics": []}
    return {
        "another version": {"schema_version": 2},
        "no chance": {"config": {"bp_depth_gain": None}},
        "no rows": {"summary": None},
        "a row without a seed": {"summary": [{"method": "bp"}]},
        "a verdict cut short": {"verdicts": {"bp": verdict}},
        "a word that is none": {
            "verdicts": {
                "bp": verdict | {"verdict": "fine", "sensitivity": [], "single_seed": True}
            }
        },
        "a threshold that is none": {"thresholds": {"depth": 3.0}},
        "no controls": {"controls": None},
        "reports without readings": {"reports": {"bp_s1": {}}},
    }


@pytest.mark.parametrize("broken", broken_audits())
def test_an_audit_of_another_version_or_with_parts_missing(tmp_path, broken):
    folder = write_audit(tmp_path / "audit", {"bp": {1: (0.5, 0.4)}})
    gather(folder)
    change_json(folder / "audit.json", **broken_audits()[broken])
    assert sentence(folder).startswith(f"{folder / 'audit.json'} is not an audit of this version")


@pytest.mark.parametrize("content", ["{", "[]", "null", ""])
def test_a_damaged_audit(study, content):
    (study.path / "audit.json").write_text(content)
    assert str(study.path / "audit.json") in sentence(study.path)


@pytest.mark.parametrize("content", ["{", "[]", "{}", '{"schema_version": 2}'])
def test_a_damaged_result(study, content):
    path = finished(study.runs, run_config(), 0.7).result_path
    path.write_text(content)
    assert sentence(study.path).startswith(str(path))


def test_a_failure_without_a_reason_is_still_one(study):
    started(study.runs, run_config(), 1).failed_path.write_text("{}")
    (run,) = gather(study.path).runs
    assert (run.state, run.reason) == ("failed", "not recorded")


def test_a_damaged_configuration_outside_the_plan(study):
    path = finished(study.runs, run_config(), 0.7).config_path
    path.write_text("{}")
    assert sentence(study.path).startswith(str(path))


def test_a_damaged_plan(study):
    put_plan(study, [run_config()], 0.5)
    (study.path / "plan" / "1.json").write_text("{}")
    assert sentence(study.path).startswith(str(study.path / "plan" / "1.json"))
