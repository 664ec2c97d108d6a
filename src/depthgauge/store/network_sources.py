"""Save the files of a user's network and loss in a study's folder, and find them there again."""

from __future__ import annotations

from pathlib import Path

from depthgauge.config import NetConfig, Recipe
from depthgauge.losses.user_losses import file_of_loss, remember_losses
from depthgauge.nets.user.sources import file_of_source, remember_files, remember_if_same
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


def saved_loss(study: Path, recipe: Recipe) -> Path | None:
    """Return the path of a user's loss in the study's folder; None for a registered loss."""
    _, at, digits = recipe.loss.partition("@")
    return study / SOURCES / f"{digits}.py" if at else None


def save_loss(study: Path, recipe: Recipe) -> None:
    """Copy the file of a user's loss into the study's folder, if it is not there."""
    saved, path = saved_loss(study, recipe), file_of_loss(recipe.loss)
    if saved is not None and path is not None and not saved.exists():
        make_folder(saved.parent)
        write_bytes(saved, path.read_bytes())


def remember_sources(study: Path, net: NetConfig, typed: str = "") -> None:
    """Make the network and the loss of a study's runs known to this process.

    The user's own file, if `typed` names it and it did not change, is used rather than the copy in
    the study's folder: only beside the user's file are the modules that it imports.
    """
    remember_losses(study / SOURCES)
    if typed:
        remember_if_same(typed, net.source)
    if net.source:
        remember_files(study / SOURCES)
