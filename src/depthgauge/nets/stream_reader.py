"""Read the stream, its gradients and the error of any network at its block boundaries."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, Literal

import torch
from torch import Tensor, nn

from depthgauge.errors import UserError
from depthgauge.losses.function_loss import AnyLoss, as_loss
from depthgauge.nets.batch import call_network, copy_inputs
from depthgauge.nets.batch_view import BatchView, along_axis, size_of_samples
from depthgauge.nets.block_output import do_blocks_return_branch, is_last_output_added
from depthgauge.nets.boundaries import shifted, skipped
from depthgauge.nets.cut.cut import Cut
from depthgauge.nets.cut.passage import Passage
from depthgauge.nets.cut.recording import Recording
from depthgauge.nets.cut.stream_argument import guess_stream_argument
from depthgauge.nets.find_blocks import Blocks, find_blocks
from depthgauge.nets.finite import name_not_finite
from depthgauge.nets.layout import Layout
from depthgauge.nets.preserve_state import device_of, dtype_of, preserve_state
from depthgauge.nets.residual_mlp import ResidualMLP

Returns = Literal["auto", "stream", "branch"]


class NotFiniteError(UserError):
    """The network has weights that are infinite or NaN, so it cannot be measured."""


class StreamReader:
    """A network with its blocks, its loss and the layout of its stream.

    Args:
        model: any module; it is measured in eval mode and left as it was.
        blocks: the dotted path to the blocks, or the modules; by default `model.blocks`.
        loss: the name of a loss, or what computes each sample's own loss from logits and labels.
        layout: the axes of samples and features in the stream.
        returns: "stream" if a block returns the whole stream, "branch" if it returns a branch that
            the network adds; "auto" detects it in the first forward pass.
    """

    def __init__(
        self,
        model: nn.Module,
        blocks: Blocks = None,
        *,
        loss: AnyLoss = "cross_entropy",
        layout: Layout | None = None,
        returns: Returns = "auto",
    ) -> None:
        self.model, self.blocks = model, find_blocks(model, blocks)
        self.loss, self.layout = as_loss(loss), layout or Layout()
        if returns == "auto" and isinstance(model, ResidualMLP):
            returns = "branch" if model.residual_add else "stream"
        self.adds = None if returns == "auto" else returns == "branch"
        self.dtype, self.device = dtype_of(model), device_of(model)
        self.has_gradients = True
        self.argument: int | str | None = None
        self._knows_argument = False
        _check_tensors(model)

    @property
    def num_blocks(self) -> int:
        """The number of blocks, L."""
        return len(self.blocks)

    def in_precision(self, dtype: torch.dtype) -> StreamReader:
        """Return a reader of a copy of the network in another precision."""
        with torch.inference_mode(False):
            model, blocks = copy.deepcopy((self.model, self.blocks))
            model.to(dtype)
        reader = copy.copy(self)
        reader.model, reader.blocks, reader.dtype = model, blocks, dtype
        return reader

    def without_gradients(self) -> StreamReader:
        """Return a reader of the same network whose `see` takes no gradients.

        Such a reader is for networks whose autograd gradients are wrong (see the reference check).
        """
        reader = copy.copy(self)
        reader.has_gradients = False
        return reader

    def see(self, inputs: Any, labels: Tensor) -> BatchView:
        """Run the network forward and backward on a batch, and return a view of both passes.

        The backward pass starts at the logits from each sample's error, scaled to norm 1.
        """
        with preserve_state(self.model):
            inputs, labels = self._copy_batch(inputs, labels)
            with self.recorded(inputs) as recording:
                return self._view(recording, inputs, labels)

    @contextmanager
    def recorded(self, inputs: Any) -> Iterator[Recording]:
        """Record a forward pass; inside the `with` block its gradients can be taken.

        Every block must run. Values are copied, so a network may write into its stream.
        """
        if not self._knows_argument:
            self.argument = guess_stream_argument(
                lambda: call_network(self.model, copy_inputs(inputs, self.device, self.dtype)),
                self.blocks,
            )
            self._knows_argument = True
        passage = Passage(self.argument, copies=True)
        with Cut(self.model, self.blocks, end_to_end=True) as cut:
            recording = cut.record(
                lambda: call_network(self.model, inputs), passes=passage, leaves=True
            )
            missing = sorted(set(range(self.num_blocks)) - set(recording.calls))
            if missing:
                raise UserError(
                    f"block {missing[0]} of {self.num_blocks} did not run in the forward pass; "
                    "give blocks that all run"
                )
            yield recording

    def _view(self, recording: Recording, inputs: Any, labels: Tensor) -> BatchView:
        logits = recording.output
        self._check_samples(recording.states[0], labels)
        losses, error = self._losses_and_error(logits.detach().double(), labels)
        size = along_axis(size_of_samples(error), error, 0)
        unit = torch.where(size > 0, error / size, 0.0).to(logits.dtype)
        gradients = self._gradients(recording, unit) if self.has_gradients else ()
        states = self.read_states(recording, inputs)
        return BatchView(self, inputs, labels, states, logits.detach(), losses, error, gradients)

    def read_states(self, recording: Recording, inputs: Any) -> tuple[Tensor, ...]:
        """Return h_0 … h_L of a recorded pass; detect what blocks return, if it is not known."""
        if self.adds is None:
            inputs = copy_inputs(inputs, self.device, self.dtype)
            self.adds = do_blocks_return_branch(
                recording,
                lambda: is_last_output_added(
                    self.model, self.blocks, recording, inputs, self.argument
                ),
            )
        *earlier, last = recording.states
        if not self.adds:
            return recording.states
        if last.shape != earlier[-1].shape:
            raise UserError(
                f"the last block changes the stream's shape from {tuple(earlier[-1].shape)} to "
                f"{tuple(last.shape)}, so it returns no branch that could be added; give "
                "returns='stream'"
            )
        return (*earlier, last + earlier[-1])

    def _losses_and_error(self, logits: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        self.loss.check(logits.shape, labels)
        return self.loss.value(logits, labels), self.loss.error(logits, labels)

    def _gradients(self, recording: Recording, unit: Tensor) -> tuple[Tensor, ...]:
        """Return the gradients at every boundary, without touching any parameter's `.grad`."""
        found = recording.gradients(recording.output, unit)
        arrived = [gradient.detach() for gradient in found if gradient is not None]
        if len(arrived) <= self.num_blocks:
            raise UserError(
                "no gradient reaches the stream: the logits do not depend on the blocks, or the "
                "network detaches the stream or changes it in place between blocks"
            )
        return tuple(arrived)

    def logits(
        self,
        inputs: Any,
        *,
        shift: tuple[int, Tensor] | None = None,
        skip: int | None = None,
    ) -> Tensor:
        """Return the logits without gradients.

        Args:
            inputs: the network's inputs.
            shift: a pair (l, tensor); the tensor is added to h_l.
            skip: the index of a block to skip.
        """
        with preserve_state(self.model), torch.no_grad():
            inputs = copy_inputs(inputs, self.device, self.dtype)
            with self._changed(shift, skip):
                return call_network(self.model, inputs)

    def _changed(
        self, shift: tuple[int, Tensor] | None, skip: int | None
    ) -> AbstractContextManager[None]:
        if shift is None and skip is None:
            return nullcontext()
        if self.adds is None:
            raise UserError(
                "it is unknown whether the blocks return the stream or a branch; call see() with a "
                "batch first, or give returns='stream' or returns='branch'"
            )
        if shift is not None:
            return shifted(self.blocks, *shift, adds=self.adds, argument=self.argument)
        return skipped(self.blocks, skip or 0, adds=self.adds, argument=self.argument)

    def losses(
        self, inputs: Any, labels: Tensor, *, shift: tuple[int, Tensor] | None = None
    ) -> Tensor:
        """Return each sample's own loss in float64; `shift` means the same as for `logits`."""
        logits = self.logits(inputs, shift=shift).double()
        return self.loss.value(logits, labels.to(self.device))

    def _copy_batch(self, inputs: Any, labels: Tensor) -> tuple[Any, Tensor]:
        labels = self.loss.mark_ignored(labels.detach().to(self.device, copy=True))
        return copy_inputs(inputs, self.device, self.dtype), labels

    def _check_samples(self, stream: Tensor, labels: Tensor) -> None:
        axis = self.layout.sample_axis
        if not (-stream.dim() <= axis < stream.dim()) or stream.shape[axis] != len(labels):
            raise UserError(
                f"the stream has the shape {tuple(stream.shape)}, but axis {axis} should have "
                f"{len(labels)} samples; give the right axis with Layout(sample_axis=…)"
            )


def _check_tensors(model: nn.Module) -> None:
    for name, tensor in [*model.named_parameters(), *model.named_buffers()]:
        if tensor.is_inference():
            raise UserError(
                f"the network's {name} was made inside torch.inference_mode(), so it has no "
                "gradient; make the network outside torch.inference_mode()"
            )
    bad = name_not_finite(model)
    if bad is not None:
        raise NotFiniteError(f"the network's {bad} has values that are not finite (NaN or Inf)")
