"""List every feature that README.md and `--help` name, as boxes to tick: docs/feature-checklist.md.

    python docs/make_checklist.py

Ticks, and words after a long dash, stay when the list is made again. A line that README.md and
`--help` no longer have moves to the end, where its loss is to be explained.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CHECKLIST = ROOT / "docs" / "feature-checklist.md"
GONE = "No longer there"

INTRODUCTION = """# Feature checklist

Made by `python docs/make_checklist.py` from README.md and every `--help`. Tick a line (`[x]`) once
the feature was seen to work; where only part of it could be seen, say after a dash what was seen.
Under "No longer there", say after a dash why the line went; a tick there means that the feature was
seen to work under its new words.
"""

BOX = re.compile(r"- \[(?P<tick>[ x])\] (?P<feature>.+?)(?P<note> — .+)?")


def readme_features(text: str) -> list[str]:
    """Return the sentences, bullets and lines of code of a Markdown text, in its order."""
    features: list[str] = []
    for index, part in enumerate(re.split(r"^```.*$", text, flags=re.MULTILINE)):
        if index % 2:
            lines = [line.strip() for line in part.splitlines() if re.search(r"\w", line)]
            features += [f"`` {line} ``" for line in lines]
        else:
            features += _sentences(part)
    return list(dict.fromkeys(features))


def _sentences(prose: str) -> Iterator[str]:
    prose = re.sub(r"^#.*$", "\n", prose, flags=re.MULTILINE)
    for paragraph in re.split(r"\n\s*\n|^- ", prose, flags=re.MULTILINE):
        joined = " ".join(paragraph.split())
        yield from (found for found in re.split(r"(?<=[.?])\s+(?=[A-Z`(*])", joined) if found)


def commands(parser: argparse.ArgumentParser) -> Iterator[tuple[str, list[str]]]:
    """Give each command with a line for itself and one for each of its options."""
    yield parser.prog, [_said(f"`{parser.prog}`", parser.description), *_options(parser)]
    for group in parser._actions:
        if isinstance(group, argparse._SubParsersAction):
            helps = {choice.dest: choice.help for choice in group._choices_actions}
            for name, inner in group.choices.items():
                (prog, (_, *options)), *below = commands(inner)
                yield prog, [_said(f"`{prog}`", inner.description or helps.get(name)), *options]
                yield from below


def _options(parser: argparse.ArgumentParser) -> Iterator[str]:
    formatter = parser._get_formatter()
    for action in parser._actions:
        if not isinstance(action, argparse._SubParsersAction | argparse._HelpAction):
            named = formatter._format_action_invocation(action)
            said = formatter._expand_help(action) if action.help else None
            yield _said(f"`{parser.prog}` `{named}`", said)


def _said(what: str, said: str | None) -> str:
    return f"{what}: {' '.join(said.split())}" if said else what


def checklist(sections: dict[str, list[str]], before: str) -> str:
    """Return the list as Markdown, with the ticks, notes and lost lines of the list before it."""
    found = [box for line in before.splitlines() if (box := BOX.fullmatch(line))]
    boxes = {box["feature"]: (box["tick"], box["note"] or "") for box in found}
    features = {feature for lines in sections.values() for feature in lines}
    gone = [feature for feature in boxes if feature not in features]
    parts = [INTRODUCTION]
    for heading, lines in (sections | {GONE: gone}).items():
        if lines:
            marked = ((line, *boxes.get(line, (" ", ""))) for line in lines)
            ticked = "\n".join(f"- [{tick}] {line}{note}" for line, tick, note in marked)
            parts.append(f"## {heading}\n\n{ticked}\n")
    return "\n".join(parts)


def main() -> None:
    """Write the list anew."""
    from depthgauge.cli.main import build_parser  # noqa: PLC0415

    sections = {"README.md": readme_features((ROOT / "README.md").read_text(encoding="utf-8"))}
    sections |= dict(commands(build_parser()))
    before = CHECKLIST.read_text(encoding="utf-8") if CHECKLIST.exists() else ""
    CHECKLIST.write_text(checklist(sections, before), encoding="utf-8")


if __name__ == "__main__":
    main()
