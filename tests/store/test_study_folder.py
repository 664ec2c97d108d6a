"""The folder of a study: claimed once, continued by the same study, refused to any other."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from store.small_runs_on_disk import BASE, contents, finished, run_config, started

from depthgauge.errors import UserError
from depthgauge.store.study_folder import StudyFolder


def changed(*path: str, to: object) -> dict[str, Any]:
    """The base with one value changed."""
    base = deepcopy(BASE)
    inner: dict[str, Any] = base
    for name in path[:-1]:
        inner = inner[name]
    inner[path[-1]] = to
    return base


@pytest.fixture
def study(tmp_path: Path) -> StudyFolder:
    """A study that was started with two threads."""
    study = StudyFolder(tmp_path / "deep" / "study")
    assert study.open(BASE, None, 2) == 2
    return study


def assert_refused(study: StudyFolder, *sentence: str, **how: Any) -> None:
    """`open` raises, names every part of `sentence`, and changes nothing."""
    before = contents(study.path.parent)
    arguments = {"base": BASE, "threads": None} | how
    with pytest.raises(UserError) as caught:
        study.open(*arguments.values(), 4)
    message = str(caught.value)
    assert "\n" not in message
    assert str(study.path) in message
    for part in sentence:
        assert part in message
    assert contents(study.path.parent) == before


def test_a_new_folder_says_what_it_belongs_to(study):
    assert json.loads(study.study_path.read_text()) == {
        "schema_version": 1,
        "base": BASE,
        "threads": 2,
    }


def test_an_empty_folder_can_be_claimed(tmp_path):
    assert StudyFolder(tmp_path).open(BASE, 3, 2) == 3


def test_the_same_study_goes_on_and_nothing_is_written(study):
    before = contents(study.path)
    again = StudyFolder(study.path)
    assert again.open(deepcopy(BASE), None, 7) == 2
    assert again.open(deepcopy(BASE), 2, 7) == 2
    assert contents(study.path) == before


def test_the_number_of_threads_is_fixed_by_the_first_command(study):
    assert_refused(study, "--threads 2", "bit for bit", "--out", threads=1)


@pytest.mark.parametrize(
    ("path", "to", "sentence"),
    [
        (("recipe", "epochs"), 9, "recipe.epochs (3 there, 9 here)"),
        (("net", "width"), 64, "net.width (3 there, 64 here)"),
        (("task", "checksum"), "f" * 64, "task.checksum"),
        (("task", "evaluated_on"), "validation", "(test there, validation here)"),
        (("recipe", "new_field"), 1, "recipe.new_field (None there, 1 here)"),
    ],
)
def test_another_study_is_refused_and_the_difference_named(study, path, to, sentence):
    assert_refused(study, sentence, "choose another --out", base=changed(*path, to=to))


def test_every_difference_is_named(study):
    base = changed("net", "blocks", to=7)
    base["recipe"]["batch_size"] = 5
    assert_refused(study, "net.blocks (2 there, 7 here)", "recipe.batch_size (128", base=base)


def test_a_folder_with_something_else_in_it_is_refused(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("all my work")
    assert_refused(StudyFolder(tmp_path / "mine"), "something else", "--out")


def test_a_file_in_place_of_the_folder_is_refused(tmp_path):
    (tmp_path / "mine").write_text("all my work")
    assert_refused(StudyFolder(tmp_path / "mine"), "cannot be made a folder")


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
    assert StudyFolder(tmp_path).open(BASE, None, 2) == 2


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
    assert study.all_runs() == []
    configs = [run_config(k=k, seed=seed) for k in (0, 2) for seed in (1, 2)]
    for config in configs[:3]:
        finished(study.runs, config, accuracy=0.5)
    started(study.runs, configs[3])
    found = study.all_runs()
    assert {folder.config.identity for folder in found} == {c.identity for c in configs}
    assert [folder.config for folder in found if folder.result is None] == [configs[3]]


@pytest.mark.parametrize("text", ["{}", "[]"])
def test_a_corrupt_config_of_a_run_is_named(study, text):
    path = finished(study.runs, run_config(), accuracy=0.5).path / "config.json"
    path.write_text(text)
    with pytest.raises(UserError, match=r"config\.json"):
        study.all_runs()


def test_a_second_command_in_the_same_folder_is_refused_while_the_first_trains(study):
    with study.training(), pytest.raises(UserError, match="another command is training"):
        StudyFolder(study.path).training().__enter__()
    with StudyFolder(study.path).training():
        pass
