"""A network that is read by every gauge as in an audit, beside a cohort that trains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from depthgauge.auditing.gauge_readings import NULL_DRAWS
from depthgauge.auditing.null import SAMPLES, calibrate_null, reason_missing
from depthgauge.auditing.trained_network import TrainedNetwork, evaluation_batches, first_samples
from depthgauge.diagnosis.credit_gauges import credit_gauges
from depthgauge.gauges.lesion import LesionGauge
from depthgauge.gauges.norms import BATCH_READ, BATCHES_READ
from depthgauge.gauges.numerics import NumericsGauge
from depthgauge.gauges.reading import Gauge
from depthgauge.gauges.reference import ReferenceGauge
from depthgauge.gauges.scale import ScaleGauge
from depthgauge.gauges.stability import StabilityGauge
from depthgauge.nets.stream_reader import StreamReader
from depthgauge.rules.choice import choose_rule
from depthgauge.rules.credit_function import rule_credit
from depthgauge.training.initial_run import initialise

from .cases import Case
from .engine import Engine
from .stopwatch import Stopwatch


class AuditedNetwork:
    """A cohort of one run after its first step, and a network like that of the run."""

    def __init__(self, case: Case, runs: int) -> None:
        self.case, self.engine, self.task = case, Engine(case, runs), case.task()
        self.engine.train(1)
        self.rule = choose_rule(case.rule).build()
        self.net, self.feedback = initialise(case.configs(runs)[0], self.task, self.rule)

    def train(self, steps: int) -> dict[str, float]:
        """Return the seconds of an epoch, from some steps, and of every gauge."""
        watch = Stopwatch()
        watch.timed("epoch", self.engine.train)(steps)
        watch.seconds["epoch"] *= self.case.epoch_steps / steps
        diagnostics: dict[str, Gauge] = {
            "D1 scale": ScaleGauge(),
            "D2 reference": ReferenceGauge(),
            "D2s stability": StabilityGauge(),
            "D2n numerics": NumericsGauge(),
            "lesion": LesionGauge(),
        }
        self._read(watch, "diagnostics", diagnostics, evaluation_batches(self.task, BATCHES_READ))
        x, y = first_samples(self.task, SAMPLES)
        batches = list(zip(torch.split(x, BATCH_READ), torch.split(y, BATCH_READ), strict=True))
        examined = credit_gauges(rule_credit(self.rule, self.feedback), "depthgauge")
        self._read(watch, "credit", examined, batches)
        trained = TrainedNetwork(self.net, self.rule, self.feedback, "")
        if reason_missing(trained) is None:
            watch.timed(f"null, {NULL_DRAWS} draws", calibrate_null)(trained, (x, y), NULL_DRAWS)
        return dict(watch.seconds)

    def _read(
        self,
        watch: Stopwatch,
        what: str,
        gauges: Mapping[str, Gauge],
        batches: Sequence[tuple[Tensor, Tensor]],
    ) -> None:
        """Read the batches with the gauges; time the shared forward and backward pass apart."""
        net = StreamReader(self.net)
        see = watch.timed(f"forward and backward for {what}", net.see)
        for batch in batches:
            seen = see(*batch)
            for name, gauge in gauges.items():
                watch.timed(name, gauge.see)(seen)
        for name, gauge in gauges.items():
            watch.timed(name, gauge.reading)()
