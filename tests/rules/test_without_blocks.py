"""Every rule trains a shallow network, where the embedding alone is given credit."""

from __future__ import annotations

import pytest
import torch
from training.small_runs import WIDTH, Run, Setting, make_cohort, snapshot, train_cohort

from depthgauge.config import NetConfig

LEARNED = {"credit_bridge[hidden=8]": "V.0.weight"}


@pytest.mark.parametrize(
    "rule", ["state_bridge[hidden=8]", "credit_bridge[hidden=8]", "ep", "sdfa", "drtp", "noise"]
)
def test_a_shallow_network_is_trained(rule):
    setting = Setting(net=NetConfig(width=WIDTH, blocks=0))
    cohort = make_cohort([Run(rule, seed, 0) for seed in (42, 7)], setting)
    before, feedback = snapshot(cohort, 1), dict(cohort.feedback[1])
    train_cohort(cohort, setting, epochs=1)
    for name, after in snapshot(cohort, 1).items():
        assert after.isfinite().all()
        assert not torch.equal(after, before[name])
    changed = {n for n, t in cohort.feedback[1].items() if not torch.equal(t, feedback[n])}
    assert (LEARNED.get(rule) in changed) == (rule in LEARNED)
    assert all(tensor.isfinite().all() for tensor in cohort.feedback[1].values())
