"""Training through the cut is training in pieces by hand; true credit is backpropagation."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence

import pytest
import torch
from nets.cut.stage_net import image_batch, stage_net
from nets.stacks import CALLS, PACKED, batch, parts_of, stack
from oracles.local_losses import Piece, gradients_by_hand, take_gradients
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from depthgauge.errors import UserError
from depthgauge.nets.cut.cut import Cut
from depthgauge.nets.cut.passage import Passage

Case = tuple[nn.Module, list[nn.Module], tuple[Piece, Sequence[Piece], Piece], Tensor, Tensor, str]


def stack_case(returns: str = "stream", *positions: int, **options: object) -> Case:
    net = stack(returns, **options)
    parts = parts_of(net)
    pieces = (parts.start, parts.blocks, parts.end)
    return (net, list(net.layers), pieces, *batch(*positions), returns)


def stage_case() -> Case:
    net = stage_net()
    pieces = (net.stem, list(net.blocks), net.readout)
    return (net, list(net.blocks), pieces, *image_batch(), "stream")


CASES: dict[str, Callable[[], Case]] = {
    "stream": lambda: stack_case("stream"),
    "branch": lambda: stack_case("branch"),
    "tokens": lambda: stack_case("branch", 3),
    "stages": stage_case,
    **{
        f"{kind} of {returns}": lambda r=returns, w=wraps: stack_case(r, pack=w[0], unpack=w[1])
        for returns in ("stream", "branch")
        for kind, wraps in PACKED.items()
    },
    **{f"called with {kind}": lambda c=call: stack_case(call=c) for kind, call in CALLS.items()},
}


def mean_loss(output: Tensor, labels: Tensor) -> Tensor:
    return cross_entropy(output.flatten(0, -2), labels.flatten(), reduction="sum") / len(labels)


def random_credit(states: Sequence[Tensor]) -> list[Tensor]:
    generator = torch.Generator().manual_seed(8)
    return [torch.randn(h.shape, generator=generator, dtype=h.dtype) for h in states]


def assert_same(found: dict[str, Tensor | None], expected: dict[str, Tensor | None]) -> None:
    assert found.keys() == expected.keys()
    for name, gradient in expected.items():
        if gradient is None:
            assert found[name] is None, name
        else:
            torch.testing.assert_close(found[name], gradient, rtol=1e-10, atol=1e-12, msg=name)


@pytest.mark.parametrize("case", CASES)
def test_random_credit_trains_each_part_as_its_own_loss_does(case: str) -> None:
    net, blocks, pieces, x, y, returns = CASES[case]()
    recording = Cut(net, blocks).record(lambda: net(x), passes=Passage(returns=returns))
    credit = random_credit(recording.states)
    recording.backward(mean_loss(recording.output, y), credit)
    found = take_gradients(net)
    assert_same(found, gradients_by_hand(net, pieces, x, lambda o: mean_loss(o, y), credit))


@pytest.mark.parametrize("case", CASES)
def test_true_credit_is_backpropagation(case: str) -> None:
    net, blocks, _, x, y, returns = CASES[case]()
    mean_loss(net(x), y).backward()
    expected = take_gradients(net)
    recording = Cut(net, blocks).record(lambda: net(x), passes=Passage(returns=returns))
    loss = mean_loss(recording.output, y)
    recording.backward(loss, recording.gradients(loss))
    assert_same(take_gradients(net), expected)


@pytest.mark.parametrize("case", ["stream", "branch", "tokens", "stages"])
def test_states_and_gradients_are_those_of_the_network(case: str) -> None:
    net, blocks, (embed, own_blocks, readout), x, y, returns = CASES[case]()
    states = [embed(x)]
    for block in own_blocks:
        states.append(block(states[-1]))
    expected = torch.autograd.grad(mean_loss(readout(states[-1]), y), states)
    recording = Cut(net, blocks).record(lambda: net(x), passes=Passage(returns=returns))
    loss = mean_loss(recording.output, y)
    torch.testing.assert_close(recording.states, tuple(s.detach() for s in states))
    torch.testing.assert_close(recording.gradients(loss), tuple(expected))
    torch.testing.assert_close(recording.last_gradient(loss), expected[-1])
    assert recording.calls == tuple(range(len(blocks)))


@pytest.mark.parametrize("case", ["stream", "branch", "stages"])
@pytest.mark.parametrize("frozen", [{0}, {1}, {0, 1}, {2}, {0, 1, 2}])
def test_frozen_blocks_take_no_gradient_and_change_nothing_for_the_others(
    case: str, frozen: set[int]
) -> None:
    net, blocks, pieces, x, y, returns = CASES[case]()
    cut = Cut(net, blocks, frozen=frozen)
    recording = cut.record(lambda: net(x), passes=Passage(returns=returns))
    credit = random_credit(recording.states)
    recording.backward(mean_loss(recording.output, y), credit)
    found = take_gradients(net)
    expected = gradients_by_hand(net, pieces, x, lambda o: mean_loss(o, y), credit)
    assert_same(found, expected)
    assert all(p.grad is None for i in frozen for p in blocks[i].parameters())
    cut.close()
    assert all(p.requires_grad for p in net.parameters())


def test_backpropagation_goes_through_frozen_blocks() -> None:
    net, blocks, _, x, y, _ = CASES["stream"]()
    mean_loss(net(x), y).backward()
    expected = take_gradients(net)
    cut = Cut(net, blocks, frozen={1}, end_to_end=True)
    recording = cut.record(lambda: net(x))
    loss = mean_loss(recording.output, y)
    assert all(g is not None for g in recording.gradients(loss))
    recording.backward(loss)
    found = take_gradients(net)
    frozen = {name for name in expected if name.startswith("layers.1.")}
    assert all(found[name] is None for name in frozen)
    assert_same(
        {n: g for n, g in found.items() if n not in frozen},
        {n: g for n, g in expected.items() if n not in frozen},
    )


def test_true_gradients_below_blocks_without_a_graph_are_refused() -> None:
    net, blocks, _, x, y, _ = CASES["stream"]()
    recording = Cut(net, blocks, frozen={1}).record(lambda: net(x))
    loss = mean_loss(recording.output, y)
    assert recording.last_gradient(loss) is not None
    with pytest.raises(UserError, match="end_to_end=True"):
        recording.gradients(loss)


def test_a_recording_does_not_change_the_forward_pass_and_hooks_rest_outside_of_it() -> None:
    net, blocks, _, x, _, _ = CASES["stages"]()
    expected = net(x)
    with Cut(net, blocks, frozen={1}) as cut:
        assert torch.equal(cut.record(lambda: net(x)).output, expected)
        net(x).sum().backward()
        assert blocks[0].conv.weight.grad is not None
        twin = copy.deepcopy(net)
        recording = cut.record(lambda: twin(x))
        assert recording.calls == ()
    assert not any(block._forward_hooks or block._forward_pre_hooks for block in blocks)


class SkippingStack(nn.Module):
    """A stack that leaves out some blocks, as LayerDrop does."""

    def __init__(self, skipped: set[int]) -> None:
        super().__init__()
        self.stack, self.skipped = stack("stream", 4), skipped

    def forward(self, x: Tensor) -> Tensor:
        h = self.stack.embed(x)
        for index, block in enumerate(self.stack.layers):
            h = h if index in self.skipped else block(h)
        return self.stack.head(self.stack.norm(h))


@pytest.mark.parametrize("skipped", [{0}, {1}, {3}, {0, 1}, {1, 2}, {2, 3}])
def test_a_skipped_block_passes_the_stream_on_and_the_others_keep_their_credit(
    skipped: set[int],
) -> None:
    net = SkippingStack(skipped)
    x, y = batch()
    recording = Cut(net, list(net.stack.layers)).record(lambda: net(x))
    assert recording.calls == tuple(i for i in range(4) if i not in skipped)
    assert all(torch.equal(recording.states[i], recording.states[i + 1]) for i in skipped)
    credit = random_credit(recording.states)
    recording.backward(mean_loss(recording.output, y), credit)
    found = take_gradients(net)
    ran = [net.stack.layers[i] for i in recording.calls]
    own = [credit[0], *[credit[i + 1] for i in recording.calls]]
    pieces = (net.stack.embed, ran, lambda h: net.stack.head(net.stack.norm(h)))
    assert_same(found, gradients_by_hand(net, pieces, x, lambda o: mean_loss(o, y), own))


class ReturnsItsInput(nn.Module):
    """A block that hands the very same tensor on, though it has a weight."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(1))

    def forward(self, h: Tensor) -> Tensor:
        return h


