"""`depthgauge audit --checkpoints DIR`: audit networks that exist already."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from depthgauge.cli.audit import read_and_conclude, show_audit, write_audit
from depthgauge.cli.verdict_options import build_thresholds, frozen_accuracies, strict_status
from depthgauge.errors import UserError


def run_checkpoints(args: argparse.Namespace) -> int:
    """Read the networks in a folder; missing ones are skipped with a line each."""
    from depthgauge.auditing.checkpoints import find_checkpoints, networks_in_files
    from depthgauge.config import SharedConfig, TaskConfig
    from depthgauge.results.study import StudyResult
    from depthgauge.store.files import make_folder
    from depthgauge.tasks.registry import load_task

    for option in ("vary", "controls", "select"):
        if getattr(args, option):
            raise UserError(f"--{option} is for training; with --checkpoints nothing is trained")
    thresholds, frozen = build_thresholds(args), frozen_accuracies(args.frozen_acc)
    present, missing = find_checkpoints(Path(args.checkpoints), args.rules, args.seeds)
    if args.dry_run:
        return _show_files(present, missing, args.json)
    task = load_task(args.task, args.validation)
    out = None if args.out is None else make_folder(Path(args.out))
    for path in missing:
        print(f"depthgauge: skipped, not there: {path}", file=sys.stderr)
    config = SharedConfig(
        task=TaskConfig.model_validate(
            {"name": task.name, "checksum": task.checksum, "evaluated_on": task.evaluated_on}
        ),
        checkpoints=args.checkpoints,
        frozen_acc=frozen,
    )
    networks = networks_in_files(present, task, frozen)
    audit = read_and_conclude(networks, task, config, thresholds, {})
    folder = out or Path(args.checkpoints)
    study = StudyResult(folder.resolve().name, folder, config, task.chance, (), audit)
    if out is not None:
        write_audit(study)
    show_audit(study, args.json, has_folder=out is not None)
    return strict_status([verdict.word for verdict in study.verdicts.values()], args.strict)


def _show_files(present: list[Path], missing: list[Path], as_json: bool) -> int:
    if as_json:
        plan = {"present": list(map(str, present)), "missing": list(map(str, missing))}
        print(json.dumps(plan, indent=2))
        return 0
    for paths, state in ((present, "there"), (missing, "missing")):
        for path in paths:
            print(path, state)
    return 0
