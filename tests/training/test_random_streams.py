"""Named random streams."""

from __future__ import annotations

import torch

from depthgauge.training.random_streams import random_stream


def draw(*name: int | str) -> torch.Tensor:
    return torch.rand(8, generator=random_stream(*name))


def test_a_stream_depends_on_its_name_alone():
    first = draw("batches", 42, 3)
    torch.rand(5)
    assert torch.equal(draw("batches", 42, 3), first)


def test_every_part_of_the_name_matters():
    names = [
        ("batches", 42, 3),
        ("batches", 42, 4),
        ("batches", 43, 3),
        ("noise", 42, 3),
        ("batches", 4, 23),
        ("batches", 42),
    ]
    drawn = {tuple(draw(*name).tolist()) for name in names}
    assert len(drawn) == len(names)


def test_drawing_leaves_the_global_random_state_alone():
    before = torch.get_rng_state()
    draw("batches", 1, 1)
    assert torch.equal(torch.get_rng_state(), before)


def test_the_streams_are_those_of_earlier_versions():
    """Stored runs continue from these streams, so they must never change."""
    assert random_stream("batches", 42, 0).initial_seed() == 6309328837223218364
