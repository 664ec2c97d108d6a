"""The memory of a cohort is predicted from cohorts of one and two runs."""

from __future__ import annotations

import pytest
from studies.small_grids import TASK, grid

from depthgauge.config import NetConfig, Recipe
from depthgauge.studies.footprint import (
    COMPILER,
    KERNELS,
    SCATTERED,
    Footprint,
    Held,
    _held,
    count_footprint,
)
from depthgauge.studies.plan import PlannedRun

NET = NetConfig(width=24, blocks=3)


def seven(rule: str) -> list[PlannedRun]:
    """Of two seeds, every k, one of them twice."""
    return grid(rule, ks=range(4), seeds=(1, 2), net=NET).runs()[:7]


@pytest.mark.parametrize("rule", ["bp", "dfa", "fa"])
def test_seven_runs_hold_what_was_predicted(rule):
    runs = sorted(seven(rule), key=lambda run: -run.k)
    configs, rules = [run.config for run in runs], [run.choice.build() for run in runs]
    footprint = count_footprint(configs[0], rules[0], TASK, "cpu", "cohort")
    counted = _held(configs, rules, TASK, "cpu", "cohort")
    for phase, true in zip(footprint.phases, counted, strict=True):
        assert phase.bytes_of(2, [run.k for run in runs]) == pytest.approx(true, rel=0.05)


def test_frozen_blocks_have_neither_gradients_nor_moments():
    """Three numbers for each weight of a block that is not trained, beside the weight itself."""
    (run, *_) = seven("bp")
    footprint = count_footprint(run.config, run.choice.build(), TASK, "cpu", "cohort")
    block = 2 * 24 * 24 + 4 * 24  # two matrices, their biases, LayerNorm
    step = footprint.phases[-1]
    assert step.block == pytest.approx(3 * 4 * block, rel=0.2)


def test_double_precision_takes_twice_the_memory():
    run = seven("bp")[0]
    single, double = (
        count_footprint(
            run.config.model_copy(update={"recipe": Recipe(batch_size=36, dtype=dtype)}),
            run.choice.build(),
            TASK,
            "cpu",
            "cohort",
        ).phases[-1]
        for dtype in ("float32", "float64")
    )
    assert double.frozen == pytest.approx(2 * single.frozen, rel=0.02)


def test_a_process_takes_what_its_hungriest_phase_holds_and_libraries():
    many, wide = Held(0, 0, 10, 0), Held(25, 5, 1, 2)
    phases = (many, wide)
    assert wide.bytes_of(2, [4, 0, 1]) == 25 + 2 * 5 + 3 + 2 * 5
    assert Footprint(phases).bytes_of(1, [0]) == KERNELS + SCATTERED * 31
    assert Footprint(phases).bytes_of(1, [0] * 9) == KERNELS + SCATTERED * 90
    beside = Footprint(phases, compiler=True).bytes_of(1, [0]) - Footprint(phases).bytes_of(1, [0])
    assert beside == pytest.approx(COMPILER)


@pytest.mark.parametrize(("rule", "compiler"), [("dfa", False), ("fa", True)])
def test_rules_that_differentiate_a_part_of_the_network_load_the_compiler(rule, compiler):
    """Whatever this process has loaded before."""
    run = seven(rule)[0]
    counted = count_footprint(run.config, run.choice.build(), TASK, "cpu", "cohort")
    assert counted.compiler is compiler
