"""Parts of any network as functions: run the network again with the outputs that were recorded.

A block is replaced by what it returned before, so that only the part in question is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _NormBase
from torch.utils._pytree import tree_map

from depthgauge.errors import one_line
from depthgauge.nets.cut.passage import Passage, find_stream, first_tensor, replace_tensor
from depthgauge.nets.cut.recording import Recording

CLOSE = 1e-3
"""Two results whose relative distance is at most this count as equal."""

Answer = Callable[[int, tuple[Any, ...], dict[str, Any], Callable[..., Any]], Any]


class Replay:
    """The readout and the blocks of a network as functions that torch.func can differentiate.

    Normalisations with running statistics use those of the batch, and write none.

    Args:
        model: the network.
        blocks: its blocks.
        run: runs the forward pass of the recorded batch, with the same random numbers.
        recording: the recorded forward pass.
        passage: how the stream passes through the blocks.
    """

    def __init__(
        self,
        model: nn.Module,
        blocks: Sequence[nn.Module],
        run: Callable[[], Tensor],
        recording: Recording,
        passage: Passage,
    ) -> None:
        self._model, self._blocks, self._run = model, blocks, run
        self._calls, self._states = recording.calls, recording.states
        self._returned = tree_map(_detached, recording.returned)
        self._random_states = recording.random_states
        self._argument, self._adds = passage.argument, passage.returns == "branch"

    def readout(self, last: Tensor) -> Tensor:
        """Return the network's output for another h_L."""

        def answer(call: int, *_: object) -> Any:
            returned = self._leave_out(call)
            if call < len(self._calls) - 1:
                return returned
            block = self._calls[call]
            value = last - self._states[block] if self._adds else last
            return replace_tensor(returned, first_tensor(block, returned), value)

        with self._stubbed(answer):
            return self._run()

    def _leave_out(self, call: int) -> Any:
        """Return what a call returned, and continue with the random numbers that followed it."""
        if self._random_states:
            torch.set_rng_state(self._random_states[call])
        return self._returned[call]

    def blocks(self) -> list[Callable[[Tensor], Tensor]]:
        """Return for each block the function h_l ↦ h_{l+1}, with what lies between two blocks."""
        return [
            partial(self._next_state, self._calls.index(block))
            if block in self._calls
            else _unchanged
            for block in range(len(self._blocks))
        ]

    def _next_state(self, wanted: int, stream: Tensor) -> Tensor:
        """Return the state after a call, whose block gets another stream."""

        def answer(
            call: int, args: tuple[Any, ...], kwargs: dict[str, Any], forward: Callable[..., Any]
        ) -> Any:
            if call < wanted:
                return self._leave_out(call)
            block = self._calls[call]
            old = find_stream(block, args, kwargs, self._argument)
            if call > wanted:
                raise _Reached(old)
            given = [stream if value is old else value for value in args]
            named = {name: stream if value is old else value for name, value in kwargs.items()}
            returned = forward(*given, **named)
            own = first_tensor(block, returned)
            if call == len(self._calls) - 1:
                raise _Reached(stream + own if self._adds else own)
            moved = own + stream - self._states[block] if self._adds else own
            return replace_tensor(returned, own, moved)

        try:
            with self._stubbed(answer):
                self._run()
        except _Reached as reached:
            return reached.state
        raise RuntimeError("the network took another way than in its recorded pass")

    @contextmanager
    def _stubbed(self, answer: Answer) -> Iterator[None]:
        """Let `answer` stand in for the forward pass of every block, and keep running statistics.

        It gets the number of the call, the arguments, and the block's own forward pass.
        """
        count, restore = -1, []

        def stub(forward: Callable[..., Any]) -> Callable[..., Any]:
            def forward_instead(*args: Any, **kwargs: Any) -> Any:
                nonlocal count
                count += 1
                return answer(count, args, kwargs, forward)

            return forward_instead

        norms = [m for m in self._model.modules() if isinstance(m, _NormBase) and m.training]
        tracking = [norm for norm in norms if norm.track_running_stats]
        try:
            for norm in tracking:
                norm.track_running_stats = False
            for block in dict.fromkeys(self._blocks):
                own = vars(block).get("forward")
                restore.append((block, own))
                vars(block)["forward"] = stub(block.forward)
            yield
        finally:
            for norm in tracking:
                norm.track_running_stats = True
            for block, own in restore:
                del vars(block)["forward"]
                if own is not None:
                    vars(block)["forward"] = own


def find_refusals(replay: Replay, recording: Recording) -> dict[str, str]:
    """Return for the needs "readout" and "blocks" why a network cannot offer them, in words.

    Both parts are run on the recorded states and differentiated; they must give what the network
    gave.
    """
    *earlier, last = recording.states
    found = {}
    if reason := _fault(replay.readout, last, recording.output):
        found["readout"] = f"the readout of this network {reason}"
    for block, given, wanted in zip(replay.blocks(), earlier, recording.states[1:], strict=True):
        if reason := _fault(block, given, wanted):
            found.setdefault("blocks", f"a block of this network {reason}")
    return found


@torch.no_grad()
def _fault(part: Callable[[Tensor], Tensor], given: Tensor, wanted: Tensor) -> str | None:
    """Return why a part cannot be used as a function; None if it can."""
    try:
        found, pull = torch.func.vjp(part, given)[:2]
        pull(torch.ones_like(found))
    except Exception as error:
        return f"cannot be run alone and differentiated ({one_line(error)})"
    apart, size = float((found - wanted).norm()), float(wanted.norm())
    if found.shape != wanted.shape or not apart <= CLOSE * size:
        return "cannot be run alone: alone it gives another result than in the network"
    return None


class _Reached(BaseException):
    """Ends a forward pass at the state that was wanted; networks that catch errors let it pass."""

    def __init__(self, state: Tensor) -> None:
        super().__init__()
        self.state = state


def _unchanged(stream: Tensor) -> Tensor:
    return stream


def _detached(value: Any) -> Any:
    return value.detach() if isinstance(value, Tensor) else value
