"""How a ladder and an audit look in a terminal, and in one that can show little."""

from __future__ import annotations

import contextlib
import io

import pytest

from depthgauge.report.terminal import print_audit, print_ladder
from depthgauge.results.load import load


class Terminal(io.TextIOWrapper):
    """A terminal with an encoding."""

    def __init__(self, encoding: str) -> None:
        super().__init__(io.BytesIO(), encoding)

    def isatty(self) -> bool:
        return True

    def text(self) -> str:
        self.flush()
        self.seek(0)
        return self.read()


@pytest.fixture(autouse=True)
def colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    for name in ("NO_COLOR", "COLORTERM"):
        monkeypatch.delenv(name, raising=False)


def shown(print_study, study, encoding: str) -> str:
    with contextlib.redirect_stdout(Terminal(encoding)) as terminal:
        print_study(study)
    return terminal.text()


def test_a_ladder_shows_each_rule_as_a_curve(trained):
    study = load(trained)
    (row,) = (
        line.split()
        for line in shown(print_ladder, study, "utf-8").splitlines()
        if line.startswith("  bp ")
    )
    assert len(row[1]) == 3
    assert set(row[1]) <= set("▁▂▃▄▅▆▇█")


def test_a_terminal_that_cannot_show_blocks_gets_digits(trained):
    rows = [line.split() for line in shown(print_ladder, load(trained), "latin-1").splitlines()]
    (curve,) = (row[3] for row in rows if row[:2] == ["|", "bp"])
    assert len(curve) == 3
    assert curve.isdigit()


def test_verdicts_have_a_colour_and_a_sign_and_in_a_pipe_a_sign_alone(own_rules):
    study = load(own_rules.folder)
    assert "\x1b[1;31m✗ walk back\x1b[0m" in shown(print_audit, study, "utf-8")
    with contextlib.redirect_stdout(io.StringIO()) as pipe:
        print_audit(study)
    assert "\x1b" not in pipe.getvalue()
    assert "✗ walk back" in pipe.getvalue()


def test_an_audit_ends_with_few_lines_that_answer(audited):
    """Which rules train depth, how many blocks of how many, how sure: nothing else."""
    with contextlib.redirect_stdout(io.StringIO()) as pipe:
        print_audit(load(audited.folder))
    lines = pipe.getvalue().splitlines()
    assert len(lines) < 25
    assert lines[0] == "Which rules train the depth of the network? digits, 2 blocks, 2 seeds"
    header = next(line for line in lines if "used depth" in line)
    assert header.split("  ")[1].strip() == "rule"
    for rule in ("bp", "dfa"):
        assert sum(line.startswith(f"{rule} ") for line in lines) == 1
    assert "keeps its verdict" not in pipe.getvalue()


def test_everything_is_printed_where_it_is_asked_for(audited):
    with contextlib.redirect_stdout(io.StringIO()) as pipe:
        print_audit(load(audited.folder), verbose=True)
    for part in ("first fired", "Decision utility", "keeps its verdict"):
        assert part in pipe.getvalue()
