"""A rule written from the tutorial alone, on its way through the commands."""

from __future__ import annotations

import json
from pathlib import Path

from cli.commands import SMALL, run

SPARSE = Path(__file__).parent.parent / "checks" / "sparse_dfa.py"
RULE = f"{SPARSE}:SparseDFA[density=0.5]"
LABEL = "sparse_dfa[density=0.5]"


def full_run(study: Path) -> Path:
    """The folder of the run of the rule that trains both its blocks."""
    configs = [(path, json.loads(path.read_text())) for path in study.glob("runs/*/config.json")]
    (found,) = [p for p, config in configs if (config["rule"]["label"], config["k"]) == (LABEL, 2)]
    return found.parent


def test_a_rule_of_40_lines_is_checked_audited_climbs_the_ladder_and_has_its_null(tmp_path):
    assert len(SPARSE.read_text().splitlines()) <= 40
    assert run("check-rule", RULE).status == 0
    shared = (
        *SMALL,
        "--no-twins",
        "--rules",
        "bp",
        RULE,
        "--seeds",
        1,
        "--out",
        tmp_path / "study",
        "--json",
    )
    audit = run("audit", *shared)
    assert audit.status == 0, audit.err
    assert audit.document["verdicts"].keys() == {"bp", LABEL}
    ladder = run("ladder", *shared, "--k", 0, 2)
    assert ladder.status == 0, ladder.err
    assert ladder.document["rules"].keys() == {"bp", LABEL}
    null = run("null", full_run(tmp_path / "study"), "--rule", RULE, "--draws", 20, "--json")
    assert null.status == 0, null.err
    assert len(null.document["null"]["fresh_deep"]) == 20


def test_the_null_of_a_run_is_drawn_with_the_options_of_the_run(tmp_path):
    run("ladder", *SMALL, "--rules", RULE, "--seeds", 1, "--k", 2, "--out", tmp_path / "study")
    drawn = ("null", full_run(tmp_path / "study"), "--draws", 20, "--json", "--rule")
    by_name, with_options = run(*drawn, f"{SPARSE}:SparseDFA"), run(*drawn, RULE)
    assert by_name.document["null"] == with_options.document["null"]
