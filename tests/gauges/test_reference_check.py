"""The reference check: false backward passes are found and named, honest ones are not accused."""

from __future__ import annotations

import copy
from collections.abc import Callable
from itertools import product

import pytest
import torch
from gauges.small_networks import make_batches, make_net, stream_times
from nets.foreign_networks import FOREIGN, build
from nets.own_backward import (
    DEPTH,
    FALSE,
    FeedbackLinear,
    batches,
    half_detached,
    make,
    straight_through,
    wrapped,
)
from nets.stacks import batch, stack
from nets.test_boundaries import Latents
from oracles.reference_check import wrong_pieces
from torch import Tensor, nn
from torch.nn import functional

from depthgauge.gauges.central_differences import TOLERANCE
from depthgauge.gauges.reference_check import ReferenceCheckReading, check_reference
from depthgauge.nets.batch import split_batch
from depthgauge.nets.layout import Layout
from depthgauge.nets.stream_reader import StreamReader

X = batches(images=False)[0][0]


def checked(net: nn.Module, x: object = X, count: int = 12, blocks=None, **options):
    return check_reference(StreamReader(net, blocks, **options), x, count)


def assert_honest(reading: ReferenceCheckReading) -> None:
    assert reading.value is not None, reading.note
    assert reading.faults == {}
    assert reading.is_true
    assert reading.value <= TOLERANCE


@pytest.mark.parametrize("kind", FALSE)
@pytest.mark.parametrize("wrong", [{0}, {1}, {2}, {0, 2}, {0, 1, 2}])
def test_blocks_of_feedback_layers_are_named(kind, wrong):
    own, plain = FALSE[kind]
    x = batches(images="convolution" in kind)[0][0]
    assert checked(make(own, plain, wrong), x).faults == dict.fromkeys(
        (f"block {index}" for index in sorted(wrong)), "own backward"
    )
    assert_honest(checked(make(own, plain, set()), x))


def test_a_readout_with_feedback_is_named():
    reading = checked(make(nn.Linear, nn.Linear, set(), head=FeedbackLinear))
    assert reading.faults == {"readout": "own backward"}
    assert reading.complaint.startswith("the readout defines its own backward pass")


def test_places_are_listed_as_people_would():
    for wrong, head, places in (
        ({0, 1, 2}, FeedbackLinear, "blocks 0 to 2 and the readout"),
        ({0, 2}, nn.Linear, "blocks 0 and 2"),
        ({1}, FeedbackLinear, "block 1 and the readout"),
    ):
        assert checked(make(FeedbackLinear, nn.Linear, wrong, head=head)).places == places


def test_a_straight_through_estimator_is_named_as_what_it_is():
    for index in range(DEPTH):
        reading = checked(wrapped(straight_through, index))
        assert reading.faults == {f"block {index}": "steps"}
        assert "straight-through" in reading.complaint
        assert "no true gradient" in reading.complaint


def test_a_detached_stream_is_named_where_it_is_cut():
    for index in range(DEPTH):
        reading = checked(wrapped(Tensor.detach, index))
        assert reading.faults == {f"block {index}": "no gradient"}
        assert "detach" in reading.complaint


class Cut(nn.Module):
    """The network itself detaches the stream after one block."""

    def __init__(self, after: int) -> None:
        super().__init__()
        self.net, self.after = make(nn.Linear, nn.Linear, set()), after
        self.blocks = self.net.blocks

    def forward(self, x: Tensor) -> Tensor:
        h = self.net.embed(x)
        for index, block in enumerate(self.blocks):
            h = block(h).detach() if index == self.after else block(h)
        return self.net.head(self.net.norm(h))


def test_a_detach_between_blocks_belongs_to_what_comes_before_it():
    assert checked(Cut(0)).faults == {"block 0": "no gradient"}
    assert checked(Cut(1)).faults == {"block 1": "no gradient"}
    assert checked(Cut(DEPTH - 1)).faults == {"readout": "no gradient"}


def test_half_a_stream_detached_is_found():
    assert checked(wrapped(half_detached, 1)).faults == {"block 1": "own backward"}


def test_a_branch_that_is_given_a_detached_stream_is_found_also_if_it_is_the_only_one():
    for depth in (1, 3):
        net = stack("branch", depth, call=lambda block, h: block(h.detach()))
        reading = checked(net, batch()[0], 7, "layers")
        assert reading.faults == dict.fromkeys(
            (f"block {index}" for index in range(depth)), "own backward"
        )


