"""Every way in which networks use their blocks: trained exactly as it should be, or refused.

A network that is accepted must equal backpropagation under true credit; the probe's owners say that
each block follows its own credit alone. Where detaching the blocks' inputs is wrong without an
error, a test shows that too, so that nobody returns to that design.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable

import numpy as np
import pytest
import torch
from nets.cut import table_networks as t
from nets.cut.stage_net import image_batch, stage_net
from nets.cut.table_networks import Row, make
from nets.foreign_networks import FOREIGN, Foreign, build
from oracles.detached_inputs import gradients_with_detached_inputs
from oracles.local_losses import take_gradients
from torch import Tensor, nn

from depthgauge.losses.cross_entropy import CrossEntropy
from depthgauge.nets.batch import call_network, split_batch
from depthgauge.nets.cut.cut import Cut
from depthgauge.nets.cut.passage import Passage
from depthgauge.nets.cut.probe import Probe, probe
from depthgauge.nets.find_blocks import find_blocks


def stages() -> Row:
    net = stage_net()
    return Row(net, list(net.blocks), *image_batch())


ACCEPTED: dict[str, tuple[Callable[[], Row], str]] = {
    "a: a branch": (lambda: make(t.added, t.Branch), "branch"),
    "a: the stream": (lambda: make(t.in_turn), "stream"),
    "b: an encoder with masks": (t.masked_encoder, "stream"),
    "e: a small transformer for images": (t.patches, "stream"),
    "a: one block": (lambda: make(t.added, t.Branch, depth=1), "branch"),
    "d: stages with BatchNorm": (stages, "stream"),
    "f: one block twice": (t.one_block_twice, "stream"),
    "f: shared weights": (t.with_shared_weights, "stream"),
    "g: dropout": (lambda: make(t.in_turn, t.Dropping), "stream"),
    "h: checkpoints": (lambda: make(t.checkpointed(False)), "stream"),
    "h: reentrant checkpoints": (lambda: make(t.checkpointed(True)), "stream"),
    "h: reentrant checkpoints, branch": (
        lambda: make(t.checkpointed_and_added, t.Branch),
        "branch",
    ),
    "h: reentrant checkpoint inside": (lambda: make(t.in_turn, t.CheckpointInside), "stream"),
    "i: h += block(h)": (lambda: make(t.added_in_place, t.CopiesFirst), "branch"),
    "i: a block writes and returns": (lambda: make(t.in_turn, t.WritesAndReturns), "stream"),
    "i: a block rectifies its input": (lambda: make(t.in_turn, t.Rectifies), "stream"),
    "j: autocast": (lambda: make(t.under_autocast, t.Branch), "branch"),
    "m: Linear between blocks": (lambda: make(t.linear_between, extra=t.linears), "stream"),
    "m: the caller scales, and says so": (
        lambda: make(t.scaled, t.Branch, returns="branch"),
        "branch",
    ),
    "n: long skips": (lambda: make(t.long_skips, depth=4), "stream"),
    "n: h_0 added at the end": (lambda: make(t.first_state_at_the_end), "stream"),
    "o: mask first": (lambda: make(t.mask_first, t.MaskFirst, argument="hidden"), "stream"),
    "o: learned conditioning": (
        lambda: make(
            t.conditioned, t.Conditioned, argument=1, extra=lambda: nn.Linear(t.WIDTH, t.WIDTH)
        ),
        "stream",
    ),
    "o: a mask of whole numbers first": (
        lambda: make(t.whole_mask_first, t.MaskFirst, argument="hidden"),
        "stream",
    ),
    "o: the stream as query, key and value": (lambda: make(t.three_times, t.Threefold), "stream"),
    "q: seldom a block": (lambda: make(t.seldom_a_block), "stream"),
    "q: LayerDrop": (lambda: make(t.dropping_layers), "stream"),
    "q: reversed": (lambda: make(t.backwards, order=lambda b: b[::-1]), "stream"),
}

SILENT = {
    "a: a branch",
    "h: reentrant checkpoints",
    "h: reentrant checkpoints, branch",
    "o: mask first",
    "q: LayerDrop",
    "i: h += block(h)",
    "m: Linear between blocks",
    "m: the caller scales, and says so",
    "n: long skips",
    "n: h_0 added at the end",
}
"""Rows in which detached inputs are wrong without an error."""


def try_out(row: Row) -> Probe:
    return probe(row.model, row.blocks, row.inputs, row.labels, CrossEntropy().value, **row.options)


def run(row: Row) -> Tensor:
    torch.manual_seed(7)
    return call_network(row.model, row.inputs)


def loss_of(row: Row, output: Tensor) -> Tensor:
    return CrossEntropy().value(output, row.labels).mean()


def distance(found: dict[str, Tensor | None], expected: dict[str, Tensor | None]) -> float:
    """The largest relative distance of a parameter's gradient."""
    distances = []
    for name, right in expected.items():
        zero = torch.zeros(())
        own, right = (zero if g is None else g.double() for g in (found[name], right))  # noqa: PLW2901
        size = float(right.norm())
        distances.append(float((own - right).norm()) / (size or 1.0))
    return max(distances)


