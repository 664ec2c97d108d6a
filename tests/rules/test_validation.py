"""What a rule class must declare: one clear sentence for each thing that is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from depthgauge.errors import UserError
from depthgauge.rules.choice import choose_rule

FILE = """
import sys
from pydantic import BaseModel, Field
from depthgauge.rules.contract import Rule, RuleOptions

class Raising(RuleOptions):
    size: int = Field(default_factory=lambda: 1 // 0)

class Plain(BaseModel):
    size: int = 1

class Mine(Rule):
    name = "mine"
    summary = "does nothing"
    {line}

    def credit(self, context):
        return None
"""


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("needs = ['error']", "frozenset({'error'})"),
        ("needs = 'error'", "frozenset({'error'})"),
        ("needs = frozenset({'weights'})", "'weights', which does not exist"),
        ("needs = frozenset({'weights', 3})", "which does not exist"),
        ("Options = None", "subclass of depthgauge.rules.contract.RuleOptions"),
        ("Options = Plain", "subclass of depthgauge.rules.contract.RuleOptions"),
        ("Options = Raising", "built without options (ZeroDivisionError"),
        ("name = ''", "is called ''"),
        ("name = 'a[b]'", "is called 'a[b]'"),
        ("name = 'two words'", "is called 'two words'"),
        ("name = 'bp'", "which is taken"),
        ("name = 'drtp'", "which is taken"),
        ("summary = 3", "has no `summary`; set it to a string"),
        ("end_to_end = True", "`end_to_end`, which skips"),
        ("sys.exit(3)", "cannot be imported: SystemExit"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(tmp_path: Path, line: str, words: str):
    path = tmp_path / "mine.py"
    path.write_text(FILE.format(line=line))
    with pytest.raises(UserError) as caught:
        choose_rule(f"{path}:Mine")
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_with_nothing_wrong_it_is_taken(tmp_path: Path):
    path = tmp_path / "mine.py"
    path.write_text(FILE.format(line="needs = frozenset({'error'})"))
    assert choose_rule(f"{path}:Mine").label == "mine"
