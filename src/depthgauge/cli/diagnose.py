"""`depthgauge diagnose CHECKPOINT --net FACTORY`: read every diagnostic of one network."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from depthgauge.cli.arguments import add_study_options, config_of, share, whole
from depthgauge.cli.output import add_json_option, strict_status
from depthgauge.errors import UserError
from depthgauge.study_config import StudyConfig

if TYPE_CHECKING:
    from torch import nn

    from depthgauge.nets.initial_weights import Initial
    from depthgauge.rules.credit_function import CreditFunction
    from depthgauge.tasks.base import Task

USED = ("validation", "thresholds", "strict", "loss")
"""The options of a study that `diagnose` takes."""


def add_diagnose(parser: argparse.ArgumentParser) -> None:
    """Add the options of `diagnose`."""
    parser.description = "Read every diagnostic of one trained network and print the report."
    parser.add_argument("checkpoint", metavar="CHECKPOINT", help="a state dict, or a run's folder")
    parser.add_argument(
        "--net",
        metavar="FACTORY",
        help="module:function or file.py:function that builds the network (not needed for a "
        "ResidualMLP of this package)",
    )
    parser.add_argument(
        "--plain",
        metavar="FACTORY",
        help="function that builds the same network with an ordinary backward pass; the gradients "
        "are then read from that network",
    )
    parser.add_argument(
        "--initial",
        metavar="FILE",
        help="the network's state dict before training, for rewind (for a run: drawn from its "
        "seed)",
    )
    parser.add_argument(
        "--rule",
        help="the rule that trained the network, if the checkpoint does not name it: a name or "
        "file.py:Class",
    )
    parser.add_argument(
        "--blocks", metavar="PATH", help="dotted path to the network's blocks (blocks)"
    )
    parser.add_argument("--task", help="name of a task or path of your .npz (not needed for a run)")
    parser.add_argument(
        "--batches", type=whole(1), default=10, help="number of batches of 128 samples (10)"
    )
    parser.add_argument("--acc", type=share(0.0), help="the network's accuracy (measured here)")
    parser.add_argument(
        "--frozen-acc", type=share(0.0), help="accuracy of the network trained with frozen blocks"
    )
    parser.add_argument(
        "--bp-depth-gain",
        type=share(-1.0),
        help="accuracy that bp gains from depth on the task, as a number from -1 to 1",
    )
    parser.add_argument(
        "--name", help="the network's name in the report (the run's rule, or the file's name)"
    )
    add_study_options(parser, only=USED)
    add_json_option(parser)
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    """Diagnose one network and print the report."""
    from depthgauge.auditing.trained_network import evaluation_batches
    from depthgauge.diagnosis.diagnose import diagnose
    from depthgauge.nets.batch import ForwardError
    from depthgauge.verdict.thresholds import thresholds_from

    config = config_of(args)
    thresholds = thresholds_from(config.thresholds)
    subject = _load(args, config)
    try:
        report = diagnose(
            subject.net,
            evaluation_batches(subject.task, args.batches),
            headline_acc=args.acc,
            frozen_baseline_acc=args.frozen_acc,
            bp_depth_gain=args.bp_depth_gain,
            credit=subject.credit,
            method_name=args.name or subject.name,
            blocks=args.blocks,
            thresholds=thresholds,
            plain=subject.plain,
            loss=config.loss or subject.loss,
            initial=_initial(args, subject),
        )
    except ForwardError as error:
        raise UserError(f"{error} ({subject.task.shape})") from error
    print(report.to_json() if args.json else report)
    return strict_status([report.verdict], config.strict)


@dataclass(frozen=True)
class _Subject:
    """The network to diagnose, and its task.

    `credit` is the function that gave credit in training; None if it is not known.
    """

    net: nn.Module
    task: Task
    name: str
    credit: CreditFunction | None = None
    plain: nn.Module | None = None
    initial: nn.Module | None = None
    loss: str = "cross_entropy"


def _load(args: argparse.Namespace, config: StudyConfig) -> _Subject:
    from depthgauge.auditing.load_trained import load_named_task, load_trained
    from depthgauge.nets.user.network import build_network, load_weights
    from depthgauge.rules.credit_function import rule_credit
    from depthgauge.store.plain_checkpoint import read_plain_checkpoint

    path, task_named = Path(args.checkpoint), getattr(args, "task", None)
    if args.net is not None:
        if args.rule is not None:
            raise UserError(
                "--rule is not possible with --net, since the feedback of a network that is given "
                "with --net is not known; leave out --rule"
            )
        weights = read_plain_checkpoint(path).state_dict
        net = load_weights(build_network(args.net), weights, str(path))
        plain = build_network(args.plain, "--plain") if args.plain is not None else None
        task = load_named_task(path, task_named, config.validation)
        return _Subject(net, task, path.name, plain=plain, loss=task.loss)
    if args.plain is not None:
        raise UserError(
            "--plain needs --net; leave out --plain, since the networks of this package have an "
            "ordinary backward pass"
        )
    trained, task = load_trained(path, task_named, args.rule, config.validation)
    credit = None
    if trained.rule is not None and trained.feedback is not None:
        credit = rule_credit(trained.rule, trained.feedback)
    initial, loss = trained.initial(task), trained.loss
    return _Subject(trained.net, task, trained.name, credit, initial=initial, loss=loss)


def _initial(args: argparse.Namespace, subject: _Subject) -> Initial | None:
    """Return the weights before training: from --initial, or drawn from the run's seed."""
    from depthgauge.store.plain_checkpoint import read_plain_checkpoint

    if args.initial is None:
        return subject.initial
    return read_plain_checkpoint(Path(args.initial)).state_dict