def by_backpropagation(row: Row) -> tuple[dict[str, Tensor | None], tuple[Tensor | None, ...]]:
    passage = try_out(row).passage or Passage()
    with Cut(row.model, row.blocks) as cut:
        recording = cut.record(lambda: run(row), passes=passage)
        true = recording.backpropagate(loss_of(row, recording.output))
    found = take_gradients(row.model)
    row.model.zero_grad()
    loss_of(row, run(row)).backward()
    assert distance(found, take_gradients(row.model)) == 0.0
    return found, true


def by_true_credit(row: Row, true: tuple[Tensor | None, ...]) -> dict[str, Tensor | None]:
    credit = [torch.zeros(()) if g is None else g for g in true]
    with Cut(row.model, row.blocks) as cut:
        recording = cut.record(lambda: run(row), passes=try_out(row).passage)
        recording.backward(loss_of(row, recording.output), credit)
    return take_gradients(row.model)


@pytest.mark.parametrize("name", ACCEPTED)
def test_what_is_accepted_equals_backpropagation_under_true_credit(name: str) -> None:
    builder, returns = ACCEPTED[name]
    row = builder()
    seen = try_out(row)
    assert seen.training is None
    assert seen.passage is not None
    assert (seen.passage.returns, seen.passage.argument) == (returns, row.argument)
    expected, true = by_backpropagation(row)
    assert distance(by_true_credit(row, true), expected) < 1e-12


@pytest.mark.parametrize("name", sorted(SILENT))
def test_detached_inputs_would_be_wrong_without_an_error(name: str) -> None:
    row = ACCEPTED[name][0]()
    expected, true = by_backpropagation(row)
    credit = [torch.zeros(()) if g is None else g for g in true]
    naive = gradients_with_detached_inputs(
        row.model, row.blocks, lambda: loss_of(row, run(row)), credit
    )
    assert distance(naive, expected) > 1e-3


@pytest.mark.parametrize("name", ACCEPTED)
def test_each_block_follows_its_own_credit_alone(name: str) -> None:
    """By hand: with other credit for every other block, a block's gradient stays the same."""
    row = ACCEPTED[name][0]()
    passage = try_out(row).passage
    states = Cut(row.model, row.blocks).record(lambda: run(row), passes=passage).states
    generator = torch.Generator().manual_seed(1)

    def draw(h: Tensor) -> Tensor:
        return torch.randn(h.shape, generator=generator, dtype=torch.float64).to(h)

    def gradients(credit: list[Tensor], scale: float) -> dict[str, Tensor | None]:
        with Cut(row.model, row.blocks) as cut:
            recording = cut.record(lambda: run(row), passes=passage)
            recording.backward(scale * loss_of(row, recording.output), credit)
        return take_gradients(row.model)

    base = [draw(h) for h in states]
    first = gradients(base, 1.0)
    for index, block in enumerate(row.blocks):
        own = {
            name
            for name, p in row.model.named_parameters()
            if any(p is q for q in block.parameters())
            and sum(any(p is q for q in other.parameters()) for other in row.blocks) == 1
        }
        other = [h if i == index + 1 else draw(h) for i, h in enumerate(base)]
        second = gradients(other, 3.0)
        for mine in own:
            assert distance({mine: second[mine]}, {mine: first[mine]}) < 1e-12


