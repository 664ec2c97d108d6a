"""Full disks, folders that cannot be written, damaged files: one sentence, and nothing is lost."""

from __future__ import annotations

import json
import resource
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from cli.commands import Done, assert_bad_input, run, run_ladder
from cli.conftest import one_thread
from cli.stopped_studies import (
    SAVED_BEFORE,
    STOPPED_AT,
    command,
    run_stopped,
    write_stopping_rules,
)
from safetensors import safe_open
from safetensors.torch import save_file
from store.small_runs_on_disk import contents
from studies.small_grids import outcome

from depthgauge.store.checkpoint import position_of

SMALL_FILES = 2_000
"""Bytes: room for everything but a checkpoint."""

Damage = Callable[[Path], None]


@pytest.fixture(scope="module")
def rules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_stopping_rules(tmp_path_factory.mktemp("rules"))


@pytest.fixture(scope="module")
def undisturbed(rules: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a study comes to that nobody disturbs."""
    folder = tmp_path_factory.mktemp("undisturbed") / "study"
    with one_thread():
        assert run(*command(rules, folder)).status == 0
    return outcome(folder)


@pytest.fixture(scope="module")
def stopped_once(rules: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stopped") / "study"
    with one_thread():
        assert run_stopped(*command(rules, folder)).status == 128 + 15
    return folder


@pytest.fixture
def stopped(stopped_once: Path, tmp_path: Path) -> Path:
    """A study that was stopped within an epoch, and may be touched."""
    return shutil.copytree(stopped_once, tmp_path / "study")


def a_run(study: Path) -> Path:
    return sorted((study / "runs").iterdir())[0]


def assert_one_sentence(done: Done, path: Path, *words: str) -> None:
    """The command has ended well, and has said one thing."""
    assert done.status == 0, done.err
    assert done.err.startswith(f"depthgauge: {path} ")
    assert done.err.count("\n") == 1, done.err
    for word in words:
        assert word in done.err


def assert_put_aside(path: Path, damaged: bytes, *words: str) -> None:
    """The bad file, as it was, lies in quarantine beside its reason."""
    aside = path.parent / "quarantine" / f"1-{path.name}"
    assert aside.read_bytes() == damaged
    reason = aside.with_name(f"{aside.name}.reason.txt").read_text()
    assert reason.startswith(f"{path.name} ")
    for word in words:
        assert word in reason
    assert len(list(aside.parent.iterdir())) == 2


# Damaged checkpoints


def cut_in_half(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])


def flip_a_bit(at: int) -> Damage:
    def flip(path: Path) -> None:
        content = bytearray(path.read_bytes())
        content[at] ^= 1
        path.write_bytes(content)

    return flip


def of_the_future(path: Path) -> None:
    with safe_open(path, framework="pt") as handle:
        metadata = dict(handle.metadata()) | {"schema_version": "7"}
        tensors = {name: handle.get_tensor(name) for name in handle.keys()}  # noqa: SIM118
    save_file(tensors, path, metadata)


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        pytest.param(cut_in_half, "cut short or damaged", id="cut short"),
        pytest.param(lambda path: path.write_bytes(b""), "cut short or damaged", id="emptied"),
        pytest.param(flip_a_bit(1), "cut short or damaged", id="a bit of the header's length"),
        pytest.param(flip_a_bit(-1), "do not have the checksum", id="the last byte"),
        pytest.param(flip_a_bit(-2000), "do not have the checksum", id="a bit of a weight"),
        pytest.param(of_the_future, "the schema version 7; this version", id="unknown version"),
    ],
)
def test_a_damaged_checkpoint_goes_aside_and_the_one_before_it_is_used(
    rules, stopped, undisturbed, damage, why
):
    path = a_run(stopped) / "checkpoint.safetensors"
    assert position_of(path) == STOPPED_AT
    assert position_of(path.with_name("checkpoint.previous.safetensors")) == SAVED_BEFORE
    damage(path)
    damaged = path.read_bytes()
    assert_one_sentence(run(*command(rules, stopped)), path, why)
    assert_put_aside(path, damaged, why)
    assert outcome(stopped) == undisturbed
    resumed = [json.loads(p.read_text())["provenance"]["resumed_from"] for p in results(stopped)]
    assert resumed == [list(SAVED_BEFORE)] * 2


def results(study: Path) -> list[Path]:
    return sorted(study.glob("runs/*/result.json"))


def test_where_both_checkpoints_are_damaged_the_study_begins_anew(rules, stopped, undisturbed):
    paths = sorted(a_run(stopped).glob("checkpoint*"))
    for path in paths:
        cut_in_half(path)
    done = run(*command(rules, stopped))
    assert done.status == 0
    assert done.err.count("\n") == len(paths) == 2
    assert len(list((a_run(stopped) / "quarantine").iterdir())) == 4
    assert outcome(stopped) == undisturbed
    resumed = [json.loads(p.read_text())["provenance"]["resumed_from"] for p in results(stopped)]
    assert resumed == [None] * 2


def test_the_damaged_network_of_a_run_that_is_done_is_trained_again_for_an_audit(study):
    """A ladder reads results alone; an audit reads networks."""
    whole = outcome(study)
    path = next(study.glob("runs/*/checkpoint.safetensors"))
    flip_a_bit(-1)(path)
    damaged = path.read_bytes()
    assert run_ladder(study).err == ""
    small = ("--task", "digits", "--width", 8, "--blocks", 2, "--epochs", 1, "--threads", 1)
    done = run("audit", *small, "--rules", "bp", "dfa", "--seeds", 1, 2, "--out", study)
    config = json.loads(path.with_name("config.json").read_text())
    if config["k"] == 1:
        assert done.err == ""
    else:
        assert done.err.count("\n") == 2, done.err
        assert "checksum" in done.err
        assert "has lost its network" in done.err
        aside = sorted(p.name for p in (path.parent / "quarantine").iterdir())
        assert [name for name in aside if not name.endswith(".txt")] == [
            "1-checkpoint.safetensors",
            "1-result.json",
        ]
        assert (path.parent / "quarantine/1-checkpoint.safetensors").read_bytes() == damaged
        assert outcome(study) == whole


# Damaged metrics


@pytest.mark.parametrize("cut", [1, 20])
def test_metrics_that_end_in_the_middle_of_a_line(rules, stopped, undisturbed, cut):
    path = a_run(stopped) / "metrics.jsonl"
    path.write_bytes(path.read_bytes()[:-cut] if cut > 1 else path.read_bytes() + b'{"epoch": 2, "t')
    damaged = path.read_bytes()
    assert_one_sentence(run(*command(rules, stopped)), path, "cut short or damaged")
    assert_put_aside(path, damaged, "cut short or damaged")
    assert outcome(stopped) == undisturbed


# Damaged results


def with_version(text: str) -> str:
    return json.dumps(json.loads(text) | {"schema_version": 7})


def without(name: str) -> Callable[[str], str]:
    def cut(text: str) -> str:
        return json.dumps({key: value for key, value in json.loads(text).items() if key != name})

    return cut


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        pytest.param(with_version, "has the schema version 7; this version knows 1", id="version"),
        pytest.param(lambda text: "", "not the whole result", id="emptied"),
        pytest.param(lambda text: text[:40], "not the whole result", id="cut short"),
        pytest.param(lambda text: "[]", "not the whole result", id="a list"),
        pytest.param(lambda text: '{"identity": "another"}', "not the whole result", id="another"),
        pytest.param(without("final_acc"), "not the whole result", id="no accuracy"),
        pytest.param(without("provenance"), "not the whole result", id="no provenance"),
    ],
)
def test_a_result_that_cannot_be_used_goes_aside_and_the_run_is_finished_again(study, damage, why):
    whole = outcome(study)
    path = results(study)[2]
    others = {name: file for name, file in contents(study / "runs").items() if name[:16] not in str(path)}
    path.write_text(damage(path.read_text()))
    damaged = path.read_bytes()
    assert_bad_input(run_ladder(study, "--dry-run"), str(path), "nothing was changed")
    assert path.read_bytes() == damaged
    assert_one_sentence(run_ladder(study), path, why)
    assert_put_aside(path, damaged, why)
    assert outcome(study) == whole
    after = contents(study / "runs")
    assert {name: after[name] for name in others} == others


# Damaged files of the study itself


@pytest.mark.parametrize("name", ["study.json", "plan/1.json"])
@pytest.mark.parametrize("damage", [with_version, lambda text: text[:40]], ids=["version", "cut"])
def test_a_study_or_plan_that_cannot_be_read_is_left_as_it_is(study, name, damage):
    path = study / name
    path.write_text(damage(path.read_text()))
    before = contents(study)
    for arguments in (("resume", study), ("resume", study, "--cohorts", "x")):
        assert_bad_input(run(*arguments), str(path), "nothing was changed")
    assert_bad_input(run_ladder(study), str(path), "nothing was changed")
    assert contents(study) == before


# No room


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """No process may write larger files; as on a full disk, a write then fails."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def assert_says_no_room(done: Done) -> None:
    assert_bad_input(done, "there is no room left", "the same command goes on")


def test_without_room_for_checkpoints_nothing_has_failed_and_the_study_goes_on(
    rules, tmp_path, undisturbed
):
    folder = tmp_path / "study"
    with files_of_at_most(SMALL_FILES):
        assert_says_no_room(run(*command(rules, folder)))
    assert list(folder.glob("runs/*/failed.json")) == []
    assert list(folder.rglob("*.tmp")) == []
    assert run("status", folder, "--json").document["runs"] == {
        "done": 0,
        "running": 0,
        "failed": 0,
        "left": 2,
    }
    done = run(*command(rules, folder))
    assert (done.status, done.err) == (0, "")
    assert outcome(folder) == undisturbed


def test_what_was_saved_before_the_disk_was_full_is_used(rules, stopped, undisturbed):
    before = {path: path.read_bytes() for path in stopped.glob("runs/*/checkpoint*")}
    with files_of_at_most(SMALL_FILES):
        assert_says_no_room(run(*command(rules, stopped)))
    assert {path: path.read_bytes() for path in before} == before
    assert run(*command(rules, stopped)).status == 0
    assert outcome(stopped) == undisturbed
    resumed = [json.loads(p.read_text())["provenance"]["resumed_from"] for p in results(stopped)]
    assert resumed == [list(STOPPED_AT)] * 2


def mount(*arguments: object) -> bool:
    try:
        done = subprocess.run(
            ["mount", *map(str, arguments)], capture_output=True, check=False, timeout=20
        )
    except OSError:
        return False
    return done.returncode == 0


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of its own, with room for a hundred kilobytes."""
    place = tmp_path / "disk"
    place.mkdir()
    if not mount("-t", "tmpfs", "-o", "size=100k", "tmpfs", place):
        pytest.skip("file systems cannot be mounted here")
    try:
        yield place
    finally:
        subprocess.run(["umount", place], check=True, timeout=20)


def test_on_a_full_disk_the_study_waits_for_room(rules, disk, undisturbed):
    folder = disk / "study"
    fill = disk / "fill"
    fill.write_bytes(bytes(60_000))
    assert_says_no_room(run(*command(rules, folder)))
    assert list(folder.glob("runs/*/failed.json")) == []
    fill.unlink()
    assert mount("-o", "remount,size=2m", disk)
    done = run(*command(rules, folder))
    assert done.status == 0, done.err
    assert outcome(folder) == undisturbed


def test_in_a_folder_that_cannot_be_written_nothing_is_lost(
    rules, stopped, disk, tmp_path, undisturbed
):
    assert mount("-o", "remount,size=2m", disk)
    folder = shutil.copytree(stopped, disk / "study")
    before = contents(folder)
    assert mount("-o", "remount,ro", disk)
    assert_bad_input(run(*command(rules, folder)), "Read-only file system", str(folder))
    assert_bad_input(run(*command(rules, disk / "new")), "Read-only file system", str(disk / "new"))
    assert contents(folder) == before
    assert run("status", folder).status == 0
    assert run("show", a_run(folder)).status == 0
    assert run("export", folder, "-o", tmp_path / "table.csv").status == 0
    assert mount("-o", "remount,rw", disk)
    assert run(*command(rules, folder)).status == 0
    assert outcome(folder) == undisturbed
