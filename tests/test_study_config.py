"""StudyConfig: one definition, and the same study whichever way it is asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from depthgauge.cli.arguments import config_of
from depthgauge.cli.main import build_parser
from depthgauge.errors import OptionError
from depthgauge.python_arguments import config_from
from depthgauge.study_config import StudyConfig, study_config
from depthgauge.study_file import read_study_file, study_file_schema

TYPED = (
    *("--task", "digits", "--width", "16", "--depth", "3", "--rules", "bp", "dfa[normalise=batch]"),
    *("--vary", "penalty=0,0.01", "learning_rate=0.001", "--controls", "shallow", "no_skip"),
    *("--k", "1", "all", "--seeds", "1", "2", "--epochs", "5", "--batch-size", "64"),
    *(
        "--validation",
        "100",
        "--select",
        "validation",
        "--thresholds",
        "growth=40",
        "gradient=1e-5",
    ),
    *("--strict", "--out", "here", "--device", "cpu", "--threads", "2", "--cohort", "4"),
    *("--engine", "cohort", "--save-every", "2.5", "--executor", "slurm", "--submit"),
)

OPTIONS: dict[str, Any] = {
    "task": "digits",
    "width": 16,
    "depth": 3,
    "rules": ["bp", "dfa[normalise=batch]"],
    "vary": {"penalty": ["0", "0.01"], "learning_rate": ["0.001"]},
    "controls": ["shallow", "no_skip"],
    "k": [1, "all"],
    "seeds": [1, 2],
    "epochs": 5,
    "batch_size": 64,
    "validation": 100,
    "select": "validation",
    "thresholds": {"growth": 40.0, "gradient": 1e-5},
    "strict": True,
    "out": "here",
    "device": "cpu",
    "threads": 2,
    "cohort": 4,
    "engine": "cohort",
    "save_every": 2.5,
    "executor": "slurm",
    "submit": True,
}

TOML = """
command = "audit"
task = "digits"
width = 16
depth = 3
rules = ["bp", "dfa[normalise=batch]"]
controls = ["shallow", "no_skip"]
k = [1, "all"]
seeds = [1, 2]
epochs = 5
batch_size = 64
validation = 100
select = "validation"
strict = true
out = "here"
device = "cpu"
threads = 2
cohort = 4
engine = "cohort"
save_every = 2.5
executor = "slurm"
submit = true
vary = { penalty = ["0", "0.01"], learning_rate = ["0.001"] }
thresholds = { growth = 40, gradient = 1e-5 }
"""


def typed(*arguments: str) -> StudyConfig:
    return config_of(build_parser("audit").parse_args(["audit", *arguments]))


def test_command_line_file_and_python_give_the_same_study(tmp_path: Path):
    (tmp_path / "study.toml").write_text(TOML)
    (tmp_path / "study.yaml").write_text("\n".join(["command: audit", *as_yaml(OPTIONS)]))
    expected = study_config(OPTIONS)
    assert typed(*TYPED) == expected
    assert read_study_file(tmp_path / "study.toml").config == expected
    assert read_study_file(tmp_path / "study.yaml").config == expected
    assert config_from(OPTIONS) == (expected, None)


def as_yaml(options: dict[str, Any]) -> list[str]:
    """A line for each option; YAML reads JSON's lists, tables and words."""
    import json  # noqa: PLC0415

    return [f"{name}: {json.dumps(value)}" for name, value in options.items()]


def test_numbers_to_vary_mean_what_their_texts_mean():
    numbers = study_config({"vary": {"penalty": [0, 0.01]}})
    assert numbers.variations == typed("--vary", "penalty=0,0.01").variations


def test_nothing_typed_is_the_default():
    assert typed() == StudyConfig() == config_from({})[0]


def test_every_field_is_described_and_is_an_option_of_an_audit_and_of_the_schema():
    for name in StudyConfig.model_fields:
        description = StudyConfig.model_fields[name].description
        assert description
        parser = build_parser("audit")._subparsers._group_actions[0].choices["audit"]  # type: ignore[union-attr]
        actions = {action.dest: action for action in parser._actions}
        assert actions[name].help.replace("%%", "%").startswith(description)
        assert study_file_schema()["properties"][name]["description"] == description


