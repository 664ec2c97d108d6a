"""What commands that train have in common at their end: print the study, write its page."""

from __future__ import annotations

import argparse
import json
import logging
import sys
from typing import TYPE_CHECKING, Literal

from depthgauge.errors import UserError, system_sentence

if TYPE_CHECKING:
    from pathlib import Path

    from depthgauge.published.compare import PublishedComparison
    from depthgauge.results.study import StudyResult
    from depthgauge.study_config import StudyConfig

log = logging.getLogger("depthgauge")

Kind = Literal["audit", "ladder"]


def add_output_options(parser: argparse.ArgumentParser) -> None:
    """Add `--dry-run` and `--json`."""
    parser.add_argument("--dry-run", action="store_true", help="show the runs, train nothing")
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def show_study(
    study: StudyResult,
    kind: Kind,
    *,
    as_json: bool,
    comparison: PublishedComparison | None = None,
) -> None:
    """Print a study for eyes or as one JSON document; then write its page and say where it is.

    The page is written also if nobody reads the results to their end.
    """
    say_problems(study)
    if study.submitted is not None:
        print(json.dumps(study.submitted.document, indent=2) if as_json else study.submitted)
        return
    try:
        _print(study, kind, as_json, comparison)
        sys.stdout.flush()
    except BrokenPipeError:
        write_page(study)
        raise
    page = write_page(study)
    if page is not None and not as_json:
        print(page)


def _print(
    study: StudyResult, kind: Kind, as_json: bool, comparison: PublishedComparison | None
) -> None:
    from depthgauge.report import terminal
    from depthgauge.report.documents import ladder_document

    if as_json:
        model = study.audit if kind == "audit" else ladder_document(study)
        document = json.loads(model.model_dump_json()) if model else {}
        if comparison is not None:
            document["comparison"] = comparison.to_dict()
        print(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False))
        return
    (terminal.print_audit if kind == "audit" else terminal.print_ladder)(study)
    if comparison is not None:
        terminal.print_comparison(study, comparison)


def write_page(study: StudyResult) -> Path | None:
    """Write the study's page; where that is not possible, say why, and the results stand."""
    from depthgauge.report.page.study_page import write_study_page

    if not study.has_documents:
        return None
    try:
        return write_study_page(study)
    except (UserError, OSError) as error:
        why = system_sentence(error) if isinstance(error, OSError) else error
        log.warning("no page was written: %s", why)
        return None


def say_problems(study: StudyResult) -> None:
    """Say on standard error what of a study could not be read, and which runs failed."""
    from depthgauge.report.failures import failure_sentences

    for sentence in (*study.problems, *failure_sentences(study)):
        print(f"depthgauge: {sentence}", file=sys.stderr)


def lost_runs(study: StudyResult) -> bool:
    """Return whether a run failed or diverged, also one by which a setting was chosen."""
    if study.audit is None:
        return study.has_lost_runs
    tried = [c for chosen in study.audit.selection.values() for c in chosen.candidates.values()]
    diverged = any(rule.diverged_seeds for rule in study.rules.values())
    return study.has_lost_runs or diverged or any(candidate.lost for candidate in tried)


def show_plan(kind: Kind, config: StudyConfig, *, as_json: bool) -> int:
    """Print every run and its state, and in how many cohorts and processes the rest is trained."""
    from depthgauge.api import plan

    planned = plan(config, kind=kind)
    if as_json:
        print(json.dumps(planned.to_dict(), indent=2))
        return 0
    for line in planned.lines():
        print(line)
    if config.twins:
        print("then the swap twins and confirming runs that the ladders call for")
    return 0