def test_below_a_frozen_block_a_block_that_returns_its_input_does_not_stop_the_credit() -> None:
    blocks = [nn.Linear(3, 3), ReturnsItsInput(), nn.Linear(3, 3)]
    net = nn.Sequential(nn.Linear(3, 3), *blocks, nn.Linear(3, 3)).double()
    x = torch.randn(5, 3, dtype=torch.float64)
    recording = Cut(net, blocks, frozen={2}).record(lambda: net(x))
    credit = random_credit(recording.states)
    recording.backward(recording.output.square().sum(), credit)
    assert blocks[0].weight.grad is not None
    torch.testing.assert_close(blocks[0].weight.grad, credit[1].T @ recording.states[0])
    assert net[0].weight.grad is not None
    torch.testing.assert_close(net[0].weight.grad, credit[0].T @ x)


def test_where_no_block_runs_the_loss_trains_alone() -> None:
    net = SkippingStack({0, 1, 2, 3})
    x, y = batch()
    mean_loss(net(x), y).backward()
    expected = take_gradients(net)
    recording = Cut(net, list(net.stack.layers)).record(lambda: net(x))
    assert recording.states == recording.calls == ()
    recording.backward(mean_loss(recording.output, y), ())
    assert_same(take_gradients(net), expected)


class Reordered(nn.Module):
    def __init__(self, order: list[int]) -> None:
        super().__init__()
        self.stack, self.order = stack("stream"), order

    def forward(self, x: Tensor) -> Tensor:
        h = self.stack.embed(x)
        for index in self.order:
            h = self.stack.layers[index](h)
        return self.stack.head(h)


