"""One run of any network: each block follows its own credit, in a single backward pass."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial

import torch
from torch import Tensor, nn

from depthgauge.config import RunConfig
from depthgauge.losses.registry import find_loss
from depthgauge.nets.batch import call_network
from depthgauge.nets.cut.cut import Cut
from depthgauge.nets.cut.passage import first_tensor
from depthgauge.nets.cut.replay import Replay
from depthgauge.nets.probed import owners_of, passage_of, shape_of
from depthgauge.nets.registry import boundary_blocks
from depthgauge.nets.seeded import seeded
from depthgauge.rules.contract import Context, Rule
from depthgauge.rules.normalisation import compute_credit
from depthgauge.rules.offered_context import offer_context
from depthgauge.rules.positions import per_position_once
from depthgauge.tasks.base import Task
from depthgauge.tasks.inputs import as_inputs
from depthgauge.training.initial_run import initialise
from depthgauge.training.local.offers import Pass
from depthgauge.training.local.optimizer import RunOptimizer
from depthgauge.training.local.penalty import Penalty
from depthgauge.training.local.statistics import FrozenBuffers
from depthgauge.training.precision import DTYPES, products_in
from depthgauge.training.random_streams import random_stream, stream_seed
from depthgauge.training.rule_noise import draw_noise
from depthgauge.training.swapped_credit import SwappedCredit
from depthgauge.training.trainee import RunState, RunTensors


class LocalRun:
    """A network, the rule that gives its blocks credit, and an optimizer.

    The forward pass is the network's own. In the backward pass, the gradient that arrives at a
    block's boundary is replaced by the rule's credit (see `Cut`).

    Args:
        config: the run.
        rule: its rule, with its options.
        task: what it learns.
        device: the device of all tensors.
    """

    def __init__(
        self, config: RunConfig, rule: Rule, task: Task, device: torch.device | str = "cpu"
    ) -> None:
        self.config, self.rule, self.recipe = config, rule, config.recipe
        self.dtype, self.device = DTYPES[config.recipe.dtype], device
        self.loss = find_loss(config.recipe.loss)
        net, feedback = initialise(config, task, rule)
        self.net = net.to(device, self.dtype)
        self.feedback = {name: self._convert(tensor) for name, tensor in feedback.items()}
        self.blocks, frozen = boundary_blocks(self.net, config.net), frozen_blocks(config)
        self.buffers = FrozenBuffers(self.net, [self.blocks[index] for index in frozen])
        self.buffers.average(self._training_inputs(task))
        self.passage = passage_of(self.net, config.net, task)
        through = rule.end_to_end or "gradient" in rule.needs
        self.cut = Cut(self.net, self.blocks, frozen=frozen, end_to_end=through)
        if "readout" in rule.needs and not through and len(self.blocks) - 1 in frozen:
            self.blocks[-1].register_forward_hook(_ask_for_gradient)
        strength = self.recipe.penalty if config.net.blocks else 0.0
        residual = getattr(self.net, "residual_add", True)
        self.penalty = Penalty(strength, self.passage.returns == "branch", residual)
        self.layout = shape_of(self.net, config.net, task).layout
        self.swapped = SwappedCredit([config])
        owners = owners_of(self.net, config.net, task)
        self.optimizer = RunOptimizer(self.net, self.blocks, self.recipe, owners)
        self._noise, self._drawn = random_stream("noise", config.seed, 0), False
        self._epoch = self._step = 0
        self._checked = False
        self.buffers.train()

    def _convert(self, tensor: Tensor) -> Tensor:
        """Copy a tensor to the run's device, and floating-point numbers to its precision."""
        return tensor.to(self.device, self.dtype if tensor.is_floating_point() else None)

    def _training_inputs(self, task: Task) -> Iterator[Tensor]:
        for x in torch.split(task.train.x, self.recipe.batch_size):
            yield as_inputs(x, task, self.dtype, self.device)

    @property
    def noise(self) -> Tensor | None:
        """The random state of the rule's noise; None if none was drawn in this epoch."""
        return self._noise.get_state() if self._drawn else None

    def continue_noise(self, state: Tensor | None) -> None:
        """Continue the rule's noise from a state that `noise` returned."""
        if state is not None:
            self._noise.set_state(state)
            self._drawn = True

    def start_epoch(self, epoch: int, step: int = 0) -> None:
        """Set the learning rate and the random streams of an epoch; `step` steps are done."""
        self._epoch, self._step = epoch, step
        self.optimizer.start_epoch(epoch)
        self.swapped.start(epoch, step)
        self._noise, self._drawn = random_stream("noise", self.config.seed, epoch), False

    def step(self, inputs: Tensor, labels: Tensor, progress: float) -> Tensor:
        """Train on one batch; return the mean loss before the update."""

        def forward() -> Tensor:
            products = products_in(self.recipe.dtype, self.device)
            with self._random_numbers_of_step(), products:
                return call_network(self.net, inputs)

        self.optimizer.zero_grad()
        with torch.enable_grad():
            recording = self.cut.record(forward, passes=self.passage)
            if not self._checked:
                self.loss.check(recording.output.shape, labels)
                self._checked = True
            loss = self.loss.mean(recording.output, labels)
            replay = partial(Replay, self.net, self.blocks, forward, recording, self.passage)
            blocks = self.config.net.blocks
            seen = Pass(self.net, recording, self.loss, loss, labels, blocks, replay)
            if not recording.calls:  # every block was skipped: the loss alone trains the rest
                recording.backward(loss)
            elif self.rule.end_to_end:
                self._backpropagate(seen)
            else:
                self._follow_credit(seen, progress)
        self.optimizer.step()
        self.buffers.put_back()
        self.swapped.next_step()
        self._step += 1
        return loss.detach()

    @contextmanager
    def _random_numbers_of_step(self) -> Iterator[None]:
        """Let dropout draw the same numbers in this step, whatever was drawn before."""
        seed = stream_seed("forward", self.config.seed, self._epoch, self._step)
        with seeded(seed, self.device):
            yield

    def _backpropagate(self, seen: Pass) -> None:
        """Run the backward pass of the loss with its penalty; swap credit where the run does."""
        recording = seen.recording
        whole = seen.loss + self.penalty.loss(recording, seen.samples)
        if not self.config.intervention.swapped:
            recording.backward(whole)
            return
        own, credit = self.penalty.gradients(recording, seen.samples), seen.gradients(whole)
        for block, gradient in own.items():
            if self.penalty.is_at_boundary(recording, block):
                credit[block + 1] = credit[block + 1] - gradient
        recording.backward(seen.loss, self._swap_and_penalise(credit, own))

    def _follow_credit(self, seen: Pass, progress: float) -> None:
        """Give each part its credit, the readout the true loss; then let the rule learn."""
        context = self._context(seen, progress)
        with torch.no_grad():
            given = compute_credit(self.rule, context)
            learned = dict(self.rule.learn(context))
        credit = [
            (per_position_once(part) / seen.divisor).expand(part.shape)
            for part in (given.embed, *given.blocks)
        ]
        own = self.penalty.gradients(seen.recording, seen.samples)
        credit = self._swap_and_penalise(credit, own)
        if not seen.blocks:  # the network is cut at its readout, which follows the loss
            credit.append(seen.recording.last_gradient(seen.loss))
        seen.recording.backward(seen.loss, credit)
        for name, tensor in learned.items():
            self.feedback[name].copy_(tensor)

    def _context(self, seen: Pass, progress: float) -> Context:
        shape, noise = self.rule.noise_shape(seen.states), None
        if shape is not None:
            self._drawn = True
            noise = draw_noise(shape, self._noise, seen.states[0])
        return offer_context(
            self.rule,
            seen.states,
            target=seen.labels,
            feedback=self.feedback,
            progress=progress,
            offers=seen.offers(),
            noise=noise,
            residual=seen.residual,
            layout=self.layout,
            loss=self.loss,
            last_gradient=seen.last_gradient if seen.reaches_last else None,
        )

    def _swap_and_penalise(
        self, credit: Sequence[Tensor], penalty: dict[int, Tensor]
    ) -> list[Tensor]:
        """Replace the credit of swapped blocks by noise; add the gradients of the penalty."""
        changed = list(credit)
        for block in self.config.intervention.swapped:
            changed[block + 1] = self.swapped.of_run(0, block, credit[block + 1], self.layout)
        for block, gradient in penalty.items():
            changed[block + 1] = changed[block + 1] + gradient
        return changed

    def tensors(self, *, with_moments: bool) -> RunTensors:
        """Return the tensors of a checkpoint, not copied: weights, buffers, feedback, moments."""
        moments = self.optimizer.state() if with_moments else {}
        return RunTensors(self.net.state_dict(), self.feedback, moments, self.noise)

    @torch.no_grad()
    def restore(self, state: RunState, steps: int) -> None:
        """Copy a saved state into the run, which was trained for so many steps."""
        self.net.load_state_dict(state.parameters)
        for name, tensor in self.feedback.items():
            tensor.copy_(state.feedback[name])
        if state.epoch < self.recipe.epochs:
            self.optimizer.restore(state.moments, steps)
        self.buffers.keep()


def _ask_for_gradient(block: nn.Module, _: object, output: object) -> None:
    """Let the loss reach the output of a last block that is frozen, so that g_L is known."""
    if block.training and torch.is_grad_enabled():
        stream = first_tensor(0, output)
        if not stream.requires_grad:
            stream.requires_grad_()


def frozen_blocks(config: RunConfig) -> list[int]:
    """Return the numbers of the blocks that a run does not train."""
    below = range(config.net.blocks - config.k)
    return sorted({*below, *config.intervention.frozen})
