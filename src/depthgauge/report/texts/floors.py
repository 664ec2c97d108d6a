"""Sentences on floors (accuracies without depth), and on rules that may not beat them."""

from __future__ import annotations

from depthgauge.number_format import counted, percent, percent_spread
from depthgauge.results.floors import LINEAR, MARGIN, Floors
from depthgauge.scheduling.variations import SHALLOW

POINTS = f"{100 * MARGIN:g} points"


def not_above(floors: Floors | None, label: str) -> str | None:
    """Return a sentence if a rule is not shown to beat the linear floor; otherwise None."""
    above = floors.above_linear.get(label) if floors else None
    if floors is None or floors.linear is None or above is None or above.is_shown:
        return None
    return (
        f"{label} is not shown to beat a {LINEAR} of the input by {POINTS}: "
        f"{percent(above.accuracy)} % over {counted(above.seeds, 'seed')}, beside "
        f"{percent(floors.linear.accuracy)} %."
    )


def floor_sentences(floors: Floors | None) -> list[str]:
    """Return a sentence on each floor: its accuracy, or why it is missing."""
    if floors is None:
        return []
    words = []
    linear, shallow = floors.linear, floors.shallow
    if linear is not None and linear.accuracy is not None:
        words.append(
            f"Floor: a {LINEAR} of the standardised input reaches {percent(linear.accuracy)} % "
            f"(penalty {linear.penalty:.2g}, {linear.samples:,} training samples)."
        )
    elif linear is not None:
        words.append(f"Floor: a {LINEAR} is {linear.reason}.")
    if shallow is not None:
        words.append(
            f"Floor: the network without blocks, trained by bp ({SHALLOW}), reaches "
            f"{percent_spread(shallow.accuracy)} %."
        )
    return words
