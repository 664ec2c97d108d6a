"""`depthgauge audit --checkpoints --net`: networks of somebody's own architecture, over seeds."""

from __future__ import annotations

import json

import pytest
import torch
from cli.commands import assert_bad_input, run
from cli.foreign_checkpoints import load_factories, save_transformers, save_weights, write_factories

import depthgauge as dg
from depthgauge.tasks.digits import load_digits

LAYERS = "encoder.layers"


@pytest.fixture
def factories(tmp_path):
    return write_factories(tmp_path)


@pytest.fixture
def folder(factories):
    return save_transformers(factories, ["bp", "mine"], [1, 2])


def audit(folder, *more, blocks=LAYERS):
    return run("audit", "--checkpoints", folder, "--task", "digits", "--blocks", blocks, *more)


def accuracy_by_hand(factories, path, seed: int) -> float:
    net = load_factories(factories).transformer(seed).eval()
    net.load_state_dict(torch.load(path, weights_only=True)["state_dict"])
    test = load_digits().evaluation
    return float((net(test.x).argmax(1) == test.y).float().mean())


def test_networks_are_read_as_diagnose_reads_them_and_judged_over_seeds(factories, folder):
    """A user with five checkpoints of a transformer wants one word, not five reports."""
    done = audit(folder, "--net", f"{factories}:transformer", "--json")
    assert (done.status, done.err) == (0, "")
    document = json.loads(done.out, parse_constant=pytest.fail)
    assert {label: v["seeds"] for label, v in document["verdicts"].items()} == {
        "bp": [1, 2],
        "mine": [1, 2],
    }
    for network in document["networks"]:
        path = folder / network["source"]["checkpoint"]
        assert path.name == f"{network['label']}_s{network['seed']}.pt"
        by_hand = accuracy_by_hand(factories, path, network["seed"])
        assert network["accuracy"] == pytest.approx(by_hand)
        assert len(network["report"]["bp_grad_norms"]) == 3
    with_other_seed = accuracy_by_hand(factories, folder / "bp_s1.pt", 2)
    assert document["networks"][0]["accuracy"] != pytest.approx(with_other_seed)


def test_the_readings_are_those_of_diagnose(factories):
    path = save_weights(factories, "mlp")
    named = path.rename(factories.parent / "mine_s4.pt")
    options = ("--net", f"{factories}:mlp", "--blocks", "body.layers", "--task", "digits", "--json")
    one = run("diagnose", named, *options).document
    (network,) = run("audit", "--checkpoints", named.parent, *options).document["networks"]
    assert network["report"]["readings"]["scale"] == one["readings"]["scale"]
    assert network["report"]["bp_grad_norms"] == one["bp_grad_norms"]
    assert network["seed"] == 4


def test_from_python_with_arrays_of_ones_own(factories, folder, tmp_path, monkeypatch):
    """Where they were made stays with the audit; nothing is written where nobody asked."""
    monkeypatch.chdir(tmp_path)
    digits = load_digits()
    task = dg.Task("mine", digits.train, digits.evaluation, 10)
    before = sorted(tmp_path.rglob("*"))
    study = dg.audit(
        checkpoints=folder, net=f"{factories}:transformer", blocks=LAYERS, task=task, rules=["bp"]
    )
    assert sorted(tmp_path.rglob("*")) == before
    assert list(study) == ["bp"]
    assert study.seeds == [1, 2]
    assert (study.config.factory, study.config.blocks) == (f"{factories}:transformer", LAYERS)
    by_hand = [accuracy_by_hand(factories, folder / f"bp_s{seed}.pt", seed) for seed in (1, 2)]
    found = [network.accuracy for network in study["bp"].networks]
    assert found == pytest.approx(by_hand)


def test_a_page_says_what_made_the_networks(factories, folder, tmp_path):
    out = tmp_path / "out"
    done = audit(folder, "--net", f"{factories}:transformer", "--seeds", 1, "--out", out)
    assert done.status == 0
    assert "networks.py:transformer" in (out / "report.html").read_text()
    assert dg.load(out).config.blocks == LAYERS


@pytest.mark.parametrize(
    ("net", "blocks", "words"),
    [
        ("deeper", LAYERS, ["bp_s1.pt", "does not fit", "encoder.layers.2"]),
        ("transformer", "decoder", ["'decoder'", "'encoder.layers' (2 modules)"]),
        ("raises", LAYERS, ["raises", "no such thing"]),
        ("a_number", LAYERS, ["int, not a torch.nn.Module"]),
        ("nothing", LAYERS, ["has no function nothing"]),
    ],
)
def test_what_does_not_fit_is_one_sentence(factories, folder, net, blocks, words):
    assert_bad_input(audit(folder, "--net", f"{factories}:{net}", blocks=blocks), *words)


def test_a_network_for_another_task_is_refused_by_its_file(factories, folder):
    options = ("--net", f"{factories}:transformer", "--blocks", LAYERS, "--task", "teacher")
    refused = run("audit", "--checkpoints", folder, *options)
    assert_bad_input(refused, "bp_s1.pt", "of the shape (3,)")
    few = save_weights(factories, "few_classes").rename(factories.parent / "few_s1.pt").parent
    options = ("--net", f"{factories}:few_classes", "--blocks", "body.layers", "--task", "digits")
    refused = run("audit", "--checkpoints", few, *options)
    assert_bad_input(refused, "few_s1.pt", "(500, 5)", "(500, 10)")


def test_the_path_to_the_blocks_goes_with_a_network_of_ones_own(factories):
    own = ("--task", "digits", "--net", f"{factories}:mlp")
    assert_bad_input(run("audit", *own), "has no `blocks`", "'body.layers'")
    assert_bad_input(run("audit", "--blocks", "body.layers"), "--blocks", "--depth")


def test_a_checkpoint_that_could_run_code_is_refused(factories, folder):
    torch.save(torch.nn.Linear(2, 2), folder / "bp_s1.pt")
    refused = audit(folder, "--net", f"{factories}:transformer")
    assert_bad_input(refused, "bp_s1.pt", "more than plain tensors")
