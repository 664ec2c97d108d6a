"""What a cohort goes on from: the newest position that all its runs have in good order."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from store.small_runs_on_disk import contents, metrics_line, run_config, started, state, state_bits

from depthgauge.store.run_folder import RunFolder, load_newest, newest_common_position
from depthgauge.training.trainee import Position

CONFIGS = [run_config(seed=seed) for seed in (1, 2, 3)]
SAVED: tuple[Position, Position] = ((1, 1), (2, 0))


def cohort(runs: Path, *positions: int | Position) -> list[RunFolder]:
    """Three runs that have saved the same positions."""
    return [started(runs, config, *positions) for config in CONFIGS]


def flip_last_bit(path: Path) -> None:
    """Damage that the header does not show."""
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:60])


def assert_loaded(folders: Sequence[RunFolder], position: Position | None) -> None:
    """That every run's state of that position is loaded; nothing at all if it is None."""
    states = load_newest(folders)
    if position is None:
        assert states is None
        return
    assert states is not None
    expected = [state(position[0], folder.config.seed, position[1]) for folder in folders]
    assert [state_bits(own) for own in states] == [state_bits(own) for own in expected]


def put_aside(folder: RunFolder) -> dict[str, str]:
    """Every file that was put aside, and its reason."""
    reasons = (folder.path / "quarantine").glob("*.reason.txt")
    return {path.name.removesuffix(".reason.txt"): path.read_text() for path in reasons}


# In good order


def test_all_saved_means_the_newest(tmp_path):
    folders = cohort(tmp_path, 1, 2, (2, 3))
    before = contents(tmp_path)
    assert newest_common_position(folders) == (2, 3)
    assert_loaded(folders, (2, 3))
    assert contents(tmp_path) == before


def test_a_cohort_goes_on_from_the_newest_position_that_all_have(tmp_path):
    first = started(tmp_path, CONFIGS[0], 1, (2, 1), 3)
    second = started(tmp_path, CONFIGS[1], 1, (2, 1))
    assert newest_common_position([first, second]) == (2, 1)
    assert_loaded([first, second], (2, 1))


def test_steps_of_the_same_epoch_are_told_apart(tmp_path):
    first = started(tmp_path, CONFIGS[0], (1, 2), (1, 4))
    second = started(tmp_path, CONFIGS[1], (1, 1), (1, 2))
    assert newest_common_position([first, second]) == (1, 2)


def test_a_run_without_a_checkpoint_makes_the_cohort_begin_anew(tmp_path):
    first = started(tmp_path, CONFIGS[0], 1, 2)
    assert_loaded([first, started(tmp_path, CONFIGS[1])], None)


def test_runs_that_have_no_position_in_common_begin_anew(tmp_path):
    folders = [started(tmp_path, CONFIGS[0], 1, 2), started(tmp_path, CONFIGS[1], 3)]
    assert newest_common_position(folders) is None


def test_a_cohort_that_was_never_started_begins(tmp_path):
    folders = [RunFolder(tmp_path, config) for config in CONFIGS]
    assert_loaded(folders, None)
    assert contents(tmp_path) == {}


def test_two_kills_between_two_saves_of_the_same_position_lose_that_one_only(tmp_path):
    first = started(tmp_path, CONFIGS[0], 1, 2, 3)
    second = started(tmp_path, CONFIGS[1], 1, 2)
    first.save(state(3, seed=1))  # trained again from epoch 2, and killed at the same place
    assert newest_common_position([first, second]) == (2, 0)


def test_two_stops_in_a_row_while_saving_lose_no_more_than_one_checkpoint(tmp_path):
    first, second = (started(tmp_path, config, 1, 2) for config in CONFIGS[:2])
    first.save(state(2, 1, step=1))
    for folder in (first, second):
        folder.rewind((2, 0))
    first.save(state(2, 1, step=2))
    assert newest_common_position([first, second]) == (2, 0)
    assert_loaded([first, second], (2, 0))


# Damaged checkpoints


@pytest.mark.parametrize("damage", [flip_last_bit, cut])
def test_one_damaged_newest_checkpoint_takes_the_cohort_back_to_the_one_before(tmp_path, damage):
    folders = cohort(tmp_path, (1, 1), 2)
    damage(folders[1].checkpoint_path)
    damaged = folders[1].checkpoint_path.read_bytes()
    assert_loaded(folders, (1, 1))
    (aside,) = put_aside(folders[1]).items()
    assert aside[0] == "1-checkpoint.safetensors"
    assert aside[1].startswith("checkpoint.safetensors cannot be used: ")
    assert (folders[1].path / "quarantine" / aside[0]).read_bytes() == damaged
    assert [put_aside(folder) for folder in (folders[0], folders[2])] == [{}, {}]


