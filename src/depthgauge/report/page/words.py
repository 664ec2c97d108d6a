"""The words at the top of the page: the answer, the evidence, and what the study is."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from depthgauge.config import Recipe, TaskConfig
from depthgauge.diagnostics.finding import Outcome
from depthgauge.number_format import counted, percent
from depthgauge.report.diagnostic_words import finding_in_words
from depthgauge.results.rule import RuleResult
from depthgauge.results.study import StudyResult


@dataclass(frozen=True)
class Meaning:
    """What a verdict's word means to somebody who sees it for the first time, and its sign."""

    sign: str
    style: str
    gloss: str


NOTHING_YET = "No run with all blocks trained is done yet."

ALARMS_FIRST: tuple[Outcome, ...] = ("fires", "straddles", "untested", "passes")

COMMIT_DIGITS = 7

MEANINGS = {
    "trustworthy": Meaning("✓", "good", "the blocks are trained, and earn the accuracy"),
    "shallow": Meaning("✗", "bad", "fewer blocks are trained than backpropagation trains"),
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
            methods = [_with_depth(view) for view in own if shown_word(view) == shown]
            found.append((meaning, shown, methods))
    return found


def _with_depth(view: RuleResult) -> str:
    """A rule with how many blocks it trains, where that can be told; the rest is in its card."""
    if view.used_depth is None or not view.used_depth.has_estimate:
        return view.label
    return f"{view.label} ({str(view.used_depth).partition(' (')[0]} blocks)"


def shown_word(view: RuleResult) -> str:
    """The verdict's word, and a warning where one seed is all there is."""
    word = view.verdict.word
    return f"{word}, single seed" if view.verdict.single_seed and word != "not judged" else word


def evidence(view: RuleResult) -> str:
    """One sentence: what each diagnostic found, alarms first, then what could not be told."""
    if not view.findings:
        not_judged = view.verdict.word == "not judged"
        return NOTHING_YET if not_judged else "What embedding and readout do alone."
    ordered = sorted(view.findings, key=lambda finding: ALARMS_FIRST.index(finding.outcome))
    sentence = "; ".join(map(finding_in_words, ordered))
    return sentence[0].upper() + sentence[1:] + "."


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
        f"{counted(recipe.epochs, 'epoch')}, batch {recipe.batch_size}, AdamW, "
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
