"""A class of a notebook becomes a file that any process can import and train."""

from __future__ import annotations

import linecache
import subprocess
import sys
from pathlib import Path

import pytest
from cli.commands import SMALL, run
from user_code.notebooks import CELLS, notebook, run_script

from depthgauge.errors import UserError
from depthgauge.registry import RULES
from depthgauge.user_code.standalone import standalone_source

RULE = "from depthgauge.rules.dfa import DFA\n"
FIRST = RULE + "class Mine(DFA):\n    name = 'mine'\n    def more(self):\n        return {}\n"


def train(reference: str, folder: Path) -> None:
    """One epoch by the command line, in a process of its own."""
    command = [sys.executable, "-m", "depthgauge.cli.main", "ladder", *SMALL, "--rules", reference]
    done = subprocess.run(
        [*command, "--seeds", "1", "--k", "0", "2", "--out", str(folder / "study")],
        capture_output=True,
        text=True,
        cwd="/",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "my_rule" in done.stdout


def refusal(value: object) -> str:
    with pytest.raises(UserError) as caught:
        standalone_source(value)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.slow
def test_a_rule_of_a_notebook_is_trained_from_its_saved_file(tmp_path):
    with notebook(*CELLS) as names:
        reference = RULES.reference(names["MyRule"], tmp_path / "sources")
        source = standalone_source(names["MyRule"])
    rule_class, identity = RULES.find(reference)
    assert identity == f"{source.checksum}:MyRule"
    assert list(rule_class.Options.model_fields) == ["normalise", "epsilon", "shared"]
    train(reference, tmp_path)


def test_a_rule_of_the_running_script_is_the_same_file(tmp_path):
    with notebook(*CELLS) as names:
        in_notebook = standalone_source(names["MyRule"])
    code = "\n".join(CELLS) + (
        "from pathlib import Path\nfrom depthgauge.registry import RULES\n"
        "print(RULES.reference(MyRule, Path('sources').absolute()))\n"
    )
    done = run_script(tmp_path / "script.py", code)
    assert done.returncode == 0, done.stderr
    path, _, name = done.stdout.strip().rpartition(":")
    assert (Path(path).read_text(), name) == (in_notebook.text, "MyRule")


def test_what_is_used_comes_along_and_nothing_else():
    with notebook(*CELLS, "unused = object()", "import json") as names:
        lines = standalone_source(names["MyRule"]).text.splitlines()
    assert "import numpy as np" in lines
    assert "import torch.nn.functional as F" in lines
    assert "from torch import matmul" in lines
    assert "GAIN = 0.5" in lines
    definitions = [line.split("(")[0] for line in lines if line.startswith(("class", "def"))]
    assert definitions == ["class MyOptions", "def signed", "def scaled", "class MyRule"]
    assert not any("json" in line or "unused" in line for line in lines)


def test_the_file_depends_on_what_is_used_alone(tmp_path):
    with notebook(*CELLS) as names:
        first = standalone_source(names["MyRule"])
        again = standalone_source(names["MyRule"])
    with notebook("x = 1", *CELLS, "x = 2") as names:
        elsewhere = standalone_source(names["MyRule"])
    with notebook(*CELLS, "GAIN = 0.25") as names:
        changed = standalone_source(names["MyRule"])
    assert first == again == elsewhere
    assert first.checksum != changed.checksum


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("np.ones(3)", "numpy.ndarray"),
        ("np.float64(3)", "numpy.float64"),
        ("lambda x: x", "builtins.function"),
        ("(1, np.ones(3))", "builtins.tuple"),
        ("MyOptions()", "MyOptions"),
    ],
)
def test_a_name_that_cannot_come_along_is_refused(value, kind):
    cells = (*CELLS[:2], f"thing = {value}", FIRST.replace("{}", "thing"))
    with notebook(*cells) as names:
        told = refusal(names["Mine"])
    assert told.startswith("Mine uses thing, ")
    assert kind in told
    assert told.endswith("give path/to/file.py:Mine")


