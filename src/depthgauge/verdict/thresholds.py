"""The thresholds of all diagnostics as one object."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Mapping

from depthgauge.diagnostics.registry import thresholds, verdict_diagnostics
from depthgauge.errors import UserError

ERROR_RATE = 0.05


class Thresholds(Mapping[str, float]):
    """The thresholds at which diagnostics fire, by name; each name is also an attribute.

    A threshold that is not given has the protocol's value. The diagnostics declare the names,
    values and meanings.
    """

    __slots__ = ("_values",)

    def __init__(self, **given: float) -> None:
        usual = {threshold.name: threshold.default for threshold in thresholds()}
        self._values: dict[str, float] = {**usual, "error_rate": ERROR_RATE}
        for name, value in given.items():
            if name not in self._values:
                known = ", ".join(self._values)
                raise UserError(f"there is no threshold {name!r}; the thresholds are {known}")
            if not isinstance(value, int | float) or not value > 0:
                raise UserError(f"the threshold {name} is {value!r}; give a number above 0")
            self._values[name] = value
        if self["error_rate"] >= 1:
            raise UserError(f"the error rate is {self['error_rate']!r}; give a number below 1")

    @property
    def error_rate_of_each(self) -> float:
        """Return the error rate of one interval; `error_rate` holds for all intervals together."""
        return self["error_rate"] / len(verdict_diagnostics())

    def replace(self, **moved: float) -> Thresholds:
        """Return the thresholds with the given values, and the other values unchanged."""
        return Thresholds(**{**self, **moved})

    def __getitem__(self, name: str) -> float:
        return self._values[name]

    def __getattr__(self, name: str) -> float:
        if name.startswith("_") or name not in self._values:
            raise AttributeError(f"there is no threshold {name!r}")
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __hash__(self) -> int:
        return hash(frozenset(self.items()))

    def __repr__(self) -> str:
        return f"Thresholds({', '.join(f'{name}={value!r}' for name, value in self.items())})"


def meanings() -> dict[str, str]:
    """Return the meaning of each threshold, by its name."""
    declared = {threshold.name: threshold.meaning for threshold in thresholds()}
    error_rate = "the rate at which the diagnostics together may be wrong over seeds."
    return {**declared, "error_rate": error_rate}


def _documented(name: str, meaning: str) -> str:
    return textwrap.fill(
        f"{name}: {meaning}", 96, initial_indent=" " * 8, subsequent_indent=" " * 12
    )


Thresholds.__doc__ = f"{Thresholds.__doc__}\n    Attributes:\n" + "\n".join(
    _documented(name, meaning) for name, meaning in meanings().items()
)


def thresholds_from(given: Mapping[str, float]) -> Thresholds:
    """Return the protocol's thresholds, with the given values in their place; refuse infinity.

    Documents store thresholds as JSON numbers, and JSON has no infinity.
    """
    for name, value in given.items():
        if value == math.inf:
            raise UserError(f"the threshold {name} is inf; use 1e9 or another large number")
    return Thresholds(**given)
