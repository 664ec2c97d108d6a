"""The audit in words: why each rule got its verdict, and how firmly it stands."""

from __future__ import annotations

from typing import Any


def audit_words(document: dict[str, Any]) -> list[str]:
    """For each rule its three diagnostics; then the control and the task."""
    words = []
    for method, entry in document["verdicts"].items():
        words += [
            f"{method} {diagnostic['name']} {diagnostic['finding']}: {diagnostic['sentence']}."
            for diagnostic in entry["diagnostics"]
        ]
        ranges = [_moved(stable) for stable in entry["sensitivity"]]
        if ranges:
            words.append(
                f"{method} keeps its verdict for any one threshold within: {'; '.join(ranges)}."
            )
    gain = document["config"]["bp_depth_gain"]
    if gain is None:
        words.append("Whether depth helps on this task is not known: bp was not audited with it.")
    if document["config"].get("frozen_acc"):
        words.append(
            "Frozen baselines were given as one number for each method, so D3 is not paired by "
            "seed and its intervals leave their spread out."
        )
    words += _controls(document["controls"])
    return words


def _moved(stable: dict[str, Any]) -> str:
    low = "0" if stable["low"] is None else f"{stable['low']:.3g}"
    high = "any value" if stable["high"] is None else f"{stable['high']:.3g}"
    return f"{stable['threshold']} {low} to {high}"


def _controls(controls: dict[str, Any]) -> list[str]:
    if not controls:
        return []
    found = sorted({control["verdict"] for control in controls.values()})
    count = f"{len(controls)} untrained network{'s' if len(controls) > 1 else ''}"
    return [f"Control, {count}: {' / '.join(found)}."]
