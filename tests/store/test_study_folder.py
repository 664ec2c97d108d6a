"""The folder of a study: claimed once, continued by the same study, refused to any other."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from store.small_runs_on_disk import (
    BASE,
    NET,
    RECIPE,
    TASK,
    contents,
    finished,
    run_config,
    started,
)

from depthgauge.config import SharedConfig
from depthgauge.errors import UserError
from depthgauge.store.plan_files import CohortPlan, PlannedRule
from depthgauge.store.study_folder import StudyDocument, StudyFolder


def changed(**parts: dict[str, object]) -> SharedConfig:
    """The base with some values of its parts changed."""
    base = BASE.model_dump(mode="json")
    return SharedConfig.model_validate(
        base | {part: base[part] | own for part, own in parts.items()}
    )


@pytest.fixture
def study(tmp_path: Path) -> StudyFolder:
    """A study that was started with two threads on the processor."""
    study = StudyFolder(tmp_path / "deep" / "study")
    assert study.open(BASE, "cpu", None, 2).threads == 2
    return study


def assert_refused(study: StudyFolder, *sentence: str, **how: Any) -> None:
    """`open` raises, names every part of `sentence`, and changes nothing."""
    before = contents(study.path.parent)
    arguments = {"base": BASE, "device": "cpu", "threads": None} | how
    with pytest.raises(UserError) as caught:
        study.open(**arguments, default_threads=4)
    message = str(caught.value)
    assert "\n" not in message
    assert str(study.path) in message
    for part in sentence:
        assert part in message
    assert contents(study.path.parent) == before


def test_a_new_folder_says_what_it_belongs_to(study):
    assert json.loads(study.study_path.read_text()) == {
        "schema_version": 1,
        "base": BASE.model_dump(mode="json"),
        "threads": 2,
        "device": "cpu",
        "engine": "cohort",
    }


def test_an_empty_folder_can_be_claimed(tmp_path):
    opened = StudyFolder(tmp_path).open(BASE, "cuda", 3, 2)
    assert (opened.threads, opened.device) == (3, "cuda")


def test_the_same_study_goes_on_and_nothing_is_written(study):
    before = contents(study.path)
    again = StudyFolder(study.path)
    assert again.open(BASE.model_copy(), "cpu", None, 7).threads == 2
    assert again.open(BASE.model_copy(), "cpu", 2, 7).threads == 2
    assert contents(study.path) == before


def test_the_number_of_threads_is_fixed_by_the_first_command(study):
    assert_refused(study, "--threads 2", "bit for bit", "--out", threads=1)


def test_the_kind_of_device_is_fixed_by_the_first_command(study):
    assert_refused(study, "--device cpu", "bit for bit", "--out", device="cuda")


def test_the_engine_is_fixed_by_the_first_command(study, tmp_path):
    assert_refused(study, "--engine cohort", "bit for bit", "--out", engine="plain")
    assert study.open(BASE, "cpu", None, 1, "cohort").engine == "cohort"
    other = StudyFolder(tmp_path / "plain")
    assert other.open(BASE, "cpu", None, 1, "plain").engine == "plain"
    assert other.open(BASE, "cpu", None, 1).engine == "plain"
    assert_refused(other, "--engine plain", engine="cohort")


def test_a_study_from_before_there_were_engines_goes_on_with_the_cohort(study):
    document = json.loads(study.study_path.read_text())
    del document["engine"]
    study.study_path.write_text(json.dumps(document))
    assert study.open(BASE, "cpu", None, 1).engine == "cohort"


def test_a_study_from_before_the_device_was_written_down_goes_on_on_any(study):
    document = json.loads(study.study_path.read_text())
    del document["device"]
    study.study_path.write_text(json.dumps(document))
    for device in ("cpu", "cuda"):
        assert study.open(BASE, device, None, 7).device is None


def test_of_many_that_open_a_new_folder_at_once_one_decides_for_all(tmp_path):
    barrier = threading.Barrier(8)

    def open_at_once(threads: int) -> int:
        barrier.wait()
        return StudyFolder(tmp_path / "study").open(BASE, "cpu", None, threads).threads

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(open_at_once, range(1, 9)))) == 1


class Late(StudyFolder):
    """A folder that another study opens just after this one has found it new."""

    def check(self, *how: Any) -> StudyDocument | None:
        document = super().check(*how)
        if document is None:
            StudyFolder(self.path).open(changed(net={"width": 64}), "cpu", None, 1)
        return document


def test_another_study_that_opened_the_folder_a_moment_before_is_not_mixed_in(tmp_path):
    with pytest.raises(UserError, match=r"net\.width \(64 there, 3 here\)"):
        Late(tmp_path).open(BASE, "cpu", None, 1)


def test_another_study_is_refused_and_the_difference_named(study):
    for path, to, sentence in [
        (("recipe", "epochs"), 9, "recipe.epochs (3 there, 9 here)"),
        (("net", "width"), 64, "net.width (3 there, 64 here)"),
        (("task", "checksum"), "f" * 64, "task.checksum"),
        (("task", "evaluated_on"), "validation", "(test there, validation here)"),
    ]:
        assert_refused(
            study, sentence, "choose another --out", base=changed(**{path[0]: {path[1]: to}})
        )


def test_every_difference_is_named(study):
    base = changed(net={"blocks": 7}, recipe={"batch_size": 5})
    assert_refused(study, "net.blocks (2 there, 7 here)", "recipe.batch_size (128", base=base)


def test_a_folder_with_something_else_in_it_is_refused(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("all my work")
    assert_refused(StudyFolder(tmp_path / "mine"), "no study.json", "--out")


def test_a_file_in_place_of_the_folder_is_refused(tmp_path):
    (tmp_path / "mine").write_text("all my work")
    assert_refused(StudyFolder(tmp_path / "mine"), "cannot create the folder")


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"schema_version": 99}'])
def test_a_study_file_that_cannot_be_understood_is_refused(study, text):
    study.study_path.write_text(text)
    assert_refused(study, "study.json")


@pytest.mark.parametrize(
    "damage", [{"base": None}, {"base": []}, {"threads": None}, {"threads": "two"}]
)
def test_a_study_file_with_a_part_missing_is_refused(study, damage):
    document = json.loads(study.study_path.read_text()) | damage
    study.study_path.write_text(json.dumps({k: v for k, v in document.items() if v is not None}))
    assert_refused(study, "study.json")


def test_a_claim_that_was_killed_half_way_does_not_block_the_folder(tmp_path):
    (tmp_path / ".study.json.4711.tmp").write_text('{"schema_ver')
    assert StudyFolder(tmp_path).open(BASE, "cpu", None, 2).threads == 2


def test_a_folder_that_cannot_be_made_is_refused(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    assert_refused(StudyFolder(tmp_path / "file" / "study"))


# Its runs


def test_a_run_is_found_by_its_configuration(study):
    config = run_config()
    folder = study.run(config)
    assert folder.path == study.path / "runs" / config.identity
    assert not folder.path.exists()


def test_all_runs_that_were_started(study):
    assert list(study.all_runs()) == []
    configs = [run_config(k=k, seed=seed) for k in (0, 2) for seed in (1, 2)]
    for config in configs[:3]:
        finished(study.runs, config, accuracy=0.5)
    started(study.runs, configs[3])
    found = list(study.all_runs())
    assert {folder.config.identity for folder in found} == {c.identity for c in configs}
    assert [folder.config for folder in found if folder.result is None] == [configs[3]]


@pytest.mark.parametrize("text", ["{}", "[]"])
def test_a_corrupt_config_of_a_run_is_named(study, text):
    path = finished(study.runs, run_config(), accuracy=0.5).path / "config.json"
    path.write_text(text)
    with pytest.raises(UserError, match=r"config\.json"):
        list(study.all_runs())


def test_open_runs_are_those_that_are_neither_done_nor_failed(study):
    planned = CohortPlan(
        task=TASK,
        net=NET,
        recipe=RECIPE,
        rules=(PlannedRule(config=run_config().rule, typed="dfa"),),
        runs=tuple((0, 2, seed) for seed in (1, 2, 3, 4)),
    )
    assert study.open_runs(planned) == [0, 1, 2, 3]
    done, failed, begun, _ = planned.configs
    finished(study.runs, done, accuracy=0.5)
    started(study.runs, failed).fail("ValueError: no", "details", {})
    started(study.runs, begun, 0, 1)
    assert study.open_runs(planned) == [2, 3]
    assert study.has_open_runs(planned, set())
    for config in planned.configs[2:]:
        finished(study.runs, config, accuracy=0.5)
    assert not study.has_open_runs(planned, set()), "whatever was looked up before"
