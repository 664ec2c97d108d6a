"""`depthgauge report`: a study as one page, at any time."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from depthgauge.errors import UserError, system_sentence

if TYPE_CHECKING:
    from depthgauge.results.study import StudyResult

log = logging.getLogger("depthgauge")


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `report` to the command line."""
    parser = subparsers.add_parser(
        "report",
        help="a study as one self-contained HTML page",
        description="Write what DIR has so far as one HTML file that needs nothing else: verdicts, "
        "ladder, diagnostics, runs, and tables for a paper. Nothing is trained.",
    )
    parser.add_argument("study", metavar="DIR", help="folder of a study, or of an audit")
    parser.add_argument("-o", "--output", metavar="FILE", help="the page (DIR/report.html)")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Write the page and say where it is."""
    from depthgauge.report.page.study_page import write_study_page
    from depthgauge.results.load import load

    output = page_path(args.output)
    study = load(args.study)
    say_problems(study)
    print(write_study_page(study, output))
    return 0


def say_problems(study: StudyResult) -> None:
    """Say on standard error what of a study could not be read."""
    for problem in study.problems:
        print(f"depthgauge: {problem}", file=sys.stderr)


@contextmanager
def write_page_after(study: StudyResult | None, *, quiet: bool = False) -> Iterator[None]:
    """Results are shown inside; then the study's page is written, and where it is comes last.

    It is written also if nobody reads the results to their end. Where it cannot be written, they
    stand. Without a study there is no page.
    """
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        if study is not None:
            _written(study)
        raise
    page = _written(study) if study is not None else None
    if page is not None and not quiet:
        print(page)


def _written(study: StudyResult) -> Path | None:
    from depthgauge.report.page.study_page import write_study_page

    try:
        return write_study_page(study)
    except (UserError, OSError) as error:
        why = system_sentence(error) if isinstance(error, OSError) else error
        log.warning("no page was written: %s", why)
        return None


def page_path(given: str | None) -> Path | None:
    """Where a page goes, None if nowhere was said; refused before any work is done for it."""
    if given is None:
        return None
    path = Path(given)
    if path.is_dir() or not path.resolve().parent.is_dir():
        raise UserError(f"-o {given} is not a file in a folder that is there, such as page.html")
    return path
