"""`depthgauge audit --checkpoints DIR`: audit networks that exist already."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from depthgauge.cli.audit import read_subjects, show_audit, write_audit
from depthgauge.cli.verdict_options import build_thresholds, frozen_accuracies, strict_status
from depthgauge.errors import UserError


def run_checkpoints(args: argparse.Namespace) -> int:
    """Read the networks in a folder; missing ones are skipped with a line each."""
    from depthgauge.store.files import make_folder
    from depthgauge.studies.audit_subjects import files_in, subjects_in
    from depthgauge.tasks.registry import load_task

    for option in ("vary", "controls", "select"):
        if getattr(args, option):
            raise UserError(f"--{option} is for training; with --checkpoints nothing is trained")
    thresholds, frozen = build_thresholds(args), frozen_accuracies(args.frozen_acc)
    present, missing = files_in(Path(args.checkpoints), args.rules, args.seeds)
    if args.dry_run:
        return _show_files(present, missing, args.json)
    task = load_task(args.task, args.validation)
    out = None if args.out is None else make_folder(Path(args.out))
    for path in missing:
        print(f"depthgauge: skipped, not there: {path}", file=sys.stderr)
    config = {
        "task": {"name": task.name, "checksum": task.checksum, "evaluated_on": task.evaluated_on},
        "checkpoints": args.checkpoints,
        "frozen_acc": frozen,
        "chance": task.chance,
    }
    subjects = subjects_in(present, task, frozen)
    document = read_subjects(subjects, task, config, thresholds, {})
    if out is not None:
        write_audit(document, out)
    show_audit(document, out, args.json)
    verdicts = [entry["verdict"] for entry in document["verdicts"].values()]
    return strict_status(verdicts, args.strict)


def _show_files(present: list[Path], missing: list[Path], as_json: bool) -> int:
    if as_json:
        plan = {"present": list(map(str, present)), "missing": list(map(str, missing))}
        print(json.dumps(plan, indent=2))
        return 0
    for paths, state in ((present, "there"), (missing, "missing")):
        for path in paths:
            print(path, state)
    return 0
