"""Everything that has a name is found, and nothing is loaded before it is asked for."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from importlib.metadata import EntryPoint

import pytest
from cli.commands import SMALL, run

from depthgauge.errors import UserError
from depthgauge.gauges.scale import ScaleGauge
from depthgauge.registry import DIAGNOSTICS, GAUGES, LOGGERS, NETS, RULES, TASKS, file_of, in_file
from depthgauge.tasks.registry import find_task, load_task

KINDS = (RULES, NETS, TASKS, GAUGES, DIAGNOSTICS, LOGGERS)
TASK_FILE = '''
from depthgauge.tasks.base import Task
from depthgauge.tasks.registry import load_task

def fewer():
    """The digits, fewer of them."""
    return load_task("digits", 200)

def broken():
    return 1 / 0

def three():
    return 3
'''


@pytest.fixture
def task_file(tmp_path):
    path = tmp_path / "my_tasks.py"
    path.write_text(TASK_FILE)
    return path


@pytest.mark.parametrize(
    "module", ["depthgauge", "depthgauge.registry", "depthgauge.tasks.registry"]
)
def test_an_import_does_not_load_torch(module):
    code = f"import sys, {module}; print({{'torch', 'numpy', 'pydantic'}} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_every_name_is_found_and_told_what_there_is_when_it_is_not():
    for kind in KINDS:
        for name in kind.built_in:
            found, source = kind.find(name)
            assert found is not None
            assert source == ""
        with pytest.raises(UserError, match=f"there is no {kind.noun} called 'nothing'") as caught:
            kind.find("nothing")
        assert all(name in str(caught.value) for name in kind.names)


def test_a_summary_is_the_one_of_what_is_found():
    for kind in [RULES, NETS, TASKS]:
        for name in kind.built_in:
            assert kind.summary(name) == kind.find(name)[0].summary != ""


def test_gauges_are_found_by_name():
    assert GAUGES.find("scale") == (ScaleGauge, "")


def test_a_package_registers_by_entry_points(tmp_path):
    """The source of an installed rule is hashed into run ids: it may not change."""
    about = tmp_path / "theirs-1.2.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.2\n")
    (about / "entry_points.txt").write_text(
        "[depthgauge.rules]\ntheirs = depthgauge.rules.dfa:DFA\nbp = no:Such\n"
        "[depthgauge.loggers]\nconsole = builtins:print\n"
    )
    code = (
        "from depthgauge.registry import LOGGERS, RULES\n"
        "from depthgauge.rules.bp import BP\n"
        "print(RULES.find('theirs')[1], LOGGERS.find('console'), RULES.find('bp')[0] is BP)"
    )
    path = os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH"))))
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": path},
    )
    console = "(<built-in function print>, 'theirs==1.2:builtins:print')"
    assert done.stdout.strip() == f"theirs==1.2:depthgauge.rules.dfa:DFA {console} True"


def test_an_installed_class_that_is_handed_over_keeps_its_name(tmp_path, monkeypatch):
    point = EntryPoint("sparse", "checks.sparse_dfa:SparseDFA", RULES.group)
    monkeypatch.setitem(RULES.installed, "sparse", point)
    assert RULES.reference(RULES.find("sparse")[0], tmp_path) == "sparse"


def test_a_file_is_imported_once_and_its_source_is_its_content(tmp_path):
    """The source of a rule from a file is hashed into run ids: it may not change."""
    path, copy = tmp_path / "mine.py", tmp_path / "copy.py"
    path.write_text("from depthgauge.rules.dfa import DFA\nclass Mine(DFA):\n    name = 'mine'\n")
    copy.write_bytes(path.read_bytes())
    checksum = hashlib.sha256(path.read_bytes()).hexdigest()
    found, source = RULES.find(f"{path}:Mine")
    assert source == f"{checksum}:Mine"
    assert found.__module__ == f"depthgauge_rule_{checksum[:16]}"
    assert RULES.find(f"{copy}:Mine")[0] is found


def test_a_rule_from_a_file_may_not_be_called_like_another(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text("from depthgauge.rules.dfa import DFA\nclass Mine(DFA): pass\n")
    with pytest.raises(UserError, match="has the name dfa, which is taken"):
        RULES.find(f"{path}:Mine")


def test_the_file_of_a_reference_can_be_exchanged(tmp_path):
    assert file_of("dfa[normalise=batch]") is None
    assert str(file_of("there/mine.py:Mine[a=1]")) == "there/mine.py"
    assert in_file("there/mine.py:Mine[a=1]", tmp_path) == f"{tmp_path}:Mine[a=1]"


def test_a_class_that_is_not_a_network_of_the_package_is_refused(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text("from torch import nn\nclass Mine(nn.Module): pass\n")
    with pytest.raises(UserError, match="is not a network of the package; write a network of your"):
        NETS.find(f"{path}:Mine")


def test_a_function_in_a_file_is_a_task(task_file, tmp_path):
    reference = f"{task_file}:fewer"
    assert find_task(reference).summary == "The digits, fewer of them."
    assert load_task(reference).checksum == load_task("digits", 200).checksum
    options = [*SMALL[2:], "--rules", "bp", "--seeds", 1, "--k", 0, "--out", tmp_path / "study"]
    done = run("ladder", "--task", reference, *options)
    assert done.status == 0, done.err


def test_a_function_may_return_four_arrays_as_python_may_hand_them_over(tmp_path):
    path = tmp_path / "arrays.py"
    path.write_text(
        "import numpy as np\n"
        "x, y = np.arange(160.0).reshape(40, 4) / 160, np.arange(40) % 2\n"
        "def mine(): return x, y, x[:10], y[:10]\n"
        "def short(): return x, y, x\n"
        "def uneven(): return x, y[:5], x, y\n"
    )
    task = load_task(f"{path}:mine")
    assert (task.name, len(task.train), len(task.evaluation)) == ("mine", 40, 10)
    options = [*SMALL[2:], "--rules", "bp", "--seeds", 1, "--k", 0, "--out", tmp_path / "study"]
    done = run("ladder", "--task", f"{path}:mine", *options)
    assert done.status == 0, done.err
    for name, words in {"short": "four arrays", "uneven": "40 samples but y_train has 5"}.items():
        with pytest.raises(UserError, match=f"{name}: .*{words}"):
            load_task(f"{path}:{name}")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("broken", "cannot make its task: ZeroDivisionError"),
        ("three", "returns int; it must return a depthgauge.Task"),
        ("Task", "is not a task: it must be a function"),
        ("other", "has no class or function other"),
    ],
)
def test_a_function_that_gives_no_task_is_refused(task_file, name, words):
    with pytest.raises(UserError, match=words):
        load_task(f"{task_file}:{name}")
