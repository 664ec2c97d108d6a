"""Studies made by hand, as figures get them: runs, and an audit where one is wanted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from depthgauge.config import NetConfig, Recipe, RuleConfig, RunConfig, TaskConfig
from depthgauge.store.files import finite
from depthgauge.studies.gathered import Gathered, GatheredRun, State
from depthgauge.verdict.judge import judge
from depthgauge.verdict.thresholds import Thresholds

BLOCKS = 2
BASE = {"task": {"name": "digits"}, "net": {"width": 8, "blocks": BLOCKS}}
Line = dict[str, Any]


def make_line(epoch: int = 1, **more: Any) -> Line:
    line = {
        "epoch": epoch,
        "accuracy": 0.1 * epoch,
        "h_norm": [1.0, 2.0, 4.0],
        "g_norm": [0.3, 0.2, 0.1],
        "g_over_e": 0.5,
        "diverged": False,
    }
    return line | more


def make_run(
    rule: str = "bp",
    seed: int = 1,
    *,
    k: int = BLOCKS,
    accuracy: float | None = 0.5,
    lines: Sequence[Line] | None = None,
    blocks: int = BLOCKS,
    state: State | None = None,
) -> GatheredRun:
    """Finished with that accuracy, or diverged without one."""
    config = RunConfig(
        task=TaskConfig(name="digits", checksum="0"),
        net=NetConfig(width=8, blocks=blocks),
        rule=RuleConfig(name="bp" if rule == "bp" else "other", label=rule),
        recipe=Recipe(epochs=2),
        k=k,
        seed=seed,
    )
    lines = [make_line(0), make_line(1), make_line(2)] if lines is None else lines
    state = state or ("diverged" if accuracy is None else "finished")
    return GatheredRun(config, rule, state, accuracy, None, lines, {})


def make_study(*runs: GatheredRun, audit: dict[str, Any] | None = None) -> Gathered:
    return Gathered("study", BASE, 0.125, runs, audit)


def make_null(
    draws: Sequence[float | None] = (-0.1, 0.0, 0.1),
    observed: float | None = 0.4,
    word: str = "mixed",
) -> dict[str, Any]:
    layers = [{"mean": 0.1 * n, "spread": 0.05} for n in range(BLOCKS + 1)]
    return {
        "per_layer": layers,
        "deep": {"observed": observed, "word": word},
        "fresh_deep": list(draws),
    }


def make_network(
    method: str = "bp",
    seed: int = 1,
    *,
    growth: float | None = 1.5,
    gradient: float | None = 0.1,
    stability: float | None = 0.1,
    accuracy: float | None = 0.5,
    frozen: float | None = 0.4,
    diverged: bool = False,
    null: dict[str, Any] | None = None,
    run: str | None = None,
) -> dict[str, Any]:
    """What an audit says of one network: the row of its summary, and its report."""
    row = {
        "method": method,
        "seed": seed,
        "acc": None if diverged else accuracy,
        "frozen_acc": frozen,
        "growth": None if diverged else growth,
        "g_L": None if diverged else gradient,
        "stability": None if diverged else stability,
        "first_fired": None,
        "source": {"run": run},
    }
    readings: dict[str, Any] = {
        "reference": {"over_error": 0.5},
        "alignment": {"per_layer": [0.9, None, 0.7]},
        "perturbation": {"per_layer": [0.8, 0.6, -0.1]},
    }
    if null is not None:
        readings["null"] = null
    report = {
        "readings": readings,
        "residual_norms": [1.0, 10.0, 100.0],
        "bp_grad_norms": [1.0, 0.1, 0.0],
    }
    return {"row": row, "report": None if diverged else report}


def make_audit(*networks: dict[str, Any], bp_gain: float | None = 0.3) -> dict[str, Any]:
    rows = [network["row"] for network in networks]
    methods = list(dict.fromkeys(row["method"] for row in rows))
    reports = {
        f"{n['row']['method']}_s{n['row']['seed']}": n["report"] for n in networks if n["report"]
    }
    audit: dict[str, Any] = finite(
        {
            "config": BASE | {"chance": 0.125, "bp_depth_gain": bp_gain},
            "thresholds": dict(Thresholds()),
            "summary": rows,
            "reports": reports,
            "verdicts": {
                m: _verdict([r for r in rows if r["method"] == m], bp_gain) for m in methods
            },
        }
    )
    return audit


def _verdict(rows: Sequence[dict[str, Any]], bp_gain: float | None) -> dict[str, Any]:
    seeds = [
        {
            "growth": row["growth"],
            "gradient": row["g_L"],
            "error_share": 0.5,
            "depth_gain": row["acc"] - row["frozen_acc"],
        }
        for row in rows
        if None not in (row["growth"], row["g_L"], row["acc"], row["frozen_acc"])
    ]
    found = judge(seeds, bp_gain=bp_gain) if seeds else None
    return {
        "verdict": found.word if found else "diverged",
        "verdict_in_words": str(found) if found else "diverged",
        "fired": list(found.fired) if found else [],
        "single_seed": bool(found and found.single_seed),
        "diagnostics": [d.to_dict() for d in found.findings] if found else [],
    }
