"""Text in figures: what comes from data is shown as it is, never read as mathematics."""

from __future__ import annotations

import math

from matplotlib.textpath import TextPath

from depthgauge.config import SharedConfig

LONGEST, LONGEST_IN_TITLE = 48, 36
HINTING = 1.06
"""Letters that are fitted to pixels may be that much wider."""

SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
PLAIN_FROM, PLAIN_TO = 1e-3, 1e4


def plain(text: str, longest: int = LONGEST) -> str:
    """Text from data on one line, shortened in the middle where it is very long."""
    line = "".join(sign if sign.isprintable() else " " for sign in text)
    if len(line) > longest:
        line = f"{line[: longest // 2]}…{line[-longest // 2 + 1 :]}"
    return line.replace("$", r"\$")


def width_of(text: str, size: float = 9) -> float:
    """About how many inches a plain text takes, rather too many than too few."""
    letters = text.replace(r"\$", "S").strip()
    if not letters:
        return 0.0
    return HINTING * float(TextPath((0, 0), letters, size).get_extents().width) / 72


def number(value: float) -> str:
    """A number as a sentence has it: 0.02, 50, 1.28×10⁻⁵."""
    return f"{value:.5g}" if PLAIN_FROM <= abs(value) <= PLAIN_TO else power_of_ten(value)


def power_of_ten(value: float) -> str:
    """1.28×10⁻⁵; without its factor where that is 1, and 1 and 10 as they are."""
    exponent = math.floor(math.log10(abs(value)) + 1e-9)
    mantissa = f"{value / 10**exponent:.3g}"
    power = f"10{str(exponent).translate(SUPERSCRIPTS)}" if exponent not in (0, 1) else ""
    if not power:
        return f"{value:.3g}"
    return power if mantissa == "1" else f"{mantissa}×{power}"


def study_title(config: SharedConfig) -> str:
    """Task, width and blocks, as far as they are known; a long name has a line for itself."""
    task, net = plain(config.task.name, LONGEST_IN_TITLE), config.net
    if net is None:
        return task
    blocks = f"{net.blocks} block{'' if net.blocks == 1 else 's'}"
    between = ", " if len(task) <= LONGEST_IN_TITLE // 2 else "\n"
    return f"{task}{between}width {net.width}, {blocks}"
