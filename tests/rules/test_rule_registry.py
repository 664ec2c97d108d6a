"""Finding a rule by what is typed on the command line."""

from __future__ import annotations

import shutil
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
import torch

from depthgauge.config import NetConfig, Recipe, RuleConfig, RunConfig, TaskConfig
from depthgauge.errors import UserError
from depthgauge.registry import RULES
from depthgauge.rules.bp import BP
from depthgauge.rules.choice import choose_rule
from depthgauge.rules.contract import Context, Rule
from depthgauge.rules.dfa import DFA
from depthgauge.rules.fa import FA

EXAMPLES = Path(__file__).with_name("example_rules.py")


@pytest.fixture
def rule_file(tmp_path) -> Path:
    return Path(shutil.copy(EXAMPLES, tmp_path / "my_rules.py"))


def test_by_name():
    for name, rule_class in [("bp", BP), ("fa", FA), ("dfa", DFA)]:
        choice = choose_rule(name)
        assert choice.rule_class is rule_class
        assert choice.label == name
        assert choice.source == ""
        assert type(choice.build()) is rule_class
        assert choice.build().options == rule_class.Options()


def test_the_published_options_are_the_defaults():
    assert choose_rule("dfa").options.model_dump() == {"normalise": "sample", "epsilon": 1e-6}
    assert choose_rule("fa").options.model_dump() == {"normalise": "sample", "epsilon": 1e-6}
    assert choose_rule("bp").options.normalise == "none"


def test_a_label_names_the_options_that_differ_from_the_defaults():
    for text, label in [
        ("dfa[normalise=batch]", "dfa[normalise=batch]"),
        ("dfa[epsilon=1e-3,normalise=none]", "dfa[normalise=none,epsilon=0.001]"),
        (" fa[ normalise = batch , epsilon = 0 ] ", "fa[normalise=batch,epsilon=0.0]"),
        ("dfa[normalise=sample]", "dfa"),
        ("dfa[]", "dfa"),
    ]:
        choice = choose_rule(text)
        assert choice.label == label
        assert choose_rule(label).options == choice.options


def test_options_reach_the_rule():
    rule = choose_rule("fa[normalise=batch,epsilon=0.5]").build()
    assert (rule.options.normalise, rule.options.epsilon) == ("batch", 0.5)


def test_by_file_and_class(rule_file):
    choice = choose_rule(f"{rule_file}:TrueGradient[normalise=batch]")
    assert issubclass(choice.rule_class, Rule)
    assert choice.label == "true_gradient[normalise=batch]"
    assert choice.build().options.normalise == "batch"


def test_how_an_own_rules_credit_is_normalised_is_part_of_its_runs_identity(rule_file):
    """A run of before, when own rules were normalised unasked, must not pass for one of today."""
    choice = choose_rule(f"{rule_file}:TrueGradient")
    assert choice.label == "true_gradient"
    assert choice.config.options["normalise"] == "none"
    before = choice.config.options | {"normalise": "sample"}
    asked_for = choose_rule(f"{rule_file}:TrueGradient[normalise=sample]")
    assert asked_for.config.options == before
    assert run_of(choice.config).identity != run_of(asked_for.config).identity
    assert choose_rule(f"{rule_file}:OneByOneDFA").options.normalise == "sample"


def test_an_edited_file_is_a_different_rule(rule_file):
    text = f"{rule_file}:TrueGradient"
    first, same = choose_rule(text), choose_rule(text)
    digest, _, name = first.source.partition(":")
    assert (len(digest), name) == (64, "TrueGradient")
    assert same.source == first.source
    rule_file.write_text(rule_file.read_text().replace('name = "true_gradient"', 'name = "edited"'))
    edited = choose_rule(text)
    assert edited.source != first.source
    assert edited.label == "edited"
    assert choose_rule(f"{EXAMPLES}:TrueGradient").source == first.source


def run_of(rule: RuleConfig) -> RunConfig:
    """A run of a rule, everything else being equal."""
    task = TaskConfig(name="teacher", checksum="0" * 64)
    return RunConfig(task=task, net=NetConfig(), rule=rule, recipe=Recipe(), k=4, seed=42)


def install(monkeypatch, name: str, value: str) -> None:
    """Pretend that a third-party package offers a rule."""
    monkeypatch.setitem(RULES.installed, name, EntryPoint(name, value, RULES.group))


