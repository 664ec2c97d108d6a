"""Claims: one of many has a piece of work, and whoever lets go or dies does not block it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path

import pytest
from store.claiming import Claiming, elsewhere, ended_owner, put_claim

from depthgauge.store.claims import DEAD_AFTER, Claim, ClaimFile, Claims
from depthgauge.store.owner import this_process

MANY = 12


class Clock:
    """A time that passes when it is told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "claims"


@pytest.fixture
def clock() -> Clock:
    return Clock()


def taken(claim: Claim | None) -> Claim:
    assert claim is not None
    return claim


def at_once(folder: Path) -> list[Claim]:
    """What many threads get that all begin at the same moment."""
    barrier = threading.Barrier(MANY)

    def take(_: int) -> Claim | None:
        barrier.wait()
        return Claims(folder).take("work")

    with ThreadPoolExecutor(MANY) as threads:
        return [claim for claim in threads.map(take, range(MANY)) if claim is not None]


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


# One of many


def test_the_first_has_it_and_the_second_has_not(folder):
    claim = taken(Claims(folder).take("work"))
    assert claim.path == folder / "work.1"
    assert ClaimFile.model_validate_json(claim.path.read_text()).owner == this_process()
    assert Claims(folder).take("work") is None
    assert not claim.lost


def test_other_work_can_be_claimed_beside_it(folder):
    claims = Claims(folder)
    assert claims.take("work") is not None
    assert claims.take("work.1") is not None
    assert claims.take("other") is not None


@pytest.mark.parametrize("round_", range(5))
def test_of_many_threads_one_has_it(folder, round_):
    got = at_once(folder)
    assert len(got) == 1
    assert files(folder) == ["work.1"]


@pytest.fixture
def processes(folder: Path) -> Iterator[Callable[[list[str]], list[Claiming]]]:
    """Processes that are ready to claim."""
    started: list[Claiming] = []

    def start(names: list[str]) -> list[Claiming]:
        more = [Claiming(folder, names) for _ in range(3)]
        started.extend(more)
        for process in more:
            process.wait_until_ready()
        return more

    yield start
    for process in started:
        process.kill()


def claimed_by(processes: list[Claiming]) -> list[list[str]]:
    for process in processes:
        process.claim()
    return [process.claimed() for process in processes]


def test_of_several_processes_one_has_it_and_when_they_are_killed_others_take_it_over(
    folder, processes
):
    names = [f"work{number}" for number in range(40)]
    first = processes(names)
    assert sorted(chain(*claimed_by(first))) == sorted(names)
    second = processes(names)
    assert claimed_by(second) == [[], [], []]
    for process in first:
        process.kill()
    third = processes(names)
    assert sorted(chain(*claimed_by(third))) == sorted(names)
    assert files(folder) == sorted(f"{name}.{i}" for name in names for i in (1, 2))


# Owners that are gone


def test_a_claim_of_a_process_that_has_ended_here_is_taken_over_at_once(folder):
    put_claim(folder, "work", ended_owner())
    assert taken(Claims(folder).take("work")).path == folder / "work.2"
    assert Claims(folder).take("work") is None


def test_a_claim_of_a_process_whose_number_another_one_has_now_is_taken_over_at_once(folder):
    reused = this_process().model_copy(update={"started": this_process().started - 3600})
    put_claim(folder, "work", reused)
    assert Claims(folder).take("work") is not None


@pytest.mark.parametrize("round_", range(5))
def test_a_dead_claim_is_taken_over_by_one_of_many(folder, round_):
    put_claim(folder, "work", this_process().model_copy(update={"started": 0.0}))
    got = at_once(folder)
    assert [claim.path.name for claim in got] == ["work.2"]


def test_a_claim_of_a_process_here_that_lives_is_never_taken_however_old(folder, clock):
    put_claim(folder, "work", this_process())
    observer = Claims(folder, clock)
    assert observer.take("work") is None
    clock.now += 1000 * DEAD_AFTER
    assert observer.take("work") is None


# Owners elsewhere


def test_a_claim_from_elsewhere_is_taken_over_after_long_without_a_sign_of_life(folder, clock):
    put_claim(folder, "work", elsewhere())
    observer = Claims(folder, clock)
    for _ in range(10):
        assert observer.take("work") is None
        clock.now += 0.0999 * DEAD_AFTER
    assert observer.take("work") is None
    clock.now += 0.01 * DEAD_AFTER
    assert observer.take("work") is not None


def test_every_observer_waits_for_itself(folder, clock):
    """Clocks of machines may differ, so only what an observer saw with its own counts."""
    put_claim(folder, "work", elsewhere())
    assert Claims(folder, clock).take("work") is None
    clock.now += 2 * DEAD_AFTER
    assert Claims(folder, clock).take("work") is None


def test_a_sign_of_life_from_elsewhere_starts_the_waiting_anew(folder, clock):
    observer = Claims(folder, clock)
    for beat in range(5):
        put_claim(folder, "work", elsewhere(), beat)
        assert observer.take("work") is None
        clock.now += 0.9 * DEAD_AFTER
    assert observer.take("work") is None
    clock.now += 0.2 * DEAD_AFTER
    assert observer.take("work") is not None


def test_an_observer_that_waited_for_one_owner_waits_anew_for_the_next(folder, clock):
    put_claim(folder, "work", elsewhere())
    observer = Claims(folder, clock)
    assert observer.take("work") is None
    clock.now += 0.9 * DEAD_AFTER
    put_claim(folder, "work", elsewhere()).rename(folder / "work.2")
    put_claim(folder, "work", elsewhere())
    assert observer.take("work") is None
    clock.now += 0.9 * DEAD_AFTER
    assert observer.take("work") is None
    clock.now += 0.2 * DEAD_AFTER
    assert taken(observer.take("work")).path == folder / "work.3"


