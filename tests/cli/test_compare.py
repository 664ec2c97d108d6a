"""`depthgauge compare`: several studies side by side."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from cli.commands import SMALL, assert_bad_input, run
from cli.conftest import one_core


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study of a narrower network: bp and fa, seeds 2 and 3. Look, do not touch."""
    folder = tmp_path_factory.mktemp("others") / "other"
    rules = ("--width", 6, "--rules", "bp", "fa", "--k", 0, 2, "--seeds", 2, 3)
    with one_core():
        assert run("ladder", *SMALL, "--no-twins", *rules, "--out", folder).status == 0
    return folder


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def test_what_the_studies_are_three_tables_and_how_to_read_them(trained, other):
    done = run("compare", trained, other)
    assert (done.status, done.err) == (0, "")
    places = [
        done.out.index(words)
        for words in (
            "study: digits, width 8, 2 blocks, 1 epoch, seeds 1, 2; runs: 12 finished; version",
            "other: digits, width 6, 2 blocks, 1 epoch, seeds 2, 3; runs: 8 finished",
            "Every rule of every study",
            "The same rule in several studies",
            "study → other\nbp: other runs: net.width 8 → 6",
            "single seed",
            "Each rule against bp",
            "Each interval has 95 %",
        )
    ]
    assert places == sorted(places)


def test_a_copy_is_the_same_runs_bit_for_bit(trained, tmp_path):
    copy = shutil.copytree(trained, tmp_path / "copy")
    done = run("compare", trained, copy)
    assert "bp, dfa: the same runs, 6 done in both, all the same bit for bit." in done.out
    assert "excludes zero" not in done.out.partition("Each rule against")[0]


def test_as_one_json_document(trained, other):
    document = run("compare", trained, other, "--json").document
    assert document["schema_version"] == 1
    assert [study["name"] for study in document["studies"]] == ["study", "other"]
    (pair,) = document["same_rules"]
    assert (pair["label"], pair["differences"][0]["n"]) == ("bp", 1)
    assert document["studies"][0]["provenance"]["device"] == ["cpu"]


def test_against_another_rule(trained, other):
    done = run("compare", trained, other, "--to", "dfa")
    assert "Each rule against dfa" in done.out
    assert ": not compared with dfa: this study has no dfa, and study differs in" in done.out


@pytest.mark.slow
def test_audited_studies_are_judged_by_their_audit(trained, audited):
    verdicts = audited.document["verdicts"]
    rows = run("compare", trained, audited.folder, "--json").document["rules"]
    judged = {row["label"]: row for row in rows if row["basis"] == "audit"}
    assert {rule: row["verdict_in_words"] for rule, row in judged.items()} == {
        rule: entry["in_words"] for rule, entry in verdicts.items()
    }
    assert {row["study"] for row in judged.values()} == {"/".join(audited.folder.parts[-2:])}


@pytest.mark.usefixtures("narrow")
def test_eighty_columns_are_enough_for_every_number(trained, other):
    out = run("compare", trained, other).out
    assert max(map(len, out.splitlines())) <= 80
    assert re.search(r"[+−]\d+\.\d\d +\[[+−]\d+\.\d\d, [+−]\d+\.\d\d\] +\w+ zero", out)
    rows = [line.split() for line in out.splitlines() if line.startswith("  bp  ")]
    assert [row[:2] for row in rows] == [["bp", "2"], ["bp", "2"], ["bp", "accuracy"]]


def test_nothing_is_written(study, other):
    before = {path: path.stat().st_mtime_ns for path in study.rglob("*")}
    run("compare", study, other)
    assert {path: path.stat().st_mtime_ns for path in study.rglob("*")} == before


def test_one_study_alone(trained):
    assert_bad_input(run("compare", trained), str(trained), "give at least two")


def test_the_same_study_twice(trained):
    assert_bad_input(run("compare", trained, f"{trained}/."), str(trained), "given twice")


@pytest.mark.parametrize("name", ["nothing", "runs"])
def test_a_folder_that_is_not_a_study(trained, other, name):
    done = run("compare", other, trained / name)
    assert_bad_input(done, str(trained / name), "not the folder of a study")


def test_a_rule_that_no_study_has(trained, other):
    assert_bad_input(run("compare", trained, other, "--to", "ep"), "ep", "bp", "dfa")


def test_no_study_at_all():
    assert_bad_input(run("compare"), "DIR", "depthgauge compare --help")


def test_help_names_the_options():
    done = run("compare", "--help")
    assert done.status == 0
    assert "--to RULE" in done.out
    assert "--json" in done.out
