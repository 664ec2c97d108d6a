"""`depthgauge null`."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from cli.audits import export, find_run, saved_part
from cli.commands import run, run_ladder, write_rules
from oracles.null_loop import alignment, null_loop

from depthgauge.nets.residual_mlp import ResidualMLP
from depthgauge.tasks.digits import load_digits

UNBATCHED = """

class OneByOne(DFA):
    name = "one_by_one"
    batched = False

    def projected(self, context):
        return None
"""


def network(run_folder):
    net = ResidualMLP(64, 8, 10, 2)
    net.load_state_dict(saved_part(run_folder, "parameters"))
    return net


def null(path, *more):
    done = run("null", path, "--json", *more)
    assert (done.status, done.err) == (0, "")
    return json.loads(done.out, parse_constant=pytest.fail)


@pytest.mark.parametrize("convention", ["depthgauge", "published"])
def test_a_run_of_dfa_against_the_plain_script(trained, convention):
    folder = find_run(trained, "dfa")
    document = null(folder, "--draws", 20, "--samples", 64, "--convention", convention)
    found, split = document["null"], load_digits().evaluation
    net, batch = network(folder), (split.x[:64].flatten(1), split.y[:64])
    expected = np.array(null_loop(net, batch, "dfa", 20, convention))
    assert found["fresh_deep"] == pytest.approx(expected[:, 1:].mean(1), abs=1e-6)
    assert found["deep"]["spread"] == pytest.approx(expected[:, 1:].mean(1).std(ddof=1), abs=1e-6)
    matrices = list(saved_part(folder, "feedback")["B"])
    observed = alignment(net, batch, "dfa", matrices, convention)
    assert [layer["observed"] for layer in found["per_layer"]] == pytest.approx(observed, abs=1e-6)
    assert found["convention"] == convention


def test_a_thousand_draws_unless_told_otherwise(trained):
    found = null(find_run(trained, "dfa"))["null"]
    assert found["draws"] == len(found["fresh_deep"]) == 1000
    assert found["measured_on"].startswith("500 samples")


def test_a_file_with_feedback_is_calibrated_like_the_run_it_comes_from(trained, tmp_path):
    folder = export(trained, tmp_path / "networks", feedback=True)
    found = null(folder / "dfa_s1.pt", "--task", "digits", "--draws", 20)
    assert found["null"] == null(find_run(trained, "dfa"), "--draws", 20)["null"]


def test_the_checkpoint_in_a_runs_folder_is_the_run(trained):
    folder = find_run(trained, "dfa")
    inside = null(folder / "checkpoint.safetensors", "--draws", 9)
    assert inside["null"] == null(folder, "--draws", 9)["null"]


def test_without_feedback_there_is_no_number(trained, tmp_path):
    networks = export(trained, tmp_path / "networks")
    for path, reason in (
        (find_run(trained, "bp"), "bp has no random feedback"),
        (networks / "dfa_s1.pt", "not saved"),
    ):
        task = ("--task", "digits")
        document = null(path, *task)
        assert document["null"] == "n/a"
        assert reason in document["reason"]
        done = run("null", path, *task)
        assert (done.status, done.err) == (0, "")
        assert done.out.startswith("n/a: ")
        assert done.out.count("\n") == 1


def test_somebodys_own_rule_must_be_named(tmp_path):
    path = write_rules(tmp_path)
    path.write_text(path.read_text() + UNBATCHED)
    rule = f"{path}:OneByOne"
    more = ("--k", 2, "--seeds", 1)
    assert run_ladder(tmp_path / "study", *more, rules=(rule,)).status == 0
    folder = find_run(tmp_path / "study", "one_by_one")
    assert "--rule" in null(folder)["reason"]
    found = null(folder, "--rule", rule, "--draws", 20, "--samples", 32)
    split = load_digits().evaluation
    expected = null_loop(network(folder), (split.x[:32].flatten(1), split.y[:32]), "dfa", 20)
    deep = np.array(expected)[:, 1:].mean(1)
    assert found["null"]["fresh_deep"] == pytest.approx(deep, abs=1e-6)


def test_people_get_a_row_for_each_layer(trained):
    done = run("null", find_run(trained, "dfa"), "--draws", 19)
    assert (done.status, done.err) == (0, "")
    lines = done.out.splitlines()
    assert "500 samples" in lines[0]
    for name in ("embed", "block 0", "block 1", "all layers", "deep"):
        (row,) = (line for line in lines if line.strip().startswith(name))
        assert row.split()[-1] in ("specific", "generic", "mixed", "absent")
    assert "p upper" in done.out


def test_a_gradient_of_zero_is_not_calibrated_and_the_document_stays_json(tmp_path):
    net = ResidualMLP(64, 8, 10, 2)
    net.out_head.weight.data.zero_()
    content = {"state_dict": net.state_dict(), "Bs": [torch.randn(8, 10) for _ in range(2)]}
    torch.save(content, tmp_path / "net.pt")
    found = null(tmp_path / "net.pt", "--task", "digits", "--draws", 5)["null"]
    assert found["deep"]["word"] == "n/a"
    assert found["deep"]["observed"] is None


@pytest.mark.parametrize("dtype", [torch.float16, torch.float64])
@pytest.mark.parametrize("columns", [8, 10])
def test_a_file_in_another_precision(tmp_path, dtype, columns):
    weights = ResidualMLP(64, 8, 10, 2).to(dtype).state_dict()
    matrices = [torch.randn(8, columns).to(dtype) for _ in range(2)]
    torch.save({"state_dict": weights, "Bs": matrices}, tmp_path / "net.pt")
    found = null(tmp_path / "net.pt", "--task", "digits", "--draws", 5)["null"]
    assert found["per_layer"][0]["observed"] is not None
