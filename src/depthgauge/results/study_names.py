"""What studies are called where several are shown together."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from pathlib import Path

from depthgauge.errors import UserError


def distinct_names(folders: Sequence[Path]) -> list[str]:
    """The names of the folders; where two are the same, with as much of their paths as it takes."""
    paths = [folder.resolve() for folder in folders]
    for index, path in enumerate(paths):
        if path in paths[:index]:
            raise UserError(f"{folders[index]} is given twice; give each study once")
    return [_name(path, [other for other in paths if other.name == path.name]) for path in paths]


def _name(path: Path, namesakes: Sequence[Path]) -> str:
    """The path's last parts, as many as tell all its namesakes apart."""
    enough = next(
        parts
        for parts in count(1)
        if len({other.parts[-parts:] for other in namesakes}) == len(namesakes)
    )
    return str(Path(*path.parts[-enough:]))