class SlightlyWrong(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.factor = factor
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        return ctx.factor * gradient, None


@pytest.mark.parametrize("off", [1e-5, 1e-2, -2.0])
def test_a_gradient_that_is_off_by_little_is_found_by_how_much(off):
    reading = checked(wrapped(lambda h: SlightlyWrong.apply(h, 1 + off), 1))
    assert reading.faults == {"block 1": "own backward"}
    if off > 0:
        assert reading.value == pytest.approx(off / (1 + off), rel=1e-2)
    assert_honest(checked(wrapped(lambda h: SlightlyWrong.apply(h, 1.0), 1)))


@pytest.mark.parametrize("kind", ["linear, random feedback", "linear, sign feedback"])
def test_the_oracle_names_the_same_blocks(kind):
    own, plain = FALSE[kind]
    for wrong, head in product([set(), {0}, {1, 2}], [nn.Linear, FeedbackLinear]):
        net = make(own, plain, wrong, head=head).double()
        pieces = [*net.blocks, lambda h, net=net: net.head(net.norm(h))]
        x = X[:3].double()
        expected = wrong_pieces(pieces, net.embed(x))
        names = [f"block {index}" if index < DEPTH else "readout" for index in expected]
        assert list(checked(net, x, 3).faults) == names


@pytest.mark.parametrize("make_foreign", FOREIGN)
def test_foreign_networks_are_not_accused(make_foreign):
    network = build(make_foreign)
    inputs, labels = split_batch(network.batches[0])
    assert_honest(check_reference(network.reader(), inputs, len(labels)))


HONEST: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": functional.relu,
    "gelu": functional.gelu,
    "abs": torch.abs,
    "leaky relu": functional.leaky_relu,
    "max-pool": lambda h: functional.max_pool1d(h.unsqueeze(1), 3, 1, 1).squeeze(1),
    "sort": lambda h: h.sort(-1).values,
    "clamp": lambda h: h.clamp(-0.5, 0.5),
    "dropout": lambda h: functional.dropout(h, 0.5, training=False),
    "layer norm": lambda h: functional.layer_norm(h, h.shape[1:]),
    "softmax": lambda h: h.softmax(-1),
    "a cast on the way": lambda h: h.float().softmax(-1).to(h.dtype) + h.half().to(h.dtype),
    "float32 constants": lambda h: h * torch.linspace(0.5, 1.5, h.shape[-1]) + torch.ones(1),
    "a float32 product": lambda h: h @ torch.eye(h.shape[-1], dtype=torch.float32),
    "signs without a derivative": lambda h: h + h.sign(),
}


@pytest.mark.parametrize("name", HONEST)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_honest_operations_are_not_accused(name, dtype):
    net = wrapped(HONEST[name], 1)
    if name != "a float32 product" or dtype == torch.float32:
        net = net.to(dtype)
    assert_honest(checked(net))


class Rectified(nn.Module):
    def __init__(self, block: nn.Module) -> None:
        super().__init__()
        self.block = block

    def forward(self, h: Tensor) -> Tensor:
        return functional.relu(functional.relu(h) + self.block.fc2(h.abs()))


def test_kinks_at_exactly_zero_are_not_accused():
    """A stream behind a ReLU is zero in half of its numbers, where the next ReLU has its kink."""
    net = make(nn.Linear, nn.Linear, set())
    net.blocks = nn.ModuleList(map(Rectified, net.blocks))
    assert_honest(checked(net))


def test_batch_norm_in_eval_is_not_accused():
    net = make(nn.Linear, nn.Linear, set())
    net.blocks[1] = nn.Sequential(nn.BatchNorm1d(8), net.blocks[1])
    net.train()(X)
    assert_honest(checked(net.train()))


def test_half_precision_is_not_accused():
    for dtype in (torch.float16, torch.bfloat16):
        assert_honest(checked(make_net(dtype=dtype), make_batches(8)[0][0], 8))


class UNet(nn.Module):
    """Each state goes past the middle to the other side, and h_0 to the end."""

    def __init__(self, layer: Callable[[int, int], nn.Module] = nn.Linear) -> None:
        super().__init__()
        net = make(layer, nn.Linear, {1})
        self.embed, self.blocks, self.head = net.embed, net.blocks, net.head

    def forward(self, x: Tensor) -> Tensor:
        kept, h = [], self.embed(x)
        for block in self.blocks:
            kept.append(h)
            h = block(h)
            if len(kept) == DEPTH - 1:
                h = h + kept[0].tanh()
        return self.head(h + kept[0] * kept[1])


class DeepSupervision(UNet):
    def forward(self, x: Tensor) -> Tensor:
        h, logits = self.embed(x), 0
        for block in self.blocks:
            h = block(h)
            logits = logits + self.head(h)
        return logits


