"""Replayed parts of a network: the same function as in the network, and its derivative."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from nets.cut import table_networks as t
from nets.cut.stage_net import image_batch, stage_net
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from depthgauge.losses.cross_entropy import CrossEntropy
from depthgauge.nets.batch import call_network
from depthgauge.nets.cut.cut import Cut
from depthgauge.nets.cut.passage import Passage
from depthgauge.nets.cut.probe import probe
from depthgauge.nets.cut.recording import Recording
from depthgauge.nets.cut.replay import Replay, find_refusals

Batch = tuple[Tensor, Tensor]


class Masked(nn.Module):
    """A block that gets the stream second, by name, and returns a tuple."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm, self.turn = nn.LayerNorm(width), nn.Linear(width, width)

    def forward(self, mask: Tensor, *, stream: Tensor) -> tuple[Tensor, Tensor]:
        return torch.tanh(self.turn(self.norm(stream))) * mask, mask


class MaskedNet(nn.Module):
    """The network adds the blocks' branches, and scales the stream between two of them."""

    def __init__(self) -> None:
        super().__init__()
        self.embed, self.head = nn.Linear(3, 6), nn.Linear(6, 4)
        self.blocks = nn.ModuleList(Masked(6) for _ in range(3))
        self.between = nn.Linear(6, 6)

    def forward(self, x: Tensor) -> Tensor:
        h, mask = self.embed(x), torch.ones(6, dtype=x.dtype)
        for index, block in enumerate(self.blocks):
            h = h + block(mask, stream=h)[0]
            if index == 0:
                h = self.between(h)
        return self.head(h)


class Detaching(MaskedNet):
    """Its head works on numbers that are no longer part of a graph."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.from_numpy(super().forward(x).detach().numpy()).requires_grad_()


def masked_batch() -> Batch:
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(5, 3, generator=generator, dtype=torch.float64)
    return x, torch.randint(4, (5,), generator=generator)


def masked_net() -> MaskedNet:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(2)
        return MaskedNet().double()


CASES = {
    "branches, a mask first": (masked_net, masked_batch, Passage("stream", "branch")),
    "stages with batch norm": (stage_net, image_batch, Passage()),
}


@pytest.fixture(params=CASES.values(), ids=CASES)
def case(request) -> tuple[nn.Module, Batch, Recording, Replay]:
    make_net, make_batch, passage = request.param
    net, (x, y) = make_net(), make_batch()
    with Cut(net, list(net.blocks), end_to_end=True) as cut:
        recording = cut.record(lambda: call_network(net, x), passes=passage)
    return (
        net,
        (x, y),
        recording,
        Replay(net, list(net.blocks), lambda: call_network(net, x), recording, passage),
    )


def close(ours: Tensor, theirs: Tensor) -> bool:
    return torch.allclose(ours, theirs, rtol=1e-10, atol=1e-12)


def test_the_readout_gives_the_networks_output_and_the_last_gradient(case):
    _, (_, y), recording, replay = case

    def loss(last: Tensor) -> Tensor:
        return cross_entropy(replay.readout(last), y)

    with torch.no_grad():
        last = recording.states[-1]
        assert close(replay.readout(last), recording.output)
        found = torch.func.grad(loss)(last)
    assert close(found, recording.last_gradient(cross_entropy(recording.output, y)))


def test_each_block_gives_the_next_state_and_hands_the_true_gradient_down(case):
    _, (_, y), recording, replay = case
    gradients = recording.gradients(cross_entropy(recording.output, y))
    with torch.no_grad():
        for index, block in enumerate(replay.blocks()):
            above, pull = torch.func.vjp(block, recording.states[index])
            assert close(above, recording.states[index + 1])
            assert close(pull(gradients[index + 1])[0], gradients[index])


def test_another_stream_gives_what_the_network_would_give(case):
    net, (x, _), recording, replay = case
    with torch.no_grad():
        state = replay.blocks()[0](recording.states[0] + 0.1)
        for block in replay.blocks()[1:]:
            state = block(state)
        ours = replay.readout(state)

    def shifted(_: nn.Module, args: tuple[Tensor, ...], kwargs: dict[str, Tensor]):
        if "stream" in kwargs:
            kwargs = {**kwargs, "stream": kwargs["stream"] + 0.1}
            return args, kwargs
        return (args[0] + 0.1, *args[1:]), kwargs

    if isinstance(net, MaskedNet):  # its caller's stream must move too
        net.embed.bias.data += 0.1
        handle = None
    else:
        handle = net.blocks[0].register_forward_pre_hook(shifted, with_kwargs=True)
    theirs = net(x)
    if handle is not None:
        handle.remove()
    assert close(ours, theirs)


def test_nothing_of_the_network_is_changed(case):
    net, _, recording, replay = case
    before = {name: value.clone() for name, value in net.state_dict().items()}
    with torch.no_grad():
        torch.func.vjp(replay.readout, recording.states[-1])
        torch.func.vjp(replay.blocks()[0], recording.states[0])
    after = net.state_dict()
    assert all(torch.equal(value, after[name]) for name, value in before.items())
    assert not any("forward" in vars(module) for module in net.modules())


def test_a_network_that_can_offer_its_parts_is_not_refused(case):
    _, _, recording, replay = case
    assert find_refusals(replay, recording) == {}


def test_a_readout_that_leaves_torch_is_refused_in_a_sentence():
    with torch.random.fork_rng(devices=[]):
        net = Detaching().double()
    x, _ = masked_batch()
    passage = Passage("stream", "branch")
    with Cut(net, list(net.blocks)) as cut:
        recording = cut.record(lambda: net(x), passes=passage)
    replay = Replay(net, list(net.blocks), lambda: net(x), recording, passage)
    refusals = find_refusals(replay, recording)
    assert refusals.keys() == {"readout"}
    assert refusals["readout"].startswith("the readout of this network cannot be run alone and ")


@pytest.mark.parametrize(
    ("walk", "block"), [(t.in_turn, t.Dropping), (t.dropping_layers, t.Stream)]
)
def test_parts_of_a_network_with_dropout_keep_its_random_numbers(walk, block):
    row = t.make(walk, block, depth=4)
    passage = probe(row.model, row.blocks, row.inputs, row.labels, CrossEntropy().value).passage
    assert passage.draws

    def run() -> Tensor:
        torch.manual_seed(7)
        return row.model(row.inputs)

    with Cut(row.model, row.blocks, end_to_end=True) as cut:
        recording = cut.record(run, passes=passage)
    replay = Replay(row.model, row.blocks, run, recording, passage)
    states = recording.states
    assert len(recording.calls) > 1
    assert torch.equal(replay.readout(states[-1]), recording.output)
    for replayed, given, wanted in zip(replay.blocks(), states, states[1:], strict=False):
        assert torch.equal(replayed(given), wanted)
    assert find_refusals(replay, recording) == {}
    forgetful = replace(passage, draws=False)
    with Cut(row.model, row.blocks, end_to_end=True) as cut:
        recording = cut.record(run, passes=forgetful)
    assert recording.random_states == ()
