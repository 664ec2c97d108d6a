"""`depthgauge show RUN`: all that is known of a run, and where it comes from."""

from __future__ import annotations

import pytest
from cli.audits import find_run, read
from cli.commands import assert_bad_input, run, run_ladder
from cli.stopped_studies import command, run_raising

KNOWN = {
    *("version", "commit", "dirty", "python", "torch", "libraries", "processor", "cores"),
    "gpu",
    *("memory_bytes", "system", "threads", "device", "engine", "command", "study", "cohort"),
    *("date", "resumed_from", "wall_seconds", "cpu_seconds", "peak_memory_bytes"),
}


def test_a_run_that_is_done_with_its_whole_provenance(trained):
    folder = find_run(trained, "dfa")
    done = run("show", folder, "--json")
    assert (done.status, done.err) == (0, "")
    shown, result = done.document, read(folder / "result.json")
    assert shown["run"] == str(folder)
    assert shown["config"] == read(folder / "config.json")
    assert (shown["state"], shown["epochs_recorded"]) == ("finished", 2)
    for name in ("final_acc", "diverged_epoch", "final", "provenance"):
        assert shown[name] == result[name]
    assert set(shown["provenance"]) == KNOWN
    assert shown["provenance"]["study"] == "study"
    assert len(shown["provenance"]["cohort"]) == 6
    assert shown["put_aside"] == []


def test_every_number_of_it_is_shown_to_people_too(trained):
    folder = find_run(trained, "bp")
    text = run("show", folder).out
    config, result = (read(folder / name) for name in ("config.json", "result.json"))
    lines = [line.strip() for line in text.splitlines()]
    assert f"checksum: {config['task']['checksum']}" in lines
    assert f"label: {config['rule']['label']}" in lines
    assert "learning_rate: 0.001" in lines
    assert f"final_acc: {result['final_acc']:.6g}" in lines
    assert f"commit: {result['provenance']['commit'] or '–'}" in lines
    assert f"wall_seconds: {result['provenance']['wall_seconds']:.6g}" in lines
    norms = "  ".join(f"{value:.6g}" for value in result["final"]["h_norm"])
    assert f"h_norm: {norms}" in lines
    assert "diverged_epoch: –" in lines
    assert "  train_loss: " in text


def test_a_run_that_is_not_done(stopped):
    for folder in (stopped / "runs").iterdir():
        shown = run("show", folder, "--json").document
        assert (shown["state"], shown["epochs_recorded"]) == ("stopped", 2)
        assert shown["provenance"] == {}
        assert "final_acc" not in shown


def test_a_run_that_failed_says_why_and_where(stopping_rules, tmp_path):
    folder = tmp_path / "study"
    run_raising(*command(stopping_rules, folder, "Raises"))
    shown = run("show", find_run(folder, "raises", k=1), "--json").document
    assert shown["state"] == "failed"
    assert shown["reason"] == "ZeroDivisionError: the author divided by zero"
    assert "stopping_rules.py" in shown["details"]
    assert shown["provenance"]["torch"]


def test_what_was_put_aside_is_said(study):
    folder = find_run(study, "dfa")
    (folder / "result.json").write_text("[]")
    assert run_ladder(study).status == 0
    shown = run("show", folder, "--json").document
    assert shown["put_aside"] == ["result.json is incomplete, or is the result of another run"]


@pytest.mark.parametrize(
    ("place", "why"),
    [("nothing", "there is no folder"), ("", "config.json"), ("runs", "config.json")],
)
def test_not_a_run(trained, place, why):
    assert_bad_input(run("show", trained / place), str(trained / place), why)


@pytest.mark.parametrize("name", ["config.json", "result.json"])
def test_a_damaged_file_is_named(study, name):
    path = find_run(study, "dfa") / name
    path.write_text("{")
    assert_bad_input(run("show", path.parent), str(path))
