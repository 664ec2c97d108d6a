"""Check the credit of one network on one batch."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from depthgauge.checks.checked_rule import PROGRESS, CheckedRule, Feedback
from depthgauge.checks.observed_batch import ObservedBatch
from depthgauge.checks.outcome import Check, Remark
from depthgauge.checks.randomness import depends_on_chance
from depthgauge.errors import one_line
from depthgauge.rules.contract import Credit, Rule

PRECISIONS = (torch.float32, torch.float64)


def credit_by_name(credit: Credit) -> dict[str, Tensor]:
    """Return the parts of a credit by their names in messages."""
    blocks = {f"the credit of block {i}": block for i, block in enumerate(credit.blocks)}
    return {"the credit of the embedding": credit.embed} | blocks


def observe_first_batch(checked: CheckedRule, progress: float = 0.5) -> tuple[Rule, ObservedBatch]:
    """Return a new rule that has drawn its feedback, and its first batch."""
    rule = checked.build()
    return rule, checked.observe(rule, checked.draw_feedback(rule, 0), progress=progress)


def answer(
    checked: CheckedRule, progress: float = 0.5, feedback: Feedback | None = None
) -> dict[str, Tensor]:
    """Return by name the credit that a new rule gives, and the feedback that it learns.

    If `feedback` is given, the rule gets this feedback and draws none itself.
    """
    rule = checked.build()
    kept = checked.draw_feedback(rule, 0) if feedback is None else feedback
    context = checked.observe(rule, kept, progress=progress).context
    credit, learned = rule.credit(context), rule.learn(context)
    return credit_by_name(credit) | {f"the learned {name!r}": t for name, t in learned.items()}


def declared(checked: CheckedRule) -> str | None:
    """Find anything that the rule uses but does not list in `needs`; remark on unused needs."""
    asked: set[str] = set()
    for progress in PROGRESS:
        rule, shown = observe_first_batch(checked.in_precision(torch.float32), progress)
        found = _undeclared(rule, shown)
        if found is not None:
            return found
        asked |= shown.offers.asked
    unused = sorted(rule.needs - asked)
    if unused:
        return Remark(f"`needs` lists {', '.join(unused)}, which was not used here")
    return None


def _undeclared(rule: Rule, shown: ObservedBatch) -> str | None:
    """Run the rule; return a sentence about an undeclared need that it used, or None."""
    failed: Exception | None = None
    try:
        for method in (rule.credit, rule.learn, rule.projected):
            method(shown.context)
    except Exception as error:
        failed = error
    hidden = shown.offers.hidden
    if hidden:
        every = ", ".join(map(repr, sorted({*rule.needs, *hidden})))
        return (
            f"it uses context.{hidden[0]}, which is not declared; write "
            f"needs = frozenset({{{every}}}), or do not use context.{hidden[0]}"
        )
    if type(failed) is LookupError:
        return str(failed)
    if failed is not None:
        raise failed
    return None


def shapes(checked: CheckedRule) -> str | None:
    """Find a block or embedding whose credit is missing or has another shape than the stream."""
    for progress in PROGRESS:
        rule, shown = observe_first_batch(checked.in_precision(torch.float32), progress)
        credit: object = rule.credit(shown.context)
        if not isinstance(credit, Credit):
            return (
                f"`credit` returned {type(credit).__name__}; "
                "return Credit(blocks=[…], embed=…) from depthgauge.rules.contract"
            )
        blocks, like = len(shown.states) - 1, shown.states[0].shape
        if len(credit.blocks) != blocks:
            return (
                f"there are {blocks} blocks, but `credit` returned {len(credit.blocks)} block "
                "credits; return one for each of h_1 … h_L, not for h_0"
            )
        for name, tensor in credit_by_name(credit).items():
            if not isinstance(tensor, Tensor):
                return f"{name} is {type(tensor).__name__}, not a tensor"
            if tensor.shape != like:
                return (
                    f"{name} has the shape {tuple(tensor.shape)}; give it the shape of "
                    f"context.states[0], (samples, d) = {tuple(like)}"
                )
    return None


def precision(checked: CheckedRule) -> str | None:
    """Find credit that has another precision than the states.

    The rule is checked with states in float32 and with states in float64.
    """
    for dtype in PRECISIONS:
        rule, shown = observe_first_batch(checked.in_precision(dtype))
        advice = "make new tensors like the states, as in torch.zeros_like(context.states[0])"
        try:
            credit = rule.credit(shown.context)
        except Exception as error:
            return f"with a network in {dtype} the rule raises {one_line(error)}; {advice}"
        for name, tensor in credit_by_name(credit).items():
            if tensor.dtype != dtype:
                return f"the states are {dtype}, but {name} is {tensor.dtype}; {advice}"
    return None


def finite(checked: CheckedRule) -> str | None:
    """Find infinite or NaN credit, in float32 and float64, at several stages of training."""
    for dtype in PRECISIONS:
        for progress in PROGRESS:
            rule, shown = observe_first_batch(checked.in_precision(dtype), progress)
            for name, tensor in credit_by_name(rule.credit(shown.context)).items():
                if not bool(tensor.isfinite().all()):
                    return (
                        f"{name} is not finite (progress {progress}, {dtype}); look for divisions "
                        "by zero, logarithms, and exponentials that overflow"
                    )
    return None


def untouched(checked: CheckedRule) -> str | None:
    """Find tensors of the context that the rule changes in place."""
    for progress in PROGRESS:
        rule, shown = observe_first_batch(checked, progress)
        for method in (rule.credit, rule.learn):
            method(shown.context)
            if shown.changed:
                return (
                    f"`{method.__name__}` changed context.{' and context.'.join(shown.changed)} in "
                    "place; make a new tensor (a + b instead of a += b, a.clamp instead of "
                    "a.clamp_), and return changed feedback from `learn`"
                )
    return None


def noise_only(checked: CheckedRule) -> str | None:
    """Find credit or learning that depends on random numbers other than context.noise."""
    for progress in PROGRESS:
        found = depends_on_chance(partial(answer, checked, progress))
        if found is not None:
            return f"the rule {found}; take noise from context.noise, sized by `noise_shape`"
    return None


NEEDS = Check("the rule runs, and uses nothing that `needs` does not declare", declared)
SHAPES = Check("credit is one (samples, d) tensor for each block and the embedding", shapes)
PRECISION = Check("credit has the precision of the states", precision)
CHECKS = [
    Check("credit is finite", finite),
    Check("no tensor of the context is changed in place", untouched),
]
RANDOM = Check("credit and learn draw no random numbers of their own", noise_only)
