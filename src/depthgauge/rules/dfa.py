"""Direct feedback alignment (Nøkland, 2016): each block gets the error through a random matrix."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import ClassVar, Literal

import torch
from pydantic import Field
from torch import Tensor

from depthgauge.nets.net_shape import NetShape
from depthgauge.rules.contract import Context, Credit, NormalisedOptions, Rule, RuleOptions
from depthgauge.rules.positions import VECTORS


class ProjectionOptions(NormalisedOptions):
    """Options of a rule that projects the error, or something of its shape, to each block."""

    added = frozenset({"projection"})
    projection: Literal["shared", "full"] = Field(
        default="shared",
        description="positions of a stream share a matrix of features, or one matrix has all of "
        "a sample's entries",
    )


class DFA(Rule):
    """a_l = e·B_lᵀ with B_l = randn(d, C)/√C, fixed, one for each block; the embedding uses B_0.

    In a stream with positions (tokens, or the pixels of an image) the matrices act on features,
    and all positions of a sample get the same credit, undivided. Where the output has an error at
    each position of the stream, each position gets its own. With `projection=full` the matrices
    act on all entries of a sample at once.

    Where the shapes of the states differ, the embedding has a matrix of its own.
    """

    name = "dfa"
    summary = "direct feedback alignment: the error through a fixed random matrix to each block"
    needs = frozenset({"error"})
    Options: ClassVar[type[RuleOptions]] = ProjectionOptions

    @property
    def is_full(self) -> bool:
        """Whether the matrices act on all entries of a sample at once."""
        return isinstance(self.options, ProjectionOptions) and self.options.projection == "full"

    def feedback(self, net: NetShape, generator: torch.Generator) -> dict[str, Tensor]:
        """Draw B_0 … B_{L−1}; without blocks, draw one matrix for the embedding."""
        columns = math.prod(net.outputs) if self.is_full else net.error_width
        states = range(net.num_blocks + 1)
        rows = [math.prod(net.state_shapes[i]) if self.is_full else net.features(i) for i in states]
        if len(set(rows)) == 1:
            matrices = torch.empty(max(net.num_blocks, 1), rows[0], columns)
            for matrix in matrices:
                matrix.normal_(generator=generator)
            return {"B": matrices / math.sqrt(columns)}
        drawn = {}
        for index, own in enumerate(rows):
            matrix = torch.empty(own, columns).normal_(generator=generator)
            drawn[_name(index)] = matrix / math.sqrt(columns)
        return drawn

    def source(self, context: Context) -> Tensor:
        """Return the tensor that the matrices project, of the shape of the output: the error."""
        return context.error

    def credit(self, context: Context) -> Credit:
        """Project the source through each block's matrix."""
        source, matrices = self.source(context), _matrices(context.feedback, len(context.states))
        embed, *blocks = [
            self._fully(source, matrix, context, state)
            if self.is_full
            else context.project(source, matrix, state)
            for state, matrix in enumerate(matrices)
        ]
        return Credit(blocks=blocks, embed=embed)

    @staticmethod
    def _fully(source: Tensor, matrix: Tensor, context: Context, state: int) -> Tensor:
        """Return all entries of the source through one matrix, in the shape of a state."""
        axis = context.layout.sample_axis
        shape = context.states[state].movedim(axis, 0).shape
        return (source.flatten(1) @ matrix.T).reshape(shape).movedim(0, axis)

    def projected(self, context: Context) -> Tensor | None:
        """Return the source if all positions of a sample share it, and all blocks a shape."""
        source = self.source(context)
        source = source.flatten(1) if self.is_full else source
        return source if source.dim() == VECTORS and "B" in context.feedback else None


def _name(state: int) -> str:
    """Return the name of the matrix for the credit at a state: h_0 is the embedding's."""
    return f"B.{state - 1}" if state else "B.embed"


def _matrices(feedback: Mapping[str, Tensor], states: int) -> list[Tensor]:
    """Return the matrix for the credit at each state, h_0 first."""
    if "B" not in feedback:
        return [feedback[_name(index)] for index in range(states)]
    matrices = list(feedback["B"].unbind())
    return [matrices[0], *matrices[: states - 1]]
