"""The stream, its gradients and the error of any network are read as by hand."""

from __future__ import annotations

from contextlib import nullcontext

import pytest
import torch
from nets.module_fields import fields
from nets.stacks import (
    ANSWERS,
    CALLS,
    CLASSES,
    PACKED,
    SAMPLES,
    assert_seen,
    batch,
    parts_of,
    see,
    stack,
    states_and_gradients,
)
from oracles.foreign import Parts, run
from torch import Tensor, nn

from depthgauge.errors import UserError
from depthgauge.nets.layout import Layout
from depthgauge.nets.residual_mlp import ResidualMLP
from depthgauge.nets.stream_reader import StreamReader


@pytest.mark.parametrize("returns", ["stream", "branch"])
@pytest.mark.parametrize("depth", [1, 2, 4])
def test_states_and_gradients_are_those_by_hand(returns: str, depth: int):
    net = stack(returns, depth)
    assert_seen(see(net), *states_and_gradients(net, *batch()))


def test_streams_with_positions_and_a_label_for_each():
    for positions in [(3,), (2, 3)]:
        for returns in ["stream", "branch"]:
            net = stack(returns)
            x, y = batch(*positions)
            seen = StreamReader(net, "layers").see(x, y)
            assert_seen(seen, *states_and_gradients(net, x, y))
            assert seen.losses.shape == (SAMPLES,)


def test_the_answer_its_losses_and_its_error():
    net = stack()
    x, y = batch()
    seen = see(net)
    probabilities = net(x).detach().softmax(-1)
    assert torch.equal(seen.logits, net(x).detach())
    assert len(seen) == SAMPLES
    own = torch.arange(SAMPLES)
    torch.testing.assert_close(seen.losses, -probabilities[own, y].log())
    torch.testing.assert_close(seen.error, probabilities - torch.eye(CLASSES)[y].double())
    torch.testing.assert_close(seen.error_size, seen.error.square().sum(1).sqrt())


def test_the_error_is_a_unit_vector_on_its_way_back():
    seen = see(stack())
    for unit, gradient in zip(seen.unit_gradients, seen.gradients, strict=True):
        torch.testing.assert_close(unit * seen.error_size.unsqueeze(1), gradient)


