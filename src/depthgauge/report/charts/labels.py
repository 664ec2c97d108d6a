"""Texts in charts: names that users chose, on one line, and the title of a study."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from depthgauge.config import SharedConfig

LONGEST, LONGEST_IN_TITLE = 48, 36
"""Most letters of a name, elsewhere and in a title."""

FORM = "{:.4g}"
"""How a sentence in a chart writes a number, for `number_format.in_form`."""


def plain(text: str, longest: int = LONGEST) -> str:
    """Write text from data on one line, shortened in the middle where it is very long."""
    line = "".join(sign if sign.isprintable() else " " for sign in text)
    if len(line) > longest:
        line = f"{line[: longest // 2]}…{line[-longest // 2 + 1 :]}"
    return line


def lost_words(labels: Sequence[str]) -> str:
    """Say how many networks of each rule diverged, given the label of each diverged network."""
    return "; ".join(
        f"{plain(label)}: {count} diverged" for label, count in Counter(labels).items()
    )


def study_title(config: SharedConfig) -> str:
    """Return task, width and number of blocks, as far as they are known."""
    task, net = plain(config.task.name, LONGEST_IN_TITLE), config.net
    if net is None:
        return task
    blocks = f"{net.blocks} block{'' if net.blocks == 1 else 's'}"
    return f"{task}, width {net.width}, {blocks}"
