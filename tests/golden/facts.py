"""Turn a study folder into facts that a redesign must not change; `--record` writes them down.

    python tests/golden/facts.py --record

The only module of these tests that knows the product's insides. Facts are numbers, run ids, words
of verdicts and names of diagnostics; never sentences or layouts of files. Runs that were still
being trained when the facts were recorded are pinned by their id alone: they may have ended since.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Collection
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from depthgauge.errors import UserError
from depthgauge.store.run_paths import read_config
from depthgauge.studies.counterparts import (
    audit_counterpart,
    ladder_counterpart,
    thirty_counterpart,
)
from depthgauge.studies.gathered import Gathered, gather
from depthgauge.studies.ladder import read_ladder
from depthgauge.studies.published import compare_ladder
from depthgauge.studies.rule_views import RuleView, rule_views

GOLDEN = Path(__file__).resolve().parent
REPRODUCTION = GOLDEN.parent.parent / "reproduction"
EMBEDDED = GOLDEN / "embedded"
DOCUMENTS = ("study.json", "audit.json", "ladder.json")

EMBEDDED_COMMAND = (
    *("audit", "--k", "all", "--rules", "bp", "fa", "dfa[normalise=batch]"),
    *("--controls", "shallow", "--seeds", "1", "2", "3", "--width", "16", "--blocks", "2"),
    *("--epochs", "4", "--threads", "1"),
)
"""What trained the study in `embedded/`; `--out FOLDER` comes after it."""

ROW = ("acc", "frozen_acc", "h_L", "g_L", "stability", "verdict", "fired")

Facts = dict[str, Any]


def run_id(folder: Path) -> str:
    """Return the id that the configuration of a run gives it."""
    return read_config(folder / "config.json").identity


def run_facts(folder: Path) -> dict[str, Facts]:
    """Return the state and final accuracy of every run of a study, by its id."""
    if not (folder / "study.json").is_file():
        return {}
    runs = gather(folder).runs
    return {run.identity: {"state": run.state, "accuracy": run.accuracy} for run in runs}


def study_facts(folder: Path, runs: Collection[str]) -> Facts:
    """Return ladder, verdicts, audit and published comparisons of a study from these runs alone."""
    facts: Facts = {}
    if (folder / "ladder.json").is_file():
        facts["ladder document"] = _ladder_document(folder)
    if not any((folder / name).is_file() for name in ("study.json", "audit.json")):
        return facts
    study = gather(folder)
    study = replace(study, runs=tuple(run for run in study.runs if run.identity in runs))
    views = rule_views(study)
    facts["ladder"] = {view.method: _rungs(view) for view in views if view.ladder}
    facts["verdicts"] = {view.method: _verdict(view) for view in views}
    facts["published"] = _published(study)
    if study.audit is not None:
        facts["audit"] = _audit(study.audit)
        facts["verdicts without the audit"] = {
            view.method: _verdict(view) for view in rule_views(replace(study, audit=None))
        }
    return facts


def _rungs(view: RuleView) -> Facts:
    return {
        str(rung.k): {"mean": rung.mean, "std": rung.std, "n": len(rung.runs)}
        for rung in view.ladder
    }


def _verdict(view: RuleView) -> Facts:
    return {
        "word": view.verdict,
        "in words": view.in_words,
        "fired": list(view.fired),
        "single seed": view.single_seed,
        "accuracy": view.accuracy,
        "frozen": view.frozen,
        "diagnostics": {
            one["name"]: {
                "finding": one["finding"],
                "intervals": {name: _interval(i) for name, i in one["intervals"].items()},
            }
            for one in view.diagnostics
        },
    }


def _interval(found: Any) -> Facts:
    """Return an interval as a dictionary, whether it was read from an audit or computed."""
    return dict(found) if isinstance(found, dict) else asdict(found)


def _audit(audit: Facts) -> Facts:
    rows: dict[str, Facts] = {}
    for row in audit["summary"]:
        rows.setdefault(row["method"], {})[str(row["seed"])] = {name: row[name] for name in ROW}
    return {
        "summary": rows,
        "decision utility": audit["decision_utility"],
        "gain of bp": audit["config"]["bp_depth_gain"],
        "untrained": {name: report["verdict"] for name, report in audit["controls"].items()},
        "without blocks": {label: e["acc"] for label, e in audit.get("shallow", {}).items()},
        "survives": {rule: e["survives"] for rule, e in audit.get("settings", {}).items()},
    }


def _ladder_document(folder: Path) -> Facts:
    ladder = read_ladder(folder)
    try:
        compared = _compared(compare_ladder(ladder))
    except UserError:
        compared = None  # no ladder of this network was published
    return {"summary": ladder["summary"], "published": compared}


def _published(study: Gathered) -> Facts:
    found: dict[str, Callable[[Gathered], Facts | None]] = {
        "ladder": ladder_counterpart,
        "audit": audit_counterpart,
        "thirty epochs": thirty_counterpart,
    }
    return {
        name: _compared(compared)
        for name, compare in found.items()
        if (compared := compare(study)) is not None
    }


def _compared(comparison: Facts) -> Facts:
    """Name each compared figure by what it is of; of unlike settings the names alone."""
    facts: Facts = {"unlike": [setting.split()[0] for setting in comparison["unlike"]]}
    for part, rows in comparison.items():
        if part not in ("schema_version", "unlike"):
            facts[part] = {row["what"].replace(", record", ""): row for row in rows}
    for row in (row for part, rows in facts.items() if part != "unlike" for row in rows.values()):
        del row["what"]
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
