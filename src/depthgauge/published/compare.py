"""Whether a measurement agrees with a published figure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import JsonValue
from scipy.special import stdtrit

from depthgauge.config import SCHEMA_VERSION, NetConfig, Recipe, SharedConfig
from depthgauge.errors import UserError
from depthgauge.json_values import plain_object
from depthgauge.published.figures import Figure, PublishedConfig

PUBLISHED_SEEDS = 3
CROSS_CHECKS = "cross_checks"
"""Figures that were published in another experiment."""

ROUNDING = 0.0005
"""Published accuracies are printed with three digits: half of the last one."""


@dataclass(frozen=True)
class FigureComparison:
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


@dataclass(frozen=True)
class ReadingComparison:
    """A published list of numbers beside the same numbers, measured with one seed."""

    what: str
    measured: tuple[float | None, ...]
    published: tuple[float, ...]


@dataclass(frozen=True)
class VerdictComparison:
    """A verdict beside the published one, where there is one."""

    what: str
    measured: str
    published: str | None


@dataclass(frozen=True)
class PublishedComparison:
    """A study beside a published experiment.

    Attributes:
        experiment: name of the experiment.
        unlike: in what the measurement differs from the published recipe.
        figures: means beside means, by what they are of.
        one_seed: readings that were published for one seed.
        verdicts: words beside words.
    """

    experiment: str
    unlike: tuple[str, ...]
    figures: Mapping[str, Sequence[FigureComparison]]
    one_seed: Sequence[ReadingComparison] = ()
    verdicts: Sequence[VerdictComparison] = field(default=())

    @property
    def is_empty(self) -> bool:
        """Whether nothing was compared; cross-checks alone do not count."""
        figures = [own for part, own in self.figures.items() if part != CROSS_CHECKS]
        return not (any(figures) or self.one_seed or self.verdicts)

    def to_dict(self) -> dict[str, JsonValue]:
        """Return the comparison for a JSON document."""
        return {"schema_version": SCHEMA_VERSION} | plain_object(self)


def compare_figure(
    what: str, values: Sequence[float], figure: Figure, alike: bool = True
) -> FigureComparison:
    """Compare measured values with a published figure.

    The prediction interval for the mean of n new runs around the mean of m published ones is

        t(0.975, m + n − 2) · s · √(1/m + 1/n) + rounding

    with s² the pooled variance. With one new run there is only the published spread to go by. A
    published spread printed as 0.000 counts as the largest value that is printed so.
    """
    n, mean = len(values), math.fsum(values) / len(values)
    variance = sum((value - mean) ** 2 for value in values)
    center, printed = figure
    spread = max(printed, ROUNDING)
    freedom = PUBLISHED_SEEDS + n - 2
    pooled = math.sqrt((variance + (PUBLISHED_SEEDS - 1) * spread**2) / freedom)
    quantile = float(stdtrit(freedom, 0.975))
    half_width = quantile * pooled * math.sqrt(1 / PUBLISHED_SEEDS + 1 / n) + ROUNDING
    return FigureComparison(
        what=what,
        measured=mean,
        measured_std=math.sqrt(variance / (n - 1)) if n > 1 else None,
        n=n,
        published=center,
        published_std=printed,
        difference=mean - center,
        half_width=half_width if alike else None,
        inside=abs(mean - center) <= half_width if alike else None,
    )


def unlike_published(config: SharedConfig, epochs: int) -> tuple[str, ...]:
    """Return in what a measurement differs from the published recipe."""
    recipe = config.recipe.model_dump(mode="json") if config.recipe else {}
    measured = recipe | {"evaluated_on": config.task.evaluated_on}
    expected = Recipe(epochs=epochs).model_dump(mode="json") | {"evaluated_on": "test"}
    return tuple(
        f"{name} {measured.get(name)} instead of {value}"
        for name, value in expected.items()
        if measured.get(name) != value
    )


def check_network(net: NetConfig, config: PublishedConfig, what: str) -> None:
    """Refuse a network of which `what` was not published; `config` is that of the one which was."""
    if (net.width, net.blocks) != (config.width, config.blocks):
        raise UserError(
            f"no {what} was published for --width {net.width} --depth {net.blocks}; there is one "
            f"for --width {config.width} --depth {config.blocks}"
        )
