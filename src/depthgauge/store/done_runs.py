"""Read the runs that have a result; put damaged files aside, to train their runs again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from depthgauge.config import RunConfig
from depthgauge.store.checkpoint import read_checkpoint
from depthgauge.store.files import read_json_or_none
from depthgauge.store.quarantine import DamagedError, put_aside
from depthgauge.store.result_file import ResultFile, find_fault
from depthgauge.store.run_folder import RunFolder
from depthgauge.store.study_folder import StudyFolder
from depthgauge.training.trainee import RunState


@dataclass(frozen=True)
class DoneRun:
    """A run that is done, as read from its folder.

    A run is done if it has a result: it has finished or diverged.

    Attributes:
        config: the run's configuration.
        result: the content of the run's `result.json`.
        network: the run's last checkpoint; None if it was not asked for, or was removed.
    """

    config: RunConfig
    result: ResultFile
    network: RunState | None = None


def read_done_runs(
    study: StudyFolder, runs: Iterable[tuple[RunConfig, bool]]
) -> dict[str, DoneRun]:
    """Return the done runs among `runs`, by identity; put damaged files aside.

    Each entry of `runs` is a configuration, and whether to read the run's network too.
    """
    read = (read_done_run(study.run(config), network=network) for config, network in runs)
    return {run.config.identity: run for run in read if run is not None}


def read_done_run(run: RunFolder, *, network: bool) -> DoneRun | None:
    """Return the run if it is done, else None; put damaged files aside.

    With `network`, the last checkpoint is read too. If the checkpoint is damaged or not of the last
    epoch, the run does not count as done. A `config.json` that does not fit the run is written
    again.
    """
    if not run.result_path.exists():
        return None
    result, state = read_json_or_none(run.result_path), None
    fault = find_fault(result, run.path.name)
    if fault is None and network:
        try:
            state = _last_state(run)
        except DamagedError:
            fault = "belongs to a run whose last checkpoint is damaged"
    if fault is not None:
        put_aside(run.result_path, fault)
        return None
    run.create()
    return DoneRun(run.config, result, state)


def _last_state(run: RunFolder) -> RunState | None:
    """Return the last checkpoint of a done run; None if the checkpoint was removed."""
    if not run.checkpoint_path.exists():
        return None
    state = read_checkpoint(run.checkpoint_path)
    if state.epoch != run.config.recipe.epochs:
        raise DamagedError("the checkpoint was not saved at the last epoch")
    return state
