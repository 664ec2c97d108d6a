"""Networks from a folder of the user's checkpoints."""

from __future__ import annotations

import pytest
import torch
from auditing.small_trained import make_trained
from scheduling.small_grids import TASK
from training.small_runs import CLASSES, FEATURES, make_task

from depthgauge.auditing.checkpoints import accuracy_of, find_checkpoints, networks_in_files
from depthgauge.auditing.trained_network import TrainedNetwork
from depthgauge.errors import UserError
from depthgauge.nets.residual_mlp import ResidualMLP


def test_accuracy_sample_by_sample():
    task = make_task(features=6)
    trained = make_trained(None)
    x, y = task.evaluation.x, task.evaluation.y
    right = sum(int(trained.net(x[i : i + 1]).argmax()) == int(y[i]) for i in range(len(y)))
    assert 0 < right < len(y)
    assert accuracy_of(trained, task) == right / len(y)


def network(seed: int) -> ResidualMLP:
    torch.manual_seed(seed)
    return ResidualMLP(FEATURES, 4, CLASSES, 2)


@pytest.fixture
def folder(tmp_path):
    with torch.random.fork_rng(devices=[]):
        for number, name in enumerate(("dfa_s2", "dfa_s10", "my_s_rule_s2", "dfa[epsilon=1]_s2")):
            torch.save(network(number).state_dict(), tmp_path / f"{name}.pt")
    for name in ("notes.txt", "dfa.pt", "dfa_s.pt", "dfa_s2.pt.bak", "_s3.pt"):
        (tmp_path / name).write_text("not a checkpoint")
    return tmp_path


def named(paths):
    return [path.stem for path in paths]


def test_without_a_choice_everything_in_the_folder(folder):
    present, missing = find_checkpoints(folder, None, None)
    assert sorted(named(present)) == ["dfa[epsilon=1]_s2", "dfa_s10", "dfa_s2", "my_s_rule_s2"]
    assert sorted(named(missing)) == ["dfa[epsilon=1]_s10", "my_s_rule_s10"]
    found = networks_in_files(present, TASK, {})
    assert [one.seed for one in found if one.label == "dfa"] == [2, 10]


def test_what_was_chosen_in_the_order_given_and_what_is_missing(folder):
    present, missing = find_checkpoints(folder, ["my_s_rule", "dfa"], [10, 2])
    assert named(present) == ["my_s_rule_s2", "dfa_s10", "dfa_s2"]
    assert missing == [folder / "my_s_rule_s10.pt"]


def test_each_network_is_the_one_in_its_file_with_the_frozen_accuracy_of_its_label(folder):
    present, _ = find_checkpoints(folder, ["my_s_rule", "dfa"], [2])
    other, one = networks_in_files(present, TASK, {"dfa": 0.25})
    with torch.random.fork_rng(devices=[]):
        net = network(0)
    assert torch.equal(one.trained.net.embed.weight, net.embed.weight)
    assert (one.source.checkpoint, one.source.run) == ("dfa_s2.pt", None)
    assert one.accuracy == accuracy_of(TrainedNetwork(net, None, None, ""), TASK)
    assert (other.frozen, one.frozen) == (None, 0.25)


def test_a_frozen_accuracy_of_a_label_that_is_not_there_is_refused(folder):
    present, _ = find_checkpoints(folder, ["dfa"], None)
    with pytest.raises(UserError, match="--frozen-acc names fa"):
        networks_in_files(present, TASK, {"fa": 0.25})


@pytest.mark.parametrize(("labels", "seeds"), [(["fa"], None), (None, [3]), (["dfa"], [3])])
def test_nothing_of_what_was_chosen_is_refused(folder, labels, seeds):
    with pytest.raises(UserError, match="LABEL_sSEED"):
        find_checkpoints(folder, labels, seeds)


def test_an_empty_folder_and_none_at_all_are_refused(tmp_path):
    with pytest.raises(UserError, match="LABEL_sSEED"):
        find_checkpoints(tmp_path, None, None)
    with pytest.raises(UserError, match="no folder"):
        find_checkpoints(tmp_path / "not here", None, None)


def test_a_network_for_another_task_is_refused_by_its_name(folder):
    with pytest.raises(UserError, match="dfa_s2"):
        networks_in_files([folder / "dfa_s2.pt"], make_task(features=3), {})
