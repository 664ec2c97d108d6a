"""`depthgauge audit --checkpoints`: networks that exist already."""

from __future__ import annotations

import json

import pytest
import torch
from cli.audits import export, find_run, network_of, read
from cli.commands import run

UNTESTED = "no alarm, depth untested"


@pytest.fixture
def folder(trained, tmp_path):
    return export(trained, tmp_path / "networks")


def audit(folder, *more):
    return run("audit", "--checkpoints", folder, "--task", "digits", *more)


def test_accuracies_are_those_of_the_study_they_come_from(trained, folder):
    """Plain state dicts, and state dicts inside a dict."""
    done = audit(folder, "--json", "--strict")
    assert (done.status, done.err) == (0, "")
    networks = json.loads(done.out, parse_constant=pytest.fail)["networks"]
    assert [(network["label"], network["seed"]) for network in networks] == [
        ("bp", 1),
        ("bp", 2),
        ("dfa", 1),
        ("dfa", 2),
    ]
    for network in networks:
        report, name = network["report"], f"{network['label']}_s{network['seed']}.pt"
        result = read(find_run(trained, network["label"], network["seed"]) / "result.json")
        assert network["accuracy"] == pytest.approx(result["final_acc"], abs=1e-9)
        assert report["residual_norms"] == pytest.approx(result["final"]["h_norm"], rel=1e-5)
        assert report["bp_grad_norms"] == pytest.approx(result["final"]["g_norm"], rel=1e-5)
        assert network["source"]["checkpoint"] == name
        assert report["verdict"] == UNTESTED
        assert network["frozen"] is None


def test_missing_ones_are_skipped_with_a_line_each(folder):
    (folder / "dfa_s2.pt").unlink()
    done = audit(folder, "--json", "--rules", "dfa", "fa", "--seeds", 1, 2)
    assert done.status == 0
    assert [network["label"] for network in done.document["networks"]] == ["dfa"]
    lines = done.err.splitlines()
    assert len(lines) == 3
    for line, name in zip(lines, ("dfa_s2", "fa_s1", "fa_s2"), strict=True):
        assert line.startswith("depthgauge: ")
        assert f"{name}.pt" in line


def test_a_frozen_accuracy_tests_depth(folder):
    done = audit(
        *(folder, "--json", "--strict", "--seeds", 1),
        *("--frozen-acc", "bp=0.0", "dfa=0.9"),
    )
    verdicts = done.document["verdicts"]
    assert done.status == 3
    assert verdicts["bp"]["in_words"] == "no alarm, depth untested (single seed)"
    assert verdicts["bp"]["published_word"] == "trustworthy"
    assert verdicts["dfa"]["in_words"] == "walk back (D3, single seed)"
    assert [network["frozen"] for network in done.document["networks"]] == [0.0, 0.9]


def test_feedback_beside_the_network_gives_alignment_and_its_null(trained, tmp_path, audited):
    folder = export(trained, tmp_path / "networks", feedback=True)
    done = audit(folder, "--json", "--rules", "dfa", "--seeds", 1)
    report = network_of(done.document, "dfa")["report"]
    expected = network_of(audited.document, "dfa")["report"]["readings"]
    for name in ("alignment", "perturbation"):
        found = report["readings"][name]["per_layer"]
        assert found == pytest.approx(expected[name]["per_layer"], abs=1e-6)
    assert report["readings"]["null"]["deep"] == pytest.approx(expected["null"]["deep"])


def test_files_are_written_where_asked_and_nowhere_else(folder, tmp_path):
    asked = ("--rules", "dfa", "--seeds", 1, "--verbose")
    done = audit(folder, *asked, "--out", tmp_path / "out" / "deep")
    written = tmp_path / "out" / "deep"
    names = ["audit.json", "audit.md", "report.html"]
    assert sorted(path.name for path in written.iterdir()) == names
    assert all(str(written / name) in done.out for name in names)
    assert read(written / "audit.json")["config"]["checkpoints"] == str(folder)
    before = sorted(tmp_path.rglob("*"))
    assert "audit.json" not in audit(folder, "--rules", "dfa", "--seeds", 1).out
    assert sorted(tmp_path.rglob("*")) == before


def test_a_dry_run_reads_no_network_and_writes_nothing(folder, tmp_path):
    out = tmp_path / "out"
    done = audit(folder, "--seeds", 1, "--dry-run", "--out", out)
    assert not out.exists()
    assert done.out == f"{folder}/bp_s1.pt there\n{folder}/dfa_s1.pt there\n"


def test_networks_saved_in_half_precision(trained, tmp_path):
    folder = export(trained, tmp_path / "networks", feedback=True)
    saved = torch.load(folder / "dfa_s1.pt", weights_only=True)
    halved = {
        "state_dict": {name: t.half() for name, t in saved["model"].items()},
        "Bs": [matrix.half() for matrix in saved["Bs"]],
    }
    torch.save(halved, folder / "dfa_s1.pt")
    done = audit(folder, "--json", "--rules", "dfa", "--seeds", 1)
    assert (done.status, done.err) == (0, "")
    assert network_of(done.document, "dfa")["report"]["verdict"] == UNTESTED
