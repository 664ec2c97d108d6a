"""Recipes on networks of any kind: rates of parts, momentum, losses and bf16."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from training.small_runs import Run, Setting, run_config, train_cohort
from training.test_rules_on_networks import NETWORKS, SIZES

from depthgauge.config import NetConfig, Recipe
from depthgauge.nets.architectures.choice import choose_net
from depthgauge.training.batches import Batches
from depthgauge.training.local.runs import LocalRuns


def setting_of(network: str, text: str | None = None, **recipe: object) -> Setting:
    usual, make_task = NETWORKS[network]
    choice, task = choose_net(text or usual), make_task()
    net = NetConfig(**SIZES, name=choice.name, options=choice.options.model_dump())
    options = {"epochs": 2, "batch_size": 8, "dtype": "float64", "loss": task.loss} | recipe
    return Setting(task, net, Recipe(**options))


def make_runs(setting: Setting, rule: str = "bp", k: int = 3) -> LocalRuns:
    run = Run(rule, 42, k)
    return LocalRuns([run_config(run, setting)], [run.build_rule()], setting.task)


def weights(runs: LocalRuns) -> dict[str, Tensor]:
    return {name: tensor.clone() for name, tensor in runs.tensors()[0].parameters.items()}


def first_step(setting: Setting, rule: str = "bp") -> dict[str, Tensor]:
    """How far the first step moves every parameter."""
    runs = make_runs(setting, rule)
    batches = Batches(setting.task, runs.seeds, setting.recipe.batch_size, runs.dtype)
    before = weights(runs)
    runs.start_epoch(0)
    runs.step(next(batches.epoch(0)), 0.0)
    return {name: after - before[name] for name, after in weights(runs).items()}


@pytest.mark.parametrize("rule", ["bp", "dfa"])
@pytest.mark.parametrize("network", ["vit", "gpt", "resnet"])
def test_each_part_of_a_network_has_its_own_rate(network, rule):
    sgd = {"optimizer": "sgd", "momentum": 0.0, "learning_rate": 0.01}
    usual = first_step(setting_of(network, **sgd), rule)
    rates = {"embedding_rate": 2.0, "blocks_rate": 3.0, "readout_rate": 5.0}
    moved = first_step(setting_of(network, **sgd, **rates), rule)
    seen = set()
    for name, change in usual.items():
        start = name.partition(".")[0]
        rate = rates[f"{ {'embed': 'embedding'}.get(start, start) }_rate"]
        torch.testing.assert_close(moved[name], rate * change, rtol=1e-8, atol=1e-14)
        seen.add(start)
    assert seen == {"embed", "blocks", "readout"}


@pytest.mark.parametrize("network", ["vit", "gpt", "real targets"])
def test_bp_with_momentum_and_steps_is_the_plain_loop(network):
    options = {"optimizer": "sgd", "nesterov": True, "learning_rate": 0.05}
    steps = {"schedule": "steps", "milestones": (1,), "epochs": 3}
    setting = setting_of(network, **options, **steps)
    runs = make_runs(setting)
    net = make_runs(setting).runs[0].net
    sgd = torch.optim.SGD(net.parameters(), 0.05, 0.9, weight_decay=0.01, nesterov=True)
    scheduler = torch.optim.lr_scheduler.MultiStepLR(sgd, [1], gamma=0.1)
    train_cohort(runs, setting)
    batches = Batches(setting.task, runs.seeds, setting.recipe.batch_size, runs.dtype)
    for epoch in range(3):
        for batch in batches.epoch(epoch):
            output, target = net(batch.inputs[0]), batch.labels[0]
            if target.is_floating_point():
                loss = 0.5 * (output - target).square().sum() / len(target)
            else:
                loss = nn.functional.cross_entropy(output.flatten(0, -2), target.flatten())
            sgd.zero_grad()
            loss.backward()
            sgd.step()
        scheduler.step()
    for name, own in net.named_parameters():
        torch.testing.assert_close(weights(runs)[name], own.detach(), rtol=1e-8, atol=1e-12)


# bf16


class Seen(TorchDispatchMode):
    """Collects the operations with a result in bfloat16."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        first = result[0] if isinstance(result, tuple) else result
        if isinstance(first, Tensor) and first.dtype == torch.bfloat16:
            self.names.add(str(func))
        return result


@pytest.mark.parametrize("rule", ["bp", "fa", "dfa", "ep", "state_bridge[hidden=8]"])
@pytest.mark.parametrize("network", ["vit", "gpt"])
def test_bf16_leads_somewhere_else_but_not_far(network, rule):
    full = make_runs(setting_of(network, dtype="float32"), rule)
    rounded = make_runs(setting_of(network, dtype="bf16"), rule)
    for runs in (full, rounded):
        train_cohort(runs, setting_of(network, dtype=runs.recipe.dtype))
    kept = rounded.tensors()[0]
    for tensors in (kept.parameters, kept.moments, kept.feedback):
        assert {t.dtype for t in tensors.values() if t.is_floating_point()} <= {torch.float32}
    apart = {
        name: float((kept.parameters[name] - own).norm() / own.norm())
        for name, own in weights(full).items()
    }
    assert max(apart.values()) < 0.5
    assert any(apart.values())


@pytest.mark.parametrize("attention", ["product", "fused"])
def test_attention_in_bf16_is_computed_by_products(attention):
    """The fused kernel is slower in bfloat16 than in float32."""
    text = f"vit[patch=4,heads=2,attention={attention}]"
    with Seen() as seen:
        first_step(setting_of("vit", text, dtype="bf16"))
    assert any("bmm" in name for name in seen.names)
    assert not any("attention" in name for name in seen.names), seen.names