def test_after_damage_the_cohort_goes_on_as_if_the_newest_had_not_been(tmp_path):
    folders = cohort(tmp_path, (1, 1), 2)
    flip_last_bit(folders[1].checkpoint_path)
    states = load_newest(folders)
    assert states is not None
    for folder in folders:
        folder.rewind(states[0].position)
        folder.metrics.append(metrics_line(2))
        folder.save(state(2, folder.config.seed))
        assert list(folder.saved()) == [(1, 1), (2, 0)]
    assert_loaded(folders, (2, 0))


def test_a_header_that_lies_about_its_position_is_not_believed(tmp_path):
    folders = cohort(tmp_path, (1, 1), (1, 5))
    for folder in folders:
        content = folder.checkpoint_path.read_bytes()
        folder.checkpoint_path.write_bytes(content.replace(b'"step":"5"', b'"step":"7"'))
    assert newest_common_position(folders) == (1, 7)
    assert_loaded(folders, (1, 1))
    assert all("checksum" in reason for f in folders for reason in put_aside(f).values())


def test_every_checkpoint_of_one_run_damaged_makes_the_cohort_begin_anew(tmp_path):
    folders = cohort(tmp_path, 1, 2)
    flip_last_bit(folders[2].checkpoint_path)
    cut(folders[2].previous_path)
    assert_loaded(folders, None)
    assert len(put_aside(folders[2])) == 2
    assert folders[2].saved() == {}
    assert [list(folder.saved()) for folder in folders[:2]] == [[(1, 0), (2, 0)]] * 2


# Damaged metrics


def damage_line(folder: RunFolder, number: int) -> None:
    lines = folder.metrics.path.read_text().splitlines(keepends=True)
    lines[number] = lines[number][: len(lines[number]) // 2] + "\n"
    folder.metrics.path.write_text("".join(lines))


@pytest.mark.parametrize(
    ("number", "position"), [(3, (2, 1)), (2, None), (1, None), (0, None)], ids=str
)
def test_a_damaged_line_of_metrics_takes_the_cohort_back_before_it(tmp_path, number, position):
    folders = cohort(tmp_path, (2, 1), (3, 0))
    assert newest_common_position(folders) == (3, 0)
    damage_line(folders[1], number)
    assert newest_common_position(folders) == position
    assert_loaded(folders, position)
    for folder in folders:
        folder.rewind(position)
        kept = [] if position is None else [0, 1, 2]
        assert [line["epoch"] for line in folder.metrics.lines()] == kept
    assert [bool(put_aside(folder)) for folder in folders] == [False, True, False]


def test_a_checkpoint_inside_an_epoch_needs_the_metrics_of_the_epochs_before_alone(tmp_path):
    folders = cohort(tmp_path, (2, 1))
    with folders[0].metrics.path.open("a") as handle:
        handle.write('{"epoch": 3, "acc')
    assert_loaded(folders, (2, 1))


def test_metrics_that_are_gone_make_the_cohort_begin_anew(tmp_path):
    folders = cohort(tmp_path, 1, 2)
    folders[0].metrics.path.unlink()
    assert_loaded(folders, None)


# Any damage at all

DAMAGE: dict[str, Callable[[Path], None]] = {
    "flipped": flip_last_bit,
    "cut": cut,
    "gone": lambda path: path.unlink(),
}
WHICH = st.lists(
    st.tuples(st.integers(0, 2), st.sampled_from(SAVED), st.sampled_from(sorted(DAMAGE))),
    max_size=4,
    unique_by=lambda damage: damage[:2],
)


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], list[RunFolder]]:
    """A new cohort in good order each time."""
    base = tmp_path_factory.mktemp("runs")
    cohort(base / "0", *SAVED)
    numbers = count(1)

    def copied() -> list[RunFolder]:
        runs = base / str(next(numbers))
        shutil.copytree(base / "0", runs)
        return [RunFolder(runs, config) for config in CONFIGS]

    return copied


@settings(max_examples=30)
@given(damage=WHICH)
def test_whatever_is_damaged_the_newest_that_all_have_is_loaded(example, damage):
    folders = example()
    for run, position, kind in damage:
        DAMAGE[kind](folders[run].saved()[position].path)
    good = set(SAVED) - {position for _, position, _ in damage}
    assert_loaded(folders, max(good, default=None))
    newest, previous = "1-checkpoint.safetensors", "1-checkpoint.previous.safetensors"
    names = {SAVED[0]: previous, SAVED[1]: newest}
    for run, folder in enumerate(folders):
        own = {names[position]: kind for number, position, kind in damage if number == run}
        cut_short = {name for name, kind in own.items() if kind == "cut"}
        damaged = {name for name, kind in own.items() if kind != "gone"}
        assert cut_short <= put_aside(folder).keys() <= damaged