def test_the_company_in_a_batch_does_not_matter():
    net = StreamReader(stack(), "layers")
    x, y = batch()
    together = net.see(x, y)
    for index in range(SAMPLES):
        alone = net.see(x[index : index + 1], y[index : index + 1])
        for one, all_of_them in zip(alone.gradients, together.gradients, strict=True):
            torch.testing.assert_close(one[0], all_of_them[index], rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("residual_add", [True, False])
@pytest.mark.parametrize("depth", [1, 3])
def test_the_reference_network_is_seen_as_in_its_trace(residual_add: bool, depth: int):
    torch.manual_seed(0)
    net = ResidualMLP(4, 6, 5, depth, residual_add=residual_add, w2_std=0.5).double()
    x, y = batch()
    trace = net.trace(x)
    seen = StreamReader(net).see(x, y)
    torch.testing.assert_close(seen.states, tuple(state.detach() for state in trace.states))
    torch.testing.assert_close(seen.logits, trace.logits.detach())
    loss = nn.functional.cross_entropy(trace.logits, y, reduction="sum")
    torch.testing.assert_close(seen.gradients, torch.autograd.grad(loss, trace.states))


def test_blocks_may_return_the_stream_among_other_things():
    for pack, unpack in PACKED.values():
        for returns in ["stream", "branch"]:
            net = stack(returns, pack=pack, unpack=unpack)
            assert_seen(see(net), *states_and_gradients(net, *batch()))


def test_blocks_may_be_called_in_any_way():
    for call in CALLS.values():
        for returns in ["stream", "branch"]:
            net = stack(returns, call=call)
            assert_seen(see(net), *states_and_gradients(net, *batch()))


def test_networks_may_answer_in_any_way():
    for answer in ANSWERS.values():
        assert torch.equal(see(stack(answer=answer)).logits, see(stack()).logits)


def test_a_network_that_changes_the_last_state_in_place():
    """Its gradient is that at the boundary, before the change."""

    class Gated(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.stack, self.gate = stack(), nn.ReLU(inplace=True)
            self.layers = self.stack.layers

        def forward(self, x: Tensor) -> Tensor:
            h = self.stack.embed(x)
            for block in self.layers:
                h = block(h)
            return self.stack.head(self.gate(h.mul_(3)))

    net = Gated()
    plain = parts_of(net.stack)
    by_hand = Parts(
        plain.start, plain.blocks, lambda h: net.stack.head(3 * h.clamp(min=0)), plain.positions
    )
    assert_seen(see(net), *states_and_gradients(net, *batch(), by_hand))


def test_a_confident_answer_has_a_direction_still_in_float32():
    net = stack(dtype=torch.float32)
    x, _ = batch(dtype=torch.float32)
    with torch.no_grad():
        net.head.weight *= 200
        best = net(x).argmax(-1)
    seen = StreamReader(net, "layers").see(x, best)
    assert float(seen.error_size.min()) < 1e-60
    assert all(bool((unit.norm(dim=-1) > 0.1).all()) for unit in seen.unit_gradients)
    exact = StreamReader(net, "layers").in_precision(torch.float64).see(x, best)
    for found, expected in zip(seen.gradients, exact.gradients, strict=True):
        small = expected.norm(dim=-1, keepdim=True)
        torch.testing.assert_close(found / small, expected / small, rtol=0, atol=1e-2)


def test_no_error_no_gradient():
    seen = StreamReader(stack(), "layers").see(*batch(2)[:1], torch.full((SAMPLES, 2), -100))
    assert all(not bool(gradient.any()) for gradient in (*seen.gradients, *seen.unit_gradients))
    assert not bool(seen.losses.any())


def test_another_precision_is_a_copy():
    net = stack("branch", dtype=torch.float32)
    reader = StreamReader(net, "layers")
    reader.see(*batch())
    before = fields(net)
    exact = reader.in_precision(torch.float64)
    assert (exact.dtype, exact.adds, reader.dtype) == (torch.float64, True, torch.float32)
    seen = exact.see(*batch())
    assert seen.states[0].dtype == torch.float64
    twin = stack("branch", dtype=torch.float32).double()
    assert_seen(seen, *states_and_gradients(twin, *batch()))
    assert fields(net) == before


def test_another_precision_is_made_and_seen_anywhere():
    for ambient in [
        nullcontext,
        torch.no_grad,
        torch.inference_mode,
        lambda: torch.autocast("cpu"),
    ]:
        reader = StreamReader(stack(dtype=torch.float32), "layers")
        with ambient():
            seen = reader.in_precision(torch.float64).see(*batch())
        assert_seen(seen, *states_and_gradients(stack(dtype=torch.float32).double(), *batch()))


def test_states_are_copies_that_later_passes_do_not_change():
    reader = StreamReader(stack(), "layers")
    seen = reader.see(*batch())
    kept = [state.clone() for state in seen.states]
    reader.logits(batch()[0], shift=(0, torch.ones_like(kept[0])))
    assert all(torch.equal(a, b) for a, b in zip(seen.states, kept, strict=True))
    assert not any(state.requires_grad for state in seen.states)


def test_losses_follow_a_shift():
    net = stack()
    x, y = batch()
    shift = torch.full((SAMPLES, 6), 0.1, dtype=torch.float64)
    _, logits = run(parts_of(net), x, shift=(2, shift))
    expected = nn.functional.cross_entropy(logits, y, reduction="none").detach()
    found = see(net).net.losses(x, y, shift=(2, shift))
    torch.testing.assert_close(found, expected)


def test_weights_that_are_not_finite_are_named():
    for name in ["embed.weight", "layers.1.fc2.bias", "head.bias"]:
        for value in [float("nan"), float("inf")]:
            net = stack()
            with torch.no_grad():
                net.get_parameter(name).view(-1)[1] = value
            with pytest.raises(
                UserError, match=rf"^the network's {name} has values that are not finite"
            ):
                StreamReader(net, "layers")


def test_a_buffer_that_is_not_finite_is_named():
    net = stack()
    net.embed.register_buffer("seen", torch.tensor([1.0, float("nan")]))
    with pytest.raises(UserError, match=r"embed\.seen has values that are not finite"):
        StreamReader(net, "layers")


def test_an_axis_that_is_not_the_samples_is_named():
    for axis in [1, 2, -3]:
        with pytest.raises(UserError, match=rf"axis {axis} should have 7 samples"):
            see(stack(), layout=Layout(sample_axis=axis))
