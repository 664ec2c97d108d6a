"""Studies in files: read as they would be typed; what is wrong has its line and field."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from depthgauge.cli.main import build_parser
from depthgauge.errors import UserError
from depthgauge.studies.study_file import read_study_file
from depthgauge.studies.study_spec import StudySpec

GOOD = """\
command = "audit"
task = "digits"
rules = ["bp", "dfa[normalise=batch]"]
seeds = [1, 2]
width = 8
epochs = 2
save_every = 1.5
strict = true
submit = false
out = "a folder"

[vary]
learning_rate = [3e-4, 0.001]
normalise = ["sample", "none"]

[threshold]
growth = 40.5
"""

ARGUMENTS = [
    *("audit", "--task", "digits", "--width", "8", "--rules", "bp", "dfa[normalise=batch]"),
    *("--vary", "learning_rate=0.0003,0.001", "normalise=sample,none", "--seeds", "1", "2"),
    *("--epochs", "2", "--threshold", "growth=40.5", "--strict", "--out", "a folder"),
    *("--save-every", "1.5"),
]

IN_YAML = """\
command: audit
task: digits
rules: [bp, "dfa[normalise=batch]"]
seeds:
  - 1
  - 2
width: 8
epochs: 2
save_every: 1.5
strict: true
submit: false
out: a folder
vary:
  learning_rate: [0.0003, 0.001]
  normalise: [sample, none]
threshold:
  growth: 40.5
