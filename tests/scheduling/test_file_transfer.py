"""Cohorts that travel: what is sent, what is unpacked, what is let in again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from scheduling.small_grids import outcome
from scheduling.small_jobs import prepare, work, write_rules
from store.small_runs_on_disk import contents

from depthgauge.errors import UserError
from depthgauge.scheduling.on_ray import file_transfer as module
from depthgauge.scheduling.on_ray.file_transfer import ChangeSender, Files, deliver, pack, unpack
from depthgauge.scheduling.worker import Job
from depthgauge.store.plan_files import CohortPlan
from depthgauge.store.run_paths import CHECKPOINT, METRICS, RESULT
from depthgauge.store.study_folder import StudyFolder
from depthgauge.training.loop import StoppedEarlyError


@pytest.fixture
def job(tmp_path: Path) -> Job:
    """Two cohorts, one of a rule from a file; nothing trained yet."""
    rules = write_rules(tmp_path)
    return prepare(tmp_path / "study", f"{rules}:Works", "dfa")


@pytest.fixture
def study(job: Job) -> StudyFolder:
    return StudyFolder(job.folder)


@pytest.fixture
def cohort(study: StudyFolder) -> CohortPlan:
    return study.plan_files.read().current[0]


def stop_after(job: Job, steps: int) -> None:
    """Train the first cohort for some steps, and save."""
    asked = iter([False] * (steps + 1))
    with pytest.raises(StoppedEarlyError):
        work(job, lambda: next(asked, True))


def run_files(study: StudyFolder, cohort: CohortPlan) -> Files:
    runs = [config.identity for config in cohort.configs]
    return {
        f"{run}/{path.name}": path.read_bytes()
        for run in runs
        for path in (study.runs / run).glob("*.*")
    }


# There and back


def test_what_is_trained_elsewhere_is_what_would_have_been_trained_here(
    job, study, cohort, tmp_path
):
    away = unpack(pack(study, cohort), tmp_path / "away" / "study")
    (local,) = away.plan_files.read().current
    assert local.name == cohort.name
    work(replace(job, folder=away.path, cohorts=(local.name,)))
    deliver(study, cohort, run_files(away, cohort))
    there = outcome(study.path)
    assert len(there) == 2
    here = prepare(tmp_path / "here", f"{tmp_path / 'rules_of_a_user.py'}:Works", "dfa")
    work(here)
    assert {run: outcome(here.folder)[run] for run in there} == there


def test_a_cohort_goes_on_from_what_it_has_so_far(job, study, cohort, tmp_path):
    stop_after(job, 3)
    before = run_files(study, cohort)
    assert any(place.endswith(CHECKPOINT) for place in before)
    away = unpack(pack(study, cohort), tmp_path / "away")
    assert run_files(away, cohort) == before
    work(replace(job, folder=away.path, cohorts=(cohort.name,)))
    for config in cohort.configs:
        result = away.run(config).result
        assert result is not None
        assert result["provenance"]["resumed_from"] == [*max(study.run(config).saved())]


def test_one_cohort_travels_and_no_other(study, tmp_path):
    _, second = study.plan_files.read().current
    away = unpack(pack(study, second), tmp_path / "away")
    assert [one.name for one in away.plan_files.read().current] == [second.name]
    assert away.study_path.read_bytes() == study.study_path.read_bytes()
    assert not (tmp_path / "away" / "rules").exists()


def test_rules_from_files_travel_along(study, cohort, tmp_path):
    rules = tmp_path / "rules_of_a_user.py"
    parcel = pack(study, cohort)
    source = rules.read_bytes()
    rules.unlink()
    away = unpack(parcel, tmp_path / "away")
    (rule,) = away.plan_files.read().current[0].rules
    assert rule.typed == f"{tmp_path / 'away' / 'rules' / rules.name}:Works"
    assert rule.config == cohort.rules[0].config
    assert (tmp_path / "away" / "rules" / rules.name).read_bytes() == source


# What is let in


def test_a_result_is_written_last(study, cohort, monkeypatch):
    written: list[str] = []
    monkeypatch.setattr(module, "write_bytes", lambda path, data: written.append(path.name))
    first, second = (config.identity for config in cohort.configs)
    names = (RESULT, METRICS, CHECKPOINT)
    deliver(study, cohort, {f"{run}/{name}": b"" for run in (first, second) for name in names})
    assert sorted(written[:4]) == sorted([METRICS, CHECKPOINT] * 2)
    assert written[4:] == [RESULT] * 2


@pytest.mark.parametrize(
    "place",
    [
        "../x",
        "..",
        "x",
        "/etc/passwd",
        "{run}",
        "{run}/",
        "{run}/../x",
        "{run}/../../study.json",
        "{run}//result.json",
        "{run}/quarantine/result.json",
        "{run}/other.py",
        "{run}/result.json.tmp",
        "./{run}/result.json",
        "0123456789abcdef/result.json",
        "{other}/result.json",
    ],
)
def test_what_is_not_a_file_of_its_runs_is_refused(study, cohort, tmp_path, place):
    other = study.plan_files.read().current[1].configs[0].identity
    place = place.format(run=cohort.configs[0].identity, other=other)
    before = contents(tmp_path)
    with pytest.raises(UserError, match="which is not of the cohort"):
        deliver(study, cohort, {place: b"bad"})
    assert contents(tmp_path) == before


def test_where_one_file_is_refused_none_is_written(study, cohort, tmp_path):
    before = contents(tmp_path)
    good = f"{cohort.configs[0].identity}/{METRICS}"
    with pytest.raises(UserError, match="which is not of the cohort"):
        deliver(study, cohort, {good: b"good", f"{cohort.configs[1].identity}/x": b"bad"})
    assert contents(tmp_path) == before


# The sender


@pytest.fixture
def sent() -> list[Files]:
    return []


@pytest.fixture
def sender(study: StudyFolder, cohort: CohortPlan, sent: list[Files]) -> Iterator[ChangeSender]:
    sender = ChangeSender(study, cohort, sent.append)
    yield sender
    sender.end()


def test_only_what_has_changed_is_sent(job, study, cohort, sender, sent):
    sender.send_changes()
    assert sent == []
    stop_after(job, 2)
    sender.send_changes()
    (first,) = sent
    assert first == run_files(study, cohort)
    sender.send_changes()
    assert len(sent) == 1
    path = study.run(cohort.configs[0]).metrics_path
    path.write_bytes(path.read_bytes() + b"more\n")
    sender.send_changes()
    assert sent[1] == {f"{cohort.configs[0].identity}/{METRICS}": path.read_bytes()}


def test_what_was_not_taken_is_sent_again(job, study, cohort):
    stop_after(job, 2)
    taken: list[Files] = []

    def send(files: Files) -> None:
        if not taken:
            taken.append({})
            raise ConnectionError("the line was busy")
        taken.append(files)

    sender = ChangeSender(study, cohort, send)
    with pytest.raises(ConnectionError):
        sender.send_changes()
    sender.end()
    assert taken[1] == run_files(study, cohort)


def test_in_the_end_everything_has_arrived(job, study, cohort, tmp_path):
    here = StudyFolder(tmp_path / "here")
    sender = ChangeSender(study, cohort, lambda files: deliver(here, cohort, files))
    work(replace(job, cohorts=(cohort.name,)))
    sender.end()
    assert outcome(here.path) == outcome(study.path)
    assert len(outcome(here.path)) == 2


def test_by_itself_it_sends_now_and_then(job, study, cohort, sent, monkeypatch):
    monkeypatch.setattr(module, "SEND_EVERY", 0.01)
    stop_after(job, 2)
    sender = ChangeSender(study, cohort, sent.append)
    give_up = 1000
    while not sent and give_up:
        give_up -= 1
        sender._ended.wait(0.01)
    assert sent[0] == run_files(study, cohort)
    sender.end()
    assert len(sent) == 1


def test_a_result_never_travels_with_older_files(job, study, cohort, sent, monkeypatch):
    """A run may end while its files are read: with the result must come all that led to it."""
    stop_after(job, 2)
    read = Path.read_bytes
    ended: list[bool] = []

    def end_meanwhile(path: Path) -> bytes:
        data = read(path)
        if not ended and path.name == METRICS:
            ended.append(True)
            work(replace(job, cohorts=(cohort.name,)))
        return data

    sender = ChangeSender(study, cohort, sent.append)
    with monkeypatch.context() as patched:
        patched.setattr(Path, "read_bytes", end_meanwhile)
        sender.send_changes()
    final = run_files(study, cohort)
    for place in [place for place in sent[0] if place.endswith(RESULT)]:
        run = place.partition("/")[0]
        for name in (METRICS, CHECKPOINT):
            assert sent[0][f"{run}/{name}"] == final[f"{run}/{name}"], name
    sender.end()
    assert all(study.run(config).result_path.exists() for config in cohort.configs)
