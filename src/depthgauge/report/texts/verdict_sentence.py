"""The sentence on a rule's verdict and its reasons, for somebody who does not know the project."""

from __future__ import annotations

from depthgauge.diagnostics.used_depth import LEAST_OF_BP, LEAST_SEEDS, UsedDepth
from depthgauge.number_format import percent
from depthgauge.report.texts.diagnostics import finding_in_words
from depthgauge.results.floors import LINEAR, Floors
from depthgauge.results.rule import RuleResult
from depthgauge.verdict.words import Word

CLAIMS: dict[Word, str] = {
    "trustworthy": "trains the depth",
    "shallow": "trains fewer blocks than bp",
    "walk back": "is not shown to train the depth",
    "inconclusive": "may or may not train the depth",
    "no alarm, depth untested": "raises no alarm, but its depth was not tested",
    "no blocks": "has no blocks, so there is nothing to judge",
    "not judged": "cannot be judged yet",
}
"""The claim that each verdict makes about a rule."""

TWICE = "over leaving them untrained, and over training them on noise"
"""The two comparisons in which a used block must gain accuracy."""


def verdict_sentence(rule: RuleResult, floors: Floors | None = None) -> str:
    """Return a sentence: the claim that a rule's verdict makes, and the reasons for it."""
    parts = (*_reasons(rule), _peak(rule), _floor(rule.label, floors))
    reasons = "; ".join(filter(None, parts))
    return f"{rule.label} {CLAIMS[rule.verdict.word]}{': ' if reasons else ''}{reasons}."


def blocks_clause(depth: UsedDepth | None) -> str:
    """Return how many blocks gain accuracy, as a clause; empty without a ladder."""
    if depth is None:
        return ""
    of = f"of {depth.blocks} blocks"
    if 1 < depth.seeds < LEAST_SEEDS:
        return "two seeds are too few to count the blocks that gain accuracy"
    if depth.seeds == 1:
        return f"{depth.rungs_in_use} {of} {_gain(depth.rungs_in_use)} accuracy in the one seed"
    if depth.low == depth.high:
        return f"{depth.low} {of} {_gain(depth.low)} accuracy"
    if depth.value == depth.high:
        return f"{depth.value} {of} gain accuracy, at least {depth.low} of them for sure"
    between = f"between {depth.low} and {depth.high} {of} gain accuracy"
    return f"{between}: {depth.seeds} seeds do not tell" if depth.is_open else between


def _gain(blocks: int) -> str:
    return "gains" if blocks == 1 else "gain"


def _reasons(rule: RuleResult) -> list[str]:
    verdict, depth = rule.verdict, rule.used_depth
    if verdict.reason:
        return [] if verdict.word == "no blocks" else [verdict.reason]
    blocks = blocks_clause(depth)
    match verdict.word:
        case "trustworthy":
            return [f"{blocks}, {TWICE}"]
        case "walk back":
            fired = [f"{finding_in_words(f)} (alarm {f.id})" for f in verdict.findings if f.fires]
            return [*fired, blocks]
        case "shallow":
            return [blocks, f"with bp, {blocks_clause(depth and depth.bp)}"]
        case "inconclusive":
            return [str(verdict).removeprefix("inconclusive (").removesuffix(")"), blocks]
        case _:
            return [why_untested(rule), blocks]


def why_untested(rule: RuleResult) -> str:
    """Return why the depth of a rule was not tested."""
    depth = rule.used_depth
    untested = [finding_in_words(f) for f in rule.verdict.findings if f.untested]
    if untested:
        return untested[0]
    if depth is None or not depth.has_ladder:
        return "too few rungs of its ladder were trained"
    bp = depth if depth.is_bp else depth.bp
    if bp is None or not bp.has_ladder:
        return "bp was not trained with a ladder of its own, to compare with"
    return f"bp itself is not shown to use {LEAST_OF_BP} blocks on this task"


def _peak(rule: RuleResult) -> str:
    """Return a clause on the rung that is shown to beat the whole network; empty without one."""
    depth = rule.used_depth
    if depth is None or depth.worse_than is None:
        return ""
    best = next((rung for rung in rule.ladder if rung.k == depth.worse_than), None)
    last = "block" if depth.worse_than == 1 else f"{depth.worse_than} blocks"
    trained = f"the last {last} trained alone"
    reached = f" ({percent(best.mean)} %)" if best and best.mean is not None else ""
    whole = f"all {depth.blocks} trained together ({percent(rule.accuracy.mean)} %)"
    return f"{trained if depth.worse_than else 'no block trained'}{reached} is better than {whole}"


def _floor(label: str, floors: Floors | None) -> str:
    above = floors.above_linear.get(label) if floors else None
    is_above = above is None or above.is_shown
    return "" if is_above else f"it is not shown to beat a {LINEAR} of the input"
