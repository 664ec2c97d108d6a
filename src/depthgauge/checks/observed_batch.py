"""What a rule is shown, kept so that one sees afterwards what it asked for and what it changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from torch import Tensor

from depthgauge.rules.contract import Context, Need

ROUNDING = 1e-6
"""Two ways to the same float64 numbers differ by less, relative to the largest."""


class Offers(dict[Need, object]):
    """What a rule declared; everything that it asks for is noted, declared or not."""

    def __init__(self, declared: Mapping[Need, object]) -> None:
        super().__init__(declared)
        self.asked: set[str] = set()

    @property
    def hidden(self) -> list[str]:
        """What it asked for without having declared it."""
        return sorted(self.asked - self.keys())

    def __contains__(self, need: object) -> bool:
        self.asked.add(str(need))
        return super().__contains__(need)


@dataclass(frozen=True)
class Shown:
    """One run's batch. `offers` are what the rule declared of the rest."""

    states: Sequence[Tensor]
    target: Tensor
    error: Tensor
    gradient: Sequence[Tensor]
    feedback: Mapping[str, Tensor]
    noise: Tensor | None
    progress: float
    residual: bool
    offers: Offers
    before: dict[str, Tensor] = field(init=False)

    def __post_init__(self) -> None:
        copies = {name: tensor.clone() for name, tensor in self.named().items()}
        object.__setattr__(self, "before", copies)

    def named(self) -> dict[str, Tensor]:
        """Every tensor that the rule can lay hands on."""
        lists = {"states": self.states, "gradient": self.gradient}
        named = {f"{name}[{i}]": t for name, many in lists.items() for i, t in enumerate(many)}
        named |= {"target": self.target, "error": self.error}
        named |= {f"feedback[{name!r}]": tensor for name, tensor in self.feedback.items()}
        return named | ({"noise": self.noise} if self.noise is not None else {})

    @property
    def context(self) -> Context:
        """What the rule may see of it."""
        return self.context_with(self.feedback)

    def context_with(self, feedback: Mapping[str, Tensor]) -> Context:
        """The same with other feedback."""
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
        """The names of what is no longer as it was shown."""
        now = self.named()
        return [name for name, was in self.before.items() if not was.equal(now[name])]


def difference(first: Mapping[str, Tensor], second: Mapping[str, Tensor]) -> str | None:
    """Which of two sets of tensors differ beyond rounding, in words; None where they agree."""
    if first.keys() != second.keys():
        return f"{', '.join(sorted(first.keys() ^ second.keys()))} is there only once"
    for name, tensor in first.items():
        one, other = tensor.double(), second[name].double()
        if one.shape != other.shape:
            return f"{name} has the shapes {tuple(one.shape)} and {tuple(other.shape)}"
        if one.numel():
            apart, size = (one - other).abs().max(), other.abs().max()
            if not apart <= ROUNDING * size:
                return f"{name} differs by up to {float(apart):.2g}, largest {float(size):.2g}"
    return None
