"""The diagnostics that there are, in order: those of the package, then those registered since."""

from __future__ import annotations

from depthgauge.diagnostics.contract import Diagnostic, Quantity, Threshold
from depthgauge.diagnostics.depth_utility import DEPTH_UTILITY
from depthgauge.diagnostics.reference import REFERENCE
from depthgauge.diagnostics.scale import SCALE
from depthgauge.diagnostics.stability import STABILITY
from depthgauge.errors import UserError

_registered = {one.id: one for one in (SCALE, REFERENCE, STABILITY, DEPTH_UTILITY)}


def diagnostics() -> tuple[Diagnostic, ...]:
    """Return every diagnostic, in the order in which they are shown."""
    return tuple(_registered.values())


def counting() -> tuple[Diagnostic, ...]:
    """Return the diagnostics that have a part in the verdict."""
    return tuple(one for one in diagnostics() if one.counts)


def thresholds() -> tuple[Threshold, ...]:
    """Return the thresholds of every diagnostic."""
    return tuple(threshold for one in diagnostics() for threshold in one.thresholds)


def quantities() -> dict[str, Quantity]:
    """Return what the diagnostics read off a network, by name."""
    return {quantity.name: quantity for one in diagnostics() for quantity in one.quantities}


def register(new: Diagnostic) -> None:
    """Add a diagnostic after the others; verdicts, thresholds and reports have it from then on.

    It may read a quantity that another one reads too, but names may not mean two things.
    """
    if new.id in _registered:
        raise UserError(f"there is a diagnostic {new.id} already; give yours another id")
    for name in {t.name for t in new.thresholds} & {"error_rate", *(t.name for t in thresholds())}:
        raise UserError(f"there is a threshold {name} already; give that of {new.id} another name")
    known = quantities()
    for quantity in new.quantities:
        if known.get(quantity.name, quantity) is not quantity:
            raise UserError(
                f"{new.id} reads another {quantity.name} than the diagnostics before it; give its "
                "quantity another name, or use theirs"
            )
    _registered[new.id] = new


def unregister(name: str) -> None:
    """Remove the diagnostic with this id."""
    if name not in _registered:
        raise UserError(f"there is no diagnostic {name}; there are: {', '.join(_registered)}")
    del _registered[name]
