"""A study that is audited again with more seeds keeps its earlier verdicts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import depthgauge as dg
from depthgauge.nets.residual_mlp import ResidualMLP
from depthgauge.report.texts.audit import audit_sentences
from depthgauge.training.threads import use_threads

SMALL: dict[str, Any] = {"rules": ["bp"], "width": 6, "depth": 1, "epochs": 1}
RUNGS_ALONE = {"twins": False, "floors": False}
HERE = {"threads": 1, "cohort": 4}
"""In one cohort, so without other processes."""


def arrays() -> tuple[np.ndarray[Any, Any], ...]:
    random = np.random.default_rng(1)
    x, y = random.normal(size=(60, 6)).astype("float32"), np.arange(60) % 3
    return x, y, x, y


def audit(folder: Path, *seeds: int) -> dg.StudyResult:
    with use_threads(1):
        return dg.audit(
            task=arrays(), seeds=list(seeds), out=folder, **SMALL, **RUNGS_ALONE, **HERE
        )


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> dg.StudyResult:
    return audit(tmp_path_factory.mktemp("again") / "study", 1)


def test_the_earlier_word_is_kept_and_reported_in_one_sentence(first):
    again = audit(first.folder, 1, 2)
    (earlier,) = again.audit.verdicts["bp"].earlier
    assert (earlier.seeds, earlier.word) == (1, first["bp"].verdict.word)
    said = f"An earlier audit with 1 seed said {earlier.word} (bp); each further audit "
    assert sum(words.startswith(said) for words in audit_sentences(again)) == 1
    assert said in (first.folder / "audit.md").read_text()
    assert dg.load(first.folder).audit == again.audit


def test_an_earlier_audit_that_is_damaged_is_replaced(first):
    """Half a file, from a disk that was full, must not stand in the way of the next audit."""
    (first.folder / "audit.json").write_text('{"schema_version": 2, "verd')
    again = audit(first.folder, 1)
    assert (again.audit.verdicts["bp"].earlier, again.problems) == ((), ())
    assert dg.load(first.folder).audit == again.audit


def test_checkpoints_of_more_seeds_are_a_second_look_too(tmp_path):
    weights, out = tmp_path / "weights", tmp_path / "out"
    weights.mkdir()
    audits = []
    for seed in (1, 2):
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            net = ResidualMLP(6, 6, 3, 1)
        torch.save(net.state_dict(), weights / f"mine_s{seed}.pt")
        audits.append(dg.audit(checkpoints=weights, task=arrays(), out=out))
    first, second = (study.audit.verdicts["mine"] for study in audits)
    assert (first.earlier, len(second.seeds)) == ((), 2)
    assert [(one.seeds, one.word) for one in second.earlier] == [(1, first.word)]
    (weights / "mine_s2.pt").unlink()
    other = dg.audit(checkpoints=weights, task=arrays(), frozen_acc={"mine": 0.3}, out=out)
    assert other.audit.verdicts["mine"].earlier == ()
