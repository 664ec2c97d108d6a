"""Checks of `learn`, and of feedback that is saved and taken up again."""

from __future__ import annotations

from collections.abc import Mapping

from safetensors.torch import load, save
from torch import Tensor

from depthgauge.checks.bench import PROGRESS, Bench, Feedback
from depthgauge.checks.credit_checks import PRECISIONS, answer, shown_to
from depthgauge.checks.observed_batch import difference
from depthgauge.checks.outcome import Check
from depthgauge.errors import one_line


def reloaded(feedback: Feedback) -> Feedback:
    """The feedback as it comes back from a checkpoint."""
    return load(save({name: tensor.contiguous() for name, tensor in feedback.items()}))


def learns_its_feedback(bench: Bench) -> str | None:
    """Only tensors that the feedback has, of the same shape and dtype, finite."""
    for dtype in PRECISIONS:
        for progress in PROGRESS:
            rule, shown = shown_to(bench.at(dtype), progress)
            learned: object = rule.learn(shown.context)
            if not isinstance(learned, Mapping):
                return f"`learn` returned {type(learned).__name__}; return a dict, {{}} for none"
            for name, tensor in learned.items():
                wrong = _unfit(tensor, shown.feedback.get(name))
                if wrong is not None:
                    return f"`learn` returned {name!r}, {wrong}"
    return None


def _unfit(tensor: object, kept: Tensor | None) -> str | None:
    """Why a learned tensor cannot take the place of what was kept."""
    if kept is None:
        return "which the feedback does not have; put its first value into `feedback`"
    if not isinstance(tensor, Tensor):
        return f"which is {type(tensor).__name__}, not a tensor"
    if tensor.shape != kept.shape:
        return f"of the shape {tuple(tensor.shape)}; the feedback's has {tuple(kept.shape)}"
    if tensor.dtype != kept.dtype:
        return f"in {tensor.dtype}; the feedback's is {kept.dtype}"
    return None if bool(tensor.isfinite().all()) else "which is not finite after one batch"


def restored(bench: Bench) -> str | None:
    """A rule that never drew feedback gives the same credit with what was saved."""
    advice = (
        "something that it needs is not in the feedback; put every tensor that it keeps into the "
        "dict that `feedback` returns, and read it from context.feedback"
    )
    for progress in PROGRESS:
        kept = bench.feedback(bench.fresh(), 0)
        drawn = answer(bench, progress)
        bench.feedback(bench.fresh(), 1)
        try:
            again = answer(bench, progress, reloaded(kept))
        except Exception as error:
            return f"a fresh rule with the saved feedback raises {one_line(error)}: {advice}"
        apart = difference(drawn, again)
        if apart is not None:
            return f"with the saved feedback in a fresh rule {apart}: {advice}"
    return None


LEARNS = Check("learn returns tensors that the feedback has", learns_its_feedback)
RESTORED = Check("feedback that was saved and restored gives the same credit", restored)
