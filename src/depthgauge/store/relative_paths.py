"""Write paths inside a study's folder relative to that folder, so that the folder can be moved.

The plan has `sources/2f3a.py:Mine[gain=2]` and `tasks/mine.npz`; reading the plan makes these paths
whole again. Files outside the folder have their whole path in the plan.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

SOURCES, TASKS = "sources", "tasks"
"""Folders of the rules and arrays that a notebook or script passed as values."""

SELECTION = "selection"
"""Folder inside a study's folder, for the runs that choose its settings."""

_REFERENCE = re.compile(r"(?P<path>.+\.(py(?=:)|npz$))(?P<rest>.*)")


def relative_reference(reference: str, study: Path) -> str:
    """Return a reference with the path from the study's folder, if the file is inside it."""
    match, folder = _REFERENCE.fullmatch(reference), study.resolve()
    home = folder.parent if folder.name == SELECTION else folder
    if match is None or not Path(match["path"]).is_relative_to(home):
        return reference
    return os.path.relpath(match["path"], folder) + match["rest"]


def whole_reference(reference: str, study: Path) -> str:
    """Return a reference with the whole path, if it names a file in the study's folder."""
    match = _REFERENCE.fullmatch(reference)
    if match is None or not (study / match["path"]).is_file():
        return reference
    return str((study / match["path"]).resolve()) + match["rest"]
