"""The answer of a diagnostic."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from depthgauge.diagnostics.intervals import Interval

Outcome = Literal["fires", "passes", "straddles", "untested"]


@dataclass(frozen=True)
class Finding:
    """The answer of a diagnostic over the seeds of one rule.

    Attributes:
        id: the id of the diagnostic.
        outcome: "fires" or "passes" if the whole interval is on one side of the threshold,
            "straddles" if it is on both sides, "untested" if the readings are missing or the
            diagnostic does not apply.
        intervals: the interval over seeds of each reading, by name.
        sentence: the readings and their thresholds in a sentence.
        more_seeds: about how many more seeds would settle an outcome that straddles; None if the
            number is unknown or above 200.
        facts: further whole numbers by name, so that no program has to read the sentence.
        published: the outcome by the published protocol; None if it is the same as `outcome`.
    """

    id: str
    outcome: Outcome
    intervals: dict[str, Interval]
    sentence: str
    more_seeds: int | None = None
    facts: dict[str, int] = field(default_factory=dict)
    published: Outcome | None = None

    @property
    def fires(self) -> bool:
        """Return whether the readings are bad with confidence."""
        return self.outcome == "fires"

    @property
    def passes(self) -> bool:
        """Return whether the readings are good with confidence."""
        return self.outcome == "passes"

    @property
    def straddles(self) -> bool:
        """Return whether the interval is on both sides of the threshold."""
        return self.outcome == "straddles"

    @property
    def untested(self) -> bool:
        """Return whether the readings are missing, or the diagnostic does not apply."""
        return self.outcome == "untested"