@pytest.mark.parametrize("frozen", [{0}, {1}, {0, 1}, {2}])
@pytest.mark.parametrize("name", [name for name in ACCEPTED if name[:2] != "f:"])
def test_frozen_blocks_change_nothing_for_the_others(name: str, frozen: set[int]) -> None:
    row = ACCEPTED[name][0]()
    frozen = {index for index in frozen if index < len(row.blocks)}
    passage = try_out(row).passage
    with Cut(row.model, row.blocks) as cut:
        states = cut.record(lambda: run(row), passes=passage).states
    generator = torch.Generator().manual_seed(1)
    drawn = [torch.randn(h.shape, generator=generator, dtype=torch.float64) for h in states]
    credit = [own.to(h) for own, h in zip(drawn, states, strict=True)]

    def gradients(frozen: set[int]) -> dict[str, Tensor | None]:
        with Cut(row.model, row.blocks, frozen=frozen) as cut:
            recording = cut.record(lambda: run(row), passes=passage)
            recording.backward(loss_of(row, recording.output), credit)
        return take_gradients(row.model)

    expected, found = gradients(set()), gradients(frozen)
    own = {id(p) for index in frozen for p in row.blocks[index].parameters()}
    for parameter_name, parameter in row.model.named_parameters():
        if id(parameter) in own:
            assert found[parameter_name] is None
        else:
            only = {parameter_name: expected[parameter_name]}
            assert distance({parameter_name: found[parameter_name]}, only) < 1e-12


REFUSED: dict[str, tuple[Callable[[], Row], str]] = {
    "h: reentrant checkpoint round two blocks": (
        lambda: make(t.two_checkpointed_as_one),
        "use_reentrant=False helps",
    ),
    "i: the result is ignored": (
        lambda: make(t.result_ignored, t.WritesAndReturns),
        "does not reach the second block",
    ),
    "i: slices of a buffer": (
        lambda: make(t.slices_of_a_buffer, t.Branch),
        "follows not only its own",
    ),
    "m: the caller scales": (lambda: make(t.scaled, t.Branch), "neither the stream nor a branch"),
    "m: the norm is outside": (
        lambda: make(t.norm_outside, t.Branch, extra=lambda: nn.LayerNorm(t.WIDTH)),
        "wrap what the network does with the stream",
    ),
    "m: the norm is outside, behind a gate of zero": (
        lambda: make(t.norm_outside, t.Gated, extra=lambda: nn.LayerNorm(t.WIDTH)),
        "wrap what the network does with the stream",
    ),
    "n: a side output": (lambda: make(t.side_output, t.SideOutput), "two streams"),
    "n: the sum of all states": (lambda: make(t.sum_of_all_states), "follows not only"),
    "o: the stream in a tuple": (lambda: make(t.in_a_tuple, t.TakesTuple), "inside the tuple"),
    "p: no gradients": (lambda: make(t.without_gradients), "no gradient"),
    "p: branches without gradients": (
        lambda: make(t.branches_without_gradients, t.Branch),
        "no gradient reaches the output of block 2",
    ),
    "p: detached": (lambda: make(t.detached_between), "no gradient reaches the output of block 0"),
    "q: backwards": (lambda: make(t.backwards), "block 1 runs after block 2"),
    "q: no block": (lambda: make(t.no_block), "no block ran"),
    "q: a block never runs": (
        lambda: make(lambda net, h: net.blocks[1](net.blocks[0](h))),
        "block 2 of 3 did not run",
    ),
    "z: blocks run twice": (lambda: make(t.each_twice), "block 0 runs twice"),
    "z: siamese": (lambda: make(t.siamese), "block 0 runs twice"),
    "z: two streams": (lambda: make(t.two_streams, t.TwoStreams), "two streams"),
    "z: in parallel": (lambda: make(t.in_parallel), "run in parallel"),
    "l: several devices": (lambda: parallel(make(t.in_turn)), "spread over several devices"),
    "own random numbers": (lambda: make(t.in_turn, t.OwnGenerator), "have different losses"),
}


