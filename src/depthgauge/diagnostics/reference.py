"""D2, reference: is the true gradient large enough that a comparison with it means something?"""

from __future__ import annotations

from depthgauge.diagnostics.contract import Chart, Column, Diagnostic, Quantity, Threshold
from depthgauge.diagnostics.evidence import RuleEvidence
from depthgauge.diagnostics.finding import Finding, Outcome
from depthgauge.diagnostics.interval_text import write_interval
from depthgauge.diagnostics.intervals import WIDEST_FACTOR, Interval
from depthgauge.number_format import exact

GRADIENT = Quantity(
    name="gradient",
    label="‖g_L‖",
    from_network=lambda network: network.reference.gradient,
    from_epoch=lambda line: line["g_norm"][-1] or 0.0 if "g_norm" in line else None,
    if_diverged=0.0,
    log=True,
    widest=WIDEST_FACTOR,
    unit="of each sample's own loss",
)
SHARE = Quantity(
    name="error_share",
    label="‖g_L‖/‖e‖",
    from_network=lambda network: network.reference.share,
    from_epoch=lambda line: line["g_over_e"] or 0.0 if "g_over_e" in line else None,
    if_diverged=0.0,
    log=True,
    widest=WIDEST_FACTOR,
)
NUMERICS = Quantity(
    name="numerics",
    label="numerics",
    from_network=lambda network: network.numerics.value,
    unit="cosine",
)

FLOOR = Threshold(
    "gradient",
    1.28e-5,
    GRADIENT,
    "below",
    "D2 fires only if the median ‖g_L‖, per sample, is below this: 1e-7 for the mean loss of a "
    "batch of 128. Published: healthy at least 1.0e-4, degenerate at most 4.2e-9 (both for a batch "
    "of 128).",
)
SHARE_FLOOR = Threshold(
    "error_share",
    1.4e-5,
    SHARE,
    "below",
    "D2 fires only if the median ‖g_L‖/‖e‖ is below this too: there is an error, but it does not "
    "come through. Without this condition D2 would flag confident, healthy networks.",
)
LEAST_COSINE = Threshold(
    "numerics",
    0.99,
    NUMERICS,
    "below",
    "D2 fires by this threshold alone if the cosine of the measured gradient with the float64 "
    "gradient is below it in every seed.",
)


def _decide(evidence: RuleEvidence) -> Finding:
    """Fire if the gradient and its share of the error are low.

    Fire also if the gradient is numerically wrong in every seed.
    """
    gradient, share = evidence.interval(GRADIENT), evidence.interval(SHARE)
    if gradient is None:
        return Finding("D2", "untested", {}, "reference: not measured")
    if share is None or len(evidence.values(SHARE)) < len(evidence.seeds):
        return _without_shares(gradient, evidence)
    wrong, seeds = (
        sum(v < evidence.limit(LEAST_COSINE) for v in evidence.values(NUMERICS)),
        len(evidence.seeds),
    )
    floor, share_floor = evidence.limit(FLOOR), evidence.limit(SHARE_FLOOR)
    sides = evidence.outcome(gradient, FLOOR), evidence.outcome(share, SHARE_FLOOR)
    outcome: Outcome = "straddles"
    if wrong == seeds or sides == ("fires", "fires"):
        outcome = "fires"
    elif not wrong and "passes" in sides:
        outcome = "passes"
    sentence = (
        f"reference: the last gradient is {write_interval(GRADIENT, gradient, floor)} "
        f"(floor {exact(floor)}), {write_interval(SHARE, share, share_floor)} of the error "
        f"(floor {exact(share_floor)})"
    )
    if wrong:
        sentence += f"; numerically wrong in {wrong} of {seeds} seeds (cosine with the "
        sentence += f"float64 gradient below {exact(evidence.limit(LEAST_COSINE))})"
    return Finding(
        "D2",
        outcome,
        {"gradient": gradient, "error_share": share},
        sentence,
        None if outcome != "straddles" or wrong else _seeds_to_settle(evidence, gradient, share),
        {"numerically_wrong": wrong, "seeds": seeds},
    )


def _without_shares(gradient: Interval, evidence: RuleEvidence) -> Finding:
    """Decide from the gradient ‖g_L‖ alone, if its share of the error was not recorded.

    The diagnostic passes if the gradient is above its floor, and is untested if it is not: a
    network that answers right with confidence has a low gradient too.
    """
    floor = evidence.limit(FLOOR)
    last = write_interval(GRADIENT, gradient, floor)
    sentence = f"reference: the last gradient is {last} (floor {exact(floor)})"
    if evidence.outcome(gradient, FLOOR) == "passes":
        return Finding("D2", "passes", {"gradient": gradient}, sentence)
    sentence += "; its share of the error was not recorded, so D2 cannot say whether that is bad"
    return Finding("D2", "untested", {"gradient": gradient}, sentence)


def _seeds_to_settle(evidence: RuleEvidence, gradient: Interval, share: Interval) -> int | None:
    """Estimate how many more seeds settle the outcome.

    It is settled if the gradient or its share of the error is above its floor, or if both are below
    their floors.
    """
    counts, passing = [], []
    for interval, floor in ((gradient, FLOOR), (share, SHARE_FLOOR)):
        more = evidence.seeds_to_settle(floor)
        counts.append(more)
        if more is not None and interval.center >= evidence.limit(floor):
            passing.append(more)
    if passing:
        return min(passing)
    known = [more for more in counts if more is not None]
    return max(known) if len(known) == len(counts) else None


def _in_words(finding: Finding) -> str:
    if finding.passes:
        return "the gradient arrives"
    if finding.untested:
        return "too little was recorded to say whether the gradient arrives"
    gradient = GRADIENT.show_interval(finding.intervals["gradient"], finding.fires)
    wrong, seeds = finding.facts.get("numerically_wrong", 0), finding.facts.get("seeds", 0)
    if not wrong:
        vanished = "has vanished" if finding.fires else "may have vanished"
        return f"the gradient {vanished}: {gradient} at the top"
    where = "every seed" if wrong == seeds else f"{wrong} of {seeds} seeds"
    if finding.fires and wrong != seeds:
        return f"the gradient has vanished, and is numerically wrong in {where}: {gradient}"
    return f"the gradient at the top is numerically wrong in {where}: {gradient}"


REFERENCE = Diagnostic(
    id="D2",
    title="reference",
    meaning="the norm of the true gradient at the top of the stream, by itself and as a share of "
    "the error. Where both are below their floors, Γ compares credit with noise.",
    fires_when="both the gradient and its share of the error are below their floors, or the "
    "gradient is numerically wrong in every seed",
    quantities=(GRADIENT, SHARE, NUMERICS),
    thresholds=(FLOOR, SHARE_FLOOR, LEAST_COSINE),
    decide=_decide,
    in_words=_in_words,
    columns=(Column("‖g_L‖ (D2)", GRADIENT),),
    chart=Chart("‖g_L‖ of a sample", FLOOR, "low"),
)
