"""`audit` with swap twins and noise runs, as a user types it: what is trained, said and kept."""

from __future__ import annotations

import contextlib
import csv
import io
import shutil
from pathlib import Path
from typing import Any

import pytest
from cli.audits import read, run_files
from cli.commands import Done, complaints, own_logging, run
from cli.conftest import one_core

from depthgauge.cli.main import main
from depthgauge.results.load import load
from depthgauge.store.plan_files import PlanFiles

STUDY = (
    *("--task", "digits", "--width", 16, "--depth", 2, "--epochs", 3),
    *("--threads", 1, "--no-floors"),
)
RULES, KS, SEEDS = ("bp", "dfa"), (0, 1, 2), (1, 2, 3)
RUNGS = len(RULES) * len(KS) * len(SEEDS)
NOT_HELD = "and was not compared with noise"


def command(folder: Path, *more: object) -> list[str]:
    rules = ("--rules", *RULES, "--seeds", *SEEDS)
    return [str(part) for part in ("audit", *STUDY, *rules, "--out", folder, *more)]


def audit_and_hear(folder: Path) -> list[str]:
    """Audit, and return the lines on what is trained."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), own_logging():
        assert main(command(folder)) == 0
    assert complaints(err.getvalue()) == ""
    return err.getvalue().splitlines()


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """An audit without any options about twins, and what it said. Look, do not touch."""
    folder = tmp_path_factory.mktemp("twins") / "study"
    with one_core():
        return folder, audit_and_hear(folder)


@pytest.fixture
def study(finished: tuple[Path, list[str]], tmp_path: Path) -> Path:
    """A copy of it that may be touched."""
    return shutil.copytree(finished[0], tmp_path / "study")


@pytest.fixture(scope="module")
def without(
    finished: tuple[Path, list[str]], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Done]:
    """The rungs of the same study alone, audited with `--no-twins`."""
    folder = shutil.copytree(finished[0], tmp_path_factory.mktemp("without") / "study")
    for name in others(folder):
        shutil.rmtree(folder / "runs" / name)
    for path in folder.glob("plan/*.json"):
        if path.stem != "1":
            path.unlink()
    before = run_files(folder)
    with one_core():
        done = run(*command(folder, "--no-twins"))
    assert run_files(folder) == before
    assert (done.status, done.err) == (0, "")
    return folder, done


def configs(folder: Path) -> dict[str, Any]:
    return {path.parent.name: read(path) for path in folder.glob("runs/*/config.json")}


def others(folder: Path) -> dict[str, Any]:
    """The interventions of the runs that are no rungs."""
    return {
        name: config["intervention"]
        for name, config in configs(folder).items()
        if "intervention" in config
    }


# What is trained


def test_the_twins_of_rungs_that_climb_are_trained_without_being_asked_for(finished):
    folder, _ = finished
    found = configs(folder)
    assert len(found) - len(others(folder)) == RUNGS
    twins = [
        (config["seed"], config["k"], config["intervention"])
        for config in found.values()
        if config["rule"]["label"] == "bp" and "intervention" in config
    ]
    assert sorted(twins, key=str) == [
        (seed, k, {"swapped": [2 - k]}) for seed in SEEDS for k in (1, 2)
    ]
    ended = {path.parent.name for path in folder.glob("runs/*/result.json")}
    assert ended == set(found)


def test_each_stage_is_a_file_of_the_plan_and_is_announced(finished):
    """Who sees 18 runs and then 12 more learns what they are for."""
    folder, said = finished
    files = PlanFiles(folder / "plan").read().files
    stages = [[c for cohort in file.cohorts for c in cohort.configs] for file in files]
    assert all(config.is_rung for config in stages[0])
    assert all(not config.is_rung for stage in stages[1:] for config in stage)
    nouns = ("runs", "swap twins", "noise runs")
    expected = [
        f"training {len(stage)} {noun} of 3 epochs"
        for stage, noun in zip(stages, nouns, strict=True)
    ]
    assert [line.partition(" (")[0] for line in said] == expected


def test_the_same_command_again_trains_nothing(study):
    before, verdicts = run_files(study), read(study / "audit.json")["verdicts"]
    plan = sorted(study.glob("plan/*"))
    assert audit_and_hear(study) == []
    assert run_files(study) == before
    assert sorted(study.glob("plan/*")) == plan
    assert read(study / "audit.json")["verdicts"] == verdicts


def test_a_twin_whose_result_is_lost_is_made_again_and_comes_out_the_same(study):
    name = sorted(others(study))[0]
    lost = study / "runs" / name / "result.json"
    before = read(lost)
    lost.unlink()
    (said,) = audit_and_hear(study)
    assert said.startswith("training 1 ")
    after = read(lost)
    assert all(after[key] == before[key] for key in before if key != "provenance")


def test_one_more_seed_has_its_own_twins_and_leaves_the_others_alone(study):
    before = run_files(study)
    seeds = ("--seeds", 4, "--rules", "bp", "--out", study)
    assert run("audit", *STUDY, *seeds).status == 0
    after = run_files(study)
    assert {name: after[name] for name in before} == before
    new = {name.split("/")[1] for name in after} - {name.split("/")[1] for name in before}
    added = [configs(study)[name] for name in new]
    assert {config["seed"] for config in added} == {4}
    assert sorted(c["k"] for c in added if "intervention" not in c) == list(KS)


# What is said


def test_used_depth_is_in_the_document_and_in_the_study(finished):
    folder, _ = finished
    verdicts, loaded = read(folder / "audit.json")["verdicts"], load(folder)
    for label in RULES:
        written, rule = verdicts[label]["used_depth"], loaded[label]
        names = ("value", "low", "high", "blocks", "seeds")
        assert {name: written[name] for name in names} == {
            name: getattr(rule.used_depth, name) for name in names
        }
        assert [rung["k"] for rung in written["rungs"]] == [1, 2]
        assert [twin.k for twin in rule.twins] == [1, 2]
    assert (verdicts["bp"]["used_depth"]["low"], verdicts["bp"]["used_depth"]["bp"]) == (2, None)
    assert verdicts["dfa"]["used_depth"]["bp"]["low"] == 2


def test_without_twins_no_block_is_said_to_earn_and_the_words_say_what_cannot_be_told(without):
    folder, _ = without
    assert others(folder) == {}
    climbing = read(folder / "audit.json")["verdicts"]["bp"]["used_depth"]
    assert climbing["low"] == 0
    assert {rung["over_noise"] for rung in climbing["rungs"]} == {None}
    text = (folder / "audit.md").read_text()
    (line,) = (line for line in text.splitlines() if line.startswith("- bp: block 1"))
    assert line.count(NOT_HELD) == 2
    assert {entry["word"] for entry in read(folder / "audit.json")["verdicts"].values()} == {
        "no alarm, depth untested"
    }


def test_with_twins_nothing_is_left_unsaid(finished):
    assert NOT_HELD not in (finished[0] / "audit.md").read_text()


def test_a_dry_run_says_that_more_may_come(finished):
    planned = run(*command(finished[0], "--dry-run"))
    assert "swap twins" in planned.out
    assert "swap twins" not in run(*command(finished[0], "--dry-run", "--no-twins")).out


# Other commands


def test_every_run_counts_in_the_status(finished):
    folder, _ = finished
    count = len(configs(folder))
    assert run("status", folder).out == f"{count} runs: {count} finished\n"


def test_an_exported_table_tells_twins_from_rungs(study):
    assert run("export", study, "--format", "csv").status == 0
    with (study / "runs.csv").open() as file:
        rows = list(csv.DictReader(file))
    expected = {
        name: [" ".join(map(str, config.get("intervention", {}).get("swapped", []))), ""]
        for name, config in configs(study).items()
    }
    assert {row["run"]: [row["swapped"], row["frozen"]] for row in rows} == expected
    assert {len([row for row in rows if row["run"] == name]) for name in expected} == {4}


def test_a_twin_can_be_shown(finished):
    folder, _ = finished
    name, intervention = next(iter(others(folder).items()))
    shown = run("show", folder / "runs" / name, "--json").document
    assert shown["config"]["intervention"] == intervention
    blocks = "  ".join(map(str, intervention["swapped"]))
    lines = [line.strip() for line in run("show", folder / "runs" / name).out.splitlines()]
    assert f"swapped: {blocks}" in lines


def test_a_ladder_of_the_same_study_has_the_same_twins(study):
    before = run_files(study)
    rules = ("--rules", *RULES, "--seeds", *SEEDS)
    document = run("ladder", *STUDY, *rules, "--out", study, "--json").document
    assert run_files(study) == before
    assert {label: [twin["k"] for twin in twins] for label, twins in document["twins"].items()} == {
        label: [1, 2] for label in RULES
    }
    audited = read(study / "audit.json")["verdicts"]
    assert document["used_depth"] == {label: audited[label]["used_depth"] for label in RULES}
