"""Checks of many runs at once: lifted over them, apart from each other, and batch after batch."""

from __future__ import annotations

import torch
from torch import Tensor

from depthgauge.checks.bench import PROGRESS, RUNS, Bench, Feedback
from depthgauge.checks.credit_checks import named
from depthgauge.checks.learning_checks import reloaded
from depthgauge.checks.observed_batch import difference
from depthgauge.checks.outcome import Check, Remark
from depthgauge.errors import one_line
from depthgauge.rules.contract import Rule

LIFTING = (
    "use torch.func.grad instead of autograd or backward, no .item(), no `if` on a tensor's "
    "values, nothing written into a tensor made by torch.zeros; or set batched = False"
)


def _one_by_one(rule: Rule) -> Rule:
    """The same rule, asked for one run at a time."""
    single = type(rule.__class__.__name__, (rule.__class__,), {"batched": False})
    apart: Rule = single(rule.options)
    return apart


def lifted(bench: Bench) -> str | None:
    """`torch.func.vmap` over the runs gives what asking one by one gives."""
    if not bench.fresh().batched:
        return Remark("batched = False: it is asked run by run, which is slower")
    feedback = bench.all_feedback()
    for progress in PROGRESS:
        try:
            together = bench.ask(bench.lift(bench.fresh(), feedback), 0, progress)
        except Exception as error:
            return f"it cannot be lifted over runs: {one_line(error)}; {LIFTING}"
        for run in RUNS:
            alone = bench.lift(_one_by_one(bench.fresh()), feedback, [run])
            apart = difference(bench.ask(alone, 0, progress), _of_run(together, run))
            if apart is not None:
                return f"lifted over runs it gives something else, {apart}; {LIFTING}"
    return None


def _of_run(answers: dict[str, Tensor], run: int) -> dict[str, Tensor]:
    return {name: tensor[run : run + 1] for name, tensor in answers.items()}


def lifted_over_feedback(bench: Bench) -> str | None:
    """The null calibration asks about one batch with many feedbacks at once."""
    if not bench.fresh().batched:
        return None
    drawn = bench.all_feedback()
    shown, stacked = bench.show(bench.fresh(), drawn[0]), _stacked(drawn)

    def credit(feedback: Feedback) -> dict[str, Tensor]:
        return named(bench.fresh().credit(shown.context_with(feedback)))

    try:
        together = torch.func.vmap(credit)(stacked) if stacked else {}
    except Exception as error:
        return f"it cannot be lifted over fresh feedback: {one_line(error)}; {LIFTING}"
    for run, one in enumerate(drawn if stacked else []):
        apart = difference(_leading(credit(one)), _of_run(together, run))
        if apart is not None:
            return f"lifted over fresh feedback it gives something else, {apart}; {LIFTING}"
    return None


def _stacked(drawn: list[Feedback]) -> Feedback:
    return {name: torch.stack([one[name] for one in drawn]) for name in drawn[0]}


def _leading(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name: tensor.unsqueeze(0) for name, tensor in tensors.items()}


def projects(bench: Bench) -> str | None:
    """Where `projected` names a source s, the credit is s·B_lᵀ."""
    rule = bench.fresh()
    shown = bench.show(rule, bench.feedback(rule, 0), progress=1.0)
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
        return f"`projected` wants a matrix for each of {blocks} blocks in feedback['B']; {advice}"
    credit = rule.credit(shown.context)
    formed = [source @ matrix.T for matrix in matrices]
    expected = dict(zip(named(credit), [formed[0], *formed[:blocks]], strict=True))
    apart = difference(named(credit), expected)
    if apart is not None:
        return f"`projected` says that the credit is s·B_lᵀ, but {apart}; {advice}"
    return None


def other_runs(bench: Bench) -> str | None:
    """A run's credit alone is its credit among others."""
    feedback = bench.all_feedback()
    together = bench.ask(bench.lift(bench.fresh(), feedback))
    for run in RUNS:
        alone = bench.ask(bench.lift(bench.fresh(), feedback, [run]))
        apart = difference(alone, _of_run(together, run))
        if apart is not None:
            return (
                f"among {len(RUNS)} runs, run {run} gets other credit than alone ({apart}): the "
                "rule carries something from run to run; keep nothing on self or in the module, "
                "and put what a run needs into its feedback"
            )
    return None


def earlier_batches(bench: Bench) -> str | None:
    """A rule that goes on and one that takes up the saved feedback do the same."""
    advice = (
        "the rule keeps something between batches that is not in the feedback; put it there, and "
        "return it from `learn` when it changes"
    )
    going_on = bench.lift(bench.fresh(), bench.all_feedback())
    try:
        bench.ask(going_on, 0)
        bench.ask(going_on, 1)
        saved = [reloaded(going_on.feedback_of(run)) for run in RUNS]
        going_on.start_epoch(1)
        on = bench.ask(going_on, 2)
    except Exception as error:
        return f"on a later batch it raises {one_line(error)}: {advice}"
    resumed = bench.lift(bench.fresh(), saved)
    resumed.start_epoch(1)
    apart = difference(on, bench.ask(resumed, 2))
    return None if apart is None else f"after a restart {apart}: {advice}"


LIFTED = [
    Check("many runs at once get what they get one by one", lifted),
    Check("many fresh feedbacks at once give what they give one by one", lifted_over_feedback),
    Check("the credit is the projection that `projected` names", projects),
]
CHECKS = [
    Check("a run's credit does not depend on other runs", other_runs),
    Check("a run that stops and goes on gets the same credit", earlier_batches),
]
