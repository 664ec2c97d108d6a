"""Sentences about diagnostics, in the words that each diagnostic declares."""

from __future__ import annotations

from depthgauge.diagnostics.finding import Finding
from depthgauge.diagnostics.registry import diagnostics


def finding_in_words(finding: Finding) -> str:
    """Return a finding in plain words.

    If the finding's diagnostic is not registered, return the finding's own `sentence`.
    """
    known = {one.id: one for one in diagnostics()}
    return known[finding.id].in_words(finding) if finding.id in known else finding.sentence


def names_of(ids: tuple[str, ...]) -> str:
    """Return the names of diagnostics, separated by commas; an unknown id stays an id."""
    known = {one.id: one.name for one in diagnostics()}
    return ", ".join(known.get(name, name) for name in ids)


def when_they_fire() -> list[str]:
    """Return for each diagnostic a sentence that says when it fires."""
    return [
        f"{one.id} fires where {one.fires_when}"
        + ("." if one.counts else "; it is never a verdict by itself.")
        for one in diagnostics()
    ]
