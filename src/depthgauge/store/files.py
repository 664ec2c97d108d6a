"""Read files, and write each file whole or not at all."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

from pydantic_core import from_json

from depthgauge.errors import UserError

CHUNK = 2**16
"""The number of bytes that `read_small` reads at once."""


def make_folder(path: Path) -> Path:
    """Create a folder and its parents unless they exist; return its path."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"cannot create the folder {path}: {error.strerror}") from error
    return path


def write_atomically(path: Path, write: Callable[[Path], None]) -> None:
    """Call `write` with the path of a temporary file, then rename that file to `path`."""
    temporary = _temporary(path)
    try:
        write(temporary)
        sync(temporary)
        os.replace(temporary, path)
        sync(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


def create_exclusively(path: Path, text: str) -> bool:
    """Create a file unless it exists; return whether this process created it.

    The text is written to a temporary file, which is then linked to `path`. So the file appears
    whole or not at all, and only one of several processes can create it, also on NFS.
    """
    temporary = _temporary(path)
    try:
        temporary.write_text(text, encoding="utf-8")
        sync(temporary)
        os.link(temporary, path)
    except FileExistsError:
        return _count_links(temporary) > 1  # NFS may have made our link but lost the answer
    finally:
        temporary.unlink(missing_ok=True)
    sync(path.parent)
    return True


def _count_links(path: Path) -> int:
    """Return the number of links to a file; opening the file makes NFS refresh the number."""
    with path.open("rb") as handle:
        return os.fstat(handle.fileno()).st_nlink


def _temporary(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}.{uuid4().hex}.tmp")


def sync(path: Path) -> None:
    """Force the content of a file, or the list of files in a folder, onto the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_bytes(path: Path, content: bytes) -> None:
    """Write a whole file atomically."""

    def write(temporary: Path) -> None:
        temporary.write_bytes(content)

    write_atomically(path, write)


def write_text(path: Path, text: str) -> None:
    """Write a whole text file atomically."""
    write_bytes(path, text.encode())


def write_json(path: Path, document: Any) -> None:
    """Write a JSON document atomically."""
    write_text(path, as_json(document))


def as_json(document: Any) -> str:
    """Return a JSON document as the text of a file."""
    return json.dumps(document, indent=2, allow_nan=False) + "\n"


def finite(value: Any) -> Any:
    """Return a document in which None replaces every infinity and NaN, which JSON cannot hold."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    if isinstance(value, dict):
        return {name: finite(item) for name, item in value.items()}
    return value


def read_small(path: str) -> bytes:
    """Return the content of a small file, without the cost of Python's file objects."""
    handle = os.open(path, os.O_RDONLY)
    try:
        parts = [os.read(handle, CHUNK)]
        while len(parts[-1]) == CHUNK:
            parts.append(os.read(handle, CHUNK))
    finally:
        os.close(handle)
    return b"".join(parts)


def read_json_or_none(path: Path) -> Any:
    """Return the content of a JSON file; None if the file does not exist or is not JSON.

    If the system refuses to read the file, its OSError is raised: the file may be undamaged.
    """
    try:
        return from_json(path.read_bytes())
    except (ValueError, FileNotFoundError):
        return None


def read_json(path: Path) -> Any:
    """Return the content of a JSON file; raise UserError if it cannot be read."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError) as error:
        raise UserError(
            f"{path} cannot be read ({error}); nothing was changed; repair the file, or remove it "
            "and run the command again"
        ) from error
