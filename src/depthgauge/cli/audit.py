"""`depthgauge audit`: train every rule, read every diagnostic, print the verdicts."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from depthgauge.cli.options import (
    add_grid_options,
    add_run_options,
    add_task,
    add_verdict_options,
    build_grid,
    build_thresholds,
    frozen_accuracies,
)
from depthgauge.cli.training import folder_of, open_study, show_plan, train_grid

if TYPE_CHECKING:
    from depthgauge.diagnosis.report import Report
    from depthgauge.studies.audit_subjects import Subject
    from depthgauge.studies.plan import Grid
    from depthgauge.tasks.base import Task
    from depthgauge.verdict.thresholds import Thresholds

WALKED_BACK = 3


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `audit` to the command line."""
    parser = subparsers.add_parser(
        "audit",
        help="main job: train every rule, read every diagnostic, print the verdicts",
        description="Train each rule with all blocks and with frozen ones, read every diagnostic, "
        "and say whether its depth can be trusted. The same command continues where it stopped.",
    )
    add_task(parser)
    add_grid_options(parser, fewest_blocks=1)
    add_run_options(parser)
    add_verdict_options(parser)
    parser.add_argument(
        "--checkpoints",
        metavar="DIR",
        help="train nothing: audit the networks in DIR, named METHOD_sSEED.pt; --rules and --seeds "
        "then say which (all that are there)",
    )
    parser.add_argument(
        "--frozen-acc",
        nargs="+",
        default=[],
        metavar="METHOD=SHARE",
        help="with --checkpoints: a method's accuracy with frozen blocks",
    )
    parser.set_defaults(run=run, rules=None, seeds=None)


def run(args: argparse.Namespace) -> int:
    """Audit a study or a folder of checkpoints, print and write what came out."""
    thresholds = build_thresholds(args)
    if args.checkpoints is not None:
        document, folder, failed = _audit_checkpoints(args, thresholds)
    else:
        if args.frozen_acc:
            from depthgauge.errors import UserError

            raise UserError("--frozen-acc goes with --checkpoints; a study trains its own baseline")
        args.rules = args.rules or ["bp", "fa", "dfa"]
        args.seeds = args.seeds or [42, 123, 456]
        args.k = [0, args.blocks]
        grid = build_grid(args)
        folder = folder_of(grid, args)
        if args.dry_run:
            return show_plan(grid, folder, args.json)
        document, failed = audit_study(grid, folder, args, thresholds)
    if args.json:
        print(json.dumps(document, indent=2, ensure_ascii=False))
    else:
        print_audit(document, folder)
    walked = any(entry["verdict"] == "walk back" for entry in document["verdicts"].values())
    return WALKED_BACK if args.strict and walked and not failed else int(failed)


def audit_study(
    grid: Grid, folder: Path, args: argparse.Namespace, thresholds: Thresholds
) -> tuple[dict[str, Any], bool]:
    """Train what is left, read everything, write `audit.json` and `audit.md`."""
    from depthgauge.studies.audit import untrained_reports
    from depthgauge.studies.audit_subjects import subjects_of_study

    study, job = open_study(grid, folder, args)
    with study.training():
        subjects_of_study(study, grid)  # a damaged run is found before hours of training
        failed = train_grid(study, grid, job)
        subjects = subjects_of_study(study, grid)
        controls = untrained_reports(grid.net, grid.task, grid.seeds, thresholds)
        config = grid.base | {"chance": grid.task.chance}
        document = _document(subjects, grid.task, config, thresholds, controls)
        write_audit(document, folder)
    return document, failed or any(subject.trained is None for subject in subjects)


def _audit_checkpoints(
    args: argparse.Namespace, thresholds: Thresholds
) -> tuple[dict[str, Any], Path | None, bool]:
    from depthgauge.studies.audit_subjects import subjects_of_folder
    from depthgauge.tasks.registry import load_task

    task = load_task(args.task, args.validation)
    frozen = frozen_accuracies(args.frozen_acc)
    subjects, missing = subjects_of_folder(
        Path(args.checkpoints), task, args.rules, args.seeds, frozen
    )
    for name in missing:
        print(f"depthgauge: skipped, not there: {name}", file=sys.stderr)
    config = {
        "task": {"name": task.name, "checksum": task.checksum, "evaluated_on": task.evaluated_on},
        "checkpoints": args.checkpoints,
        "frozen_acc": frozen,
        "chance": task.chance,
    }
    document = _document(subjects, task, config, thresholds, {})
    folder = None if args.out is None else Path(args.out)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        write_audit(document, folder)
    return document, folder, False


def _document(
    subjects: list[Subject],
    task: Task,
    config: dict[str, Any],
    thresholds: Thresholds,
    controls: dict[str, Report],
) -> dict[str, Any]:
    from depthgauge.cli.progress import study_progress
    from depthgauge.store.provenance import command_line, environment
    from depthgauge.studies.audit import audit
    from depthgauge.studies.audit_document import audit_document

    with study_progress(len(subjects), "reading") as progress:
        audited = audit(subjects, task, thresholds, lambda key: progress.advance(key, 1))
    provenance = environment() | {"command": command_line()}
    return audit_document(audited, config, thresholds, controls, provenance)


def write_audit(document: dict[str, Any], folder: Path) -> None:
    """`audit.json` and `audit.md`."""
    from depthgauge.report.audit_table import layer_table, rule_table, run_table, utility_table
    from depthgauge.report.audit_words import audit_words
    from depthgauge.report.table import markdown_table
    from depthgauge.store.files import write_json, write_text

    write_json(folder / "audit.json", document)
    tables = [
        markdown_table(*table(document))
        for table in (rule_table, run_table, layer_table, utility_table)
    ]
    words = "".join(f"- {sentence}\n" for sentence in audit_words(document))
    write_text(folder / "audit.md", "\n".join([*tables, words]))


def print_audit(document: dict[str, Any], folder: Path | None) -> None:
    """The tables, the words, and where everything is."""
    from depthgauge.cli.console import output
    from depthgauge.report.audit_table import layer_table, rule_table, run_table, utility_table
    from depthgauge.report.audit_words import audit_words
    from depthgauge.report.table import terminal_table

    console = output()
    for table in (run_table, layer_table, utility_table):
        console.print(terminal_table(*table(document)))
    for sentence in audit_words(document):
        console.print(sentence, markup=False)
    console.print(terminal_table(*rule_table(document)))
    for name in ("audit.json", "audit.md") if folder is not None else ():
        console.print(f"{folder}/{name}", markup=False, soft_wrap=True)
