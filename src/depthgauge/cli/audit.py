"""`depthgauge audit`: train every rule, read every diagnostic, print the verdicts."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from depthgauge.cli.options import (
    add_grid_options,
    add_k,
    add_run_options,
    add_task,
    build_grid,
)
from depthgauge.cli.report import write_page_after
from depthgauge.cli.select import SELECTION, add_select, select, selection_grid, submit_selection
from depthgauge.cli.training import folder_of, show_plan, show_submitted, submit_grid, train_grid
from depthgauge.cli.verdict_options import add_verdict_options, build_thresholds, strict_status
from depthgauge.defaults import DEFAULT_RULES, DEFAULT_SEEDS
from depthgauge.errors import UserError

if TYPE_CHECKING:
    from depthgauge.auditing.networks import NetworkUnderAudit
    from depthgauge.config import SharedConfig
    from depthgauge.diagnosis.report import Report
    from depthgauge.results.audit import Audit, Selection
    from depthgauge.results.study import StudyResult
    from depthgauge.scheduling.plan import Grid
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
        help="train nothing: audit the networks in DIR, named LABEL_sSEED.pt; --rules and --seeds "
        "then say which (all that are there)",
    )
    parser.add_argument(
        "--frozen-acc",
        nargs="+",
        default=[],
        metavar="LABEL=SHARE",
        help="with --checkpoints: a label's accuracy with frozen blocks",
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
    selection: dict[str, Selection] = {}
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
    study, failed = audit_study(grid, folder, args, thresholds, selection)
    show_audit(study, args.json)
    verdicts = [rule.verdict.word for rule in study.rules.values() if rule.basis == "audit"]
    return 1 if failed or missed else strict_status(verdicts, args.strict)


def audit_study(
    grid: Grid,
    folder: Path,
    args: argparse.Namespace,
    thresholds: Thresholds,
    selection: dict[str, Selection] | None = None,
    *,
    as_published: bool = False,
) -> tuple[StudyResult, bool]:
    """Train what is left, read everything, write `audit.json` and `audit.md`."""
    from depthgauge.auditing.networks import networks_of_runs, shallow_rules
    from depthgauge.auditing.read import read_untrained
    from depthgauge.results.load import load

    _, failed = train_grid(grid, folder, args, networks=True, thresholds=thresholds)
    study = load(folder)
    wanted = {run.identity for run in grid.runs()}
    runs = [run for run in study.runs if run.identity in wanted]
    rules = {choice.label: choice.build() for choice in grid.rules}
    audit = read_and_conclude(
        networks_of_runs(runs, grid.task, rules),
        grid.task,
        study.config,
        thresholds,
        read_untrained(grid.net, grid.task, grid.seeds, thresholds),
        as_published=as_published,
        shallow=shallow_rules(runs),
        selection=selection,
    )
    study = study.with_audit(audit)
    write_audit(study)
    diverged = any(run.is_full and run.state == "diverged" for run in runs)
    return study, failed or diverged


def read_and_conclude(
    networks: list[NetworkUnderAudit],
    task: Task,
    config: SharedConfig,
    thresholds: Thresholds,
    untrained: dict[str, Report],
    *,
    as_published: bool = False,
    **beside: Any,
) -> Audit:
    """Read every network, with a progress bar, and conclude."""
    from depthgauge.auditing.conclude import conclude, depth_gain_of_bp
    from depthgauge.auditing.read import read_networks
    from depthgauge.cli.progress import study_progress
    from depthgauge.store.provenance import command_line, environment

    bp_gain = depth_gain_of_bp(networks)
    with study_progress(len(networks), "reading") as progress:
        read = read_networks(
            networks,
            task,
            thresholds,
            bp_gain,
            lambda name: progress.advance(name, 1),
            as_published=as_published,
        )
    return conclude(
        read,
        config,
        thresholds,
        chance=task.chance,
        bp_gain=bp_gain,
        untrained=untrained,
        provenance=environment() | {"command": command_line()},
        **beside,
    )


def write_audit(study: StudyResult) -> None:
    """Write `audit.json` and `audit.md`."""
    from depthgauge.report.audit_table import TABLES
    from depthgauge.report.audit_words import audit_words
    from depthgauge.report.paper.markdown import markdown_table, markdown_text
    from depthgauge.store.files import write_text

    assert study.audit is not None  # noqa: S101
    write_text(study.folder / "audit.json", study.audit.model_dump_json(indent=2) + "\n")
    made = [table(study) for table in TABLES]
    tables = [markdown_table(header, rows) for header, rows in made if rows]
    words = "".join(f"- {markdown_text(sentence)}\n" for sentence in audit_words(study))
    write_text(study.folder / "audit.md", "\n".join([*tables, words]))


def show_audit(study: StudyResult, as_json: bool, *, has_folder: bool = True) -> None:
    """On standard output, as one JSON document or for eyes; then the page, if it has a folder."""
    with write_page_after(study if has_folder else None, quiet=as_json):
        if as_json:
            assert study.audit is not None  # noqa: S101
            print(study.audit.model_dump_json(indent=2))
        else:
            print_audit(study, has_folder=has_folder)


def print_audit(study: StudyResult, *, has_folder: bool = True) -> None:
    """Print the tables, the words, and where everything is."""
    from depthgauge.cli.console import output
    from depthgauge.report.audit_table import TABLES
    from depthgauge.report.audit_words import audit_words
    from depthgauge.report.table import terminal_table
    from depthgauge.report.verdict_text import with_styled_verdicts

    console = output()
    signs = not console.options.ascii_only
    verdicts, *others = (with_styled_verdicts(table(study), signs=signs) for table in TABLES)
    for header, rows in others:
        if rows:
            console.print(terminal_table(header, rows))
    for sentence in audit_words(study):
        console.print(sentence, markup=False)
    console.print(terminal_table(*verdicts))
    names = ("audit.json", "audit.md") if has_folder else ()
    for path in (study.folder / name for name in names):
        if path.exists():
            console.print(f"{path}", markup=False, soft_wrap=True)