def test_a_name_that_is_not_defined_is_refused():
    with notebook(FIRST.replace("{}", "nowhere")) as names:
        assert refusal(names["Mine"]) == (
            "Mine uses nowhere, which is not defined; define nowhere or import it"
        )


def test_a_class_without_source_is_refused():
    names: dict[str, type] = {"__name__": "__main__"}
    exec(FIRST, names)
    assert refusal(names["Mine"]).startswith("cannot find the source of Mine")


def test_a_class_inside_a_function_is_refused():
    with notebook(
        RULE, "def make():\n    class Mine(DFA): pass\n    return Mine\nM = make()"
    ) as names:
        assert "inside a function" in refusal(names["M"])


def test_a_class_whose_base_was_run_again_is_refused():
    later = "class Other(Mine):\n    def extra(self): return 1\n"
    with notebook(FIRST, later, FIRST) as names:
        assert "run the cell of Other once more" in refusal(names["Other"])


def test_the_newest_cell_of_a_class_without_methods_counts():
    cell = RULE + "class Mine(DFA):\n    name = 'mine'\n    summary = '{}'\n"
    with notebook(cell.format("old"), cell.format("new"), cell.format("old")) as names:
        assert "summary = 'old'" in standalone_source(names["Mine"]).text


def test_cells_that_only_linecache_knows():
    name = "<ipython-input-1-abc>"
    linecache.cache[name] = (len(FIRST), None, FIRST.splitlines(keepends=True), name)
    names: dict[str, type] = {"__name__": "__main__"}
    exec(compile(FIRST, name, "exec"), names)
    assert standalone_source(names["Mine"]).text.endswith(FIRST.removeprefix(RULE))


HARD = '''
from __future__ import annotations
import functools
import xml
import xml.dom.minidom
from typing import TYPE_CHECKING, Literal
from dataclasses import dataclass, field as place
if TYPE_CHECKING:
    from elsewhere import Later

@dataclass
class Pair:
    left: Literal["a", "b"] = "a"
    right: list = place(default_factory=list)

def doubled(function):
    @functools.wraps(function)
    def inner(*values):
        return 2 * function(*values)
    return inner

@functools.cache
@doubled
def count(n: int) -> Later:
    return n if n < 2 else count(n - 1)

Alias = Pair

class Thing:
    size = count(3)
    def parse(self, text: Later = "<a/>", *, make=lambda: [Alias(right=[i]) for i in range(2)]):
        return xml.dom.minidom.parseString(text), make(), super().__repr__()
'''  # fmt: skip


def test_decorators_defaults_annotations_aliases_and_submodules_in_a_fresh_process(tmp_path):
    with notebook(HARD) as names:
        path, _, name = standalone_source(names["Thing"]).save(tmp_path).rpartition(":")
    code = f"import runpy; t = runpy.run_path({path!r})['{name}']; print(t.size, t().parse()[1])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    pairs = "[Pair(left='a', right=[0]), Pair(left='a', right=[1])]"
    assert done.stdout.strip() == f"8 {pairs}"


def test_a_handed_over_class_with_a_name_or_a_file_keeps_it(tmp_path):
    from checks.sparse_dfa import SparseDFA  # noqa: PLC0415

    from depthgauge.rules.dfa import DFA  # noqa: PLC0415

    assert RULES.reference(DFA, tmp_path) == "dfa"
    reference = RULES.reference(SparseDFA, tmp_path)
    assert reference.endswith("tests/checks/sparse_dfa.py:SparseDFA")
    assert run("check-rule", reference).status == 0
    assert list(tmp_path.iterdir()) == []


def test_what_is_neither_class_nor_function_is_refused(tmp_path):
    with pytest.raises(UserError, match="3 is no rule"):
        RULES.reference(3, tmp_path)
