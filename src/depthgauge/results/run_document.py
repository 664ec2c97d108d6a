"""One run as the JSON document that `show` prints: configuration, state, result and provenance."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pydantic import JsonValue

from depthgauge.config import SCHEMA_VERSION
from depthgauge.errors import UserError
from depthgauge.store.files import read_json
from depthgauge.store.metrics_file import MetricsFile
from depthgauge.store.run_paths import RunPaths


def run_document(folder: Path) -> dict[str, JsonValue]:
    """Return the document of the run in a folder.

    It has the run's configuration, its state, its result or failure, its provenance, and the
    reasons why damaged files were put aside.
    """
    paths = RunPaths(folder)
    if not folder.is_dir():
        raise UserError(f"there is no folder {folder}; the runs of a study are in STUDY/runs")
    if not paths.config_path.is_file():
        raise UserError(
            f"{folder} is not the folder of a run: it has no config.json; the runs of a study "
            "are in STUDY/runs"
        )
    ended = _ended(paths)
    recorded = MetricsFile(paths.metrics_path).lines()
    aside = sorted((folder / "quarantine").glob("*.reason.txt"))
    return {
        "schema_version": SCHEMA_VERSION,
        "run": str(folder),
        "config": read_json(paths.config_path),
        "state": _state(ended, begun=bool(recorded)),
        "epochs_recorded": len(recorded),
        **{name: ended[name] for name in ("final_acc", "diverged_epoch", "final") if name in ended},
        **{name: ended[name] for name in ("reason", "details") if name in ended},
        "provenance": ended.get("provenance", {}),
        "put_aside": [path.read_text(encoding="utf-8").strip() for path in aside],
    }


def _state(ended: Mapping[str, JsonValue], *, begun: bool) -> str:
    """Return the state of a run, as its folder shows it; a running run counts as stopped."""
    if "status" in ended:
        return str(ended["status"])
    if "reason" in ended:
        return "failed"
    return "stopped" if begun else "waiting"


def _ended(paths: RunPaths) -> dict[str, JsonValue]:
    """Return the content of the result file, else of the failure file; empty if neither exists."""
    for path in (paths.result_path, paths.failed_path):
        if path.exists():
            return dict(read_json(path))
    return {}
