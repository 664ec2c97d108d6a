"""`depthgauge reproduce main-audit`, on a few points that stand for CIFAR-10."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from cli.audits import network_of
from cli.commands import Done, assert_bad_input, run
from cli.conftest import one_core
from training.small_runs import make_task

from depthgauge.auditing import gauge_readings
from depthgauge.published.figures import published
from depthgauge.registry import TASKS
from depthgauge.tasks.registry import TaskEntry

COMMAND = ("reproduce", "main-audit", "--epochs", 1, "--threads", 1)
AUDIT = published().main_audit


@pytest.fixture(scope="module")
def reproduced(tmp_path_factory: pytest.TempPathFactory) -> tuple[Done, Path]:
    """As if the published audit had been trained for one epoch too, on a few points."""
    folder = tmp_path_factory.mktemp("reproduced") / "out"
    task = replace(make_task(), name="cifar10")
    with pytest.MonkeyPatch.context() as patch, one_core():
        patch.setitem(TASKS.built_in, "cifar10", TaskEntry("a few points", lambda: task, 100, 256))
        patch.setattr(AUDIT.config, "epochs", 1)
        patch.setattr(gauge_readings, "NULL_DRAWS", 3)
        done = run(*COMMAND, "--seeds", 42, "--out", folder, "--json")
    assert done.status == 0, done.err
    return done, folder


def test_accuracies_beside_the_published_ones(reproduced):
    document = reproduced[0].document
    rows = {row["what"]: row for row in document["comparison"]["figures"]["accuracies"]}
    assert list(rows) == ["bp", "fa", "dfa", "dfa, blocks frozen"]
    for network in document["networks"]:
        compared = rows[network["label"]]
        assert compared["measured"] == network["accuracy"]
        assert compared["published"] == AUDIT.rules[network["label"]].accuracy.mean
        assert compared["inside"] == (abs(compared["difference"]) <= compared["half_width"])
    assert rows["dfa, blocks frozen"]["published"] == AUDIT.frozen.accuracy.mean
    assert rows["dfa, blocks frozen"]["measured"] == document["networks"][-1]["frozen"]


def test_norms_and_alignment_are_compared_as_they_were_published(reproduced):
    document = reproduced[0].document
    rows = {row["what"]: row for row in document["comparison"]["one_seed"]}
    bp, fa, dfa = (network_of(document, rule, 42)["report"] for rule in ("bp", "fa", "dfa"))
    assert rows["bp: ‖h_l‖, l = 0 … L"]["measured"] == bp["residual_norms"]
    n128 = rows["dfa: ‖g_l‖ for N = 128"]["measured"]
    assert n128 == pytest.approx([norm / 128 for norm in dfa["bp_grad_norms"]], rel=1e-12)
    record = dfa["readings"]["alignment_published"]
    assert rows["dfa: Γ, as published, l = 0 … L"]["measured"] == record["per_layer"]
    assert record["per_layer"] != dfa["readings"]["alignment"]["per_layer"]
    blocks = rows["fa: Γ, as published, blocks"]
    assert blocks["measured"] == fa["readings"]["alignment_published"]["per_layer"][:4]
    for row in rows.values():
        assert len(row["measured"]) == len(row["published"])


def test_verdicts_stand_side_by_side(reproduced):
    rows = {row["what"]: row for row in reproduced[0].document["comparison"]["verdicts"]}
    assert rows["bp"]["published"] == "trustworthy"
    assert rows["dfa"]["published"] == "walk back (D1, D2, D3)"
    assert rows["fa"]["published"] is None
    assert all("single seed" in row["measured"] for row in rows.values())


def test_the_comparison_is_written_down(reproduced):
    done, folder = reproduced
    written = json.loads((folder / "comparison-main-audit.json").read_text())
    assert written == done.document["comparison"]
    text = (folder / "comparison-main-audit.md").read_text()
    assert "| dfa: ‖g\\_l‖ for N = 128 |" in text
    assert "of 4 accuracies lie inside" in text


@pytest.mark.slow
def test_another_recipe_is_compared_without_intervals(tmp_path, monkeypatch):
    task = replace(make_task(), name="cifar10")
    monkeypatch.setitem(
        TASKS.built_in, "cifar10", TaskEntry("a few points", lambda: task, 100, 256)
    )
    done = run(*COMMAND, "--rules", "bp", "--seeds", 42, "--out", tmp_path / "out")
    assert done.status == 0
    assert "epochs 1 instead of 100" in done.out
    assert "not alike" in done.out


def test_a_network_that_was_not_published_is_refused_before_training(tmp_path, monkeypatch):
    task = replace(make_task(), name="cifar10")
    monkeypatch.setitem(
        TASKS.built_in, "cifar10", TaskEntry("a few points", lambda: task, 100, 256)
    )
    done = run(*COMMAND, "--width", 8, "--out", tmp_path / "out")
    assert_bad_input(done, "--width 256")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["main-audit", "thirty-epochs"])
@pytest.mark.parametrize("more", [(), ("--dry-run",)])
def test_rungs_that_an_audit_would_not_train_are_refused(name, more, tmp_path):
    done = run("reproduce", name, "--k", 1, "--out", tmp_path / "out", *more)
    assert_bad_input(done, f"{name} takes no --k", "memo-ladder")
    assert not (tmp_path / "out").exists()
