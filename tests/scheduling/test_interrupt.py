"""Signals: the first one asks, the second one stops, ignored ones stay ignored."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from depthgauge.scheduling.interrupt import ASKING, Interrupt, interruptible

FROM_ELSEWHERE = "import os, signal, sys; os.kill(int(sys.argv[1]), signal.SIGUSR1)"
NAMES = [signal.Signals(number).name for number in ASKING]


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    """Whatever a test does to the handlers, they are put back.

    Shells start what runs in the background with Ctrl-C ignored.
    """
    before = {number: signal.getsignal(number) for number in ASKING}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def send(number: int) -> None:
    """A real signal to this process; its handler has run when this returns."""
    signal.raise_signal(number)


def test_it_hears_ctrl_c_the_end_of_the_system_and_preemption():
    assert NAMES == ["SIGINT", "SIGTERM", "SIGUSR1"]


@pytest.mark.parametrize("number", ASKING, ids=NAMES)
def test_the_first_signal_asks_to_stop(number):
    with interruptible() as interrupt:
        assert not interrupt()
        send(number)
        assert interrupt()
        assert interrupt.signal == number


@pytest.mark.parametrize("second", ASKING, ids=NAMES)
def test_the_second_signal_stops_now_and_the_first_is_remembered(second):
    with interruptible() as interrupt:
        send(signal.SIGTERM)
        with pytest.raises(KeyboardInterrupt):
            send(second)
        assert interrupt.signal == signal.SIGTERM


def test_a_signal_from_another_process_is_heard_too():
    with interruptible() as interrupt:
        subprocess.run([sys.executable, "-S", "-c", FROM_ELSEWHERE, str(os.getpid())], check=True)
        assert interrupt.signal == signal.SIGUSR1


@pytest.mark.parametrize("number", ASKING, ids=NAMES)
def test_an_ignored_signal_stays_ignored(number):
    signal.signal(number, signal.SIG_IGN)
    with interruptible() as interrupt:
        send(number)
        assert not interrupt()
    assert signal.getsignal(number) is signal.SIG_IGN


def test_afterwards_signals_are_handled_as_before():
    heard: list[int] = []
    signal.signal(signal.SIGUSR1, lambda number, frame: heard.append(number))
    before = {number: signal.getsignal(number) for number in ASKING}
    with pytest.raises(ZeroDivisionError), interruptible():
        raise ZeroDivisionError
    assert {number: signal.getsignal(number) for number in ASKING} == before
    send(signal.SIGUSR1)
    assert heard == [signal.SIGUSR1]


def test_blocks_one_after_the_other_know_nothing_of_each_other():
    with interruptible() as first:
        send(signal.SIGTERM)
    with interruptible() as second:
        assert not second()
    assert first()


def test_without_a_signal_nobody_asks():
    assert Interrupt()() is False
    assert Interrupt().signal is None
