"""Print the tables of docs/tasks/pointers.md: how large must a table of pointers be?

Each design is a task of following pointers. A causal transformer with four blocks is trained on
it with backpropagation: its last k blocks learn, and the others stay at initialisation. A network
without blocks is compared with it. No other learning rule is used.

    python benchmarks/pointers_search.py            # every design, then the shipped task
    python benchmarks/pointers_search.py --shipped  # the shipped task alone
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from depthgauge.losses.labels import IGNORED
from depthgauge.nets.architectures.gpt import GPT
from depthgauge.tasks.base import Task
from depthgauge.tasks.pointers import HOPS, load_pointers, make_pointers

BLOCKS, WIDTH = 4, 64
SEARCHED, RUNGS = (0, 1, 4), (0, 1, 2, 3, 4)
"""The rungs of a design, and of the shipped task."""


@dataclass(frozen=True)
class Design:
    """The size of a task: places of the table, hops, and queries for each number of hops."""

    places: int
    hops: int
    queries: int

    def __str__(self) -> str:
        return f"{self.places} | {self.hops} | {self.queries}"


DESIGNS = (
    Design(8, 4, 2),
    Design(10, 4, 2),
    Design(10, 4, 4),
)


@dataclass(frozen=True)
class Trained:
    """The accuracy of a trained network, by number of hops, and the seconds of its training."""

    by_hops: list[float]
    seconds: float

    @property
    def accuracy(self) -> float:
        """The share of right answers among all queries."""
        return sum(self.by_hops) / len(self.by_hops)


def train(task: Task, hops: int, blocks: int, trained: int, *, seed: int, epochs: int) -> Trained:
    """Train a transformer whose last `trained` blocks learn."""
    symbols, positions = task.symbols or 0, task.train.x.shape[1]
    torch.manual_seed(seed)
    net = GPT(symbols, positions, task.num_classes, width=WIDTH, depth=blocks)
    for block in net.blocks[: blocks - trained]:
        block.requires_grad_(False)
    parameters = [p for p in net.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(parameters, lr=1e-3, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)
    shuffle = torch.Generator().manual_seed(seed)
    started = time.process_time()
    for _ in range(epochs):
        order = torch.randperm(len(task.train), generator=shuffle)
        for batch in torch.split(order, 128):
            optimizer.zero_grad()
            logits = net(task.train.x[batch]).flatten(0, 1)
            loss = F.cross_entropy(logits, task.train.y[batch].flatten(), ignore_index=IGNORED)
            torch.autograd.backward(loss)
            optimizer.step()
        schedule.step()
    return Trained(accuracy_by_hops(net, task, hops), time.process_time() - started)


@torch.no_grad()
def accuracy_by_hops(net: GPT, task: Task, hops: int) -> list[float]:
    """Return the test accuracy of the queries of each number of hops."""
    asked = task.evaluation.y[0] != IGNORED
    logits = torch.cat([net(x) for x in torch.split(task.evaluation.x, 500)])
    hits: Tensor = (logits.argmax(-1) == task.evaluation.y)[:, asked]
    shares = hits.double().mean(0).view(hops, -1).mean(1)
    return [float(share) for share in shares]


def header(first: str, rungs: Sequence[int]) -> str:
    """Return the head of a table in Markdown."""
    names = [first, "no blocks", *(f"k={k}" for k in rungs)]
    names += ["k=4 − k=0", "k=4 by hops", "seconds"]
    text = "| " + " | ".join(names) + " |"
    return text + "\n|" + "---|" * (text.count("|") - 1)


def row(label: str, task: Task, hops: int, *, rungs: Sequence[int], seed: int, epochs: int) -> str:
    """Return one line of a table, accuracies in per cent."""
    without = train(task, hops, 0, 0, seed=seed, epochs=epochs)
    ladder = [train(task, hops, BLOCKS, k, seed=seed, epochs=epochs) for k in rungs]
    shares = [without.accuracy, *(rung.accuracy for rung in ladder)]
    shares.append(ladder[-1].accuracy - ladder[0].accuracy)
    by_hops = ", ".join(f"{100 * share:.0f}" for share in ladder[-1].by_hops)
    cells = [label, *(f"{100 * share:.1f}" for share in shares), by_hops]
    return "| " + " | ".join([*cells, f"{ladder[-1].seconds:.0f}"]) + " |"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description="Re-make the tables of docs/tasks/pointers.md.")
    parser.add_argument("--shipped", action="store_true", help="skip the table of designs")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--seeds", type=int, nargs="+", default=[42, 123, 456])
    args = parser.parse_args()
    torch.set_num_threads(1)
    if not args.shipped:
        print(header("places | hops | queries", SEARCHED))
        for design in DESIGNS:
            task = make_pointers(design.places, design.hops, design.queries)
            seed, epochs = args.seeds[0], args.epochs
            line = row(str(design), task, design.hops, rungs=SEARCHED, seed=seed, epochs=epochs)
            print(line, flush=True)
    started = time.perf_counter()
    shipped = load_pointers()
    print(f"\nload_pointers(): {time.perf_counter() - started:.2f} s\n\n{header('seed', RUNGS)}")
    for seed in args.seeds:
        line = row(str(seed), shipped, HOPS, rungs=RUNGS, seed=seed, epochs=args.epochs)
        print(line, flush=True)


if __name__ == "__main__":
    main()