def parallel(row: Row) -> Row:
    row.model = nn.DataParallel(row.model)
    return row


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_local_is_refused_with_a_sentence(name: str) -> None:
    builder, message = REFUSED[name]
    seen = try_out(builder())
    assert seen.training is not None
    assert message in seen.training
    assert seen.ladder == seen.training
    assert "\n" not in seen.training


@pytest.mark.parametrize("name", [n for n in REFUSED if n[:2] in ("m:", "n:") and "gate" not in n])
def test_detached_inputs_would_train_what_is_refused_and_be_wrong(name: str) -> None:
    row = REFUSED[name][0]()
    with Cut(row.model, row.blocks) as cut:
        recording = cut.record(lambda: run(row), passes=Passage(row.argument))
        true = recording.backpropagate(loss_of(row, recording.output))
    expected = take_gradients(row.model)
    naive = gradients_with_detached_inputs(
        row.model, row.blocks, lambda: loss_of(row, run(row)), list(true), row.argument
    )
    assert distance(naive, expected) > 1e-3


def test_a_penalty_on_blocks_in_the_loss_is_refused() -> None:
    row = make(t.in_turn)
    penalty = row.model.blocks[0].fc1.weight

    def losses(output: Tensor, labels: Tensor) -> Tensor:
        return CrossEntropy().value(output, labels) + penalty.square().sum()

    seen = probe(row.model, row.blocks, row.inputs, row.labels, losses)
    assert seen.training is not None
    assert "block 0 (its parameter blocks.0.fc1.weight) follows not only" in seen.training
    assert "the loss" in seen.training


def test_blocks_that_share_weights_are_trained_but_not_frozen_alone() -> None:
    for row in (t.with_shared_weights(), t.one_block_twice()):
        seen = try_out(row)
        assert seen.training is None
        assert seen.ladder is not None
        assert "share weights" in seen.ladder
        assert seen.ladder in seen.notes


def test_what_was_written_down_of_a_network_that_seldom_runs_a_block() -> None:
    seen = try_out(make(t.seldom_a_block))
    assert seen.calls
    assert seen.training is None


def test_modules_between_blocks_and_conditioning_are_noted() -> None:
    between = try_out(make(t.linear_between, extra=t.linears))
    assert "extra.0.weight and extra.0.bias follow the credit of block 0" in between.notes
    row = ACCEPTED["o: learned conditioning"][0]()
    (note,) = try_out(row).notes
    assert note == "extra.weight and extra.bias follow the credit of blocks 0, 1 and 2"


def test_frozen_blocks_run_with_a_graph_only_where_something_trains_through_them() -> None:
    needing = {"o: learned conditioning", "h: reentrant checkpoint inside"}
    for name in [*needing, "a: the stream", "m: Linear between blocks", "n: long skips"]:
        passage = try_out(ACCEPTED[name][0]()).passage
        assert passage is not None
        assert passage.through_frozen == (name in needing)


def test_states_are_copied_where_the_network_writes_into_the_stream() -> None:
    seen = try_out(ACCEPTED["i: h += block(h)"][0]())
    assert seen.passage is not None
    assert seen.passage.copies
    plain = try_out(make(t.in_turn))
    assert plain.passage is not None
    assert not plain.passage.copies


def test_state_that_is_not_saved_keeps_runs_from_being_resumed() -> None:
    seen = try_out(make(t.in_turn, t.Counting))
    assert seen.training is None
    assert seen.resume == (
        "the buffer blocks.0.seen changes in training and is not saved (persistent=False); save "
        "what it holds"
    )