@pytest.mark.parametrize(
    ("order", "message"),
    [([0, 2, 1], "block 1 runs after block 2"), ([0, 1, 1, 2], "block 1 runs twice")],
)
def test_blocks_out_of_order_are_refused(order: list[int], message: str) -> None:
    net = Reordered(order)
    with pytest.raises(UserError, match=message):
        Cut(net, list(net.stack.layers)).record(lambda: net(batch()[0]))


def test_a_block_inside_a_block_is_refused() -> None:
    net = stack("stream")
    with pytest.raises(UserError, match="block 1 runs inside block 0"):
        Cut(net, [net.layers[0], net.layers[0].fc1]).record(lambda: net(batch()[0]))


def test_credit_of_another_shape_is_refused() -> None:
    net = stack("stream")
    x, y = batch()
    recording = Cut(net, list(net.layers)).record(lambda: net(x))
    loss = mean_loss(recording.output, y)
    with pytest.raises(UserError, match="3 tensors of credit do not fit 3 blocks"):
        recording.backward(loss, recording.states[:3])
    wrong = [*recording.states[:-1], recording.states[-1][:, :2]]
    with pytest.raises(UserError, match=r"the output of block 2 has the shape \(7, 2\)"):
        recording.backward(loss, wrong)


def test_credit_is_cast_to_the_type_of_the_stream() -> None:
    net = stack("stream", dtype=torch.bfloat16)
    x, _ = batch(dtype=torch.bfloat16)
    recording = Cut(net, list(net.layers)).record(lambda: net(x))
    credit = [h.double() for h in random_credit(recording.states)]
    recording.backward(recording.output.float().sum(), credit)
    assert all(p.grad is not None and p.grad.dtype == p.dtype for p in net.parameters())


def test_an_error_in_the_network_leaves_gradients_on_and_the_hooks_at_rest() -> None:
    net = stack("stream")

    def failing(module: nn.Module, args: object, output: object) -> None:
        raise ValueError("the network fails")

    handle = net.layers[1].fc1.register_forward_hook(failing)
    cut = Cut(net, list(net.layers), frozen={0, 1})
    with pytest.raises(ValueError, match="the network fails"):
        cut.record(lambda: net(batch()[0]))
    handle.remove()
    assert torch.is_grad_enabled()
    assert net(batch()[0]).requires_grad
    assert cut.record(lambda: net(batch()[0])).calls == (0, 1, 2)
