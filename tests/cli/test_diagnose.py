"""`depthgauge diagnose`: one network, ours or anybody's."""

from __future__ import annotations

import json
import sys

import pytest
import torch
from cli.audits import export, find_run, read, readings_of
from cli.commands import run
from cli.foreign_checkpoints import load_factories, save_weights, write_factories
from torch.nn.functional import cross_entropy
from training.small_images import PIXELS, random_images

from depthgauge.auditing import load_trained as loading
from depthgauge.tasks.base import Split, Task
from depthgauge.tasks.digits import load_digits

UNTESTED = "no alarm, depth untested"


@pytest.fixture
def factories(tmp_path):
    return write_factories(tmp_path)


def diagnose(path, *more):
    done = run("diagnose", path, "--json", *more)
    assert (done.status, done.err) == (0, "")
    return json.loads(done.out, parse_constant=pytest.fail)


def test_a_run_knows_its_task_and_its_rule(trained, audited):
    folder = find_run(trained, "dfa")
    report = diagnose(folder)
    result = read(folder / "result.json")
    assert report["verdict"] == UNTESTED
    assert report["single_seed"] is True
    assert report["headline_acc"] == pytest.approx(result["final_acc"])
    assert report["residual_norms"] == pytest.approx(result["final"]["h_norm"], rel=1e-5)
    expected = readings_of(audited.document, "dfa")["alignment"]
    found = report["readings"]["alignment"]["per_layer"]
    assert found == pytest.approx(expected["per_layer"], abs=1e-6)


def test_a_run_is_called_by_its_rule(trained):
    assert "dfa" in diagnose(find_run(trained, "dfa"))["method_name"]


def test_a_file_of_a_residual_mlp_needs_no_factory(trained, tmp_path):
    path = export(trained, tmp_path / "networks") / "dfa_s1.pt"
    report = diagnose(path, "--task", "digits", "--name", "mine")
    assert report["method_name"] == "mine"
    assert diagnose(path, "--task", "digits")["method_name"] == "dfa_s1.pt"
    run_report = diagnose(find_run(trained, "dfa"))
    assert report["bp_grad_norms"] == run_report["bp_grad_norms"]
    assert "alignment" not in report["readings"]


def test_anybodys_network_by_a_path_to_its_blocks(factories):
    path = save_weights(factories, "mlp")
    options = ("--net", f"{factories}:mlp", "--blocks", "body.layers", "--task", "digits")
    report = diagnose(path, *options)
    net = load_factories(factories).mlp()
    net.load_state_dict(torch.load(path, weights_only=True))
    x, y = load_digits().evaluation.x, load_digits().evaluation.y
    assert report["headline_acc"] == pytest.approx(float((net(x).argmax(1) == y).float().mean()))
    states = [net.inputs(x)]
    for layer in net.body["layers"]:
        states.append(states[-1] + layer(states[-1]))
    loss = cross_entropy(net.outputs(states[-1]), y, reduction="sum")
    gradients = torch.autograd.grad(loss, states)
    for name, tensors in (("residual_norms", states), ("bp_grad_norms", gradients)):
        medians = [float(t.detach().square().sum(1).sqrt().median()) for t in tensors]
        assert report[name] == pytest.approx(medians, rel=1e-5)


def test_a_network_with_sign_feedback_is_named_and_its_plain_twin_is_read(factories):
    path = save_weights(factories, "with_sign_feedback")
    blocks = ("--blocks", "body.layers", "--task", "digits", "--batches", 8)
    alone = diagnose(path, "--net", f"{factories}:with_sign_feedback", *blocks)
    assert alone["readings"]["reference"]["value"] is None
    assert alone["remarks"][0].startswith("Blocks 0 to 2 define their own backward pass")
    assert alone["verdict"] == UNTESTED
    pair = ("--net", f"{factories}:with_sign_feedback", "--plain", f"{factories}:mlp")
    assert diagnose(path, *pair, *blocks)["bp_grad_norms"] == pytest.approx(
        diagnose(path, "--net", f"{factories}:mlp", *blocks)["bp_grad_norms"], rel=1e-4
    )


def test_a_plain_twin_that_is_mistyped_or_of_our_own_network_is_refused(factories, healthy):
    path = save_weights(factories, "with_sign_feedback")
    net = ("--net", f"{factories}:with_sign_feedback", "--task", "digits")
    assert "--plain 'mlp' must be written" in run("diagnose", path, *net, "--plain", "mlp").err
    refused = run("diagnose", *healthy, "--plain", f"{factories}:mlp")
    assert (refused.status, "--plain needs --net" in refused.err) == (2, True)


