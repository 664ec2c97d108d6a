"""`depthgauge audit --vary … --select validation --controls …`: is it the rule, or its recipe?"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from cli.audits import network_of, read
from cli.commands import Done, assert_bad_input, run
from cli.conftest import one_core
from store.small_runs_on_disk import contents
from training.small_runs import make_task

from depthgauge.auditing import gauge_readings as reading
from depthgauge.registry import TASKS
from depthgauge.results.load import load
from depthgauge.tasks.base import hold_out_validation
from depthgauge.tasks.registry import TaskEntry

TASK, HELD_OUT = make_task(), 20
SMALL = (
    *("--task", "tiny", "--width", 8, "--depth", 2, "--epochs", 3, "--batch-size", 8),
    *("--no-twins", "--no-floors"),
)
COMMAND = ("audit", *SMALL, "--k", 0, 2, "--seeds", 1, "--threads", 1)
VARY = ("--rules", "bp", "dfa", "--vary", "learning_rate=0.00001,0.03", "normalise=sample,batch")
SELECT = (*VARY, "--select", "validation", "--validation", HELD_OUT)
CONTROLS = ("--controls", "shallow", "wide_block", "random_targets")

RULE_FILE = """
from depthgauge.rules.dfa import DFA


class AtFirst(DFA):
    name = "at_first"
    failed = False

    def credit(self, context):
        if not AtFirst.failed:
            AtFirst.failed = True
            raise ZeroDivisionError("the author divided by zero")
        return super().credit(context)
