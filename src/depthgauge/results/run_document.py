"""One run as a document: what it was, what it came to, and where that comes from."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from depthgauge.config import SCHEMA_VERSION
from depthgauge.errors import UserError
from depthgauge.store.files import read_json
from depthgauge.store.metrics_file import MetricsFile
from depthgauge.store.run_paths import RunPaths


def run_document(folder: Path) -> dict[str, Any]:
    """Return configuration, state, result or failure, provenance, and what was put aside."""
    paths = RunPaths(folder)
    if not folder.is_dir():
        raise UserError(f"there is no folder {folder}; runs are in DIR/runs of a study DIR")
    if not paths.config_path.is_file():
        raise UserError(f"{folder} is not the folder of a run: it has no config.json")
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


def _state(ended: Mapping[str, Any], *, begun: bool) -> str:
    """Return the state of a run by its folder alone, which does not tell who is training it."""
    if "status" in ended:
        return str(ended["status"])
    if "reason" in ended:
        return "failed"
    return "stopped" if begun else "waiting"


def _ended(paths: RunPaths) -> dict[str, Any]:
    """Return the result, or the failure, or nothing."""
    if paths.result_path.exists():
        return dict(read_json(paths.result_path))
    return paths.failure or {}
