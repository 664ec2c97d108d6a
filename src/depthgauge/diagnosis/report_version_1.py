"""Conversion of the parts of a report that earlier versions wrote differently."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter

from depthgauge.diagnostics.finding import Finding
from depthgauge.diagnostics.intervals import Interval

NUMERICALLY_WRONG = re.compile(r"numerically wrong in (\d+) of (\d+) seeds")
"""Finds the two counts that version 1 stored only in the sentence of D2."""

FINDING = TypeAdapter(Finding)

UNBOUNDED = ("over_error", "error")
"""The values of the D2 reading that version 1 stored as null if they were infinite."""


def lift_reading(reading: Mapping[str, Any]) -> dict[str, Any]:
    """Return a reading in the current form.

    Earlier versions wrote null for infinity, and called the published convention "record".
    """
    lifted = dict(reading)
    lifted["convention"] = re.sub(r"^record\b", "published", str(reading["convention"]))
    if "residual_norms" in lifted:
        lifted["residual_norms"] = [_lift_infinity(norm) for norm in lifted["residual_norms"]]
    lifted |= {name: _lift_infinity(lifted[name]) for name in UNBOUNDED if name in lifted}
    return lifted


def lift_finding(finding: Mapping[str, Any]) -> Finding:
    """Return a finding in the current form; earlier versions had other names for id and outcome."""
    lifted = dict(finding)
    for before, after in (("name", "id"), ("finding", "outcome")):
        if before in lifted:
            lifted[after] = lifted.pop(before)
    counts = NUMERICALLY_WRONG.search(lifted["sentence"])
    if counts and not lifted.get("facts"):
        lifted["facts"] = {"numerically_wrong": int(counts[1]), "seeds": int(counts[2])}
    lifted["intervals"] = {n: _lift_interval(ends) for n, ends in lifted["intervals"].items()}
    return FINDING.validate_python(lifted)


def _lift_interval(ends: Mapping[str, Any]) -> Interval:
    """Return an interval whose infinite ends were stored as null.

    If the center is null too, center and ends are +∞. Otherwise a null `low` is −∞, and a null
    `high` is +∞.
    """
    low = ends["low"]
    if low is None:
        low = math.inf if ends["center"] is None else -math.inf
    high, center = _lift_infinity(ends["high"]), _lift_infinity(ends["center"])
    return Interval(float(low), float(center), float(high), ends["n"])


def _lift_infinity(value: Any) -> Any:
    return math.inf if value is None else value
