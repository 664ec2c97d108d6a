"""Studies in files: read as they would be typed; what is wrong has its line and field."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from depthgauge.cli.arguments import config_of
from depthgauge.cli.main import build_parser
from depthgauge.errors import UserError
from depthgauge.scheduling.grid import build_grid, load_task_of
from depthgauge.study_file import read_study_file, study_file_schema

GOOD = """\
command = "audit"
task = "digits"
rules = ["bp", "dfa[normalise=batch]"]
seeds = [1, 2]
width = 8
depth = 2
epochs = 2
save_every = 1.5
strict = true
submit = false
out = "a folder"

[vary]
learning_rate = [3e-4, 0.001]
normalise = ["sample", "none"]

[thresholds]
growth = 40.5
"""

TYPED = [
    *("audit", "--task", "digits", "--width", "8", "--rules", "bp", "dfa[normalise=batch]"),
    *("--vary", "learning_rate=0.0003,0.001", "normalise=sample,none", "--seeds", "1", "2"),
    *("--epochs", "2", "--thresholds", "growth=40.5", "--strict", "--out", "a folder"),
    *("--save-every", "1.5", "--depth", "2"),
]

IN_YAML = """\
command: audit
task: digits
rules: [bp, "dfa[normalise=batch]"]
seeds:
  - 1
  - 2
width: 8
depth: 2
epochs: 2
save_every: 1.5
strict: true
submit: false
out: a folder
vary:
  learning_rate: [0.0003, 0.001]
  normalise: [sample, none]
thresholds:
  growth: 40.5
"""


def write(folder: Path, text: str, suffix: str = ".toml") -> Path:
    path = folder / f"study{suffix}"
    path.write_text(text)
    return path


def read_and_build(path: Path) -> None:
    file = read_study_file(path)
    with file.placed_errors():
        build_grid(file.config, load_task_of(file.config))


def refusal(path: Path) -> str:
    """The one sentence with which a file is refused, when it is read or when its grid is made."""
    with pytest.raises(UserError) as refused:
        read_and_build(path)
    sentence = str(refused.value)
    assert "\n" not in sentence
    assert str(path) in sentence
    return sentence


@pytest.mark.parametrize(
    ("suffix", "text"), [(".toml", GOOD), (".yaml", IN_YAML), (".yml", IN_YAML)]
)
def test_a_file_is_what_would_be_typed(tmp_path, suffix, text):
    file = read_study_file(write(tmp_path, text, suffix))
    typed = config_of(build_parser("audit").parse_args(TYPED))
    assert file.command == "audit"
    assert file.config.variations == typed.variations
    assert file.config.changed(vary={}) == typed.changed(vary={})


def test_a_command_alone_has_all_defaults(tmp_path):
    file = read_study_file(write(tmp_path, 'command = "ladder"'))
    assert (file.command, file.config.model_fields_set) == ("ladder", set())


def test_a_bad_field_is_named_with_its_line(tmp_path):
    for line, words in [
        ("epochs = 'two'", ("'epochs'", "whole number")),
        ("epochs = 0", ("'epochs'", "at least 1")),
        ("seeds = [1, -2]", ("'seeds'", "at least 0")),
        ("dtype = 'float16'", ("'dtype'", "'float32', 'float64' or 'bf16'")),
        ("rules = ['bp', 'nothing']", ("'rules'", "no rule called 'nothing'", "dfa")),
        ("rules = ['dfa[colour=red]']", ("'rules'", "no option 'colour'")),
        ("rules = ['none.py:Mine']", ("'rules'", "no file none.py")),
        ("rules = []", ("'rules'", "at least one")),
        ("net = 'transformer'", ("'net'", "'transformer'", "residual_mlp")),
        ("task = 'imagenet'", ("'task'", "imagenet", "digits")),
        ("controls = ['shalow']", ("'controls'", "'shalow'", "wide_block")),
        ("k = [0, 5]", ("'k'", "4 blocks")),
        ("learning_speed = 0.1", ("'learning_speed'", "no option", "vary", "epochs")),
        ("submit = true", ("'submit'", "slurm")),
        ("vary = {speed = [1, 2]}", ("'vary'", "no rule of this study")),
    ]:
        text = f'# a study\ncommand = "audit"\n\n{line}\nwidth = 8\n'
        sentence = refusal(write(tmp_path, text))
        for word in ("line 4", "field", *words):
            assert word in sentence


@pytest.mark.parametrize(
    ("line", "word"),
    [("epochs: two", "whole number"), ("rules: bp", "list"), ("seeds:\n  - 1\n  - x", "whole")],
)
def test_in_yaml_too(tmp_path, line, word):
    sentence = refusal(write(tmp_path, f"# a study\ncommand: audit\n\n{line}\n", ".yaml"))
    assert "line 4" in sentence
    assert word in sentence


def test_an_option_of_an_audit_does_not_go_with_a_ladder(tmp_path):
    sentence = refusal(write(tmp_path, 'command = "ladder"\nstrict = true\n'))
    assert "line 2, field 'strict'" in sentence
    assert "audit" in sentence


@pytest.mark.parametrize("text", ["epochs = 2", 'command = "null"', ""])
def test_a_command_that_is_missing_or_no_study(tmp_path, text):
    sentence = refusal(write(tmp_path, text))
    assert "'command'" in sentence
    assert "audit or ladder" in sentence


def test_yaml_without_fields(tmp_path):
    for text in ["", "- audit\n- ladder\n", "audit", "42"]:
        assert "has no fields" in refusal(write(tmp_path, text, ".yaml"))


@pytest.mark.parametrize(
    ("suffix", "text", "kind"),
    [
        (".toml", 'command = "audit"\nseeds = [1]\nseeds = [2]\n', "not TOML"),
        (".yaml", "command: audit\nseeds: [1, 2\nwidth: 8\n", "not YAML"),
        (".yaml", "command: !!python/name:os.system\n", "not YAML"),
        (".toml", None, "UTF-8"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused(tmp_path, suffix, text, kind):
    path = tmp_path / f"study{suffix}"
    path.write_bytes(b"\xff\xfe\x00command" if text is None else text.encode())
    assert kind in refusal(path)


def test_a_suffix_that_says_nothing_and_no_file(tmp_path):
    (tmp_path / "study.json").write_text(GOOD)
    assert ".toml or .yaml or .yml" in refusal(tmp_path / "study.json")
    assert "there is no study file" in refusal(tmp_path / "study.toml")


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    made = study_file_schema()
    jsonschema.Draft202012Validator.check_schema(made)
    return made


def test_the_schema_takes_good_files(schema):
    jsonschema.validate(yaml.safe_load(IN_YAML), schema)
    jsonschema.validate({"command": "ladder"}, schema)


def test_the_schema_refuses_bad_ones(schema):
    for change in [
        {"command": "null"},
        {"epochs": "two"},
        {"epochs": 0},
        {"rules": []},
        {"colour": "red"},
    ]:
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(yaml.safe_load(IN_YAML) | change, schema)
