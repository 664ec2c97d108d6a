"""What a rule has learned, on disk and back."""

from __future__ import annotations

import pytest
import torch
from rules.learning_rules import Twins
from store.small_runs_on_disk import metrics_line, state_bits
from training.small_runs import Run, Setting, make_cohort, run_config, train_cohort

from depthgauge.config import Recipe
from depthgauge.store.recorder import StoreRecorder
from depthgauge.store.run_folder import RunFolder, load_newest
from depthgauge.training.loop import Epoch

SETTING = Setting(recipe=Recipe(epochs=2, batch_size=36))
RULES = ["state_bridge[hidden=8]", "credit_bridge[hidden=8,copies=2,warm_up=0]", Twins()]


@pytest.mark.parametrize("rule", RULES, ids=["state_bridge", "credit_bridge", "twins"])
def test_learned_feedback_comes_back_bit_for_bit(tmp_path, rule):
    runs = [Run(rule, 1, 3), Run(rule, 2, 1)]
    cohort = train_cohort(make_cohort(runs, SETTING), SETTING, epochs=1)
    states = Epoch(cohort, 1).states()
    folders = [RunFolder(tmp_path, run_config(run, SETTING)) for run in runs]
    for folder in folders:
        folder.create()
        for epoch in (0, 1):
            folder.metrics.append(metrics_line(epoch))
    StoreRecorder(folders).save(states)
    loaded = load_newest(folders)
    assert loaded is not None
    for saved, state in zip(loaded, states, strict=True):
        assert state_bits(saved) == state_bits(state)
        assert saved.feedback
    one, other = (state.feedback for state in states)
    assert any(not torch.equal(tensor, other[name]) for name, tensor in one.items())
