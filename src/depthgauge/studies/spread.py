"""Mean and spread over seeds."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any


def mean_and_spread(values: Sequence[float]) -> dict[str, Any]:
    """Mean, sample standard deviation (ddof 1; None for one value) and n."""
    return {
        "mean": statistics.fmean(values) if values else None,
        "std": statistics.stdev(values) if len(values) > 1 else None,
        "n": len(values),
    }
