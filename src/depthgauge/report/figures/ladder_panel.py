"""What one panel of the ladder figure shows."""

from __future__ import annotations

from dataclasses import dataclass

from depthgauge.controls import control_in
from depthgauge.report.figures.text import study_title
from depthgauge.results.ladder import Ladder, Rung

OTHER_BLOCKS = ("shallow", "wide_block")
"""Controls whose networks have another number of blocks, which k does not count."""


@dataclass(frozen=True)
class LadderPanel:
    """A ladder: `curves[label][k]`, of those rules whose networks have all of the blocks.

    `floors` has the accuracy of what needs no depth, by name.
    """

    title: str
    blocks: int
    chance: float | None
    labels: tuple[str, ...]
    curves: dict[str, dict[int, Rung]]
    twins: dict[str, dict[int, Rung]]
    """Rungs whose added block is trained on noise."""
    floors: dict[str, float]


def panel_of(ladder: Ladder) -> LadderPanel:
    """Return the panel of a ladder."""
    blocks = ladder.config.net.blocks if ladder.config.net else 0
    curves = {
        label: {rung.k: rung for rung in rungs if rung.accuracies or rung.lost}
        for label, rungs in ladder.rules.items()
        if control_in(label) not in OTHER_BLOCKS
    }
    begun = {label: rungs for label, rungs in curves.items() if rungs}
    title = study_title(ladder.config)
    twins = {
        label: {rung.k: rung for rung in rungs if rung.accuracies}
        for label, rungs in ladder.twins.items()
        if label in begun and any(rung.accuracies for rung in rungs)
    }
    floors = ladder.floors.lines if ladder.floors else {}
    return LadderPanel(title, blocks, ladder.chance, tuple(ladder.rules), begun, twins, floors)
