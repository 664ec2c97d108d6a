"""What settings and controls say: is it the rule, its recipe, or mere capacity?"""

from __future__ import annotations

from typing import Any

from depthgauge.report.audit_table import percent


def recipe_words(document: dict[str, Any]) -> list[str]:
    """One sentence for each choice of a setting, each rule with several, and each control."""
    selection = document.get("selection", {})
    several = {rule: entry for rule, entry in selection.items() if len(entry["candidates"]) != 1}
    words = [_chosen(rule, entry) for rule, entry in several.items()]
    words += [_survives(rule, entry) for rule, entry in document.get("settings", {}).items()]
    return words + _controls(document)


def _chosen(rule: str, entry: dict[str, Any]) -> str:
    tried, chosen = entry["candidates"], entry["chosen"]
    if chosen is None:
        return f"{rule}: no setting could be trained, so none was chosen."
    accuracy = percent(tried[chosen]["mean"])
    beside = ""
    if rule in tried and rule != chosen:
        beside = f", against {percent(tried[rule]['mean'])} % as it was given"
    return (
        f"{rule}: of {len(tried)} settings {chosen} was best on {entry['samples']:,} held-out "
        f"samples, {accuracy} %{beside}."
    )


def _survives(rule: str, entry: dict[str, Any]) -> str:
    by_word: dict[str, list[str]] = {}
    for method, word in entry["verdicts"].items():
        by_word.setdefault(word, []).append(method)
    if entry["survives"]:
        settings = len(entry["verdicts"])
        return f"{rule}: the verdict survives: {next(iter(by_word))} at all {settings} settings."
    parts = "; ".join(f"{word} with {', '.join(methods)}" for word, methods in by_word.items())
    if entry["survives"] is None:
        return f"{rule}: whether the verdict survives cannot be told: {parts}."
    return f"{rule}: the verdict depends on the setting: {parts}."


def _controls(document: dict[str, Any]) -> list[str]:
    verdicts, words = document["verdicts"], []
    for method, entry in document.get("shallow", {}).items():
        words += _beside(method, entry, verdicts, "no blocks at all reach")
    for method, entry in verdicts.items():
        if entry.get("control") == "wide_block":
            words += _beside(method, entry, verdicts, "one block with as many parameters reaches")
        if entry.get("control") == "random_targets":
            words.append(f"{method}: with nothing to learn, {entry['verdict_in_words']}.")
    return words


def _beside(method: str, entry: dict[str, Any], verdicts: dict[str, Any], what: str) -> list[str]:
    """The same rule with its blocks, beside the same rule without them."""
    full = verdicts.get(without_control(method), {}).get("acc", {}).get("mean")
    mean = entry["acc"]["mean"]
    if full is None or mean is None:
        return []
    difference = 100 * (full - mean)
    side = "less" if difference >= 0 else "more"
    return [
        f"{method}: {what} {percent(mean)} %, {abs(difference):.1f} points {side} than the blocks "
        f"of {without_control(method)}."
    ]


def without_control(method: str) -> str:
    """The label of the same setting without its control, which stands last in the brackets."""
    name, _, inside = method.partition("[")
    kept = ",".join(inside.rstrip("]").split(",")[:-1])
    return f"{name}[{kept}]" if kept else name
