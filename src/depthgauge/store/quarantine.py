"""Put damaged files into a folder `quarantine/` with the reason, instead of deleting them."""

from __future__ import annotations

import logging
import os
from contextlib import suppress
from itertools import count
from pathlib import Path

from depthgauge.store.files import make_folder, write_bytes, write_text

log = logging.getLogger("depthgauge")

FOLDER = "quarantine"


class DamagedError(Exception):
    """An error: a file of a study cannot be used; the message says why."""


def put_aside(path: Path, reason: str, *, keep: bool = False, quietly: bool = False) -> Path:
    """Move a file into `quarantine/` beside it, write the reason there, and log a warning.

    The reason is the rest of a sentence that begins with the file's name, such as "is cut short".
    With `keep` the file is copied instead of moved. With `quietly` nothing is logged. Return the
    path of the file in quarantine.
    """
    folder = make_folder(path.parent / FOLDER)
    number = next(n for n in count(1) if not (folder / f"{n}-{path.name}").exists())
    target = folder / f"{number}-{path.name}"
    write_text(folder / f"{target.name}.reason.txt", f"{path.name} {reason}\n")
    with suppress(FileNotFoundError):  # another process may have moved it at the same moment
        if keep:
            write_bytes(target, path.read_bytes())
        else:
            os.replace(path, target)
    if not quietly:
        log.warning("%s %s; the file is now %s", path, reason, target)
    return target
