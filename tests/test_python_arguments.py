"""What Python hands over: classes, instances, tasks and arrays become options of a study."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from depthgauge.errors import UserError
from depthgauge.python_arguments import config_from
from depthgauge.rules.choice import choose_rule
from depthgauge.rules.dfa import DFA
from depthgauge.tasks.arrays import task_from_arrays
from depthgauge.tasks.registry import load_task


def arrays(samples: int = 40) -> tuple[np.ndarray[Any, Any], ...]:
    random = np.random.default_rng(1)
    x, y = random.normal(size=(samples, 5)).astype("float32"), np.arange(samples) % 3
    return x, y, x, y


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_names_alone_save_nothing(tmp_path):
    config, task = config_from({"rules": "dfa", "task": "digits", "out": tmp_path / "out"})
    assert (config.rules, config.task, task) == (["dfa"], "digits", None)
    assert config.out == str(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("form", [tuple, list, lambda a: task_from_arrays(list(a))])
def test_arrays_are_saved_where_workers_find_them(form, tmp_path):
    config, task = config_from({"task": form(arrays()), "out": "out"})
    assert task is not None
    assert Path(config.task).is_relative_to(tmp_path / "out")
    assert load_task(config.task).checksum == task.checksum


def test_the_same_arrays_lead_to_the_same_folder_and_others_to_another():
    first, again, other = (
        config_from({"task": arrays(samples)})[0].out for samples in (40, 40, 42)
    )
    assert first == again != other


def test_a_mapping_of_arrays_names_them():
    names = ("x_train", "y_train", "x_test", "y_test")
    by_name = config_from({"task": dict(zip(names, arrays(), strict=True))})[1]
    assert by_name is not None
    assert by_name.checksum == task_from_arrays(list(arrays())).checksum


def test_an_instance_keeps_its_options():
    rule = DFA(DFA.Options(normalise="batch"))
    config, _ = config_from({"rules": ["bp", rule], "task": "digits"})
    assert [choose_rule(text).label for text in config.rules] == ["bp", "dfa[normalise=batch]"]


def test_a_task_that_is_none_is_refused_in_a_sentence():
    for task, words in [
        (3, "task is int; give a name, a path, a Task, or the four arrays"),
        (arrays()[:3], "the four arrays"),
        (
            {"x_train": 1},
            "the task has no y_train; give the arrays x_train, y_train, x_test, y_test",
        ),
        ((arrays()[0], arrays()[1][:7], *arrays()[2:]), "40 samples"),
        ((arrays()[0] * np.nan, *arrays()[1:]), "not finite"),
        ((np.array([object()]), *arrays()[1:]), "x_train"),
        (("a", "b", "c", "d"), "x_train"),
        ((None,) * 4, "x_train"),
    ]:
        with pytest.raises(UserError, match=words) as refused:
            config_from({"task": task})
        assert "\n" not in str(refused.value)


def test_a_rule_that_is_none_is_refused_in_a_sentence():
    for rules in [[3], [int], [None], 3, [DFA, 3], int]:
        with pytest.raises(UserError, match="no rule") as refused:
            config_from({"rules": rules, "task": "digits"})
        assert "\n" not in str(refused.value)


def test_no_rules_at_all_are_refused():
    with pytest.raises(UserError, match="--rules: is empty"):
        config_from({"rules": []})


def test_an_unknown_option_is_refused_beside_arrays_too():
    with pytest.raises(UserError, match="there is no option seed;"):
        config_from({"task": arrays(), "seed": 3})
