"""Print the tables of docs/tasks/teacher-search.md: which random teacher needs a deep student?

Each design is a random network that labels random inputs. A student is trained on these labels with
backpropagation: its last k blocks learn, and the others stay at initialisation. A linear classifier
is compared with it. No other learning rule is used.

    python benchmarks/teacher_search.py            # every design, then the shipped task
    python benchmarks/teacher_search.py --quick    # three designs, three rungs, one student seed
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F  # noqa: N812
from sklearn.linear_model import LogisticRegression
from torch import Tensor, nn

from depthgauge.tasks.base import Split, Task
from depthgauge.tasks.teacher import load_teacher

CLASSES = 10
TRAIN, EVALUATION, CALIBRATION = 8000, 4000, 10_000
ACTIVATIONS = {"tanh": torch.tanh, "relu": torch.relu, "abs": torch.abs, "sin": torch.sin}


@dataclass(frozen=True)
class Design:
    """A teacher h ← φ(gain·W h + b), applied `depth` times to inputs with `inputs` features."""

    inputs: int = 4
    width: int = 32
    depth: int = 8
    gain: float = 2.0
    activation: str = "tanh"
    residual: bool = False
    bias: float = 1.0
    distribution: str = "uniform"
    seed: int = 0

    def __str__(self) -> str:
        return (
            f"{self.activation} | {self.inputs} | {self.width} | {self.depth} | {self.gain:.2g} | "
            f"{self.bias:g} | {'yes' if self.residual else 'no'} | {self.distribution}"
        )


CHOSEN = Design(activation="sin", depth=3, inputs=3)
DESIGNS = (
    Design(),
    Design(inputs=3),
    Design(inputs=6),
    Design(inputs=16),
    Design(depth=2),
    Design(depth=4),
    Design(depth=12),
    Design(gain=1.0),
    Design(gain=3.0),
    Design(width=64),
    Design(bias=0.0),
    Design(residual=True),
    Design(distribution="normal"),
    Design(inputs=12, distribution="sign"),
    Design(activation="relu", gain=math.sqrt(2)),
    Design(activation="abs", gain=1.0, depth=3),
    Design(activation="sin", depth=2),
    Design(activation="sin", depth=3),
    CHOSEN,
)
QUICK = (Design(), Design(inputs=16), CHOSEN)


def draw_inputs(design: Design, count: int, generator: torch.Generator) -> Tensor:
    """Draw inputs with zero mean and unit variance."""
    shape = (count, design.inputs)
    if design.distribution == "normal":
        return torch.randn(shape, generator=generator)
    uniform = 2 * torch.rand(shape, generator=generator) - 1
    return uniform.sign() if design.distribution == "sign" else math.sqrt(3) * uniform


def build(design: Design) -> Task:
    """Return the task of a design; labels are computed in float64, and classes are balanced."""
    generator = torch.Generator().manual_seed(design.seed)

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    layers, fan_in = [], design.inputs
    for _ in range(design.depth):
        weight = design.gain * normal(design.width, fan_in) / math.sqrt(fan_in)
        layers.append((weight, design.bias * normal(design.width)))
        fan_in = design.width
    readout = normal(CLASSES, fan_in)

    def scores(x: Tensor) -> Tensor:
        h = x.double()
        for number, (weight, bias) in enumerate(layers):
            branch = ACTIVATIONS[design.activation](h @ weight.T + bias)
            h = (h + branch) / math.sqrt(2) if design.residual and number else branch
        return h @ readout.T

    calibration = scores(draw_inputs(design, CALIBRATION, generator))
    mean, std = calibration.mean(0), calibration.std(0)
    offset = balance((calibration - mean) / std)
    x = draw_inputs(design, TRAIN + EVALUATION, generator)
    y = ((scores(x) - mean) / std + offset).argmax(1)
    train, evaluation = Split(x[:TRAIN], y[:TRAIN]), Split(x[TRAIN:], y[TRAIN:])
    return Task(str(design), train, evaluation, CLASSES)


def balance(scores: Tensor) -> Tensor:
    """Return offsets with which every class wins about equally often."""
    offset = torch.zeros(CLASSES, dtype=scores.dtype)
    for _ in range(50):
        wins = torch.bincount((scores + offset).argmax(1), minlength=CLASSES)
        offset -= wins.double() / len(scores) - 1 / CLASSES
    return offset


class Block(nn.Module):
    """The branch of one pre-LayerNorm residual block."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.first, self.second = nn.Linear(width, width), nn.Linear(width, width)
        nn.init.normal_(self.second.weight, std=0.01)
        nn.init.zeros_(self.second.bias)

    def forward(self, h: Tensor) -> Tensor:
        """Return the branch; the network adds it to the stream."""
        out: Tensor = self.second(F.gelu(self.first(self.norm(h))))
        return out


