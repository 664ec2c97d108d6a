"""Check a rule on many runs at once, on a run among other runs, and on one batch after another."""

from __future__ import annotations

import torch
from torch import Tensor

from depthgauge.checks.checked_rule import PROGRESS, RUNS, CheckedRule, Feedback
from depthgauge.checks.credit_checks import credit_by_name
from depthgauge.checks.learning_checks import save_and_load
from depthgauge.checks.observed_batch import difference
from depthgauge.checks.outcome import Check, Remark
from depthgauge.errors import one_line
from depthgauge.rules.contract import Rule

LIFTING = (
    "use torch.func.grad instead of autograd or backward, no .item(), no `if` on a tensor's "
    "values, nothing written into a tensor made by torch.zeros; or set batched = False"
)


def _one_by_one(rule: Rule) -> Rule:
    """Return a copy of the rule that computes the credit of one run at a time."""
    single = type(rule.__class__.__name__, (rule.__class__,), {"batched": False})
    copy: Rule = single(rule.options)
    return copy


def lifted(checked: CheckedRule) -> str | None:
    """Compute credit for all runs at once (`vmap`) and for each run alone; find a difference."""
    if not checked.build().batched:
        return Remark("batched = False: credit is computed one run at a time, which is slower")
    feedback = checked.draw_all_feedback()
    for progress in PROGRESS:
        try:
            together = checked.ask(checked.lift(checked.build(), feedback), 0, progress)
        except Exception as error:
            return f"vmap over runs does not work: {one_line(error)}; {LIFTING}"
        for run in RUNS:
            alone = checked.lift(_one_by_one(checked.build()), feedback, [run])
            apart = difference(checked.ask(alone, 0, progress), _of_run(together, run))
            if apart is not None:
                return f"vmap over runs gives another result: {apart}; {LIFTING}"
    return None


def _of_run(answers: dict[str, Tensor], run: int) -> dict[str, Tensor]:
    return {name: tensor[run : run + 1] for name, tensor in answers.items()}


def lifted_over_feedback(checked: CheckedRule) -> str | None:
    """Compute credit for several feedbacks at once (`vmap`) and for each alone; find a difference.

    The null calibration uses `vmap` in this way: over fresh feedback, on one batch.
    """
    if not checked.build().batched:
        return None
    drawn = checked.draw_all_feedback()
    shown, stacked = checked.observe(checked.build(), drawn[0]), _stacked(drawn)

    def credit(feedback: Feedback) -> dict[str, Tensor]:
        return credit_by_name(checked.build().credit(shown.context_with(feedback)))

    try:
        together = torch.func.vmap(credit)(stacked) if stacked else {}
    except Exception as error:
        return f"vmap over fresh feedback does not work: {one_line(error)}; {LIFTING}"
    for run, feedback in enumerate(drawn if stacked else []):
        apart = difference(_leading(credit(feedback)), _of_run(together, run))
        if apart is not None:
            return f"vmap over fresh feedback gives another result: {apart}; {LIFTING}"
    return None


def _stacked(drawn: list[Feedback]) -> Feedback:
    return {name: torch.stack([feedback[name] for feedback in drawn]) for name in drawn[0]}


def _leading(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name: tensor.unsqueeze(0) for name, tensor in tensors.items()}


def projects(checked: CheckedRule) -> str | None:
    """Find credit that differs from s·B_lᵀ, if the rule's method `projected` returns a source s.

    B_l is the feedback matrix of layer l.
    """
    rule = checked.build()
    shown = checked.observe(rule, checked.draw_feedback(rule, 0), progress=1.0)
    source = rule.projected(shown.context)
    if source is None:
        return None
    advice = "override `projected` to return None"
    if "B" not in shown.feedback:
        return (
            f"`projected` says that the credit is s·B_lᵀ, but there is no feedback['B']; {advice}"
        )
    matrices, blocks = shown.feedback["B"], len(shown.states) - 1
    if len(matrices) < max(blocks, 1):
        return (
            f"`projected` says that the credit is s·B_lᵀ, but feedback['B'] has {len(matrices)} "
            f"matrices for {blocks} blocks; {advice}"
        )
    credit = rule.credit(shown.context)
    formed = [source @ matrix.T for matrix in matrices]
    expected = dict(zip(credit_by_name(credit), [formed[0], *formed[:blocks]], strict=True))
    apart = difference(credit_by_name(credit), expected)
    if apart is not None:
        return f"`projected` says that the credit is s·B_lᵀ, but {apart}; {advice}"
    return None


def other_runs(checked: CheckedRule) -> str | None:
    """Find a run whose credit depends on the other runs."""
    feedback = checked.draw_all_feedback()
    together = checked.ask(checked.lift(checked.build(), feedback))
    for run in RUNS:
        alone = checked.ask(checked.lift(checked.build(), feedback, [run]))
        apart = difference(alone, _of_run(together, run))
        if apart is not None:
            return (
                f"run {run} gets other credit among {len(RUNS)} runs than alone ({apart}): the "
                "rule keeps something from run to run; keep nothing on self or in the module, and "
                "put what a run needs into its feedback"
            )
    return None


def earlier_batches(checked: CheckedRule) -> str | None:
    """Find a difference in credit between an uninterrupted run and a resumed run.

    The resumed run has a new rule, which gets the saved feedback of the uninterrupted run.
    """
    advice = (
        "the rule keeps something between batches that is not in the feedback; put it there, and "
        "return it from `learn` when it changes"
    )
    uninterrupted = checked.lift(checked.build(), checked.draw_all_feedback())
    try:
        checked.ask(uninterrupted, 0)
        checked.ask(uninterrupted, 1)
        saved = [save_and_load(uninterrupted.feedback_of(run)) for run in RUNS]
        uninterrupted.start_epoch(1)
        expected = checked.ask(uninterrupted, 2)
    except Exception as error:
        return f"on a later batch the rule raises {one_line(error)}: {advice}"
    resumed = checked.lift(checked.build(), saved)
    resumed.start_epoch(1)
    apart = difference(expected, checked.ask(resumed, 2))
    return None if apart is None else f"after a restart {apart}: {advice}"


LIFTED = [
    Check("many runs at once get the same credit as one run at a time", lifted),
    Check("many feedbacks at once give the same credit as one at a time", lifted_over_feedback),
    Check("the credit is a projection of what `projected` returns", projects),
]
CHECKS = [
    Check("a run's credit does not depend on other runs", other_runs),
    Check("a run that is stopped and resumed gets the same credit", earlier_batches),
]
