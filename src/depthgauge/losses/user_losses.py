"""Name losses from users' files by the hash of the file, and find the files again.

A recipe names such a loss `Class@digits`, where the digits begin the SHA-256 of its file. So the
same file in another place is the same loss, and a changed file is another one.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from depthgauge.errors import UserError
from depthgauge.registry import LOSSES, file_of

DIGITS = 16
"""The digits of the SHA-256 in the name of a loss, and in the name of a saved file."""

_FILES: dict[str, Path] = {}
"""The files that this process has seen, by the first digits of their SHA-256."""


def name_loss(reference: str) -> str:
    """Return the name of a loss in a recipe: a registered name, or `Class@digits` of a file."""
    LOSSES.find(reference)
    path = file_of(reference)
    if path is None:
        return reference
    digits = _digits(path)
    _FILES[digits] = path.resolve()
    return f"{reference.rpartition(':')[2]}@{digits}"


def remember_losses(folder: Path) -> None:
    """Remember the Python files in a folder, such as the sources that a study has saved."""
    for path in sorted(folder.glob("*.py")):
        digits = _digits(path)
        before = _FILES.get(digits)
        if before is None or not before.is_file() or _digits(before) != digits:
            _FILES[digits] = path.resolve()


def file_of_loss(name: str) -> Path | None:
    """Return the file of a loss that a recipe names; None for a registered loss."""
    kind, at, digits = name.partition("@")
    if not at:
        return None
    path = _FILES.get(digits)
    if path is None or not path.is_file():
        raise UserError(
            f"the file of the loss {kind} is not in the study's folder; put the file whose SHA-256 "
            f"begins with {digits} into `sources`"
        )
    return path


def reference_of_loss(name: str) -> str:
    """Return the text with which the registry finds a loss that a recipe names."""
    path = file_of_loss(name)
    return name if path is None else f"{path}:{name.partition('@')[0]}"


def _digits(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:DIGITS]
