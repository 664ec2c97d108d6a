"""The columns that diagnostics declare for tables, and the texts of their cells."""

from __future__ import annotations

from collections.abc import Mapping

from depthgauge.diagnostics.contract import Column, Diagnostic, Quantity
from depthgauge.diagnostics.registry import diagnostics
from depthgauge.results.network import NetworkResult


def columns() -> list[Column]:
    """Return the columns of every diagnostic for a table of networks."""
    return [column for diagnostic in diagnostics() for column in diagnostic.columns]


def watched() -> list[Diagnostic]:
    """Return the diagnostics whose quantities training records after every epoch."""
    return [diagnostic for diagnostic in diagnostics() if diagnostic.recorded]


def measured(network: NetworkResult, quantity: Quantity) -> float | None:
    """Return the value of a quantity for a network; None if the network's training diverged."""
    return None if network.diverged else network.readings.get(quantity.name)


def shown_readings(network: NetworkResult) -> list[str]:
    """Return the values of a network as texts, one for each of the `columns`."""
    return [column.quantity.show(measured(network, column.quantity)) for column in columns()]


def epoch_words(first_fired: Mapping[str, int | None], diagnostic: Diagnostic) -> str:
    """Say at which epoch a diagnostic first fired; `n/a` if training recorded nothing for it."""
    if diagnostic.id not in first_fired:
        return "n/a"
    epoch = first_fired[diagnostic.id]
    return "never" if epoch is None else f"epoch {epoch}"
