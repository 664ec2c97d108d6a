"""Export of a study's epochs as CSV or Parquet."""

from __future__ import annotations

from pathlib import Path

from depthgauge.results.data_frames import frame_of
from depthgauge.results.study import StudyResult
from depthgauge.store.files import write_atomically


def write_epochs(study: StudyResult, path: Path, kind: str) -> None:
    """Write a row for each run and epoch; `kind` is "csv", or "parquet", which needs pyarrow."""
    frame = frame_of(study, "epochs")

    def write(temporary: Path) -> None:
        if kind == "csv":
            frame.to_csv(temporary, index=False)
        else:
            frame.to_parquet(temporary, index=False, engine="pyarrow")

    write_atomically(path, write)


def runs_with_lost_epochs(study: StudyResult) -> list[str]:
    """Return the ids of the finished or diverged runs that lack the metrics of some epochs."""
    return [
        run.identity
        for run in study.runs
        if run.is_done and len(run.epochs) != run.config.recipe.epochs + 1
    ]