class Student(nn.Module):
    """The residual network of the protocol: width 64, four blocks."""

    def __init__(self, inputs: int, width: int = 64, blocks: int = 4) -> None:
        super().__init__()
        self.embed = nn.Linear(inputs, width)
        self.blocks = nn.ModuleList(Block(width) for _ in range(blocks))
        self.out_ln, self.out_head = nn.LayerNorm(width), nn.Linear(width, CLASSES)

    def forward(self, x: Tensor) -> Tensor:
        """Return the logits."""
        h = self.embed(x)
        for block in self.blocks:
            h = h + block(h)
        logits: Tensor = self.out_head(self.out_ln(h))
        return logits


def accuracy_with(task: Task, trained_blocks: int, seed: int, epochs: int) -> float:
    """Return the test accuracy of a student whose last `trained_blocks` blocks learn."""
    torch.manual_seed(seed)
    net = Student(task.input_dim)
    for block in net.blocks[: len(net.blocks) - trained_blocks]:
        block.requires_grad_(False)
    parameters = [p for p in net.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(parameters, lr=1e-3, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)
    shuffle = torch.Generator().manual_seed(seed)
    for _ in range(epochs):
        order = torch.randperm(len(task.train), generator=shuffle)
        for batch in torch.split(order, 128):
            optimizer.zero_grad()
            loss = F.cross_entropy(net(task.train.x[batch]), task.train.y[batch])
            torch.autograd.backward(loss)
            optimizer.step()
        schedule.step()
    with torch.no_grad():
        hits = net(task.evaluation.x).argmax(1) == task.evaluation.y
    return float(hits.double().mean())


def linear_accuracy(task: Task) -> float:
    """Return the test accuracy of multinomial logistic regression."""
    model = LogisticRegression(max_iter=500).fit(task.train.x.numpy(), task.train.y.numpy())
    return float(model.score(task.evaluation.x.numpy(), task.evaluation.y.numpy()))


def smallest_share(task: Task) -> float:
    """Return the share of the rarest class, the smaller of both splits."""
    splits = (task.train, task.evaluation)
    return min(float(torch.bincount(s.y, minlength=CLASSES).min()) / len(s) for s in splits)


def repeated_inputs(task: Task) -> float:
    """Return the share of test inputs that are also in the training set, and need no network."""
    seen = set(map(tuple, task.train.x.tolist()))
    return sum(tuple(x) in seen for x in task.evaluation.x.tolist()) / len(task.evaluation)


def row(label: str, task: Task, rungs: Sequence[int], seed: int, epochs: int) -> str:
    """Return one line of a table, in per cent."""
    ladder = [accuracy_with(task, k, seed, epochs) for k in rungs]
    cells = [smallest_share(task), repeated_inputs(task), linear_accuracy(task)]
    cells += [*ladder, ladder[-1] - ladder[1]]
    return f"| {label} | " + " | ".join(f"{100 * cell:.1f}" for cell in cells) + " |"


def header(first: str, rungs: Sequence[int]) -> str:
    """Return the head of a table in Markdown."""
    names = [first, "rarest", "seen", "linear", *(f"k={k}" for k in rungs)]
    text = "| " + " | ".join([*names, f"k={rungs[-1]} − k={rungs[1]}"]) + " |"
    return text + "\n|" + "---|" * (text.count("|") - 1)


def print_designs(designs: Sequence[Design], rungs: Sequence[int], seed: int, epochs: int) -> None:
    """Print the search: a line for each design, with one student seed."""
    print(header("φ | inputs | width | depth | gain | bias | residual | distribution", rungs))
    for design in designs:
        print(row(str(design), build(design), rungs, seed, epochs), flush=True)


def print_shipped(rungs: Sequence[int], seeds: Sequence[int], epochs: int) -> None:
    """Print the task that the package ships, with a line for each student seed."""
    started = time.perf_counter()
    shipped = load_teacher()
    print(f"\nload_teacher(): {time.perf_counter() - started:.2f} s\n\n{header('seed', rungs)}")
    for seed in seeds:
        print(row(str(seed), shipped, rungs, seed, epochs), flush=True)


def print_other_teachers(rungs: Sequence[int], seed: int, epochs: int) -> None:
    """Print the chosen design with other random weights: does the design matter, or the draw?"""
    print(f"\n{header('teacher seed', rungs)}")
    for teacher_seed in (1, 2):
        task = build(replace(CHOSEN, seed=teacher_seed))
        print(row(str(teacher_seed), task, rungs, seed, epochs), flush=True)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description="Re-make the tables of docs/tasks/teacher-search.md."
    )
    parser.add_argument("--quick", action="store_true", help="three designs, rungs 0, 1 and 4")
    parser.add_argument("--chosen-only", action="store_true", help="skip the table of designs")
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--seeds", type=int, nargs="+", default=[42, 123, 456])
    args = parser.parse_args()
    torch.set_num_threads(1)
    rungs = (0, 1, 4) if args.quick else (0, 1, 2, 3, 4)
    seeds = args.seeds[:1] if args.quick else args.seeds
    if not args.chosen_only:
        print_designs(QUICK if args.quick else DESIGNS, rungs, seeds[0], args.epochs)
    print_shipped(rungs, seeds, args.epochs)
    if not args.quick:
        print_other_teachers(rungs, seeds[0], args.epochs)


if __name__ == "__main__":
    main()
