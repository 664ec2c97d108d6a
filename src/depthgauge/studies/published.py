"""Published figures, and whether a measurement agrees with them."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from scipy.special import stdtrit

from depthgauge.config import SCHEMA_VERSION, NetConfig, Recipe
from depthgauge.errors import UserError

PUBLISHED_SEEDS = 3
ROUNDING = 0.0005
"""Published accuracies are printed with three digits: half of the last one."""


@cache
def published() -> dict[str, Any]:
    """All published figures that come with the package."""
    text = files("depthgauge.studies").joinpath("published.json").read_text(encoding="utf-8")
    figures: dict[str, Any] = json.loads(text)
    return figures


def published_ladder(width: int, blocks: int) -> dict[str, Any]:
    """The published ladder of one network."""
    ladders = published()["ladder"]
    name = f"d{width}_L{blocks}"
    if name not in ladders:
        known = [
            f"--width {figures['config']['width']} --blocks {figures['config']['blocks']}"
            for figures in ladders.values()
            if isinstance(figures, dict)
        ]
        raise UserError(
            f"no ladder was published for --width {width} --blocks {blocks}; there are: "
            f"{' and '.join(known)}"
        )
    ladder: dict[str, Any] = ladders[name]
    return ladder


def check_network(net: NetConfig, config: dict[str, Any], what: str) -> None:
    """Refuse a network of which `what` was not published; `config` is that of the one which was."""
    if (net.width, net.blocks) != (config["width"], config["blocks"]):
        raise UserError(
            f"no {what} was published for --width {net.width} --blocks {net.blocks}; there is one "
            f"for --width {config['width']} --blocks {config['blocks']}"
        )


@dataclass(frozen=True)
class Comparison:
    """A measured mean beside a published one.

    `half_width` is that of the 95 % prediction interval of the measured mean around the published
    one; None where the two were not measured alike, and then `inside` is None too.
    """

    what: str
    measured: float
    measured_std: float | None
    n: int
    published: float
    published_std: float
    difference: float
    half_width: float | None
    inside: bool | None


def compare(
    what: str, values: Sequence[float], figure: Sequence[float], alike: bool = True
) -> Comparison:
    """Compare measured values with a published (mean, sample standard deviation) of three seeds.

    The prediction interval for the mean of n new runs around the mean of m published ones is

        t(0.975, m + n − 2) · s · √(1/m + 1/n) + rounding

    with s² the pooled variance. With one new run there is only the published spread to go by. A
    published spread printed as 0.000 counts as the largest value that is printed so.
    """
    n, mean = len(values), math.fsum(values) / len(values)
    variance = sum((value - mean) ** 2 for value in values)
    center, spread = figure[0], max(figure[1], ROUNDING)
    freedom = PUBLISHED_SEEDS + n - 2
    pooled = math.sqrt((variance + (PUBLISHED_SEEDS - 1) * spread**2) / freedom)
    quantile = float(stdtrit(freedom, 0.975))
    half_width = quantile * pooled * math.sqrt(1 / PUBLISHED_SEEDS + 1 / n) + ROUNDING
    return Comparison(
        what=what,
        measured=mean,
        measured_std=math.sqrt(variance / (n - 1)) if n > 1 else None,
        n=n,
        published=center,
        published_std=figure[1],
        difference=mean - center,
        half_width=half_width if alike else None,
        inside=abs(mean - center) <= half_width if alike else None,
    )


def compare_ladder(ladder: dict[str, Any]) -> dict[str, Any]:
    """Every rung beside its published figure, and the cross-checks with the main audit."""
    net = ladder["config"]["net"]
    figures = published_ladder(net["width"], net["blocks"])
    unlike = unlike_published(ladder["config"], figures["config"]["epochs"])
    alike = not unlike
    rungs = [
        compare(f"{rule} k={k}", values, figures[rule][k], alike)
        for rule, rung in ladder["results"].items()
        for k, runs in rung.items()
        if (values := _finished(runs)) and k in figures.get(rule, {})
    ]
    return {
        "schema_version": SCHEMA_VERSION,
        "unlike": unlike,
        "rungs": [asdict(rung) for rung in rungs],
        "cross_checks": [asdict(check) for check in _cross_checks(ladder, alike)],
    }


def unlike_published(config: dict[str, Any], epochs: int) -> list[str]:
    """In what a measurement differs from the published recipe."""
    published_recipe = Recipe(epochs=epochs).model_dump(mode="json")
    measured = config["recipe"] | {"evaluated_on": config["task"]["evaluated_on"]}
    expected = published_recipe | {"evaluated_on": "test"}
    return [
        f"{name} {measured[name]} instead of {value}"
        for name, value in expected.items()
        if measured[name] != value
    ]


def _finished(runs: dict[str, dict[str, Any]]) -> list[float]:
    return [run["final_acc"] for run in runs.values() if run["final_acc"] is not None]


def _cross_checks(ladder: dict[str, Any], alike: bool) -> list[Comparison]:
    """K = L against the audit's accuracy; DFA's k = 0 against the audit's frozen baseline."""
    audit, net = published()["main_audit"], ladder["config"]["net"]
    if any(net[name] != audit["config"][name] for name in ("width", "blocks")):
        return []
    pairs = [
        (rule, str(net["blocks"]), audit[rule]["accuracy"], f"{rule}: k = L, main audit")
        for rule in ladder["results"]
        if rule in audit
    ]
    pairs.append(("dfa", "0", audit["frozen"]["accuracy"], "dfa: k = 0, frozen baseline"))
    return [
        compare(what, values, figure, alike)
        for rule, k, figure, what in pairs
        if (values := _finished(ladder["results"].get(rule, {}).get(k, {})))
    ]
