"""Threads inside a block, and after it whatever happens in it."""

from __future__ import annotations

import pytest
import torch

from depthgauge.training.threads import use_threads


@pytest.mark.parametrize("number", [1, 3])
def test_only_inside_the_block(number):
    before = torch.get_num_threads()
    with use_threads(number):
        assert torch.get_num_threads() == number
    assert torch.get_num_threads() == before


def test_after_an_error_too():
    before = torch.get_num_threads()
    with pytest.raises(ZeroDivisionError), use_threads(before + 1):
        1 / 0  # noqa: B018
    assert torch.get_num_threads() == before
