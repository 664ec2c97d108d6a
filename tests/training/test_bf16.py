"""Training with bfloat16 products: what is rounded, what is not, and how much results change."""

from __future__ import annotations

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from training.small_runs import Setting, ladder, make_cohort, train_cohort

from depthgauge.config import Recipe

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


class Rounded(TorchDispatchMode):
    """Collects the shapes of all tensors that are rounded to bfloat16."""

    def __init__(self):
        super().__init__()
        self.shapes = set()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        if func is torch.ops.aten._to_copy.default and result.dtype == torch.bfloat16:
            self.shapes.add(tuple(args[0].shape[-2:]))
        return result


def test_blocks_and_embedding_are_multiplied_in_bf16_and_the_readout_is_not():
    with Rounded() as rounded:
        cohort = trained("bp", "bf16")
    width = cohort.net.embedding.weight.shape[1]
    classes = cohort.net.parameters["out_head.weight"].shape[1]
    assert (width, width) in rounded.shapes
    assert not any(classes in shape for shape in rounded.shapes)
