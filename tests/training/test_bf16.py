"""Training with bfloat16 products: what is rounded, what is not, and how far it leads away."""

from __future__ import annotations

import pytest
import torch
from training.small_runs import Setting, ladder, make_cohort, train_cohort

from depthgauge.config import Recipe
from depthgauge.nets.stacked.products import Bf16Products

RULES = ["bp", "fa", "dfa", "ep"]


def trained(rule: str, dtype: str, steps_of: int = 1):
    recipe = Recipe(epochs=steps_of, batch_size=32, dtype=dtype)
    setting = Setting(recipe=recipe)
    return train_cohort(make_cohort(ladder(rule, blocks=setting.net.blocks), setting), setting)


@pytest.mark.parametrize("rule", RULES)
def test_parameters_moments_and_feedback_stay_in_float32(rule):
    cohort = trained(rule, "bf16")
    for run in range(len(cohort.configs)):
        kept = [cohort.net.state_of_run(run), cohort.optimizer.moments_of_run(run)]
        for tensors in [*kept, cohort.feedback[run]]:
            assert {tensor.dtype for tensor in tensors.values()} <= {torch.float32}


@pytest.mark.parametrize("rule", RULES)
def test_one_epoch_leads_somewhere_else_but_not_far(rule):
    full, rounded = trained(rule, "float32"), trained(rule, "bf16")
    for name, weights in full.net.parameters.items():
        other = rounded.net.parameters[name]
        apart = (other - weights).norm() / weights.norm()
        assert apart < 0.2, name
        assert apart > 0 or "ln" in name, name


def test_blocks_and_embedding_are_multiplied_in_bf16_and_the_readout_is_not(monkeypatch):
    factors = []
    whole = Bf16Products._product

    def seen(self, a, b):
        factors.append((a.shape[-1], b.shape[-1]))
        return whole(self, a, b)

    monkeypatch.setattr(Bf16Products, "_product", seen)
    cohort = trained("bp", "bf16")
    width = cohort.net.embedding.weight.shape[1]
    classes = cohort.net.parameters["out_head.weight"].shape[1]
    assert (width, width) in factors
    assert all(classes not in pair for pair in factors)
