"""A network from a user's file, which knows nothing of the package, on its way through commands."""

from __future__ import annotations

import json
import shutil
import signal
import time
from pathlib import Path
from subprocess import PIPE

import pytest
from cli.commands import assert_bad_input, run, start
from cli.own_networks import COMMON, write_network
from store.small_runs_on_disk import checkpoint_bits

import depthgauge as dg

PATIENCE = 300


def full_run(study: Path, rule: str) -> Path:
    configs = [(path, json.loads(path.read_text())) for path in study.glob("runs/*/config.json")]
    found = [p for p, c in configs if (c["rule"]["name"], c["k"]) == (rule, 2)]
    return found[0].parent


def test_an_audit_ends_with_verdicts_used_depth_and_a_page(tmp_path):
    net, study = write_network(tmp_path), tmp_path / "study"
    audit = run(
        *("audit", "--net", f"{net}:make", *COMMON, "--rules", "bp", "dfa", "--seeds", 1, 2),
        *("--no-twins", "--out", study, "--json"),
    )
    assert audit.status == 0, audit.err
    assert audit.document["verdicts"].keys() == {"bp", "dfa"}
    assert audit.document["config"]["net"]["name"] == "tiny.make"
    assert audit.document["config"]["net"]["blocks"] == 2
    assert (study / "report.html").is_file()
    saved = list((study / "sources").glob("*.py"))
    assert [path.read_text() for path in saved] == [net.read_text()]

    net.unlink()  # from here on only the study's copy is there
    null = run("null", full_run(study, "dfa"), "--draws", 5, "--json")
    assert null.status == 0, null.err
    assert len(null.document["null"]["fresh_deep"]) == 5
    again = run("resume", study)
    assert again.status == 0, again.err


def test_a_ladder_trains_swap_twins(tmp_path):
    net = write_network(tmp_path)
    ladder = run(
        *("ladder", "--net", f"{net}:make", *COMMON, "--epochs", 6, "--rules", "bp"),
        *("--seeds", 1, 2, 3, "--out", tmp_path / "study", "--json"),
    )
    assert ladder.status == 0, ladder.err
    configs = [json.loads(p.read_text()) for p in (tmp_path / "study").glob("runs/*/config.json")]
    assert any("swapped" in config.get("intervention", {}) for config in configs)


def outcome(study: Path) -> dict[str, object]:
    return {
        path.parent.name: (
            path.with_name("metrics.jsonl").read_text(),
            checkpoint_bits(path.with_name("checkpoint.safetensors")),
        )
        for path in study.glob("runs/*/result.json")
    }


def test_killed_in_the_middle_it_ends_with_the_same_bits(tmp_path):
    net = write_network(tmp_path)

    def command(folder: Path) -> list[object]:
        return [
            *("ladder", "--net", f"{net}:make", *COMMON, "--epochs", 4, "--rules", "dfa"),
            *("--k", 0, 2, "--seeds", 1, "--save-every", 0, "--no-twins", "--no-floors"),
            *("--out", folder, "--json"),
        ]

    assert run(*command(tmp_path / "whole")).status == 0
    killed = tmp_path / "killed"
    process = start("-m", "depthgauge.cli.main", *command(killed), stdout=PIPE, stderr=PIPE)
    give_up = time.monotonic() + PATIENCE
    while not any(p.read_bytes().count(b"\n") >= 3 for p in killed.glob("runs/*/metrics.jsonl")):
        assert time.monotonic() < give_up
        assert process.poll() is None, process.communicate()
        time.sleep(0.005)
    process.kill()
    process.communicate(timeout=PATIENCE)
    assert process.returncode == -signal.SIGKILL
    assert len(outcome(killed)) < 2
    done = run(*command(killed))
    assert done.status == 0, done.err
    assert outcome(killed) == outcome(tmp_path / "whole")


def test_python_takes_a_function(tmp_path):
    from training.own_networks import make_in_python  # noqa: PLC0415

    study = dg.ladder(
        net=make_in_python,
        blocks="layers",
        task="digits",
        rules=["bp", "fa"],
        seeds=1,
        epochs=1,
        k=[0, 2],
        twins=False,
        floors=False,
        out=tmp_path / "study",
    )
    assert study["fa"].ladder[-1].accuracies
    assert study.config.net.name == "own_networks.make_in_python"


SCRIPT = """
from torch import nn

import depthgauge as dg

WIDTH = 8


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(64, WIDTH)
        self.layers = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(2))
        self.head = nn.Linear(WIDTH, 10)

    def forward(self, x):
        h = self.embed(x.flatten(1))
        for layer in self.layers:
            h = h + layer(h)
        return self.head(h)


if __name__ == "__main__":
    options = {"blocks": "layers", "task": "digits", "rules": "dfa", "seeds": 1, "epochs": 1}
    study = dg.ladder(net=Net, k=[2], twins=False, floors=False, **options)
    print(study.config.net.name, study.folder)
    try:
        dg.ladder(net=Net(), **options)
    except dg.UserError as error:
        print(error)
"""


def test_a_class_of_a_script_is_saved_in_the_study(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    process = start("script.py", cwd=tmp_path, stdout=PIPE, stderr=PIPE)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, err
    first, refusal = out.splitlines()
    name, folder = first.split(maxsplit=1)
    assert name == "Net"
    assert len(list(Path(folder).glob("runs/*/result.json"))) == 1
    assert len(list(Path(folder).glob("sources/*.py"))) == 1
    assert refusal.startswith("net is Net; give a function or class that returns a new network")


@pytest.mark.parametrize(
    ("net", "options", "words"),
    [
        ("raising", [], "tiny.py:raising cannot make its network: FileNotFoundError: no weights"),
        ("a_number", [], "tiny.py:a_number returns int, not a torch.nn.Module"),
        ("absent", [], "has no function absent"),
        ("make", ["--blocks", "nowhere.layers"], "the path 'nowhere.layers' matches no modules"),
        (
            "make",
            ["--blocks", "unused"],
            "cannot be trained on digits: no block ran",
        ),
        (
            "make",
            ["--blocks", "branches"],
            "give blocks that run one after the other",
        ),
        ("make", ["--rules", "bp", "ep"], "the rule ep needs 'blocks'"),
        ("make", ["--width", "8"], "--width is for networks of the package"),
        ("make", ["--depth", "2"], "--depth is for networks of the package"),
        ("make", ["--k", "3"], "--k 3 is not possible: the network has 2 blocks"),
        ("make", ["--controls", "no_norm"], "[no_norm] needs a changed network"),
    ],
)
def test_bad_input_gets_one_sentence(tmp_path, net, options, words):
    path = write_network(tmp_path)
    typed = ("ladder", "--net", f"{path}:{net}", *COMMON, *options, "--out", tmp_path / "study")
    assert_bad_input(run(*typed), words)
    assert not (tmp_path / "study" / "runs").exists()


def test_the_file_may_be_gone_or_changed_after_planning(tmp_path):
    net, study = write_network(tmp_path), tmp_path / "study"
    typed = (
        *("ladder", *COMMON, "--rules", "bp", "--seeds", 1, "--k", 2, "--no-twins"),
        "--no-floors",
    )
    assert run(*typed, "--net", f"{net}:make", "--out", study).status == 0
    shutil.rmtree(next(study.glob("runs/*")))
    net.write_text(net.read_text().replace("nn.Linear(16, 8)", "nn.Linear(16, 8, bias=False)"))
    assert run("resume", study).status == 0
    changed = run(*typed, "--net", f"{net}:make", "--out", study)
    assert_bad_input(changed, "belongs to another study, which differs in: net.source")
