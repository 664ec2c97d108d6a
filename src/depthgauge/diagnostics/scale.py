"""D1, scale: does the stream blow up in one block?"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

from depthgauge.diagnostics.contract import Chart, Column, Diagnostic, Quantity, Threshold
from depthgauge.diagnostics.evidence import RuleEvidence
from depthgauge.diagnostics.finding import Finding
from depthgauge.diagnostics.interval_text import write_interval
from depthgauge.diagnostics.intervals import WIDEST_FACTOR
from depthgauge.number_format import exact

if TYPE_CHECKING:
    from depthgauge.gauges.epoch_metrics import EpochMetrics


def _after_epoch(line: EpochMetrics) -> float | None:
    """Return the largest growth of the stream's norm over one block, as recorded in an epoch.

    If the metrics have null for a norm, the norm was not finite, and the growth is infinite.
    """
    norms = line.get("h_norm")
    if norms is None:
        return None
    finite = [norm for norm in norms if norm is not None]
    if len(finite) < len(norms):
        return math.inf
    ratios = [b / a if a else math.inf for a, b in pairwise(finite) if a or b]
    return max(ratios, default=0.0)


GROWTH = Quantity(
    name="growth",
    label="growth",
    from_network=lambda network: network.scale.growth,
    from_epoch=_after_epoch,
    if_diverged=math.inf,
    log=True,
    widest=WIDEST_FACTOR,
    unit="times",
)

PINNED = Quantity(
    name="norm_pinned",
    label="norm pinned",
    from_network=lambda network: float(network.scale.pinned),
)

LIMIT = Threshold(
    "growth",
    50.0,
    GROWTH,
    "above",
    "D1 fires if the largest ratio of neighbouring medians of ‖h‖ is above this. Published "
    "networks: healthy at most 11, degenerate at least 694.",
)


def _decide(evidence: RuleEvidence) -> Finding:
    growth = evidence.interval(GROWTH)
    if growth is None:
        return Finding("D1", "untested", {}, "scale: not measured")
    outcome = evidence.outcome(growth, LIMIT)
    limit = evidence.limit(LIMIT)
    sentence = (
        f"scale: the stream grows {write_interval(GROWTH, growth, limit)} times at its steepest "
        f"block (threshold {exact(limit)})"
    )
    pinned, seeds = int(sum(evidence.values(PINNED))), len(evidence.seeds)
    if pinned:
        sentence += "; the network pins its own norm after every block"
        sentence += "" if pinned == seeds else f" in {pinned} of {seeds} seeds"
        sentence += ", so growth could not show"
    return Finding(
        "D1",
        outcome,
        {"growth": growth},
        sentence,
        evidence.seeds_to_settle(LIMIT) if outcome == "straddles" else None,
        {"norm_pinned": pinned, "seeds": seeds} if pinned else {},
    )


def _in_words(finding: Finding) -> str:
    if finding.untested:
        return "the growth of its activations was not measured"
    if finding.passes:
        pinned = finding.facts.get("norm_pinned", 0)
        if pinned and pinned == finding.facts["seeds"]:
            return "the network pins the norm of its activations, so D1 says nothing"
        return "its activations keep their scale"
    growth = GROWTH.show_interval(finding.intervals["growth"], finding.fires)
    if finding.fires:
        return f"one block multiplies the activations by {growth} and drowns the blocks before it"
    return f"one block may multiply the activations by {growth}"


SCALE = Diagnostic(
    id="D1",
    title="scale",
    meaning="the largest growth of the stream's norm in one block. The LayerNorm before the "
    "readout removes the scale again, so accuracy need not suffer. But the LayerNorm divides the "
    "true gradient by the same factor, and nothing measured against that gradient means much.",
    fires_when="the stream grows by more than the threshold in one block",
    quantities=(GROWTH, PINNED),
    thresholds=(LIMIT,),
    decide=_decide,
    in_words=_in_words,
    columns=(Column("growth (D1)", GROWTH),),
    chart=Chart("growth at the steepest block", LIMIT),
)
