"""Check `learn`, and feedback that is saved and loaded again."""

from __future__ import annotations

from collections.abc import Mapping

from safetensors.torch import load, save
from torch import Tensor

from depthgauge.checks.checked_rule import PROGRESS, CheckedRule, Feedback
from depthgauge.checks.credit_checks import PRECISIONS, answer, observe_first_batch
from depthgauge.checks.observed_batch import difference
from depthgauge.checks.outcome import Check
from depthgauge.errors import one_line


def save_and_load(feedback: Feedback) -> Feedback:
    """Write feedback as a checkpoint does, and read it back."""
    return load(save({name: tensor.contiguous() for name, tensor in feedback.items()}))


def learns_its_feedback(checked: CheckedRule) -> str | None:
    """Find learned tensors that are not in the feedback, or have another shape or dtype there."""
    for dtype in PRECISIONS:
        for progress in PROGRESS:
            rule, shown = observe_first_batch(checked.in_precision(dtype), progress)
            learned: object = rule.learn(shown.context)
            if not isinstance(learned, Mapping):
                return f"`learn` returned {type(learned).__name__}; return a dict, {{}} for none"
            for name, tensor in learned.items():
                wrong = _unfit(tensor, shown.feedback.get(name))
                if wrong is not None:
                    return f"`learn` returned {name!r}, {wrong}"
    return None


def _unfit(tensor: object, kept: Tensor | None) -> str | None:
    """Return why a learned tensor cannot replace the feedback tensor `kept`; None if it can."""
    if kept is None:
        return "which the feedback does not have; put its first value into `feedback`"
    if not isinstance(tensor, Tensor):
        return f"which is {type(tensor).__name__}, not a tensor"
    if tensor.shape != kept.shape:
        return f"of the shape {tuple(tensor.shape)}; the feedback has the shape {tuple(kept.shape)}"
    if tensor.dtype != kept.dtype:
        return f"in {tensor.dtype}; the feedback is in {kept.dtype}"
    return None if bool(tensor.isfinite().all()) else "which is not finite after one batch"


def restored(checked: CheckedRule) -> str | None:
    """Find a difference in credit between a rule and a copy restored from saved feedback."""
    advice = (
        "the rule needs something that is not in the feedback; put every tensor that it keeps into "
        "the dict that `feedback` returns, and read the tensors from context.feedback"
    )
    for progress in PROGRESS:
        kept = checked.draw_feedback(checked.build(), 0)
        drawn = answer(checked, progress)
        checked.draw_feedback(checked.build(), 1)
        try:
            again = answer(checked, progress, save_and_load(kept))
        except Exception as error:
            return f"a new rule with the saved feedback raises {one_line(error)}: {advice}"
        apart = difference(drawn, again)
        if apart is not None:
            return f"in a new rule with the saved feedback {apart}: {advice}"
    return None


LEARNS = Check("learn returns tensors that the feedback has", learns_its_feedback)
RESTORED = Check("feedback that was saved and restored gives the same credit", restored)
