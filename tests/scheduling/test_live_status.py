"""What each rule has come to so far, read off a study's folder."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean

import pytest
from scheduling.metrics_lines import Line, first_epochs, line, lines_in
from scheduling.small_grids import NET, RECIPE, grid, plan, study_of, train_without_claims

from depthgauge.scheduling.grid import Grid
from depthgauge.scheduling.live_status import Fired, LiveReader, LiveRule, LiveRuns
from depthgauge.store.study_folder import StudyFolder

NOTHING = LiveRuns(0, None, None, 0)
EPOCHS = RECIPE.epochs


@pytest.fixture
def planned() -> Grid:
    """Two rules of six runs each."""
    return grid("dfa", "bp", ks=(0, 1, 2), seeds=(1, 2))


def runs_of(study: StudyFolder, rule: str, k: int) -> list[Path]:
    """Folders, in the order of seeds; made where they are not there."""
    configs = [c for cohort in study.plan_files.read().current for c in cohort.configs]
    chosen = [c for c in configs if (c.rule.label, c.k) == (rule, k)]
    folders = [study.run(config) for config in sorted(chosen, key=lambda c: c.seed)]
    for folder in folders:
        folder.create()
    return [folder.path for folder in folders]


def add(study: StudyFolder, rule: str, k: int, *lines: Line, seeds: slice = slice(None)) -> None:
    by_identity = {
        c.identity: c for cohort in study.plan_files.read().current for c in cohort.configs
    }
    for path in runs_of(study, rule, k)[seeds]:
        for one in lines:
            study.run(by_identity[path.name]).metrics.append(one)


def rules(reader: LiveReader) -> dict[str, LiveRule]:
    return {one.rule: one for one in reader.read()}


def by_hand(study: StudyFolder, rule: str) -> LiveRule:
    """All of it read at once, from the files alone."""
    found = {
        k: [lines_in(path / "metrics.jsonl") for path in runs_of(study, rule, k)] for k in (0, 1, 2)
    }
    paths = [path for k in (0, 1, 2) for path in runs_of(study, rule, k)]

    def standing(runs: list[list[Line]]) -> LiveRuns:
        begun = [lines for lines in runs if lines]
        diverged = [lines for lines in begun if any(one["diverged"] for one in lines)]
        newest = [lines[-1]["epoch"] for lines in begun]
        known = [lines[-1]["accuracy"] for lines in begun if lines not in diverged]
        return LiveRuns(
            len(begun),
            (min(newest), max(newest)) if newest else None,
            fmean(known) if known else None,
            len(diverged),
        )

    firsts = [first_epochs(lines) for lines in found[2]]
    fired = {name: [first[name] for first in firsts if name in first] for name in ("D1", "D2")}
    return LiveRule(
        rule,
        EPOCHS,
        len(paths),
        sum((path / "result.json").exists() for path in paths),
        sum((path / "failed.json").exists() for path in paths),
        standing(found[2]),
        standing(found[0]),
        tuple(Fired(name, len(e), min(e)) for name, e in fired.items() if e),
    )


def test_at_first_every_rule_is_there_and_nothing_has_begun(study, cohorts):
    first, second = LiveReader(study).read()
    assert first == LiveRule("dfa", EPOCHS, 6, 0, 0, NOTHING, NOTHING, ())
    assert (second.rule, first.has_begun, first.has_ended) == ("bp", False, False)


def test_a_study_without_a_plan_has_no_rules(study):
    assert LiveReader(study).read() == []


def test_accuracy_is_the_mean_over_runs_with_all_blocks_at_their_newest_epoch(study, cohorts):
    add(study, "dfa", 2, line(0, 0.1), line(1, 0.2), seeds=slice(0, 1))
    add(study, "dfa", 2, line(0, 0.1), line(1, 0.3), line(2, 0.6), seeds=slice(1, 2))
    add(study, "dfa", 0, line(0, 0.1), line(1, 0.25))
    add(study, "dfa", 1, line(0, 0.9), line(3, 0.9))
    dfa = rules(LiveReader(study))["dfa"]
    assert dfa.full == LiveRuns(2, (1, 2), pytest.approx(0.4), 0)
    assert dfa.frozen == LiveRuns(2, (1, 1), 0.25, 0)
    assert (dfa.has_begun, dfa.has_ended) == (True, False)


def test_diagnostics_are_of_runs_with_all_blocks_from_the_first_epoch_on(study, cohorts):
    add(study, "dfa", 2, line(0), line(1), line(2, growth=60.0), seeds=slice(0, 1))
    add(study, "dfa", 2, line(0), line(1, growth=60.0), line(2), seeds=slice(1, 2))
    add(study, "dfa", 0, line(0, growth=99.0, gradient=0.0))
    add(study, "bp", 2, line(0), line(1), seeds=slice(0, 1))
    add(study, "bp", 2, line(0), line(1, gradient=1e-6), seeds=slice(1, 2))
    found = rules(LiveReader(study))
    assert found["dfa"].fired == (Fired("D1", 2, 1),)
    assert found["bp"].fired == (Fired("D2", 1, 1),)


def test_runs_that_diverged_are_counted_and_not_in_the_mean(study, cohorts):
    add(study, "dfa", 2, line(0, 0.1), line(1, 0.2), seeds=slice(0, 1))
    add(study, "dfa", 2, line(0, 0.1), line(1, 0.9, diverged=True), seeds=slice(1, 2))
    dfa = rules(LiveReader(study))["dfa"]
    assert dfa.full == LiveRuns(2, (1, 1), 0.2, 1)
    assert dfa.fired == (Fired("D1", 1, 1), Fired("D2", 1, 1))


def test_failed_runs_are_counted(study, cohorts):
    reader = LiveReader(study)
    reader.read()
    for cohort in cohorts:
        for config in cohort.configs[:2] if cohort.label == "bp" else cohort.configs:
            folder = study.run(config)
            folder.create()
            folder.fail("ValueError: no", "details", {})
    found = rules(reader)
    assert (found["bp"].failed, found["bp"].finished, found["bp"].has_ended) == (2, 0, False)
    assert (found["dfa"].failed, found["dfa"].has_ended) == (6, True)


def test_at_every_moment_of_a_training_it_is_as_the_files_are(study, cohorts, planned):
    reader, moments = LiveReader(study), []

    def compare(*_: int) -> None:
        found = rules(reader)
        assert found == {name: by_hand(study, name) for name in ("dfa", "bp")}
        moments.append(found)

    train_without_claims(study, planned, compare)
    compare()
    newest = [found["bp"].full.epochs for found in moments]
    assert newest[0] is None
    assert {(1, 1), (2, 2)} < set(newest)
    assert newest[-1] == (EPOCHS, EPOCHS)
    assert [one.finished for one in moments[-1].values()] == [6, 6]


def test_a_finished_run_is_read_once(study, cohorts, planned):
    train_without_claims(study, planned)
    reader = LiveReader(study)
    before = reader.read()
    for path in runs_of(study, "dfa", 2):
        (path / "metrics.jsonl").write_text("")
    assert reader.read() == before
    assert LiveReader(study).read() != before


def test_a_cohort_in_parts_is_the_same_runs(study, cohorts):
    reader, whole = LiveReader(study), cohorts[0]
    before = reader.read()
    written = study.plan_files.read()
    halves = [whole.part([0, 1, 2]), whole.part([3, 4, 5])]
    assert study.plan_files.add(written, written.file_of(whole).with_cohorts(halves))
    after = reader.read()
    assert sorted(after, key=lambda one: one.rule) == sorted(before, key=lambda one: one.rule)


def test_what_is_planned_later_is_seen(study, cohorts):
    reader = LiveReader(study)
    reader.read()
    plan(study, grid("fa", ks=(2,), seeds=(1, 2, 3)))
    assert [(one.rule, one.runs) for one in reader.read()] == [("dfa", 6), ("bp", 6), ("fa", 3)]


def test_of_two_versions_of_a_rule_the_newer_one_has_the_plain_name(study, cohorts):
    (old,) = [cohort for cohort in cohorts if cohort.label == "dfa"]
    config = old.rules[0].config.model_copy(update={"source": "0123456789"})
    newer = old.changed(rules=(old.rules[0].model_copy(update={"config": config}),))
    written = study.plan_files.read()
    assert study.plan_files.add(written, written.file_of(old).with_cohorts([newer]))
    names = [one.rule for one in LiveReader(study).read()]
    assert len(set(names)) == 3
    assert names[-1] == "dfa"
    assert names[0].startswith("dfa@")


def test_without_blocks_there_is_an_accuracy_and_nothing_to_fire(tmp_path):
    shallow = grid("dfa", ks=(0,), seeds=(1,), net=NET.model_copy(update={"blocks": 0}))
    study = study_of(shallow, tmp_path)
    plan(study, shallow)
    add(study, "dfa", 0, line(0, 0.3, growth=99.0))
    (dfa,) = LiveReader(study).read()
    assert (dfa.full.accuracy, dfa.frozen, dfa.fired) == (0.3, NOTHING, ())
