"""What of a run that is done cannot be used is put aside: the run is then finished once more."""

from __future__ import annotations

from depthgauge.store.checkpoint import read_checkpoint
from depthgauge.store.files import content_of
from depthgauge.store.quarantine import DamagedError, put_aside
from depthgauge.store.result_file import what_is_wrong
from depthgauge.store.run_paths import RunPaths


def mend_result(run: RunPaths, epochs: int | None) -> bool:
    """Whether the run is done; a result that cannot be used was put aside.

    With `epochs`, the trained network is looked at too: where it is damaged, or not the one after
    so many epochs, the run is not done any more.
    """
    if not run.result_path.exists():
        return False
    wrong = what_is_wrong(content_of(run.result_path), run.path.name)
    if wrong is None and epochs is not None and not _has_its_network(run, epochs):
        wrong = "has lost its network"
    if wrong is not None:
        put_aside(run.result_path, wrong)
    return wrong is None


def _has_its_network(run: RunPaths, epochs: int) -> bool:
    """Whether the checkpoint of a done run is whole and of its end, or was taken away."""
    if not run.checkpoint_path.exists():
        return True
    try:
        return read_checkpoint(run.checkpoint_path).epoch == epochs
    except DamagedError:
        return False
