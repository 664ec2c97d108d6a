"""The colours of charts and pages, on light and on dark paper.

Rules have the colours of Okabe and Ito, which people with any colour vision can tell apart. On
dark paper the colours are lighter.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

INK, SOFT, LINE, PAPER = "var(--ink)", "var(--soft)", "var(--line)", "var(--paper)"
"""The names of colours in charts; the page's style sheet defines the colours."""

BAD_SIDE = "var(--bad-side)"
"""The colour of the side of a threshold on which a diagnostic fires."""

LIGHT: Mapping[str, str] = {
    "paper": "#ffffff",
    "ink": "#1b1f24",
    "soft": "#57606a",
    "line": "#d0d7de",
    "bad-side": "#f9e7e1",
    "rule-0": "#0072B2",
    "rule-1": "#D55E00",
    "rule-2": "#009E73",
    "rule-3": "#CC79A7",
    "rule-4": "#B8860B",
    "rule-5": "#3090C8",
    "rule-6": "#555555",
}

DARK: Mapping[str, str] = {
    "paper": "#0f1317",
    "ink": "#e8ecf0",
    "soft": "#a3adb8",
    "line": "#36404a",
    "bad-side": "#33201f",
    "rule-0": "#4BA3DB",
    "rule-1": "#F0803C",
    "rule-2": "#2BC49A",
    "rule-3": "#E59AC6",
    "rule-4": "#E6B800",
    "rule-5": "#8FD0F5",
    "rule-6": "#BBBBBB",
}

RULES = sum(name.startswith("rule-") for name in LIGHT)
"""How many colours there are for rules."""


def rule_colour(number: int) -> str:
    """Return the name of a rule's colour."""
    return f"var(--rule-{number})"


def with_light_colours(text: str) -> str:
    """Replace the names of colours by the colours of light paper: files have no style sheet."""
    return re.sub(r"var\(--([a-z0-9-]+)\)", lambda name: LIGHT[name[1]], text)


def style_sheet(colours: Mapping[str, str]) -> str:
    """Write the colours as the declarations of a style sheet."""
    return " ".join(f"--{name}: {colour};" for name, colour in colours.items())
