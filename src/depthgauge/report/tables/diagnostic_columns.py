"""What tables show of the diagnostics, as each one declares it."""

from __future__ import annotations

from collections.abc import Mapping

from depthgauge.diagnostics.contract import Column, Diagnostic, Quantity
from depthgauge.diagnostics.registry import diagnostics
from depthgauge.results.network import NetworkResult


def columns() -> list[Column]:
    """Return the columns of every diagnostic for a table of networks."""
    return [column for diagnostic in diagnostics() for column in diagnostic.columns]


def watched() -> list[Diagnostic]:
    """Return the diagnostics that are looked at after every epoch of training."""
    return [diagnostic for diagnostic in diagnostics() if diagnostic.recorded]


def measured(network: NetworkResult, quantity: Quantity) -> float | None:
    """Return what was read off a network; nothing was off one whose training diverged."""
    return None if network.diverged else network.readings.get(quantity.name)


def shown_readings(network: NetworkResult) -> list[str]:
    """Return the text of each of the columns."""
    return [column.quantity.show(measured(network, column.quantity)) for column in columns()]


def epoch_words(first_fired: Mapping[str, int | None], diagnostic: Diagnostic) -> str:
    """Say at which epoch a diagnostic first fired; `n/a` where it was not looked at."""
    if diagnostic.id not in first_fired:
        return "n/a"
    epoch = first_fired[diagnostic.id]
    return "never" if epoch is None else f"epoch {epoch}"
