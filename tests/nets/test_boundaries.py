"""Hooks at the block boundaries: the stream shifted, a block left out, blocks that do not fit."""

from __future__ import annotations

from contextlib import nullcontext, suppress
from itertools import product

import pytest
import torch
from nets.stacks import CALLS, PACKED, SAMPLES, WIDTH, batch, parts_of, stack
from oracles.foreign import Parts, run
from torch import Tensor, nn

from depthgauge.errors import UserError
from depthgauge.nets.stream_reader import StreamReader

BOTH = pytest.mark.parametrize("returns", ["stream", "branch"])


def a_shift() -> Tensor:
    generator = torch.Generator().manual_seed(9)
    return torch.randn(SAMPLES, WIDTH, generator=generator, dtype=torch.float64)


def reader_after_one_batch(net: nn.Module) -> StreamReader:
    reader = StreamReader(net, "layers")
    reader.see(*batch())
    return reader


def assert_answers(found: Tensor, expected: Tensor) -> None:
    torch.testing.assert_close(found, expected.detach(), rtol=1e-9, atol=1e-12)


def test_every_boundary_can_be_shifted():
    for returns in ["stream", "branch"]:
        for boundary in [0, 1, 2, 3]:
            net, (x, _), shift = stack(returns), batch(), a_shift()
            kept = shift.clone()
            found = reader_after_one_batch(net).logits(x, shift=(boundary, shift))
            assert_answers(found, run(parts_of(net), x, shift=(boundary, shift))[1])
            assert not torch.allclose(found, net(x))
            assert torch.equal(shift, kept)


def test_every_block_can_be_left_out():
    for returns in ["stream", "branch"]:
        for index in [0, 1, 2]:
            net, (x, _) = stack(returns), batch()
            found = reader_after_one_batch(net).logits(x, skip=index)
            assert_answers(found, run(parts_of(net), x, skip=index)[1])
            assert not torch.allclose(found, net(x))


def test_before_anything_was_seen_the_answer_is_right_or_refused():
    changes = ({"skip": 1}, {"shift": (0, a_shift())})
    for returns, said, change in product(("stream", "branch"), ("auto", "said"), changes):
        net, (x, _) = stack(returns), batch()
        reader = StreamReader(net, "layers", returns="auto" if said == "auto" else returns)
        with suppress(UserError) if said == "auto" else nullcontext():
            assert_answers(reader.logits(x, **change), run(parts_of(net), x, **change)[1])


def test_the_only_block_can_be_left_out():
    for returns in ["stream", "branch"]:
        net, (x, _) = stack(returns, depth=1), batch()
        without = reader_after_one_batch(net).logits(x, skip=0)
        assert_answers(without, net.head(net.norm(net.embed(x))))


def test_shifts_and_lesions_go_through_what_blocks_return():
    for returns in ["stream", "branch"]:
        for pack, unpack in PACKED.values():
            net, (x, _), shift = stack(returns, pack=pack, unpack=unpack), batch(), a_shift()
            reader = reader_after_one_batch(net)
            assert_answers(
                reader.logits(x, shift=(2, shift)), run(parts_of(net), x, shift=(2, shift))[1]
            )
            assert_answers(reader.logits(x, skip=1), run(parts_of(net), x, skip=1)[1])


def test_shifts_and_lesions_go_through_how_blocks_are_called():
    for returns in ["stream", "branch"]:
        for call in CALLS.values():
            net, (x, _), shift = stack(returns, call=call), batch(), a_shift()
            reader = reader_after_one_batch(net)
            for boundary in (0, 3):
                expected = run(parts_of(net), x, shift=(boundary, shift))[1]
                assert_answers(reader.logits(x, shift=(boundary, shift)), expected)
            assert_answers(reader.logits(x, skip=0), run(parts_of(net), x, skip=0)[1])


def test_a_shift_in_float64_is_taken_in_the_precision_of_the_network():
    for boundary in [0, 1, 3]:
        net, (x, _) = stack(dtype=torch.float32), batch(dtype=torch.float32)
        found = reader_after_one_batch(net).logits(x, shift=(boundary, a_shift()))
        expected = run(parts_of(net), x, shift=(boundary, a_shift().float()))[1]
        assert found.dtype == torch.float32
        torch.testing.assert_close(found, expected.detach())


class Latents(nn.Module):
    """The stream begins with a parameter; the data come in from the side."""

    def __init__(self) -> None:
        super().__init__()
        self.stack = stack()
        self.layers = self.stack.layers
        self.latents = nn.Parameter(torch.ones(1, WIDTH, dtype=torch.float64))

    def forward(self, x: Tensor) -> Tensor:
        h = self.latents.expand(len(x), -1)
        for block in self.layers:
            h = block(h)
        return self.stack.head(self.stack.norm(h) * self.stack.embed(x))


@pytest.mark.parametrize("samples", [SAMPLES, 1])
def test_a_stream_that_begins_with_a_parameter_is_shifted_and_the_parameter_is_not(samples: int):
    net, x, shift = Latents(), batch()[0][:samples], a_shift()[:samples]
    kept = net.latents.detach().clone()
    found = reader_after_one_batch(net).logits(x, shift=(0, shift))
    assert torch.equal(net.latents, kept)
    parts = Parts(
        lambda x: net.latents.expand(len(x), -1),
        parts_of(net.stack).blocks,
        lambda h: net.stack.head(net.stack.norm(h) * net.stack.embed(x)),
        lambda h: h,
    )
    assert_answers(found, run(parts, x, shift=(0, shift))[1])


class EarlyReLU(nn.Module):
    """relu in place, as the first thing that a pre-activation block does to the stream."""

    def __init__(self, block: nn.Module) -> None:
        super().__init__()
        self.relu, self.block = nn.ReLU(inplace=True), block

    def forward(self, h: Tensor) -> Tensor:
        return self.block(self.relu(h))

    returns = "stream"


@pytest.mark.parametrize("frozen", [False, True])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_block_that_changes_its_input_in_place_is_read_and_left_out(place: int, frozen: bool):
    net, (x, y) = stack(), batch()
    plain = parts_of(net)
    block = plain.blocks[place]
    plain.blocks[place] = lambda h: block(h.clamp(min=0))
    net.layers[place] = EarlyReLU(net.layers[place])
    net.requires_grad_(not frozen)
    reader = StreamReader(net, "layers")
    seen = reader.see(x, y)
    torch.testing.assert_close(seen.states, tuple(s.detach() for s in run(plain, x)[0]))
    assert_answers(reader.logits(x, skip=place), run(plain, x, skip=place)[1])


@BOTH
def test_hooks_are_gone_also_after_an_error(returns: str):
    net = stack(returns)
    reader = StreamReader(net, "layers")
    reader.see(*batch())
    reader.logits(batch()[0], shift=(1, a_shift()))
    reader.logits(batch()[0], skip=1)
    with pytest.raises(UserError, match="RuntimeError"):
        reader.logits(batch()[0], shift=(1, torch.ones(3, 4)))
    assert not any(block._forward_hooks or block._forward_pre_hooks for block in net.modules())
