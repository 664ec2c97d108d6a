"""Options that several commands share."""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from depthgauge.defaults import DEFAULT_RULES, DEFAULT_SEEDS

if TYPE_CHECKING:
    from depthgauge.config import NetConfig, Recipe
    from depthgauge.scheduling.plan import Grid


LARGEST_SEED = 2**63 - 1


def whole(minimum: int, maximum: float = math.inf) -> Callable[[str], int]:
    """A parser of whole numbers from `minimum` to `maximum`."""

    def parse(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = minimum - 1
        if not minimum <= number <= maximum:
            limit = "on" if maximum == math.inf else f"to {maximum}"
            raise argparse.ArgumentTypeError(
                f"{text!r} is not a whole number from {minimum} {limit}"
            )
        return number

    return parse


def seconds(text: str) -> float:
    """A time that is not negative."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not number >= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds from 0 on")
    return number


def rung(text: str) -> int | str:
    """A k, or `all`."""
    return text if text == "all" else whole(0)(text)


def add_grid_options(parser: argparse.ArgumentParser, fewest_blocks: int = 0) -> None:
    """What is trained, besides the task and k: network, rules, seeds, recipe."""
    add_net_options(parser, fewest_blocks)
    parser.add_argument(
        "--rules",
        nargs="+",
        default=DEFAULT_RULES,
        metavar="RULE",
        help="names, names with options such as dfa[normalise=batch], or file.py:Class",
    )
    parser.add_argument(
        "--vary",
        nargs="+",
        default=[],
        metavar="NAME=V1,V2,…",
        help="train every rule at each combination of these values of its options, the penalty, "
        "learning_rate or weight_decay",
    )
    parser.add_argument(
        "--controls",
        nargs="+",
        default=[],
        metavar="CONTROL",
        help="train every rule under these controls too: shallow, wide_block, random_targets, "
        "no_norm, no_skip",
    )
    add_seeds(parser)
    parser.add_argument("--epochs", type=whole(1), help="epochs of training (the task's own)")
    parser.add_argument("--batch-size", type=whole(1), default=128, help="(128)")
    parser.add_argument(
        "--dtype",
        choices=["float32", "float64", "bf16"],
        default="float32",
        help="precision of training; bf16 is that of matrix products alone (float32)",
    )
    add_validation(parser)


def add_validation(parser: argparse.ArgumentParser) -> None:
    """`--validation`, judged on the test set by default."""
    parser.add_argument(
        "--validation",
        type=whole(0),
        default=0,
        metavar="N",
        help="hold N training samples out and judge on them instead of the test set",
    )


def add_k(parser: argparse.ArgumentParser, otherwise: str = "all") -> None:
    """`--k`; what is trained `otherwise` is up to the command."""
    parser.add_argument(
        "--k",
        nargs="+",
        type=rung,
        default=["all"] if otherwise == "all" else [],
        metavar="K",
        help=f"how many of the last blocks are trained: numbers, or all ({otherwise})",
    )


def add_task(parser: argparse.ArgumentParser) -> None:
    """`--task`, the embedded one by default."""
    parser.add_argument("--task", default="teacher", help="a task's name or your .npz (teacher)")


def add_net_options(parser: argparse.ArgumentParser, fewest_blocks: int) -> None:
    """Which network."""
    parser.add_argument("--net", default="residual_mlp", help="the network (residual_mlp)")
    parser.add_argument("--width", type=whole(1), help="width of the stream (the task's own)")
    parser.add_argument(
        "--blocks", type=whole(fewest_blocks), default=4, help="number of blocks L (4)"
    )


def add_seeds(parser: argparse.ArgumentParser) -> None:
    """`--seeds`, the published three by default."""
    parser.add_argument(
        "--seeds",
        nargs="+",
        type=whole(0, LARGEST_SEED),
        default=DEFAULT_SEEDS,
        metavar="SEED",
        help="(42 123 456)",
    )


def add_run_options(parser: argparse.ArgumentParser) -> None:
    """Where and how it runs."""
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda, cuda:1, … (auto)")
    parser.add_argument(
        "--threads", type=whole(1), help="threads of each cohort; cohorts share the cores (chosen)"
    )
    parser.add_argument(
        "--cohort",
        type=whole(1),
        metavar="N",
        help="most runs that are trained together; fewer where memory is short (chosen)",
    )
    parser.add_argument(
        "--engine",
        choices=["cohort", "plain"],
        help="how runs are trained: many as one, or one by one for reference (cohort)",
    )
    parser.add_argument(
        "--save-every",
        type=seconds,
        default=60.0,
        metavar="SECONDS",
        help="time between checkpoints (60)",
    )
    add_executor_options(parser)
    parser.add_argument("--out", help="folder of the study; the same one continues it")
    parser.add_argument("--dry-run", action="store_true", help="show the runs, train nothing")
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def add_executor_options(parser: argparse.ArgumentParser) -> None:
    """`--executor`, this machine by default."""
    parser.add_argument(
        "--executor",
        choices=["local", "ray", "slurm"],
        default="local",
        help="where cohorts are trained: on this machine, on a Ray cluster, or by an array job of "
        "Slurm, whose script is then written (local)",
    )
    parser.add_argument(
        "--submit", action="store_true", help="with --executor slurm: give the script to sbatch"
    )
    parser.add_argument(
        "--address",
        help="of the Ray cluster (the one that is running here, else one for this command)",
    )


def build_grid(args: argparse.Namespace) -> Grid:
    """The grid that the options describe."""
    from depthgauge.registry import NETS
    from depthgauge.rules.choice import choose_rule
    from depthgauge.scheduling.plan import Grid
    from depthgauge.studies.vary import check_variations, settings_of, with_controls
    from depthgauge.tasks.registry import load_task

    NETS.find(args.net)
    check_variations(args.rules, args.vary)
    texts = [setting for rule in args.rules for setting in settings_of(rule, args.vary)]
    rules = [choose_rule(text) for text in with_controls(texts, args.controls)]
    net, recipe = build_net_config(args), build_recipe(args)
    ks = list(range(net.blocks + 1)) if "all" in args.k else args.k
    return Grid(load_task(args.task, args.validation), net, recipe, rules, ks, args.seeds)


def build_net_config(args: argparse.Namespace) -> NetConfig:
    """The network; a task may come with a width of its own."""
    from depthgauge.config import NetConfig
    from depthgauge.tasks.registry import find_task

    width = args.width or find_task(args.task).width
    return NetConfig(name=args.net, width=width, blocks=args.blocks)


def build_recipe(args: argparse.Namespace) -> Recipe:
    """The recipe; a task may come with a number of epochs of its own."""
    from depthgauge.config import Recipe
    from depthgauge.tasks.registry import find_task

    epochs = args.epochs or find_task(args.task).epochs
    return Recipe(epochs=epochs, batch_size=args.batch_size, dtype=args.dtype)


def choose_device(name: str, executor: str = "local") -> str:
    """`auto` is a GPU where there is one, else the processor.

    On a cluster a GPU need not be here, and which one it is is the cluster's to say.
    """
    import torch

    from depthgauge.errors import UserError

    if name == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    if re.fullmatch(r"cpu|cuda(:\d+)?", name) is None:
        raise UserError(f"--device {name} is not known; choose auto, cpu, cuda or cuda:N")
    if executor != "local":
        if ":" in name:
            raise UserError(f"--executor {executor} chooses the GPU itself: say --device cuda")
        return name
    try:
        torch.empty(1, device=name)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise UserError(f"--device {name} cannot be used here: {reason}") from error
    return name
