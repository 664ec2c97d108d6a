"""D2s, stability: do different batches push the middle of the network the same way?"""

from __future__ import annotations

from depthgauge.diagnostics.contract import Chart, Column, Diagnostic, Quantity, Threshold
from depthgauge.diagnostics.evidence import RuleEvidence
from depthgauge.diagnostics.finding import Finding
from depthgauge.diagnostics.interval_text import write_interval
from depthgauge.diagnostics.intervals import WIDEST_SHARE
from depthgauge.number_format import exact

COSINE = Quantity(
    name="stability",
    label="stability",
    from_network=lambda network: network.stability.value,
    unit="cosine",
    widest=WIDEST_SHARE,
)

LIMIT = Threshold(
    "stability",
    0.30,
    COSINE,
    "above",
    "D2s reports drift rather than noise above this cosine; it is never a verdict by itself.",
)


def _decide(evidence: RuleEvidence) -> Finding:
    cosine = evidence.interval(COSINE)
    if cosine is None:
        return Finding("D2s", "untested", {}, "stability: not measured")
    outcome, limit = evidence.outcome(cosine, LIMIT), evidence.limit(LIMIT)
    return Finding(
        "D2s",
        outcome,
        {"stability": cosine},
        f"stability: the cosine between batches is {write_interval(COSINE, cosine, limit)} "
        f"(drift rather than noise above {exact(limit)})",
        evidence.seeds_to_settle(LIMIT) if outcome == "straddles" else None,
    )


def _in_words(finding: Finding) -> str:
    if finding.untested:
        return "the agreement of batches was not measured"
    cosine = COSINE.show_interval(finding.intervals["stability"], finding.fires)
    return {
        "fires": f"batches share one drift: their gradients have a cosine of {cosine}",
        "straddles": f"batches may share one drift: their gradients have a cosine of {cosine}",
    }.get(finding.outcome, "batches do not share one drift")


STABILITY = Diagnostic(
    id="D2s",
    title="stability",
    meaning="the cosine between the mean gradients of different batches in the middle of the "
    "network. Above its threshold it means drift rather than noise. It is never a verdict by "
    "itself.",
    fires_when="the gradients of different batches agree by more than the threshold",
    quantities=(COSINE,),
    thresholds=(LIMIT,),
    decide=_decide,
    in_words=_in_words,
    columns=(Column("stability (D2s)", COSINE),),
    chart=Chart("cosine between batches", LIMIT, "drift"),
    counts=False,
)
