"""Find out whether a rule's results depend on random numbers that no seed of a run determines."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import numpy as np
import torch
from torch import Tensor

from depthgauge.checks.observed_batch import difference


@contextmanager
def global_seed(seed: int) -> Iterator[None]:
    """Seed the global random numbers of torch, NumPy and Python; restore their state afterwards."""
    python, arrays = random.getstate(), np.random.get_state()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        np.random.seed(seed)
        random.seed(seed)
        try:
            yield
        finally:
            random.setstate(python)
            np.random.set_state(arrays)


def _global_states() -> dict[str, object]:
    return {
        "torch": torch.get_rng_state().numpy().tobytes(),
        "NumPy": np.random.get_state()[1].tobytes(),  # type: ignore[index]
        "Python": random.getstate(),
    }


def depends_on_chance(ask: Callable[[], Mapping[str, Tensor]]) -> str | None:
    """Return how an answer depends on chance, as the end of a sentence; None if it does not."""
    answers, states = [], []
    for seed in (1, 1, 2):
        with global_seed(seed):
            answers.append(ask())
            states.append(_global_states())
    apart = difference(answers[0], answers[1])
    if apart is not None:
        return (
            f"returns another result for the same input the second time ({apart}): it keeps "
            "something outside the feedback from call to call, or uses a generator without a seed"
        )
    apart = difference(answers[0], answers[2])
    if apart is not None:
        return f"depends on the global random state ({apart}): its randomness is not seeded"
    reseeded = [name for name in states[0] if states[0][name] == states[2][name]]
    if reseeded:
        return f"reseeds the global random numbers of {', '.join(reseeded)}"
    return None
