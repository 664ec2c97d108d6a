"""Every rule trains every kind of network in the package, or says in a sentence why it cannot."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from training.small_runs import Run, Setting, run_config, train_cohort

from depthgauge.cli.new_rule import rule_text
from depthgauge.config import NetConfig, Recipe
from depthgauge.errors import UserError
from depthgauge.nets.architectures.choice import choose_net
from depthgauge.rules.choice import choose_rule
from depthgauge.rules.fitting import check_fit
from depthgauge.tasks.base import Split, Task
from depthgauge.training.local.runs import LocalRuns

SAMPLES, CLASSES = 16, 3
SIZES = {"width": 8, "blocks": 3}


def images() -> Task:
    generator = torch.Generator().manual_seed(1)
    x = torch.rand(2 * SAMPLES, 1, 8, 8, generator=generator)
    y = torch.randint(CLASSES, (2 * SAMPLES,), generator=generator)
    return Task("images", Split(x[:SAMPLES], y[:SAMPLES]), Split(x[SAMPLES:], y[SAMPLES:]), CLASSES)


def tokens() -> Task:
    """A class for each token, of which the first does not count."""
    x = torch.randint(CLASSES, (2 * SAMPLES, 6), generator=torch.Generator().manual_seed(1))
    y = x.roll(1, 1)
    y[:, 0] = -100
    return Task("tokens", Split(x[:SAMPLES], y[:SAMPLES]), Split(x[SAMPLES:], y[SAMPLES:]), CLASSES)


def numbers() -> Task:
    """Two real numbers for each image."""
    task, generator = images(), torch.Generator().manual_seed(2)
    y = torch.randn(2 * SAMPLES, 2, generator=generator)
    train, evaluation = Split(task.train.x, y[:SAMPLES]), Split(task.evaluation.x, y[SAMPLES:])
    return Task("numbers", train, evaluation, 2, loss="squared_error")


NETWORKS = {
    "vit": ("vit[patch=4,heads=2]", images),
    "cnn": ("cnn[hidden=8]", images),
    "resnet": ("resnet[stages=2]", images),
    "resnet with batch norm": ("resnet[stages=2,norm=batch]", images),
    "gpt": ("gpt[heads=2]", tokens),
    "real targets": ("vit[patch=4,heads=2]", numbers),
}
RULES = (
    *("bp", "noise", "fa", "dfa", "dfa[projection=full]", "sdfa", "drtp", "drtp[projection=full]"),
    *("state_bridge[hidden=8]", "credit_bridge[hidden=8,warm_up=0,copies=2]", "ep"),
)
BRIDGES, STAGES = ("state_bridge", "credit_bridge"), ("cnn", "resnet", "resnet with batch norm")


def refused(rule: str, network: str) -> bool:
    """Bridges need states of one shape, and DRTP needs classes."""
    name = rule.partition("[")[0]
    stages = network in STAGES and name in BRIDGES
    return stages or (network == "real targets" and name == "drtp")


def setting_of(network: str) -> Setting:
    text, make_task = NETWORKS[network]
    choice, task = choose_net(text), make_task()
    net = NetConfig(**SIZES, name=choice.name, options=choice.options.model_dump())
    recipe = Recipe(epochs=2, batch_size=8, dtype="float64", loss=task.loss)
    return Setting(task, net, recipe)


def trained(run: Run, setting: Setting) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """The network's tensors before and after two epochs."""
    runs = LocalRuns([run_config(run, setting)], [run.build_rule()], setting.task)
    before = {name: value.clone() for name, value in runs.tensors()[0].parameters.items()}
    train_cohort(runs, setting)
    after = runs.tensors()[0]
    assert all(tensor.isfinite().all() for tensor in after.feedback.values())
    return before, dict(after.parameters)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("network", NETWORKS)
def test_a_rule_trains_the_network_or_says_why_not(network, rule):
    setting = setting_of(network)
    if refused(rule, network):
        with pytest.raises(UserError, match=f"the rule {rule.partition('[')[0]} "):
            check_fit([choose_rule(rule)], setting.net, setting.task, freezes=True)
        return
    check_fit([choose_rule(rule)], setting.net, setting.task, freezes=True)
    for k in (1, 0):
        before, after = trained(Run(rule, 1, k), setting)
        for name, value in after.items():
            assert value.isfinite().all(), name
            if name.startswith("blocks.") and int(name.split(".")[1]) < 3 - k:
                assert torch.equal(value, before[name]) or "running" in name
        changed = {name for name, value in after.items() if not torch.equal(value, before[name])}
        assert any(name.startswith("blocks.2.") for name in changed) == (k == 1)
        assert any(not name.startswith("blocks.") for name in changed)


@pytest.mark.parametrize("network", ["vit", "gpt"])
def test_a_rule_as_new_rule_writes_it_trains_positions_too(network, tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(rule_text("mine", "Mine"), encoding="utf-8")
    before, after = trained(Run(f"{path}:Mine", 1, 3), setting_of(network))
    assert all(value.isfinite().all() for value in after.values())
    assert not torch.equal(before["blocks.0.fc1.weight"], after["blocks.0.fc1.weight"])
