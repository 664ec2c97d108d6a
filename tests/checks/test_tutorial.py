"""What the tutorial shows is what there is: its rules work, its sample output is the real one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from depthgauge.checks.check_rule import STAGES, check_rule
from depthgauge.cli.new_rule import rule_text
from depthgauge.rules.choice import choose_rule

TUTORIAL = (Path(__file__).parents[2] / "docs" / "your-own-rule.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", TUTORIAL, re.DOTALL)


def example(class_name: str) -> str:
    (text,) = [text for text in EXAMPLES if f"class {class_name}(Rule)" in text]
    return text


def test_the_first_example_is_what_new_rule_writes():
    assert example("MyRule") == rule_text("my_rule", "MyRule")


@pytest.mark.parametrize("class_name", ["MyRule", "Synthetic"])
def test_a_rule_of_the_tutorial_passes_without_a_remark(class_name, tmp_path):
    (tmp_path / "rule.py").write_text(example(class_name), encoding="utf-8")
    outcomes = check_rule(choose_rule(f"{tmp_path / 'rule.py'}:{class_name}"))
    assert [outcome for outcome in outcomes if not outcome.passed or outcome.message] == []


def test_the_sample_output_has_every_check():
    shown = re.findall(r"^ok     (.*)$", TUTORIAL, re.MULTILINE)
    assert shown == [check.what for stage in STAGES for check in stage]


def test_the_broken_example_is_told_what_the_tutorial_says(tmp_path):
    forgetful = example("MyRule").replace(", generator=generator) * 2", ") * 2")
    assert forgetful != example("MyRule")
    (tmp_path / "rule.py").write_text(forgetful, encoding="utf-8")
    outcomes = check_rule(choose_rule(f"{tmp_path / 'rule.py'}:MyRule"))
    (wrong,) = [outcome for outcome in outcomes if outcome.passed is False]
    assert f"WRONG  {wrong.check}: {wrong.message}\n" in TUTORIAL
