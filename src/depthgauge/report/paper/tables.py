"""The tables that a paper wants of a study."""

from __future__ import annotations

from depthgauge.diagnostics.registry import verdict_diagnostics
from depthgauge.number_format import MISSING, count_of, percent, percent_spread
from depthgauge.report.paper.layer_tables import alignment_tables, perturbation_tables
from depthgauge.report.paper.network_table import network_table
from depthgauge.report.paper.paper_table import PaperTable
from depthgauge.report.paper.rule_words import (
    accuracy_words,
    basis_words,
    findings,
    frozen,
    gain,
    task_words,
)
from depthgauge.results.ladder import Rung
from depthgauge.results.study import StudyResult


def paper_tables(study: StudyResult) -> list[PaperTable]:
    """Verdicts, ladder, diagnostics, Γ, ρ, decision utility, runs; those that have rows."""
    tables = [
        verdict_table(study),
        ladder_table(study),
        network_table(study),
        *alignment_tables(study),
        *perturbation_tables(study),
        utility_table(study),
        run_table(study),
    ]
    return [table for table in tables if table.rows]


def verdict_table(study: StudyResult) -> PaperTable:
    """Each rule with its accuracy, what depth gains, the findings and the verdict."""
    found = [one.id for one in verdict_diagnostics()]
    header = ["rule", "n", "acc", "frozen", "gain", *found, "verdict"]
    rows = [
        [
            view.label,
            str(view.accuracy.n),
            percent_spread(view.accuracy),
            frozen(view),
            gain(view, study.thresholds),
            *findings(view),
            "no blocks to judge" if view.control == "shallow" else str(view.verdict),
        ]
        for view in study.rules.values()
    ]
    caption = (
        f"Verdict of each rule: {accuracy_words(study)}; frozen: blocks as they were "
        f"initialised. {basis_words(study.rules.values())}"
    )
    if study.chance is not None:
        caption += f" Chance: {percent(study.chance)} %."
    if not study.is_complete:
        caption += " The study is not complete."
    return PaperTable("verdicts", study.name, caption, header, rows)


def ladder_table(study: StudyResult) -> PaperTable:
    """Accuracy with the last k blocks trained, a row for each rule."""
    seeds = len(study.seeds)
    ladders = {view.label: {rung.k: rung for rung in view.ladder} for view in study.rules.values()}
    ks = sorted({k for ladder in ladders.values() for k in ladder})
    rows = [
        [method, *(_rung(ladder.get(k), seeds) for k in ks)]
        for method, ladder in ladders.items()
        if any(rung.accuracies or rung.lost for rung in ladder.values())
    ]
    caption = (
        f"Depth-utility ladder: {task_words(study)} with the last k blocks trained, mean ± sample "
        f"standard deviation; over {seeds} {'seed' if seeds == 1 else 'seeds'} unless n is given; "
        "lost: diverged or failed."
    )
    return PaperTable("ladder", study.name, caption, ["rule", *(f"k = {k}" for k in ks)], rows)


def _rung(rung: Rung | None, seeds: int) -> str:
    if rung is None:
        return MISSING
    n = len(rung.accuracies)
    notes = [f"n = {n}"] if 0 < n < seeds else []
    notes += [f"{rung.lost} lost"] if rung.lost else []
    shown = percent_spread(rung.spread)
    return shown + (f" ({', '.join(notes)})" if notes else "")


def utility_table(study: StudyResult) -> PaperTable:
    """For each rule, how many of its networks each way of reporting walks back."""
    utility = study.audit.decision_utility if study.audit else {}
    header = ["rule", *(name.removeprefix("accuracy + ").replace("mean ", "") for name in utility)]
    labels = list(dict.fromkeys(label for counts in utility.values() for label in counts))
    rows = [
        [label, *(count_of(counts.get(label)) for counts in utility.values())] for label in labels
    ]
    caption = (
        "Decision utility: networks of each rule that would be walked back if only this were "
        "reported: accuracy (not above chance by 2 points) alone, with the mean of Γ (not above "
        "0), and with one diagnostic besides; out of those that it can decide."
    )
    return PaperTable("utility", study.name, caption, header, rows)


def run_table(study: StudyResult) -> PaperTable:
    """Every run, whatever has become of it, and the name of its folder."""
    rows = [
        [
            run.label,
            run.config.rung,
            str(run.config.seed),
            run.state,
            percent(run.accuracy),
            run.identity,
        ]
        for run in study.runs
    ]
    caption = f"All runs: {task_words(study)} after the last epoch, with the last k blocks trained."
    header = ["rule", "k", "seed", "state", "acc", "run"]
    return PaperTable("runs", study.name, caption, header, rows)
