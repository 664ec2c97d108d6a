"""Rules and tasks in a study's own folder are named from there, so that the folder can be moved.

`sources/2f3a.py:Mine[gain=2]` and `tasks/mine.npz` stand in the plan; whoever reads the plan gets
them with the whole path. Files elsewhere have their whole path in the plan too.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

SOURCES, TASKS = "sources", "tasks"
"""Folders of rules and arrays that were handed over from a notebook or a script."""

SELECTION = "selection"
"""Folder inside a study's, of the runs by which its settings were chosen."""

_REFERENCE = re.compile(r"(?P<path>.+\.(py(?=:)|npz$))(?P<rest>.*)")


def relative_reference(reference: str, study: Path) -> str:
    """Return a reference to a file with its path from the study's folder, if it is inside."""
    match, folder = _REFERENCE.fullmatch(reference), study.resolve()
    home = folder.parent if folder.name == SELECTION else folder
    if match is None or not Path(match["path"]).is_relative_to(home):
        return reference
    return os.path.relpath(match["path"], folder) + match["rest"]


def whole_reference(reference: str, study: Path) -> str:
    """Return a reference to a file in the study's folder with the whole path."""
    match = _REFERENCE.fullmatch(reference)
    if match is None or not (study / match["path"]).is_file():
        return reference
    return str((study / match["path"]).resolve()) + match["rest"]
