"""A task with real targets: its score is R², in every number, table, sentence and chart."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from cli.audits import read
from cli.commands import Done, run

from depthgauge.results.load import load
from depthgauge.store.result_file import unpack_answers

SCRIPTS = re.compile(r"<script.*?</script>", re.DOTALL)
WORD = re.compile(r"\baccurac(y|ies)\b", re.IGNORECASE)


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Done]:
    """An audit of a regression. Look, do not touch."""
    folder = tmp_path_factory.mktemp("regression")
    random = np.random.default_rng(0)
    x = random.normal(size=(400, 6)).astype("float32")
    y = np.tanh(x @ random.normal(size=(6, 2))).astype("float32")
    path = folder / "real.npz"
    np.savez(path, x_train=x[:300], y_train=y[:300], x_test=x[300:], y_test=y[300:])
    options = ("--task", path, "--rules", "bp", "dfa", "--depth", 2, "--width", 8, "--epochs", 2)
    more = ("--k", "all", "--seeds", 1, 2, "--threads", 1, "--verbose", "--out", folder / "study")
    done = run("audit", *options, *more)
    assert done.status == 0, done.err
    return folder / "study", done


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--rules", "drtp"), "the rule drtp projects the target's class, and this task has no cl"),
        (("--loss", "cross_entropy"), "the targets are of type torch.float32, but cross_entropy"),
    ],
)
def test_what_needs_classes_is_refused_in_one_sentence(audited, tmp_path, options, sentence):
    task = ("--task", audited[0].parent / "real.npz", "--out", tmp_path / "out")
    done = run("ladder", *task, *options)
    assert done.status == 2
    assert sentence in done.err
    assert len(done.err.strip().splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_what_is_shown_says_r_squared(audited):
    folder, done = audited
    page = SCRIPTS.sub("", (folder / "report.html").read_text(encoding="utf-8"))
    texts = [done.out, page] + [path.read_text(encoding="utf-8") for path in folder.glob("*.md")]
    for text in texts:
        assert "R²" in text
        assert "linear regression" in text
        shown = re.sub(r'(id|data-save)="[^"]*"', "", text)
        assert not WORD.search(shown), WORD.search(shown)
    for name in ("ladder", "training"):
        assert not re.search(
            r'"title": "[^"]*accuracy', json.dumps(load(folder).plot(name).specification)
        )


def test_the_files_name_loss_and_score(audited):
    folder, _ = audited
    recipe = read(folder / "audit.json")["config"]["recipe"]
    assert (recipe["loss"], recipe["score"]) == ("squared_error", "R²")
    assert load(folder).score == "R²"


def test_the_score_of_a_run_is_the_mean_of_its_samples(audited):
    folder, _ = audited
    for study_run in load(folder).runs:
        assert study_run.right is not None
        scores = unpack_answers(study_run.right)
        assert scores.dtype == np.float64
        assert len(scores) == 100
        assert float(scores.mean()) == pytest.approx(study_run.accuracy, abs=1e-5)


def test_diagnose_reads_a_run_with_its_own_loss(audited):
    folder, _ = audited
    study_run = next(r for r in load(folder).runs if r.label == "dfa" and r.is_full)
    data = ("--task", folder.parent / "real.npz")
    done = run("diagnose", study_run.folder, *data, "--json")
    assert done.status == 0, done.err
    assert json.loads(done.out)["readings"]["accuracy"]["name"] == "R²"


def test_readings_of_blocks_lose_r_squared(audited):
    folder, _ = audited
    (network, *_) = read(folder / "audit.json")["networks"]
    lesion = network["report"]["readings"]["lesion"]
    assert lesion["unit"] == "R² lost"
    assert len(lesion["per_layer"]) == 2