def test_by_entry_point(monkeypatch):
    install(monkeypatch, "theirs", "rules.example_rules:OneByOneDFA")
    assert set(RULES.names) >= {"bp", "fa", "dfa", "theirs"}
    choice = choose_rule("theirs[normalise=batch]")
    assert issubclass(choice.rule_class, DFA)
    assert choice.label == "one_by_one_dfa[normalise=batch]"
    assert "theirs" in sentence("sgd")


def test_a_third_party_cannot_replace_a_built_in_rule(monkeypatch):
    install(monkeypatch, "bp", "rules.example_rules:OneByOneDFA")
    assert choose_rule("bp").rule_class is BP


def sentence(text: str) -> str:
    """What the user is told."""
    with pytest.raises(UserError) as caught:
        choose_rule(text)
    told = str(caught.value)
    assert "\n" not in told
    return told


def test_an_unknown_name_is_answered_with_the_known_ones():
    told = sentence("sgd")
    assert "'sgd'" in told
    for name in ("bp", "fa", "dfa", "file.py:Class"):
        assert name in told


OF_TRAINING = "options of training: learning_rate, weight_decay, penalty"
CONTROLS = "controls: shallow, wide_block, random_targets, no_norm, no_skip"


def test_an_unknown_option_is_answered_with_the_known_ones():
    for text, own in [
        ("dfa[speed=3]", "its options are: normalise, epsilon, projection;"),
        ("fa[normalise=batch,speed=3]", "its options are: normalise, epsilon;"),
        ("bp[speed=3]", "its options are: none;"),
        ("ep[speed=3]", "normalise, epsilon, credit, nudge, steps, step_size;"),
        ("dfa[shallow,speed=3]", "its options are: normalise, epsilon, projection;"),
    ]:
        told = sentence(text)
        assert "has no option 'speed'" in told
        for part in (own, OF_TRAINING, CONTROLS):
            assert part in told


def test_nothing_can_be_chosen_about_how_bp_uses_its_gradient():
    for option in ["normalise=sample", "normalise=none", "epsilon=1e-3"]:
        told = sentence(f"bp[{option}]")
        assert f"the rule bp has no option {option.partition('=')[0]!r}" in told
        assert "its options are: none;" in told


def test_an_option_without_a_value_is_asked_for_one():
    for name in ["normalise", "epsilon", "penalty", "learning_rate"]:
        assert sentence(f"dfa[{name}]") == f"the option {name!r} has no value; write {name}=…"


def test_an_unknown_word_is_answered_with_the_controls():
    for text in ["dfa[deep]", "bp[normalise]", "dfa[penalty=0.1,deep]"]:
        told = sentence(text)
        assert "there is no control" in told
        for part in (OF_TRAINING, CONTROLS):
            assert part in told


def test_one_control_at_a_time():
    assert "shallow and no_norm" in sentence("dfa[shallow,no_norm]")


def test_nothing_is_said_twice():
    for text in ["dfa[epsilon=1,epsilon=2]", "dfa[shallow,shallow]"]:
        assert "twice" in sentence(text)


def test_a_bad_value_is_named_with_what_would_be_right():
    for text, name, right in [
        ("dfa[normalise=layer]", "'normalise'", "'batch'"),
        ("dfa[penalty=-1]", "'penalty'", "greater than or equal to 0"),
        ("dfa[penalty=much]", "'penalty'", "number"),
        ("bp[learning_rate=0]", "'learning_rate'", "greater than 0"),
        ("dfa[weight_decay=inf]", "'weight_decay'", "finite"),
        ("ep[credit=both]", "'credit'", "'displacement'"),
        ("state_bridge[layers=0]", "'layers'", "greater than or equal to 1"),
        ("state_bridge[layers=2.5]", "'layers'", "integer"),
        ("credit_bridge[ema=1]", "'ema'", "less than 1"),
        ("dfa[epsilon=small]", "'epsilon'", "number"),
        ("dfa[epsilon=-1]", "'epsilon'", "greater than or equal to 0"),
        ("dfa[epsilon=nan]", "'epsilon'", "finite"),
        ("dfa[epsilon=inf]", "'epsilon'", "finite"),
    ]:
        told = sentence(text)
        assert name in told
        assert right in told


