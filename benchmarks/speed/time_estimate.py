"""An estimate of the time of every measurement, before it is made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .axes import Axis
from .cases import Case
from .growth import SHARE_OF_SECONDS
from .parts import steps_of
from .profile import STEPS
from .ratios import PAUSE
from .timed_cohort import READ
from .training import Training

OPERATIONS = {"state_bridge": 2.2, "credit_bridge": 3.0, "ep": 2.4}
"""The operations of rules as a multiple of backpropagation's; other rules have about as many."""

EFFICIENCY = 0.5
"""The speed of a cohort as a share of the peak."""

START = 2.0
"""The seconds until a process has its data."""

BUILT = 2e7
"""The weights that are drawn and placed per second."""

STORED = 3e8
"""The bytes of checkpoints that are written per second."""

READ_ONCE = 25.0
"""The seconds of reading all gauges of one network, most of them for ρ and the null."""


@dataclass(frozen=True)
class TimeEstimate:
    """Estimates seconds on a machine whose cores together make `peak` operations per second."""

    peak: float
    cores: int

    def ratios(self, case: Case, sizes: Sequence[int], rounds: int, seconds: float) -> float:
        """Estimate the ratios of one case."""
        turns = [seconds] * (3 + 2 * len(sizes))
        turns += [max(seconds, 2 * self._step(case, size)) for size in sizes]
        built = START * (3 + len(sizes)) + sum(self._built(case, size) for size in sizes)
        return built + sum(turns) + rounds * sum(turn + 2 * PAUSE for turn in turns)

    def profile(self, case: Case, runs: int, rounds: int) -> float:
        """Estimate the profile of one rule."""
        return START + self._built(case, runs) + rounds * (STEPS + 1) * self._step(case, runs)

    def parts(self, cases: Sequence[Case], runs: int, rounds: int) -> float:
        """Estimate the parts of one size of cohorts."""
        saved = 12 * cases[0].weights * runs / STORED
        read = self._worked(5 * cases[0].weights * runs * READ)
        steps = [steps_of(runs) * self._step(case, runs) for case in cases]
        built = [START + self._built(case, runs) for case in cases]
        return sum(built) + rounds * (sum(steps) + len(cases) * (read + saved))

    def growth(self, axis: Axis, rounds: int, seconds: float) -> float:
        """Estimate the growth along one axis."""
        cases = [axis.at(size) for size in axis.sizes]
        built = START * len(cases)
        if axis.contender is not Training:
            return built + (rounds + 1) * len(cases) * SHARE_OF_SECONDS * seconds
        steps = [
            case.epochs * case.epoch_steps * self._step(case, axis.runs(size))
            for case, size in zip(cases, axis.sizes, strict=True)
        ]
        return built + rounds * sum(steps)

    def gauges(self, cases: Sequence[Case], rounds: int) -> float:
        """Estimate the gauges of all rules."""
        return len(cases) * (START + rounds * READ_ONCE)

    def memory(self, case: Case, runs: int) -> float:
        """Estimate the memory of one cohort."""
        return 3 * START + self._built(case, runs) + 10 * self._step(case, runs)

    def _step(self, case: Case, runs: int) -> float:
        operations = 5 * OPERATIONS.get(case.rule, 1.0)
        return self._worked(operations * case.weights * case.batch * runs)

    def _worked(self, flops: float) -> float:
        """Return the seconds of so many operations with one thread."""
        return flops * self.cores / (EFFICIENCY * self.peak)

    def _built(self, case: Case, runs: int) -> float:
        return case.weights * runs / BUILT
