"""depthgauge: does a learning rule train the depth of a network?

from depthgauge import diagnose, watch
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from depthgauge.diagnosis.diagnose import diagnose
    from depthgauge.diagnosis.report import Report
    from depthgauge.diagnosis.watch import watch
    from depthgauge.diagnostics.finding import Finding
    from depthgauge.errors import UserError
    from depthgauge.nets.layout import Layout
    from depthgauge.verdict.judge import judge
    from depthgauge.verdict.thresholds import Thresholds

__version__ = "0.1.0"
__all__ = [
    "Finding",
    "Layout",
    "Report",
    "Thresholds",
    "UserError",
    "__version__",
    "diagnose",
    "judge",
    "watch",
]

_HOMES = {
    "Finding": "depthgauge.diagnostics.finding",
    "Layout": "depthgauge.nets.layout",
    "Report": "depthgauge.diagnosis.report",
    "Thresholds": "depthgauge.verdict.thresholds",
    "UserError": "depthgauge.errors",
    "diagnose": "depthgauge.diagnosis.diagnose",
    "judge": "depthgauge.verdict.judge",
    "watch": "depthgauge.diagnosis.watch",
}


def __getattr__(name: str) -> Any:
    """Load what is asked for only then: `depthgauge --help` answers without torch."""
    from importlib import import_module  # noqa: PLC0415

    if name not in _HOMES:
        raise AttributeError(f"module 'depthgauge' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
