"""Compare two cohorts of the same runs, trained in different ways."""

from __future__ import annotations

import torch

from depthgauge.training.stacked_mlp.cohort import Cohort


def assert_alike(one: Cohort, other: Cohort, tolerance: float) -> None:
    """Compare parameters and feedback of every run, on whatever devices they are."""
    for run in range(len(one.configs)):
        pairs = [(one.net.state_of_run(run), other.net.state_of_run(run))]
        pairs += [(one.feedback[run], other.feedback[run])]
        for mine, theirs in pairs:
            assert mine.keys() == theirs.keys()
            for name in mine:
                torch.testing.assert_close(
                    mine[name],
                    theirs[name],
                    rtol=tolerance,
                    atol=tolerance,
                    check_device=False,
                    msg=name,
                )
