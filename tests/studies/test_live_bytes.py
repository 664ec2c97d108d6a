"""Bytes of tensors, counted while code runs, against what was made by hand."""

from __future__ import annotations

import torch

from depthgauge.studies.live_bytes import LiveBytes

KB = 250  # float32 numbers that take 1,000 bytes


def test_what_is_alive_at_once_counts_and_what_is_gone_does_not():
    found: list[int] = []
    with LiveBytes() as live:
        with live.most(found):
            kept = torch.zeros(KB)
            gone = torch.zeros(3 * KB)
            del gone
            late = torch.zeros(2 * KB)
        with live.most(found):
            del late
            kept.add_(1)
    assert found == [4000, 3000]
    assert live.now == 1000


def test_a_view_is_no_memory_of_its_own_and_keeps_what_it_looks_at():
    with LiveBytes() as live:
        whole = torch.zeros(4, KB)
        view = whole[1]
        del whole
        assert live.now == 4000
        view.mul_(2)
        torch.add(view, 1, out=view)
        assert live.now == 4000
        del view
        assert live.now == 0


def test_what_was_there_before_does_not_count():
    before = torch.zeros(KB)
    with LiveBytes() as live:
        before.add_(1)
        doubled = before.double()
        assert live.now == doubled.nbytes == 2000


def test_inside_of_lifted_functions_and_gradients_too():
    """One for the squares, one for the gradients."""
    found: list[int] = []
    x = torch.ones(4, KB)
    with LiveBytes() as live, live.most(found):
        gradients = torch.func.vmap(torch.func.grad(lambda row: row.square().sum()))(x)
        assert live.now == gradients.nbytes
    assert found[0] >= 2 * gradients.nbytes
