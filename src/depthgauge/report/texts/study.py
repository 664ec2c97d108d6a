"""Facts about a study for its page: task, network, recipe, dates, software and unfinished runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from depthgauge.config import Recipe, TaskConfig
from depthgauge.number_format import counted, percent
from depthgauge.results.study import StudyResult

COMMIT_DIGITS = 7


def state_of_study(study: StudyResult) -> str | None:
    """Return how many runs have finished, and the states of other runs; None if all finished."""
    lost = [f"{count} {state}" for state, count in study.counts.items() if state != "finished"]
    if not lost:
        return None
    finished = study.counts.get("finished", 0)
    half = "" if study.is_complete else "This study is not complete: "
    return f"{half}{finished} of {len(study.runs)} runs have finished; {', '.join(lost)}."


OPTIMIZERS = {"adamw": "AdamW", "adam": "Adam", "sgd": "SGD"}


def identity(study: StudyResult, dates: str, versions: str) -> list[tuple[str, str]]:
    """Return what was studied as pairs of name and value, such as `("Seeds", "0, 1")`."""
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
    words = [
        counted(recipe.epochs, "epoch"),
        f"batch {recipe.batch_size}",
        OPTIMIZERS[recipe.optimizer],
        f"learning rate {recipe.learning_rate:g}",
        f"weight decay {recipe.weight_decay:g}",
        recipe.dtype,
    ]
    named = recipe.model_dump(mode="json")
    plain = {"epochs", "batch_size", "optimizer", "learning_rate", "weight_decay", "dtype", "score"}
    words += [f"{_words(n)} {_value(value)}" for n, value in named.items() if n not in plain]
    return ", ".join(words)


def _words(name: str) -> str:
    return name.replace("_", " ")


def _value(value: object) -> str:
    if isinstance(value, list):
        return " and ".join(map(str, value))
    return f"{value:g}" if isinstance(value, float) else str(value).lower()


def dates_of(study: StudyResult) -> str:
    """Return the first and the last day on which the study recorded anything."""
    known = sorted(str(p["date"])[:10] for p in study.provenances if p.get("date"))
    if not known:
        return "not recorded"
    return known[0] if known[0] == known[-1] else f"{known[0]} to {known[-1]}"


def versions_of(study: StudyResult) -> str:
    """Return the versions and commits of depthgauge that trained the runs and that audited them."""
    runs = dict.fromkeys(_version(run.provenance) for run in study.runs if run.provenance)
    audit = [_version(study.audit.provenance)] if study.audit else []
    parts = [("runs by", list(runs)), ("audit by", audit)]
    return "; ".join(f"{who} {', '.join(made)}" for who, made in parts if made) or "not recorded"


def _version(provenance: Mapping[str, Any]) -> str:
    commit = str(provenance.get("commit") or "")
    changed = " with uncommitted changes" if provenance.get("dirty") else ""
    version = f"depthgauge {provenance.get('version', '')}".strip()
    return version + (f" ({commit[:COMMIT_DIGITS]}{changed})" if commit else "")
