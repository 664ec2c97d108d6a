"""Sentences that compare measured with published figures."""

from __future__ import annotations

from depthgauge.published.compare import CROSS_CHECKS, PublishedComparison
from depthgauge.report.tables.published import TITLES


def published_sentences(comparison: PublishedComparison) -> list[str]:
    """Say how many measured figures lie inside their prediction interval, and which lie outside.

    Cross-checks with another published experiment are not counted. If the settings are not the
    published settings, say only which settings differ.
    """
    if comparison.unlike:
        return [
            f"These settings are not the published ones: {', '.join(comparison.unlike)}. The "
            "differences include their effect, so no interval is given."
        ]
    parts = {part: own for part, own in comparison.figures.items() if part != CROSS_CHECKS}
    several = sum(map(bool, parts.values())) > 1
    compared = [(part, figure) for part, own in parts.items() for figure in own]
    outside = [
        f"{figure.what}: {TITLES[part].rstrip(', %')}" if several else figure.what
        for part, figure in compared
        if not figure.inside
    ]
    name = "figures" if several else next(iter(parts), "figures")
    inside = len(compared) - len(outside)
    sentences = [f"{inside} of {len(compared)} {name} lie inside their interval."]
    return [*sentences, f"Outside: {', '.join(outside)}."] if outside else sentences
