"""The estimate of how long a study takes, for the line before training begins."""

from __future__ import annotations

import pytest
from scheduling.small_grids import TASK, grid, plan, study_of

from depthgauge.config import NetConfig
from depthgauge.scheduling.time_estimate import seconds_to_train


@pytest.fixture
def seconds(tmp_path):
    """The estimate for a rule's cohorts."""

    def estimate(rule: str, runs: int = 2, processes: int = 1, width: int = 64) -> float:
        planned = grid(rule, net=NetConfig(width=width, blocks=2))
        cohorts = plan(study_of(planned, tmp_path / f"{rule}-{width}"), planned)
        return seconds_to_train([(cohort, runs, TASK) for cohort in cohorts], processes, 1)

    return estimate


def test_twice_the_runs_take_twice_as_long_and_two_processes_half(seconds):
    assert seconds("bp", runs=4) == pytest.approx(2 * seconds("bp"))
    assert seconds("bp", processes=2) == pytest.approx(seconds("bp") / 2)


def test_wide_networks_and_rules_that_train_networks_take_longer(seconds):
    assert seconds("bp", width=512) > seconds("bp")
    assert seconds("credit_bridge") == pytest.approx(3 * seconds("dfa"))
