"""The credit of each rule against its formula, in numbers small enough to write down."""

from __future__ import annotations

import pytest
import torch

from depthgauge.rules.bp import BP
from depthgauge.rules.contract import Context
from depthgauge.rules.dfa import DFA
from depthgauge.rules.fa import FA

STATES = (torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, 5.0]]), torch.tensor([[0.0, 0.0]]))
TARGET = torch.tensor([0])


def test_dfa_projects_the_error_with_each_blocks_matrix():
    error = torch.tensor([[-0.5, 0.25, 0.25]])
    matrices = torch.tensor(
        [[[1.0, 0.0, 0.0], [0.0, 4.0, 0.0]], [[0.0, 0.0, 8.0], [2.0, 0.0, 0.0]]]
    )
    credit = DFA().credit(Context(STATES, TARGET, {"B": matrices}, 0.0, {"error": error}))
    assert [block.tolist() for block in credit.blocks] == [[[-0.5, 1.0]], [[2.0, -1.0]]]
    assert credit.embed.tolist() == [[-0.5, 1.0]]


def test_fa_hands_the_gradient_of_the_batch_mean_down_the_chain():
    def readout(stream):
        return stream

    two = tuple(state.expand(2, 2) for state in STATES)
    target = torch.tensor([0, 1])
    matrices = torch.tensor([[[0.0, 1.0], [2.0, 0.0]], [[2.0, 0.0], [0.0, 3.0]]])
    credit = FA().credit(Context(two, target, {"B": matrices}, 0.0, {"readout": readout}))
    assert credit.blocks[1].tolist() == [[-0.25, 0.25], [0.25, -0.25]]
    assert credit.blocks[0].tolist() == [[-0.5, 0.75], [0.5, -0.75]]
    assert credit.embed.tolist() == [[0.75, -1.0], [-0.75, 1.0]]


def test_bp_is_the_gradient_at_each_blocks_output():
    gradient = tuple(torch.full((1, 2), float(layer)) for layer in range(3))
    credit = BP().credit(Context(STATES, TARGET, {}, 0.0, {"gradient": gradient}))
    assert [float(block[0, 0]) for block in credit.blocks] == [1.0, 2.0]
    assert float(credit.embed[0, 0]) == 0.0


def test_the_context_offers_what_was_declared_and_names_what_was_not():
    for need in ["error", "readout", "blocks", "gradient"]:
        thing = object()
        assert getattr(Context(STATES, TARGET, {}, 0.0, {need: thing}), need) is thing
        with pytest.raises(LookupError, match=f"uses '{need}', which its"):
            getattr(Context(STATES, TARGET, {}, 0.0, {}), need)
