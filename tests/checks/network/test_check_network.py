"""`check_net` says of any network what it is and what can be done with it."""

from __future__ import annotations

import copy

import pytest
import torch
from checks.network.checked_networks import NETWORKS
from nets.cut import table_networks as t
from nets.stacks import stack
from torch import Tensor, nn

import depthgauge as dg


@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_is_described_and_told_what_it_can_do(name: str) -> None:
    expected = NETWORKS[name]
    torch.manual_seed(0)
    answer = dg.check_net(expected.make)
    text = str(answer)
    assert list(answer.blocks) == expected.blocks
    assert answer.stream == expected.stream
    for word, begins in expected.answers.items():
        assert f"\n  {word:<12}{begins}" in text
    for sentence in expected.says:
        assert sentence in text
    if answer.trained is None:
        assert {"bp", "dfa", "fa"} <= {rule for rule, reason in answer.rules.items() if not reason}
    for rule in expected.refused_rules:
        assert answer.rules[rule]
        assert answer.rules[rule] in text
    assert answer.passed == (text.count(" yes\n") + text.endswith("yes") == 4)


def test_stages_as_neighbouring_lists_are_found() -> None:
    class Stages(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embed = nn.Linear(4, 6)
            self.stage1 = nn.Sequential(t.Stream(), t.Stream())
            self.stage2 = nn.Sequential(t.Stream(), t.Stream(), t.Stream())
            self.head = nn.Linear(6, 3)

        def forward(self, x: Tensor) -> Tensor:
            return self.head(self.stage2(self.stage1(self.embed(x))))

    answer = dg.check_net(Stages())
    assert answer.path == "stage1[:],stage2[:]"
    assert len(answer.blocks) == 5
    assert answer.passed
    some = dg.check_net(Stages(), blocks="stage2[1:]")
    assert some.blocks == ("stage2.1", "stage2.2")
    assert "stage1" in some.below


def test_blocks_in_a_sequential_are_found_between_embedding_and_head() -> None:
    net = nn.Sequential(nn.Linear(4, 6), t.Stream(), t.Stream(), nn.Linear(6, 3))
    answer = dg.check_net(net)
    assert answer.path == "1,2"
    assert answer.below == ("0",)
    assert answer.readout == ("3",)


def test_samples_of_a_task_of_a_shape_and_of_ones_own() -> None:
    net = nn.Sequential(nn.Linear(64, 6), t.Stream(), t.Stream(), nn.Linear(6, 10))
    assert "8 samples of 64 numbers, of the task digits" in dg.check_net(net, task="digits").inputs
    assert "8 samples of 3 × 64 numbers" in dg.check_net(net, shape=(3, 64)).inputs
    batch = (torch.randn(4, 64), torch.tensor([1, 2, 3, 4]))
    assert "4 samples of 64 numbers" in dg.check_net(net, batch=batch).inputs
    with pytest.raises(dg.UserError, match="task, batch and shape all give samples"):
        dg.check_net(net, task="digits", shape=(64,))


def test_real_targets_and_a_loss_of_ones_own() -> None:
    net = nn.Sequential(nn.Linear(4, 6), t.Stream(), t.Stream(), nn.Linear(6, 1))
    assert dg.check_net(net).passed
    batch = (torch.randn(5, 4), torch.randn(5, 1))
    assert dg.check_net(net, batch=batch, loss=nn.HuberLoss()).passed


def test_labels_that_do_not_fit_are_a_sentence() -> None:
    net = stack(dtype=torch.float32)
    answer = dg.check_net(
        net, blocks="layers", batch=(torch.randn(4, 4), torch.tensor([1, 2, 3, 99]))
    )
    assert answer.trained is not None
    assert "the labels are from 1 to 99" in answer.trained


def test_a_network_that_cannot_be_built_or_run_is_a_sentence() -> None:
    def failing() -> nn.Module:
        raise ValueError("no such width")

    with pytest.raises(dg.UserError, match="cannot make its network: ValueError: no such width"):
        dg.check_net(failing)
    with pytest.raises(dg.UserError, match="returns int, not a torch"):
        dg.check_net(lambda: 3)  # type: ignore[arg-type, return-value]
    with pytest.raises(dg.UserError, match="no inputs could be guessed"):
        dg.check_net(nn.Sequential(nn.Linear(3, 3), nn.Linear(4, 4)))
    with pytest.raises(dg.UserError, match=r"the size of the network's 0\.weight is not known"):
        dg.check_net(nn.Sequential(nn.LazyLinear(4), nn.Linear(4, 4)))
    with pytest.raises(dg.UserError, match="matches no modules"):
        dg.check_net(stack(dtype=torch.float32), blocks="nowhere")


def test_the_network_is_left_as_it_was() -> None:
    net = stack(dtype=torch.float32)
    before, state = copy.deepcopy(net.state_dict()), torch.get_rng_state()
    dg.check_net(net)
    assert all(torch.equal(value, before[name]) for name, value in net.state_dict().items())
    assert all(p.grad is None and p.requires_grad for p in net.parameters())
    assert torch.equal(state, torch.get_rng_state())
    assert net.training


def test_a_network_of_the_package_needs_a_task() -> None:
    assert dg.check_net("resnet", task="digits").trained is None
    with pytest.raises(dg.UserError, match="the net vit is built for a task"):
        dg.check_net("vit")
