"""What a diagnostic found over seeds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from depthgauge.diagnostics.intervals import Interval

Outcome = Literal["fires", "passes", "straddles", "untested"]


@dataclass(frozen=True)
class Finding:
    """What a diagnostic found over the seeds of one rule.

    Attributes:
        id: of the diagnostic.
        outcome: "fires" or "passes" if the whole interval is on one side of the threshold,
            "straddles" if it is on both, "untested" if there is nothing to decide by.
        intervals: over seeds, by the name of the reading.
        sentence: what was read, beside its thresholds.
        more_seeds: about how many more seeds would settle what straddles; None if that cannot be
            told, or more than a lot.
        published: what the published protocol finds, where that differs.
        facts: whole numbers besides, by name, for whoever would otherwise look into the sentence.
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
        """Whether it is bad with confidence."""
        return self.outcome == "fires"

    @property
    def passes(self) -> bool:
        """Whether it is good with confidence."""
        return self.outcome == "passes"

    @property
    def straddles(self) -> bool:
        """Whether it may be either."""
        return self.outcome == "straddles"

    @property
    def untested(self) -> bool:
        """Whether there was nothing to decide by."""
        return self.outcome == "untested"