def test_whole_network_compiled_is_refused_and_compiled_blocks_are_not() -> None:
    row = make(t.in_turn)
    whole = Row(torch.compile(row.model, backend="eager"), row.blocks, row.inputs, row.labels)
    assert "compiled as a whole" in (try_out(whole).training or "")
    torch._dynamo.reset()
    for compiles in (lambda b: torch.compile(b, backend="aot_eager"), compile_in_place):
        row = make(t.in_turn)
        row.model.blocks = nn.ModuleList(compiles(block) for block in row.model.blocks)
        row.blocks = list(row.model.blocks)
        assert try_out(row).training is None
        expected, true = by_backpropagation(row)
        assert distance(by_true_credit(row, true), expected) < 1e-12
        torch._dynamo.reset()


def test_whole_network_compiled_after_the_hooks_is_trained_exactly() -> None:
    row = make(t.added, t.Branch)
    passage = try_out(row).passage
    expected, true = by_backpropagation(row)
    with Cut(row.model, row.blocks) as cut:
        compiled = torch.compile(row.model, backend="aot_eager")
        recording = cut.record(lambda: compiled(row.inputs), passes=passage)
        credit = [torch.zeros(()) if g is None else g for g in true]
        recording.backward(loss_of(row, recording.output), credit)
    assert distance(take_gradients(row.model), expected) < 1e-12
    torch._dynamo.reset()


def compile_in_place(block: nn.Module) -> nn.Module:
    block.compile(backend="aot_eager")
    return block


def test_half_precision() -> None:
    for returns, walk in (("stream", t.in_turn), ("branch", t.added)):
        row = make(walk, t.Stream if returns == "stream" else t.Branch)
        row.model.to(torch.bfloat16)
        row.inputs = row.inputs.to(torch.bfloat16)
        seen = try_out(row)
        assert seen.training is None
        assert seen.passage is not None
        assert seen.passage.returns == returns


@pytest.mark.parametrize("network", FOREIGN)
def test_networks_from_elsewhere(network: Callable[[], Foreign]) -> None:
    own = build(network, torch.float64)
    own.model.train()
    inputs, labels = split_batch(own.batches[0])
    if isinstance(inputs, Tensor) and inputs.is_floating_point():
        inputs = inputs.double()
    row = Row(own.model, find_blocks(own.model, own.blocks), inputs, labels)
    seen = try_out(row)
    assert seen.training is seen.ladder is seen.resume is None
    expected, true = by_backpropagation(row)
    assert distance(by_true_credit(row, true), expected) < 1e-12


def test_tied_embedding_and_readout_are_noted() -> None:
    own = build(FOREIGN[0])
    inputs, labels = split_batch(own.batches[0])
    seen = try_out(Row(own.model, find_blocks(own.model, own.blocks), inputs, labels))
    assert "transformer.wte.weight follows the credit below the blocks and the loss" in seen.notes


def test_the_probe_leaves_everything_as_it_was() -> None:
    row = make(t.in_turn, t.Gated)
    row = stages()
    row.model.eval()
    row.model.stem.weight.grad = torch.ones_like(row.model.stem.weight)
    row.model.blocks[1].conv.weight.requires_grad_(False)
    before = copy.deepcopy(row.model.state_dict())
    states = (torch.get_rng_state(), np.random.get_state()[1].copy(), random.getstate())
    try_out(row)
    after = row.model.state_dict()
    assert all(torch.equal(after[name], value) for name, value in before.items())
    assert not row.model.training
    assert torch.equal(row.model.stem.weight.grad, torch.ones_like(row.model.stem.weight))
    assert row.model.head.weight.grad is None
    assert not row.model.blocks[1].conv.weight.requires_grad
    assert torch.equal(states[0], torch.get_rng_state())
    assert (states[1] == np.random.get_state()[1]).all()
    assert states[2] == random.getstate()
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in row.model.modules())
