"""A diagnostic that the package does not have: is any block missed when the network skips it?"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from depthgauge.diagnostics.contract import Chart, Column, Diagnostic, Quantity, Threshold
from depthgauge.diagnostics.evidence import RuleEvidence
from depthgauge.diagnostics.finding import Finding
from depthgauge.diagnostics.registry import register, unregister

LOST = Quantity(
    name="largest_lesion",
    label="lesion",
    from_network=lambda network: network.lesion.value,
    from_epoch=lambda line: line.get("lesion"),
    if_diverged=0.0,
    form="{:.1f}",
    factor=100,
    unit="points",
)
LEAST = Threshold(
    "lesion_lost", 0.05, LOST, "below", "DX fires where no block is missed by more than this."
)


def _decide(evidence: RuleEvidence) -> Finding:
    lost = evidence.interval(LOST)
    if lost is None:
        return Finding("DX", "untested", {}, "lesion: not measured")
    outcome = evidence.outcome(lost, LEAST)
    sentence = f"lesion: the most missed block is worth {100 * lost.center:.1f} points"
    more = evidence.seeds_to_settle(LEAST) if outcome == "straddles" else None
    return Finding("DX", outcome, {"largest_lesion": lost}, sentence, more)


TOY = Diagnostic(
    id="DX",
    title="lesion",
    meaning="accuracy lost without the block that is missed most.",
    fires_when="no block is missed",
    quantities=(LOST,),
    thresholds=(LEAST,),
    decide=_decide,
    in_words=lambda finding: f"no block is missed: {finding.outcome}",
    columns=(Column("lesion (DX)", LOST),),
    chart=Chart("accuracy lost (points)", LEAST),
)


@contextmanager
def registered(diagnostic: Diagnostic = TOY) -> Iterator[None]:
    """Register a diagnostic for as long as the context lasts."""
    register(diagnostic)
    try:
        yield
    finally:
        unregister(diagnostic.id)
