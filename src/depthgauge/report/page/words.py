"""The words at the top of the page: the answer, the evidence, and what the study is."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from depthgauge.report.audit_table import percent
from depthgauge.results.rule import NO_BLOCKS, NOT_JUDGED, RuleResult
from depthgauge.results.study import StudyResult


@dataclass(frozen=True)
class Meaning:
    """What a verdict's word means to somebody who sees it for the first time, and its sign."""

    sign: str
    style: str
    gloss: str


DIAGNOSTICS = {"D1": "D1 scale", "D2": "D2 reference", "D3": "D3 depth"}
"""What each one is called where it has fired."""

NOTHING_YET = "No run with all blocks trained is done yet."

NUMERICALLY_WRONG = re.compile(r"numerically wrong in (\d+) of (\d+) seeds")
"""How D2's sentence says it."""

COMMIT_DIGITS = 7

THOUSAND, MILLION = 1e3, 1e6
"""Numbers between these are written out, not with a power of ten."""

MEANINGS = {
    "trustworthy": Meaning("✓", "good", "the blocks are trained, and earn the accuracy"),
    "walk back": Meaning("✗", "bad", "the evidence does not support that the depth is trained"),
    "inconclusive": Meaning("~", "unclear", "more seeds are needed to tell"),
    "no alarm, depth untested": Meaning(
        "?", "untested", "no alarm, but depth was not put to the test"
    ),
    NO_BLOCKS: Meaning("–", "untested", "there is no depth to be judged"),
    NOT_JUDGED: Meaning("…", "untested", "it cannot be told from what is there"),
}


def answer(views: Collection[RuleResult]) -> list[tuple[Meaning, str, list[str]]]:
    """For each word that was given: what it means, the word, and which rules got it."""
    found = []
    for word, meaning in MEANINGS.items():
        own = [view for view in views if view.verdict == word and not view.control]
        for shown in sorted({shown_word(view) for view in own}):
            methods = [view.label for view in own if shown_word(view) == shown]
            found.append((meaning, shown, methods))
    return found


def shown_word(view: RuleResult) -> str:
    """The verdict's word, and a warning where one seed is all there is."""
    judged = view.verdict != NOT_JUDGED
    return f"{view.verdict}, single seed" if view.verdict.single_seed and judged else view.verdict


def evidence(view: RuleResult) -> str:
    """One sentence: what fired or is unclear, and what the blocks are worth."""
    by_name = {d.name: d for d in view.findings}
    alarming = [d for d in view.findings if d.finding in ("fires", "straddles")]
    parts = [_finding(d) for d in alarming if d.name != "D3"]
    depth = by_name.get("D3")
    if depth is not None:
        parts.append(_depth(depth))
    if by_name.get("D2", {}).get("finding") == "untested":
        parts.append("whether the gradient arrives cannot be told from what was recorded")
    elif not alarming and "D1" in by_name and "D2" in by_name:
        parts.append("its stream keeps its scale and the gradient arrives")
    if not parts:
        return NOTHING_YET if view.verdict == NOT_JUDGED else "What embedding and readout do alone."
    sentence = "; ".join(parts)
    return sentence[0].upper() + sentence[1:] + "."


def _finding(diagnostic: dict[str, Any]) -> str:
    fires = diagnostic.finding == "fires"
    name = diagnostic.name
    if name == "D1":
        growth = _interval(diagnostic.intervals["growth"], "{:.3g}")
        return f"the stream {'blows up' if fires else 'may blow up'}, {growth}-fold in one block"
    gradient = _interval(diagnostic.intervals["gradient"], "{:.2g}")
    if (wrong := NUMERICALLY_WRONG.search(diagnostic.sentence)) is None:
        vanished = "has vanished" if fires else "may have vanished"
        return f"the gradient {vanished}: {gradient} at the top"
    seeds = "every seed" if wrong[1] == wrong[2] else f"{wrong[1]} of {wrong[2]} seeds"
    if fires and wrong[1] != wrong[2]:
        return f"the gradient has vanished, and is numerically wrong in {seeds}: {gradient}"
    return f"the gradient at the top is numerically wrong in {seeds}: {gradient}"


