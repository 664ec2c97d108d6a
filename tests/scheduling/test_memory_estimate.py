"""The memory estimate is not below what real processes hold, and not far above it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli.commands import start
from scheduling.small_jobs import prepare, write_rules

from depthgauge.config import NetConfig, Recipe
from depthgauge.rules.choice import choose_rule
from depthgauge.scheduling.memory_estimate import cohort_bytes, planned_bytes, process_bytes
from depthgauge.store.study_folder import StudyFolder
from depthgauge.tasks.registry import load_task

FEATURES, SAMPLES = 64, 640
MARGIN, LOOSE = 1.05, 1.8
"""The estimate is at least 1.05 times and at most 1.8 times what a process holds."""

SMALL = ("--width", "16", "--depth", "2", "--seeds", "1", "--k", "0", "2")
LARGE = ("--width", "512", "--depth", "4", "--seeds", "1", "2", "3")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    generator = np.random.default_rng(0)
    arrays = {
        "x_train": generator.standard_normal((SAMPLES, FEATURES), dtype=np.float32),
        "y_train": generator.integers(0, 10, SAMPLES),
        "x_test": generator.standard_normal((300, FEATURES), dtype=np.float32),
        "y_test": generator.integers(0, 10, 300),
    }
    path = tmp_path / "data.npz"
    np.savez(path, **arrays)
    return path


def slow(*rules: str) -> Iterator[Any]:
    return (pytest.param(rule, marks=pytest.mark.slow) for rule in rules)


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["bp", "credit_bridge", *slow("dfa", "ep")])
@pytest.mark.parametrize(
    ("size", "runs"), [(SMALL, 2), pytest.param(LARGE, 15, marks=pytest.mark.slow)]
)
def test_a_real_process_holds_no_more_than_the_estimate(tmp_path, data, rule, size, runs):
    folder = tmp_path / "study"
    typed = (
        "ladder",
        "--task",
        data,
        "--rules",
        rule,
        *size,
        "--no-twins",
        "--no-floors",
        "--epochs",
        "1",
        "--cohort",
        "15",
    )
    typed += ("--no-floors",)
    command = start("-m", "depthgauge.cli.main", *typed, "--out", folder, "--json")
    command.communicate(timeout=600)
    assert command.returncode == 0
    study = StudyFolder(folder)
    (cohort,) = study.plan_files.read().current
    assert len(cohort.runs) == runs
    result = next(study.all_runs()).result
    assert result is not None
    held = result["provenance"]["peak_memory_bytes"]
    assert MARGIN * held <= planned_bytes(cohort, load_task(str(data))) <= LOOSE * held


@pytest.mark.slow
@pytest.mark.parametrize("net", ["vit[patch=2]", "resnet"])
def test_a_real_process_of_a_network_that_is_not_stacked_holds_about_the_estimate(tmp_path, net):
    folder = tmp_path / "study"
    typed = ("ladder", "--task", "digits", "--net", net, "--width", 64, "--depth", 3, "--k", 3)
    typed += ("--rules", "dfa", "--seeds", 1, "--epochs", 1, "--batch-size", 512)
    command = start(
        "-m", "depthgauge.cli.main", *typed, "--no-twins", "--no-floors", "--out", folder
    )
    command.communicate(timeout=600)
    assert command.returncode == 0
    study = StudyFolder(folder)
    (cohort,) = study.plan_files.read().current
    held = next(study.all_runs()).result["provenance"]["peak_memory_bytes"]
    assert held <= planned_bytes(cohort, load_task("digits")) <= 2 * held


def test_it_grows_with_everything_that_takes_memory(data):
    task, net, recipe = load_task(str(data)), NetConfig(width=256, blocks=4), Recipe(epochs=1)
    rule = choose_rule("dfa").rule_class

    def held(net: NetConfig = net, recipe: Recipe = recipe, rule: str = "dfa", runs: int = 5):
        return process_bytes(net, recipe, choose_rule(rule).rule_class, task, runs)

    larger = (
        held(runs=6),
        held(net.model_copy(update={"width": 300})),
        held(net.model_copy(update={"blocks": 5})),
        held(net.model_copy(update={"hidden": 500})),
        held(recipe=recipe.model_copy(update={"batch_size": 512})),
        held(recipe=recipe.model_copy(update={"dtype": "float64"})),
        held(rule="fa"),
    )
    assert all(math.isfinite(one) and one > 1.01 * held() for one in larger)
    assert held(rule="credit_bridge") > held(rule="ep") == held(rule="fa")
    assert held(recipe=recipe.model_copy(update={"dtype": "bf16"})) == held()
    assert cohort_bytes(net, recipe, rule, task, 5) < held()


def test_a_rule_that_cannot_be_read_is_taken_for_one_of_the_largest(tmp_path):
    """Its worker says what is wrong with it; here it must not stop the others."""
    rules = write_rules(tmp_path)
    job = prepare(tmp_path / "study", f"{rules}:Works", "credit_bridge")
    plan = StudyFolder(job.folder).plan_files.read()
    works, bridge = (plan.cohorts[name] for name in job.cohorts)
    task = load_task(*plan.task_of(works))
    known = planned_bytes(works, task)
    rules.write_text("changed = True\n")
    assert known < planned_bytes(works, task) == planned_bytes(bridge, task)
