"""`depthgauge audit`: train every rule, read every diagnostic, print the verdicts."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from depthgauge.cli.options import (
    add_grid_options,
    add_k,
    add_run_options,
    add_task,
    build_grid,
)
from depthgauge.cli.report import page_at_the_end
from depthgauge.cli.select import SELECTION, add_select, select, selection_grid, submit_selection
from depthgauge.cli.training import folder_of, show_plan, show_submitted, submit_grid, train_grid
from depthgauge.cli.verdict_options import add_verdict_options, build_thresholds, strict_status
from depthgauge.defaults import DEFAULT_RULES, DEFAULT_SEEDS
from depthgauge.errors import UserError

if TYPE_CHECKING:
    from depthgauge.diagnosis.report import Report
    from depthgauge.scheduling.plan import Grid
    from depthgauge.studies.audit_subjects import Subject
    from depthgauge.tasks.base import Task
    from depthgauge.verdict.thresholds import Thresholds


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
    add_k(parser, "0 and all blocks, which are always trained")
    add_select(parser)
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
    if args.checkpoints is not None:
        from depthgauge.cli.audit_checkpoints import run_checkpoints

        return run_checkpoints(args)
    if args.frozen_acc:
        raise UserError("--frozen-acc goes with --checkpoints; a study trains its own baseline")
    thresholds = build_thresholds(args)
    args.rules, args.seeds = args.rules or DEFAULT_RULES, args.seeds or DEFAULT_SEEDS
    args.k = list(dict.fromkeys([0, args.blocks, *args.k]))
    held_out = args.validation
    args.validation = 0 if args.select else held_out
    grid = build_grid(args)
    folder = folder_of(grid, args)
    selection: dict[str, Any] = {}
    tried = selection_grid(grid, args, held_out) if args.select else None
    if args.dry_run:
        return show_plan(tried or grid, folder / SELECTION if tried else folder, args)
    missed = False
    if tried is not None:
        if submitted := submit_selection(tried, folder, args):
            return show_submitted(submitted, args)
        grid, selection, missed = select(grid, tried, folder, args)
    if submitted := submit_grid(grid, folder, args, networks=True):
        return show_submitted(submitted, args)
    document, failed = audit_study(grid, folder, args, thresholds, selection)
    show_audit(document, folder, args.json)
    verdicts = [entry["verdict"] for entry in document["verdicts"].values()]
    return 1 if failed or missed else strict_status(verdicts, args.strict)


def audit_study(
    grid: Grid,
    folder: Path,
    args: argparse.Namespace,
    thresholds: Thresholds,
    selection: dict[str, Any] | None = None,
    *,
    as_in_the_record: bool = False,
) -> tuple[dict[str, Any], bool]:
    """Train what is left, read everything, write `audit.json` and `audit.md`."""
    from depthgauge.studies.audit import untrained_reports
    from depthgauge.studies.audit_subjects import shallow_accuracies, subjects_of_study

    study, failed = train_grid(grid, folder, args, networks=True, thresholds=thresholds)
    subjects = subjects_of_study(study, grid)
    controls = untrained_reports(grid.net, grid.task, grid.seeds, thresholds)
    config = grid.base | {"chance": grid.task.chance}
    document = read_subjects(
        subjects,
        grid.task,
        config,
        thresholds,
        controls,
        as_in_the_record=as_in_the_record,
        shallow=shallow_accuracies(study, grid),
        selection=selection,
    )
    write_audit(document, folder)
    return document, failed or any(subject.trained is None for subject in subjects)


def read_subjects(
    subjects: list[Subject],
    task: Task,
    config: dict[str, Any],
    thresholds: Thresholds,
    controls: dict[str, Report],
    *,
    as_in_the_record: bool = False,
    **beside: Any,
) -> dict[str, Any]:
    """Read every subject, with a progress bar; the audit as one document."""
    from depthgauge.cli.progress import study_progress
    from depthgauge.store.provenance import command_line, environment
    from depthgauge.studies.audit import audit
    from depthgauge.studies.audit_document import audit_document

    with study_progress(len(subjects), "reading") as progress:
        audited = audit(
            subjects,
            task,
            thresholds,
            lambda key: progress.advance(key, 1),
            as_in_the_record=as_in_the_record,
        )
    provenance = environment() | {"command": command_line()}
    return audit_document(audited, config, thresholds, controls, provenance, **beside)


def write_audit(document: dict[str, Any], folder: Path) -> None:
    """`audit.json` and `audit.md`."""
    from depthgauge.report.audit_table import TABLES
    from depthgauge.report.audit_words import audit_words
    from depthgauge.report.paper.markdown import markdown_table, markdown_text
    from depthgauge.store.files import write_json, write_text

    write_json(folder / "audit.json", document)
    made = [table(document) for table in TABLES]
    tables = [markdown_table(header, rows) for header, rows in made if rows]
    words = "".join(f"- {markdown_text(sentence)}\n" for sentence in audit_words(document))
    write_text(folder / "audit.md", "\n".join([*tables, words]))


def show_audit(document: dict[str, Any], folder: Path | None, as_json: bool) -> None:
    """On standard output, as one JSON document or for eyes; then the page, if it has a folder."""
    with page_at_the_end(folder, quiet=as_json):
        if as_json:
            print(json.dumps(document, indent=2, ensure_ascii=False))
        else:
            print_audit(document, folder)


def print_audit(document: dict[str, Any], folder: Path | None) -> None:
    """The tables, the words, and where everything is."""
    from depthgauge.cli.console import output
    from depthgauge.report.audit_table import TABLES
    from depthgauge.report.audit_words import audit_words
    from depthgauge.report.table import terminal_table
    from depthgauge.report.verdict_text import with_styled_verdicts

    console = output()
    signs = not console.options.ascii_only
    verdicts, *others = (with_styled_verdicts(table(document), signs=signs) for table in TABLES)
    for header, rows in others:
        if rows:
            console.print(terminal_table(header, rows))
    for sentence in audit_words(document):
        console.print(sentence, markup=False)
    console.print(terminal_table(*verdicts))
    names = ("audit.json", "audit.md")
    for path in (folder / name for name in names) if folder is not None else ():
        if path.exists():
            console.print(f"{path}", markup=False, soft_wrap=True)
