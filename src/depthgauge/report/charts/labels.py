"""Texts of charts: names from data on one line, numbers, the title of a study."""

from __future__ import annotations

import math

from depthgauge.config import SharedConfig

LONGEST, LONGEST_IN_TITLE = 48, 36
"""Letters of a name."""

SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

PLAIN_FROM, PLAIN_TO = 1e-3, 1e4
"""Numbers between these are written without a power of ten."""


def plain(text: str, longest: int = LONGEST) -> str:
    """Write text from data on one line, shortened in the middle where it is very long."""
    line = "".join(sign if sign.isprintable() else " " for sign in text)
    if len(line) > longest:
        line = f"{line[: longest // 2]}…{line[-longest // 2 + 1 :]}"
    return line


def number(value: float) -> str:
    """Write a number as a sentence has it: 0.02, 50, 1.28×10⁻⁵."""
    if value == 0 or PLAIN_FROM <= abs(value) <= PLAIN_TO:
        return f"{value:.5g}"
    return power_of_ten(value)


def power_of_ten(value: float) -> str:
    """Write 1.28×10⁻⁵; a factor of 1 is left out, and so are the powers 10⁰ and 10¹."""
    exponent = math.floor(math.log10(abs(value)) + 1e-9)
    mantissa = f"{value / 10**exponent:.3g}"
    if exponent in (0, 1):
        return f"{value:.3g}"
    power = f"10{str(exponent).translate(SUPERSCRIPTS)}"
    return power if mantissa == "1" else f"{mantissa}×{power}"


def study_title(config: SharedConfig) -> str:
    """Return task, width and number of blocks, as far as they are known."""
    task, net = plain(config.task.name, LONGEST_IN_TITLE), config.net
    if net is None:
        return task
    blocks = f"{net.blocks} block{'' if net.blocks == 1 else 's'}"
    return f"{task}, width {net.width}, {blocks}"
