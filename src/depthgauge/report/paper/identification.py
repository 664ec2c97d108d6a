"""The reporting template's section on what was studied, with which software and device."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import PurePath
from typing import Any

from depthgauge.controls import CONTROLS
from depthgauge.number_format import MISSING, exact
from depthgauge.report.paper.section import Item, Section
from depthgauge.report.texts.study import OPTIMIZERS
from depthgauge.results.rule import RuleResult
from depthgauge.results.study import StudyResult

FROM_ELSEWHERE = "not recorded: the networks were trained elsewhere"


def identification(study: StudyResult, date: str | None) -> Section:
    """Return the section: task, network, recipe, rules, seeds, runs, software, device and date."""
    items = [
        Item("Study", study.name),
        Item("Date", date or MISSING),
        Item("Task", _task(study)),
        Item("Network", _net(study)),
        Item("Recipe", _recipe(study)),
        *(Item(f"Rule {view.label}", _rule(study, view)) for view in study.rules.values()),
        Item("Seeds", _listed(study.seeds)),
        Item("Runs", _runs(study)),
        Item("Software", _software(study)),
        Item("Commits", _commits(study)),
        Item("Device", _device(study)),
    ]
    return Section("Identification", tuple(items))


def _task(study: StudyResult) -> str:
    task = study.config.task
    return f"{task.name}, checksum {task.checksum}, accuracy on the {task.evaluated_on} split"


def _net(study: StudyResult) -> str:
    net = study.config.net
    if net is None:
        return _elsewhere(study)
    named = net.model_dump(mode="json")
    return f"{named.pop('name')}: {settings(named)}"


def _recipe(study: StudyResult) -> str:
    recipe = study.config.recipe
    if recipe is None:
        return _elsewhere(study)
    rate = {
        "cosine": "learning rate by a cosine to zero stepped once an epoch",
        "none": "constant learning rate",
        "steps": "learning rate multiplied by the step factor after each milestone",
    }[recipe.schedule]
    named = recipe.model_dump(mode="json") | {"optimizer": None, "schedule": None}
    own = {name: value for name, value in named.items() if value is not None}
    return f"{OPTIMIZERS[recipe.optimizer]}, {rate}; {settings(own)}"


def _elsewhere(study: StudyResult) -> str:
    where, made = study.config.checkpoints, study.config.factory
    words = FROM_ELSEWHERE + (f", folder {PurePath(where).name}" if where else "")
    return words + (f", made by {PurePath(made).name}" if made else "")


def settings(values: Mapping[str, Any]) -> str:
    """Return names and values as one text; numbers have every digit."""
    return ", ".join(f"{name} {_value(value)}" for name, value in values.items()) or "none"


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return exact(value) if isinstance(value, float) else str(value)


def _rule(study: StudyResult, view: RuleResult) -> str:
    """Return the options of a rule, what the rule sees, its source and its control.

    Options in which the rule's recipe or network differs from the study's are added.
    """
    run = next((run for run in study.runs if run.label == view.label), None)
    if run is None:
        return FROM_ELSEWHERE
    rule = run.config.rule
    parts = [f"{rule.name}, options: {settings(rule.options)}"]
    parts += [str(view.access)] if view.access else []
    parts += [f"source {rule.source}"] if rule.source else []
    for name, own, shared in (
        ("recipe", run.config.recipe, study.config.recipe),
        ("net", run.config.net, study.config.net),
    ):
        base = shared.model_dump(mode="json") if shared else {}
        other = {
            field: value
            for field, value in own.model_dump(mode="json").items()
            if base.get(field) != value
        }
        parts += [f"in its {'network' if name == 'net' else name}: {settings(other)}"] * bool(other)
    if view.control in CONTROLS:
        parts.append(f"control: {CONTROLS[view.control].summary}")
    return "; ".join(parts)


def _runs(study: StudyResult) -> str:
    if not study.runs:
        return "none in this folder"
    states = ", ".join(f"{count} {state}" for state, count in study.counts.items())
    ks = _listed(sorted({run.config.k for run in study.runs}))
    done = "" if study.is_complete else "; the study is not complete"
    return f"{len(study.runs)}, the last k blocks trained, k = {ks}: {states}{done}"


def _software(study: StudyResult) -> str:
    """Return the versions of the software that trained the runs and audited them."""
    made = [run.provenance for run in study.runs if run.provenance] + _of_audit(study)
    names = {"version": "depthgauge", "torch": "PyTorch", "python": "Python"}
    found = {called: _values(made, key) for key, called in names.items()}
    return ", ".join(f"{called} {known}" for called, known in found.items() if known) or MISSING


def _commits(study: StudyResult) -> str:
    """Return the commits that trained the runs, and the commit that audited them."""
    runs = [run.provenance for run in study.runs if run.provenance]
    audits = _of_audit(study)
    parts = [f"runs {_values(runs, 'commit') or 'not recorded'}"] if runs else []
    parts += [f"audit {_values(audits, 'commit') or 'not recorded'}"] if audits else []
    return "; ".join(parts) or MISSING


def _device(study: StudyResult) -> str:
    made = [run.provenance for run in study.runs if run.provenance] or _of_audit(study)
    names = [study.device or _values(made, "device"), _values(made, "gpu")]
    names += [_values(made, "processor"), _values(made, "system")]
    words = [name for name in names if name]
    if study.threads is not None:
        words.append(f"{study.threads} {'thread' if study.threads == 1 else 'threads'}")
    return ", ".join(words) or MISSING


def _of_audit(study: StudyResult) -> list[Mapping[str, Any]]:
    return [study.audit.provenance] if study.audit and study.audit.provenance else []


def _values(documents: Iterable[Mapping[str, Any]], key: str) -> str:
    """Return the distinct values that documents have under a key."""
    return _listed(dict.fromkeys(d[key] for d in documents if d.get(key) is not None))


def _listed(values: Iterable[Any]) -> str:
    return ", ".join(map(str, values))
