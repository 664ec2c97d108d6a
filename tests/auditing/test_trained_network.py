"""Trained networks from a run or from a user's file, and the samples they are read on."""

from __future__ import annotations

import shutil

import pytest
import torch
from auditing.small_trained import CLASSES, FEATURES, make_trained
from scheduling.small_grids import RECIPE, TASK, grid, study_of, train
from training.small_runs import make_task

from depthgauge.auditing.load_trained import load_trained
from depthgauge.auditing.trained_network import (
    check_fits,
    evaluation_batches,
    find_rule,
    first_samples,
    is_run,
    load_residual_mlp,
    load_run,
    open_run,
)
from depthgauge.config import RuleConfig
from depthgauge.errors import UserError
from depthgauge.rules.dfa import DFA
from depthgauge.rules.fa import FA
from depthgauge.store.relative_paths import TASKS
from depthgauge.tasks.arrays import save_task
from depthgauge.tasks.base import Split, Task


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory):
    """A finished run of dfa, k = 2. Look, do not touch."""
    planned = grid("dfa", ks=(2,), seeds=(1,))
    study = study_of(planned, tmp_path_factory.mktemp("study"))
    train(study, planned)
    (folder,) = study.all_runs()
    return folder


def save(path, content):
    torch.save(content, path)
    return path


def test_a_run_is_read_from_its_newest_checkpoint(run_folder):
    state = run_folder.load((RECIPE.epochs, 0))
    assert state is not None
    trained = load_run(run_folder, TASK)
    found = trained.net.state_dict()
    assert found.keys() == state.parameters.keys()
    assert all(torch.equal(found[name], state.parameters[name]) for name in found)
    assert torch.equal(trained.feedback["B"], state.feedback["B"])
    assert trained.rule.name == "dfa"
    assert trained.origin == str(run_folder.path)


def test_a_run_without_a_checkpoint_is_refused(run_folder, tmp_path):
    copy = shutil.copytree(run_folder.path, tmp_path / run_folder.path.name)
    (copy / "checkpoint.safetensors").unlink()
    with pytest.raises(UserError, match="no usable checkpoint"):
        load_run(open_run(copy), TASK)


def test_a_run_is_known_by_its_folder_and_by_the_file_in_it(run_folder, tmp_path):
    for path in (run_folder.path, run_folder.checkpoint_path):
        assert is_run(path)
        assert open_run(path).config == run_folder.config
    assert not is_run(tmp_path)
    with pytest.raises(UserError, match=r"config\.json"):
        open_run(tmp_path)


def test_the_rule_comes_with_its_options(tmp_path):
    options = {"normalise": "batch", "epsilon": 1e-3}
    rule = find_rule(RuleConfig(name="fa", label="fa", options=options), tmp_path)
    assert (rule.name, rule.options.normalise, rule.options.epsilon) == ("fa", "batch", 1e-3)


def test_a_rule_from_somebodys_file_is_not_known(tmp_path):
    assert find_rule(RuleConfig(name="dfa", label="dfa", source="0" * 64), tmp_path) is None


def test_a_rule_that_has_other_options_now_is_not_known(tmp_path):
    assert find_rule(RuleConfig(name="ep", label="ep", options={"beta": 10.0}), tmp_path) is None


@pytest.mark.parametrize("rule", [DFA, FA])
def test_the_shapes_of_the_feedback_tell_the_rule(rule, tmp_path):
    made = make_trained(rule())
    content = {"state_dict": made.net.state_dict(), "Bs": list(made.feedback["B"])}
    found = load_residual_mlp(save(tmp_path / "net.pt", content))
    assert found.rule.name == rule.name
    assert torch.equal(found.feedback["B"], made.feedback["B"])
    assert torch.equal(found.net.embed.weight, made.net.embed.weight)


def test_a_file_without_feedback_has_neither_feedback_nor_rule(tmp_path):
    net = make_trained(None).net
    found = load_residual_mlp(save(tmp_path / "net.pt", net.state_dict()))
    assert found.rule is None
    assert found.feedback is None


@pytest.mark.parametrize(
    "shapes", [[(16, 5)] * 2, [(16, 7)] * 3, [(16, 5), (16, 16), (16, 5)]], ids=str
)
def test_feedback_that_does_not_fit_is_refused(shapes, tmp_path):
    net = make_trained(None).net
    content = {"state_dict": net.state_dict(), "Bs": [torch.zeros(shape) for shape in shapes]}
    with pytest.raises(UserError, match="Bs"):
        load_residual_mlp(save(tmp_path / "net.pt", content))


@pytest.mark.parametrize(("features", "classes"), [(FEATURES + 1, CLASSES), (FEATURES, 4)])
def test_a_task_of_other_sizes_is_refused(features, classes):
    with pytest.raises(UserError, match=f"{FEATURES} inputs and {CLASSES} classes"):
        check_fits(make_trained(None), make_task(features=features, classes=classes))
    check_fits(make_trained(None), make_task(features=FEATURES, classes=CLASSES))


def test_a_run_knows_its_task_and_rule(run_folder, tmp_path):
    study = shutil.copytree(run_folder.path.parent.parent, tmp_path / "study")
    save_task(TASK, study / TASKS)
    trained, task = load_trained(study / "runs" / run_folder.path.name, None, None)
    assert (task.name, task.checksum) == (TASK.name, TASK.checksum)
    assert trained.rule.name == "dfa"


def test_a_run_is_not_read_on_other_data(run_folder, tmp_path):
    other = save_task(make_task(samples=71), tmp_path)
    with pytest.raises(UserError, match="was not trained on the data"):
        load_trained(run_folder.path, str(other), None)


def test_a_file_must_be_told_its_task(tmp_path):
    path = save(tmp_path / "net.pt", make_trained(None).net.state_dict())
    with pytest.raises(UserError, match="--task"):
        load_trained(path, None, None)


def test_ten_batches_of_128_where_there_are_so_many():
    x, y = torch.randn(1400, 3), torch.arange(1400) % 2
    task = Task("many", Split(x, y), Split(x, y), num_classes=2)
    batches = evaluation_batches(task, 10)
    assert [len(y) for _, y in batches] == [128] * 10
    assert torch.equal(torch.cat([x for x, _ in batches]), x[:1280])
    assert sum(len(y) for _, y in evaluation_batches(task, 16)) == 1400


@pytest.mark.parametrize(
    ("batches", "sizes"), [(10, [20] * 10), (3, [20] * 3), (16, [20] * 10)], ids=str
)
def test_a_small_split_still_gives_ten_batches_in_order(batches, sizes):
    found = evaluation_batches(TASK, batches)
    assert [len(y) for _, y in found] == sizes
    assert torch.equal(torch.cat([y for _, y in found]), TASK.evaluation.y[: sum(sizes)])


def test_the_first_samples_are_one_batch():
    x, y = first_samples(TASK, 30)
    assert torch.equal(x, TASK.evaluation.x[:30])
    assert torch.equal(y, TASK.evaluation.y[:30])
    assert len(first_samples(TASK, 10_000)[1]) == len(TASK.evaluation)


@pytest.mark.parametrize("dtype", [torch.float16, torch.float64])
def test_a_file_keeps_its_precision(tmp_path, dtype):
    weights = {name: t.to(dtype) for name, t in make_trained(None).net.state_dict().items()}
    trained = load_residual_mlp(save(tmp_path / "net.pt", weights))
    assert trained.net.embed.weight.dtype == dtype
