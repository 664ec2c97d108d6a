"""Find out whether frozen blocks change how the rest of a network is trained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from depthgauge.errors import one_line
from depthgauge.nets.cut.cut import Cut
from depthgauge.nets.cut.ownership import LOSS, gradients_with_credit
from depthgauge.nets.cut.passage import Passage
from depthgauge.nets.cut.trial import Trial

CLOSE = 1e-3
"""Gradients whose relative distance is at most this count as equal, in any precision."""

NOISE = 16
"""Gradients also count as equal if they differ by this many roundings of the largest gradient."""


def find_changes(trial: Trial, blocks: Sequence[nn.Module], passage: Passage) -> str | None:
    """Return a sentence if something that is not frozen is trained in another way; None if not.

    All blocks are frozen, and all but the last one. With the same credit, every other parameter
    must get the same gradient as without frozen blocks.
    """
    numbers = range(len(blocks))
    scale = dict.fromkeys(range(LOSS, len(blocks) + 1), 1.0)
    with Cut(trial.model, blocks) as cut:
        expected = gradients_with_credit(trial, cut, passage, scale)
    for frozen in (frozenset(numbers), frozenset(numbers[:-1])):
        try:
            with Cut(trial.model, blocks, frozen=frozen) as cut:
                found = gradients_with_credit(trial, cut, passage, scale)
        except Exception as error:
            return f"with frozen blocks, a step of training fails: {one_line(error)}"
        inside = {id(p) for index in frozen for p in blocks[index].parameters()}
        names = [n for n, p in trial.model.named_parameters() if id(p) not in inside]
        if changed := _first_change(names, expected, found):
            return f"with frozen blocks, the parameter {changed} gets another gradient"
    return None


def _first_change(
    names: Sequence[str],
    expected: Mapping[str, Tensor | None],
    found: Mapping[str, Tensor | None],
) -> str | None:
    """Return the first parameter whose gradient differs.

    Some gradients are zero but for rounding, such as those of the keys' biases in attention.
    """
    known = {name: g for name, g in expected.items() if g is not None}
    largest = max((float(g.abs().max()) for g in known.values()), default=0.0)
    for name in names:
        if name not in known:
            continue
        before, after = known[name].double(), found[name]
        apart = before if after is None else after.double() - before
        noise = NOISE * torch.finfo(known[name].dtype).eps * largest
        is_same = float(apart.norm()) <= CLOSE * float(before.norm())
        if not (is_same or float(apart.abs().max()) <= noise):
            return name
    return None
