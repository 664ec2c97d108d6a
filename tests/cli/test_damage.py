"""Damaged files: one sentence, what is bad lies beside its reason, and nothing is lost."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from cli.audits import find_run, read, run_audit
from cli.commands import Done, assert_bad_input, run, run_ladder
from cli.stopped_studies import SAVED_BEFORE, STOPPED_AT, command, results, resumed_from
from safetensors import safe_open
from safetensors.torch import save_file
from scheduling.small_grids import outcome
from store.small_runs_on_disk import contents

from depthgauge.store.checkpoint import position_of

Damage = Callable[[Path], None]


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
        pytest.param(flip_a_bit(1), "cut short or damaged", id="a bit of the header's length"),
        pytest.param(flip_a_bit(-1), "does not match its checksum", id="the last byte"),
        pytest.param(flip_a_bit(-2000), "does not match its checksum", id="a bit of a weight"),
        pytest.param(of_the_future, "the schema version 7; this version", id="unknown version"),
    ],
)
def test_a_damaged_checkpoint_goes_aside_and_the_one_before_it_is_used(
    stopping_rules, stopped, undisturbed, damage, why
):
    path = a_run(stopped) / "checkpoint.safetensors"
    assert position_of(path) == STOPPED_AT
    assert position_of(path.with_name("checkpoint.previous.safetensors")) == SAVED_BEFORE
    damage(path)
    damaged = path.read_bytes()
    assert_one_sentence(run(*command(stopping_rules, stopped)), path, why)
    assert_put_aside(path, damaged, why)
    assert outcome(stopped) == outcome(undisturbed)
    assert resumed_from(stopped) == [list(SAVED_BEFORE)] * 2


def test_where_both_checkpoints_are_damaged_the_study_begins_anew(
    stopping_rules, stopped, undisturbed
):
    paths = sorted(a_run(stopped).glob("checkpoint*"))
    for path in paths:
        cut_in_half(path)
    done = run(*command(stopping_rules, stopped))
    assert done.status == 0
    assert done.err.count("\n") == len(paths) == 2
    assert len(list((a_run(stopped) / "quarantine").iterdir())) == 4
    assert outcome(stopped) == outcome(undisturbed)
    assert resumed_from(stopped) == [None] * 2


def test_the_damaged_network_of_a_run_that_is_done_is_trained_again_for_an_audit(study):
    """A ladder reads results alone; an audit reads networks. Alone, a run is rounded otherwise."""
    path = find_run(study, "dfa") / "checkpoint.safetensors"
    before = {name: read(p)["final"] for name, p in by_run(study).items()}
    flip_a_bit(-1)(path)
    damaged = path.read_bytes()
    assert run_ladder(study).err == ""
    done = run_audit(study, rules=("bp", "dfa"), seeds=(1, 2))
    assert (done.status, done.err.count("\n")) == (0, 2), done.err
    assert "does not match its checksum" in done.err
    assert "result.json belongs to a run whose last checkpoint is damaged" in done.err
    aside = path.parent / "quarantine"
    assert (aside / "1-checkpoint.safetensors").read_bytes() == damaged
    assert (aside / "1-result.json").exists()
    assert {name: read(p)["final"] for name, p in by_run(study).items()} == {
        name: {quantity: pytest.approx(value, rel=1e-4) for quantity, value in final.items()}
        for name, final in before.items()
    }


def by_run(study: Path) -> dict[str, Path]:
    return {path.parent.name: path for path in results(study)}


# Damaged metrics


def without_field(name: str) -> Callable[[bytes], bytes]:
    def cut(lines: bytes) -> bytes:
        *first, last = lines.splitlines(keepends=True)
        return b"".join([*first, without(name)(last.decode()).encode() + b"\n"])

    return cut


@pytest.mark.parametrize(
    "cut",
    [
        pytest.param(lambda lines: lines + lines[:40], id="one more line begun"),
        pytest.param(lambda lines: lines[:-20], id="the last line cut"),
        pytest.param(lambda lines: lines[:9] + lines[40:], id="a line damaged"),
        pytest.param(without_field("diverged"), id="a line without diverged"),
        pytest.param(without_field("accuracy"), id="a line without accuracy"),
    ],
)
def test_metrics_with_lines_that_are_not_whole(stopping_rules, stopped, undisturbed, cut):
    path = a_run(stopped) / "metrics.jsonl"
    damaged = cut(path.read_bytes())
    path.write_bytes(damaged)
    assert_one_sentence(run(*command(stopping_rules, stopped)), path, "cut short or damaged")
    assert_put_aside(path, damaged, "cut short or damaged")
    assert outcome(stopped) == outcome(undisturbed)


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
        pytest.param(
            lambda text: text[:40], "is incomplete, or is the result of another run", id="cut short"
        ),
        pytest.param(
            without("provenance"),
            "is incomplete, or is the result of another run",
            id="no provenance",
        ),
    ],
)
def test_a_result_that_cannot_be_used_goes_aside_and_the_run_is_finished_again(study, damage, why):
    whole = outcome(study)
    path = results(study)[2]
    others = [
        name
        for name in contents(study)
        if name.startswith("runs/") and path.parent.name not in name
    ]
    before = contents(study)
    path.write_text(damage(path.read_text()))
    damaged = path.read_bytes()
    assert_bad_input(run_ladder(study, "--dry-run"), str(path), "nothing was changed")
    assert path.read_bytes() == damaged
    assert_one_sentence(run_ladder(study), path, why)
    assert_put_aside(path, damaged, why)
    assert outcome(study) == whole
    assert [contents(study)[name] for name in others] == [before[name] for name in others]


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


def test_a_run_that_lost_its_result_alone_does_not_go_back_with_one_that_lost_its_network(study):
    """Both are of one cohort: the first is whole, and is finished as it stands."""
    whole, broken = (find_run(study, "dfa", k=k) for k in (1, 2))
    tensors = (whole / "checkpoint.safetensors").read_bytes()
    cut_in_half(whole / "result.json")
    flip_a_bit(-1)(broken / "checkpoint.safetensors")
    (broken / "result.json").unlink()
    assert run_ladder(study).status == 0
    epochs = read(whole / "config.json")["recipe"]["epochs"]
    resumed = [read(run / "result.json")["provenance"]["resumed_from"] for run in (whole, broken)]
    assert resumed == [[epochs, 0], None]
    assert (whole / "checkpoint.safetensors").read_bytes() == tensors