"""

NOT_IN_FILES = {
    *("help", "json", "dry_run"),  # options of `run` itself
    *("checkpoints", "frozen_acc"),  # audits that train nothing are no studies
}


def write(folder: Path, text: str, suffix: str = ".toml") -> Path:
    path = folder / f"study{suffix}"
    path.write_text(text)
    return path


def refusal(path: Path) -> str:
    with pytest.raises(UserError) as refused:
        read_study_file(path)
    sentence = str(refused.value)
    assert "\n" not in sentence
    assert str(path) in sentence
    return sentence


def options_of(command: str) -> set[str]:
    """The options of a command, as its parser knows them."""
    (subparsers,) = (
        action
        for action in build_parser()._actions
        if isinstance(action, argparse._SubParsersAction)
    )
    return {action.dest for action in subparsers.choices[command]._actions if action.option_strings}


# Good files


@pytest.mark.parametrize(
    ("suffix", "text"), [(".toml", GOOD), (".yaml", IN_YAML), (".yml", IN_YAML)]
)
def test_a_file_is_what_would_be_typed(tmp_path, suffix, text):
    assert read_study_file(write(tmp_path, text, suffix)).arguments() == ARGUMENTS


def test_the_parser_takes_what_a_file_gives(tmp_path):
    args = build_parser().parse_args(read_study_file(write(tmp_path, GOOD)).arguments())
    assert (args.rules, args.seeds) == (["bp", "dfa[normalise=batch]"], [1, 2])
    assert (args.save_every, args.strict, args.submit) == (1.5, True, False)


def test_a_command_alone_has_all_defaults(tmp_path):
    assert read_study_file(write(tmp_path, 'command = "ladder"')).arguments() == ["ladder"]


def test_every_field_is_an_option_and_every_option_a_field():
    fields = set(StudySpec.model_fields) - {"command"}
    assert fields == (options_of("audit") | options_of("ladder")) - NOT_IN_FILES


def test_every_field_has_the_values_that_its_option_takes():
    """One value for each field, given to the parser of a command that has it."""
    examples: dict[str, Any] = {
        **{"task": "digits", "net": "residual_mlp", "width": 8, "blocks": 2, "rules": ["bp"]},
        **{"vary": {"penalty": [0, 0.1]}, "controls": ["no_norm"], "k": [0, 1], "seeds": [1]},
        **{"epochs": 1, "batch_size": 7, "dtype": "float64", "validation": 9},
        **{"select": "validation", "threshold": {"growth": 2.5}, "strict": True, "out": "x"},
        **{"executor": "slurm", "submit": True, "address": "auto", "device": "cpu"},
        **{"threads": 1, "cohort": 5, "engine": "plain", "save_every": 0},
    }
    assert set(examples) == set(StudySpec.model_fields) - {"command"}
    for name, value in examples.items():
        command = "ladder" if name in options_of("ladder") else "audit"
        executor = {"submit": "slurm", "address": "ray"}.get(name)
        needs = {} if executor is None else {"executor": executor}
        spec = StudySpec.model_validate({"command": command, **needs, name: value})
        args = vars(build_parser().parse_args(spec.arguments()))
        texts = [f"{n}={v}" for n, v in value.items()] if name == "threshold" else value
        assert args[name] == (["penalty=0,0.1"] if name == "vary" else texts), name


# Bad files


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("epochs = 'two'", ("'epochs'", "valid integer")),
        ("epochs = true", ("'epochs'", "valid integer")),
        ("epochs = 1.5", ("'epochs'", "integer")),
        ("epochs = 0", ("'epochs'", "greater than or equal to 1")),
        ("seeds = 42", ("'seeds'", "valid list")),
        ("seeds = [1, -2]", ("'seeds'", "greater than or equal to 0")),
        ("seeds = [9223372036854775808]", ("'seeds'", "less than 9223372036854775808")),
        ("dtype = 'float16'", ("'dtype'", "'float32', 'float64' or 'bf16'")),
        ("executor = 'pbs'", ("'executor'", "'local', 'ray' or 'slurm'")),
        ("rules = ['bp', 'nothing']", ("'rules'", "no rule called 'nothing'", "dfa")),
        ("rules = ['dfa[colour=red]']", ("'rules'", "no option 'colour'")),
        ("rules = ['none.py:Mine']", ("'rules'", "no file none.py")),
        ("rules = []", ("'rules'", "at least 1")),
        ("net = 'transformer'", ("'net'", "'transformer'", "residual_mlp")),
        ("learning_rate = 0.1", ("'learning_rate'", "no such field", "vary", "epochs")),
        ("strict = 'yes'", ("'strict'", "valid boolean")),
        ("save_every = -1", ("'save_every'", "greater than or equal to 0")),
        ("vary = {penalty = 1}", ("'vary'", "valid list")),
        ("threshold = {growth = 'much'}", ("'threshold'", "number")),
    ],
)
def test_a_bad_field_is_named_with_its_line(tmp_path, line, words):
    text = f'# a study\ncommand = "audit"\n\n{line}\nwidth = 8\n'
    sentence = refusal(write(tmp_path, text))
    for word in ("line 4", "field", *words):
        assert word in sentence


def test_an_unknown_task_is_named_with_its_line(tmp_path):
    sentence = refusal(write(tmp_path, 'command = "audit"\ntask = "imagenet"\n'))
    for word in ("line 2", "field 'task'", "imagenet", "digits"):
        assert word in sentence


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("epochs: two", ("'epochs'", "valid integer")),
        ("learning_rate: 0.1", ("'learning_rate'", "no such field")),
        ("rules: [nothing]", ("'rules'", "no rule called 'nothing'")),
        ("rules: bp", ("'rules'", "valid list")),
        ("seeds:\n  - 1\n  - x", ("'seeds'", "valid integer")),
    ],
)
def test_in_yaml_too(tmp_path, line, words):
    sentence = refusal(write(tmp_path, f"# a study\ncommand: audit\n\n{line}\n", ".yaml"))
    for word in ("line 4", "field", *words):
        assert word in sentence


def test_a_table_of_toml_has_its_line(tmp_path):
    text = 'command = "audit"\n\n[vary]\nlearning_rate = 0.1\n'
    assert "line 3, field 'vary'" in refusal(write(tmp_path, text))


@pytest.mark.parametrize("command", ["null", "ladders", ""])
def test_a_command_that_is_no_study(tmp_path, command):
    sentence = refusal(write(tmp_path, f'command = "{command}"\n'))
    assert "line 1, field 'command'" in sentence
    assert "'audit' or 'ladder'" in sentence


@pytest.mark.parametrize(
    ("suffix", "text"), [(".toml", ""), (".toml", "epochs = 2"), (".yaml", "epochs: 2")]
)
def test_without_a_command(tmp_path, suffix, text):
    assert "the field 'command' is missing" in refusal(write(tmp_path, text, suffix))


@pytest.mark.parametrize("text", ["", "# nothing\n", "- audit\n- ladder\n", "audit", "42"])
def test_yaml_without_fields(tmp_path, text):
    assert "must have fields" in refusal(write(tmp_path, text, ".yaml"))


@pytest.mark.parametrize(
    ("suffix", "text", "kind"),
    [
        (".toml", 'command = "audit"\nseeds = [1, 2\n', "not TOML"),
        (".toml", 'command = "audit"\nseeds = [1]\nseeds = [2]\n', "not TOML"),
        (".yaml", "command: audit\nseeds: [1, 2\nwidth: 8\n", "not YAML"),
        (".yaml", "command: audit\n\tseeds: [1]\n", "not YAML"),
        (".yaml", "command: !!python/name:os.system\n", "not YAML"),
    ],
)
def test_a_mistake_of_writing_is_said_with_its_line(tmp_path, suffix, text, kind):
    sentence = refusal(write(tmp_path, text, suffix))
    assert kind in sentence
    assert "line " in sentence or "at end of document" in sentence


@pytest.mark.parametrize("suffix", [".toml", ".yaml"])
def test_a_file_that_is_no_text(tmp_path, suffix):
    path = tmp_path / f"study{suffix}"
    path.write_bytes(b"\xff\xfe\x00command")
    refusal(path)


@pytest.mark.parametrize("name", ["study.json", "study", "study.toml.txt"])
def test_a_suffix_that_says_nothing(tmp_path, name):
    (tmp_path / name).write_text(GOOD)
    assert ".toml, .yaml, .yml" in refusal(tmp_path / name)


def test_no_file(tmp_path):
    assert "there is no study file" in refusal(tmp_path / "study.toml")
    (tmp_path / "folder.toml").mkdir()
    assert "there is no study file" in refusal(tmp_path / "folder.toml")


# The schema


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    made = StudySpec.model_json_schema()
    jsonschema.Draft202012Validator.check_schema(made)
    return json.loads(json.dumps(made))


def test_the_schema_takes_good_files(schema):
    jsonschema.validate(yaml.safe_load(IN_YAML), schema)
    jsonschema.validate({"command": "ladder"}, schema)


@pytest.mark.parametrize(
    "change",
    [
        {"command": "null"},
        {"epochs": "two"},
        {"epochs": 0},
        {"seeds": 42},
        {"seeds": [-1]},
        {"rules": []},
        {"learning_rate": 0.1},
        {"dtype": "float16"},
        {"executor": "pbs"},
        {"strict": "yes"},
        {"vary": {"penalty": 1}},
        {"save_every": -1},
    ],
    ids=str,
)
def test_the_schema_refuses_bad_files(schema, change):
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(yaml.safe_load(IN_YAML) | change, schema)


def test_the_schema_needs_a_command(schema):
    with pytest.raises(jsonschema.ValidationError, match="command"):
        jsonschema.validate({"epochs": 2}, schema)


def test_a_field_that_stands_twice_in_yaml_is_refused(tmp_path):
    path = tmp_path / "study.yaml"
    path.write_text("command: audit\nwidth: 8\nwidth: 9\n")
    with pytest.raises(UserError, match="line 3, field 'width': stands there twice"):
        read_study_file(path)


def test_of_a_list_the_value_that_is_wrong_is_said(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text("command = 'audit'\nseeds = [1, -2]\n")
    with pytest.raises(UserError, match=r"line 2, field 'seeds': .* greater .*, not -2$"):
        read_study_file(path)
