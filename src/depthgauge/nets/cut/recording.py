"""One recorded forward pass: its stream, its true gradients, and its backward pass with credit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from depthgauge.errors import UserError
from depthgauge.nets.cut.boundary import Boundary, observed, replaced
from depthgauge.nets.cut.passage import Passage, Returned


class OverwrittenError(UserError):
    """An error: the network writes into the stream after it has passed a boundary."""


class Recording:
    """A forward pass that was cut at the boundaries of the blocks.

    A block may be skipped. The stream then passes it unchanged, so h_l = h_{l+1}.

    Attributes:
        output: what the forward pass returned, with its graph.
        states: h_0 … h_L, detached and, unless the passage says so, not copied. Empty if no block
            ran.
        calls: the numbers of the blocks in the order in which they ran; each at most once.
        returned: what each of these calls returned, with its graph.
        outputs: the first tensor of what each call returned, detached like the states.
        random_states: the CPU's random state after each call, if the network draws random numbers.
        trained: the calls whose blocks are not frozen and have parameters that are trained.
    """

    def __init__(
        self,
        output: Tensor,
        *,
        num_blocks: int,
        boundaries: Sequence[Boundary],
        returned: Sequence[Any],
        outputs: Sequence[Tensor],
        random_states: Sequence[Tensor],
        trained: frozenset[int],
        frozen_without_graph: bool,
        passage: Passage,
    ) -> None:
        self.output = output
        self.calls = tuple(boundary.block for boundary in boundaries[1:])
        self.returned, self.outputs = tuple(returned), tuple(outputs)
        self.random_states = tuple(random_states)
        self.trained = trained
        self._boundaries = tuple(boundaries)
        self._lacks_graph = frozen_without_graph
        self._positions = _positions(num_blocks, self.calls)
        self._check_versions()
        self.states = self._states(passage.returns)

    def _states(self, returns: Returned) -> tuple[Tensor, ...]:
        values = [boundary.value for boundary in self._boundaries]
        if returns == "branch" and self.calls:
            values[-1] = values[-2] + values[-1]
        return tuple(values[position] for position in self._positions)

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        """The stream at the input of each call, with its graph."""
        return tuple(boundary.stream for boundary in self._boundaries[:-1])

    def gradients(self, loss: Tensor, direction: Tensor | None = None) -> tuple[Tensor | None, ...]:
        """Return the true gradients g_0 … g_L of the loss; None where the stream has no gradient.

        The graph is kept.

        Args:
            loss: one number; or several, of which the gradient of ⟨direction, loss⟩ is taken.
            direction: a tensor of the loss's shape.
        """
        if self._lacks_graph:
            raise UserError(
                "frozen blocks were run without gradients, so there is no true gradient below "
                "them; make the Cut with end_to_end=True"
            )
        found = self._differentiate(loss, list(self._boundaries), direction)
        return tuple(found[position] for position in self._positions)

    def last_gradient(self, loss: Tensor) -> Tensor:
        """Return g_L, the true gradient of the loss at the last block's output; keep the graph."""
        (gradient,) = self._differentiate(loss, list(self._boundaries[-1:])) or [None]
        if gradient is None:
            raise UserError("no gradient of the loss reaches the last block's output")
        return gradient

    def _differentiate(
        self, loss: Tensor, boundaries: list[Boundary], direction: Tensor | None = None
    ) -> list[Tensor | None]:
        known = [b.edge for b in boundaries if b.edge is not None]
        if not known or not loss.requires_grad:
            return [None] * len(boundaries)
        arrived = iter(
            torch.autograd.grad(loss, known, direction, retain_graph=True, allow_unused=True)
        )
        return [None if b.edge is None else next(arrived) for b in boundaries]

    def backward(self, loss: Tensor, credit: Sequence[Tensor] | None = None) -> None:
        """Run the backward pass, and fill `.grad` of the parameters.

        At each boundary the gradient of the loss is replaced by the credit. What is above the last
        boundary follows the loss.

        Args:
            loss: the loss of the batch.
            credit: L + 1 tensors: the first trains what is below block 0, the next ones train block
                l and the modules up to the next block. If the loss is a mean over samples, the
                credit must be divided by their number. Without credit this is backpropagation.
        """
        if credit is None or not self.calls:
            loss.backward()  # type: ignore[no-untyped-call]
            return
        if len(credit) != len(self._positions):
            raise UserError(
                f"{len(credit)} tensors of credit do not fit {len(self._positions) - 1} blocks; "
                "give one for what is below the blocks, and one for each block"
            )
        self._check_versions()
        self._check_edges()
        first: dict[tuple[int, int], Boundary] = {}
        last: dict[tuple[int, int], Boundary] = {}
        for boundary in self._boundaries:
            if boundary.place is not None:
                first.setdefault(boundary.place, boundary)
                last[boundary.place] = boundary
        cuts = list(first.values())
        values = [cut.fit(credit[cut.block + 1]) for cut in cuts]
        started = [i for i, above in enumerate(last.values()) if not self._is_reached(above)]
        roots: list[Any] = [cuts[i].edge for i in started]
        starts: list[Tensor | None] = [values[i] for i in started]
        if loss.requires_grad:
            roots, starts = [loss, *roots], [None, *starts]
        with replaced(cuts, values):
            torch.autograd.backward(roots, starts)

    def _is_reached(self, boundary: Boundary) -> bool:
        """Return whether the backward pass of the loss is known to reach a boundary.

        It is not known if the block above runs without a graph, and at the first boundary, where
        the stream may bypass the embedding's parameters. There the backward pass is also started.
        """
        index = self._boundaries.index(boundary)
        return 0 < index < len(self.calls) and self.calls[index] in self.trained

    def backpropagate(self, loss: Tensor) -> tuple[Tensor | None, ...]:
        """Run the plain backward pass, and return the true g_0 … g_L that arrived on the way.

        Unlike `gradients`, this works for checkpointed and compiled blocks too, but the graph is
        gone and `.grad` is filled.
        """
        with observed(self._boundaries) as arrived:
            loss.backward()  # type: ignore[no-untyped-call]
        return tuple(arrived.get(position) for position in self._positions)

    def _check_versions(self) -> None:
        for boundary in self._boundaries:
            if boundary.was_overwritten:
                raise OverwrittenError(
                    f"the network writes into the stream at {boundary.name} after it has passed; "
                    "record it with copies"
                )

    def _check_edges(self) -> None:
        for boundary in self._boundaries:
            if boundary.block in self.trained and boundary.edge is None:
                raise UserError(
                    f"no gradient flows through {boundary.name}, so this block would not follow "
                    "its credit; the network detaches it, runs it without gradients, or "
                    "checkpoints several blocks as one (use_reentrant=False helps)"
                )


def _positions(num_blocks: int, calls: Sequence[int]) -> tuple[int, ...]:
    """Return for each h_l the boundary that has it: the input of the next block that ran."""
    if not calls:
        return ()
    return tuple(
        next((position for position, call in enumerate(calls) if call >= block), len(calls))
        for block in range(num_blocks + 1)
    )
