"""Where a cohort's training goes: the real store."""

from __future__ import annotations

from pathlib import Path

from depthgauge.store.claims import Claims
from depthgauge.store.recorder import StoreRecorder
from depthgauge.store.run_folder import RunFolder
from depthgauge.training.cohort import Cohort


class Storage:
    """The recorder of a cohort, its runs' folders made, and its claim."""

    def __init__(self, folder: Path, cohort: Cohort) -> None:
        folders = [RunFolder(folder / "runs", config) for config in cohort.configs]
        for one in folders:
            one.create()
        self.recorder = StoreRecorder(folders)
        claim = Claims(folder / "claims").take("cohort")
        assert claim is not None
        self._claim = claim

    def beat(self) -> None:
        """A sign of life."""
        self._claim.beat({"steps": 1, "epoch": 1, "label": "cohort"})
