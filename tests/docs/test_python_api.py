"""docs/python-api.md has every public name and option, and what it shows works."""

from __future__ import annotations

import ast
import inspect
import os
import re
import shutil
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import torch

import depthgauge as dg
from depthgauge.nets.residual_mlp import ResidualMLP

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "python-api.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^### `(\w+)`\n(.*?)(?=^##|\Z)", PAGE, re.DOTALL | re.MULTILINE))
TRAINED = {"audit", "ladder", "plan", "StudyPlan", "reproduce", "Reproduction", "identity"}
TRAINED |= {"IdentityResult", "PublishedComparison"}
NEEDS_MORE = {"resume", "retry", "null", "NullReading"}
"""Their examples train, or need checkpoints: those are tried where commands are."""


def example(name: str) -> str:
    (code,) = re.findall(r"```python\n(.*?)```", SECTIONS[name], re.DOTALL)
    return code


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The names that the examples take as given."""
    folder = tmp_path_factory.mktemp("study") / "embedded"
    shutil.copytree(ROOT / "tests" / "golden" / "embedded", folder)
    x, y = torch.randn(64, 6), torch.arange(64) % 3
    return {
        "dg": dg,
        "torch": torch,
        "folder": folder,
        "study": dg.load(folder),
        "model": ResidualMLP(6, 8, 3, 2),
        "batches": [(x, y)] * 8,
        "readings": [{"growth": 1.2, "depth_gain": 0.2}],
        **{"x_train": x, "y_train": y, "x_test": x, "y_test": y},
    }


def test_every_public_name_has_a_section_and_no_other() -> None:
    assert sorted(SECTIONS) == sorted(dg.__all__)


def test_every_option_of_a_study_is_in_the_table() -> None:
    named = re.findall(r"^\| `(\w+)` \|", PAGE.partition("### ")[0], re.MULTILINE)
    assert named == list(dg.StudyConfig.model_fields)


@pytest.mark.parametrize("name", ["diagnose", "judge", "used_depth", "watch"])
def test_every_keyword_of_a_function_is_named_in_its_section(name: str) -> None:
    known = inspect.signature(getattr(dg, name)).parameters.values()
    keywords = [one.name for one in known if one.default is not one.empty]
    assert keywords
    assert [one for one in keywords if f"`{one}`" not in SECTIONS[name]] == []


@pytest.mark.parametrize("name", sorted(TRAINED))
def test_an_example_that_trains_asks_for_a_study_that_there_can_be(name: str) -> None:
    (call,) = [
        node
        for node in ast.walk(ast.parse(example(name)))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in {f"dg.{one}" for one in TRAINED}
    ]
    values = {key.arg: key.value for key in call.keywords}
    given = {name: ast.literal_eval(value) for name, value in values.items() if name != "task"}
    dg.StudyConfig(**given)


@pytest.mark.parametrize("name", sorted(set(SECTIONS) - TRAINED - NEEDS_MORE))
def test_an_example_runs(name: str, shown: dict[str, Any], tmp_path: Path) -> None:
    before = Path.cwd()
    os.chdir(tmp_path)
    try:
        exec(compile(example(name), name, "exec"), dict(shown))
    finally:
        os.chdir(before)


def test_an_attribute_that_a_type_is_said_to_have_is_there(shown: dict[str, Any]) -> None:
    study: dg.StudyResult = shown["study"]
    rule = study["bp"]
    network, run = rule.networks[0], study.runs[0]
    values = {
        "StudyResult": study,
        "RuleResult": rule,
        "NetworkResult": network,
        "RunResult": run,
        "RunConfig": run.config,
        "Rung": rule.ladder[0],
        "Verdict": rule.verdict,
        "Finding": rule.findings[0],
        "UsedDepth": rule.used_depth,
        "RungFinding": rule.used_depth.rungs[0],
        "Reading": network.report.alignment,
        "Report": network.report,
        "Comparison": dg.compare([study]),
        "StudyPlan": dg.plan(rules=["bp"], seeds=1, width=8, depth=1, out=shown["folder"] / "new"),
        "Watch": dg.watch(shown["model"], log_dir=None),
    }
    for name, value in values.items():
        prose = re.sub(r"```.*?```", "", SECTIONS[name], flags=re.DOTALL)
        said = re.findall(r"`\.([a-z_]+)[(`]", prose)
        assert said
        assert [one for one in said if not hasattr(value, one)] == []


def test_report_can_be_called_also_after_the_room_of_that_name_was_imported(
    shown: dict[str, Any], tmp_path: Path
) -> None:
    import_module("depthgauge.report.plot")
    page = dg.report(shown["folder"], tmp_path / "page.html")
    assert "trustworthy" in page.read_text(encoding="utf-8")


def test_a_configuration_goes_with_a_class(tmp_path: Path) -> None:
    shared = dg.StudyConfig(seeds=2, width=8, depth=1, epochs=1, out=str(tmp_path / "study"))
    planned = dg.plan(shared, rules=["bp", Mine], floors=False)
    assert {run.label for run in planned.runs} == {"bp", "mine"}
    assert len(planned.runs) == len({"bp", "mine"}) * len([0, 1]) * 2


class Mine(dg.Rule):
    name, summary, needs = "mine", "the true gradient", frozenset({"gradient"})

    def credit(self, context: dg.Context) -> dg.Credit:
        embed, *blocks = context.gradient
        return dg.Credit(blocks=blocks, embed=embed)