@pytest.mark.parametrize(
    "text", ["dfa[normalise=batch", "dfa]", "", "[normalise=batch]", "dfa[a][b]"]
)
def test_text_that_is_not_a_rule(text):
    assert "dfa[normalise=batch]" in sentence(text)


def test_a_file_that_is_not_there(tmp_path):
    assert "nowhere.py" in sentence(f"{tmp_path}/nowhere.py:Mine")


def test_a_class_that_is_not_there(rule_file):
    told = sentence(f"{rule_file}:Mine")
    assert "Mine" in told
    assert "my_rules.py" in told


@pytest.mark.parametrize(
    ("code", "part"),
    [
        ("class Mine(:\n", "SyntaxError"),
        ("import no_such_module\n", "no_such_module"),
        ("raise ValueError('too early')\n", "too early"),
    ],
)
def test_a_file_that_cannot_be_imported(tmp_path, code, part):
    path = tmp_path / "broken.py"
    path.write_text(code)
    told = sentence(f"{path}:Mine")
    assert "broken.py" in told
    assert part in told


@pytest.mark.parametrize(
    ("code", "part"),
    [
        ("Mine = 3\n", "not a rule"),
        ("class Mine: pass\n", "not a rule"),
        ("from depthgauge.rules.dfa import DFA\nclass Mine(DFA): summary = None\n", "`summary`"),
        ("from depthgauge.rules.contract import Rule\nclass Mine(Rule): pass\n", "`name`"),
    ],
)
def test_a_class_that_is_not_a_proper_rule(tmp_path, code, part):
    path = tmp_path / "improper.py"
    path.write_text(code)
    assert part in sentence(f"{path}:Mine")


@pytest.mark.parametrize("value", ["no_such_package:Rule", "depthgauge.rules.dfa:NoSuchRule"])
def test_an_installed_rule_that_cannot_be_loaded_is_named(monkeypatch, value):
    install(monkeypatch, "theirs", value)
    assert "theirs" in sentence("theirs")


def test_a_rule_without_credit_is_named(tmp_path):
    path = tmp_path / "unfinished.py"
    path.write_text(
        "from depthgauge.rules.contract import Rule\n"
        "class Mine(Rule):\n"
        "    name = summary = 'unfinished'\n"
    )
    assert "credit" in sentence(f"{path}:Mine")


def test_an_unknown_need_is_answered_with_the_known_ones(tmp_path):
    path = tmp_path / "needy.py"
    path.write_text(
        "from depthgauge.rules.dfa import DFA\n"
        "class Mine(DFA):\n"
        "    needs = frozenset({'errors'})\n"
    )
    told = sentence(f"{path}:Mine")
    assert "'errors'" in told
    assert "gradient" in told


def test_a_rule_from_a_file_works(rule_file):
    rule = choose_rule(f"{rule_file}:OneByOneDFA").build()
    error = torch.tensor([[-1.0, 0.5, 0.25]])
    states, feedback = [torch.zeros(1, 2)] * 2, {"B": torch.ones(1, 2, 3)}
    context = Context(states, torch.tensor([0]), feedback, 0.0, {"error": error})
    assert rule.credit(context).embed.tolist() == [[-0.25, -0.25]]


def test_two_rules_of_one_name_in_one_file_are_told_apart(tmp_path):
    path = tmp_path / "two.py"
    path.write_text(
        "from depthgauge.rules.dfa import DFA\n"
        "class A(DFA):\n    name = 'mine'\n"
        "class B(DFA):\n    name = 'mine'\n"
    )
    assert choose_rule(f"{path}:A").source != choose_rule(f"{path}:B").source


def test_only_bp_may_skip_its_credit(tmp_path):
    path = tmp_path / "claims.py"
    path.write_text(
        "from depthgauge.rules.dfa import DFA\nclass Mine(DFA):\n    end_to_end = True\n"
    )
    assert "end_to_end" in sentence(f"{path}:Mine")


def test_an_option_without_a_default_is_refused(tmp_path):
    path = tmp_path / "demands.py"
    path.write_text(
        "from depthgauge.rules.dfa import DFA\n"
        "from depthgauge.rules.contract import RuleOptions\n"
        "class Demanding(RuleOptions):\n    strength: float\n"
        "class Mine(DFA):\n    Options = Demanding\n"
    )
    assert "give each option a default" in sentence(f"{path}:Mine")
