"""Print the output of commands: JSON documents, studies, plans and problems.

Some functions also return the exit status of the command.
"""

from __future__ import annotations

import argparse
import json
import logging
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from depthgauge.errors import UserError, system_sentence

if TYPE_CHECKING:
    from depthgauge.published.compare import PublishedComparison
    from depthgauge.results.study import StudyResult
    from depthgauge.study_config import StudyConfig

log = logging.getLogger("depthgauge")

Kind = Literal["audit", "ladder"]

RUN_FAILED = 1
WALKED_BACK = 3


def add_json_option(parser: argparse.ArgumentParser) -> None:
    """Add `--json`."""
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def add_output_options(parser: argparse.ArgumentParser, *, kind: Kind | None = None) -> None:
    """Add `--dry-run` and `--json`; if the command may audit, also add `--verbose`."""
    if kind == "audit":
        parser.add_argument(
            "--verbose", action="store_true", help="also print every reading and every reason"
        )
    parser.add_argument(
        "--dry-run", action="store_true", help="print the planned runs and train nothing"
    )
    add_json_option(parser)


def print_json(document: object) -> None:
    """Print one JSON document."""
    print(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False))


def show_study(
    study: StudyResult,
    kind: Kind,
    *,
    as_json: bool,
    strict: bool = False,
    verbose: bool = False,
    comparison: PublishedComparison | None = None,
) -> int:
    """Print a study, write its page, print the page's path, and return the exit status.

    The page is written even if the reader of the output, such as `head`, ends early.
    """
    say_problems(study)
    if study.submitted is not None:
        print_json(study.submitted.document) if as_json else print(study.submitted)
        return int(lost_runs(study))
    try:
        _print(study, kind, as_json, verbose, comparison)
        sys.stdout.flush()
    except BrokenPipeError:
        write_page(study)
        raise
    page = write_page(study)
    if page is not None and not as_json:
        print(f"All evidence, with charts and every run: {page}")
    if lost_runs(study):
        return RUN_FAILED
    words = (rule.verdict.word for rule in study.rules.values()) if strict else ()
    return strict_status(words, strict)


def _print(
    study: StudyResult,
    kind: Kind,
    as_json: bool,
    verbose: bool,
    comparison: PublishedComparison | None,
) -> None:
    from depthgauge.report import terminal
    from depthgauge.report.result_files import ladder_document

    if as_json:
        model = study.audit if kind == "audit" else ladder_document(study)
        document = json.loads(model.model_dump_json()) if model else {}
        if comparison is not None:
            document["comparison"] = comparison.to_dict()
        print_json(document)
        return
    if kind == "audit":
        terminal.print_audit(study, verbose=verbose)
    else:
        terminal.print_ladder(study)
    if comparison is not None:
        terminal.print_published(study, comparison)


def page_path(given: str | None) -> Path | None:
    """Return the path given with `-o`; refuse an impossible path before any work is done."""
    if given is None:
        return None
    path = Path(given)
    if path.is_dir():
        raise UserError(f"cannot write -o {given}: it is a folder; give the path of a file")
    if not path.resolve().parent.is_dir():
        raise UserError(
            f"cannot write -o {given}: there is no folder {path.parent}; make it, or choose "
            "another path"
        )
    return path


def write_page(study: StudyResult) -> Path | None:
    """Write the study's page and return its path; if that fails, only log a warning."""
    from depthgauge.report.page.study_page import write_study_page

    if not study.has_documents:
        return None
    try:
        return write_study_page(study)
    except (UserError, OSError) as error:
        reason = system_sentence(error) if isinstance(error, OSError) else error
        log.warning("the page of the study was not written: %s", reason)
        return None


def say_problems(study: StudyResult) -> None:
    """Print the study's problems on standard error: unreadable files and failed runs."""
    from depthgauge.report.texts.failures import failure_sentences

    for sentence in (*study.problems, *failure_sentences(study)):
        print(f"depthgauge: {sentence}", file=sys.stderr)


def lost_runs(study: StudyResult) -> bool:
    """Return whether a run of the study failed or diverged.

    This includes the runs that were trained only to choose the settings of rules.
    """
    if study.audit is None:
        return study.has_lost_runs
    tried = [c for chosen in study.audit.selection.values() for c in chosen.candidates.values()]
    diverged = any(rule.diverged_seeds for rule in study.rules.values())
    return study.has_lost_runs or diverged or any(candidate.lost for candidate in tried)


def strict_status(words: Iterable[str], strict: bool) -> int:
    """Return 3 if `strict` is set and a verdict is *walk back* or *shallow*; else return 0."""
    from depthgauge.verdict.words import BAD_WORDS

    return WALKED_BACK if strict and BAD_WORDS.intersection(words) else 0


def show_plan(kind: Kind, config: StudyConfig, *, as_json: bool) -> int:
    """Print every run with its state, and how the remaining runs would be trained."""
    from depthgauge.api import plan

    planned = plan(config, kind=kind)
    if as_json:
        print_json(planned.to_dict())
        return 0
    for line in planned.lines():
        print(line)
    if config.twins:
        print("then the swap twins and confirming runs that the ladders need")
    return 0
