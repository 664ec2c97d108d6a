"""The networks there are, by name."""

from __future__ import annotations

from depthgauge.errors import UserError
from depthgauge.nets.residual_mlp import ResidualMLP

NETS: dict[str, type[ResidualMLP]] = {"residual_mlp": ResidualMLP}


def find_net(name: str) -> type[ResidualMLP]:
    """The network class called `name`."""
    if name not in NETS:
        raise UserError(f"there is no net called {name!r}; there are: {', '.join(sorted(NETS))}")
    return NETS[name]
