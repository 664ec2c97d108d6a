"""Pitfalls of runs: how runs are counted, and how a reader finds the runs behind a number."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from depthgauge.report.paper.section import APPLIES, AVOIDED, NOT_MEASURED, Item
from depthgauge.results.rule import RuleResult
from depthgauge.results.run import RunResult
from depthgauge.results.study import StudyResult

CHANGED = "-dirty"
"""The ending of a commit whose checkout had uncommitted changes."""


def pitfalls_of_runs(study: StudyResult) -> list[Item]:
    """Return the checklist's items on spread, single seeds, runs without result, and provenance."""
    return [
        _spread(study.rules.values()),
        _single_seed(study.rules.values()),
        _lost(study),
        _unfinished(study),
        _behind(study),
    ]


def _spread(views: Collection[RuleResult]) -> Item:
    counts = {view.label: view.accuracy.n for view in views if view.accuracy.n}
    if not counts:
        return Item("Spread", "no accuracy is known yet", NOT_MEASURED)
    if max(counts.values()) == 1:
        return Item("Spread", "none is given: one seed for each rule", NOT_MEASURED)
    text = "sample standard deviations (ddof 1) over seeds"
    if len(set(counts.values())) == 1:
        text += f", n = {next(iter(counts.values()))}"
    else:
        text += ", n: " + ", ".join(f"{method} {n}" for method, n in counts.items())
    return Item("Spread", text, AVOIDED)


def _single_seed(views: Collection[RuleResult]) -> Item:
    judged = [view for view in views if view.findings]
    single = [view.label for view in judged if view.verdict.single_seed]
    if not judged:
        return Item("Single seed", "no rule has been judged", NOT_MEASURED)
    if single:
        text = f"verdicts by the point values of one seed: {', '.join(single)}"
        return Item("Single seed", text, APPLIES)
    return Item("Single seed", "every verdict rests on several seeds", AVOIDED)


def _lost(study: StudyResult) -> Item:
    label, lost = "Lost runs", [run for run in study.runs if run.state in ("diverged", "failed")]
    if not study.runs:
        return Item(label, "not known: the networks were trained elsewhere", NOT_MEASURED)
    if not lost:
        return Item(label, f"none of {len(study.runs)} diverged or failed", AVOIDED)
    text = (
        f"{len(lost)} of {len(study.runs)}, shown in the tables and left out of means: "
        f"{'; '.join(map(_fate, lost))}. A network that diverged counts as grown without bound"
    )
    return Item(label, text, APPLIES)


def _fate(run: RunResult) -> str:
    why = f" ({run.reason})" if run.reason else ""
    return f"{run.label}, k = {run.config.rung}, seed {run.config.seed}: {run.state}{why}"


def _unfinished(study: StudyResult) -> Item:
    label = "Unfinished study"
    if not study.runs:
        return Item(label, "no run was planned in this folder", NOT_MEASURED)
    if study.is_complete:
        return Item(label, "every planned run has ended", AVOIDED)
    left = {s: n for s, n in study.counts.items() if s in ("running", "stopped", "waiting")}
    states = ", ".join(f"{count} {state}" for state, count in left.items())
    text = f"{sum(left.values())} of {len(study.runs)} runs are left ({states}); means are over "
    return Item(label, f"{text}those that finished", APPLIES)


def _behind(study: StudyResult) -> Item:
    """Return the item on provenance: whether each number has a run with a known commit."""
    label, made = "Run behind each number", [run for run in study.runs if run.provenance]
    if not made:
        return Item(label, "no result in this folder names where it comes from", NOT_MEASURED)
    commits = [_commit(run.provenance) for run in made]
    unknown = sum(not commit for commit in commits)
    changed = sum(commit.endswith(CHANGED) for commit in commits)
    text = f"{len(made)} runs in folders named by the hash of their whole configuration"
    doubts = []
    if unknown:
        doubts.append(f"the commit of {unknown} was not recorded")
    if changed:
        doubts.append(f"{changed} ran from a checkout with changes")
    audit = None if study.audit is None else _commit(study.audit.provenance)
    if audit == "":
        doubts.append("the commit that the audit ran from was not recorded")
    elif audit is not None and audit.endswith(CHANGED):
        doubts.append("the audit ran from a checkout with changes")
    if doubts:
        return Item(label, "; ".join([text, *doubts]), APPLIES)
    return Item(label, f"{text}, each with the commit that it ran from", AVOIDED)


def _commit(provenance: Mapping[str, Any]) -> str:
    return str(provenance.get("commit") or "")
