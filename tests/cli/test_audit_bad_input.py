"""`audit`, `null` and `diagnose`: bad input gets one sentence and exit status 2."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
import torch
from cli.audits import export, find_run, run_audit
from cli.commands import assert_bad_input, run, run_ladder
from cli.foreign_checkpoints import save_weights, write_factories


@pytest.fixture
def networks(trained, tmp_path):
    return export(trained, tmp_path / "networks", feedback=True)


@pytest.fixture
def factories(tmp_path):
    return write_factories(tmp_path)


def rewrite(path, **tensors):
    """The checkpoint, with some tensors replaced."""
    content = torch.load(path, weights_only=True)
    for name, tensor in tensors.items():
        content["model"][name.replace("__", ".")] = tensor
    torch.save(content, path)
    return path


# Somebody's network


@pytest.mark.parametrize(
    ("made", "factory", "blocks", "words"),
    [
        ("mlp", "mlp", "body.nothing", ("body.nothing", "body.layers")),
        ("mlp", "mlp", "blocks", ("blocks", "body.layers")),
        ("few_classes", "few_classes", "body.layers", ("labels", "0 to 9", "5 classes")),
        ("wide", "mlp", "body.layers", ("wide.pt", "does not fit", "12")),
        ("residual", "mlp", "body.layers", ("residual.pt", "does not fit")),
        ("mlp", "nothing", "body.layers", ("my_networks.py", "nothing")),
        ("mlp", "raises", "body.layers", ("raises", "no such thing at all")),
        ("mlp", "a_number", "body.layers", ("a_number", "int")),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_network_that_cannot_be_opened(factories, made, factory, blocks, words):
    path = save_weights(factories, made)
    net = f"{factories}:{factory}"
    done = run("diagnose", path, "--net", net, "--blocks", blocks, "--task", "digits")
    assert_bad_input(done, *words)


@pytest.mark.parametrize("net", ["nowhere.py:make", "no_such_module:make", "my_networks.py"])
def test_a_factory_that_is_not_there(factories, net):
    path = save_weights(factories, "mlp")
    assert_bad_input(run("diagnose", path, "--net", net, "--task", "digits"), net.split(":")[0])


@pytest.mark.parametrize(("made", "task"), [("mlp", "teacher"), ("cnn", "digits")])
def test_a_network_that_cannot_take_the_tasks_samples(factories, made, task):
    path = save_weights(factories, made)
    options = ("--net", f"{factories}:{made}", "--blocks", "body.layers", "--task", task)
    assert_bad_input(run("diagnose", path, *options), task)


# Checkpoints


def refused_by_all(folder, *words):
    """By `diagnose`, by `null`, and by an audit of the folder; `folder` has dfa_s1.pt."""
    for command in ("diagnose", "null"):
        assert_bad_input(run(command, folder / "dfa_s1.pt", "--task", "digits"), *words)
    audit = ("audit", "--checkpoints", folder, "--task", "digits", "--rules", "dfa")
    assert_bad_input(run(*audit, "--seeds", 1), *words)


def test_a_checkpoint_with_a_block_of_another_width(networks):
    rewrite(networks / "dfa_s1.pt", blocks__1__fc1__weight=torch.zeros(9, 8))
    refused_by_all(networks, "dfa_s1.pt", "blocks.1.fc1.weight", "9")


def test_a_network_that_is_not_finite_is_named(networks):
    rewrite(networks / "dfa_s1.pt", embed__bias=torch.full((8,), float("nan")))
    refused_by_all(networks, "dfa_s1.pt", "embed.bias", "NaN")


def test_a_pickle_that_is_not_plain_tensors(networks):
    torch.save(torch.nn.Linear(2, 2), networks / "dfa_s1.pt")
    refused_by_all(networks, "dfa_s1.pt", "state_dict")


def test_a_pickle_of_anything_gets_that_sentence_and_no_warning_of_torch(networks):
    (networks / "dfa_s1.pt").write_bytes(pickle.dumps({"weights": print}, protocol=4))
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        refused_by_all(networks, "dfa_s1.pt", "state_dict")
    assert [str(warning.message) for warning in heard] == []


def test_a_file_that_is_something_else(networks):
    (networks / "dfa_s1.pt").write_text("no checkpoint")
    refused_by_all(networks, "dfa_s1.pt")


def test_files_that_are_not_there():
    for command in ("diagnose", "null"):
        assert_bad_input(run(command, "nowhere.pt", "--task", "digits"), "nowhere.pt")
    assert_bad_input(run("diagnose", "nowhere.pt", "--net", "a.py:b", "--task", "digits"), "no")


def test_a_task_of_other_sizes(networks):
    for command in ("diagnose", "null"):
        done = run(command, networks / "dfa_s1.pt", "--task", "teacher")
        assert_bad_input(done, "64 inputs", "teacher")


def test_a_file_without_a_task(networks):
    for command in ("diagnose", "null"):
        assert_bad_input(run(command, networks / "dfa_s1.pt"), "--task")


@pytest.mark.parametrize("command", ["diagnose", "null"])
def test_the_folder_of_a_study_is_not_one_network(trained, command):
    for more in ((), ("--task", "digits")):
        assert_bad_input(run(command, trained, *more), str(trained), "run")


# Runs


def test_a_run_on_other_data(trained):
    for command in ("diagnose", "null"):
        done = run(command, find_run(trained, "dfa"), "--task", "teacher")
        assert_bad_input(done, "teacher", "was not trained on the data")


def test_a_run_without_its_checkpoint(study):
    folder = find_run(study, "dfa")
    (folder / "checkpoint.safetensors").unlink()
    for command in ("diagnose", "null"):
        assert_bad_input(run(command, folder), "no usable checkpoint")
    assert_bad_input(run_audit(study, rules=("dfa",)), "no usable checkpoint")


def test_a_run_on_ones_own_data_asks_for_the_file(tmp_path):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(40, 64)).astype("float32"), np.arange(40) % 10
    np.savez(tmp_path / "mine.npz", x_train=x, y_train=y, x_test=x, y_test=y)
    run_ladder(tmp_path / "study", "--task", "mine.npz", "--k", 2, "--seeds", 1, rules=("dfa",))
    folder = find_run(tmp_path / "study", "dfa")
    assert run("null", folder, "--task", "mine.npz", "--draws", 3).status == 0
    assert_bad_input(run("null", folder), "mine", "--task")


def test_a_run_judged_on_validation_samples_with_another_task(tmp_path):
    study = tmp_path / "study"
    run_ladder(study, "--validation", 100, "--k", 2, "--seeds", 1, rules=("dfa",))
    folder = find_run(study, "dfa")
    assert_bad_input(run("null", folder), "--validation")
    assert_bad_input(run("null", folder, "--validation", 99), "was not trained on")
    assert_bad_input(run("null", folder, "--validation", 100, "--task", "teacher"), "teacher")
    assert run("null", folder, "--validation", 100, "--draws", 3).status == 0


def test_a_rule_that_a_run_was_not_trained_by(trained):
    assert_bad_input(
        run("null", find_run(trained, "dfa"), "--rule", "fa"), "trained by dfa, not by fa"
    )


def test_a_rule_beside_a_factory(factories):
    path = save_weights(factories, "mlp")
    options = ("--net", f"{factories}:mlp", "--rule", "dfa", "--task", "digits")
    assert_bad_input(run("diagnose", path, *options), "--rule", "--net")


@pytest.mark.parametrize("rule", ["fa", "bp"])
def test_feedback_of_another_rule(trained, networks, rule):
    for path in (find_run(trained, "dfa"), networks / "dfa_s1.pt"):
        done = run("null", path, "--task", "digits", "--rule", rule, "--draws", 3)
        assert_bad_input(done, rule)
