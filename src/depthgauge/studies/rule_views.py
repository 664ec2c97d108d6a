"""Each rule of a study as a reader wants it: verdict, evidence, its networks, its ladder."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from depthgauge.controls import control_in
from depthgauge.diagnostics.intervals import Interval, interval
from depthgauge.studies.gathered import Gathered, GatheredRun
from depthgauge.studies.read_networks import (
    ReadNetwork,
    audited_as,
    audited_networks,
    recorded_networks,
)
from depthgauge.studies.spread import mean_and_spread
from depthgauge.verdict.judge import judge
from depthgauge.verdict.thresholds import Thresholds

NOT_JUDGED = "not judged"
NO_BLOCKS = "no blocks"
"""Instead of a verdict: a network without blocks has no depth to be judged."""

LADDER_ERROR_RATE = 0.05

Basis = Literal["audit", "training record", "nothing"]
AUDIT: Basis = "audit"
RECORD: Basis = "training record"


@dataclass(frozen=True)
class Rung:
    """Accuracy with the last k blocks trained, over seeds; `runs` are the finished ones.

    `mean` and `interval` (95 %, Student's t; None for one seed) are over those; `lost` counts runs
    that diverged or failed.
    """

    k: int
    runs: tuple[GatheredRun, ...]
    mean: float | None
    std: float | None
    interval: Interval | None
    lost: int


@dataclass(frozen=True)
class RuleView:
    """A rule of a study.

    Attributes:
        method: what it is called.
        control: which control it was trained under, if any.
        verdict: the verdict's word; `not judged` where nothing can be said.
        in_words: with what fired, and whether it rests on one seed.
        single_seed: whether it rests on point values somewhere, so that it has no error rate.
        diagnostics: D1, D2, D3: name, finding, intervals, sentence.
        basis: whether the readings are an audit's, or those that training wrote down.
        accuracy, frozen: mean, sample standard deviation and n over seeds.
        networks: with all blocks trained, one for each seed.
        ladder: accuracy by k.
        unread: how many more networks have been trained since the audit.
    """

    method: str
    control: str | None
    verdict: str
    in_words: str
    single_seed: bool
    fired: tuple[str, ...]
    diagnostics: tuple[dict[str, Any], ...]
    basis: Basis
    accuracy: dict[str, Any]
    frozen: dict[str, Any]
    networks: tuple[ReadNetwork, ...]
    ladder: tuple[Rung, ...]
    unread: int = 0

    @property
    def blocks(self) -> int | None:
        """Of its network, where there are finished runs to tell."""
        return next((run.config.net.blocks for rung in self.ladder for run in rung.runs), None)


def rule_views(study: Gathered) -> list[RuleView]:
    """Every rule: judged by the audit where it was, else by what training wrote down."""
    recorded = {method: recorded_networks(study, method) for method in study.methods}
    bp_gain = gain_of_bp(study)
    return [_view(study, method, recorded[method], bp_gain) for method in study.methods]


def _view(
    study: Gathered, method: str, recorded: tuple[ReadNetwork, ...], bp_gain: float | None
) -> RuleView:
    runs = [run for run in study.runs if run.method == method]
    networks, basis = recorded, RECORD
    label, unread = audited_as(study, method), 0
    if study.audit is not None and label is not None:
        networks, basis = audited_networks(study, study.audit, label), AUDIT
        judged = _by_audit(study.audit["verdicts"][label])
        unread = max(0, len(recorded) - len(networks))
    elif not runs[0].config.net.blocks:
        judged = _Judged(NO_BLOCKS, "no blocks: nothing to judge")
    else:
        judged = _by_record(networks, study.thresholds, bp_gain)
    reached = [one.accuracy for one in networks or runs if one.accuracy is not None]
    return RuleView(
        method=method,
        control=runs[0].control if runs else control_in(method),
        verdict=judged.word,
        in_words=judged.in_words,
        single_seed=judged.single_seed,
        fired=tuple(judged.fired),
        diagnostics=tuple(judged.diagnostics),
        basis=basis if judged.diagnostics else "nothing",
        accuracy=mean_and_spread(reached if networks or judged.word == NO_BLOCKS else []),
        frozen=mean_and_spread([n.frozen for n in networks if n.frozen is not None]),
        networks=tuple(replace(network, method=method) for network in networks),
        unread=unread,
        ladder=_ladder(runs),
    )


class _Judged(NamedTuple):
    """A verdict, and what it rests on."""

    word: str
    in_words: str
    fired: Sequence[str] = ()
    diagnostics: Sequence[dict[str, Any]] = ()
    single_seed: bool = False


def _by_audit(entry: dict[str, Any]) -> _Judged:
    names = ("verdict", "verdict_in_words", "fired", "diagnostics", "single_seed")
    return _Judged(*(entry[name] for name in names))


def _by_record(
    networks: Sequence[ReadNetwork], thresholds: Thresholds, bp_gain: float | None
) -> _Judged:
    """By what training wrote down. Where D2 could not be told, only an alarm of others stands."""
    seeds = [network.seed_readings for network in networks]
    if not seeds:
        return _Judged(NOT_JUDGED, f"{NOT_JUDGED}: no run with all blocks trained is done")
    verdict = judge(seeds, thresholds, bp_gain)
    diagnostics = [finding.to_dict() for finding in verdict.findings]
    untold = verdict.findings[1].untested
    if untold and verdict.word != "walk back":
        why = f"{NOT_JUDGED}: D2 cannot be told"
        return _Judged(NOT_JUDGED, why, (), diagnostics, verdict.single_seed)
    return _Judged(verdict.word, str(verdict), verdict.fired, diagnostics, verdict.single_seed)


def gain_of_bp(study: Gathered) -> float | None:
    """What backpropagation gains from depth in the mean, at its most accurate setting."""
    if study.audit is not None:
        known = study.audit["config"].get("bp_depth_gain")
        if known is not None:
            return float(known)
    settings = []
    bp = {r.method for r in study.runs if r.config.rule.name == "bp" and r.control is None}
    for method in bp:
        pairs = [
            (network.accuracy, network.gain)
            for network in recorded_networks(study, method)
            if network.accuracy is not None and network.gain is not None
        ]
        if pairs:
            settings.append(
                tuple(math.fsum(part) / len(pairs) for part in zip(*pairs, strict=True))
            )
    return max(settings)[1] if settings else None


def _ladder(runs: Sequence[GatheredRun]) -> tuple[Rung, ...]:
    ks = sorted({run.config.k for run in runs})
    return tuple(_rung(k, [run for run in runs if run.config.k == k]) for k in ks)


def _rung(k: int, runs: Sequence[GatheredRun]) -> Rung:
    finished = tuple(run for run in runs if run.accuracy is not None)
    accuracies = [run.accuracy for run in finished if run.accuracy is not None]
    spread = mean_and_spread(accuracies)
    over_seeds = interval(accuracies, LADDER_ERROR_RATE) if len(accuracies) > 1 else None
    lost = sum(run.state in ("diverged", "failed") for run in runs)
    return Rung(k, finished, spread["mean"], spread["std"], over_seeds, lost)