@pytest.mark.parametrize("text", ["", "{", "[]", '{"owner": 3}', "\x00\x00"])
def test_a_claim_that_cannot_be_read_is_taken_over_after_long(folder, clock, text):
    folder.mkdir()
    (folder / "work.1").write_text(text)
    observer = Claims(folder, clock)
    assert observer.take("work") is None
    assert observer.holder("work") is None
    clock.now += DEAD_AFTER
    assert taken(observer.take("work")).path == folder / "work.2"


# Letting go, and losing


def test_a_released_claim_can_be_had_at_once_by_one(folder):
    claim = taken(Claims(folder).take("work"))
    claim.release()
    assert taken(Claims(folder).take("work")).path == folder / "work.2"
    assert Claims(folder).take("work") is None


def test_a_released_claim_gives_no_signs_of_life(folder):
    claim = taken(Claims(folder).take("work"))
    claim.release()
    claim.beat({"steps": 1})
    assert Claims(folder).holder("work") is None


def test_signs_of_life_carry_how_far_the_work_is(folder):
    claim = taken(Claims(folder).take("work"))
    for steps in (5, 6):
        claim.beat({"steps": steps})
    holder = Claims(folder).holder("work")
    assert holder is not None
    assert (holder.beat, holder.progress, holder.owner) == (2, {"steps": 6}, this_process())
    assert files(folder) == ["work.1"]


def test_a_thread_gives_signs_of_life_until_the_claim_is_released(folder):
    claim, threads = taken(Claims(folder).take("work")), threading.active_count()
    steps = iter(range(10**9))
    claim.keep_alive(lambda: {"steps": next(steps)}, every=0.001)
    until(lambda: '"steps":3' in claim.path.read_text())
    claim.release()
    until(lambda: threading.active_count() == threads)
    assert '"released":true' in claim.path.read_text()


def test_a_full_disk_does_not_end_the_signs_of_life(folder):
    claim = taken(Claims(folder).take("work"))
    full = iter([OSError(28, "No space left on device")] * 3)

    def progress() -> dict[str, int]:
        for error in full:
            raise error
        return {"steps": 7}

    claim.keep_alive(progress, every=0.001)
    until(lambda: '"steps":7' in claim.path.read_text())
    claim.release()


def test_an_owner_that_was_paused_and_taken_over_finds_out(folder, clock):
    claim = taken(Claims(folder).take("work"))
    assert put_claim(folder, "work", elsewhere()) == claim.path  # as another machine sees it
    observer = Claims(folder, clock)
    assert observer.take("work") is None
    clock.now += DEAD_AFTER
    other = taken(observer.take("work"))
    assert not claim.lost
    claim.beat({"steps": 9})
    assert claim.lost
    assert '"steps"' not in claim.path.read_text()
    claim.release()
    assert not other.lost
    assert Claims(folder).take("work") is None
    other.beat({})
    assert not other.lost


def test_an_owner_finds_out_that_others_have_done_the_work_and_forgotten_it(folder):
    claim = taken(Claims(folder).take("work"))
    Claims(folder).forget("work")
    claim.beat({})
    assert claim.lost
    claim.release()
    assert files(folder) == []


# Looking, and forgetting


def test_nobody_holds_what_was_never_claimed_or_was_let_go_or_whose_owner_is_gone(folder):
    claims = Claims(folder)
    assert claims.holder("work") is None
    taken(claims.take("work")).release()
    assert claims.holder("work") is None
    put_claim(folder, "dead", ended_owner())
    assert claims.holder("dead") is None


def test_an_owner_elsewhere_holds_its_claim_as_far_as_is_known(folder):
    put_claim(folder, "work", elsewhere(), beat=4)
    holder = Claims(folder).holder("work")
    assert holder is not None
    assert (holder.owner, holder.beat) == (elsewhere(), 4)


def test_looking_takes_nothing_and_makes_nothing(folder):
    assert Claims(folder).holder("work") is None
    assert not folder.exists()


def test_forgotten_work_leaves_no_file_and_other_work_alone(folder):
    claims = Claims(folder)
    for _ in range(3):
        taken(claims.take("work")).release()
    other = taken(claims.take("other"))
    claims.forget("work")
    assert files(folder) == ["other.1"]
    assert not other.lost
    claims.forget("work")
    assert taken(claims.take("work")).path == folder / "work.1"


def test_work_is_forgotten_newest_claim_first(folder):
    """So nobody sees an old claim, which is free, as the newest. The folder stops it half-way."""
    claims = Claims(folder)
    for _ in range(3):
        taken(claims.take("work")).release()
    (folder / "work.2").unlink()
    (folder / "work.2").mkdir()
    with pytest.raises(OSError, match=r"work\.2"):
        claims.forget("work")
    assert files(folder) == ["work.1", "work.2"]


def test_a_claim_that_was_made_while_the_work_was_being_forgotten_does_not_stay(folder):
    """Left behind, it would make the next owner of the work believe that it was taken over."""
    for _ in range(2):
        taken(Claims(folder).take("work")).release()
    (folder / "work.1").unlink()  # by another process, between the look and the second claim
    Claims(folder).forget("work")
    again = taken(Claims(folder).take("work"))
    again.beat({})
    assert not again.lost


def until(happened: Callable[[], bool]) -> None:
    give_up = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < give_up
        time.sleep(0.001)
