"""Files that may not be read: one sentence, nothing moves, and later the command goes on."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import NoReturn

import pytest
from cli.audits import run_audit, run_files
from cli.commands import assert_bad_input, run, run_ladder
from cli.stopped_studies import STOPPED_AT, command, results, resumed_from
from scheduling.small_grids import outcome
from store.small_runs_on_disk import contents

from depthgauge.store import checkpoint

REFUSALS = [(errno.EACCES, "Permission denied"), (errno.EIO, "Input/output error")]


@pytest.mark.parametrize("refusal", REFUSALS)
def test_a_result_that_may_not_be_read_ends_the_command(study, monkeypatch, refusal):
    path, read = results(study)[2], Path.read_bytes
    before = contents(study)

    def refuse(this: Path) -> bytes:
        if this == path:
            raise OSError(*refusal, str(path))
        return read(this)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "read_bytes", refuse)
        for done in (run_ladder(study), run("resume", study)):
            assert_bad_input(done, refusal[1], str(path))
    assert contents(study) == before


def refuse_checkpoints(patch: pytest.MonkeyPatch, number: int, words: str) -> None:
    def refuse(path: Path, **_: object) -> NoReturn:
        raise OSError(number, words, str(path))

    patch.setattr(checkpoint, "safe_open", refuse)


@pytest.mark.parametrize("refusal", REFUSALS)
def test_a_network_that_may_not_be_read_ends_the_audit(study, monkeypatch, refusal):
    before = run_files(study)
    with monkeypatch.context() as patch:
        refuse_checkpoints(patch, *refusal)
        done = run_audit(study, rules=("bp", "dfa"), seeds=(1, 2))
    assert_bad_input(done, refusal[1], "checkpoint.safetensors")
    assert run_files(study) == before


@pytest.mark.parametrize("refusal", REFUSALS)
def test_a_checkpoint_that_may_not_be_read_ends_the_command_and_is_used_later(
    stopping_rules, stopped, undisturbed, monkeypatch, refusal
):
    before = run_files(stopped)
    with monkeypatch.context() as patch:
        refuse_checkpoints(patch, *refusal)
        done = run(*command(stopping_rules, stopped))
    assert_bad_input(done, refusal[1], "checkpoint")
    assert run_files(stopped) == before
    assert run(*command(stopping_rules, stopped)).status == 0
    assert outcome(stopped) == outcome(undisturbed)
    assert resumed_from(stopped) == [list(STOPPED_AT)] * 2
