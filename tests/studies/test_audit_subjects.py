"""Which networks an audit looks at."""

from __future__ import annotations

import pytest
import torch
from rules.example_rules import TrueGradient
from studies.small_grids import TASK, grid, study_of, train
from studies.small_trained import make_trained
from training.small_runs import CLASSES, FEATURES, make_task

from depthgauge.errors import UserError
from depthgauge.nets.residual_mlp import ResidualMLP
from depthgauge.rules.contract import Credit
from depthgauge.rules.dfa import DFA
from depthgauge.studies.audit_subjects import (
    accuracy_of,
    files_in,
    subjects_in,
    subjects_of_study,
)
from depthgauge.studies.trained import Trained


class Exploding(DFA):
    """Diverges at the first step, where a block is trained."""

    name = "exploding"

    def credit(self, context):
        credit = super().credit(context)
        return Credit(blocks=[b * float("nan") for b in credit.blocks], embed=credit.embed)


@pytest.fixture(scope="module")
def planned():
    return grid("bp", Exploding, TrueGradient, ks=(0, 2), seeds=(1, 2))


@pytest.fixture(scope="module")
def study(planned, tmp_path_factory):
    """Finished, but for seed 2 of the last rule."""
    made = study_of(planned, tmp_path_factory.mktemp("study"))
    train(made, planned)
    for folder in made.all_runs():
        if (folder.config.rule.name, folder.config.seed) == ("true_gradient", 2):
            folder.result_path.unlink()
    return made


@pytest.fixture(scope="module")
def subjects(study, planned):
    return subjects_of_study(study, planned)


def subjects_of_folder(folder, task, methods, seeds, frozen):
    """The networks that are there, and the names of those that are missing."""
    present, missing = files_in(folder, methods, seeds)
    return subjects_in(present, task, frozen), [str(path) for path in missing]


def by_key(subjects):
    return {subject.key: subject for subject in subjects}


def test_every_finished_run_with_all_blocks_trained(subjects):
    assert [subject.key for subject in subjects] == [
        "bp_s1",
        "bp_s2",
        "exploding_s1",
        "exploding_s2",
        "true_gradient_s1",
    ]


def test_numbers_and_sources_are_those_of_the_runs(study, subjects):
    runs = {folder.path.name: folder for folder in study.all_runs()}
    for subject in subjects:
        full = runs[subject.source["run"].removeprefix("runs/")]
        frozen = runs[subject.source["frozen_run"].removeprefix("runs/")]
        assert (full.config.k, frozen.config.k) == (2, 0)
        for folder in (full, frozen):
            assert folder.config.rule.label == subject.method
            assert folder.config.seed == subject.seed
        assert subject.accuracy == full.result["final_acc"]
        assert subject.frozen == frozen.result["final_acc"]
        assert list(subject.metrics) == full.metrics.lines()
        assert subject.source["diverged_epoch"] == full.result["diverged_epoch"]


def test_a_run_that_diverged_has_no_network_and_no_accuracy(subjects):
    diverged = by_key(subjects)["exploding_s1"]
    assert diverged.trained is None
    assert diverged.accuracy is None
    assert diverged.frozen is not None
    assert diverged.source["diverged_epoch"] == 1


def test_a_rule_from_elsewhere_is_the_one_of_the_grid(subjects):
    assert isinstance(by_key(subjects)["true_gradient_s1"].trained.rule, TrueGradient)


def test_accuracy_of_a_network_is_what_its_run_says(subjects):
    for subject in (by_key(subjects)["bp_s1"], by_key(subjects)["true_gradient_s1"]):
        assert accuracy_of(subject.trained, TASK) == pytest.approx(subject.accuracy)


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


def keys(subjects):
    return [subject.key for subject in subjects]


def test_without_a_choice_everything_in_the_folder(folder):
    subjects, missing = subjects_of_folder(folder, TASK, None, None, {})
    assert sorted(keys(subjects)) == ["dfa[epsilon=1]_s2", "dfa_s10", "dfa_s2", "my_s_rule_s2"]
    assert [s.seed for s in subjects if s.method == "dfa"] == [2, 10]
    assert {name.rpartition("/")[2] for name in missing} == {
        "my_s_rule_s10.pt",
        "dfa[epsilon=1]_s10.pt",
    }


def test_what_was_chosen_in_the_order_given_and_what_is_missing(folder):
    subjects, missing = subjects_of_folder(folder, TASK, ["my_s_rule", "dfa"], [10, 2], {})
    assert keys(subjects) == ["my_s_rule_s2", "dfa_s10", "dfa_s2"]
    assert missing == [str(folder / "my_s_rule_s10.pt")]


def test_frozen_accuracies_go_to_their_methods(folder):
    subjects, _ = subjects_of_folder(folder, TASK, ["my_s_rule", "dfa"], [2], {"dfa": 0.25})
    assert [subject.frozen for subject in subjects] == [None, 0.25]


def test_each_network_is_the_one_in_its_file(folder):
    (subject,), _ = subjects_of_folder(folder, TASK, ["dfa"], [10], {})
    with torch.random.fork_rng(devices=[]):
        net = network(1)
    assert torch.equal(subject.trained.net.embed.weight, net.embed.weight)
    assert subject.source == {"checkpoint": "dfa_s10.pt"}
    assert subject.accuracy == accuracy_of(Trained(net, None, None, ""), TASK)
    assert list(subject.metrics) == []


@pytest.mark.parametrize(("methods", "seeds"), [(["fa"], None), (None, [3]), (["dfa"], [3])])
def test_nothing_of_what_was_chosen_is_refused(folder, methods, seeds):
    with pytest.raises(UserError, match="METHOD_sSEED"):
        subjects_of_folder(folder, TASK, methods, seeds, {})


def test_an_empty_folder_and_none_at_all_are_refused(tmp_path):
    with pytest.raises(UserError, match="METHOD_sSEED"):
        subjects_of_folder(tmp_path, TASK, None, None, {})
    with pytest.raises(UserError, match="no folder"):
        subjects_of_folder(tmp_path / "not here", TASK, None, None, {})


def test_a_network_for_another_task_is_refused_by_its_name(folder):
    with pytest.raises(UserError, match="dfa_s2"):
        subjects_of_folder(folder, make_task(features=3), ["dfa"], [2], {})
