"""The diagnostics in words, as each one declares them."""

from __future__ import annotations

from depthgauge.diagnostics.finding import Finding
from depthgauge.diagnostics.registry import diagnostics


def finding_in_words(finding: Finding) -> str:
    """Say a finding for a newcomer; one of a diagnostic that is not registered, as it was noted."""
    known = {one.id: one for one in diagnostics()}
    return known[finding.id].in_words(finding) if finding.id in known else finding.sentence


def names_of(ids: tuple[str, ...]) -> str:
    """Name diagnostics by id and title."""
    known = {one.id: one.name for one in diagnostics()}
    return ", ".join(known.get(name, name) for name in ids)


def when_they_fire() -> list[str]:
    """For each diagnostic a sentence that says when it fires."""
    return [
        f"{one.id} fires where {one.fires_when}"
        + ("." if one.counts else "; it is never a verdict by itself.")
        for one in diagnostics()
    ]
