"""Batches are accepted in every form that users have: pairs, mappings, tensors, tuples."""

from __future__ import annotations

from collections import UserDict

import numpy as np
import pytest
import torch
from nets.stacks import SAMPLES, as_it_is, batch, stack
from torch import Tensor, nn

from depthgauge.errors import UserError
from depthgauge.gauges.measure import measure
from depthgauge.gauges.scale import ScaleGauge
from depthgauge.nets.batch import call_network, copy_inputs, split_batch
from depthgauge.nets.stream_reader import StreamReader

X, Y = batch()


class Adding(nn.Module):
    """Two inputs, one of them optional."""

    def __init__(self) -> None:
        super().__init__()
        self.stack = stack()
        self.layers = self.stack.layers

    def forward(self, first: Tensor, second: Tensor | float = 0.0) -> Tensor:
        return self.stack(first + second)


INPUTS = {
    "a tensor": (X, 0 * X),
    "a tuple": ((X, X), X),
    "a tuple of one": ((X,), 0 * X),
    "keywords": ({"second": X, "first": X}, X),
    "keywords of a class of its own": (UserDict(first=X, second=X), X),
}


def test_inputs_may_come_in_any_form():
    for inputs, second in INPUTS.values():
        for dtype in [torch.float32, torch.float64]:
            net = Adding().to(dtype)
            expected = net((X + second).to(dtype))
            found = StreamReader(net, "layers").see(inputs, Y).logits
            torch.testing.assert_close(found, expected.detach())


def test_batches_may_come_in_any_form():
    for given in [
        (X, Y),
        [X, Y],
        (X, Y.tolist()),
        (X, Y.numpy()),
        {"x": X, "labels": Y},
        UserDict(x=X, labels=Y),
    ]:
        inputs, labels = split_batch(given)
        assert torch.equal(labels, Y)
        found = inputs["x"] if isinstance(inputs, dict) else inputs
        assert torch.equal(found, X)
        measure(StreamReader(stack(), "layers"), [given], [ScaleGauge()])


def test_labels_are_not_among_the_inputs_and_the_batch_keeps_them():
    given = {"x": X, "labels": Y}
    inputs, _ = split_batch(given)
    assert list(inputs) == ["x"]
    assert list(given) == ["x", "labels"]


def test_what_is_not_a_pair_is_refused():
    for given in [X, (X,), (X, Y, Y), {"x": X}, None, "words", 3]:
        with pytest.raises(
            UserError, match=r"^a batch must be a pair \(inputs, labels\), or a mapping"
        ):
            split_batch(given)


def test_one_pair_instead_of_a_list_of_pairs_is_refused():
    with pytest.raises(UserError, match="a batch must be a pair"):
        measure(StreamReader(stack(), "layers"), (X, Y), [ScaleGauge()])


def test_an_empty_batch_is_refused():
    for labels in [Y[:0], [], np.zeros(0, dtype=int)]:
        with pytest.raises(UserError, match=r"^a batch is empty;"):
            split_batch((X[:0], labels))


def test_no_batches_are_refused():
    with pytest.raises(UserError, match=r"^there are no batches to measure on"):
        measure(StreamReader(stack(), "layers"), iter([]), [ScaleGauge()])


def test_labels_that_are_not_one_for_each_sample_are_refused():
    for labels in [3, torch.tensor(3), ["cat"] * SAMPLES, None]:
        with pytest.raises(UserError, match="label"):
            split_batch((X, labels))


def test_inputs_are_copied_and_only_numbers_change_their_precision():
    ids, mask = torch.arange(3), torch.tensor([True, False])
    given = {"x": X, "nested": (ids, [mask, None, "word", 3])}
    found = copy_inputs(given, torch.device("cpu"), torch.float32)
    assert found["x"].dtype == torch.float32
    assert torch.equal(found["x"], X.float())
    assert torch.equal(found["nested"][0], ids)
    assert found["nested"][0] is not ids
    assert torch.equal(found["nested"][1][0], mask)
    assert found["nested"][1][1:] == [None, "word", 3]


def test_a_network_that_changes_its_input_does_not_change_the_users():
    net = stack()
    net.register_forward_pre_hook(lambda _, given: (given[0].mul_(2),))
    x = X.clone()
    StreamReader(net, "layers").see(x, Y)
    assert torch.equal(x, X)


def test_inputs_that_want_gradients_get_none():
    x = X.clone().requires_grad_()
    StreamReader(stack(), "layers").see(x, Y)
    assert x.grad is None


def test_a_network_without_logits_is_refused():
    for answer in [lambda z: None, lambda z: {"scores": z}, lambda z: ("word", z), lambda z: 3.0]:
        with pytest.raises(UserError, match=r"^the network returns \w+; it must return logits"):
            call_network(stack(answer=answer), X)


def test_the_answer_of_a_plain_network():
    net = stack(answer=as_it_is)
    assert torch.equal(call_network(net, X), net(X))
