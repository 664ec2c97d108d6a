"""Find the files of users' networks by the hash in a run's configuration.

A configuration names a user's network by the SHA-256 of its file, so that the same file in another
place is the same network. Before such a network is built, this process must have seen its file: the
user's own, or the copy in a study's folder.
"""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from contextlib import suppress
from pathlib import Path

import torch
from torch import nn

from depthgauge.errors import UserError
from depthgauge.nets.user.network import build_network

_MODULES: dict[str, str] = {}
"""The file or module from which a network is imported, by the SHA-256 of the file."""


def remember_source(reference: str, option: str = "--net") -> str:
    """Return the source of a network, `SHA-256:function`, and remember where its file is.

    Args:
        reference: `file.py:function` or `module:function`.
        option: the option that names the function, for error messages.
    """
    module, _, function = reference.rpartition(":")
    if not module or not function:
        raise UserError(
            f"{option} {reference!r} must be written module:function or file.py:function"
        )
    path = _file_of_module(module)
    if path is None:
        raise UserError(f"there is no file {module}; give the file that builds the network")
    checksum = _checksum(path)
    _MODULES[checksum] = str(path.resolve()) if module.endswith(".py") else module
    return f"{checksum}:{function}"


def remember_files(folder: Path) -> None:
    """Remember the Python files in a folder, such as the sources that a study has saved.

    A file with the same content that was remembered before stays, as long as it is there.
    """
    for path in sorted(folder.glob("*.py")):
        checksum = _checksum(path)
        before = _file_of_module(_MODULES.get(checksum, ""))
        if before is None or _checksum(before) != checksum:
            _MODULES[checksum] = str(path.resolve())


def remember_if_same(reference: str, source: str) -> None:
    """Remember the file of a reference, if it still has the source that a configuration names."""
    path = _file_of_module(reference.rpartition(":")[0])
    if path is not None and _checksum(path) == source.partition(":")[0]:
        remember_source(reference)


def build_from_source(source: str) -> nn.Module:
    """Build the network of a source.

    If its function has an argument `seed`, it gets the seed of torch's random state.
    """
    return build_network(reference_of(source), seed=torch.initial_seed())


def file_of_source(source: str) -> Path:
    """Return the file of a source that this process has seen."""
    path = _file_of_module(reference_of(source).rpartition(":")[0])
    if path is None or _checksum(path) != source.partition(":")[0]:
        raise UserError(
            "the file of the network changed while the command ran; run the command again"
        )
    return path


def reference_of(source: str) -> str:
    """Return the text of a source that this process has seen: `file.py:function`."""
    checksum, _, function = source.partition(":")
    if checksum not in _MODULES:
        raise UserError(
            f"the file that builds the network with {function} is not in the study's folder; put "
            f"the file whose SHA-256 begins with {checksum[:16]} into `sources`"
        )
    return f"{_MODULES[checksum]}:{function}"


def _file_of_module(module: str) -> Path | None:
    """Return the file of a module, given by its path or its name; None if there is none."""
    if not module:
        return None
    if module.endswith(".py"):
        path = Path(module)
        return path if path.is_file() else None
    sys.path.insert(0, str(Path.cwd()))
    try:
        with suppress(ImportError, ValueError):
            spec = importlib.util.find_spec(module)
            return Path(spec.origin) if spec and spec.origin else None
    finally:
        sys.path.remove(str(Path.cwd()))
    return None


def _checksum(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