def test_long_skips_are_not_accused_and_what_is_false_below_them_is_found():
    for net in (UNet, DeepSupervision):
        assert_honest(checked(net(), returns="stream"))
        assert "block 1" in checked(net(FeedbackLinear), returns="stream").faults


def test_a_gradient_that_vanishes_or_a_stream_that_is_huge_is_not_accused():
    x = make_batches(8)[0][0]
    for scale in (1e-6, 1e6, 1e12):
        reading = checked(stream_times(make_net(), scale), x, 8)
        assert reading.faults == {}
    squashed = nn.Sequential(
        *[nn.Sequential(nn.Linear(8, 8), nn.Sigmoid()) for _ in range(16)], nn.Linear(8, 4)
    )
    with torch.no_grad():
        for block in squashed[:-1]:
            block[0].weight *= 1e-5
    reading = checked(squashed, torch.randn(8, 8), 8, list(squashed)[:-1])
    assert reading.faults == {}


def test_one_position_much_larger_than_the_others_is_not_accused():
    """As the first token of language models is."""

    class Tokens(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = make(nn.Linear, nn.Linear, set())
            self.blocks = nn.ModuleList(nn.TransformerEncoderLayer(8, 2, 8) for _ in range(2))

        def forward(self, x):
            h = self.net.embed(x)
            h = h * torch.tensor([1e5, 1.0, 1.0]).view(3, 1)
            for block in self.blocks:
                h = block(h)
            return self.net.head(h.mean(1))

    x = torch.randn(8, 3, 6, generator=torch.Generator().manual_seed(0))
    assert_honest(checked(Tokens(), x, 8))


def test_a_stream_that_begins_with_a_parameter_is_checked_and_the_parameter_is_not_changed():
    for samples in (7, 1):
        net = Latents()
        kept = copy.deepcopy(net.state_dict())
        assert_honest(checked(net, batch()[0][:samples], samples, "layers"))
        assert all(torch.equal(net.state_dict()[name], value) for name, value in kept.items())


def test_a_head_of_zeros_leaves_nothing_to_be_said():
    net = make(nn.Linear, nn.Linear, set())
    nn.init.zeros_(net.head.weight)
    reading = checked(net)
    assert reading.is_vacuous
    assert reading.note == "the gradient is exactly zero"


def test_eight_samples_are_enough_and_all_are_taken_where_they_cannot_be_told_apart():
    x, _ = make_batches(128)[0]
    assert checked(make_net(), x, 128).measured_on == "8 samples"

    class Whole(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = make_net()
            self.blocks = self.net.blocks

        def forward(self, x):
            assert len(x) == 128
            return self.net(x)

    reading = checked(Whole(), x, 128, layout=Layout())
    assert reading.measured_on == "128 samples"
    assert_honest(reading)


def test_a_network_that_cannot_be_copied_is_not_accused_and_the_note_says_why():
    class Locked(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = make_net()
            self.blocks = self.net.blocks

        def __deepcopy__(self, memo):
            raise TypeError("there is only one lock")

    reading = checked(Locked(), make_batches(8)[0][0], 8)
    assert reading.value is None
    assert reading.is_true
    assert "there is only one lock" in reading.note


@pytest.mark.slow
def test_compiled_networks_are_not_accused_and_false_ones_are_found():
    x = batches(images=False)[0][0]
    for own, expected in ((nn.Linear, {}), (FeedbackLinear, {"block 1": "own backward"})):
        whole = make(own, nn.Linear, {1})
        for block in whole.blocks:
            block.compile()
        parts = make(own, nn.Linear, {1})
        for index in range(DEPTH):
            parts.blocks[index] = torch.compile(parts.blocks[index])
        for net in (whole, parts):
            net(x)
            reading = checked(net, x)
            assert reading.value is not None, reading.note
            assert reading.faults == expected


@pytest.mark.slow
def test_bert_and_casting_language_models_are_not_accused():
    transformers = pytest.importorskip("transformers", reason="networks of Hugging Face")
    torch.manual_seed(0)
    small = {"vocab_size": 13, "hidden_size": 16, "intermediate_size": 24, "pad_token_id": 0}
    heads = {"num_hidden_layers": 3, "num_attention_heads": 2}
    bert = transformers.BertForSequenceClassification(
        transformers.BertConfig(**small, **heads, num_labels=5)
    )
    llama = transformers.LlamaForCausalLM(transformers.LlamaConfig(**small, **heads))
    ids = torch.randint(1, 13, (8, 6))
    for net, blocks in ((bert, "bert.encoder.layer"), (llama, "model.layers")):
        for dtype in (torch.float32, torch.bfloat16):
            assert_honest(checked(net.to(dtype), {"input_ids": ids}, 8, blocks))
