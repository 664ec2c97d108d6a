"""An audit document with nothing in it but what the thirty-epoch figures are compared with."""

from __future__ import annotations

from typing import Any

from depthgauge.config import Recipe


def make_report(
    accuracy: float | None, alignment: float | None = None, rho: float | None = None
) -> dict[str, Any]:
    per_layer = [0.3, 0.1, 0.2, 0.1, 0.2]
    return {
        "headline_acc": accuracy,
        "readings": {
            "alignment_record": {"value": alignment, "per_layer": per_layer},
            "perturbation_record": {"value": rho},
        },
    }


def make_document(reports: dict[str, Any], epochs: int = 30) -> dict[str, Any]:
    config = {
        "recipe": Recipe(epochs=epochs).model_dump(mode="json"),
        "task": {"evaluated_on": "test"},
    }
    return {"config": config, "reports": reports}
