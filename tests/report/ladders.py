"""Ladder documents made by hand."""

from __future__ import annotations

from typing import Any

from depthgauge.studies.ladder import summarise

Accuracies = dict[str, dict[int, list[float | None]]]


def make_ladder(
    accuracies: Accuracies, *, blocks: int = 4, task: str = "digits", chance: float = 0.125
) -> dict[str, Any]:
    """From `{rule: {k: accuracies of seeds 1, 2, …}}`; None is a run that diverged in epoch 3."""
    results = {
        rule: {
            str(k): {str(seed): _run(value) for seed, value in enumerate(values, start=1)}
            for k, values in rungs.items()
        }
        for rule, rungs in accuracies.items()
    }
    return {
        "config": {
            "task": {"name": task, "evaluated_on": "test"},
            "net": {"name": "residual_mlp", "width": 32, "blocks": blocks},
            "recipe": {"epochs": 7},
            "chance": chance,
        },
        "results": results,
        "summary": {
            rule: {k: summarise(runs.values()) for k, runs in rungs.items()}
            for rule, rungs in results.items()
        },
    }


def _run(accuracy: float | None) -> dict[str, Any]:
    return {
        "final_acc": accuracy,
        "status": "finished" if accuracy is not None else "diverged",
        "diverged_epoch": None if accuracy is not None else 3,
    }


def curve(*accuracies: float) -> dict[int, list[float | None]]:
    """One run at each k = 0, 1, …"""
    return {k: [accuracy] for k, accuracy in enumerate(accuracies)}
