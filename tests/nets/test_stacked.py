"""Stacked networks against autograd on the single ones, and against finite differences."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn.functional import cross_entropy

from depthgauge.losses.cross_entropy import CrossEntropy
from depthgauge.losses.of_runs import value_and_error_of_runs
from depthgauge.nets.residual_mlp import ResidualMLP
from depthgauge.nets.stacked.embedding import StackedEmbedding
from depthgauge.nets.stacked.network import StackedResidualMLP

FEATURES, WIDTH, CLASSES, BLOCKS, SAMPLES = 6, 8, 4, 3, 5
GROUPS = [1, 0, 1, 0, 2]
TRAINED = [3, 2, 2, 1, 0]
OPTIONS = [
    {},
    {"residual_add": False},
    {"terminal_norm": False},
    {"residual_add": False, "terminal_norm": False},
    {"num_blocks": 0},
    {"hidden": 13},
    {"hidden": 3, "residual_add": False},
]


@dataclass
class Example:
    """Single networks with parameters all over the place, the same ones stacked, and data."""

    nets: list[ResidualMLP]
    stacked: StackedResidualMLP
    inputs: list[Tensor]
    labels: Tensor

    def input_of(self, run: int) -> Tensor:
        return self.inputs[GROUPS[run]]


def make_example(num_blocks: int = BLOCKS, **options) -> Example:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(9)
        nets = [
            ResidualMLP(FEATURES, WIDTH, CLASSES, num_blocks, **options).double() for _ in GROUPS
        ]
        for net in nets:
            for parameter in net.parameters():
                torch.nn.init.normal_(parameter, std=0.6)
        inputs = [torch.randn(SAMPLES, FEATURES, dtype=torch.float64) for _ in range(3)]
        labels = torch.randint(CLASSES, (len(GROUPS), SAMPLES))
    trained = [min(k, num_blocks) for k in TRAINED]
    return Example(nets, StackedResidualMLP(nets, GROUPS, trained, torch.float64), inputs, labels)


@pytest.fixture(params=OPTIONS, ids=str)
def example(request) -> Example:
    return make_example(**request.param)


def close(ours: Tensor, theirs: Tensor) -> bool:
    return torch.allclose(ours, theirs, rtol=1e-10, atol=1e-12)


def assert_trace_is_that_of_the_nets(trace, nets, inputs) -> None:
    for run, (net, x) in enumerate(zip(nets, inputs, strict=True)):
        expected = net.trace(x)
        assert close(trace.logits[run], expected.logits)
        assert len(trace.states) == len(expected.states)
        for ours, theirs in zip(trace.states, expected.states, strict=True):
            assert close(ours[run], theirs)


def test_forward_is_that_of_each_net(example):
    trace = example.stacked.forward(example.inputs)
    inputs = [example.input_of(run) for run in range(len(GROUPS))]
    assert_trace_is_that_of_the_nets(trace, example.nets, inputs)


def test_forward_on_one_shared_batch(example):
    x = example.inputs[2]
    trace = example.stacked.forward_shared(x)
    assert_trace_is_that_of_the_nets(trace, example.nets, [x] * len(GROUPS))


def test_logits_alone_are_those_of_a_forward_pass(example):
    x = example.inputs[2]
    before = x.clone()
    assert close(example.stacked.logits_shared(x), example.stacked.forward_shared(x).logits)
    assert torch.equal(x, before)


def test_parameters_of_a_run_are_those_of_its_net(example):
    for run, net in enumerate(example.nets):
        state = example.stacked.state_of_run(run)
        assert list(state) == list(net.state_dict())
        for name, parameter in net.state_dict().items():
            assert torch.equal(state[name], parameter)


def test_the_gradient_along_the_stream_is_that_of_autograd(example):
    trace = example.stacked.forward(example.inputs)
    _, error = value_and_error_of_runs(CrossEntropy(), trace.logits, example.labels)
    found = example.stacked.stream_backward(trace, error)
    for run, net in enumerate(example.nets):
        single = net.trace(example.input_of(run))
        loss = cross_entropy(single.logits, example.labels[run], reduction="sum")
        for ours, theirs in zip(found, torch.autograd.grad(loss, single.states), strict=True):
            assert close(ours[run], theirs)


@pytest.mark.parametrize("seen", ["logits", "logits and branches"])
def test_all_trained_gradients_are_those_of_autograd(example, seen):
    stacked, slope = example.stacked, 0.3 if seen == "logits and branches" else 0.0
    out = {name: torch.full_like(g, 77.0) for name, g in stacked.new_gradients().items()}
    trace = stacked.forward(example.inputs)
    _, error = value_and_error_of_runs(CrossEntropy(), trace.logits, example.labels)
    at_branches = [slope * branch for branch in trace.branches] if slope else None
    at_embed = stacked.stream_backward(trace, error / SAMPLES, out, at_branches)[0]
    stacked.embedding.backward(example.inputs, at_embed, out["embed.weight"], out["embed.bias"])
    for run, net in enumerate(example.nets):
        single = net.trace(example.input_of(run))
        on_branches = sum(slope / 2 * branch.square().sum() for branch in single.branches)
        (cross_entropy(single.logits, example.labels[run]) + on_branches).backward()
        for name, parameter in net.named_parameters():
            if run < stacked.trained_runs[name]:
                assert close(stacked.of_run(name, out[name], run), parameter.grad), (run, name)


@pytest.mark.parametrize("hidden", [None, 3, 13])
def test_local_gradients_of_a_block_are_those_of_autograd(hidden):
    example = make_example(hidden=hidden)
    out = example.stacked.new_gradients()
    trace = example.stacked.forward(example.inputs)
    credit = torch.randn(
        len(GROUPS), SAMPLES, WIDTH, dtype=torch.float64, generator=torch.Generator().manual_seed(2)
    )
    for index in range(BLOCKS):
        example.stacked.block_local_backward(trace, index, credit, out, scale=0.3)
        for run, net in enumerate(example.nets):
            if TRAINED[run] < BLOCKS - index:
                continue
            block = net.blocks[index]
            (0.3 * block(trace.states[index][run]) * credit[run]).sum().backward()
            for name, parameter in block.named_parameters():
                assert close(out[f"blocks.{index}.{name}"][run], parameter.grad), (run, name)


def test_readout_gradients_are_those_of_autograd(example):
    out = example.stacked.new_gradients()
    trace = example.stacked.forward(example.inputs)
    _, error = value_and_error_of_runs(CrossEntropy(), trace.logits, example.labels)
    example.stacked.readout_local_backward(trace, error / SAMPLES, out)
    for run, net in enumerate(example.nets):
        cross_entropy(net.readout(trace.states[-1][run]), example.labels[run]).backward()
        for name, parameter in net.named_parameters():
            if name.startswith("out_"):
                assert close(out[name][run], parameter.grad), (run, name)


def losses(example: Example) -> Tensor:
    logits = example.stacked.forward(example.inputs).logits
    return value_and_error_of_runs(CrossEntropy(), logits, example.labels)[0]


def test_weight_gradients_are_finite_differences():
    example, step = make_example(), 1e-6
    stacked = example.stacked
    out = stacked.new_gradients()
    trace = stacked.forward(example.inputs)
    _, error = value_and_error_of_runs(CrossEntropy(), trace.logits, example.labels)
    at_embed = stacked.stream_backward(trace, error, out)[0]
    stacked.embedding.backward(example.inputs, at_embed, out["embed.weight"], out["embed.bias"])
    for run in (0, 2):
        for name, parameter in stacked.state_of_run(run).items():
            if run >= stacked.trained_runs[name]:
                continue
            flat = parameter.view(-1)
            gradient = stacked.of_run(name, out[name], run).flatten()
            place = int(gradient.abs().argmax())
            kept = flat[place].item()
            flat[place] = kept + step
            above = losses(example)
            flat[place] = kept - step
            below = losses(example)
            flat[place] = kept
            slope = (above - below).sum(1) / (2 * step)
            assert float(slope[run]) == pytest.approx(float(gradient[place]), rel=1e-5), name
            others = torch.arange(len(GROUPS)) != run
            assert not slope[others].any(), "one run's parameter changed another run's loss"


def test_gradients_along_the_stream_are_finite_differences():
    example, step, run = make_example(), 1e-6, 1
    net = example.nets[run]
    trace = example.stacked.forward(example.inputs)
    _, error = value_and_error_of_runs(CrossEntropy(), trace.logits, example.labels)
    gradients = example.stacked.stream_backward(trace, error)

    def loss_from(layer: int, stream: Tensor) -> Tensor:
        for block in net.blocks[layer:]:
            stream = stream + block(stream)
        return cross_entropy(net.readout(stream), example.labels[run], reduction="none")

    for layer in range(BLOCKS + 1):
        state = trace.states[layer][run]
        for feature in range(WIDTH):
            change = torch.zeros(WIDTH, dtype=torch.float64)
            change[feature] = step
            with torch.no_grad():
                slope = (loss_from(layer, state + change) - loss_from(layer, state - change)) / (
                    2 * step
                )
            assert torch.allclose(slope, gradients[layer][run][:, feature], rtol=1e-4, atol=1e-8)


def test_buffers_are_only_as_large_as_the_runs_that_train():
    example = make_example()
    sizes = {name: len(buffer) for name, buffer in example.stacked.new_gradients().items()}
    assert sizes["blocks.0.fc1.weight"] == 1
    assert sizes["blocks.1.fc1.weight"] == 3
    assert sizes["blocks.2.fc1.weight"] == 4
    assert sizes["embed.weight"] == sizes["out_head.weight"] == 5


def test_runs_must_come_in_falling_order():
    with pytest.raises(ValueError, match="largest first"):
        StackedResidualMLP(make_example().nets[:2], [0, 0], [1, 2])


@st.composite
def memberships(draw) -> list[int]:
    """Which group each run is in; every group has a run."""
    groups = draw(st.lists(st.integers(0, 3), min_size=1, max_size=7))
    present = sorted(set(groups))
    return [present.index(group) for group in groups]


@settings(deadline=None, derandomize=True)
@given(memberships(), st.integers(1, 4), st.integers(1, 4), st.integers(1, 4))
def test_embeddings_in_any_grouping(groups, samples, features, width):
    generator = torch.Generator().manual_seed(4)

    def random(*shape: int) -> Tensor:
        return torch.randn(*shape, dtype=torch.float64, generator=generator)

    runs = len(groups)
    weights, biases = random(runs, width, features), random(runs, width)
    inputs = [random(samples, features) for _ in range(max(groups) + 1)]
    upstream = random(runs, samples, width)
    stacked = StackedEmbedding(weights, biases, groups)
    stream, shared = stacked.forward(inputs), stacked.forward_shared(inputs[0])
    weight_out, bias_out = torch.empty_like(stacked.weight), torch.empty_like(stacked.bias)
    stacked.backward(inputs, upstream, weight_out, bias_out, scale=0.3)
    for run, group in enumerate(groups):
        place = stacked.position[run]
        assert torch.equal(stacked.weight[place], weights[run])
        assert close(stream[run], inputs[group] @ weights[run].T + biases[run])
        assert close(shared[run], inputs[0] @ weights[run].T + biases[run])
        assert close(weight_out[place], 0.3 * upstream[run].T @ inputs[group])
        assert close(bias_out[place], 0.3 * upstream[run].sum(0))