def test_the_schema_has_no_option_that_a_file_cannot_have():
    schema = study_file_schema()
    assert set(schema["properties"]) == {"command", *StudyConfig.model_fields}
    assert schema["additionalProperties"] is False


def test_a_number_of_seeds():
    for count, seeds in [(1, [42]), (3, [42, 123, 456]), (5, [42, 123, 456, 457, 458])]:
        assert study_config({"seeds": count}).seeds == seeds


def test_a_change_keeps_what_was_chosen_and_checks_what_comes_of_it():
    config = study_config({"depth": 2, "k": [2]})
    assert config.changed(depth=3).k == [2]
    with pytest.raises(OptionError, match="the network has 1 blocks"):
        config.changed(depth=1)


def test_what_cannot_be_is_refused_in_a_sentence_that_names_it():
    for options, option, sentence in [
        ({"colour": 1}, "colour", "there is no option colour; there are: task, net, "),
        ({"width": "wide"}, "width", "--width wide: must be a whole number"),
        ({"width": 1.5}, "width", "--width 1.5: must be a whole number"),
        ({"depth": True}, "depth", "--depth True: must be a whole number"),
        ({"batch_size": 0}, "batch_size", "--batch-size 0: must be at least 1"),
        ({"rules": []}, "rules", "--rules: is empty; give at least one"),
        ({"rules": ["bp", "bp"]}, "rules", "--rules: has bp more than once"),
        ({"rules": "bp"}, "rules", "--rules bp: must be a list"),
        ({"seeds": [1, 1]}, "seeds", "--seeds: has 1 more than once"),
        ({"seeds": -2}, "seeds", "--seeds -2: must be at least 1"),
        ({"seeds": [2**63]}, "seeds", f"--seeds {2**63}: must be at most {2**63 - 1}"),
        ({"k": ["some"]}, "k", "--k some: must be a whole number or choose 'all'"),
        ({"k": [True]}, "k", "--k True: must be a whole number"),
        ({"k": [5]}, "k", "--k 5 is not possible: the network has 4 blocks; choose k from 0 to 4"),
        ({"vary": ["penalty"]}, "vary", "--vary: cannot read 'penalty'; write NAME=VALUE"),
        ({"vary": ["a=1", "a=2"]}, "vary", "has a more than once; write its values in one list"),
        ({"vary": {"a": []}}, "vary", "is empty; give at least one"),
        ({"select": "validation"}, "select", "--select needs settings to choose from"),
        ({"thresholds": {"growth": "x"}}, "thresholds", "--thresholds growth=x: must be a number"),
        ({"thresholds": ["a=1", "a=2"]}, "thresholds", "has a more than once"),
        ({"thresholds": 3}, "thresholds", "must be a table of names and values"),
        ({"frozen_acc": {"bp": 0.1}}, "frozen_acc", "--frozen-acc needs --checkpoints"),
        ({"device": "tpu"}, "device", "choose auto, cpu, cuda or cuda:N"),
        ({"device": "cuda:"}, "device", "choose auto, cpu, cuda or cuda:N"),
        ({"device": "cpu:0"}, "device", "choose auto, cpu, cuda or cuda:N"),
        ({"executor": "pbs"}, "executor", "--executor pbs: choose 'local', 'ray' or 'slurm'"),
        ({"submit": True}, "submit", "--submit needs --executor slurm"),
        ({"address": "a"}, "address", "--address needs --executor ray"),
        ({"engine": "plain", "dtype": "bf16"}, "dtype", "--engine plain has no bf16"),
        ({"save_every": float("nan")}, "save_every", "--save-every nan: must be at least 0"),
    ]:
        with pytest.raises(OptionError) as refused:
            study_config(options)
        assert refused.value.option == option
        assert sentence in str(refused.value)
        assert "\n" not in str(refused.value)
