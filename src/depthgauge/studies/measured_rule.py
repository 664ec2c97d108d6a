"""What was measured of a rule of a study, seed by seed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from depthgauge.studies.paired import Difference, paired
from depthgauge.studies.rule_views import RuleView
from depthgauge.studies.spread import mean_and_spread

QUANTITIES = ("accuracy", "frozen", "gain")
"""With all blocks trained, with none, and the difference; the rungs of the ladder come after."""


@dataclass(frozen=True)
class MeasuredRule:
    """A rule of a study; `values[quantity][seed]`, the rungs of its ladder being `k = 0` and on."""

    study: str
    view: RuleView
    values: Mapping[str, Mapping[int, float]]

    @property
    def rule(self) -> str:
        """What it is called."""
        return self.view.method

    @property
    def blocks(self) -> int | None:
        """Of its network, where there are runs to tell."""
        return self.view.blocks

    @property
    def diverged(self) -> list[int]:
        """The seeds with which training diverged."""
        return [network.seed for network in self.view.networks if network.diverged]

    def spread(self, quantity: str) -> dict[str, Any]:
        """Mean, sample standard deviation and n over seeds."""
        return mean_and_spread(list(self.values[quantity].values()))

    def as_dict(self) -> dict[str, Any]:
        """For a JSON document."""
        return {
            "study": self.study,
            "rule": self.rule,
            "control": self.view.control,
            **{quantity: self.spread(quantity) for quantity in QUANTITIES},
            "verdict": self.view.verdict,
            "verdict_in_words": self.view.in_words,
            "basis": self.view.basis,
            "diverged_seeds": self.diverged,
            "values": {
                quantity: {str(seed): value for seed, value in by_seed.items()}
                for quantity, by_seed in self.values.items()
            },
        }


def measured_rule(study: str, view: RuleView) -> MeasuredRule:
    """Seed by seed, what a study says of a rule."""
    networks = view.networks
    values = {
        "accuracy": {n.seed: n.accuracy for n in networks if n.accuracy is not None},
        "frozen": {n.seed: n.frozen for n in networks if n.frozen is not None},
        "gain": {n.seed: n.gain for n in networks if n.gain is not None},
    }
    for rung in view.ladder:
        by_seed = {run.config.seed: run.accuracy for run in rung.runs if run.accuracy is not None}
        values[f"k = {rung.k}"] = by_seed
        if not networks and any(run.config.net.blocks == rung.k for run in rung.runs):
            values["accuracy"] = by_seed
    return MeasuredRule(study, view, values)


def paired_rules(first: MeasuredRule, other: MeasuredRule) -> tuple[Difference, ...]:
    """The second less the first, of all that was measured of both."""
    return tuple(
        paired(quantity, first.values[quantity], values)
        for quantity, values in other.values.items()
        if values and first.values.get(quantity)
    )
