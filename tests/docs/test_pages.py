"""What pages say exists: the pages and headings they link to, the commands and files they name."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from depthgauge.cli.main import build_parser
from depthgauge.errors import UserError

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md")), ROOT / "reproduction/README.md"]
PAGES.remove(ROOT / "docs/feature-checklist.md")
ROOTS = ("", "src/depthgauge", "benchmarks", "reproduction", "docs")


def prose_of(page: Path) -> str:
    return re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.M)


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.*)$", prose_of(page), re.MULTILINE)
    kept = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {heading.replace(" ", "-") for heading in kept}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_link_leads_to_a_page_and_a_heading_that_are_there(page: Path) -> None:
    broken = []
    for link in re.findall(r"\]\(([^)\s]+)\)", prose_of(page)):
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        if "://" not in link and not (
            target.exists() and (not anchor or anchor in anchors(target))
        ):
            broken.append(link)
    assert broken == []


def commands(text: str) -> Iterator[str]:
    blocks = re.findall(r"^```\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    for line in "\n".join(blocks).replace("\\\n", " ").splitlines():
        if line.lstrip("$ ").startswith("depthgauge "):
            yield line.lstrip("$ ")
    prose = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    for line in re.findall(r"`(depthgauge [a-z][^`]*)`", prose):
        yield " ".join(line.split())


def parses(command: str) -> bool:
    words = shlex.split(re.sub(r"\[-o page.html\]|\[DIR …\]|…", "", command), comments=True)[1:]
    if not any(word.startswith("-") for word in words):
        return words[0] in NAMES or words[0] == "COMMAND"
    try:
        build_parser().parse_args(words)
    except UserError as error:
        return "required" in str(error)
    except SystemExit as end:
        return end.code == 0
    return True


NAMES = set(re.findall(r"^    (\S+)", build_parser().format_help(), re.MULTILINE))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_command_that_is_shown_exists_with_its_options(page: Path) -> None:
    shown = set(commands(page.read_text(encoding="utf-8")))
    assert [command for command in sorted(shown) if not parses(command)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_source_file_that_is_named_is_there(page: Path) -> None:
    named = set(re.findall(r"`([\w./-]+/[\w.-]+\.(?:py|md))`", prose_of(page)))
    missing = [name for name in sorted(named) if not any((ROOT / r / name).exists() for r in ROOTS)]
    assert missing == []
