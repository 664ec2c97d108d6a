"""How a ladder and an audit look in a terminal."""

from __future__ import annotations

import contextlib
import io

import pytest
from report.studies import audited_study, make_run, make_study

from depthgauge.cli.audit import print_audit
from depthgauge.cli.ladder import print_ladder

CURVES = {"dfa": (0.25, 0.26, 0.25), "bp": (0.25, 0.5, 0.75)}
STUDY = make_study(
    *(
        make_run(label, k=k, accuracy=accuracy)
        for label, accuracies in CURVES.items()
        for k, accuracy in enumerate(accuracies)
    )
)


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


def row_of(text: str, rule: str) -> str:
    """The row of a table, which begins further right than a sentence does."""
    (row,) = (line for line in text.splitlines() if line.startswith(f"  {rule} "))
    return row


def test_a_ladder_shows_each_rule_as_a_curve():
    with contextlib.redirect_stdout(Terminal("utf-8")) as terminal:
        print_ladder(STUDY)
    text = terminal.text()
    assert row_of(text, "bp").split() == ["bp", "▁▄█", "25.0", "50.0", "75.0"]
    assert row_of(text, "dfa").split()[1] == "▁▁▁"


def test_a_terminal_that_cannot_show_blocks_gets_digits():
    with contextlib.redirect_stdout(Terminal("latin-1")) as terminal:
        print_ladder(STUDY)
    rows = [line.split() for line in terminal.text().splitlines()]
    assert ["|", "bp", "|", "037", "|", "25.0", "|", "50.0", "|", "75.0", "|"] in rows


def test_verdicts_have_a_colour_and_a_sign():
    with contextlib.redirect_stdout(Terminal("utf-8")) as terminal:
        print_audit(audited_study())
    text = terminal.text()
    shown = text[text.rindex("verdict over seeds") :]
    assert "\x1b[1;31m✗ walk back\x1b[0m (D1, D3)" in row_of(shown, "dfa")
    assert "\x1b[1;32m✓ trustworthy\x1b[0m" in row_of(shown, "bp")


def test_in_a_pipe_verdicts_have_their_sign_and_no_colour():
    with contextlib.redirect_stdout(io.StringIO()) as pipe:
        print_audit(audited_study())
    assert "\x1b" not in pipe.getvalue()
    assert "✗ walk back (D1, D3)" in pipe.getvalue()


def test_a_rule_that_looks_like_markup_is_shown_as_it_is():
    name = "[red]x[/]"
    with contextlib.redirect_stdout(io.StringIO()) as pipe:
        print_ladder(audited_study(name))
        print_audit(audited_study(name))
    assert sum(line.split()[:1] == [name] for line in pipe.getvalue().splitlines()) >= 2
