"""D3, depth utility: does training the blocks gain accuracy?"""

from __future__ import annotations

from statistics import fmean

from depthgauge.diagnostics.contract import Chart, Column, Diagnostic, Quantity, Threshold
from depthgauge.diagnostics.evidence import RuleEvidence
from depthgauge.diagnostics.finding import Finding
from depthgauge.diagnostics.interval_text import write_points
from depthgauge.diagnostics.intervals import WIDEST_SHARE, interval_with_noise
from depthgauge.number_format import exact

GAIN = Quantity(
    name="depth_gain",
    label="gain",
    from_network=lambda network: network.depth.value,
    form="{:+.1f}",
    factor=100,
    unit="points",
    widest=WIDEST_SHARE,
)

NOISE = Quantity(
    name="depth_gain_noise",
    label="noise of the gain",
    from_network=lambda network: network.depth.noise,
    form="{:.1f}",
    factor=100,
    unit="points",
)
"""The standard error that comes from the choice of evaluation samples."""

LEAST = Threshold(
    "depth_gain",
    0.02,
    GAIN,
    "below",
    "D3 fires below this gain in accuracy; it is not applicable where backpropagation itself "
    "gains less.",
)


def _decide(evidence: RuleEvidence) -> Finding:
    """Compare the gain over frozen blocks with the threshold.

    If backpropagation gains less than the threshold, the diagnostic does not apply. The interval
    includes the spread over seeds and, if it is known, the noise of the evaluation set. The
    published protocol leaves out the noise.
    """
    gain, least = evidence.interval(GAIN), evidence.limit(LEAST)
    if gain is None:
        return Finding("D3", "untested", {}, "depth utility: not measured (no frozen baseline)")
    if evidence.bp_gain is not None and evidence.bp_gain < least:
        sentence = (
            f"depth utility: not applicable, backpropagation itself gains only "
            f"{100 * evidence.bp_gain:.1f} points on this task"
        )
        return Finding("D3", "untested", {"depth_gain": gain}, sentence)
    published = evidence.outcome(gain, LEAST)
    if noise := evidence.values(NOISE):
        gain = interval_with_noise(evidence.values(GAIN), noise, evidence.error_rate)
    outcome, shown = evidence.outcome(gain, LEAST), write_points(GAIN, gain, least)
    return Finding(
        "D3",
        outcome,
        {"depth_gain": gain},
        f"depth utility: training the blocks gains {shown} points over the frozen baseline "
        f"(threshold {exact(100 * least)})",
        _more_seeds(evidence) if outcome == "straddles" else None,
        published=None if published == outcome else published,
    )


def _more_seeds(evidence: RuleEvidence) -> int | None:
    """Estimate how many more seeds settle the finding; None if only more samples can settle it."""
    noise = evidence.values(NOISE)
    if noise:
        without_spread = interval_with_noise(
            [fmean(evidence.values(GAIN))], noise, evidence.error_rate
        )
        if evidence.outcome(without_spread, LEAST) == "straddles":
            return None
    return evidence.seeds_to_settle(LEAST)


def _in_words(finding: Finding) -> str:
    gain = finding.intervals.get("depth_gain")
    if gain is None:
        return "the accuracy gained by training its blocks was not measured"
    text = f"training the blocks changes accuracy by {GAIN.show_interval(gain)} points"
    return {
        "fires": f"{text}: {'too little' if gain.center > 0 else 'no gain'}",
        "straddles": f"{text}: it is open whether they help",
        "untested": f"{text}, but depth does not help on this task",
    }.get(finding.outcome, text)


DEPTH_UTILITY = Diagnostic(
    id="D3",
    title="depth utility",
    meaning="accuracy with all blocks trained, minus accuracy with frozen blocks, paired by seed.",
    fires_when="training the blocks gains less accuracy than the threshold",
    quantities=(GAIN, NOISE),
    thresholds=(LEAST,),
    decide=_decide,
    in_words=_in_words,
    columns=(Column("gain, points (D3)", GAIN),),
    chart=Chart("accuracy − frozen (points)", LEAST),
)
