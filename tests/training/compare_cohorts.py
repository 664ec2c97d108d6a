"""Compare two cohorts of the same runs, trained in different ways."""

from __future__ import annotations

import torch

from depthgauge.training.trainee import Trainee


def assert_alike(one: Trainee, other: Trainee, tolerance: float) -> None:
    """Compare parameters and feedback of every run, on whatever devices they are."""
    for own, others in zip(one.tensors(), other.tensors(), strict=True):
        pairs = [(own.parameters, others.parameters), (own.feedback, others.feedback)]
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
