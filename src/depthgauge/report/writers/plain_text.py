"""Plain text: one line of characters that can be shown."""

from __future__ import annotations

import unicodedata


def plain_text(text: str) -> str:
    """Return the text on one line; a character that cannot be shown becomes U+FFFD."""
    return "".join(
        "\ufffd" if unicodedata.category(character) in ("Cc", "Cs") else character
        for character in " ".join(text.split())
    )
