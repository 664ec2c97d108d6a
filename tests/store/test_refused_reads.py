"""A file that may not be read is not a bad one: it stays, and the system's refusal is passed on."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import NoReturn

import pytest
from store.small_runs_on_disk import (
    contents,
    done_with_network,
    run_config,
    started,
    state,
    state_bits,
)

from depthgauge.store import checkpoint
from depthgauge.store.checkpoint import position_of, read_checkpoint
from depthgauge.store.done_runs import read_done_run
from depthgauge.store.run_folder import RunFolder, load_newest

CONFIG = run_config()

REFUSALS = [
    pytest.param(PermissionError(errno.EACCES, "Permission denied"), id="not permitted"),
    pytest.param(OSError(errno.EIO, "Input/output error"), id="bad disk"),
    pytest.param(OSError(errno.ESTALE, "Stale file handle"), id="server gone"),
]
OF_SAFETENSORS = pytest.param(
    FileNotFoundError("No such file or directory: checkpoint.safetensors"),
    id="whatever it is that safetensors may not open",
)


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return done_with_network(tmp_path, CONFIG)


def refuse_bytes(patch: pytest.MonkeyPatch, name: str, error: OSError) -> None:
    """Files of that name may not be read."""
    read = Path.read_bytes

    def read_or_refuse(path: Path) -> bytes:
        if path.name == name:
            raise error
        return read(path)

    patch.setattr(Path, "read_bytes", read_or_refuse)


def refuse_tensors(patch: pytest.MonkeyPatch, error: OSError) -> None:
    """Checkpoints may not be opened."""

    def refuse(*_: object, **__: object) -> NoReturn:
        raise error

    patch.setattr(checkpoint, "safe_open", refuse)


@pytest.mark.parametrize("network", [False, True])
@pytest.mark.parametrize("error", REFUSALS)
def test_a_result_that_may_not_be_read_stays(folder, monkeypatch, error, network):
    before = contents(folder.path)
    with monkeypatch.context() as patch:
        refuse_bytes(patch, "result.json", error)
        with pytest.raises(OSError, match=error.strerror) as caught:
            read_done_run(folder, network=network)
    assert caught.value is error
    assert contents(folder.path) == before


def test_a_result_that_went_away_meanwhile_is_no_refusal(folder, monkeypatch):
    """Somebody else has put it aside: there is nothing left to mend."""
    read = Path.read_bytes

    def vanish(path: Path) -> bytes:
        folder.result_path.unlink(missing_ok=True)
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", vanish)
    read_done_run(folder, network=False)
    assert not folder.has_ended


@pytest.mark.parametrize("error", REFUSALS)
def test_a_configuration_that_may_not_be_read_stays(folder, monkeypatch, error):
    before = contents(folder.path)
    with monkeypatch.context() as patch:
        refuse_bytes(patch, "config.json", error)
        with pytest.raises(OSError, match=error.strerror):
            folder.create()
    assert contents(folder.path) == before


@pytest.mark.parametrize("error", [*REFUSALS, OF_SAFETENSORS])
def test_a_network_that_may_not_be_read_is_not_lost(folder, monkeypatch, error):
    before = contents(folder.path)
    with monkeypatch.context() as patch:
        refuse_tensors(patch, error)
        with pytest.raises(type(error)) as caught:
            read_done_run(folder, network=True)
    assert caught.value is error
    assert contents(folder.path) == before
    read_done_run(folder, network=True)
    assert folder.has_ended


@pytest.mark.parametrize("error", [*REFUSALS, OF_SAFETENSORS])
@pytest.mark.parametrize("read", [read_checkpoint, position_of])
def test_a_checkpoint_that_may_not_be_read_is_not_damaged(folder, monkeypatch, read, error):
    refuse_tensors(monkeypatch, error)
    with pytest.raises(type(error)) as caught:
        read(folder.checkpoint_path)
    assert caught.value is error


@pytest.mark.parametrize("error", [*REFUSALS, OF_SAFETENSORS])
def test_checkpoints_that_may_not_be_read_stay_and_are_used_later(tmp_path, monkeypatch, error):
    folder = started(tmp_path, CONFIG, 1, 2)
    before = contents(tmp_path)
    with monkeypatch.context() as patch:
        refuse_tensors(patch, error)
        with pytest.raises(type(error)):
            load_newest([folder])
    assert contents(tmp_path) == before
    (found,) = load_newest([folder]) or ()
    assert state_bits(found) == state_bits(state(2, CONFIG.seed))


@pytest.mark.parametrize("error", REFUSALS)
def test_a_save_over_a_checkpoint_that_may_not_be_read_keeps_both(tmp_path, monkeypatch, error):
    folder = started(tmp_path, CONFIG, 1, 2)
    before = contents(tmp_path)
    with monkeypatch.context() as patch:
        refuse_tensors(patch, error)
        with pytest.raises(OSError, match=error.strerror):
            folder.save(state(3))
    assert contents(tmp_path) == before
