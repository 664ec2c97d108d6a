"""The comparison of measured figures with published ones."""

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
"""The name of the comparisons with figures of another published experiment."""

ROUNDING = 0.0005
"""The rounding error of published accuracies: half of the third digit."""


@dataclass(frozen=True)
class FigureComparison:
    """A measured mean compared with a published one.

    Attributes:
        what: the name of the figure.
        measured, measured_std, n: the measured mean, its standard deviation, and the number of
            seeds.
        published, published_std: the published mean and its standard deviation.
        difference: the measured mean minus the published one.
        half_width: half the width of the 95 % prediction interval of the measured mean around the
            published mean; None if the recipes differ.
        inside: whether the measured mean is inside this interval; None if the recipes differ.
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
    """A published list of numbers for one seed, and the numbers measured with that seed."""

    what: str
    measured: tuple[float | None, ...]
    published: tuple[float, ...]


@dataclass(frozen=True)
class VerdictComparison:
    """A measured verdict, and the published verdict if there is one."""

    what: str
    measured: str
    published: str | None


@dataclass(frozen=True)
class PublishedComparison:
    """The comparison of a study with a published experiment.

    Attributes:
        experiment: the name of the experiment.
        unlike: the differences of the study's recipe from the published recipe, each a clause such
            as `epochs 10 instead of 30`.
        figures: the comparisons of means by kind, such as `accuracies`.
        one_seed: the comparisons of readings that were published for one seed.
        verdicts: the comparisons of verdicts.
    """

    experiment: str
    unlike: tuple[str, ...]
    figures: Mapping[str, Sequence[FigureComparison]]
    one_seed: Sequence[ReadingComparison] = ()
    verdicts: Sequence[VerdictComparison] = field(default=())

    @property
    def is_empty(self) -> bool:
        """Return whether nothing was compared, apart from cross-checks."""
        figures = [own for part, own in self.figures.items() if part != CROSS_CHECKS]
        return not (any(figures) or self.one_seed or self.verdicts)

    def to_dict(self) -> dict[str, JsonValue]:
        """Return the comparison for a JSON document."""
        return {"schema_version": SCHEMA_VERSION} | plain_object(self)


def compare_figure(
    what: str, values: Sequence[float], figure: Figure, alike: bool = True
) -> FigureComparison:
    """Compare measured values with a published figure.

    A prediction interval is given only if the recipes are `alike`. For the mean of n new runs it is
    the mean of m published runs

        ± (t(0.975, m + n − 2) · s · √(1/m + 1/n) + rounding)

    s² is the pooled variance; with one new run, s is the published spread. A published spread of
    0.000 counts as 0.0005, the largest value that rounds to 0.000.
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
    """Return the differences of a study's recipe from the published recipe.

    Each difference is a clause such as `epochs 10 instead of 30`.
    """
    recipe = config.recipe.model_dump(mode="json") if config.recipe else {}
    measured = recipe | {"evaluated_on": config.task.evaluated_on}
    expected = Recipe(epochs=epochs).model_dump(mode="json") | {"evaluated_on": "test"}
    return tuple(
        f"{name} {measured.get(name)} instead of {value}"
        for name, value in expected.items()
        if measured.get(name) != value
    )


def check_network(net: NetConfig, config: PublishedConfig, what: str) -> None:
    """Refuse a network unless it has the width and depth for which `what` was published."""
    if (net.width, net.blocks) != (config.width, config.blocks):
        raise UserError(
            f"no {what} was published for --width {net.width} --depth {net.blocks}; use "
            f"--width {config.width} --depth {config.blocks}"
        )
