"""The registry of diagnostics: first those of the package, then those that a user adds."""

from __future__ import annotations

from depthgauge.diagnostics.contract import Diagnostic, Quantity, Threshold
from depthgauge.diagnostics.depth_utility import DEPTH_UTILITY
from depthgauge.diagnostics.reference import REFERENCE
from depthgauge.diagnostics.scale import SCALE
from depthgauge.diagnostics.stability import STABILITY
from depthgauge.errors import UserError

_registered = {
    diagnostic.id: diagnostic for diagnostic in (SCALE, REFERENCE, STABILITY, DEPTH_UTILITY)
}


def diagnostics() -> tuple[Diagnostic, ...]:
    """Return every diagnostic, in the order in which they are shown."""
    return tuple(_registered.values())


def verdict_diagnostics() -> tuple[Diagnostic, ...]:
    """Return the diagnostics that have a part in the verdict."""
    return tuple(diagnostic for diagnostic in diagnostics() if diagnostic.counts)


def thresholds() -> tuple[Threshold, ...]:
    """Return the thresholds of every diagnostic."""
    return tuple(limit for diagnostic in diagnostics() for limit in diagnostic.thresholds)


def quantities() -> dict[str, Quantity]:
    """Return the quantities of every diagnostic, by name."""
    return {
        quantity.name: quantity
        for diagnostic in diagnostics()
        for quantity in diagnostic.quantities
    }


def register(new: Diagnostic) -> None:
    """Add a diagnostic after the existing ones; verdicts, thresholds and reports then include it.

    A quantity may belong to several diagnostics, but a name may not stand for two quantities.
    """
    if new.id in _registered:
        raise UserError(f"a diagnostic {new.id} exists already; give yours another id")
    for name in {t.name for t in new.thresholds} & {"error_rate", *(t.name for t in thresholds())}:
        raise UserError(
            f"a threshold {name} exists already; give the threshold of {new.id} another name"
        )
    known = quantities()
    for quantity in new.quantities:
        if known.get(quantity.name, quantity) is not quantity:
            raise UserError(
                f"{new.id} defines a quantity {quantity.name}, which an earlier diagnostic "
                "defines in another way; rename your quantity, or use the earlier quantity"
            )
    _registered[new.id] = new


def unregister(name: str) -> None:
    """Remove the diagnostic with this id."""
    if name not in _registered:
        known = ", ".join(_registered)
        raise UserError(f"there is no diagnostic {name}; the diagnostics are: {known}")
    del _registered[name]
