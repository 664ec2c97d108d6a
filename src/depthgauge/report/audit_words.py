"""The audit in words: why each rule got its verdict, and how firmly it stands."""

from __future__ import annotations

from typing import Any

from depthgauge.diagnosis.text import in_words
from depthgauge.report.recipe_words import recipe_words
from depthgauge.verdict.sensitivity import StableRange


def audit_words(document: dict[str, Any]) -> list[str]:
    """For each rule its three diagnostics; then the task, the controls and the settings."""
    words = []
    for method, entry in document["verdicts"].items():
        if entry.get("control"):
            continue
        words += [
            f"{method} {diagnostic['name']} {diagnostic['finding']}: {diagnostic['sentence']}."
            for diagnostic in entry["diagnostics"]
        ]
        ranges = [
            f"{stable['threshold']} {in_words(StableRange(**stable))}"
            for stable in entry["sensitivity"]
        ]
        if ranges:
            words.append(
                f"{method} keeps its verdict for any one threshold within: {'; '.join(ranges)}."
            )
    gain = document["config"]["bp_depth_gain"]
    if gain is None:
        words.append(
            "Whether depth helps on this task is not known: bp was not audited with a frozen "
            "baseline."
        )
    if document["config"].get("frozen_acc"):
        words.append(
            "Frozen baselines were given as one number for each method, so D3 is not paired by "
            "seed and its intervals leave their spread out."
        )
    words += _controls(document["controls"])
    return words + recipe_words(document)


def _controls(controls: dict[str, Any]) -> list[str]:
    if not controls:
        return []
    found = sorted({control["verdict"] for control in controls.values()})
    count = f"{len(controls)} untrained network{'s' if len(controls) > 1 else ''}"
    return [f"As a control, {count}: {' / '.join(found)}."]