"""


def use_tiny(patch: pytest.MonkeyPatch) -> None:
    patch.setitem(TASKS.built_in, "tiny", TaskEntry("a few points", lambda: TASK, 3, 8))
    patch.setattr(reading, "NULL_DRAWS", 3)
    patch.setattr(reading, "SAMPLES", 64)


@pytest.fixture(autouse=True)
def tiny(monkeypatch):
    use_tiny(monkeypatch)


@pytest.fixture(scope="module")
def selected(tmp_path_factory: pytest.TempPathFactory) -> tuple[Done, Path]:
    """Two rules at their best settings and under three controls. Look, do not touch."""
    folder = tmp_path_factory.mktemp("settings") / "study"
    with pytest.MonkeyPatch.context() as patch, one_core():
        use_tiny(patch)
        done = run(*COMMAND, *SELECT, *CONTROLS, "--out", folder, "--json")
    assert done.status == 0, done.err
    return done, folder


@pytest.fixture
def document(selected) -> dict[str, Any]:
    return selected[0].document


def best_of(document: dict[str, Any], rule: str) -> str:
    candidates = document["selection"][rule]["candidates"]
    return max(candidates, key=lambda label: candidates[label]["accuracy"]["mean"])


# How the settings are chosen


def test_every_rule_was_tried_as_given_and_at_every_setting(document):
    tried = {rule: list(entry["candidates"]) for rule, entry in document["selection"].items()}
    slow, fast = "learning_rate=1e-05", "learning_rate=0.03"
    assert tried == {
        "bp": ["bp", f"bp[{slow}]", f"bp[{fast}]"],
        "dfa": [
            "dfa",
            f"dfa[{slow}]",
            f"dfa[normalise=batch,{slow}]",
            f"dfa[{fast}]",
            f"dfa[normalise=batch,{fast}]",
        ],
    }


def test_the_best_on_held_out_samples_is_chosen(document):
    for rule, entry in document["selection"].items():
        assert entry["chosen"] == best_of(document, rule)
        assert "learning_rate=0.03" in entry["chosen"]
        assert entry["samples"] == HELD_OUT


def test_every_accuracy_of_the_selection_leads_to_its_run(selected, document):
    for entry in document["selection"].values():
        for candidate in entry["candidates"].values():
            (path,) = candidate["runs"]
            result = read(selected[1] / path / "result.json")
            assert candidate["accuracy"]["mean"] == result["final_acc"]


def test_the_test_set_is_never_touched_by_the_selection(selected):
    held = hold_out_validation(TASK, HELD_OUT)
    configs = [read(path) for path in (selected[1] / "selection").glob("runs/*/config.json")]
    assert len(configs) == 8
    for config in configs:
        assert config["task"] == {
            "name": "tiny",
            "checksum": held.checksum,
            "evaluated_on": "validation",
        }
        assert config["k"] == 2


def test_the_audit_itself_is_on_the_test_set_with_all_training_samples(selected, document):
    assert document["config"]["task"]["evaluated_on"] == "test"
    assert document["config"]["task"]["checksum"] == TASK.checksum
    for path in selected[1].glob("runs/*/config.json"):
        assert read(path)["task"]["checksum"] == TASK.checksum


# What is audited


def survives(words: set[str]) -> bool | None:
    """Whether the verdict is one; None where that cannot be told."""
    if len(words) == 1 and words != {"inconclusive"}:
        return True
    return None if len(words - {"inconclusive"}) < 2 else False


def test_each_rule_is_audited_as_it_was_given_and_at_its_best(selected, document):
    settings = load(selected[1]).audit.settings
    plain = [name for name, entry in document["verdicts"].items() if entry["control"] is None]
    assert plain == ["bp", best_of(document, "bp"), "dfa", best_of(document, "dfa")]
    for rule in ("bp", "dfa"):
        words = {
            name: document["verdicts"][name]["word"] for name in (rule, best_of(document, rule))
        }
        assert settings[rule].words == words
        assert settings[rule].survives == survives(set(words.values()))


def test_every_setting_is_audited_under_every_control(document):
    settings = ["bp", best_of(document, "bp"), "dfa", best_of(document, "dfa")]
    for control in ("wide_block", "random_targets"):
        named = [n for n, entry in document["verdicts"].items() if entry["control"] == control]
        assert named == [under(control, setting) for setting in settings]
    assert list(document["shallow"]) == [under("shallow", setting) for setting in settings]
    assert not any("shallow" in name for name in document["verdicts"])


def under(control: str, setting: str) -> str:
    return f"{setting[:-1]},{control}]" if setting.endswith("]") else f"{setting}[{control}]"


def test_a_network_without_blocks_has_its_accuracy_and_its_run(selected, document):
    for entry in document["shallow"].values():
        ((seed, accuracy),) = entry["accuracies"].items()
        folder = selected[1] / "runs" / entry["runs"][seed]
        assert entry["accuracy"] == {"mean": accuracy, "std": None, "n": 1}
        assert read(folder / "result.json")["final_acc"] == accuracy
        assert read(folder / "config.json")["net"]["blocks"] == 0


def test_where_there_is_nothing_to_learn_depth_is_not_judged(document):
    entry = document["verdicts"]["bp[random_targets]"]
    assert entry["frozen"]["mean"] is None
    assert "D3" not in entry["fired"]


def test_one_wide_block_is_judged_by_its_own_frozen_run(selected, document):
    network = network_of(document, "dfa[wide_block]")
    net = read(selected[1] / "runs" / network["source"]["frozen_run"] / "config.json")["net"]
    assert (net["blocks"], net["hidden"]) == (1, 17)
    assert network["frozen"] is not None


def test_the_words_and_the_table_are_written_down(selected, document):
    text = (selected[1] / "audit.md").read_text().replace("\\", "")
    best = best_of(document, "dfa")
    assert f"- dfa: of 5 settings {best} was best on {HELD_OUT} held-out samples" in text
    assert "| setting | held-out accuracy | chosen |" in text
    assert "- bp: the verdict " in text
    assert "- dfa[shallow]: the network without blocks reaches" in text
    assert "- bp[wide_block]: one block with as many parameters reaches" in text
    assert "| bp[shallow] |" in text


# Again, and only for show


def test_the_same_command_trains_nothing_again(selected, document, tmp_path):
    folder = shutil.copytree(selected[1], tmp_path / "study")
    before = {name: file for name, file in contents(folder).items() if "runs/" in name}
    again = run(*COMMAND, *SELECT, *CONTROLS, "--out", folder, "--json")
    assert again.status == 0
    assert {n: file for n, file in contents(folder).items() if "runs/" in n} == before
    assert again.document | {"provenance": None} == document | {"provenance": None}


def test_a_dry_run_shows_the_settings_that_would_be_tried(tmp_path, selected):
    plan = run(*COMMAND, *SELECT, *CONTROLS, "--dry-run", "--json", "--out", "new").document
    assert plan["out"] == "new/selection"
    assert plan["config"]["task"]["evaluated_on"] == "validation"
    assert len(plan["runs"]) == 8
    assert {entry["state"] for entry in plan["runs"]} == {"waiting"}
    assert list(tmp_path.iterdir()) == []
    done = run(*COMMAND, *SELECT, *CONTROLS, "--dry-run", "--json", "--out", selected[1]).document
    assert {entry["state"] for entry in done["runs"]} == {"finished"}


def test_without_saying_how_many_a_tenth_is_held_out(tmp_path):
    options = (*VARY, "--select", "validation", "--dry-run", "--json")
    plan = run(*COMMAND, *options).document
    assert plan["config"]["task"]["checksum"] == hold_out_validation(TASK, 7).checksum


def test_without_selecting_every_setting_is_planned():
    plan = run(*COMMAND, *VARY, "--controls", "no_skip", "--dry-run", "--json").document
    assert len({entry["label"] for entry in plan["runs"]}) == 12
    assert plan["config"]["task"]["evaluated_on"] == "test"


def test_a_ladder_may_be_varied_and_controlled_too(tmp_path):
    done = run(
        *("ladder", *SMALL, "--seeds", 1, "--out", tmp_path / "out", "--json"),
        *("--rules", "dfa", "--vary", "penalty=0,1", "--controls", "shallow", "wide_block"),
    )
    assert done.status == 0, done.err
    rungs = {
        label: [rung["k"] for rung in rungs] for label, rungs in done.document["rules"].items()
    }
    assert rungs == {
        "dfa": [0, 1, 2],
        "dfa[penalty=1.0]": [0, 1, 2],
        "dfa[shallow]": [0],
        "dfa[penalty=1.0,shallow]": [0],
        "dfa[wide_block]": [0, 1],
        "dfa[penalty=1.0,wide_block]": [0, 1],
    }


# Bad input


def test_what_cannot_be_is_refused_before_anything_is_trained(tmp_path):
    for more, words in [
        (("--select", "validation"), ("--select", "--vary")),
        (("--select", "test", "--vary", "penalty=0,1"), ("--select", "validation")),
        (("--vary", "speed=1,2"), ("--vary speed", "penalty", "learning_rate", "normalise")),
        (("--vary", "penalty"), ("--vary", "penalty", "NAME=VALUE")),
        (("--vary", "penalty=0,"), ("--vary", "penalty=0,", "NAME=VALUE")),
        (("--vary", "penalty=0,-1"), ("penalty",)),
        (("--vary", "normalise=often,never"), ("normalise", "'sample'")),
        (("--vary", "learning_rate=fast"), ("learning_rate", "number")),
        (("--vary", "penalty=0,1", "penalty=2"), ("penalty more than once",)),
        (("--vary", "penalty=1,1.0"), ("--vary", "twice", "bp[penalty=1.0]")),
        (("--controls", "deep"), ("'deep'", "shallow", "no_skip")),
        (("--controls", "shallow", "shallow"), ("--controls", "shallow more than once")),
        (
            ("--vary", "penalty=0,1", "--select", "validation", "--validation", 72),
            ("--validation",),
        ),
    ]:
        done = run(*COMMAND, "--rules", "bp", "dfa", "--out", tmp_path / "out", *more)
        assert_bad_input(done, *words)
        assert not (tmp_path / "out").exists()


def test_a_rule_that_is_under_a_control_already_is_refused_before_anything_is_trained(tmp_path):
    options = ("--vary", "penalty=0,1", "--select", "validation", "--out", tmp_path / "out")
    done = run(*COMMAND, "--rules", "bp", "dfa[shallow]", *options)
    assert_bad_input(done, "dfa[shallow]", "--select")
    assert not (tmp_path / "out").exists()


def test_a_setting_that_fails_is_reported_and_another_is_chosen(tmp_path):
    (tmp_path / "rules.py").write_text(f"# {tmp_path}\n{RULE_FILE}")  # imported once for its text
    options = ("--vary", "penalty=0,1", "--select", "validation", "--out", tmp_path / "out")
    done = run(*COMMAND, "--rules", "rules.py:AtFirst", *options, "--json")
    assert "divided by zero" in done.err
    lost, other = done.document["selection"]["at_first"]["candidates"].values()
    assert (lost["lost"], lost["accuracy"]["mean"], lost["runs"]) == (1, None, [])
    assert other["lost"] == 0
    assert list(done.document["verdicts"]) == ["at_first", "at_first[penalty=1.0]"]
    assert done.status == 1