def _depth(diagnostic: dict[str, Any]) -> str:
    if "depth_gain" not in diagnostic.intervals:
        return "what its blocks are worth was not measured"
    found = diagnostic.intervals["depth_gain"]
    gain = _interval(found, "{:+.1f}", 100)
    text = f"training the blocks changes accuracy by {gain} points"
    return {
        "fires": f"{text}: {'too little' if found['center'] > 0 else 'no gain'}",
        "straddles": f"{text}: whether they help stays open",
        "untested": f"{text}, but depth does not help on this task",
    }.get(diagnostic.finding, text)


def _interval(found: dict[str, Any], form: str, scale: float = 1.0) -> str:
    """The value, and the interval where there is one; None stands for what has no bound."""
    center = _number(found["center"], form, scale)
    if found["n"] == 1:
        return center
    return f"{center} [{_number(found['low'], form, scale)}, {_number(found['high'], form, scale)}]"


def _number(value: float | None, form: str, scale: float) -> str:
    if value is None or abs(value) == float("inf"):
        return "∞"
    if THOUSAND <= abs(scale * value) < MILLION:
        return f"{float(form.format(scale * value)):,.0f}"
    mantissa, e, exponent = form.format(scale * value).partition("e")
    return mantissa.replace("-", "−") + (f"e{int(exponent)}" if e else "")


def state_of_study(study: StudyResult) -> str | None:
    """What is missing, None if nothing is."""
    lost = [f"{count} {state}" for state, count in study.counts.items() if state != "finished"]
    if not lost:
        return None
    finished = study.counts.get("finished", 0)
    half = "" if study.is_complete else "This study is not complete: "
    return f"{half}{finished} of {len(study.runs)} runs have finished; {', '.join(lost)}."


def identity(study: StudyResult, dates: str, versions: str) -> list[tuple[str, str]]:
    """What the study is, as pairs of a name and a value."""
    task, net, recipe = (study.base.get(name, {}) for name in ("task", "net", "recipe"))
    pairs = [("Study", study.name), ("Task", _task(task, study.chance))]
    if net:
        pairs.append(("Network", f"{net['name']}, width {net['width']}, {net['blocks']} blocks"))
    if recipe:
        pairs.append(("Recipe", _recipe(recipe)))
    pairs += [
        ("Seeds", ", ".join(map(str, study.seeds)) or "none"),
        ("Runs", ", ".join(f"{n} {s}" for s, n in study.counts.items()) or "none of its own"),
        ("Date", dates),
        ("Version", versions),
    ]
    return pairs


def _task(task: dict[str, Any], chance: float | None) -> str:
    words = str(task.get("name", "not known"))
    if "evaluated_on" in task:
        words += f", judged on its {task['evaluated_on']} samples"
    return words + ("" if chance is None else f", chance {percent(chance)} %")


def _recipe(recipe: dict[str, Any]) -> str:
    words = (
        f"{recipe['epochs']} epochs, batch {recipe['batch_size']}, AdamW, "
        f"learning rate {recipe['learning_rate']:g}, weight decay {recipe['weight_decay']:g}, "
        f"{recipe['dtype']}"
    )
    return words + (f", penalty {recipe['penalty']:g}" if recipe.get("penalty") else "")


def dates_of(study: StudyResult) -> str:
    """From the first to the last day on which something was recorded."""
    audit = [study.audit["provenance"]] if study.audit else []
    made = [*(run.provenance for run in study.runs), *audit]
    known = sorted(str(p["date"])[:10] for p in made if p.get("date"))
    if not known:
        return "not recorded"
    return known[0] if known[0] == known[-1] else f"{known[0]} to {known[-1]}"


def versions_of(study: StudyResult) -> str:
    """The versions and commits of the software that made the runs, and that read them."""
    runs = dict.fromkeys(_version(run.provenance) for run in study.runs if run.provenance)
    audit = [_version(study.audit["provenance"])] if study.audit else []
    parts = [("runs by", list(runs)), ("audit by", audit)]
    return "; ".join(f"{who} {', '.join(made)}" for who, made in parts if made) or "not recorded"


def _version(provenance: dict[str, Any]) -> str:
    commit = str(provenance.get("commit") or "")
    changed = " with uncommitted changes" if provenance.get("dirty") else ""
    version = f"depthgauge {provenance.get('version', '')}".strip()
    return version + (f" ({commit[:COMMIT_DIGITS]}{changed})" if commit else "")
