"""The command as a whole: help, version, errors, interruptions."""

from __future__ import annotations

import os
from subprocess import PIPE

import pytest
from cli.commands import SMALL, assert_bad_input, run, run_apart, start

from depthgauge import __version__
from depthgauge.registry import RULES

COMMANDS = [
    "audit",
    "ladder",
    "report",
    "null",
    "diagnose",
    "identity",
    "reproduce",
    "plot",
    "data",
    "compare",
    "new-rule",
    "check-rule",
    "rules",
    "nets",
    "tasks",
]


def test_help_lists_the_commands():
    done = run("--help")
    assert done.status == 0
    assert done.err == ""
    for command in COMMANDS:
        assert any(line.strip().startswith(command) for line in done.out.splitlines()), command


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command):
    done = run(command, "--help")
    assert done.status == 0
    assert f"usage: depthgauge {command}" in done.out


def test_the_help_of_the_ladder_names_its_options():
    told = run("ladder", "--help").out
    for option in ["--rules", "--k", "--seeds", "--epochs", "--out", "--json"]:
        assert option in told


def test_version():
    done = run("--version")
    assert (done.status, done.out) == (0, f"depthgauge {__version__}\n")


def test_no_command_is_bad_input():
    assert_bad_input(run(), "COMMAND", "depthgauge --help")


def test_an_unknown_command_is_answered_with_those_there_are():
    assert_bad_input(run("lader"), "lader", "ladder", "identity")


def test_an_unknown_option_is_bad_input():
    for arguments in [
        ("rules", "--jsn"),
        ("ladder", "--learning-speed", "1"),
        ("--quiet", "rules"),
        ("nets", "vit", "x"),
    ]:
        assert_bad_input(run(*arguments), "--help")


def test_options_cannot_be_abbreviated():
    assert_bad_input(run("rules", "--js"))


def test_an_interruption_is_said_in_one_line(monkeypatch):
    def interrupted(kind: object, name: str) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(type(RULES), "summary", interrupted)
    done = run("rules")
    assert done.status == 130
    assert done.err.count("\n") == 1
    assert "same command" in done.err


def test_a_closed_pipe_is_no_reason_to_complain():
    read, write = os.pipe()
    os.close(read)
    process = start("-m", "depthgauge.cli.main", "tasks", stdout=write, stderr=PIPE)
    os.close(write)
    _, err = process.communicate(timeout=120)
    assert err == ""
    assert process.returncode == 141


@pytest.mark.slow
def test_a_closed_pipe_costs_no_page(tmp_path):
    read, write = os.pipe()
    os.close(read)
    shared = (*SMALL, "--no-twins", "--seeds", 1, "--out", tmp_path / "study")
    command = ("ladder", *shared, "--rules", "bp")
    process = start("-m", "depthgauge.cli.main", *command, stdout=write, stderr=PIPE)
    os.close(write)
    process.communicate(timeout=120)
    assert process.returncode == 141
    assert (tmp_path / "study" / "report.html").is_file()


def test_help_does_not_wait_for_torch():
    done, modules = run_apart("--help")
    assert (done.status, done.err) == (0, "")
    assert not {"torch", "altair", "vl_convert", "scipy", "sklearn"} & modules


def test_training_does_not_wait_for_torchs_compiler(tmp_path):
    shared = (*SMALL, "--no-twins", "--seeds", 1, "--out", tmp_path / "study")
    command = ("ladder", *shared, "--rules", "bp", "dfa")
    done, modules = run_apart(*command)
    assert done.status == 0
    assert "torch" in modules
    assert "torch._dynamo" not in modules
