"""What of a run that is done cannot be used is put aside: the run is then finished once more."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from depthgauge.config import RunConfig
from depthgauge.store.checkpoint import read_checkpoint
from depthgauge.store.files import content_of
from depthgauge.store.quarantine import DamagedError, put_aside
from depthgauge.store.result_file import ResultFile, what_is_wrong
from depthgauge.store.run_folder import RunFolder
from depthgauge.store.study_folder import StudyFolder
from depthgauge.training.loop import RunState


@dataclass(frozen=True)
class DoneRun:
    """A run that is done, as it was read.

    Attributes:
        config: what defines it.
        result: the content of its `result.json`.
        network: its last checkpoint; None where that was not asked for, or was taken away.
    """

    config: RunConfig
    result: ResultFile
    network: RunState | None = None


def read_done_runs(
    study: StudyFolder, runs: Iterable[tuple[RunConfig, bool]]
) -> dict[str, DoneRun]:
    """Put what cannot be used aside, and return the runs that are done by identity.

    Each run is given with whether its network is needed.
    """
    mended = (read_done_run(study.run(config), network=network) for config, network in runs)
    return {run.config.identity: run for run in mended if run is not None}


def read_done_run(run: RunFolder, *, network: bool) -> DoneRun | None:
    """Return the run if it is done; what of it cannot be used was put aside.

    Where the `network` is needed and is damaged, or not that of the last epoch, the run is not done
    any more. A configuration that is not the run's is written anew.
    """
    if not run.result_path.exists():
        return None
    result, state = content_of(run.result_path), None
    wrong = what_is_wrong(result, run.path.name)
    if wrong is None and network:
        try:
            state = _last_state(run)
        except DamagedError:
            wrong = "has lost its network"
    if wrong is not None:
        put_aside(run.result_path, wrong)
        return None
    run.create()
    return DoneRun(run.config, result, state)


def _last_state(run: RunFolder) -> RunState | None:
    """Return the checkpoint of a done run; None if it was taken away."""
    if not run.checkpoint_path.exists():
        return None
    state = read_checkpoint(run.checkpoint_path)
    if state.epoch != run.config.recipe.epochs:
        raise DamagedError("is not of the last epoch")
    return state