def test_a_factory_may_be_in_a_module_of_the_working_folder(factories):
    path = save_weights(factories, "mlp")
    options = ("--blocks", "body.layers", "--task", "digits", "--batches", 2)
    by_file = diagnose(path, "--net", f"{factories}:mlp", *options)
    try:
        assert diagnose(path, "--net", "my_networks:mlp", *options) == by_file
    finally:
        sys.modules.pop("my_networks", None)
    assert by_file["readings"]["scale"]["measured_on"].startswith("100 samples in 2 batches")


def test_initial_weights_from_a_file_or_drawn_by_a_runs_seed(trained, factories, tmp_path):
    path, initial = save_weights(factories, "mlp"), tmp_path / "before"
    initial.mkdir()
    before = save_weights(factories, "mlp", seed=9).rename(initial / "mlp.pt")
    path = save_weights(factories, "mlp")
    options = ("--net", f"{factories}:mlp", "--blocks", "body.layers", "--task", "digits")
    lost = diagnose(path, *options, "--initial", before)["readings"]["rewind"]["per_layer"]
    assert len(lost) == 3
    assert any(lost)
    unknown = diagnose(path, *options)["readings"]["rewind"]
    assert unknown["note"] == "n/a: the initial weights are not at hand"
    frozen = diagnose(find_run(trained, "dfa", k=1))["readings"]["rewind"]["per_layer"]
    assert (len(frozen), frozen[0]) == (2, 0.0)


def test_images_for_a_convolutional_network(factories, monkeypatch):
    images, labels = random_images(60), torch.arange(60) % 5
    task = Task("images", Split(images, labels), Split(images, labels), 5, PIXELS)
    monkeypatch.setattr(loading, "load_task", lambda name, validation: task)
    path = save_weights(factories, "cnn")
    options = ("--net", f"{factories}:cnn", "--blocks", "body.layers", "--task", "images")
    report = diagnose(path, *options)
    net = load_factories(factories).cnn()
    net.load_state_dict(torch.load(path, weights_only=True))
    mean, std = (torch.tensor(v).view(3, 1, 1) for v in (PIXELS.mean, PIXELS.std))
    x = (images.float() / 255 - mean) / std
    h_0 = net.inputs(x).detach().square().sum(1).sqrt().mean((1, 2))
    assert report["residual_norms"][0] == pytest.approx(float(h_0.median()), rel=1e-5)
    assert len(report["residual_norms"]) == 3


@pytest.fixture
def healthy(trained, tmp_path):
    return export(trained, tmp_path / "networks") / "bp_s1.pt", "--task", "digits"


def test_a_frozen_accuracy_and_a_headline_decide_on_depth(healthy):
    report = diagnose(*healthy, "--acc", 0.9, "--frozen-acc", 0.5)
    assert report["verdict_in_words"] == "no alarm, depth untested (single seed)"
    assert report["fired"] == []
    fallen = diagnose(*healthy, "--acc", 0.5, "--frozen-acc", 0.5)
    assert fallen["fired"] == ["D3"]
    flat = diagnose(*healthy, "--acc", 0.5, "--frozen-acc", 0.5, "--bp-depth-gain", 0.001)
    assert flat["verdict"] == UNTESTED


@pytest.mark.parametrize(
    ("more", "status"), [((), 0), (("--thresholds", "growth=0.5"), 3)], ids=["fine", "walked back"]
)
def test_strict_is_an_exit_status(healthy, more, status):
    assert run("diagnose", *healthy, "--strict", *more).status == status
    assert run("diagnose", *healthy, *more).status == 0


def test_people_get_a_page_for_an_appendix(healthy):
    done = run("diagnose", *healthy, "--thresholds", "growth=7")
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith("bp_s1.pt: no alarm, depth untested (single seed)\n")
    for part in ("D1  passes", "‖g_l‖ for N = 128", "growth 7", "D2s stability"):
        assert part in done.out


@pytest.mark.parametrize("dtype", [torch.float16, torch.float64])
def test_a_file_in_another_precision_with_its_feedback(trained, tmp_path, dtype):
    folder = export(trained, tmp_path / "networks", feedback=True)
    saved = torch.load(folder / "dfa_s1.pt", weights_only=True)
    saved["model"] = {name: tensor.to(dtype) for name, tensor in saved["model"].items()}
    saved["Bs"] = [matrix.to(dtype) for matrix in saved["Bs"]]
    torch.save(saved, folder / "dfa_s1.pt")
    report = diagnose(folder / "dfa_s1.pt", "--task", "digits", "--batches", 2)
    assert report["readings"]["alignment"]["value"] is not None
