"""The feature checklist: made from README.md and `--help`, ticks kept, losses shown."""

from __future__ import annotations

import argparse
import runpy
from pathlib import Path

from depthgauge.cli.main import build_parser

DOCS = Path(__file__).resolve().parents[2] / "docs"
SCRIPT = runpy.run_path(str(DOCS / "make_checklist.py"))


def test_sentences_bullets_and_lines_of_code_are_features() -> None:
    text = (
        "# Title\n\nIt gauges\ndepth. It prints.\n\n```\ngauge all  # of it\n```\n\n- one\n- two\n"
    )
    assert SCRIPT["readme_features"](text) == [
        *("It gauges depth.", "It prints.", "`` gauge all  # of it ``", "one", "two")
    ]


def test_commands_and_options_are_features() -> None:
    parser = argparse.ArgumentParser(prog="gauge", description="Gauges.")
    inner = parser.add_subparsers().add_parser("deep", help="goes deep")
    inner.add_argument("--k", type=int, default=3, help="blocks (%(default)s)")
    assert dict(SCRIPT["commands"](parser)) == {
        "gauge": ["`gauge`: Gauges."],
        "gauge deep": ["`gauge deep`: goes deep", "`gauge deep` `--k K`: blocks (3)"],
    }


def test_ticks_stay_and_what_is_lost_is_shown() -> None:
    first = SCRIPT["checklist"]({"README.md": ["one", "two", "three"]}, "")
    ticked = first.replace("[ ] one", "[x] one").replace("[ ] two", "[x] two")
    again = SCRIPT["checklist"]({"README.md": ["three", "one"]}, ticked)
    assert again.endswith(
        "## README.md\n\n- [ ] three\n- [x] one\n\n## No longer there\n\n- [x] two\n"
    )
    assert SCRIPT["checklist"]({"README.md": ["three", "one"]}, again) == again


def test_words_after_a_dash_stay_with_their_line() -> None:
    first = SCRIPT["checklist"]({"README.md": ["one", "two"]}, "")
    noted = first.replace("[ ] one", "[x] one — dry run").replace("two", "two — lost: idle")
    again = SCRIPT["checklist"]({"README.md": ["one"]}, noted)
    assert again.endswith("- [x] one — dry run\n\n## No longer there\n\n- [ ] two — lost: idle\n")
    assert SCRIPT["checklist"]({"README.md": ["one"]}, again) == again


def test_the_committed_list_has_every_command() -> None:
    headings = (DOCS / "feature-checklist.md").read_text(encoding="utf-8").splitlines()
    assert [
        name for name, _ in SCRIPT["commands"](build_parser()) if f"## {name}" not in headings
    ] == []
