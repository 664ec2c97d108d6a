"""Progress on standard error: a bar with a table in a terminal, lines elsewhere."""

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
from depthgauge.report import progress
from depthgauge.report.progress import Bar, Lines, show_progress
from depthgauge.scheduling.live import Fired, LiveRule, LiveRuns

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

    def monotonic(self) -> float:
        return self.now


class Asked:
    """Counts how often it was asked; each time takes some seconds."""

    def __init__(self, clock: Clock | None = None, takes: float = 0.0) -> None:
        self.times, self.rules = 0, [DFA]
        self._clock, self._takes = clock, takes

    def __call__(self) -> Sequence[LiveRule]:
        self.times += 1
        if self._clock is not None:
            self._clock.now += self._takes
        return self.rules


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(progress, "time", clock)
    return clock


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


def last_frame(terminal: Terminal) -> list[str]:
    """What stays on the screen: all after the bar was drawn for the last time, without styles."""
    frames = re.sub(r"\x1b\[\??[0-9;]*[mhl]", "", terminal.getvalue()).split("\x1b[2K")
    return [line.rstrip() for line in frames[-1].splitlines() if line.strip()]


# Lines


def test_a_log_gets_a_line_a_minute_with_what_each_rule_has_come_to(log, clock):
    asked = Asked()
    with redirect_stderr(log), show_progress(100, "training", 0, asked) as lines:
        assert isinstance(lines, Lines)
        for second in range(1, 121):
            clock.now = 100.0 + second
            lines.at("dfa", second // 3)
    assert log.getvalue().splitlines() == [
        "training dfa: 20.0 % done, 4 min left; dfa[normalise=batch] 26.0 % D1",
        "training dfa: 40.0 % done, 3 min left; dfa[normalise=batch] 26.0 % D1",
    ]
    assert asked.times == 2


@pytest.mark.parametrize(
    ("done", "left"), [(50, "60 s"), (99, "1 s"), (20, "4 min"), (1, "99 min")]
)
def test_a_short_time_is_in_seconds(log, clock, done, left):
    with redirect_stderr(log), show_progress(100, "reading") as lines:
        clock.now += 60.0
        lines.at("bp", done)
    assert log.getvalue() == f"reading bp: {done}.0 % done, {left} left\n"


def test_what_was_done_before_says_nothing_about_the_speed(log, clock):
    with redirect_stderr(log), show_progress(100, "training", 80) as lines:
        clock.now += 60.0
        lines.at("bp", 80)
        assert log.getvalue() == ""
        lines.at("bp", 90)
    assert "90.0 % done, 60 s left" in log.getvalue()


# The table below the bar


def test_a_terminal_gets_a_table_below_the_bar(terminal):
    asked = Asked()
    with redirect_stderr(terminal), show_progress(100, "training", 0, asked) as bar:
        assert isinstance(bar, Bar)
        bar.at("dfa", 50)
    first, header, _, row = last_frame(terminal)
    assert first.startswith("training dfa ")
    assert "50%" in first
    assert header.split() == ["rule", "runs", "epoch", "acc", "frozen", "fired", "so", "far"]
    words = "dfa[normalise=batch] 1/6 4/20 26.0 25.0 D1 in 2 of 3 from epoch 3"
    assert row.split() == words.split()


def test_without_rules_there_is_a_bar_alone(terminal):
    with redirect_stderr(terminal), show_progress(10, "reading") as bar:
        bar.at("bp", 5)
    (line,) = last_frame(terminal)
    assert line.startswith("reading bp ")


def test_names_that_look_like_markup_are_shown_as_they_are(terminal):
    asked = Asked()
    asked.rules = [replace(DFA, rule="[red]mine[/] [/x]")]
    with redirect_stderr(terminal), show_progress(100, "training", 0, asked):
        pass
    assert "[red]mine[/] [/x]" in last_frame(terminal)[-1]


def test_the_table_is_made_at_the_beginning_once_a_second_and_at_the_end(terminal, clock):
    asked = Asked()
    with redirect_stderr(terminal), show_progress(100, "training", 0, asked) as bar:
        assert asked.times == 1
        for step in range(30):
            clock.now = 100.0 + step / 10
            bar.at("dfa", step)
        assert asked.times == 3
    assert asked.times == 4


def test_a_table_that_takes_long_is_made_seldom(terminal, clock):
    asked = Asked(clock, takes=0.1)
    with redirect_stderr(terminal), show_progress(1000, "training", 0, asked) as bar:
        began, looks = clock.now, 0
        while clock.now < began + 200:
            clock.now += 0.5
            looks += 1
            bar.at("dfa", looks)
        spent = 0.1 * (asked.times - 1)
    assert looks > 300
    assert 0 < spent / (clock.now - began) < 0.005


def test_what_came_last_is_shown_also_where_it_ends_with_an_error(terminal, clock):
    asked = Asked()

    def fail() -> None:
        with redirect_stderr(terminal), show_progress(100, "training", 0, asked):
            asked.rules = [replace(DFA, finished=2)]
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert " 2/6 " in last_frame(terminal)[-1]


# A study


def trained_in(terminal: Terminal, *arguments: Any) -> tuple[str, list[str]]:
    """Standard output, and what stays on the screen, of a command that is right."""
    out = io.StringIO()
    with redirect_stdout(out), redirect_stderr(terminal), own_logging():
        assert main(["ladder", *SMALL, "--no-twins", *map(str, arguments)]) == 0
    return out.getvalue(), last_frame(terminal)


def test_a_study_shows_its_rules_on_standard_error_alone(terminal, tmp_path):
    arguments = ("--rules", "bp", "dfa", "--seeds", 1, "--k", 0, 2, "--out", tmp_path / "study")
    out, frame = trained_in(terminal, *arguments, "--json")
    ladder = json.loads(out)
    bar, _, _, bp, dfa = frame
    assert "100%" in bar
    for row, rule in ((bp, "bp"), (dfa, "dfa")):
        frozen, full = (100 * rung["mean"] for rung in ladder["rules"][rule])
        assert row.split() == [rule, "2/2", "1/1", f"{full:.1f}", f"{frozen:.1f}", "none"]


def test_a_rule_that_was_done_before_is_shown_beside_the_others(terminal, tmp_path):
    common = ("--seeds", 1, "--k", 2, "--out", tmp_path / "study")
    trained_in(terminal, "--rules", "bp", *common)
    _, frame = trained_in(terminal, "--rules", "dfa", *common)
    assert [row.split()[:2] for row in frame[-2:]] == [["bp", "1/1"], ["dfa", "1/1"]]
