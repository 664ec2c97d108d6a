"""Try one batch before training: can every part of a network follow a credit of its own?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from torch import Tensor, nn

from depthgauge.errors import UserError, one_line
from depthgauge.nets.cut.cut import Cut
from depthgauge.nets.cut.frozen_blocks import find_changes
from depthgauge.nets.cut.last_block import find_return
from depthgauge.nets.cut.ownership import find_owners
from depthgauge.nets.cut.parts import Parts
from depthgauge.nets.cut.passage import Passage
from depthgauge.nets.cut.recording import OverwrittenError, Recording
from depthgauge.nets.cut.repeatable import check_repeatable, does_draw, find_unsaved_state
from depthgauge.nets.cut.replay import Replay, find_refusals
from depthgauge.nets.cut.stream_argument import find_stream_argument
from depthgauge.nets.cut.trial import SampleLosses, Trial, watch_calls
from depthgauge.nets.preserve_state import rehearse_training

SEEDS = 8
"""The most forward passes in which each block must have run once (some networks skip blocks)."""

Returns = Literal["auto", "stream", "branch"]


@dataclass(frozen=True)
class Probe:
    """What one batch tells about a network and its blocks.

    Attributes:
        passage: how the stream passes through the blocks; None if the probe stopped before it knew.
        calls: the numbers of the blocks that ran, in order.
        shapes: the shapes of h_0 … h_L, with the samples.
        output: the shape of the network's output.
        owners: for each parameter the names of the credits that it follows.
        refusals: for the needs "readout" and "blocks" of rules why the network cannot offer them.
        notes: sentences on what is allowed but should be known.
        training: why the network cannot be trained with credit; None if it can.
        ladder: why its blocks cannot be frozen one by one; None if they can.
        resume: why interrupted training cannot be resumed with the same bits; None if it can.
    """

    passage: Passage | None = None
    calls: tuple[int, ...] = ()
    shapes: tuple[tuple[int, ...], ...] = ()
    output: tuple[int, ...] = ()
    owners: dict[str, tuple[str, ...]] = field(default_factory=dict)
    refusals: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    training: str | None = None
    ladder: str | None = None
    resume: str | None = None


def probe(
    model: nn.Module,
    blocks: Sequence[nn.Module],
    inputs: Any,
    labels: Tensor,
    losses: SampleLosses,
    *,
    returns: Returns = "auto",
) -> Probe:
    """Try steps of training on one batch, and say what the network allows.

    The network runs in train mode, and is left exactly as it was: parameters, buffers, `.grad`,
    modes and random states.

    Args:
        model: any module.
        blocks: its blocks, in the order in which they run.
        inputs: the inputs of a batch of at least two samples.
        labels: its labels.
        losses: returns each sample's loss from output and labels.
        returns: what blocks return, if the probe cannot tell: "stream" or "branch".
    """
    with rehearse_training(model):
        work = _Probing(model, list(blocks), Trial(model, inputs, labels, losses), returns)
        try:
            work.run()
        except UserError as error:
            work.refuse(str(error))
        except Exception as error:
            work.refuse(f"a step of training fails: {one_line(error)}")
    return work.result


class _Probing:
    """One probe on its way; `result` holds what is known so far."""

    def __init__(
        self, model: nn.Module, blocks: list[nn.Module], trial: Trial, returns: Returns
    ) -> None:
        self.model, self.blocks, self.trial, self.returns = model, blocks, trial, returns
        self.result = Probe()

    def refuse(self, sentence: str) -> None:
        """Say that the network can neither be trained nor ladder-tested nor resumed."""
        self.result = replace(
            self.result, training=sentence, ladder=sentence, resume=self.result.resume or sentence
        )

    def run(self) -> None:
        """Take every step, until one raises an error."""
        _check_whole(self.model)
        self.result = replace(self.result, resume=find_unsaved_state(self.model, self.trial))
        check_repeatable(self.trial)
        self._choose_seed()
        with Cut(self.model, self.blocks) as cut:
            argument = find_stream_argument(self.trial.run, self.blocks)
            passage = Passage(argument, draws=does_draw(self.trial))
            try:
                recording = cut.record(self.trial.run, passes=passage)
            except OverwrittenError:
                passage = replace(passage, copies=True)
                recording = cut.record(self.trial.run, passes=passage)
            self._see(recording, passage)
            passage = replace(passage, returns=self._find_return(recording, passage))
            self._see(recording, passage)
            self._check_gradients(cut, passage)
            self._find_owners(cut, passage)
            self._replay(cut, passage)
            if self.result.ladder is None:
                self._try_frozen(passage)

    def _choose_seed(self) -> None:
        """Choose a seed with which blocks run; networks may skip blocks at random."""
        calls: list[int] = []
        with watch_calls(self.blocks, before=lambda call, *_: calls.append(call)):
            for seed in range(SEEDS):
                self.trial.seed = seed
                self.trial.run()
                if calls:
                    return
        if hasattr(self.model, "_orig_mod"):
            raise UserError(
                "the network is compiled as a whole, so its blocks cannot be seen; compile each "
                "block instead of the network"
            )
        raise UserError("no block ran in the forward pass; give blocks that the network runs")

    def _see(self, recording: Recording, passage: Passage) -> None:
        self.result = replace(
            self.result,
            passage=passage,
            calls=recording.calls,
            shapes=tuple(tuple(state.shape) for state in recording.states),
            output=tuple(recording.output.shape),
        )

    def _find_return(self, recording: Recording, passage: Passage) -> Literal["stream", "branch"]:
        if self.returns != "auto":
            return self.returns
        found = find_return(self.trial, self.blocks, len(recording.calls), passage.argument)
        if found == "neither":
            raise UserError(
                "the last block returns neither the stream nor a branch that the network adds "
                "unchanged to the block's input; let the block return what the network adds, or "
                "give returns='stream' or returns='branch'"
            )
        return found

    def _check_gradients(self, cut: Cut, passage: Passage) -> None:
        """Refuse a network whose plain backward pass does not reach a block's output."""
        recording = cut.record(self.trial.run, passes=passage)
        arrived = recording.backpropagate(self.trial.loss(recording.output))
        for block in sorted(recording.trained):
            if arrived[block + 1] is None:
                raise UserError(
                    f"no gradient reaches the output of block {block} in backpropagation; the "
                    "network detaches it, runs it without gradients, or does not use it (where "
                    "several blocks are checkpointed as one, use_reentrant=False helps)"
                )

    def _find_owners(self, cut: Cut, passage: Passage) -> None:
        """Find whose credit each parameter follows; skipped blocks need several passes."""
        owners: dict[str, frozenset[int]] = {}
        ran: set[int] = set()
        first = self.trial.seed
        for seed in range(first, first + SEEDS):
            self.trial.seed = seed
            new = set(cut.record(self.trial.run, passes=passage).calls) - ran
            if new:
                found = find_owners(self.trial, cut, passage)
                owners = {n: own | owners.get(n, frozenset()) for n, own in found.items()}
                ran |= new
            if len(ran) == len(self.blocks):
                break
        self.trial.seed = first
        parts = Parts(self.model, self.blocks, owners)
        self.result = replace(self.result, owners=parts.owner_names(), notes=parts.notes())
        missing = sorted(set(range(len(self.blocks))) - ran)
        if missing:
            raise UserError(
                f"block {missing[0]} of {len(self.blocks)} did not run in {SEEDS} forward passes; "
                "give blocks that all run"
            )
        parts.check_locality()
        self.result = replace(self.result, ladder=parts.find_shared())

    def _try_frozen(self, passage: Passage) -> None:
        """Find out whether what is not frozen trains as before, and whether it needs a graph."""
        for tried in (passage, replace(passage, through_frozen=True)):
            changed = find_changes(self.trial, self.blocks, tried)
            if changed is None:
                self.result = replace(self.result, passage=tried)
                return
        self.result = replace(self.result, ladder=changed)

    def _replay(self, cut: Cut, passage: Passage) -> None:
        """Find out whether the readout and the blocks can be run alone."""
        recording = cut.record(self.trial.run, passes=passage)
        replay = Replay(self.model, self.blocks, self.trial.rerun, recording, passage)
        self.result = replace(self.result, refusals=find_refusals(replay, recording))


def _check_whole(model: nn.Module) -> None:
    """Refuse networks that run on several devices."""
    devices = {str(tensor.device) for tensor in (*model.parameters(), *model.buffers())}
    if len(devices) > 1 or isinstance(model, nn.DataParallel):
        where = ", ".join(sorted(devices))
        raise UserError(f"the network is spread over several devices ({where}); use one")
