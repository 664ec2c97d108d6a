"""`depthgauge audit`: train every rule, read every diagnostic, and print the verdicts."""

from __future__ import annotations

import argparse

from depthgauge.cli.arguments import add_study_options, config_of
from depthgauge.cli.output import add_output_options, print_json, show_plan, show_study
from depthgauge.study_config import StudyConfig


def add_audit(parser: argparse.ArgumentParser) -> None:
    """Add the options of `audit`."""
    parser.description = (
        "Train each rule with all blocks and with frozen blocks, read every diagnostic, and say "
        "whether the rule trains the network's depth. If the command was stopped, the same command "
        "continues it."
    )
    add_study_options(parser)
    add_output_options(parser, kind="audit")
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    """Audit a study or a folder of checkpoints, and print the result."""
    from depthgauge.api import audit

    config = config_of(args)
    if args.dry_run and config.checkpoints is not None:
        return _show_checkpoints(config, as_json=args.json)
    if args.dry_run:
        return show_plan("audit", config, as_json=args.json)
    study = audit(config)
    return show_study(study, "audit", as_json=args.json, strict=config.strict, verbose=args.verbose)


def _show_checkpoints(config: StudyConfig, *, as_json: bool) -> int:
    """Print the files of the networks that would be read, and the files that are missing."""
    from depthgauge.auditing.audit_study import checkpoint_files

    present, missing = checkpoint_files(config)
    if as_json:
        print_json({"present": list(map(str, present)), "missing": list(map(str, missing))})
        return 0
    for path in present:
        print(path, "there")
    for path in missing:
        print(path, "missing")
    return 0
