"""Check the feedback that a rule keeps for a run."""

from __future__ import annotations

from safetensors.torch import save
from torch import Tensor

from depthgauge.checks.checked_rule import RUNS, SEEDS, CheckedRule
from depthgauge.checks.outcome import Check, Remark
from depthgauge.checks.randomness import depends_on_chance


def _drawn(checked: CheckedRule, run: int = 0) -> dict[str, Tensor]:
    return checked.draw(checked.build(), run)


def named_tensors(checked: CheckedRule) -> str | None:
    """Find feedback that is not a dict of finite tensors by name."""
    kept: object = _drawn(checked)
    if not isinstance(kept, dict):
        return f"`feedback` returned {type(kept).__name__}; return a dict of tensors, {{}} for none"
    for name, tensor in kept.items():
        if not isinstance(name, str):
            return f"the key {name!r} of the feedback is not a string; use a name such as 'B'"
        if not isinstance(tensor, Tensor):
            return (
                f"feedback[{name!r}] is {type(tensor).__name__}, not a tensor; write a number as "
                "torch.tensor(…), and a network as one tensor for each weight"
            )
        if not bool(tensor.isfinite().all()):
            return f"feedback[{name!r}] has infinite or NaN values; return finite tensors"
    return None


def can_be_saved(checked: CheckedRule) -> str | None:
    """Find feedback that a checkpoint cannot hold, such as tensors that share memory."""
    kept = _drawn(checked)
    try:
        save({name: tensor.contiguous() for name, tensor in kept.items()})
    except Exception as error:
        memory = {name: tensor.untyped_storage().data_ptr() for name, tensor in kept.items()}
        shared = [name for name in memory if list(memory.values()).count(memory[name]) > 1]
        if shared:
            return f"{' and '.join(map(repr, shared))} share memory; add .clone() to all but one"
        return f"the feedback cannot be written to a checkpoint: {error}"
    return None


def same_for_every_run(checked: CheckedRule) -> str | None:
    """Find feedback whose names, shapes or types depend on the seed.

    The feedback of several runs is stacked, which needs equal names, shapes and types.
    """
    kinds = [
        {name: (tuple(t.shape), t.dtype) for name, t in _drawn(checked, run).items()}
        for run in RUNS
    ]
    if kinds[1:] != kinds[:-1]:
        return (
            f"two seeds have different feedback, {kinds[0]} and "
            f"{next(kind for kind in kinds if kind != kinds[0])}; make names, shapes and dtypes "
            "depend only on the network's shape and the options"
        )
    return None


def from_the_generator(checked: CheckedRule) -> str | None:
    """Find feedback that uses random numbers from another source than the given generator."""
    found = depends_on_chance(lambda: _drawn(checked))
    if found is not None:
        return (
            f"`feedback` {found}; draw everything from `generator`, as in "
            "torch.randn(…, generator=generator)"
        )
    return None


def uses_its_copies(checked: CheckedRule) -> str | None:
    """Remark on a rule that sets `copies_weights` but whose feedback has nothing of the weights.

    No remark is needed for a rule that does not set `copies_weights`: it is given no weights.
    """
    first, other = (checked.draw(checked.build(), run, SEEDS[0]) for run in RUNS[:2])
    copied = any(not tensor.equal(other[name]) for name, tensor in first.items())
    if checked.choice.rule_class.copies_weights and not copied:
        return Remark("`copies_weights` is set, but the feedback does not depend on the weights")
    return None


KIND = Check("feedback is a dict of finite tensors", named_tensors)
CHECKS = [
    Check("feedback can be saved with a checkpoint", can_be_saved),
    Check("feedback has the same names and shapes for every seed", same_for_every_run),
    Check("feedback is drawn from the generator alone", from_the_generator),
    Check("feedback is not made from weights, or `copies_weights` says so", uses_its_copies),
]
