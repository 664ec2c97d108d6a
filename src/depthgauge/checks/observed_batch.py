"""A batch that notes what a rule asks for, and shows afterwards what the rule changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from torch import Tensor

from depthgauge.rules.contract import Context, Need

ROUNDING = 1e-6
"""Two results count as equal if they differ by less than this share of the largest number."""


class ObservedNeeds(dict[Need, object]):
    """The tensors and functions that a rule declares in its `needs`.

    The object notes every name that the rule asks for.

    Attributes:
        asked: the names that the rule asked for, declared or not.
    """

    def __init__(self, declared: Mapping[Need, object]) -> None:
        super().__init__(declared)
        self.asked: set[str] = set()

    @property
    def hidden(self) -> list[str]:
        """The names that the rule asked for without declaring them."""
        return sorted(self.asked - self.keys())

    def __contains__(self, need: object) -> bool:
        self.asked.add(str(need))
        return super().__contains__(need)


@dataclass(frozen=True)
class ObservedBatch:
    """One run's batch, as a rule gets it.

    `offers` has the tensors and functions in the rule's `needs`. `before` has a copy of every
    tensor, to show afterwards which tensors the rule changed.
    """

    states: Sequence[Tensor]
    target: Tensor
    error: Tensor
    gradient: Sequence[Tensor]
    feedback: Mapping[str, Tensor]
    noise: Tensor | None
    progress: float
    residual: bool
    offers: ObservedNeeds
    before: dict[str, Tensor] = field(init=False)

    def __post_init__(self) -> None:
        copies = {name: tensor.clone() for name, tensor in self.tensors_by_name().items()}
        object.__setattr__(self, "before", copies)

    def tensors_by_name(self) -> dict[str, Tensor]:
        """Return every tensor that the rule gets, by its name in the context."""
        lists = {"states": self.states, "gradient": self.gradient}
        named = {f"{name}[{i}]": t for name, many in lists.items() for i, t in enumerate(many)}
        named |= {"target": self.target, "error": self.error}
        named |= {f"feedback[{name!r}]": tensor for name, tensor in self.feedback.items()}
        return named | ({"noise": self.noise} if self.noise is not None else {})

    @property
    def context(self) -> Context:
        """The context that the rule gets."""
        return self.context_with(self.feedback)

    def context_with(self, feedback: Mapping[str, Tensor]) -> Context:
        """Return the context with `feedback` in place of the batch's own feedback."""
        return Context(
            self.states,
            self.target,
            feedback,
            self.progress,
            self.offers,
            noise=self.noise,
            residual=self.residual,
        )

    @property
    def changed(self) -> list[str]:
        """The names of the tensors that the rule has changed."""
        now = self.tensors_by_name()
        return [name for name, was in self.before.items() if not was.equal(now[name])]


def difference(first: Mapping[str, Tensor], second: Mapping[str, Tensor]) -> str | None:
    """Return a sentence about the first tensor that differs by more than rounding; None if none."""
    if first.keys() != second.keys():
        return f"{', '.join(sorted(first.keys() ^ second.keys()))} is missing in one of two answers"
    for name, tensor in first.items():
        one, other = tensor.double(), second[name].double()
        if one.shape != other.shape:
            return f"{name} has the shapes {tuple(one.shape)} and {tuple(other.shape)}"
        if one.numel():
            apart, size = (one - other).abs().max(), other.abs().max()
            if not apart <= ROUNDING * size:
                return (
                    f"{name} differs by up to {float(apart):.2g}, where its largest number is "
                    f"{float(size):.2g}"
                )
    return None
