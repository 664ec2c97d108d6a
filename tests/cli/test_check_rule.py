"""`depthgauge check-rule`: one line for each check, and an exit status."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli.commands import assert_bad_input, run

from depthgauge.checks.check_rule import STAGES

CHECKS = [check.what for stage in STAGES for check in stage]
BROKEN = Path(__file__).parent.parent / "checks" / "broken_rules.py"

TALKATIVE = """
from depthgauge.rules.dfa import DFA

print("on import")

class Talkative(DFA):
    name = "talkative"

    def credit(self, context):
        print("when asked")
        return super().credit(context)
"""


def test_a_sound_rule_has_a_line_for_each_check_and_status_0():
    done = run("check-rule", "dfa[normalise=batch]")
    assert (done.status, done.err) == (0, "")
    assert done.out.splitlines() == [f"ok     {check}" for check in CHECKS]


def test_a_broken_rule_is_told_what_is_wrong_and_what_was_not_checked():
    done = run("check-rule", f"{BROKEN}:WrongShape")
    assert (done.status, done.err) == (1, "")
    lines = done.out.splitlines()
    assert len(lines) == len(CHECKS)
    assert [line.split()[0] for line in lines] == ["ok"] * 6 + ["WRONG"] + ["-"] * 14
    assert "(5, 4); give it the shape of context.states[0], (samples, d) = (5, 8)" in lines[6]
    assert "not checked" in lines[8]


def test_a_remark_is_printed_beside_ok():
    done = run("check-rule", f"{BROKEN}:DeclaresTooMuch")
    assert done.status == 0
    (line,) = [line for line in done.out.splitlines() if "blocks, gradient" in line]
    assert line.startswith("ok     the rule runs")


def test_json_is_one_list_of_checks():
    done = run("check-rule", f"{BROKEN}:Peeks", "--json")
    assert (done.status, done.err) == (1, "")
    assert [entry["check"] for entry in done.document] == CHECKS
    assert all(entry.keys() == {"check", "passed", "message"} for entry in done.document)
    (wrong,) = [entry for entry in done.document if entry["passed"] is False]
    assert "context.gradient" in wrong["message"]
    assert [entry["passed"] for entry in done.document] == [True] * 5 + [False] + [None] * 15


def test_what_a_rule_prints_does_not_disturb_the_document(tmp_path):
    (tmp_path / "talkative.py").write_text(TALKATIVE)
    done = run("check-rule", "talkative.py:Talkative", "--json")
    assert done.status == 0
    assert all(entry["passed"] for entry in done.document)
    assert "on import" in done.err
    assert "when asked" in done.err


def test_an_exception_in_the_rule_is_a_sentence_with_its_line(tmp_path):
    done = run("check-rule", f"{BROKEN}:Raises")
    number = 1 + BROKEN.read_text().splitlines().index(
        '        raise ZeroDivisionError("the author\\ndivided by zero")'
    )
    assert f"the author divided by zero (line {number} of its file)" in done.out
    assert "Traceback" not in done.out + done.err


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("dfo", ["dfo", "dfa", "file.py:Class"]),
        ("nowhere.py:Mine", ["nowhere.py", "Mine"]),
        (f"{BROKEN}:Absent", ["broken_rules.py", "Absent"]),
        ("dfa[depth=3]", ["depth", "normalise", "epsilon"]),
    ],
)
def test_a_rule_that_cannot_be_loaded_is_bad_input(rule, words):
    assert_bad_input(run("check-rule", rule), *words)


def test_a_rule_must_be_named():
    assert_bad_input(run("check-rule"), "RULE", "check-rule --help")
