"""Tasks by name: found, loaded late, and explained when there is no such thing."""

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from depthgauge.errors import UserError
from depthgauge.registry import TASKS
from depthgauge.tasks.registry import find_task, load_task


def test_every_task_has_a_one_line_summary() -> None:
    assert list(TASKS.built_in) == [
        "teacher",
        "digits",
        "pointers",
        "cifar10",
        "cifar100",
        "shakespeare",
    ]
    for name in TASKS.built_in:
        assert find_task(name).summary == TASKS.summary(name)
        assert "\n" not in TASKS.summary(name)


@pytest.mark.parametrize("name", ["teacher", "digits", "pointers"])
def test_bundled_tasks_load_under_their_name(name: str) -> None:
    task = load_task(name)
    assert (task.name, task.evaluated_on) == (name, "test")


@pytest.mark.parametrize("name", ["cifar10", "cifar100"])
def test_cifar_is_handed_to_its_own_loader(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    loaders = SimpleNamespace(load_cifar10=lambda: "cifar10", load_cifar100=lambda: "cifar100")
    monkeypatch.setitem(sys.modules, "depthgauge.tasks.cifar", loaders)
    assert load_task(name) == name


def test_a_path_that_ends_in_npz_is_a_task(tmp_path: Path) -> None:
    path = tmp_path / "own.npz"
    x, y = np.zeros((4, 2)), np.array([0, 1, 0, 1])
    np.savez(path, x_train=x, y_train=y, x_test=x, y_test=y)
    assert load_task(str(path)).name == "own"


def test_validation_replaces_the_test_set() -> None:
    whole, held = load_task("digits"), load_task("digits", validation=200)
    assert held.evaluated_on == "validation"
    assert len(held.evaluation) == 200
    assert len(held.train) == len(whole.train) - 200


def test_an_unknown_name_lists_the_known_ones() -> None:
    sentence = (
        "no task called 'mnist'; there are: cifar10, cifar100, digits, pointers, shakespeare, "
    )
    sentence += "teacher; your own"
    with pytest.raises(UserError, match=sentence):
        load_task("mnist")


def test_negative_validation() -> None:
    with pytest.raises(UserError, match="--validation -5 is negative"):
        load_task("teacher", validation=-5)


def test_listing_the_tasks_loads_none_of_them() -> None:
    code = (
        "import sys, depthgauge.tasks.registry\n"
        "late = {'teacher', 'digits', 'cifar', 'arrays'}\n"
        "print(sorted(n for n in late if f'depthgauge.tasks.{n}' in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
