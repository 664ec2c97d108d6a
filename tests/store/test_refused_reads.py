"""A file that the system refuses to open is not damaged: it stays, and the refusal is passed on."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from store.small_runs_on_disk import (
    contents,
    done_with_network,
    run_config,
    started,
    state,
    state_bits,
)
from store.system_limits import no_files_opened

from depthgauge.store.checkpoint import position_of, read_checkpoint
from depthgauge.store.done_runs import read_done_run
from depthgauge.store.run_folder import RunFolder, load_newest

CONFIG = run_config()


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return done_with_network(tmp_path, CONFIG)


def assert_refused(folder: RunFolder, act: Callable[[], object]) -> None:
    """The system's refusal is raised, and no file has changed."""
    before = contents(folder.path)
    with pytest.raises(OSError, match="Too many open files"), no_files_opened():
        act()
    assert contents(folder.path) == before


@pytest.mark.parametrize("network", [False, True])
def test_a_done_run_that_may_not_be_read_stays(folder, network):
    assert_refused(folder, lambda: read_done_run(folder, network=network))
    assert read_done_run(folder, network=True) is not None


def test_a_configuration_that_may_not_be_read_stays(folder):
    assert_refused(folder, folder.create)


@pytest.mark.parametrize("read", [read_checkpoint, position_of])
def test_a_checkpoint_that_may_not_be_read_is_not_damaged(folder, read):
    assert_refused(folder, lambda: read(folder.checkpoint_path))


def test_checkpoints_that_may_not_be_read_stay_and_are_used_later(tmp_path):
    folder = started(tmp_path, CONFIG, 1, 2)
    assert_refused(folder, lambda: load_newest([folder]))
    (newest,) = load_newest([folder]) or ()
    assert state_bits(newest) == state_bits(state(2, CONFIG.seed))


def test_a_save_beside_checkpoints_that_may_not_be_read_keeps_both(tmp_path):
    folder = started(tmp_path, CONFIG, 1, 2)
    assert_refused(folder, lambda: folder.save(state(3)))


def test_a_damaged_result_that_many_find_at_once_is_put_aside_once(tmp_path):
    """A result that another process has just put aside is no refusal."""
    folder = done_with_network(tmp_path, CONFIG)
    finders = 4
    with ThreadPoolExecutor(finders) as pool:
        for _ in range(20):
            folder.result_path.write_text("{")
            found = pool.map(lambda _: read_done_run(folder, network=False), range(finders))
            assert list(found) == [None] * finders
            assert not folder.has_ended
