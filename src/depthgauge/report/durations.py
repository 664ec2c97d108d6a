"""Times for eyes."""

from __future__ import annotations


def in_words(seconds: float) -> str:
    """Return a time in seconds, minutes or hours."""
    minutes = seconds / 60
    if minutes < 2:  # noqa: PLR2004
        return f"{seconds:.0f} s"
    return f"{minutes:.0f} min" if minutes < 120 else f"{minutes / 60:.1f} h"  # noqa: PLR2004
