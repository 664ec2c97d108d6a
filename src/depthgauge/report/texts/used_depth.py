"""Sentences on used depth: which blocks gain accuracy, which blocks do not, and what is unknown."""

from __future__ import annotations

from depthgauge.diagnostics.used_depth import LEAST_SEEDS, RungFinding, UsedDepth, in_words
from depthgauge.number_format import counted, points


def depth_sentences(label: str, depth: UsedDepth | None) -> list[str]:
    """Say what the ladder and the swap twins of a rule show; return an empty list without a ladder.

    A swap twin trains the blocks that a rung adds on noise.
    """
    if depth is None:
        return []
    if 1 < depth.seeds < LEAST_SEEDS:
        return [f"{label}: {in_words(depth)}."]
    first = f"{label} {in_words(depth)}."
    if depth.worse_than is not None:
        trained = f"the last {counted(depth.worse_than, 'block')}" if depth.worse_than else "none"
        first = (
            f"Training all {depth.blocks} blocks with {label} is shown to be worse than training "
            f"{trained}. {first}"
        )
    found = [words for rung in depth.rungs if (words := _of_rung(rung, depth)) is not None]
    return [first, *([f"{label}: {'; '.join(found)}."] if found else [])]


def _of_rung(rung: RungFinding, depth: UsedDepth) -> str | None:
    """Return why the blocks of a rung are not shown to earn accuracy.

    Return None if the blocks earn accuracy, or if their gain is not known.
    """
    if rung.earns or rung.gain is None:
        return None
    blocks, is_one = ", ".join(map(str, rung.blocks)), len(rung.blocks) == 1
    what, adds = (f"block {blocks}", "adds") if is_one else (f"blocks {blocks}", "add")
    gain = f"{points(rung.gain)} points"
    if rung.gain < -depth.delta:
        return f"{what} {'does' if is_one else 'do'} harm ({gain})"
    if rung.gain < depth.delta:
        return f"{what} {adds} nothing ({gain})"
    if rung.over_noise is None:
        return f"{what} {adds} {gain}, and {'was' if is_one else 'were'} not compared with noise"
    if rung.over_noise <= 0:
        return f"{what} {adds} {gain}, and noise adds as much"
    return f"{what} {adds} {gain}, but there are too few seeds to show it"
