"""`depthgauge run FILE` does what its options would do."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli.commands import assert_bad_input, run, run_ladder
from scheduling.small_grids import outcome
from store.small_runs_on_disk import contents

from depthgauge.study_file import study_file_schema

TOML = """\
command = "ladder"
task = "digits"
width = 8
depth = 2
epochs = 1
threads = 1
rules = ["bp", "dfa"]
twins = false
floors = false
seeds = [1, 2]
"""

YAML = """\
command: ladder
task: digits
width: 8
depth: 2
epochs: 1
threads: 1
rules: [bp, dfa]
twins: false
floors: false
seeds:
  - 1
  - 2
"""

FILES = {"study.toml": TOML, "study.yaml": YAML}


def write(name: str, more: str = "") -> str:
    Path(name).write_text(FILES[name] + more)
    return name


@pytest.mark.parametrize("name", FILES)
def test_it_plans_the_runs_that_the_options_plan(tmp_path, name):
    out = tmp_path / "out"
    typed = run_ladder(out, "--dry-run").document
    planned = run("run", write(name), "--out", out, "--dry-run", "--json").document
    assert len(planned["runs"]) == 12
    assert [planned[part] for part in ("out", "config", "runs")] == [
        typed[part] for part in ("out", "config", "runs")
    ]
    assert not out.exists()


def test_it_trains_what_the_options_train(trained, tmp_path):
    done = run("run", write("study.toml", 'out = "own"\n'), "--json")
    assert (done.status, done.err) == (0, "")
    assert outcome(tmp_path / "own") == outcome(trained)
    first, again = done.document, run("run", "study.toml", "--json").document
    for document in (first, again):
        assert document["provenance"].pop("date")
    assert first == again


def test_options_and_file_go_on_with_each_other(study):
    before = {name: file for name, file in contents(study).items() if name.startswith("runs/")}
    done = run("run", write("study.yaml"), "--out", study)
    assert done.status == 0
    assert "k = 2" in done.out
    after = {name: file for name, file in contents(study).items() if name.startswith("runs/")}
    assert after == before


def test_audits_with_vary_and_thresholds(tmp_path):
    Path("study.toml").write_text(
        'command = "audit"\ntask = "digits"\nwidth = 6\ndepth = 1\nepochs = 1\nthreads = 1\n'
        'rules = ["dfa"]\nseeds = [1]\nout = "own"\nfloors = false\n\n'
        "[vary]\nlearning_rate = [3e-4, 1e-3]\n\n[thresholds]\ngrowth = 40\n"
    )
    options = ("--task", "digits", "--width", 6, "--depth", 1, "--epochs", 1, "--threads", 1)
    varied = ("--vary", "learning_rate=3e-4,1e-3", "--seeds", 1, "--no-floors", "--out", "own")
    typed = run("audit", *options, "--rules", "dfa", *varied, "--dry-run", "--json").document
    planned = run("run", "study.toml", "--dry-run", "--json").document
    assert planned["runs"] == typed["runs"]
    assert len(planned["runs"]) == 4


def test_rungs_of_an_audit_are_trained_besides_none_and_all():
    Path("study.toml").write_text('command = "audit"\ndepth = 3\nseeds = [1]\nk = [2]\n')
    planned = run("run", "study.toml", "--dry-run", "--json").document["runs"]
    assert {one["k"] for one in planned} == {0, 2, 3}


def test_the_schema_is_one_json_document():
    done = run("schema")
    assert (done.status, done.err) == (0, "")
    assert done.document == study_file_schema()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("epochs = 'two'\n", ("line 2", "field 'epochs'")),
        ("epoch = 2\n", ("line 2", "field 'epoch'", "no option epoch")),
        ("rules = ['nothing']\n", ("line 2", "field 'rules'", "nothing")),
        ("seeds = [1\n", ("not TOML", "end of document")),
    ],
)
def test_a_bad_file_gets_one_sentence(tmp_path, text, words):
    Path("study.toml").write_text(f'command = "ladder"\n{text}')
    assert_bad_input(run("run", "study.toml"), "study.toml", *words)
    assert [path.name for path in tmp_path.iterdir()] == ["study.toml"]


def test_what_only_the_command_can_refuse_is_said_with_line_and_field_too(tmp_path):
    for text, field in [
        ('command = "audit"\nseeds = []\n', "seeds"),
        ('command = "audit"\nk = [5]\n', "k"),
        ('command = "ladder"\nstrict = true\n', "strict"),
        ('command = "ladder"\ncontrols = ["nothing"]\n', "controls"),
        ('command = "ladder"\ndevice = "tpu"\n', "device"),
        ('command = "ladder"\nvary = {colour = ["red"]}\n', "vary"),
        ('command = "audit"\nthresholds = {colour = 1}\n', "thresholds"),
        ('command = "audit"\ndepth = 0\n', "depth"),
    ]:
        Path("study.toml").write_text(text)
        done = run("run", "study.toml", "--dry-run")
        assert_bad_input(done, "study.toml", "line 2", f"field {field!r}")


def test_no_file_and_a_wrong_suffix():
    assert_bad_input(run("run", "study.toml"), "study.toml")
    assert_bad_input(run("run", "study.txt"), "study.txt", ".toml")
