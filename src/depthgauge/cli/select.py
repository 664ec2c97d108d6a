"""`--select validation`: each rule's best setting, before it is audited."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from depthgauge.cli.training import submit_grid, train_grid
from depthgauge.errors import UserError

if TYPE_CHECKING:
    from depthgauge.results.audit import Selection
    from depthgauge.scheduling.plan import Grid
    from depthgauge.scheduling.slurm import Submitted

SELECTION = "selection"
"""Folder inside a study's, of the runs by which its settings were chosen."""


def add_select(parser: argparse.ArgumentParser) -> None:
    """`--select`, which goes with `--vary`."""
    parser.add_argument(
        "--select",
        choices=["validation"],
        help="with --vary: train every setting with training samples held out (--validation N, a "
        "tenth by default), then audit each rule as it was given and at its best setting there",
    )


def selection_grid(grid: Grid, args: argparse.Namespace, held_out: int) -> Grid:
    """Every setting, all blocks trained, judged on held-out training samples."""
    from depthgauge.rules.choice import choose_rule
    from depthgauge.studies.selection import settings_to_try, usual_size
    from depthgauge.tasks.base import hold_out_validation

    if not args.vary:
        raise UserError("--select chooses between settings: say which with --vary NAME=V1,V2,…")
    for rule in args.rules:
        if choose_rule(rule).control is not None:
            raise UserError(f"--select cannot choose for {rule}: give its control with --controls")
    texts = [text for rule in args.rules for text in settings_to_try(rule, args.vary).values()]
    task = hold_out_validation(grid.task, held_out or usual_size(grid.task))
    rules = [choose_rule(text) for text in texts]
    return replace(grid, task=task, rules=rules, ks=[grid.net.blocks])


def submit_selection(tried: Grid, folder: Path, args: argparse.Namespace) -> Submitted | None:
    """Write what is left of the settings to try as a Slurm job, if that is asked for."""
    return submit_grid(tried, folder / SELECTION, _judged_on(tried, args))


def _judged_on(tried: Grid, args: argparse.Namespace) -> argparse.Namespace:
    """Return the options with as many held-out samples as the grid is judged on."""
    return argparse.Namespace(**vars(args) | {"validation": len(tried.task.evaluation)})


def select(
    grid: Grid, tried: Grid, folder: Path, args: argparse.Namespace
) -> tuple[Grid, dict[str, Selection], bool]:
    """Train all settings of `tried`: `grid` at the best, how they were chosen, any failures."""
    from depthgauge.rules.choice import choose_rule
    from depthgauge.studies.selection import candidates, chosen_settings
    from depthgauge.studies.vary import with_controls

    samples = len(tried.task.evaluation)
    study, failed = train_grid(tried, folder / SELECTION, _judged_on(tried, args))
    selection, texts = chosen_settings(candidates(study, tried), args.rules, args.vary, samples)
    rules = [choose_rule(text) for text in with_controls(texts, args.controls)]
    return replace(grid, rules=rules), selection, failed
