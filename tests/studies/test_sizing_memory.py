"""Cohorts fit into memory, and the memory that is expected is about what is taken."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from cli.commands import start
from studies.other_machines import DEEP, long_study, machine, sizes
from studies.small_grids import TASK, grid

from depthgauge.config import NetConfig, Recipe
from depthgauge.studies.partition import partition
from depthgauge.studies.plan import Grid
from depthgauge.studies.sizing import (
    ALONE,
    SPARED,
    Sizing,
    cohort_bytes,
    run_bytes,
    runs_that_fit,
    size_cohorts,
)


def memory_for(planned: Grid, runs: int, workers: int = 1) -> float:
    """What must be free for cohorts of so many runs side by side."""
    one = run_bytes(planned.net, planned.recipe, planned.task)
    return workers * (ALONE + (runs + 0.5) * one) / SPARED


@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize(
    ("fitting", "runs"), [(15, 15), (14, 8), (8, 8), (7, 5), (4, 4), (2, 2), (1, 1)]
)
def test_with_little_memory_cohorts_are_split(device, fitting, runs):
    planned = long_study(("dfa",))
    with machine(memory=memory_for(planned, fitting)):
        sizing = size_cohorts(planned, device, None)
    assert max(sizes(planned, sizing)) == runs
    assert sum(sizes(planned, sizing)) == 15


def test_several_processes_need_the_memory_several_times():
    planned = long_study()
    with machine(3, memory_for(planned, 4, workers=3)):
        assert size_cohorts(planned, "cpu", None) == Sizing(4, threads=1)
        assert size_cohorts(planned, "cpu", 3).runs > 4
        assert (runs_that_fit(planned, 3), runs_that_fit(planned, 10**6)) == (4, 1)


@pytest.mark.parametrize("memory", [0.0, 1.0, ALONE])
def test_a_cohort_has_one_run_however_little_memory_there_is(memory):
    planned = long_study()
    with machine(4, memory):
        sizing = size_cohorts(planned, "cpu", None)
    assert sizes(planned, sizing) == [1] * 45


def test_the_largest_of_the_networks_must_fit():
    net = NetConfig(width=64, blocks=4)
    plain, wide = (grid(rule, net=net) for rule in ("dfa", "dfa[wide_block]"))
    both = grid("dfa", "dfa[wide_block]", net=net)
    with machine(memory=1e9):
        fitting = [runs_that_fit(planned, 1) for planned in (plain, wide, both)]
    assert fitting[1] == fitting[2] != fitting[0]


def test_double_precision_takes_twice_the_memory():
    single, double = (run_bytes(DEEP, Recipe(dtype=d), TASK) for d in ("float32", "float64"))
    assert double == 2 * single


def test_the_memory_of_a_cohort_is_that_of_the_process_the_data_and_its_runs():
    short, long = partition(grid("dfa", seeds=(1,)).runs() + grid("bp", seeds=(1, 2)).runs())
    one = run_bytes(short.net, short.recipe, TASK)
    data = 4 * 12 * (len(TASK.train) + len(TASK.evaluation))
    assert cohort_bytes(short, TASK) == pytest.approx(ALONE + data + 3 * one, abs=1)
    assert cohort_bytes(long, TASK) == pytest.approx(ALONE + data + 6 * one, abs=1)


MEASURE = """
import json, re, sys
from pathlib import Path

import torch

from depthgauge.config import NetConfig, Recipe
from depthgauge.rules.choice import choose_rule
from depthgauge.studies.expected import expect
from depthgauge.studies.partition import partition
from depthgauge.studies.plan import Grid
from depthgauge.studies.sizing import run_bytes
from depthgauge.tasks.base import Split, Task

asked = json.loads(sys.argv[1])
net, recipe = NetConfig(**asked["net"]), Recipe(epochs=1)
train, held = (
    Split(torch.randn(n, asked["inputs"]), torch.arange(n) % 10) for n in (500, 1500)
)
task = Task("random", train, held, 10)
peaks = []
for runs in asked["runs"]:
    grid = Grid(task, net, recipe, [choose_rule(asked["rule"])], [net.blocks], range(runs))
    expect(partition(grid.runs()), task, "cpu")
    status = Path("/proc/self/status").read_text()
    peaks.append(1024 * int(re.search(r"VmHWM:\\s*(\\d+) kB", status)[1]))
print(json.dumps({"peaks": peaks, "predicted": run_bytes(net, recipe, task)}))
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux's /proc")
@pytest.mark.parametrize(
    ("rule", "net", "runs"),
    [
        ("bp", {"width": 256, "blocks": 4}, (3, 12)),
        ("dfa", {"width": 1024, "blocks": 1}, (1, 4)),
    ],
    ids=["narrow", "wide"],
)
def test_a_run_more_takes_about_the_memory_that_was_predicted(rule, net, runs):
    """In a process of its own, since a peak does not go back."""
    asked = json.dumps({"rule": rule, "net": net, "inputs": 300, "runs": runs})
    process = start("-c", MEASURE, asked, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, err = process.communicate(timeout=100)
    assert process.returncode == 0, err
    found = json.loads(out)
    few, many = found["peaks"]
    true = (many - few) / (runs[1] - runs[0])
    assert true / 1.6 < found["predicted"] < 1.6 * true
