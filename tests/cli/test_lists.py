"""What there is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from cli.commands import assert_bad_input, run, run_apart, write_rules

from depthgauge.controls import CONTROLS
from depthgauge.registry import RULES
from depthgauge.rules.access import access_of

EVERY_RULE = ["bp", "fa", "dfa", "state_bridge", "credit_bridge", "ep", "sdfa", "drtp", "noise"]


@pytest.mark.parametrize(
    ("command", "names"),
    [
        ("rules", EVERY_RULE),
        ("nets", ["residual_mlp", "vit", "resnet", "cnn", "gpt"]),
        ("tasks", ["teacher", "digits", "pointers", "cifar10", "cifar100", "shakespeare"]),
    ],
)
def test_a_list_as_text_and_as_json(command, names):
    text, document = run(command), run(command, "--json")
    assert (text.status, text.err) == (document.status, document.err) == (0, "")
    entries = {entry["name"]: entry for entry in document.document}
    assert set(names) <= set(entries)
    lines = text.out.split("\n\n")[0].splitlines()
    if command == "rules":
        lines = lines[::2]
    assert [line.split(maxsplit=1) for line in lines] == [
        [name, entry["summary"]] for name, entry in entries.items()
    ]


def test_all_eight_rules_are_a_list_of_objects():
    entries = run("rules", "--json").document
    assert isinstance(entries, list)
    for entry in entries:
        assert list(entry) == ["name", "summary", "needs", "sees", "transports", "options"]
        assert set(entry["needs"]) <= {"error", "readout", "blocks", "gradient"}
        for option in entry["options"]:
            assert list(option) == ["name", "default", "description"]
    names = [entry["name"] for entry in entries]
    assert names[: len(EVERY_RULE)] == EVERY_RULE
    assert len(set(names)) == len(names)


def test_backpropagation_and_noise_have_nothing_to_choose():
    entries = run("rules", "--json").document
    fixed = {entry["name"] for entry in entries if not entry["options"]}
    assert fixed == {"bp", "noise"}


def test_people_are_told_what_else_goes_into_the_brackets():
    lines = [line.split() for line in run("rules", "dfa").out.splitlines()]
    assert [line[0] for line in lines[2:4]] == ["normalise=sample", "epsilon=1e-06"]
    for option in ("learning_rate=0.001", "weight_decay=0.01", "penalty=0.0"):
        assert [line[0] for line in lines].count(option) == 1
    for control in CONTROLS:
        assert [line[0] for line in lines].count(control) == 1


def test_one_rule_is_shown_by_its_name_or_its_file(tmp_path):
    assert run("rules", "dfa", "--json").document in run("rules", "--json").document
    assert run("rules", f"{write_rules(tmp_path)}:Mine").out.startswith(
        "mine           every block"
    )
    assert_bad_input(run("rules", "sgd"), "'sgd'", "state_bridge")


def test_rules_come_with_their_needs_and_options():
    rules = {entry["name"]: entry for entry in run("rules", "--json").document}
    assert rules["dfa"]["needs"] == ["error"]
    options = {option["name"]: option for option in rules["dfa"]["options"]}
    assert options["normalise"]["default"] == "sample"
    assert options["epsilon"]["default"] == 1e-6
    assert all(option["description"] for option in options.values())


def test_a_reviewer_is_told_which_rules_are_backpropagation_in_disguise(tmp_path):
    """What is read off the sources, without torch, is what the classes declare."""
    lines = run("rules").out.split("\n\n")[0].splitlines()
    said = {
        name.split()[0]: sees.strip() for name, sees in zip(lines[::2], lines[1::2], strict=True)
    }
    assert said == {name: str(access_of(RULES.find(name)[0])) for name in said}
    assert said["ep"] == (
        "sees the Jacobian of the readout and the Jacobians of the blocks; transports the weights "
        "of the blocks and the readout, as backpropagation does"
    )
    assert said["fa"].endswith("transports the weights of the readout")
    assert said["dfa"] == said["sdfa"] == "sees the error; transports no weights"
    assert said["drtp"] == "sees the target alone; transports no weights"
    assert said["ep"] in run("rules", "ep").out
    assert run("rules", "ep", "--json").document["transports"] == ["blocks", "readout"]
    own = tmp_path / "mirror.py"
    own.write_text(MIRROR)
    assert "sees the error; its feedback is made from the weights" in run("rules", f"{own}:M").out
    assert run("rules", f"{own}:M", "--json").document["transports"] == ["feedback"]


MIRROR = """
from depthgauge.rules.dfa import DFA
class M(DFA):
    name, summary, copies_weights = "mirror", "DFA through the readout's own weights", True
    def feedback(self, net, generator):
        return {"B": net.weights["out_head.weight"].T.expand(net.num_blocks, -1, -1).clone()}
"""


def test_tasks_come_with_what_fits_their_size():
    tasks = {entry["name"]: entry for entry in run("tasks", "--json").document}
    assert tasks["cifar10"]["width"] == 256
    assert tasks["cifar10"]["epochs"] == 100


@pytest.mark.parametrize(
    "command", [["--help"], ["rules"], ["nets"], ["tasks"], ["tasks", "--json"]]
)
def test_a_list_does_not_wait_for_torch(command):
    done, modules = run_apart(*command)
    assert done == run(*command)
    assert not {"torch", "pydantic", "numpy"} & modules


def test_an_installed_rule_is_loaded_to_be_described(tmp_path, monkeypatch):
    install(tmp_path, "theirs = their_rules:Theirs", "lost = their_rules:Lost")
    (tmp_path / "their_rules.py").write_text(
        "from depthgauge.rules.dfa import DFA\n"
        "class Theirs(DFA):\n"
        "    name, summary = 'theirs', 'a rule of somebody else'\n"
    )
    path = os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH"))))
    monkeypatch.setenv("PYTHONPATH", path)
    done, _ = run_apart("rules", "--json")
    entries = {entry["name"]: entry for entry in done.document}
    assert set(EVERY_RULE) <= set(entries)
    assert entries["theirs"] == entries["dfa"] | {
        "name": "theirs",
        "summary": "a rule of somebody else",
    }
    assert done.err.startswith("depthgauge: the installed rule 'lost' cannot be loaded")
    assert "\n" not in done.err


def install(folder: Path, *rules: str) -> None:
    """What pip leaves behind of a package that offers rules."""
    about = folder / "theirs-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("\n".join(["[depthgauge.rules]", *rules]))


def test_one_network_as_text_and_as_json():
    text, document = run("nets", "vit"), run("nets", "vit", "--json")
    assert (text.status, document.status) == (0, 0)
    net = document.document
    assert (net["name"], net["width"]) == ("vit", 64)
    assert {option["name"]: option["default"] for option in net["options"]}["patch"] == 4
    for option in net["options"]:
        assert f"{option['name']}={option['default']}  {option['description']}" in text.out
    assert run("nets", "residual_mlp", "--json").document["options"] == []


def test_a_network_that_is_not_there_gets_a_sentence():
    assert_bad_input(run("nets", "lenet"), "lenet", "there are: cnn, gpt, residual_mlp")
