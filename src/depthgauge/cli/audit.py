"""`depthgauge audit`: train every rule, read every diagnostic, print the verdicts."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence

from depthgauge.cli.arguments import add_study_options, config_of
from depthgauge.cli.study_output import add_output_options, lost_runs, show_plan, show_study
from depthgauge.study_config import StudyConfig
from depthgauge.verdict.words import BAD_WORDS

DESCRIPTION = (
    "Train each rule with all blocks and with frozen ones, read every diagnostic, and say whether "
    "its depth can be trusted. The same command continues where it stopped."
)
WALKED_BACK = 3


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `audit`."""
    add_study_options(parser)
    add_output_options(parser)


def run(args: argparse.Namespace) -> int:
    """Audit a study or a folder of checkpoints, and print what came out."""
    from depthgauge.api import audit

    config = config_of(args)
    if args.dry_run and config.checkpoints is not None:
        return _show_checkpoints(config, as_json=args.json)
    if args.dry_run:
        return show_plan("audit", config, as_json=args.json)
    study = audit(config)
    show_study(study, "audit", as_json=args.json)
    if lost_runs(study):
        return 1
    return strict_status([rule.verdict.word for rule in study.rules.values()], config.strict)


def _show_checkpoints(config: StudyConfig, *, as_json: bool) -> int:
    """Print which networks would be read, and which are missing."""
    from depthgauge.auditing.audit_study import checkpoint_files

    present, missing = checkpoint_files(config)
    if as_json:
        plan = {"present": list(map(str, present)), "missing": list(map(str, missing))}
        print(json.dumps(plan, indent=2))
        return 0
    for path in present:
        print(path, "there")
    for path in missing:
        print(path, "missing")
    return 0


def strict_status(words: Sequence[str], strict: bool) -> int:
    """Return 3 if a verdict is *walk back* or *shallow* and that was asked for, else 0."""
    return WALKED_BACK if strict and BAD_WORDS.intersection(words) else 0
