"""Credit is checked for one tensor per boundary, and paired with gradients."""

from __future__ import annotations

import pytest
import torch
from gauges.small_networks import make_batches, make_net, true_gradients

from depthgauge.errors import UserError
from depthgauge.gauges.credit import checked_credit, pair_with_gradients
from depthgauge.nets.stream_reader import StreamReader


@pytest.fixture
def batch():
    return StreamReader(make_net()).see(*make_batches(5)[0])


def test_credit_is_taken_as_it_comes_but_detached(batch):
    given = [gradient.clone().requires_grad_() for gradient in true_gradients(batch)]
    found = checked_credit(lambda _: given, batch)
    assert all(torch.equal(a, b) for a, b in zip(found, given, strict=True))
    assert not any(tensor.requires_grad for tensor in found)


def test_every_boundary_needs_its_credit(batch):
    with pytest.raises(UserError, match="return 4 tensors"):
        checked_credit(lambda b: b.gradients[1:], batch)


def test_credit_of_another_shape_is_refused(batch):
    with pytest.raises(UserError, match=r"of the shapes of the states: \[\(5, 8\)"):
        checked_credit(lambda b: [g[:, :-1] for g in b.gradients], batch)


def test_what_the_gradients_are_compared_with():
    credit = [torch.tensor([float(number)]) for number in range(4)]
    assert [int(a) for a in pair_with_gradients(credit, "depthgauge")] == [0, 1, 2, 3]
    assert [int(a) for a in pair_with_gradients(credit, "published")] == [1, 2, 3, 3]
