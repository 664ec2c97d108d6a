"""Store relative paths to the files in a study's folder, so that the folder can be moved.

The plan has, for example, `sources/2f3a.py:Mine[gain=2]` and `tasks/mine.npz`. The code that reads
the plan makes such paths absolute. Paths to files outside the folder are stored as absolute paths.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

SOURCES, TASKS = "sources", "tasks"
"""Folders for rules and arrays that a notebook or script passed as Python values."""

SELECTION = "selection"
"""Folder inside a study's folder, for the runs with which settings of the rules are chosen."""

_REFERENCE = re.compile(r"(?P<path>.+\.(py(?=:)|npz$))(?P<rest>.*)")


def relative_reference(reference: str, study: Path) -> str:
    """Make the path in the text for a rule or task relative, if the file is in the study."""
    match, folder = _REFERENCE.fullmatch(reference), study.resolve()
    home = folder.parent if folder.name == SELECTION else folder
    if match is None or not Path(match["path"]).is_relative_to(home):
        return reference
    return os.path.relpath(match["path"], folder) + match["rest"]


def whole_reference(reference: str, study: Path) -> str:
    """Make the path in the text for a rule or task absolute, if the file is in the study."""
    match = _REFERENCE.fullmatch(reference)
    if match is None or not (study / match["path"]).is_file():
        return reference
    return str((study / match["path"]).resolve()) + match["rest"]
