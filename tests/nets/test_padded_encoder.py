"""torch's own encoder with padding is read as by hand, although it has a fused fast path."""

from __future__ import annotations

import pytest
import torch
from nets.foreign_networks import numbers, roughen
from oracles.foreign import Parts, run
from torch import Tensor, nn

from depthgauge.nets.stream_reader import StreamReader

SAMPLES, TOKENS, WIDTH, CLASSES = 5, 6, 8, 4
LENGTHS = torch.tensor([6, 4, 3, 5, 1])
X = numbers(SAMPLES, TOKENS, WIDTH, seed=1).double()
Y = torch.arange(SAMPLES) % CLASSES
PADDING = torch.arange(TOKENS) >= LENGTHS.unsqueeze(1)


class Encoder(nn.Module):
    """The readout is of the first token, which is never padding."""

    def __init__(self) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(WIDTH, 2, 2 * WIDTH, batch_first=True)
        self.embed = nn.Linear(WIDTH, WIDTH)
        self.encoder = nn.TransformerEncoder(layer, 3)
        self.head = nn.Linear(WIDTH, CLASSES)

    def forward(self, x: Tensor, padding: Tensor) -> Tensor:
        stream = self.encoder(self.embed(x), src_key_padding_mask=padding)
        return self.head(stream[:, 0])


def encoder() -> Encoder:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return roughen(Encoder()).double()


def parts_of(net: Encoder) -> Parts:
    net.eval()

    def run_block(block: nn.Module, h: Tensor) -> Tensor:
        mixed, _ = block.self_attn(h, h, h, key_padding_mask=PADDING, need_weights=False)
        h = block.norm1(h + mixed)
        return block.norm2(h + block.linear2(block.linear1(h).relu()))

    blocks = [lambda h, block=block: run_block(block, h) for block in net.encoder.layers]
    return Parts(net.embed, blocks, lambda h: net.head(h[:, 0]), lambda h: h)


FROZEN = pytest.mark.parametrize("frozen", [False, True])


@FROZEN
def test_it_is_read_as_by_hand(frozen: bool):
    states, logits = run(parts_of(encoder()), X)
    loss = nn.functional.cross_entropy(logits, Y, reduction="sum")
    gradients = torch.autograd.grad(loss, states)
    net = encoder().requires_grad_(not frozen)
    seen = StreamReader(net, "encoder.layers").see((X, PADDING), Y)
    torch.testing.assert_close(seen.states, tuple(state.detach() for state in states))
    torch.testing.assert_close(seen.gradients, gradients)


@pytest.mark.parametrize("boundary", [0, 1, 3])
def test_it_is_shifted_as_by_hand(boundary: int):
    shift = (boundary, numbers(SAMPLES, TOKENS, WIDTH, seed=2).double())
    _, expected = run(parts_of(encoder()), X, shift=shift)
    reader = StreamReader(encoder(), "encoder.layers")
    reader.see((X, PADDING), Y)
    torch.testing.assert_close(reader.logits((X, PADDING), shift=shift), expected.detach())


@pytest.mark.parametrize("index", [0, 2])
def test_its_blocks_are_left_out_as_by_hand(index: int):
    reader = StreamReader(encoder(), "encoder.layers")
    reader.see((X, PADDING), Y)
    _, expected = run(parts_of(encoder()), X, skip=index)
    torch.testing.assert_close(reader.logits((X, PADDING), skip=index), expected.detach())
