"""What there is."""

from __future__ import annotations

import pytest
from cli.commands import run


@pytest.mark.parametrize(
    ("command", "names"),
    [
        ("rules", ["bp", "fa", "dfa"]),
        ("nets", ["residual_mlp"]),
        ("tasks", ["teacher", "digits", "cifar10", "cifar100"]),
    ],
)
def test_a_list_as_text_and_as_json(command, names):
    text, document = run(command), run(command, "--json")
    assert (text.status, text.err) == (document.status, document.err) == (0, "")
    entries = {entry["name"]: entry for entry in document.document}
    assert set(names) <= set(entries)
    first_words = [line.split()[0] for line in text.out.splitlines() if line[0] != " "]
    assert first_words == list(entries)
    for entry in entries.values():
        assert entry["summary"]
        assert entry["summary"] in text.out


def test_rules_come_with_their_needs_and_options():
    rules = {entry["name"]: entry for entry in run("rules", "--json").document}
    assert rules["dfa"]["needs"] == ["error"]
    options = {option["name"]: option for option in rules["dfa"]["options"]}
    assert options["normalise"]["default"] == "sample"
    assert options["epsilon"]["default"] == 1e-6
    assert all(option["description"] for option in options.values())


def test_tasks_come_with_what_fits_their_size():
    tasks = {entry["name"]: entry for entry in run("tasks", "--json").document}
    assert tasks["cifar10"]["width"] == 256
    assert tasks["cifar10"]["epochs"] == 100
