"""One boundary between blocks: a place in the graph, and the stream's value there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from torch import Tensor
from torch.autograd.graph import GradientEdge, get_gradient_edge

from depthgauge.errors import UserError

Gradients = tuple[Tensor | None, ...]


class Boundary:
    """The input of a block call, or the output of the last call.

    The edge is taken when the tensor passes. It stays right if the network writes into the tensor
    afterwards. Checkpoints give their output a gradient only after the block has returned; then
    `take_edge` finds the edge later.

    Attributes:
        block: the number of the block below; −1 below block 0.
        stream: the stream as it passed, with its graph.
        value: the stream, detached. Without `copies` it shares the network's memory.
        edge: the place in the graph; None if the stream has no gradient.
    """

    def __init__(self, block: int, stream: Tensor, copies: bool) -> None:
        self.block, self.stream = block, stream
        self.value = stream.detach().clone() if copies else stream.detach()
        self.version = self.value._version
        self.edge: GradientEdge | None = None
        self.take_edge()

    def take_edge(self) -> None:
        """Find the place in the graph, if it was not found before."""
        if self.edge is None and self.stream.requires_grad:
            self.edge = get_gradient_edge(self.stream)

    @property
    def was_overwritten(self) -> bool:
        """Whether the network has written into the stream since it passed."""
        return self.value._version != self.version

    @property
    def place(self) -> tuple[int, int] | None:
        """What tells this place in the graph from others."""
        return None if self.edge is None else (id(self.edge.node), self.edge.output_nr)

    def fit(self, credit: Tensor) -> Tensor:
        """Return the credit in the stream's type; refuse credit of another shape."""
        if credit.shape != self.value.shape:
            raise UserError(
                f"the credit for {self.name} has the shape {tuple(credit.shape)}, but the stream "
                f"there has the shape {tuple(self.value.shape)}; return credit of that shape"
            )
        return credit.detach().to(self.value)

    @property
    def name(self) -> str:
        """The place in words."""
        return (
            "the input of the first block"
            if self.block < 0
            else f"the output of block {self.block}"
        )


@contextmanager
def replaced(boundaries: Sequence[Boundary], credit: Sequence[Tensor]) -> Iterator[None]:
    """Replace the gradient that arrives at each boundary during a backward pass.

    Every boundary must have an edge. At the end, every replacement must have happened.
    """
    fired: set[int] = set()

    def replacing(index: int, number: int, value: Tensor) -> Callable[[Gradients], Gradients]:
        def replace(arrived: Gradients) -> Gradients:
            fired.add(index)
            return (*arrived[:number], value, *arrived[number + 1 :])

        return replace

    handles = []
    try:
        for index, (boundary, value) in enumerate(zip(boundaries, credit, strict=True)):
            if boundary.edge is not None:
                hook = replacing(index, boundary.edge.output_nr, value)
                handles.append(boundary.edge.node.register_prehook(hook))
        yield
    finally:
        for handle in handles:
            handle.remove()
    missed = [boundary.name for i, boundary in enumerate(boundaries) if i not in fired]
    if missed:
        raise UserError(
            f"no gradient passed {missed[0]} in the backward pass, so its credit was not used; "
            "give blocks whose stream is not detached"
        )


@contextmanager
def observed(boundaries: Sequence[Boundary]) -> Iterator[dict[int, Tensor | None]]:
    """Yield a mapping that the backward pass fills: the gradient that arrives at each boundary."""
    seen: dict[int, Tensor | None] = {}

    def observing(index: int, number: int) -> Callable[[Gradients], None]:
        def observe(arrived: Gradients) -> None:
            seen[index] = arrived[number]

        return observe

    handles = [
        boundary.edge.node.register_prehook(observing(index, boundary.edge.output_nr))
        for index, boundary in enumerate(boundaries)
        if boundary.edge is not None
    ]
    try:
        yield seen
    finally:
        for handle in handles:
            handle.remove()
