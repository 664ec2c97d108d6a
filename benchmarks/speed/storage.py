"""The real store, for a cohort that is measured."""

from __future__ import annotations

from pathlib import Path

from depthgauge.store.claims import Claims
from depthgauge.store.recorder import StoreRecorder
from depthgauge.store.run_folder import RunFolder
from depthgauge.training.stacked_mlp.cohort import Cohort


class Storage:
    """The folders, the recorder and the claim of a cohort."""

    def __init__(self, folder: Path, cohort: Cohort) -> None:
        folders = [RunFolder(folder / "runs", config) for config in cohort.configs]
        for run in folders:
            run.create()
        self.recorder = StoreRecorder(folders)
        claim = Claims(folder / "claims").take("cohort")
        assert claim is not None
        self._claim = claim

    def beat(self) -> None:
        """Write a heartbeat."""
        self._claim.beat({"steps": 1, "epoch": 1, "label": "cohort"})
