"""The network of the fast engine: many residual networks of one shape, run as one."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from depthgauge.nets.residual_mlp import ResidualMLP
from depthgauge.nets.stacked.block import (
    PARAMETERS,
    BlockTape,
    Normed,
    block_backward,
    block_branch,
    block_forward,
    block_input_gradient,
    block_local_backward,
    layer_norm,
)
from depthgauge.nets.stacked.embedding import StackedEmbedding
from depthgauge.nets.stacked.products import FULL_PRECISION, Products

Gradients = dict[str, Tensor]


@dataclass(frozen=True)
class StackedTrace:
    """A forward pass of every run.

    Attributes:
        states, branches, logits: h_0 … h_L, f_0 … f_{L−1} and the logits.
        block_tapes, out_norm, read: tensors for the backward pass; `read` is the head's input.
    """

    states: tuple[Tensor, ...]
    branches: tuple[Tensor, ...]
    logits: Tensor
    block_tapes: tuple[BlockTape, ...]
    out_norm: Normed | None
    read: Tensor


class StackedResidualMLP:
    """Networks of one shape; the first axis of every tensor is the run.

    Run r trains its last `trained_blocks[r]` blocks, except the `frozen` blocks. Runs are sorted
    by `trained_blocks`, largest first, so that a slice selects the runs that train a block. A block
    that no run trains has no gradients. The embedding has its own order of runs (see
    `StackedEmbedding`); use `of_run` to select a run.

    Attributes:
        template: one of the networks, for its structure.
        parameters: stacked tensors by their names in `ResidualMLP.state_dict()`.
        trained_runs: for each name, how many runs train the tensor.

    Args:
        nets: one initialised network for each run.
        groups: for each run, the index of its input batch; runs of one seed share a batch.
        trained_blocks: k, the number of trained blocks of each run, largest k first.
        frozen: blocks that no run trains, whatever the run's k.
        dtype: the precision of parameters and arithmetic.
        device: the device of all tensors.
        products: how the matrices of embedding and blocks are multiplied. The readout's matrices,
            which are small, are multiplied in full precision.
    """

    def __init__(
        self,
        nets: Sequence[ResidualMLP],
        groups: Sequence[int],
        trained_blocks: Sequence[int],
        dtype: torch.dtype = torch.float32,
        device: torch.device | str = "cpu",
        *,
        frozen: Collection[int] = (),
        products: Products = FULL_PRECISION,
    ) -> None:
        if list(trained_blocks) != sorted(trained_blocks, reverse=True):
            raise ValueError("runs must be sorted by their number of trained blocks, largest first")
        self.num_runs, self.num_blocks = len(nets), nets[0].num_blocks
        self.residual_add = nets[0].residual_add
        self.template, self.device = nets[0], device
        self._products = products
        states = [net.state_dict() for net in nets]
        stacked = {
            name: torch.stack([state[name] for state in states]).to(device, dtype)
            for name in states[0]
        }
        self.embedding = StackedEmbedding(
            stacked["embed.weight"], stacked["embed.bias"], groups, products
        )
        stacked["embed.weight"] = self.embedding.weight
        stacked["embed.bias"] = self.embedding.bias
        self.parameters: dict[str, Tensor] = stacked
        self.terminal_norm = "out_ln.weight" in stacked
        self.trained_runs = {
            name: self._count_trained(name, trained_blocks, frozen) for name in stacked
        }
        self._blocks = [
            {name: stacked[f"blocks.{index}.{name}"] for name in PARAMETERS}
            for index in range(self.num_blocks)
        ]

    def _count_trained(
        self, name: str, trained_blocks: Sequence[int], frozen: Collection[int]
    ) -> int:
        if not name.startswith("blocks."):
            return self.num_runs
        block = int(name.split(".")[1])
        needed = self.num_blocks - block
        return 0 if block in frozen else sum(k >= needed for k in trained_blocks)

    def of_run(self, name: str, stacked: Tensor, run: int) -> Tensor:
        """Return one run's part of a stacked tensor: a parameter, its gradient or its moment."""
        return stacked[self.embedding.position[run] if name.startswith("embed.") else run]

    def state_of_run(self, run: int) -> dict[str, Tensor]:
        """Return the `state_dict` of one run, as views."""
        return {name: self.of_run(name, p, run) for name, p in self.parameters.items()}

    def new_gradients(self) -> Gradients:
        """Make gradient buffers for all parameters that at least one run trains."""
        return {
            name: torch.zeros_like(self.parameters[name][:runs])
            for name, runs in self.trained_runs.items()
            if runs
        }

    def forward(self, inputs: Sequence[Tensor]) -> StackedTrace:
        """Run every network on its group's batch."""
        return self._forward_from(self.embedding.forward(inputs))

    def forward_shared(self, x: Tensor) -> StackedTrace:
        """Run every network on one shared batch."""
        return self._forward_from(self.embedding.forward_shared(x))

    def _forward_from(self, stream: Tensor) -> StackedTrace:
        states, branches, tapes = [stream], [], []
        for block in self._blocks:
            branch, tape = block_forward(block, stream, self._products)
            stream = stream + branch if self.residual_add else branch
            states.append(stream)
            branches.append(branch)
            tapes.append(tape)
        norm, read, logits = self._readout(stream)
        return StackedTrace(tuple(states), tuple(branches), logits, tuple(tapes), norm, read)

    def logits_shared(self, x: Tensor) -> Tensor:
        """Return every run's logits on one shared batch, without a trace."""
        stream = self.embedding.forward_shared(x)
        for block in self._blocks:
            branch = block_branch(block, stream, self._products)
            stream = stream.add_(branch) if self.residual_add else branch
        return self._readout(stream)[2]

    def _readout(self, stream: Tensor) -> tuple[Normed | None, Tensor, Tensor]:
        """Return the terminal LayerNorm, the head's input, and the logits."""
        norm = layer_norm(stream) if self.terminal_norm else None
        read = stream
        if norm is not None:
            weight, bias = self.parameters["out_ln.weight"], self.parameters["out_ln.bias"]
            read = torch.addcmul(bias.unsqueeze(1), norm.normed, weight.unsqueeze(1))
        weight, bias = self.parameters["out_head.weight"], self.parameters["out_head.bias"]
        return norm, read, FULL_PRECISION.linear(read, weight, bias)

    def readout_local_backward(
        self, trace: StackedTrace, d_logits: Tensor, out: Gradients
    ) -> Tensor:
        """Differentiate Σ ⟨logits, d_logits⟩: write the readout's parameter gradients into `out`.

        Returns the gradient at the head's input.
        """
        d_read = torch.bmm(d_logits, self.parameters["out_head.weight"])
        torch.bmm(d_logits.transpose(1, 2), trace.read, out=out["out_head.weight"])
        torch.sum(d_logits, 1, out=out["out_head.bias"])
        if trace.out_norm is not None:
            torch.sum(d_read * trace.out_norm.normed, 1, out=out["out_ln.weight"])
            torch.sum(d_read, 1, out=out["out_ln.bias"])
        return d_read

    def _readout_backward(
        self, trace: StackedTrace, d_logits: Tensor, out: Gradients | None
    ) -> Tensor:
        """Return the gradient of Σ ⟨logits, d_logits⟩ at h_L.

        If `out` is given, also write the readout's parameter gradients into it.
        """
        if out is not None:
            d_read = self.readout_local_backward(trace, d_logits, out)
        else:
            d_read = torch.bmm(d_logits, self.parameters["out_head.weight"])
        if trace.out_norm is None:
            return d_read
        return trace.out_norm.input_gradient(d_read * self.parameters["out_ln.weight"].unsqueeze(1))

    def block_local_backward(
        self, trace: StackedTrace, index: int, upstream: Tensor, out: Gradients, scale: float = 1.0
    ) -> None:
        """Write a block's parameter gradients of scale·Σ ⟨f_l, upstream⟩ into `out`.

        f_l is the block's branch. Only runs that train the block get gradients.
        """
        wanted = self._block_gradients(index, out)
        if wanted:
            block, tape = self._blocks[index], trace.block_tapes[index]
            upstream = upstream[: len(wanted["fc1.weight"])]
            block_local_backward(
                block, tape, upstream, wanted, products=self._products, scale=scale
            )

    def stream_backward(
        self,
        trace: StackedTrace,
        d_logits: Tensor,
        out: Gradients | None = None,
        d_branches: Sequence[Tensor] | None = None,
    ) -> tuple[Tensor, ...]:
        """Return the gradients g_0 … g_L at the states h_0 … h_L, by the chain rule.

        Args:
            trace: the forward pass.
            d_logits: the gradient at the logits.
            out: buffers for all parameter gradients except the embedding's; None if these
                gradients are not needed.
            d_branches: gradients to add at the branches, if the loss also depends directly on the
                branches.
        """
        gradient = self._readout_backward(trace, d_logits, out)
        gradients = [gradient]
        for index in reversed(range(self.num_blocks)):
            wanted = self._block_gradients(index, out) if out is not None else {}
            block, tape = self._blocks[index], trace.block_tapes[index]
            upstream = gradient if d_branches is None else gradient + d_branches[index]
            through = block_input_gradient(
                block, tape, block_backward(block, tape, upstream, wanted, self._products)
            )
            gradient = through.add_(gradient) if self.residual_add else through
            gradients.append(gradient)
        return tuple(reversed(gradients))

    def _block_gradients(self, index: int, out: Gradients) -> Gradients:
        prefix = f"blocks.{index}."
        return {name: out[prefix + name] for name in PARAMETERS if prefix + name in out}
