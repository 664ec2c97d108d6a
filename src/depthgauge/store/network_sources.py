"""Save the file of a user's network in a study's folder, and find it there again."""

from __future__ import annotations

from pathlib import Path

from depthgauge.config import NetConfig
from depthgauge.nets.user_sources import file_of_source, remember_files, remember_if_same
from depthgauge.store.files import make_folder, write_bytes
from depthgauge.store.relative_paths import SOURCES

DIGITS = 16
"""The digits of the SHA-256 that name a saved file."""


def saved_source(study: Path, net: NetConfig) -> Path | None:
    """Return the path of a user's network in the study's folder; None for other networks."""
    return study / SOURCES / f"{net.source[:DIGITS]}.py" if net.source else None


def save_source(study: Path, net: NetConfig) -> None:
    """Copy the file of a user's network into the study's folder, if it is not there."""
    saved = saved_source(study, net)
    if saved is not None and not saved.exists():
        make_folder(saved.parent)
        write_bytes(saved, file_of_source(net.source).read_bytes())


def remember_sources(study: Path, net: NetConfig, typed: str = "") -> None:
    """Make the network of a study's runs known to this process.

    The user's own file, if `typed` names it and it did not change, is used rather than the copy in
    the study's folder: only beside the user's file are the modules that it imports.
    """
    if typed:
        remember_if_same(typed, net.source)
    if net.source:
        remember_files(study / SOURCES)
