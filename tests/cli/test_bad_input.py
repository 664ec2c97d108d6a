"""Bad input: exit status 2, one sentence that names it, and nothing is touched."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from cli.commands import RULE_FILE, Done, assert_bad_input, run, run_ladder
from store.small_runs_on_disk import contents

PLAIN_TRACEBACK = "a traceback instead of a sentence"


def refused(folder: Path, *options: object) -> Done:
    """The ladder command with bad options; nothing below the test's folder may change."""
    before = contents(folder)
    done = run_ladder(folder / "out", *options)
    assert contents(folder) == before
    assert not (folder / "out").exists()
    return done


def test_the_ladder_refuses(tmp_path):
    for options, words in [
        (("--rules", "bb"), ["'bb'", "bp, credit_bridge, dfa"]),
        (("--rules", "dfa["), ["'dfa['", "dfa[normalise=batch]"]),
        (("--rules", "dfa[speed=9]"), ["speed", "normalise, epsilon"]),
        (("--rules", "dfa[normalise=often]"), ["normalise", "'sample'"]),
        (("--rules", "dfa[epsilon=-1]"), ["epsilon", "greater than or equal to 0"]),
        (("--rules", "nothing.py:Mine"), ["nothing.py"]),
        (("--rules", "dfa", "bp", "dfa"), ["--rules", "dfa more than once"]),
        (("--rules",), ["--rules"]),
        (("--k", 3), ["--k 3", "from 0 to 2"]),
        (("--k", -1), ["--k -1", "at least 0"]),
        (("--k", 1, 1), ["--k", "1 more than once"]),
        (("--k", "some"), ["--k some", "whole number", "'all'"]),
        (("--k",), ["--k"]),
        (("--seeds",), ["--seeds"]),
        (("--seeds", 1, 2, 1), ["--seeds", "1 more than once"]),
        (("--seeds", -4), ["--seeds -4"]),
        (("--seeds", "1.5"), ["--seeds 1.5"]),
        (("--seeds", "42,123"), ["--seeds 42,123", "whole number"]),
        (("--epochs", -1), ["--epochs -1"]),
        (("--epochs", 0), ["--epochs 0", "at least 1"]),
        (("--batch-size", 0), ["--batch-size 0"]),
        (("--width", 0), ["--width 0"]),
        (("--depth", -1), ["--depth -1"]),
        (("--depth", "many"), ["--depth many"]),
        (("--threads", 0), ["--threads 0"]),
        (("--cohort", 0), ["--cohort 0"]),
        (("--cohort", "many"), ["--cohort many", "whole number"]),
        (("--save-every", "often"), ["--save-every often", "a number"]),
        (("--save-every", "nan"), ["--save-every nan"]),
        (("--save-every=-1",), ["--save-every -1"]),
        (("--dtype", "float16"), ["--dtype", "float16", "float32"]),
        (("--validation", -3), ["--validation"]),
        (("--validation", 10**6), ["--validation 1000000", "1296"]),
        (("--device", "abacus"), ["--device abacus"]),
        (("--device", "cuda:99"), ["--device cuda:99"]),
        (("--net", "transformer"), ["'transformer'", "residual_mlp"]),
        (("--task", "mnist"), ["'mnist'", "digits"]),
        (("--task", "nothing.npz"), ["nothing.npz"]),
        (("--task", "cifar10"), ["cifar10", "depthgauge data fetch cifar10"]),
        (("--learning-speed", 1), ["--learning-speed"]),
        (("stray",), ["stray"]),
    ]:
        assert_bad_input(refused(tmp_path, *options), *words)


@pytest.mark.parametrize("command", ["ladder", "identity"])
def test_a_seed_that_is_too_large(command):
    seed = 2**64
    done = run(command, "--task", "digits", "--width", 4, "--seeds", seed)
    assert_bad_input(done, "--seeds", str(seed))


# Files of the user's own


