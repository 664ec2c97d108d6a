"""Progress on standard error: one line that moves in a terminal, lines now and then elsewhere."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from typing import Any

import pytest
from cli.commands import SMALL, own_logging

from depthgauge.cli.main import main
from depthgauge.report.progress import show_progress
from depthgauge.scheduling.live_status import Fired, LiveRule, LiveRuns

DFA = LiveRule(
    "dfa[normalise=batch]",
    20,
    6,
    1,
    0,
    LiveRuns(3, (4, 4), 0.26, 0),
    LiveRuns(3, (4, 4), 0.25, 0),
    (Fired("D1", 2, 3),),
)


class Terminal(io.StringIO):
    """A terminal as far as anybody asks."""

    def isatty(self) -> bool:
        return True


class Clock:
    """Time that passes when a test says so."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class CountedStatus:
    """Counts how often the status is read; each reading takes some seconds."""

    def __init__(self, clock: Clock | None = None, seconds: float = 0.0) -> None:
        self.times, self.rules = 0, [DFA]
        self._clock, self._seconds = clock, seconds

    def __call__(self) -> Sequence[LiveRule]:
        self.times += 1
        if self._clock is not None:
            self._clock.now += self._seconds
        return self.rules


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """A terminal of a hundred columns, to be standard error."""
    for name, value in {"TERM": "xterm", "COLUMNS": "100", "LINES": "40"}.items():
        monkeypatch.setenv(name, value)
    return Terminal()


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """A file, to be standard error."""
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    return io.StringIO()


def last_line(terminal: Terminal) -> str:
    """The line that stays on the screen, without styles."""
    frames = re.sub(r"\x1b\[\??[0-9;]*[mhl]", "", terminal.getvalue()).split("\x1b[2K")
    (line,) = [line.rstrip() for line in frames[-1].splitlines() if line.strip()]
    return line


# A log


def test_a_log_gets_a_line_after_ten_seconds_and_then_one_a_minute(log, clock):
    status = CountedStatus()
    with redirect_stderr(log), show_progress(100, "training", 0, status, clock) as line:
        for second in range(1, 131):
            clock.now = 100.0 + second
            line.at("dfa", second // 2)
    assert log.getvalue().splitlines() == [
        "training dfa: 5 %, 3 min left; dfa[normalise=batch] 26.0 % D1",
        "training dfa: 35 %, 2 min left; dfa[normalise=batch] 26.0 % D1",
        "training dfa: 65 %, 70 s left; dfa[normalise=batch] 26.0 % D1",
    ]
    assert status.times == 3


@pytest.mark.parametrize(
    ("done", "left"), [(50, "60 s"), (99, "1 s"), (20, "4 min"), (1, "99 min")]
)
def test_a_short_time_is_in_seconds(log, clock, done, left):
    with redirect_stderr(log), show_progress(100, "reading", clock=clock) as line:
        clock.now += 60.0
        line.at("bp", done)
    assert log.getvalue() == f"reading bp: {done} %, {left} left\n"


def test_what_was_done_before_says_nothing_about_the_speed(log, clock):
    with redirect_stderr(log), show_progress(100, "training", 80, clock=clock) as line:
        clock.now += 60.0
        line.at("bp", 80)
        clock.now += 60.0
        line.at("bp", 90)
    assert log.getvalue() == "training bp: 80 %\ntraining bp: 90 %, 2 min left\n"


# A terminal


def test_a_terminal_has_one_line_that_moves_with_what_each_rule_has_reached(terminal, clock):
    with redirect_stderr(terminal), show_progress(100, "training", 0, CountedStatus(), clock) as a:
        clock.now += 30.0
        a.at("dfa", 50)
    assert last_line(terminal) == "training dfa: 50 %, 30 s left; dfa[normalise=batch] 26.0 % D1"


def test_what_is_done_says_how_long_it_took(terminal, clock):
    with redirect_stderr(terminal), show_progress(10, "reading", clock=clock) as line:
        clock.now += 7.0
        line.at("bp", 10)
    assert last_line(terminal) == "reading: done in 7 s"


def test_names_that_look_like_markup_are_shown_as_they_are(terminal):
    status = CountedStatus()
    status.rules = [replace(DFA, rule="[red]mine[/] [/x]")]
    with redirect_stderr(terminal), show_progress(100, "training", 0, status):
        pass
    assert "[red]mine[/] [/x]" in last_line(terminal)


def test_a_line_that_is_too_long_is_cut_and_stays_one_line(terminal):
    status = CountedStatus()
    status.rules = [replace(DFA, rule=f"rule-{number}") for number in range(12)]
    with redirect_stderr(terminal), show_progress(100, "training", 0, status):
        pass
    assert len(last_line(terminal)) == 100
    assert last_line(terminal).endswith("…")


def test_the_line_moves_twice_a_second_at_most(terminal, clock):
    status = CountedStatus()
    with redirect_stderr(terminal), show_progress(100, "training", 0, status, clock) as line:
        for step in range(20):
            clock.now = 100.0 + step / 10
            line.at("dfa", step)
        assert status.times == 5
    assert status.times == 6


def test_a_status_that_takes_long_to_read_is_read_seldom(terminal, clock):
    status = CountedStatus(clock, seconds=0.1)
    with redirect_stderr(terminal), show_progress(1000, "training", 0, status, clock) as line:
        began, looks = clock.now, 0
        while clock.now < began + 200:
            clock.now += 0.5
            looks += 1
            line.at("dfa", looks)
        spent = 0.1 * (status.times - 1)
    assert looks > 300
    assert 0 < spent / (clock.now - began) < 0.005


def test_what_came_last_is_shown_also_where_it_ends_with_an_error(terminal, clock):
    status = CountedStatus(clock, seconds=5.0)

    def fail() -> None:
        with redirect_stderr(terminal), show_progress(100, "training", 0, status, clock):
            status.rules = [replace(DFA, fired=())]
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert last_line(terminal).endswith("; dfa[normalise=batch] 26.0 %")


# A study


def trained_in(terminal: Terminal, *arguments: Any) -> tuple[str, str]:
    """Standard output, and the line that stays on the screen, of a command that is right."""
    out = io.StringIO()
    with redirect_stdout(out), redirect_stderr(terminal), own_logging():
        assert main(["ladder", *SMALL, "--no-twins", *map(str, arguments)]) == 0
    return out.getvalue(), last_line(terminal)


def test_a_study_shows_its_rules_on_standard_error_alone(terminal, tmp_path):
    arguments = ("--rules", "bp", "dfa", "--seeds", 1, "--k", 0, 2, "--out", tmp_path / "study")
    out, line = trained_in(terminal, *arguments, "--json")
    ladder = json.loads(out)
    assert line.startswith("training: done in ")
    for rule in ("bp", "dfa"):
        full = 100 * ladder["rules"][rule][-1]["mean"]
        assert f"{rule} {full:.1f} %" in line


def test_a_rule_that_was_done_before_is_shown_beside_the_others(terminal, tmp_path):
    common = ("--seeds", 1, "--k", 2, "--out", tmp_path / "study")
    trained_in(terminal, "--rules", "bp", *common)
    _, line = trained_in(terminal, "--rules", "dfa", *common)
    assert [word.split()[0] for word in line.partition("; ")[2].split(", ")] == ["bp", "dfa"]
