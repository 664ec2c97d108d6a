"""Studies made by hand, as a paper's tables and template take them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from studies.audited_networks import audited

from depthgauge.config import NetConfig, Recipe, RuleConfig, RunConfig, TaskConfig
from depthgauge.controls import CONTROLS
from depthgauge.studies.audit_document import audit_document
from depthgauge.studies.gathered import Gathered, GatheredRun, State
from depthgauge.verdict.thresholds import Thresholds

HOSTILE = (
    "<script>alert(1)</script>",
    "a|b",
    "*x*",
    "[l](javascript:1)",
    "`code`",
    "$x$",
    "two\nlines",
    r"\input{secret}",
    "50 % & #1 ^ _ ~ {a} \\",
    '--"quoted"\'s ?` !` ,,',
    "# heading",
    "- item",
    "1. item",
    "http://x.y www.x.y",
    "中文 naïve Γ ρ λ ± − ≤ ✓ ‖h_L‖ 1.2×10⁻⁹",
    "a" * 70,
)
"""Names that Markdown or LaTeX would take for something else."""

TASK = TaskConfig(name="teacher", checksum="8e65" * 16)
NET = NetConfig(width=8, blocks=2)
RECIPE = Recipe(epochs=3)
COMMIT = "c0ffee" * 6


def make_run(
    method: str = "dfa",
    k: int = 2,
    seed: int = 1,
    accuracy: float | None = 0.3,
    *,
    state: State = "finished",
    growth: float = 1.5,
    gradient: float = 0.1,
    name: str | None = None,
    control: str | None = None,
    commit: str | None = COMMIT,
    reason: str | None = None,
    **options: Any,
) -> GatheredRun:
    net = CONTROLS[control].net(NET) if control else NET
    config = RunConfig(
        task=TASK,
        net=net,
        rule=RuleConfig(name=name or method, label=method, options=options),
        recipe=RECIPE,
        k=k,
        seed=seed,
    )
    ended = state in ("finished", "diverged", "failed")
    line = {
        "epoch": 3,
        "accuracy": accuracy,
        "diverged": state == "diverged",
        "h_norm": [2.0, 2.0, 2.0 * growth],
        "g_norm": [gradient] * 3,
        "g_over_e": gradient,
    }
    provenance = {"version": "0.1.0", "commit": commit, "torch": "2.13.0", "device": "cpu"}
    return GatheredRun(
        config=config,
        method=method,
        state=state,
        accuracy=accuracy if state == "finished" else None,
        reason=reason,
        lines=[line] if state in ("finished", "diverged") else [],
        provenance=provenance if ended else {},
    )


def make_study(
    runs: Sequence[GatheredRun] = (), audit: dict[str, Any] | None = None, **more: Any
) -> Gathered:
    base = {
        "task": TASK.model_dump(mode="json"),
        "net": NET.model_dump(mode="json"),
        "recipe": RECIPE.model_dump(mode="json"),
    }
    study = Gathered("my_study", base, 0.1, tuple(runs), audit, "cpu", 1)
    return replace(study, **more)


def pairs(method: str, gains: Sequence[float], **more: Any) -> list[GatheredRun]:
    """For each seed a run with frozen blocks at 30 %, and one that gains so much."""
    return [
        make_run(method, k, seed, accuracy, **more)
        for seed, gain in enumerate(gains, start=1)
        for k, accuracy in ((0, 0.3), (2, 0.3 + gain))
    ]


def recorded_study(method: str = "dfa") -> Gathered:
    """Backpropagation that gains from depth, and a rule that does not; no audit."""
    healthy = pairs("bp", (0.400, 0.401, 0.402))
    return make_study([*healthy, *pairs(method, (-0.04, -0.041, -0.042), growth=700.0)])


def audited_study(method: str = "dfa", *, alone: bool = False) -> Gathered:
    """The same two rules audited, Γ and its null with them; `alone`: without their runs."""
    networks = [
        audited("bp", 1, 0.700, 0.3, gamma=1.0),
        audited("bp", 2, 0.702, 0.3, gamma=1.0),
        audited(method, 1, 0.26, 0.3, growth=700.0, gamma=0.25, stability=0.4),
        audited(method, 2, 0.261, 0.3, growth=710.0, gamma=0.25),
    ]
    config = {"task": TASK.model_dump(mode="json"), "chance": 0.1}
    document = audit_document(networks, config, Thresholds(), {}, {"version": "9.9.9"})
    for seed in (1, 2):
        document["reports"][f"{method}_s{seed}"]["readings"]["null"] = {
            "draws": 200,
            "per_layer": [{"word": "absent"}, {"word": "specific"}],
            "deep": {"word": "specific"},
        }
    if alone:
        return Gathered("my_study", document["config"], 0.1, (), document)
    return make_study(recorded_study(method).runs, document)
