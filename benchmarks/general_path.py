"""Compare the CPU time of training any network under a rule with that of a bare loop of torch.

    python benchmarks/general_path.py --alternations 20

The bare loop trains the same module on the same batches by backpropagation, with torch's AdamW. The
two take turns in one process; the order changes every time. The output is, for each network and
rule, the median of the ratios (depthgauge over the bare loop) with its 95 % interval by order
statistics.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from compare_checkouts import interval_of_median
from torch import Tensor
from torch.nn.functional import cross_entropy

from depthgauge.config import NetConfig, RuleConfig, RunConfig
from depthgauge.nets.architectures.choice import choose_net
from depthgauge.nets.registry import initial_net
from depthgauge.nets.user.net_config import user_net_config
from depthgauge.recipe import Recipe
from depthgauge.rules.choice import choose_rule
from depthgauge.tasks.base import Split, Task
from depthgauge.training.local.run import LocalRun

MY_VIT = Path(__file__).resolve().parent.parent / "examples" / "my_vit.py"
CLASSES = 10
VOCABULARY = 64


@dataclass(frozen=True)
class Case:
    """A network, the samples that it is trained on, and how many of them are in a batch."""

    name: str
    net: Callable[[Task], NetConfig]
    x: Tensor
    y: Tensor
    steps: int

    @property
    def task(self) -> Task:
        """A task with these samples, which are also the evaluation split."""
        classes = VOCABULARY if self.y.dim() > 1 else CLASSES
        return Task("random", Split(self.x, self.y), Split(self.x, self.y), classes)


def cases() -> list[Case]:
    """Return the five networks."""
    generator = torch.Generator().manual_seed(0)

    def images(samples: int, *shape: int) -> tuple[Tensor, Tensor]:
        y = torch.randint(0, CLASSES, (samples,), generator=generator)
        return torch.randn(samples, *shape, generator=generator), y

    def tokens(samples: int, positions: int) -> tuple[Tensor, Tensor]:
        x = torch.randint(0, VOCABULARY, (samples, positions), generator=generator)
        return x, torch.randint(0, VOCABULARY, (samples, positions), generator=generator)

    def package(text: str, width: int, blocks: int) -> Callable[[Task], NetConfig]:
        return lambda task: choose_net(text).config(width, blocks)

    def own(task: Task) -> NetConfig:
        return user_net_config(f"{MY_VIT}:make", "encoder.layers", task)

    return [
        Case("residual_mlp 256 x 4", package("residual_mlp", 256, 4), *images(128, 3072), 5),
        Case("vit 64 x 4, 65 tokens", package("vit[patch=4]", 64, 4), *images(32, 3, 32, 32), 3),
        Case("resnet 16 x 6", package("resnet", 16, 6), *images(32, 3, 32, 32), 2),
        Case("gpt 64 x 4, 64 tokens", package("gpt", 64, 4), *tokens(8, 64), 4),
        Case("a user's TransformerEncoder", own, *images(64, 1, 8, 8), 5),
    ]


def bare_step(task: Task, net: NetConfig) -> Callable[[], None]:
    """Return a step of ordinary training: forward, backward and AdamW of torch."""
    model = initial_net(net, task, seed=0).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    x = task.train.x.flatten(1) if net.name == "residual_mlp" else task.train.x

    def step() -> None:
        optimizer.zero_grad()
        output = model(x)
        cross_entropy(output.flatten(0, -2), task.train.y.flatten()).backward()
        optimizer.step()

    return step


def rule_step(task: Task, net: NetConfig, rule: str) -> Callable[[], None]:
    """Return a step of depthgauge under a rule."""
    choice = choose_rule(rule)
    own = RuleConfig(name=rule, label=rule, options=choice.options.model_dump(mode="json"))
    config = RunConfig(
        task=task.config, net=net, rule=own, recipe=Recipe(epochs=1), k=net.blocks, seed=0
    )
    run = LocalRun(config, choice.build(), task)
    run.start_epoch(0)
    x = task.train.x.flatten(1) if net.name == "residual_mlp" else task.train.x

    def step() -> None:
        run.step(x, task.train.y, 0.0)

    return step


def seconds(step: Callable[[], None], steps: int) -> float:
    """Return the CPU seconds of some steps."""
    began = time.process_time()
    for _ in range(steps):
        step()
    return time.process_time() - began


def main() -> None:
    """Measure and print one line of JSON for each network and rule."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rules", nargs="+", default=["bp", "dfa"])
    parser.add_argument("--alternations", type=int, default=20)
    args = parser.parse_args()
    torch.set_num_threads(1)
    for case in cases():
        task = case.task
        net = case.net(task)
        bare = bare_step(task, net)
        ruled = {rule: rule_step(task, net, rule) for rule in args.rules}
        steps = [bare, *ruled.values()]
        for step in steps:
            seconds(step, 2)
        ratios: dict[str, list[float]] = {rule: [] for rule in ruled}
        for number in range(args.alternations):
            order = steps if number % 2 else steps[::-1]
            taken = {id(step): seconds(step, case.steps) for step in order}
            for rule, step in ruled.items():
                ratios[rule].append(taken[id(step)] / taken[id(bare)])
        for rule, own in ratios.items():
            low, high = interval_of_median(own)
            found = {"median": statistics.median(own), "low": low, "high": high}
            print(json.dumps({"network": case.name, "rule": rule, **found}), flush=True)


if __name__ == "__main__":
    main()
