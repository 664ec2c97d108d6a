"""The words at the top of the page: the answer, the evidence, and what the study is."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from depthgauge.config import Recipe, TaskConfig
from depthgauge.diagnostics.finding import Finding
from depthgauge.diagnostics.intervals import Interval
from depthgauge.report.audit_table import percent
from depthgauge.results.rule import RuleResult
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
    "no blocks": Meaning("–", "untested", "there is no depth to be judged"),
    "not judged": Meaning("…", "untested", "it cannot be told from what is there"),
}


def answer(views: Collection[RuleResult]) -> list[tuple[Meaning, str, list[str]]]:
    """For each word that was given: what it means, the word, and which rules got it."""
    found = []
    for word, meaning in MEANINGS.items():
        own = [view for view in views if view.verdict.word == word and not view.control]
        for shown in sorted({shown_word(view) for view in own}):
            methods = [view.label for view in own if shown_word(view) == shown]
            found.append((meaning, shown, methods))
    return found


def shown_word(view: RuleResult) -> str:
    """The verdict's word, and a warning where one seed is all there is."""
    word = view.verdict.word
    return f"{word}, single seed" if view.verdict.single_seed and word != "not judged" else word


def evidence(view: RuleResult) -> str:
    """One sentence: what fired or is unclear, and what the blocks are worth."""
    alarming = [d for d in view.findings if d.outcome in ("fires", "straddles")]
    parts = [_finding(d) for d in alarming if d.id != "D3"]
    depth, reference = view.finding("D3"), view.finding("D2")
    if depth is not None:
        parts.append(_depth(depth))
    if reference is not None and reference.outcome == "untested":
        parts.append("whether the gradient arrives cannot be told from what was recorded")
    elif not alarming and reference is not None:
        parts.append("its stream keeps its scale and the gradient arrives")
    if not parts:
        return (
            NOTHING_YET
            if view.verdict.word == "not judged"
            else "What embedding and readout do alone."
        )
    sentence = "; ".join(parts)
    return sentence[0].upper() + sentence[1:] + "."


def _finding(diagnostic: Finding) -> str:
    fires = diagnostic.outcome == "fires"
    name = diagnostic.id
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


def _depth(diagnostic: Finding) -> str:
    if "depth_gain" not in diagnostic.intervals:
        return "what its blocks are worth was not measured"
    found = diagnostic.intervals["depth_gain"]
    gain = _interval(found, "{:+.1f}", 100)
    text = f"training the blocks changes accuracy by {gain} points"
    return {
        "fires": f"{text}: {'too little' if found.center > 0 else 'no gain'}",
        "straddles": f"{text}: whether they help stays open",
        "untested": f"{text}, but depth does not help on this task",
    }.get(diagnostic.outcome, text)


def _interval(found: Interval, form: str, scale: float = 1.0) -> str:
    """The value, and the interval where there is one."""
    center = _number(found.center, form, scale)
    if found.n == 1:
        return center
    return f"{center} [{_number(found.low, form, scale)}, {_number(found.high, form, scale)}]"


def _number(value: float, form: str, scale: float) -> str:
    if abs(value) == float("inf"):
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
    net, recipe = study.config.net, study.config.recipe
    pairs = [("Study", study.name), ("Task", _task(study.config.task, study.chance))]
    if net is not None:
        pairs.append(("Network", f"{net.name}, width {net.width}, {net.blocks} blocks"))
    if recipe is not None:
        pairs.append(("Recipe", _recipe(recipe)))
    pairs += [
        ("Seeds", ", ".join(map(str, study.seeds)) or "none"),
        ("Runs", ", ".join(f"{n} {s}" for s, n in study.counts.items()) or "none of its own"),
        ("Date", dates),
        ("Version", versions),
    ]
    return pairs


def _task(task: TaskConfig, chance: float | None) -> str:
    words = f"{task.name}, judged on its {task.evaluated_on} samples"
    return words + ("" if chance is None else f", chance {percent(chance)} %")


def _recipe(recipe: Recipe) -> str:
    words = (
        f"{recipe.epochs} epochs, batch {recipe.batch_size}, AdamW, "
        f"learning rate {recipe.learning_rate:g}, weight decay {recipe.weight_decay:g}, "
        f"{recipe.dtype}"
    )
    return words + (f", penalty {recipe.penalty:g}" if recipe.penalty else "")


def dates_of(study: StudyResult) -> str:
    """From the first to the last day on which something was recorded."""
    known = sorted(str(p["date"])[:10] for p in study.provenances if p.get("date"))
    if not known:
        return "not recorded"
    return known[0] if known[0] == known[-1] else f"{known[0]} to {known[-1]}"


def versions_of(study: StudyResult) -> str:
    """The versions and commits of the software that made the runs, and that read them."""
    runs = dict.fromkeys(_version(run.provenance) for run in study.runs if run.provenance)
    audit = [_version(study.audit.provenance)] if study.audit else []
    parts = [("runs by", list(runs)), ("audit by", audit)]
    return "; ".join(f"{who} {', '.join(made)}" for who, made in parts if made) or "not recorded"


def _version(provenance: Mapping[str, Any]) -> str:
    commit = str(provenance.get("commit") or "")
    changed = " with uncommitted changes" if provenance.get("dirty") else ""
    version = f"depthgauge {provenance.get('version', '')}".strip()
    return version + (f" ({commit[:COMMIT_DIGITS]}{changed})" if commit else "")
