"""A study as its folder tells it, whatever has become of its runs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from results.written_studies import BP, change_json, put_plan, write_audit, write_study
from store.claiming import ended_owner, put_claim
from store.small_runs_on_disk import BASE, finished, run_config, started

from depthgauge.errors import UserError
from depthgauge.results.load import load
from depthgauge.results.run import STATES
from depthgauge.store.owner import this_process
from depthgauge.store.study_folder import StudyFolder
from depthgauge.verdict.thresholds import Thresholds


@pytest.fixture
def study(tmp_path) -> StudyFolder:
    """An empty one."""
    folder = StudyFolder(tmp_path / "study")
    folder.open(BASE, "cpu", None, 3)
    return folder


def states(study: StudyFolder) -> dict[int, str]:
    return {run.config.seed: run.state for run in load(study.path).runs}


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
    found = load(study.path)
    by_seed = {run.config.seed: run for run in found.runs}
    assert {seed: run.state for seed, run in by_seed.items()} == {
        1: "finished",
        2: "diverged",
        3: "failed",
        4: "running",
        5: "stopped",
        6: "waiting",
        7: "running",
    }
    assert found.counts == dict.fromkeys(STATES, 1) | {"running": 2}
    assert [by_seed[seed].accuracy for seed in (1, 2, 3, 4)] == [0.7, None, None, None]
    assert by_seed[2].diverged_epoch == 1
    assert {seed: run.reason for seed, run in by_seed.items() if run.reason} == {3: "no luck"}
    assert [dict(by_seed[seed].provenance) for seed in (1, 3, 5)] == [
        {"commit": "abc"},
        {"version": "9"},
        {},
    ]
    assert [len(by_seed[seed].epochs) for seed in (1, 5, 6)] == [4, 2, 0]
    assert {run.config.seed for run in found.runs if run.is_done} == {1, 2}
    assert {run.config.seed for run in found.runs if run.has_ended} == {1, 2, 3}
    assert found.has_lost_runs
    assert not found.is_complete
    assert found.problems == ()


@pytest.mark.parametrize("how", ["ended", "released", "nobody"])
def test_what_nobody_trains_any_more_has_stopped(study, how):
    started(study.runs, run_config(seed=1), 1)
    cohort = put_plan(study, [run_config(seed=1), run_config(seed=2)], 0.5)
    if how == "ended":
        put_claim(study.path / "claims", cohort.name, ended_owner())
    elif how == "released":
        path = put_claim(study.path / "claims", cohort.name, this_process())
        change_json(path, released=True)
    assert states(study) == {1: "stopped", 2: "waiting"}


def test_what_ended_in_a_cohort_that_is_being_trained_is_not_running(study):
    finished(study.runs, run_config(seed=1), 0.7)
    started(study.runs, run_config(seed=2), 1).fail("no luck", "", {})
    cohort = put_plan(study, [run_config(seed=seed) for seed in (1, 2, 3)], 0.5)
    put_claim(study.path / "claims", cohort.name, this_process())
    assert states(study) == {1: "finished", 2: "failed", 3: "running"}


def test_a_study_with_failed_runs_alone_left_is_complete(study):
    finished(study.runs, run_config(seed=1), 0.7)
    folder = started(study.runs, run_config(seed=2), 1)
    assert not load(study.path).is_complete
    folder.fail("no luck", "", {})
    assert load(study.path).is_complete


def test_a_failure_without_a_reason_is_still_one(study):
    started(study.runs, run_config(), 1).failed_path.write_text("{}")
    (run,) = load(study.path).runs
    assert (run.state, run.reason) == ("failed", "not recorded")


def test_a_result_whose_metrics_are_lost_still_has_its_last_epoch(study):
    folder = finished(study.runs, run_config(), 0.7)
    last = folder.metrics.lines()[-1]
    folder.metrics_path.unlink()
    (run,) = load(study.path).runs
    assert (run.state, run.accuracy, run.epochs) == ("finished", 0.7, [last])
    assert not run.has_all_epochs
    assert run.first_fired(Thresholds()) == {}


# Order and names


def test_runs_are_ordered_by_rule_as_planned_then_k_and_seed_and_controls_come_last(study):
    put_plan(study, [run_config("fa", k, seed) for k in (2, 0) for seed in (5, 3)], 0.5)
    put_plan(study, [run_config("bp[shallow]"), run_config("bp", 1, 9), run_config("fa", 1, 4)], 1)
    finished(study.runs, run_config("dfa"), 0.7)
    found = load(study.path)
    fa = [(run.config.k, run.config.seed) for run in found.runs if run.label == "fa"]
    assert fa == [(0, 3), (0, 5), (1, 4), (2, 3), (2, 5)]
    assert list(found) == ["fa", "bp", "dfa", "bp[shallow]"]
    assert found.seeds == [3, 4, 5, 9, 42]


@pytest.mark.parametrize("planned", [True, False])
@pytest.mark.parametrize("newest", ["0" * 64, "f" * 64])
def test_of_a_rule_that_was_edited_the_newest_has_the_plain_label(study, newest, planned):
    older = run_config("mine", source="7" * 64)
    if planned:
        put_plan(study, [older], 0.5)
    else:
        finished(study.runs, older, 0.7)
    put_plan(study, [run_config("mine", source=newest)], 0.5)
    named = {run.config.rule.source: run.label for run in load(study.path).runs}
    assert named == {newest: "mine", "7" * 64: "mine@7777777"}


def test_full_is_all_blocks_and_at_least_one(tmp_path):
    rungs = {0: {1: 0.2}, 1: {1: 0.2}, 2: {1: 0.2}}
    rules = {"bp": rungs, "bp[shallow]": {0: {1: 0.2}}, "bp[wide_block]": {0: {1: 0.2}, 1: {1: 0}}}
    found = load(write_study(tmp_path / "study", rules))
    full = {(run.label, run.control, run.config.k) for run in found.runs if run.is_full}
    assert full == {("bp", None, 2), ("bp[wide_block]", "wide_block", 1)}


def test_a_rule_that_is_not_there_is_answered_with_those_that_are(tmp_path):
    found = load(write_study(tmp_path / "mine", {"bp": BP}))
    assert found["bp"] is found.rules["bp"]
    with pytest.raises(UserError, match="mine has no rule 'fa'; its rules are: bp"):
        found["fa"]


# Chance, thresholds, audits


def test_chance_is_the_plans_and_of_older_studies_that_of_their_documents(study, tmp_path):
    put_plan(study, [run_config()], None)
    assert load(study.path).chance is None
    old = {"schema_version": 1, "config": BASE.model_dump() | {"chance": 0.125}, "results": {}}
    (study.path / "ladder.json").write_text(json.dumps(old))
    assert load(study.path).chance == 0.125
    audit = write_audit(tmp_path / "audit", {"bp": {1: (0.5, 0.4)}})
    shutil.copy(audit / "audit.json", study.path)
    assert load(study.path).chance == 0.1
    put_plan(study, [run_config("bp")], 0.25)
    assert load(study.path).chance == 0.25


def test_an_audit_without_a_study(tmp_path):
    folder = write_audit(tmp_path / "audit", {"fa": {3: (0.5, 0.4)}, "bp": {1: (0.5, 0.4)}})
    found = load(folder)
    assert (found.name, found.runs, found.chance) == ("audit", (), 0.1)
    assert (list(found), found.seeds) == (["fa", "bp"], [1, 3])
    assert (found.is_complete, found.counts, found.device) == (True, {}, None)


def test_thresholds_are_the_audits_or_the_protocols(tmp_path):
    folder = write_audit(tmp_path / "audit", {"bp": {1: (0.5, 0.4)}})
    assert load(folder).thresholds == Thresholds()
    change_json(folder / "audit.json", thresholds={"growth": 7.0})
    assert load(folder).thresholds == Thresholds(growth=7.0)


def test_the_folder_is_called_by_its_own_name(tmp_path, monkeypatch):
    folder = write_study(tmp_path / "mine", {"bp": BP})
    monkeypatch.chdir(folder)
    found = load(Path())
    assert (found.name, found.device, found.threads) == ("mine", "cpu", 1)
    assert found.config == BASE


# What cannot be used


def sentence(folder: Path) -> str:
    with pytest.raises(UserError) as refused:
        load(folder)
    assert "\n" not in str(refused.value)
    return str(refused.value)


def problem(study: StudyFolder) -> str:
    (found,) = load(study.path).problems
    assert "\n" not in found
    return found


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


BROKEN_AUDITS = {
    "another version": {"schema_version": 3},
    "the first version, cut short": {"schema_version": 1},
    "no chance": {"chance": None},
    "no networks": {"networks": None},
    "a network without a seed": {"networks": [{"label": "bp"}]},
    "a verdict cut short": {"verdicts": {"bp": {"word": "trustworthy"}}},
    "a threshold that is none": {"thresholds": {"growth": -3.0}},
    "a report without readings": {"untrained": {"1": {}}},
}


@pytest.mark.parametrize("broken", BROKEN_AUDITS)
def test_a_broken_audit_is_a_problem_of_a_study_and_refused_without_one(study, tmp_path, broken):
    folder = write_audit(tmp_path / "audit", {"bp": {1: (0.5, 0.4)}})
    change_json(folder / "audit.json", **BROKEN_AUDITS[broken])
    assert sentence(folder).startswith(f"{folder / 'audit.json'} is not an audit of this version")
    finished(study.runs, run_config(), 0.7)
    shutil.copy(folder / "audit.json", study.path)
    assert problem(study).startswith(f"{study.path / 'audit.json'} is not an audit")
    assert list(load(study.path)) == ["dfa"]


@pytest.mark.parametrize("content", ["{", "[]", "null", ""])
def test_a_damaged_audit(study, content):
    (study.path / "audit.json").write_text(content)
    assert str(study.path / "audit.json") in problem(study)


@pytest.mark.parametrize("content", ["{", "[]", "{}", '{"schema_version": 2}', "\xff"])
def test_a_damaged_result(study, content):
    finished(study.runs, run_config(seed=1), 0.7)
    path = finished(study.runs, run_config(seed=2), 0.7).result_path
    path.write_text(content, encoding="latin-1")
    assert problem(study).startswith(str(path))
    assert states(study) == {1: "finished", 2: "stopped"}


def test_a_damaged_configuration_outside_the_plan(study):
    finished(study.runs, run_config(seed=1), 0.7)
    path = finished(study.runs, run_config(seed=2), 0.7).config_path
    path.write_text("{}")
    assert problem(study).startswith(str(path))
    assert states(study) == {1: "finished"}


def test_a_damaged_plan(study):
    put_plan(study, [run_config()], 0.5)
    finished(study.runs, run_config(), 0.7)
    (study.path / "plan" / "1.json").write_text("{}")
    assert problem(study).startswith(str(study.path / "plan" / "1.json"))
    assert states(study) == {42: "finished"}


@pytest.mark.parametrize("content", ["{", "[]", '{"config": 3}'])
def test_a_damaged_ladder_document_that_chance_is_looked_for_in(study, content):
    finished(study.runs, run_config(), 0.7)
    (study.path / "ladder.json").write_text(content)
    assert str(study.path / "ladder.json") in problem(study)
    assert load(study.path).chance is None
