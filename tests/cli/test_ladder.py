"""`depthgauge ladder`, from the first run to the figure."""

from __future__ import annotations

import json
import os
import re
import statistics
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
from cli.commands import SMALL, run, run_ladder, write_rules
from store.small_runs_on_disk import checkpoint_bits, contents

RESULTS = ("result.json", "metrics.jsonl", "checkpoint.safetensors", "config.json")


def run_files(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {name: file for name, file in contents(folder).items() if name.startswith("runs/")}


def without(document: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in document.items() if key != name}


# What comes out


def test_standard_output_is_exactly_one_json_document(study):
    done = run_ladder(study)
    assert done.status == 0
    assert done.err == ""
    assert done.out.startswith("{")
    assert done.out.endswith("}\n")
    written = json.loads((study / "ladder.json").read_text())
    for document in (done.document, written):
        assert document["provenance"].pop("date")
        assert document["provenance"]["command"].startswith("depthgauge")
    assert without(done.document, "provenance") == without(written, "provenance")


def test_the_document(trained):
    ladder = json.loads((trained / "ladder.json").read_text())
    assert set(ladder) == {
        *("schema_version", "config", "chance", "provenance", "rules", "twins", "used_depth"),
        "floors",
    }
    assert (ladder["twins"], ladder["floors"]) == ({}, None)
    assert list(ladder["used_depth"]) == ["bp", "dfa"]
    config = ladder["config"]
    assert config["task"]["name"] == "digits"
    assert config["net"]["width"] == 8
    assert config["net"]["blocks"] == 2
    assert config["recipe"]["epochs"] == 1
    assert config["recipe"]["batch_size"] == 128
    assert 0.1 <= ladder["chance"] < 0.11
    assert list(ladder["rules"]) == ["bp", "dfa"]
    for rungs in ladder["rules"].values():
        assert [rung["k"] for rung in rungs] == [0, 1, 2]
        for rung in rungs:
            assert list(rung["accuracies"]) == ["1", "2"]
            accuracies = list(rung["accuracies"].values())
            assert all(0 <= accuracy <= 1 for accuracy in accuracies)
            assert rung["mean"] == pytest.approx(sum(accuracies) / 2)
            assert rung["std"] == pytest.approx(statistics.stdev(accuracies))


def test_every_number_leads_to_its_run(trained):
    ladder = json.loads((trained / "ladder.json").read_text())
    for label, rungs in ladder["rules"].items():
        for rung in rungs:
            for seed, accuracy in rung["accuracies"].items():
                folder = trained / "runs" / rung["runs"][seed]
                assert sorted(os.listdir(folder)) == sorted(RESULTS)
                result = json.loads((folder / "result.json").read_text())
                config = json.loads((folder / "config.json").read_text())
                assert result["final_acc"] == accuracy
                assert (config["rule"]["label"], config["k"], config["seed"]) == (
                    label,
                    rung["k"],
                    int(seed),
                )


def test_table_and_figures_are_written_beside_it(trained):
    assert sorted(os.listdir(trained)) == [
        "claims",
        "ladder.json",
        "ladder.md",
        "ladder.png",
        "ladder.svg",
        "plan",
        "report.html",
        "runs",
        "study.json",
    ]
    text = (trained / "ladder.md").read_text()
    assert "| rule | k = 0 | k = 1 | k = 2 |" in text
    assert "| bp |" in text
    assert "- dfa " in text
    assert (trained / "ladder.png").read_bytes().startswith(b"\x89PNG")
    assert ET.parse(trained / "ladder.svg").getroot().tag.endswith("svg")


def test_without_json_people_get_a_table_and_words(study):
    shared = (*SMALL, "--no-twins", "--seeds", 1, 2, "--out", study)
    done = run("ladder", *shared, "--rules", "bp", "dfa")
    assert (done.status, done.err) == (0, "")
    for part in ("rule", "k = 0", "k = 2", "bp", "dfa", "depth", str(study / "ladder.md")):
        assert part in done.out
    for line in done.out.splitlines():
        if line.startswith(str(study)):
            assert Path(line).is_file()


def test_an_audit_that_cannot_be_read_is_said_and_costs_neither_table_nor_page(study):
    (study / "report.html").write_text("old")
    (study / "audit.json").write_text("{}")
    shared = (*SMALL, "--no-twins", "--seeds", 1, 2, "--out", study)
    done = run("ladder", *shared, "--rules", "bp", "dfa")
    assert done.status == 0
    assert "k = 2" in done.out
    assert "audit.json is not an audit of this version; audit the study again" in done.err
    assert (study / "report.html").read_text() != "old"


def test_options_of_a_rule_are_shown_in_the_terminal_table(tmp_path):
    rule = "dfa[normalise=batch]"
    done = run(
        *("ladder", *SMALL, "--rules", rule, "--k", 0, "--seeds", 1, "--out", tmp_path / "out")
    )
    assert done.status == 0
    assert any(line.strip().startswith(f"{rule}  ") for line in done.out.splitlines())


def test_the_default_folder_belongs_to_this_study_alone(tmp_path):
    folders = []
    for width in (8, 9):
        plan = run("ladder", *SMALL, "--width", width, "--dry-run", "--json").document
        folders.append(plan["out"])
    assert all(folder.startswith("runs/digits-d") for folder in folders)
    assert len(set(folders)) == 2
    done = run("ladder", *SMALL, "--rules", "bp", "--k", 0, "--seeds", 1, "--json")
    assert done.status == 0
    assert (tmp_path / folders[0] / "ladder.json").is_file()


# Running it again


def test_the_same_command_again_trains_nothing_and_touches_no_run(study):
    before = run_files(study)
    first = json.loads((study / "ladder.json").read_text())
    assert run_ladder(study).document["rules"] == first["rules"]
    assert run_files(study) == before


def test_more_seeds_rules_and_k_may_come_later(study):
    before = run_files(study)
    done = run_ladder(study, "--seeds", 2, 3, "--k", 0, rules=("fa", "bp"))
    assert done.status == 0
    after = run_files(study)
    assert {name: after[name] for name in before} == before
    seeds = {
        (label, rung["k"]): list(rung["accuracies"])
        for label, rungs in done.document["rules"].items()
        for rung in rungs
    }
    assert set(done.document["rules"]) == {"fa", "bp", "dfa"}
    assert seeds["fa", 0] == ["2", "3"]
    assert seeds["bp", 0] == ["1", "2", "3"]
    assert seeds["bp", 1] == ["1", "2"]


def test_a_run_whose_result_is_missing_is_made_again_and_comes_out_the_same(study):
    before = run_files(study)
    lost = sorted(study.glob("runs/*/result.json"))[3]
    lost.unlink()
    assert run_ladder(study).status == 0
    after = run_files(study)
    name = str(lost.relative_to(study))
    was, now = (json.loads(files[name][1]) for files in (before, after))
    assert now["final"] == was["final"]
    unaffected = {n: f for n, f in before.items() if Path(n).parent != Path(name).parent}
    assert {n: after[n] for n in unaffected} == unaffected


def test_two_studies_of_the_same_kind_give_the_same_bits(trained, tmp_path):
    done = run_ladder(tmp_path / "again")
    assert done.status == 0
    for path in sorted(trained.glob("runs/*/metrics.jsonl")):
        again = tmp_path / "again" / path.relative_to(trained)
        assert again.read_bytes() == path.read_bytes()
        name = "checkpoint.safetensors"
        assert checkpoint_bits(again.with_name(name)) == checkpoint_bits(path.with_name(name))


# Looking first


def test_a_dry_run_shows_the_runs_and_writes_nothing(tmp_path):
    done = run_ladder(tmp_path / "out", "--dry-run", "--k", 0, 2)
    assert (done.status, done.err) == (0, "")
    runs = done.document["runs"]
    assert [(one["label"], one["k"], one["seed"]) for one in runs] == [
        (rule, k, seed) for rule in ("bp", "dfa") for seed in (1, 2) for k in (2, 0)
    ]
    assert {one["state"] for one in runs} == {"waiting"}
    expected = done.document["expected"]
    assert expected["memory_bytes"] > 0
    assert (expected["cohorts"], expected["processes"], expected["threads"]) == (2, 1, 1)
    assert done.document["config"]["net"]["width"] == 8
    assert os.listdir(tmp_path) == []


def test_a_dry_run_knows_what_is_done(study):
    before = contents(study)
    done = run_ladder(study, "--dry-run", "--seeds", 2, 3)
    assert [one["state"] for one in done.document["runs"] if one["seed"] == 2] == ["finished"] * 6
    assert [one["state"] for one in done.document["runs"] if one["seed"] == 3] == ["waiting"] * 6
    for one in done.document["runs"]:
        assert (study / one["run"]).is_dir() == (one["state"] == "finished")
    assert done.document["expected"]["cohorts"] == 2
    assert contents(study) == before


def test_a_dry_run_for_people(study):
    before = contents(study)
    done = run("ladder", *SMALL, "--rules", "bp", "--seeds", 1, 3, "--out", study, "--dry-run")
    assert done.status == 0
    *runs, total, expected, more = done.out.splitlines()
    assert len(runs) == 6
    assert sum(line.endswith(" waiting") for line in runs) == 3
    assert "6 runs" in total
    assert "3 finished" in total
    cost = r"3 runs of 1 epoch \(bp\), roughly \d+ s in 1 process of 1 thread, "
    cost += r"\d+\.\d GB each: 1 cohort"
    assert re.fullmatch(cost, expected)
    assert "swap twins" in more
    assert contents(study) == before


def test_a_dry_run_of_what_is_done_expects_nothing(study):
    shared = (*SMALL, "--no-twins", "--rules", "bp", "--seeds", 1, "--out", study)
    done = run("ladder", *shared, "--dry-run")
    assert done.out.splitlines()[-1].endswith(": 3 finished")
    assert run_ladder(study, "--dry-run").document["expected"]["cohorts"] == 0


def test_a_dry_run_of_a_rule_that_fails_is_no_traceback(tmp_path):
    path = write_rules(tmp_path)
    done = run_ladder(tmp_path / "out", "--k", 0, "--dry-run", rules=(f"{path}:Broken",))
    assert "Traceback" not in done.err
    assert not (tmp_path / "out").exists()


# Rules of one's own, and what goes wrong with them


def test_a_rule_from_a_file(tmp_path):
    path = write_rules(tmp_path)
    done = run_ladder(tmp_path / "out", "--k", 0, 2, rules=("bp", f"{path}:Mine"))
    assert (done.status, done.err) == (0, "")
    assert list(done.document["rules"]) == ["bp", "mine"]
    assert len(done.document["rules"]["mine"][-1]["accuracies"]) == 2
    configs = [json.loads(p.read_text()) for p in (tmp_path / "out").glob("runs/*/config.json")]
    assert {bool(c["rule"]["source"]) for c in configs if c["rule"]["name"] == "mine"} == {True}


def test_a_rule_that_fails_gives_status_1_and_the_others_finish(tmp_path):
    path = write_rules(tmp_path)
    done = run_ladder(tmp_path / "out", "--k", 0, rules=(f"{path}:Broken", "dfa"))
    assert done.status == 1
    assert list(done.document["rules"]) == ["dfa"]
    assert done.err.count("\n") == 1
    assert "broken k=0 seed=1 and 1 more failed: ZeroDivisionError: the author" in done.err
    assert "Traceback" not in done.err
    failures = sorted((tmp_path / "out").glob("runs/*/failed.json"))
    assert len(failures) == 2
    for failure in failures:
        written = json.loads(failure.read_text())
        assert written["reason"] == "ZeroDivisionError: the author divided by zero"
        assert "Traceback" in written["details"]


def test_the_same_command_again_says_once_more_what_has_failed_and_trains_nothing(tmp_path):
    path, out = write_rules(tmp_path), tmp_path / "out"
    first = run_ladder(out, "--k", 0, rules=(f"{path}:Broken", "dfa"))
    before = run_files(out)
    again = run_ladder(out, "--k", 0, rules=(f"{path}:Broken", "dfa"))
    assert (again.status, again.err) == (1, first.err)
    assert run_files(out) == before


def test_nothing_but_failures(tmp_path):
    path = write_rules(tmp_path)
    done = run_ladder(tmp_path / "out", "--k", 0, rules=(f"{path}:Broken",))
    assert done.status == 1
    assert done.document["rules"] == {}
    assert not (tmp_path / "out" / "ladder.png").exists()


def test_files_that_are_named_are_there(tmp_path):
    path, out = write_rules(tmp_path), tmp_path / "out"
    rule = f"{path}:Broken"
    done = run("ladder", *SMALL, "--rules", rule, "--k", 0, "--seeds", 1, "--out", out)
    assert done.status == 1
    named = [Path(line) for line in done.out.splitlines() if line.startswith(str(out))]
    assert all(file.is_file() for file in named)


def test_a_rule_that_diverges_gives_status_1_and_is_said_to_have_diverged(tmp_path):
    path, out = write_rules(tmp_path), tmp_path / "out"
    done = run_ladder(out, "--k", 0, 2, rules=(f"{path}:Exploding",))
    assert done.status == 1
    frozen, lost = done.document["rules"]["exploding"]
    assert (lost["k"], lost["mean"], lost["accuracies"]) == (2, None, {})
    assert lost["diverged"] == {"1": 1, "2": 1}
    assert len(frozen["accuracies"]) == 2
    assert "diverged" in (out / "ladder.md").read_text()
    assert run_ladder(out, "--k", 0, 2, rules=(f"{path}:Exploding",)).status == 1


def test_after_an_edit_the_ladder_is_that_of_the_rule_as_it_is_now(tmp_path):
    path, out = write_rules(tmp_path), tmp_path / "out"
    rules = (f"{path}:Mine",)
    run_ladder(out, rules=rules)
    path.write_text(
        path.read_text().replace("embed=context.states[0])", "embed=-context.states[0])")
    )
    done = run_ladder(out, rules=rules)
    shown = {run for rung in done.document["rules"]["mine"] for run in rung["runs"].values()}
    plan = run_ladder(out, "--dry-run", rules=rules).document
    assert {f"runs/{run}" for run in shown} == {one["run"] for one in plan["runs"]}
