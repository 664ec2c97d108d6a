"""Turn a study folder into facts that a redesign must not change; `--record` writes them down.

    python tests/golden/facts.py --record

The only module of these tests that knows the product's insides. Facts are numbers, run ids, words
of the published protocol and names of diagnostics; never sentences or layouts of files. Runs that
were still being trained when the facts were recorded are pinned by their id alone: they may have
ended since.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Collection, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from depthgauge.errors import UserError
from depthgauge.published.compare import PublishedComparison
from depthgauge.published.experiments import comparisons_with_published
from depthgauge.published.memo_ladder import compare_rungs
from depthgauge.results.audit import Audit
from depthgauge.results.ladder import Rung, read_ladder
from depthgauge.results.load import load
from depthgauge.results.rule import RuleResult
from depthgauge.results.study import StudyResult
from depthgauge.store.run_paths import read_config

GOLDEN = Path(__file__).resolve().parent
REPRODUCTION = GOLDEN.parent.parent / "reproduction"
EMBEDDED = GOLDEN / "embedded"
DOCUMENTS = ("study.json", "audit.json", "ladder.json")

EMBEDDED_COMMAND = (
    *("audit", "--k", "all", "--no-twins", "--rules", "bp", "fa", "dfa[normalise=batch]"),
    *("--controls", "shallow", "--seeds", "1", "2", "3", "--width", "16", "--depth", "2"),
    *("--epochs", "4", "--threads", "1"),
)
"""What trained the study in `embedded/`; `--out FOLDER` comes after it."""

Facts = dict[str, Any]


def run_id(folder: Path) -> str:
    """Return the id that the configuration of a run gives it."""
    return read_config(folder / "config.json").identity


def run_facts(folder: Path) -> dict[str, Facts]:
    """Return the state and final accuracy of every run of a study, by its id."""
    if not (folder / "study.json").is_file():
        return {}
    runs = load(folder).runs
    return {run.identity: {"state": run.state, "accuracy": run.accuracy} for run in runs}


def study_facts(folder: Path, runs: Collection[str]) -> Facts:
    """Return ladder, verdicts, audit and published comparisons of a study from these runs alone."""
    facts: Facts = {}
    if (folder / "ladder.json").is_file():
        facts["ladder document"] = _ladder_document(folder)
    if not any((folder / name).is_file() for name in ("study.json", "audit.json")):
        return facts
    study = load(folder)
    study = replace(study, runs=tuple(run for run in study.runs if run.identity in runs))
    rules = study.rules
    facts["ladder"] = {label: _rungs(rule.ladder) for label, rule in rules.items() if rule.ladder}
    facts["verdicts"] = {label: _verdict(rule) for label, rule in rules.items()}
    facts["published"] = _published(study)
    if study.audit is not None:
        facts["audit"] = _audit(study, study.audit)
        facts["verdicts without the audit"] = {
            label: _verdict(rule) for label, rule in replace(study, audit=None).rules.items()
        }
    return facts


def _rungs(ladder: Sequence[Rung]) -> Facts:
    return {str(rung.k): asdict(rung.spread) for rung in ladder}


def _verdict(rule: RuleResult) -> Facts:
    verdict = rule.verdict.published
    return {
        "word": verdict.word,
        "in words": str(verdict),
        "fired": list(verdict.fired),
        "single seed": verdict.single_seed,
        "accuracy": asdict(rule.accuracy),
        "frozen": asdict(rule.frozen),
        "diagnostics": {
            one.id: {
                "finding": one.outcome,
                "intervals": {name: asdict(ends) for name, ends in one.intervals.items()},
            }
            for one in verdict.findings
        },
    }


def _audit(study: StudyResult, audit: Audit) -> Facts:
    rows: dict[str, Facts] = {}
    for network in audit.networks:
        report = network.report
        rows.setdefault(network.label, {})[str(network.seed)] = {
            "acc": network.accuracy,
            "frozen_acc": network.frozen,
            "h_L": report.residual_norms[-1] if report else None,
            "g_L": report.bp_grad_norms[-1] if report else None,
            "stability": report.cross_batch_stability if report else None,
            "verdict": report.judgement.published.word if report else "diverged",
            "fired": list(report.judgement.fired) if report else [],
        }
    return {
        "summary": rows,
        "decision utility": {
            way: {label: list(count) for label, count in counts.items()}
            for way, counts in audit.decision_utility.items()
        },
        "gain of bp": study.bp_gain,
        "untrained": {
            f"untrained_s{seed}": one.judgement.published.word
            for seed, one in audit.untrained.items()
        },
        "without blocks": {label: asdict(one.accuracy) for label, one in audit.shallow.items()},
        "survives": {rule: one.survives for rule, one in audit.settings.items()},
    }


def _ladder_document(folder: Path) -> Facts:
    ladder = read_ladder(folder / "ladder.json")
    try:
        compared = _compared(compare_rungs(ladder))
    except UserError:
        compared = None  # no ladder of this network was published
    return {
        "summary": {label: _rungs(rungs) for label, rungs in ladder.rules.items()},
        "published": compared,
    }


PUBLISHED = {"memo-ladder": "ladder", "main-audit": "audit", "thirty-epochs": "thirty epochs"}


def _published(study: StudyResult) -> Facts:
    return {PUBLISHED[c.experiment]: _compared(c) for c in comparisons_with_published(study)}


def _compared(comparison: PublishedComparison) -> Facts:
    """Name each compared figure by what it is of; of unlike settings the names alone."""
    document = json.loads(json.dumps(comparison.to_dict()))
    facts: Facts = {"unlike": [setting.split()[0] for setting in document["unlike"]]}
    parts = dict(document["figures"])
    if comparison.experiment != "memo-ladder":
        parts["one_seed"] = document["one_seed"]
    if comparison.experiment == "main-audit":
        parts["verdicts"] = document["verdicts"]
    for part, rows in parts.items():
        facts[part] = {row.pop("what").replace(", as published", ""): row for row in rows}
    return facts


def record() -> None:
    """Write down what the code says now of `reproduction/` and of the embedded study."""
    folders = {path.parent for name in DOCUMENTS for path in REPRODUCTION.rglob(name)}
    names = [folder.relative_to(REPRODUCTION).as_posix() for folder in folders]
    _write("reproduction.json", {name: _pinned(REPRODUCTION / name) for name in names})
    _write("embedded.json", _pinned(EMBEDDED))


def _pinned(folder: Path) -> Facts:
    runs = run_facts(folder)
    for run in runs.values():
        if run["state"] not in ("finished", "diverged", "failed"):
            run["state"] = None
    ended = [name for name, run in runs.items() if run["state"] is not None]
    return {"runs": runs, "study": study_facts(folder, ended)}


def _write(name: str, facts: Facts) -> None:
    text = json.dumps(facts, indent=1, sort_keys=True, ensure_ascii=False)
    (GOLDEN / name).write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--record", action="store_true", required=True, help="write the JSON files")
    parser.parse_args()
    record()
