"""Read any network at its block boundaries: the stream, its gradients, the error."""

from __future__ import annotations

import copy
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Literal

import torch
from torch import Tensor, nn

from depthgauge.errors import UserError
from depthgauge.nets.batch import call, placed
from depthgauge.nets.batch_view import BatchView, along_axis, size_of_samples
from depthgauge.nets.block_output import is_read_past_last_block, returns_branch
from depthgauge.nets.boundaries import Tape, shifted, skipped
from depthgauge.nets.find_blocks import Blocks, find_blocks
from depthgauge.nets.layout import Layout
from depthgauge.nets.preserve_state import device_of, dtype_of, preserve_state
from depthgauge.nets.residual_mlp import ResidualMLP
from depthgauge.nets.sample_loss import Loss, cross_entropy, losses_and_error, per_sample

Returns = Literal["auto", "stream", "branch"]


class NotFiniteError(UserError):
    """The network's weights are not finite: nothing can be read off it."""


class StreamReader:
    """A network with its blocks, its loss and the layout of its stream.

    Args:
        model: any module; it is measured in eval mode and left as it was found.
        blocks: dotted path to the blocks, or the modules; by default `model.blocks`.
        loss: each sample's own loss from logits and labels.
        layout: which axes of the stream are what.
        returns: whether a block returns the stream or only its branch, which the network adds;
            "auto" sees it in the first forward pass.
    """

    def __init__(
        self,
        model: nn.Module,
        blocks: Blocks = None,
        *,
        loss: Loss = cross_entropy,
        layout: Layout | None = None,
        returns: Returns = "auto",
    ) -> None:
        self.model, self.blocks = model, find_blocks(model, blocks)
        self.loss, self.layout = per_sample(loss), layout or Layout()
        if returns == "auto" and isinstance(model, ResidualMLP):
            returns = "branch" if model.residual_add else "stream"
        self.adds = None if returns == "auto" else returns == "branch"
        self.dtype, self.device = dtype_of(model), device_of(model)
        self.has_gradients = True
        _check_tensors(model)

    @property
    def num_blocks(self) -> int:
        """L."""
        return len(self.blocks)

    def in_precision(self, dtype: torch.dtype) -> StreamReader:
        """A copy of the network in another precision; the original is not touched."""
        with torch.inference_mode(False):
            model, blocks = copy.deepcopy((self.model, self.blocks))
            model.to(dtype)
        reader = copy.copy(self)
        reader.model, reader.blocks, reader.dtype = model, blocks, dtype
        return reader

    def without_gradients(self) -> StreamReader:
        """The same network, of which `see` takes no gradients: those of autograd are not true."""
        reader = copy.copy(self)
        reader.has_gradients = False
        return reader

    def see(self, inputs: Any, labels: Tensor) -> BatchView:
        """One forward pass, and one backward pass of every sample's unit error."""
        tape = Tape(self.blocks)
        with preserve_state(self.model), tape:
            inputs, labels = self._placed(inputs, labels)
            with tape.recording():
                logits = call(self.model, inputs)
            self._check_samples(tape.inputs[0], labels)
            losses, error = losses_and_error(self.loss, logits, labels)
            size = along_axis(size_of_samples(error), error, 0)
            unit = torch.where(size > 0, error / size, 0.0).to(logits.dtype)
            gradients = self._gradients(tape, logits, unit) if self.has_gradients else ()
            self.detect_block_output(tape, inputs, logits)
        last = tape.outputs[-1] + tape.inputs[-1] if self.adds else tape.outputs[-1]
        return BatchView(
            self,
            inputs,
            labels,
            (*tape.inputs, last),
            logits.detach(),
            losses,
            error,
            gradients,
        )

    def _gradients(self, tape: Tape, logits: Tensor, unit: Tensor) -> tuple[Tensor, ...]:
        """Those at every boundary; no parameter's `.grad` is touched."""
        found = tape.gradients(logits, unit)
        arrived = [gradient.detach() for gradient in found if gradient is not None]
        if len(arrived) <= self.num_blocks:
            raise UserError(
                "no gradient reaches the stream: the blocks are not on the way to the logits, or "
                "the network detaches or changes the stream in place between them"
            )
        return tuple(arrived)

    def detect_block_output(self, tape: Tape, inputs: Any, logits: Tensor) -> None:
        """Set `adds` from the first forward pass: whether the network adds what blocks return."""
        if self.adds is None:
            inputs = placed(inputs, self.device, self.dtype)
            self.adds = returns_branch(
                tape, lambda: is_read_past_last_block(self.model, tape, inputs, logits)
            )

    def logits(
        self,
        inputs: Any,
        *,
        shift: tuple[int, Tensor] | None = None,
        skip: int | None = None,
    ) -> Tensor:
        """The answer without gradients; with h_l shifted, or with one block left out."""
        with preserve_state(self.model), torch.no_grad():
            inputs = placed(inputs, self.device, self.dtype)
            with self._changed(shift, skip):
                return call(self.model, inputs)

    def _changed(
        self, shift: tuple[int, Tensor] | None, skip: int | None
    ) -> AbstractContextManager[None]:
        if shift is None and skip is None:
            return nullcontext()
        if self.adds is None:
            raise UserError("whether the blocks return the stream is not known: see a batch first")
        if shift is not None:
            return shifted(self.blocks, *shift, adds=self.adds)
        return skipped(self.blocks, skip or 0, adds=self.adds)

    def losses(
        self, inputs: Any, labels: Tensor, *, shift: tuple[int, Tensor] | None = None
    ) -> Tensor:
        """Each sample's own loss in float64, with h_l shifted if that is asked for."""
        logits = self.logits(inputs, shift=shift).double()
        return self.loss(logits, labels.to(self.device))

    def _placed(self, inputs: Any, labels: Tensor) -> tuple[Any, Tensor]:
        labels = self.loss.with_our_mark(labels.detach().to(self.device, copy=True))
        return placed(inputs, self.device, self.dtype), labels

    def _check_samples(self, stream: Tensor, labels: Tensor) -> None:
        axis = self.layout.sample_axis
        if not (-stream.dim() <= axis < stream.dim()) or stream.shape[axis] != len(labels):
            raise UserError(
                f"the stream has the shape {tuple(stream.shape)}, so axis {axis} is not its "
                f"{len(labels)} samples; say which one is with Layout(sample_axis=…)"
            )


def _check_tensors(model: nn.Module) -> None:
    for name, tensor in [*model.named_parameters(), *model.named_buffers()]:
        if tensor.is_inference():
            raise UserError(
                f"the network's {name} was made inside torch.inference_mode(), so no gradient can "
                "be taken; make the network outside of it"
            )
        if tensor.is_floating_point() and not bool(tensor.isfinite().all()):
            raise NotFiniteError(
                f"the network's {name} has values that are not finite (NaN or Inf)"
            )
