"""What people look at: terminal, figures, page, paper.

Python binds a room that is imported to its package, where `depthgauge.report` is a function too.
Whichever of the two the name has come to mean, it can be called.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from depthgauge.results.study import StudyResult


class _Room(ModuleType):
    def __call__(self, study: StudyResult | str | Path, path: str | Path | None = None) -> Path:
        """Do what `depthgauge.api.report` does."""
        written: Path = import_module("depthgauge.api").report(study, path)
        return written


sys.modules[__name__].__class__ = _Room