@pytest.mark.parametrize(
    "content",
    [b"", b"nonsense", b"PK\x03\x04 and then nothing", b"\x93NUMPY\x01\x00v\x00"],
    ids=["empty", "text", "half a zip", "half an npy"],
)
def test_a_file_of_arrays_that_is_none(tmp_path, content):
    (tmp_path / "mine.npz").write_bytes(content)
    assert_bad_input(refused(tmp_path, "--task", tmp_path / "mine.npz"), "mine.npz")


def test_arrays_that_do_not_fit_together(tmp_path):
    x, y = np.zeros((6, 3)), np.array([0, 1, 0, 1, 0, 1])
    np.savez(tmp_path / "mine.npz", x_train=x, y_train=y[:5], x_test=x, y_test=y)
    done = refused(tmp_path, "--task", tmp_path / "mine.npz")
    assert_bad_input(done, "mine.npz", "x_train", "6 samples", "5 labels")


@pytest.mark.parametrize(
    ("text", "name", "words"),
    [
        ("class Mine", "Mine", ["mine.py", "SyntaxError"]),
        ("import a_module_that_is_not_there", "Mine", ["mine.py", "a_module_that_is_not_there"]),
        (RULE_FILE, "Yours", ["mine.py", "Yours"]),
        ("Mine = 3", "Mine", ["Mine", "Rule"]),
        ("class Mine: pass", "Mine", ["Mine", "Rule"]),
    ],
)
def test_a_file_that_holds_no_such_rule(tmp_path, text, name, words):
    (tmp_path / "mine.py").write_text(text)
    rule = f"{tmp_path / 'mine.py'}:{name}"
    done = refused(tmp_path, "--rules", rule)
    assert_bad_input(done, *words)


def test_a_file_whose_error_has_many_lines(tmp_path):
    (tmp_path / "mine.py").write_text("raise ValueError('first\\nsecond')")
    assert_bad_input(refused(tmp_path, "--rules", f"{tmp_path / 'mine.py'}:Mine"), "mine.py")


# Folders


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--epochs", 2), ["recipe.epochs (1 there, 2 here)"]),
        (("--width", 9), ["net.width (8 there, 9 here)"]),
        (("--task", "teacher"), ["task.name (digits there, teacher here)"]),
        (("--validation", 100), ["task.evaluated_on (test there, validation here)"]),
        (("--threads", 3), ["--threads 1"]),
    ],
)
def test_the_folder_of_another_study(study, options, words):
    before = contents(study)
    assert_bad_input(run_ladder(study, *options), str(study), "--out", *words)
    assert contents(study) == before


def test_a_folder_with_something_else_in_it(tmp_path):
    (tmp_path / "thesis.tex").write_text("all my work")
    before = contents(tmp_path)
    assert_bad_input(run_ladder(tmp_path), str(tmp_path), "--out")
    assert contents(tmp_path) == before


def test_a_file_instead_of_a_folder(tmp_path):
    path = tmp_path / "thesis.tex"
    path.write_text("all my work")
    assert_bad_input(run_ladder(path), str(path))
    assert path.read_text() == "all my work"


def test_a_folder_below_a_file(tmp_path):
    (tmp_path / "thesis.tex").write_text("all my work")
    assert_bad_input(run_ladder(tmp_path / "thesis.tex" / "study"), "thesis.tex")


def test_a_corrupt_study_file(study):
    (study / "study.json").write_text('{"schema_version": 1, "ki')
    before = contents(study)
    assert_bad_input(run_ladder(study), "study.json")
    assert contents(study) == before


def cut(document: dict[str, object], name: str) -> str:
    return json.dumps({key: value for key, value in document.items() if key != name})


@pytest.mark.parametrize("missing", ["base", "threads"])
def test_a_study_file_with_a_part_missing(study, missing):
    path = study / "study.json"
    path.write_text(cut(json.loads(path.read_text()), missing))
    before = contents(study)
    assert_bad_input(run_ladder(study), path.name)
    assert contents(study) == before


def test_the_data_command_refuses_an_unknown_set():
    assert_bad_input(run("data", "fetch", "imagenet"), "imagenet", "cifar10")
