"""Audit rules whose used depth is known, on the embedded task, and write down the results.

    python benchmarks/known_depth.py FOLDER

The studies stay in FOLDER, so that the same command continues where it stopped. The results go to
`reproduction/known-depth/found.json`. The rules are those of `tests/rules/`: they give the true
gradient to some blocks, and nothing, noise or random signs to the others.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import depthgauge as dg
from depthgauge.store.provenance import environment

HERE = Path(__file__).resolve().parent.parent
RULE = f"{HERE}/tests/rules/partial_credit.py:Partial"
FOUND = HERE / "reproduction" / "known-depth" / "found.json"

ONE, TWO = ("0", "1", "2", "3"), ("0-2", "1-3", "2-3")
PARTIAL = [
    *(f"{RULE}[true={blocks}]" for blocks in (*ONE, *TWO)),
    *(f"{RULE}[true={block},rest={rest}]" for rest in ("noise", "signs") for block in ONE),
]
STUDIES: dict[str, dict[str, Any]] = {
    "three-seeds": {"rules": ["bp", *PARTIAL, "noise"], "seeds": 3},
    "six-seeds": {"rules": ["bp", "ep", "fa", "dfa"], "seeds": 6},
    "ten-seeds": {"rules": ["bp", "noise"], "seeds": 10},
}


def summary(study: dg.StudyResult) -> dict[str, Any]:
    """Return verdict, used depth, ladder and twins of each rule with a ladder."""
    summaries = {}
    for label, rule in study.rules.items():
        depth = rule.used_depth
        if depth is None:
            continue
        summaries[label] = {
            "verdict": str(rule.verdict),
            "used depth": str(depth),
            **{name: getattr(depth, name) for name in ("value", "low", "high", "earning_blocks")},
            "ladder": {rung.k: rung.mean for rung in rule.ladder},
            "twins": {rung.k: rung.mean for rung in rule.twins},
        }
    return summaries


def main(folder: Path) -> None:
    """Audit every study, and write the results after each."""
    known = environment()
    results: dict[str, Any] = {
        "command": "python benchmarks/known_depth.py FOLDER",
        "commit": known.get("commit"),
        "machine": {name: known.get(name) for name in ("processor", "torch", "python")},
    }
    for name, options in STUDIES.items():
        study = dg.audit(out=str(folder / name), **options)
        results[name] = {"seeds": study.seeds, "rules": summary(study)}
        FOUND.parent.mkdir(parents=True, exist_ok=True)
        FOUND.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
