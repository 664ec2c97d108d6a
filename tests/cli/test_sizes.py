"""What was chosen is said in one line, and `--cohort` chooses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli.commands import Done, run_ladder
from studies.other_machines import costing

from depthgauge.cli.sizes import in_one_line
from depthgauge.studies import costs, measured
from depthgauge.studies.pace import Pace
from depthgauge.studies.sizing import Sizing


def sizes_in(folder: Path) -> list[int]:
    """Of the cohorts of each file of the plan."""
    files = sorted((folder / "plan").glob("*.json"))
    return [len(one["runs"]) for file in files for one in json.loads(file.read_text())["cohorts"]]


def ladder(folder: Path, *more: object) -> Done:
    done = run_ladder(folder, *more)
    assert done.status == 0, done.err
    return done


@pytest.mark.parametrize(
    ("sizing", "line"),
    [
        (
            Sizing(15, 1, 2, 2400.0, 1.23e9, measured=True),
            "15 runs together, 2 processes of 1 thread, about 40 min, 1.2 GB each "
            "(measured here; --threads and --cohort change it)",
        ),
        (
            Sizing(1, 8, 1, 5.0, 4e8),
            "1 run together, 1 process of 8 threads (--threads and --cohort change it)",
        ),
    ],
)
def test_in_words(sizing, line):
    assert in_one_line(sizing) == line


def test_of_a_study_that_was_measured_it_is_said_on_standard_error(tmp_path, monkeypatch):
    monkeypatch.setattr(costs, "WORTH_MEASURING", 0.0)
    with costing(Pace(1.0, 0.5), run_bytes=1e6):
        done = ladder(tmp_path / "study")
        of_bp, of_dfa, chosen = done.err.splitlines()
        assert of_bp.startswith("trying bp ")
        assert of_dfa.startswith("trying dfa ")
        assert chosen.startswith("6 runs together, 1 process of 1 thread, about ")
        assert set(done.document["results"]) == {"bp", "dfa"}
        assert ladder(tmp_path / "study").err == ""


def test_who_waits_is_told_once_for_each_rule_what_for(tmp_path, monkeypatch):
    monkeypatch.setattr(costs, "WORTH_MEASURING", 0.0)
    monkeypatch.setattr(measured, "measured_dir", lambda: tmp_path / "measured")
    assert ladder(tmp_path / "study", "--dry-run").err.splitlines() == [
        f"trying {rule} for a moment, to see what its runs cost here" for rule in ("bp", "dfa")
    ]
    assert ladder(tmp_path / "study", "--dry-run").err == ""


def test_the_cohort_is_as_large_as_was_asked_for_and_what_is_planned_stays(tmp_path):
    folder = tmp_path / "study"
    assert ladder(folder, "--cohort", 2).err == ""
    assert sizes_in(folder) == [2] * 6
    ladder(folder, "--cohort", 5, "--seeds", 1, 2, 3)
    assert sizes_in(folder) == [2] * 6 + [3] * 2


def test_a_dry_run_counts_the_cohorts_that_were_asked_for(tmp_path):
    expected = ladder(tmp_path / "study", "--dry-run", "--cohort", 3).document["expected"]
    assert expected["cohorts"] == 4
