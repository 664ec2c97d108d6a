"""Options of `audit`, `null` and `diagnose` that are not possible."""

from __future__ import annotations

import pytest
from cli.audits import export
from cli.commands import assert_bad_input, run


@pytest.fixture
def networks(trained, tmp_path):
    return export(trained, tmp_path / "networks")


def test_options_of_an_audit_of_checkpoints(networks):
    for more, words in [
        (("--frozen-acc", "bp=61.5"), ("bp=61.5", "at most 1")),
        (("--frozen-acc", "bp=-0.1"), ("bp=-0.1",)),
        (("--frozen-acc", "bp=nan"), ("bp=nan",)),
        (("--frozen-acc", "bp"), ("bp", "NAME=VALUE")),
        (("--frozen-acc", "typo=0.3"), ("typo",)),
        (("--thresholds", "growth=-1"), ("growth", "-1")),
        (("--thresholds", "growth=many"), ("growth=many",)),
        (("--thresholds", "speed=1"), ("speed", "growth")),
        (("--thresholds", "error_rate=1"), ("error rate",)),
        (("--rules", "fa"), ("LABEL_sSEED",)),
        (("--vary", "penalty=0,1"), ("--vary", "nothing is trained")),
        (("--controls", "shallow"), ("--controls", "nothing is trained")),
        (("--select", "validation"), ("--select", "--vary")),
    ]:
        choice = ("--rules", "bp", "--seeds", 1)
        done = run("audit", "--checkpoints", networks, "--task", "digits", *choice, *more)
        assert_bad_input(done, *words)


def test_folders_of_checkpoints_that_are_empty_or_not_there(tmp_path):
    (tmp_path / "empty").mkdir()
    for name in ("empty", "nowhere"):
        done = run("audit", "--checkpoints", tmp_path / name, "--task", "digits")
        assert_bad_input(done, name)


def test_an_audit_of_checkpoints_cannot_be_written_into_a_file(networks):
    target = networks / "bp_s1.pt"
    options = ("--task", "digits", "--rules", "bp", "--seeds", 1, "--out", target)
    done = run("audit", "--checkpoints", networks, *options)
    assert_bad_input(done, "bp_s1.pt")
    assert "Errno" not in done.err


def test_options(tmp_path):
    for arguments, words in [
        (("audit", "--frozen-acc", "bp=0.5"), ("--frozen-acc", "--checkpoints")),
        (("audit", "--depth", 0), ("--depth 0", "at least one block")),
        (("audit", "--thresholds", "growth=-1"), ("growth",)),
        (("audit", "--thresholds", "speed=1"), ("speed",)),
        (("audit", "--task", "nothing"), ("nothing", "digits")),
        (("audit", "--rules", "bp", "bp"), ("--rules", "more than once")),
        (("audit", "--rules", "nothing"), ("nothing", "dfa")),
        (("null", "run", "--draws", 0), ("--draws", "'0'")),
        (("null", "run", "--samples", 0), ("--samples", "'0'")),
        (("null", "run", "--rule", "nothing"), ("nothing", "dfa")),
        (("null", "run", "--convention", "other"), ("--convention", "published")),
        (("null",), ("RUN",)),
        (("diagnose",), ("CHECKPOINT",)),
        (("diagnose", "net.pt", "--acc", 61), ("--acc", "from 0 to 1")),
        (("diagnose", "net.pt", "--frozen-acc", "half"), ("--frozen-acc", "half")),
        (("diagnose", "net.pt", "--batches", 0), ("--batches", "'0'")),
        (("diagnose", "net.pt", "--thresholds", "growth=0"), ("growth",)),
        (("diagnose", "net.pt", "--bp-depth-gain", "nan"), ("--bp-depth-gain", "nan")),
        (("diagnose", "net.pt", "--bp-depth-gain", 17.6), ("--bp-depth-gain", "17.6")),
    ]:
        assert_bad_input(run(*arguments), *words)
        assert list(tmp_path.iterdir()) == []
