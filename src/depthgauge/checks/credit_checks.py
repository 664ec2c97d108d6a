"""Checks of the credit of one network on one batch."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from depthgauge.checks.bench import PROGRESS, Bench, Feedback
from depthgauge.checks.observed_batch import Shown
from depthgauge.checks.outcome import Check, Remark
from depthgauge.checks.randomness import depends_on_chance
from depthgauge.errors import one_line
from depthgauge.rules.contract import Credit, Rule

PRECISIONS = (torch.float32, torch.float64)


def named(credit: Credit) -> dict[str, Tensor]:
    """The parts of a credit, by name."""
    blocks = {f"the credit of block {i}": block for i, block in enumerate(credit.blocks)}
    return {"the credit of the embedding": credit.embed} | blocks


def shown_to(bench: Bench, progress: float = 0.5) -> tuple[Rule, Shown]:
    """A fresh rule that has drawn its feedback, and its first batch."""
    rule = bench.fresh()
    return rule, bench.show(rule, bench.feedback(rule, 0), progress=progress)


def answer(
    bench: Bench, progress: float = 0.5, feedback: Feedback | None = None
) -> dict[str, Tensor]:
    """What a fresh rule gives and learns; with `feedback`, it has not drawn any itself."""
    rule = bench.fresh()
    kept = bench.feedback(rule, 0) if feedback is None else feedback
    context = bench.show(rule, kept, progress=progress).context
    credit, learned = rule.credit(context), rule.learn(context)
    return named(credit) | {f"the learned {name!r}": t for name, t in learned.items()}


def declared(bench: Bench) -> str | None:
    """Nothing that is not in `needs`; what is there and not used gets a remark."""
    asked: set[str] = set()
    for progress in PROGRESS:
        rule, shown = shown_to(bench.at(torch.float32), progress)
        found = _undeclared(rule, shown)
        if found is not None:
            return found
        asked |= shown.offers.asked
    unused = sorted(rule.needs - asked)
    if unused:
        return Remark(f"`needs` lists {', '.join(unused)}, which was not used here")
    return None


def _undeclared(rule: Rule, shown: Shown) -> str | None:
    """Ask the rule for everything; what it used that it did not declare."""
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
            f"needs = frozenset({{{every}}}), or do without"
        )
    if type(failed) is LookupError:
        return f"{failed}; define noise_shape(self, states)"
    if failed is not None:
        raise failed
    return None


def shapes(bench: Bench) -> str | None:
    """A `Credit` with a tensor like the stream for each block and for the embedding."""
    for progress in PROGRESS:
        rule, shown = shown_to(bench.at(torch.float32), progress)
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
        for name, tensor in named(credit).items():
            if not isinstance(tensor, Tensor):
                return f"{name} is {type(tensor).__name__}, not a tensor"
            if tensor.shape != like:
                return (
                    f"{name} has the shape {tuple(tensor.shape)}; expected is (samples, d) = "
                    f"{tuple(like)}, like context.states[0]"
                )
    return None


def precision(bench: Bench) -> str | None:
    """Training may run in float32 or float64, and readings are taken in float64."""
    for dtype in PRECISIONS:
        rule, shown = shown_to(bench.at(dtype))
        advice = "make new tensors like the states, as in torch.zeros_like(context.states[0])"
        try:
            credit = rule.credit(shown.context)
        except Exception as error:
            return f"with a network in {dtype} it raises {one_line(error)}; {advice}"
        for name, tensor in named(credit).items():
            if tensor.dtype != dtype:
                return f"the states are {dtype}, but {name} is {tensor.dtype}; {advice}"
    return None


def finite(bench: Bench) -> str | None:
    """No infinity, no NaN, in either precision, at any stage of training."""
    for dtype in PRECISIONS:
        for progress in PROGRESS:
            rule, shown = shown_to(bench.at(dtype), progress)
            for name, tensor in named(rule.credit(shown.context)).items():
                if not bool(tensor.isfinite().all()):
                    return (
                        f"{name} is not finite (progress {progress}, {dtype}); look for divisions "
                        "by zero, logarithms, and exponentials that overflow"
                    )
    return None


def untouched(bench: Bench) -> str | None:
    """States, target, error, gradient, noise and feedback stay as they were shown."""
    for progress in PROGRESS:
        rule, shown = shown_to(bench, progress)
        for method in (rule.credit, rule.learn):
            method(shown.context)
            if shown.changed:
                return (
                    f"`{method.__name__}` changed context.{' and context.'.join(shown.changed)} in "
                    "place; make a new tensor (a + b instead of a += b, a.clamp instead of "
                    "a.clamp_), and return changed feedback from `learn`"
                )
    return None


def noise_only(bench: Bench) -> str | None:
    """Credit and learning are functions of what is shown; noise is shown too."""
    for progress in PROGRESS:
        found = depends_on_chance(partial(answer, bench, progress))
        if found is not None:
            return f"the rule {found}; take noise from context.noise, sized by `noise_shape`"
    return None


NEEDS = Check("the rule runs, and uses nothing that `needs` does not declare", declared)
SHAPES = Check("credit is one (samples, d) tensor for each block and the embedding", shapes)
PRECISION = Check("credit has the precision of the states", precision)
CHECKS = [
    Check("credit is finite", finite),
    Check("nothing that is shown is changed in place", untouched),
]
RANDOM = Check("credit and learn draw no random numbers of their own", noise_only)
