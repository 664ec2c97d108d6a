"""Studies made by hand: runs, audits and ladders as objects, without files and without training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from diagnosis.examined_networks import shown
from gauges.small_networks import make_net

from depthgauge.auditing.conclusion import conclude
from depthgauge.auditing.gauge_readings import NetworkReport
from depthgauge.auditing.networks import NetworkUnderAudit
from depthgauge.config import (
    Intervention,
    NetConfig,
    Recipe,
    RuleConfig,
    RunConfig,
    SharedConfig,
    TaskConfig,
)
from depthgauge.controls import CONTROLS, control_in
from depthgauge.diagnosis.diagnose import diagnose
from depthgauge.diagnosis.report import Report
from depthgauge.diagnostics.used_depth import UsedDepth
from depthgauge.gauges.alignment import AlignmentReading
from depthgauge.gauges.depth import read_depth
from depthgauge.gauges.null import CalibratedAlignment, NullReading
from depthgauge.gauges.reading import Reading
from depthgauge.results.audit import Audit
from depthgauge.results.audit_parts import RuleVerdict, ShallowRule, Source
from depthgauge.results.floors import AboveLinear, Floors, LinearFloor
from depthgauge.results.ladder import Ladder, Rung
from depthgauge.results.run import RunResult, State
from depthgauge.results.spread import Spread
from depthgauge.results.study import StudyResult
from depthgauge.results.used_depth_of_runs import used_depths
from depthgauge.verdict.judge import judge
from depthgauge.verdict.thresholds import Thresholds

BLOCKS = 2
CHANCE = 0.125
COMMIT = "c0ffee" * 6
TASK = TaskConfig(name="digits", checksum="8e65" * 16)
NET = NetConfig(width=8, blocks=BLOCKS)
RECIPE = Recipe(epochs=2)
CONFIG = SharedConfig(task=TASK, net=NET, recipe=RECIPE)
Line = dict[str, Any]


@dataclass(frozen=True)
class RunInMemory(RunResult):
    """A run whose epochs are not in a file."""

    lines: Sequence[Line] = ()

    @property
    def epochs(self) -> Sequence[Line]:  # type: ignore[override]
        return self.lines


def make_line(
    epoch: int = 1, *, growth: float = 2.0, gradient: float = 0.1, blocks: int = BLOCKS, **more: Any
) -> Line:
    line = {
        "epoch": epoch,
        "accuracy": 0.1 * epoch,
        "h_norm": [1.0] * blocks + [growth],
        "g_norm": [0.3] * blocks + [gradient],
        "g_over_e": gradient,
        "diverged": False,
    }
    return line | more


def make_run(
    label: str = "dfa",
    seed: int = 1,
    *,
    k: int = BLOCKS,
    accuracy: float | None = 0.5,
    state: State | None = None,
    lines: Sequence[Line] | None = None,
    name: str | None = None,
    blocks: int | None = None,
    growth: float = 2.0,
    gradient: float = 0.1,
    commit: str | None = COMMIT,
    reason: str | None = None,
    swapped: Sequence[int] = (),
    **options: Any,
) -> RunInMemory:
    """Finished with that accuracy, or diverged without one, unless its state is given.

    The credit of `swapped` blocks is noise.
    """
    control = control_in(label)
    net = CONTROLS[control].net(NET) if control else NET
    net = net if blocks is None else net.model_copy(update={"blocks": blocks})
    state = state or ("diverged" if accuracy is None else "finished")
    if lines is None:
        read = {"growth": growth, "gradient": gradient, "blocks": net.blocks}
        begun = state in ("finished", "diverged")
        lines = [make_line(epoch, **read) for epoch in range(RECIPE.epochs + 1)] if begun else []
        if state == "diverged":
            lines = [*lines[:-1], lines[-1] | {"accuracy": None, "diverged": True}]
    provenance = {"version": "0.1.0", "commit": commit, "torch": "2.13.0", "device": "cpu"}
    return RunInMemory(
        config=RunConfig(
            task=TASK,
            net=net,
            rule=RuleConfig(name=name or label.partition("[")[0], label=label, options=options),
            recipe=RECIPE,
            k=k,
            seed=seed,
            intervention=Intervention(swapped=tuple(swapped)),
        ),
        label=label,
        state=state,
        folder=Path("runs"),
        accuracy=accuracy if state == "finished" else None,
        diverged_epoch=RECIPE.epochs if state == "diverged" else None,
        reason=reason,
        provenance=provenance if state in ("finished", "diverged", "failed") else {},
        lines=lines,
    )


def make_study(*runs: RunResult, audit: Audit | None = None, **more: Any) -> StudyResult:
    return replace(
        StudyResult("my_study", Path("my_study"), CONFIG, CHANCE, runs, audit, "cpu", 1), **more
    )


def make_pairs(label: str, gains: Sequence[float], **more: Any) -> list[RunInMemory]:
    """For each seed a run with frozen blocks at 30 %, and one that gains so much."""
    return [
        make_run(label, seed, k=k, accuracy=accuracy, **more)
        for seed, gain in enumerate(gains, start=1)
        for k, accuracy in ((0, 0.3), (BLOCKS, 0.3 + gain))
    ]


Rungs = Mapping[int, Sequence[float | None]]
"""Accuracies of seeds 1, 2, … by k; None is a run that diverged."""

CLIMB: Rungs = {0: (0.3, 0.3, 0.3), 1: (0.55, 0.551, 0.552), 2: (0.7, 0.701, 0.702)}
ON_NOISE: Rungs = {1: (0.33, 0.34, 0.341), 2: (0.56, 0.561, 0.563)}
"""Both blocks earn: each rung is above those before it, and above its swap twin."""


def make_rungs(
    label: str, rungs: Rungs, twins: Rungs | None = None, **more: Any
) -> list[RunResult]:
    """The runs of a ladder, and of the swap twins of its rungs: each adds one block."""
    added = [((), k, values) for k, values in rungs.items()]
    added += [((BLOCKS - k,), k, values) for k, values in (twins or {}).items()]
    return [
        make_run(label, seed, k=k, accuracy=accuracy, swapped=swapped, **more)
        for swapped, k, values in added
        for seed, accuracy in enumerate(values, start=1)
    ]


def trained_study(label: str = "dfa") -> StudyResult:
    """Backpropagation that uses its depth, and a rule that does not gain; no audit."""
    healthy = make_rungs("bp", CLIMB, ON_NOISE)
    return make_study(*healthy, *make_pairs(label, (-0.04, -0.041, -0.042), growth=700.0))


def audited_study(
    label: str = "dfa",
    *,
    alone: bool = False,
    readings: Mapping[str, Any] | None = None,
    **parts: Any,
) -> StudyResult:
    """The same two rules audited, Γ and its null with them; `alone`: without their runs.

    `readings` of the second rule's networks, and `parts` of the audit, may be others.
    """
    null = make_null(words=("absent", "specific"), word="specific")
    read: dict[str, Any] = {"gamma": (None, 0.25), "null": null} | dict(readings or {})
    runs = () if alone else trained_study(label).runs
    depths = used_depths(
        {one: [run for run in runs if run.label == one] for one in ("bp", label)}, CHANCE
    )
    parts = {"config": SharedConfig(task=TASK) if alone else CONFIG, "used_depths": depths} | parts
    audit = make_audit(
        make_network("bp", 1, 0.700, 0.3, gamma=(None, 1.0)),
        make_network("bp", 2, 0.702, 0.3, gamma=(None, 1.0)),
        make_network(label, 1, 0.26, 0.3, growth=700.0, stability=0.4, **read),
        make_network(label, 2, 0.261, 0.3, growth=710.0, **read),
        **parts,
    )
    if alone:
        return StudyResult("my_study", Path("my_study"), audit.config, CHANCE, (), audit)
    return make_study(*runs, audit=audit, config=audit.config)


# Audits


@cache
def some_report() -> Report:
    return diagnose(make_net(blocks=BLOCKS), shown())


def make_report(
    accuracy: float | None = 0.5,
    frozen: float | None = 0.4,
    *,
    growth: float | None = 1.5,
    gradient: float = 0.1,
    stability: float | None = 0.1,
    numerics: float = 1.0,
    norms: Sequence[float] | None = None,
    gradients: Sequence[float | None] | None = None,
    gamma: Sequence[float | None] | None = None,
    rho: Sequence[float | None] | None = None,
    null: NullReading | None = None,
    thresholds: Thresholds | None = None,
) -> Report:
    """A report of a small network with other numbers put in: healthy, unless told otherwise."""
    plain = some_report()
    report = replace(
        plain,
        scale=replace(
            plain.scale, value=growth, residual_norms=tuple(norms or plain.scale.residual_norms)
        ),
        reference=replace(
            plain.reference,
            value=gradient,
            over_error=gradient,
            per_layer=tuple(gradients or (0.3,) * BLOCKS + (gradient,)),
        ),
        stability=replace(plain.stability, value=stability),
        numerics=replace(plain.numerics, value=numerics),
        depth=read_depth(accuracy, frozen),
        alignment=None if gamma is None else _alignment(gamma),
        perturbation=None if rho is None else _by_layer("ρ perturbation", rho),
        null=null,
    )
    return replace(report, judgement=judge([report.seed_readings], thresholds))


def _by_layer(name: str, values: Sequence[float | None]) -> Reading:
    return Reading(name, values[-1], tuple(values), "", "depthgauge", "64 samples")


def _alignment(values: Sequence[float | None]) -> AlignmentReading:
    plain = _by_layer("Γ alignment", values)
    return AlignmentReading(**vars(plain), over_all=plain.value)


def make_null(
    draws: Sequence[float] = (-0.1, 0.0, 0.1),
    observed: float | None = 0.4,
    word: Any = "mixed",
    words: Sequence[Any] | None = None,
) -> NullReading:
    """`word` of the blocks together, `words` layer by layer."""

    def calibrated(number: int, word: Any) -> CalibratedAlignment:
        return CalibratedAlignment(observed, 0.1 * number, 0.05, 0.01, 0.02, 3.0, word)

    layers = words or (word,) * (BLOCKS + 1)
    deep = calibrated(0, word)
    per_layer = tuple(calibrated(number, one) for number, one in enumerate(layers))
    return NullReading(per_layer, deep, deep, 200, "depthgauge", "64 samples", tuple(draws))


def make_network(
    label: str = "bp",
    seed: int = 1,
    accuracy: float | None = 0.5,
    frozen: float | None = 0.4,
    *,
    run: str | None = None,
    frozen_run: str | None = None,
    first_fired: Mapping[str, int | None] | None = None,
    **readings: Any,
) -> NetworkReport:
    """A network that an audit has read; without an accuracy it diverged."""
    source = Source(run=run, frozen_run=frozen_run)
    name, control = label.partition("[")[0], control_in(label)
    network = NetworkUnderAudit(label, seed, None, accuracy, frozen, source, (), name, control)
    report = None if accuracy is None else make_report(accuracy, frozen, **readings)
    report = report and replace(report, method_name=label)
    return NetworkReport(network, report, first_fired or {})


def make_audit(
    *networks: NetworkReport,
    bp_gain: float | None = 0.4,
    thresholds: Thresholds | None = None,
    config: SharedConfig = CONFIG,
    untrained: Mapping[str, Report] | None = None,
    provenance: Mapping[str, Any] | None = None,
    **parts: Any,
) -> Audit:
    return conclude(
        networks,
        config,
        thresholds or Thresholds(),
        chance=CHANCE,
        bp_gain=bp_gain,
        untrained=untrained or {},
        provenance=provenance or {"version": "9.9.9"},
        **parts,
    )


def spread(mean: float | None, std: float | None = None) -> Spread:
    return Spread(mean, std, 0 if mean is None else 1 if std is None else 3)


def make_verdict(**more: Any) -> RuleVerdict:
    """The verdict on a rule, for what is not made from readings."""
    entry = {
        "rule": "dfa",
        "control": None,
        "seeds": (1,),
        "diverged_seeds": (),
        "accuracy": spread(0.305, 0.0123),
        "frozen": spread(0.349),
        "word": "walk back",
        "findings": (),
        "sensitivity": (),
    }
    return RuleVerdict(**entry | more)


def audit_of_verdicts(verdicts: Mapping[str, RuleVerdict], **parts: Any) -> Audit:
    return make_audit(**parts).model_copy(update={"verdicts": dict(verdicts)})


# Ladders

Accuracies = Mapping[str, Rungs]


def make_ladder(
    accuracies: Accuracies,
    *,
    twins: Accuracies | None = None,
    used_depth: Mapping[str, UsedDepth] | None = None,
    blocks: int = 4,
    task: str = "digits",
    chance: float = CHANCE,
) -> Ladder:
    """From `{rule: {k: accuracies of seeds 1, 2, …}}`; None is a run that diverged in epoch 3."""
    return Ladder(
        config=SharedConfig(
            task=TASK.model_copy(update={"name": task}),
            net=NetConfig(width=32, blocks=blocks),
            recipe=Recipe(epochs=7),
        ),
        chance=chance,
        rules=_ladders(accuracies, blocks),
        twins=_ladders(twins or {}, blocks),
        used_depth=dict(used_depth or {}),
    )


def _ladders(accuracies: Accuracies, blocks: int) -> dict[str, tuple[Rung, ...]]:
    return {
        label: tuple(_rung(k, rungs[k], blocks) for k in sorted(rungs))
        for label, rungs in accuracies.items()
    }


def make_floors(linear: float | None = 0.55, shallow: float | None = 0.45) -> Floors:
    """Floors of a study, with a rule `dfa` that is not shown to beat the linear one."""
    reason = "" if linear is not None else "n/a: all training samples have one class"
    return Floors(
        linear=LinearFloor(task=TASK, accuracy=linear, penalty=0.01, samples=900, reason=reason),
        shallow=None
        if shallow is None
        else ShallowRule(
            accuracy=Spread.of([shallow]), accuracies={1: shallow}, runs={1: "0" * 16}
        ),
        above_linear={
            "dfa": AboveLinear(accuracy=0.3, seeds=3, p=0.9, is_shown=False),
            "bp": AboveLinear(accuracy=0.7, seeds=3, p=0.001, is_shown=True),
        },
    )


def _rung(k: int, values: Sequence[float | None], blocks: int) -> Rung:
    by_seed = dict(enumerate(values, start=1))
    return Rung(
        k=k,
        accuracies={seed: value for seed, value in by_seed.items() if value is not None},
        diverged={seed: 3 for seed, value in by_seed.items() if value is None},
        blocks=blocks,
    )


def curve(*accuracies: float) -> dict[int, list[float]]:
    """One run at each k = 0, 1, …"""
    return {k: [accuracy] for k, accuracy in enumerate(accuracies)}
