"""depthgauge measures whether a learning rule trains the depth of a network.

    import depthgauge as dg

    study = dg.audit(rules=["bp", "dfa"], seeds=3)
    study["dfa"].verdict.word

Every name below is loaded when it is first used: `import depthgauge` does not import torch.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from depthgauge.api import (
        Reproduction,
        audit,
        check_net,
        compare,
        identity,
        ladder,
        null,
        plan,
        plot,
        report,
        reproduce,
        resume,
        retry,
    )
    from depthgauge.auditing.identity import IdentityResult
    from depthgauge.checks.network.answer import NetCheck
    from depthgauge.config import RunConfig
    from depthgauge.diagnosis.diagnose import diagnose
    from depthgauge.diagnosis.report import Report
    from depthgauge.diagnosis.watch import Watch, watch
    from depthgauge.diagnostics.contract import Diagnostic
    from depthgauge.diagnostics.finding import Finding
    from depthgauge.diagnostics.used_depth import RungFinding, UsedDepth
    from depthgauge.errors import UserError
    from depthgauge.gauges.null import NullReading
    from depthgauge.gauges.reading import Reading
    from depthgauge.losses.contract import Loss
    from depthgauge.nets.layout import Layout
    from depthgauge.nets.net_shape import NetShape
    from depthgauge.nets.stack import Stack
    from depthgauge.published.compare import PublishedComparison
    from depthgauge.report.plot import Plot
    from depthgauge.results.comparison import Comparison
    from depthgauge.results.ladder import Rung
    from depthgauge.results.load import load
    from depthgauge.results.network import NetworkResult
    from depthgauge.results.rule import RuleResult
    from depthgauge.results.run import RunResult
    from depthgauge.results.study import StudyResult
    from depthgauge.rules.contract import Context, Credit, NormalisedOptions, Rule, RuleOptions
    from depthgauge.scheduling.dry_run import StudyPlan
    from depthgauge.study_config import StudyConfig
    from depthgauge.tasks.base import Split, Task
    from depthgauge.verdict.judge import Verdict, judge
    from depthgauge.verdict.thresholds import Thresholds
    from depthgauge.verdict.used_depth_of_arrays import used_depth

__version__ = "0.1.0"

_HOMES = {
    "depthgauge.api": (
        *("Reproduction", "audit", "check_net", "compare", "identity", "ladder", "null", "plan"),
        *("plot", "report", "reproduce", "resume", "retry"),
    ),
    "depthgauge.auditing.identity": ("IdentityResult",),
    "depthgauge.checks.network.answer": ("NetCheck",),
    "depthgauge.config": ("RunConfig",),
    "depthgauge.diagnosis.diagnose": ("diagnose",),
    "depthgauge.diagnosis.report": ("Report",),
    "depthgauge.diagnosis.watch": ("Watch", "watch"),
    "depthgauge.diagnostics.contract": ("Diagnostic",),
    "depthgauge.diagnostics.finding": ("Finding",),
    "depthgauge.diagnostics.used_depth": ("RungFinding", "UsedDepth"),
    "depthgauge.errors": ("UserError",),
    "depthgauge.gauges.null": ("NullReading",),
    "depthgauge.gauges.reading": ("Reading",),
    "depthgauge.losses.contract": ("Loss",),
    "depthgauge.nets.layout": ("Layout",),
    "depthgauge.nets.net_shape": ("NetShape",),
    "depthgauge.nets.stack": ("Stack",),
    "depthgauge.published.compare": ("PublishedComparison",),
    "depthgauge.report.plot": ("Plot",),
    "depthgauge.results.comparison": ("Comparison",),
    "depthgauge.results.load": ("load",),
    "depthgauge.results.network": ("NetworkResult",),
    "depthgauge.results.rule": ("RuleResult",),
    "depthgauge.results.run": ("RunResult",),
    "depthgauge.results.ladder": ("Rung",),
    "depthgauge.results.study": ("StudyResult",),
    "depthgauge.rules.contract": ("Context", "Credit", "NormalisedOptions", "Rule", "RuleOptions"),
    "depthgauge.scheduling.dry_run": ("StudyPlan",),
    "depthgauge.study_config": ("StudyConfig",),
    "depthgauge.tasks.base": ("Split", "Task"),
    "depthgauge.verdict.used_depth_of_arrays": ("used_depth",),
    "depthgauge.verdict.judge": ("Verdict", "judge"),
    "depthgauge.verdict.thresholds": ("Thresholds",),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "Comparison",
    "Context",
    "Credit",
    "Diagnostic",
    "Finding",
    "IdentityResult",
    "Layout",
    "Loss",
    "NetCheck",
    "NetShape",
    "NetworkResult",
    "NormalisedOptions",
    "NullReading",
    "Plot",
    "PublishedComparison",
    "Reading",
    "Report",
    "Reproduction",
    "Rule",
    "RuleOptions",
    "RuleResult",
    "RunConfig",
    "RunResult",
    "Rung",
    "RungFinding",
    "Split",
    "Stack",
    "StudyConfig",
    "StudyPlan",
    "StudyResult",
    "Task",
    "Thresholds",
    "UsedDepth",
    "UserError",
    "Verdict",
    "Watch",
    "__version__",
    "audit",
    "check_net",
    "compare",
    "diagnose",
    "identity",
    "judge",
    "ladder",
    "load",
    "null",
    "plan",
    "plot",
    "report",
    "reproduce",
    "resume",
    "retry",
    "used_depth",
    "watch",
]


class _Package(ModuleType):
    """The class of this package: `depthgauge.report` stays a function.

    Without this class, importing the subpackage `depthgauge.report` would replace the function
    `report` by the subpackage.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute, but ignore a module that has the name of a public function or class."""
        if not (isinstance(value, ModuleType) and name in _HOME_OF):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    """Import the module that defines the public name, and return the named object."""
    if name not in _HOME_OF:
        raise AttributeError(f"module 'depthgauge' has no attribute {name!r}")
    return getattr(import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    """Return the public names, for `dir` and tab completion."""
    return sorted(__all__)
