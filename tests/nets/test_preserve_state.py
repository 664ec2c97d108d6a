"""A measurement leaves a module exactly as it was; the comparison of modules sees every change."""

from __future__ import annotations

from contextlib import nullcontext

import pytest
import torch
from nets.module_fields import fields
from torch import Tensor, nn

from depthgauge.nets.preserve_state import device_of, dtype_of, preserve_state
from depthgauge.nets.stream_reader import StreamReader

AMBIENT = pytest.mark.parametrize(
    "ambient",
    [nullcontext, torch.no_grad, torch.inference_mode, lambda: torch.autocast("cpu")],
    ids=["nothing", "no_grad", "inference_mode", "autocast"],
)

BATCH = (torch.eye(4, 3), torch.tensor([0, 1, 2, 0]))


class Counting(nn.Module):
    """Changes a buffer in every pass, whatever its mode: in place, or by a new one."""

    def __init__(self, anew: bool) -> None:
        super().__init__()
        self.anew = anew
        self.register_buffer("passes", torch.zeros(2))
        self.linear = nn.Linear(3, 3)

    def forward(self, x: Tensor) -> Tensor:
        if self.anew:
            self.passes = self.passes + 1
        else:
            self.passes += 1
        return x + self.linear(x)


def network() -> nn.Module:
    """Some in train and some in eval mode, one frozen, one with a gradient, a user's hook."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        net = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3), nn.Dropout(0.5), nn.Linear(3, 3))
    net[1].eval()
    net[0].weight.requires_grad_(False)
    net[3].weight.grad = torch.ones(3, 3)
    net[3].register_forward_hook(lambda *_: None)
    return net


def turn_on_training(net: nn.Module) -> None:
    net[1].train()


def change_a_weight(net: nn.Module) -> None:
    net[0].weight.data[0, 0] += 1e-7


def change_a_buffer(net: nn.Module) -> None:
    net[1].num_batches_tracked += 1


def give_a_gradient(net: nn.Module) -> None:
    net[3].bias.grad = torch.zeros(3)


def change_a_gradient(net: nn.Module) -> None:
    net[3].weight.grad += 1


def lose_a_gradient(net: nn.Module) -> None:
    net[3].weight.grad = None


def freeze(net: nn.Module) -> None:
    net[3].bias.requires_grad_(False)


def leave_a_hook(net: nn.Module) -> None:
    net[2].register_forward_pre_hook(lambda *_: None, with_kwargs=True)


def leave_a_hook_on_a_tensor(net: nn.Module) -> None:
    net[3].bias.register_hook(lambda _: None)


def replace_a_parameter(net: nn.Module) -> None:
    net[3].bias = nn.Parameter(net[3].bias.detach().clone())


def draw_a_number(_: nn.Module) -> None:
    torch.rand(1)


CHANGES = [
    turn_on_training,
    change_a_weight,
    change_a_buffer,
    give_a_gradient,
    change_a_gradient,
    lose_a_gradient,
    freeze,
    leave_a_hook,
    leave_a_hook_on_a_tensor,
    replace_a_parameter,
    draw_a_number,
]


def test_the_comparison_sees_every_change():
    for change in CHANGES:
        net = network()
        before = fields(net)
        assert fields(net) == before
        change(net)
        after = fields(net)
        assert [name for name in after if after[name] != before[name]]


def test_inside_everything_is_ready_for_measuring():
    for ambient in [
        nullcontext,
        torch.no_grad,
        torch.inference_mode,
        lambda: torch.autocast("cpu"),
    ]:
        net = network()
        with ambient(), preserve_state(net):
            assert not any(module.training for module in net.modules())
            assert torch.is_grad_enabled()
            assert not torch.is_inference_mode_enabled()
            assert not torch.is_autocast_enabled("cpu")
            assert (net[3].weight * 2).requires_grad


@AMBIENT
def test_the_surroundings_are_as_before_too(ambient):
    def surroundings() -> list[bool]:
        return [
            torch.is_grad_enabled(),
            torch.is_inference_mode_enabled(),
            torch.is_autocast_enabled("cpu"),
        ]

    net = network()
    with ambient():
        before = surroundings()
        with preserve_state(net):
            assert surroundings() == [True, False, False]
        assert surroundings() == before


def meddle(net: nn.Module) -> None:
    """What a forward pass of a network may do to it."""
    net.train()
    net[1].running_mean += 1
    net[1].num_batches_tracked += 5
    net[3].bias.requires_grad_(False)
    torch.rand(7)


@AMBIENT
@pytest.mark.parametrize("error", [False, True])
def test_what_a_pass_changes_is_put_back(ambient, error: bool):
    net = network()
    before = fields(net)
    refused = pytest.raises(ZeroDivisionError) if error else nullcontext()
    with ambient(), refused, preserve_state(net):
        meddle(net)
        assert fields(net) != before
        assert 1 / (not error)
    assert fields(net) == before


def test_measuring_twice_draws_the_same_numbers():
    net, drawn = network(), []
    for _ in range(2):
        with preserve_state(net):
            drawn.append(torch.rand(3))
    assert torch.equal(*drawn)


def test_a_network_that_counts_its_passes_is_put_back():
    for anew in [False, True]:
        net = nn.Sequential(nn.Linear(3, 3), nn.Sequential(Counting(anew), Counting(anew)))
        before = fields(net)
        StreamReader(net, "1").see(*BATCH)
        assert fields(net) == before


class FromABuffer(nn.Module):
    """The stream begins with a buffer: nothing in front of the blocks learns."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("start", torch.ones(4, 3))
        self.layers = nn.Sequential(Counting(False), Counting(False))

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(self.start) * x


def test_a_network_whose_stream_begins_with_its_own_tensor_is_put_back():
    for learned in [False, True]:
        net = FromABuffer()
        if learned:
            start = net._buffers.pop("start")
            net.start = nn.Parameter(start)
        before = fields(net)
        StreamReader(net, "layers").see(*BATCH)
        assert fields(net) == before


def test_the_precision_is_that_of_the_least_precise_parameter():
    net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2).double())
    assert dtype_of(net) == torch.float32
    assert dtype_of(nn.Linear(2, 2).double()) == torch.float64
    assert dtype_of(nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2).bfloat16())) == torch.bfloat16
    assert dtype_of(nn.ReLU()) == torch.float32


def test_the_device_is_that_of_the_first_tensor():
    assert device_of(nn.Linear(2, 2, device="meta")) == torch.device("meta")
    assert device_of(nn.BatchNorm1d(2, affine=False, device="meta")) == torch.device("meta")
    assert device_of(nn.ReLU()) == torch.device("cpu")


def test_a_buffer_that_is_filled_in_the_forward_pass_is_empty_again():
    class Remembers(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("seen", None)

        def forward(self, x):
            self.seen = x.detach()
            return x

    module = Remembers()
    with preserve_state(module):
        module(torch.ones(2))
    assert module.seen is None
