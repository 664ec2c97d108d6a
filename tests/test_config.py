"""Configurations: what is written down, and what leaves a run's name alone."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from pydantic import ValidationError

from depthgauge.config import NetConfig, Recipe, RuleConfig, RunConfig, TaskConfig, TrainingOptions

BEFORE: dict[str, Any] = {
    "schema_version": 1,
    "task": {"name": "tiny", "checksum": "00", "evaluated_on": "test"},
    "net": {
        "name": "residual_mlp",
        "width": 8,
        "blocks": 2,
        "residual_add": True,
        "w2_std": 0.01,
        "terminal_norm": True,
    },
    "rule": {"name": "bp", "label": "bp", "options": {}, "source": ""},
    "recipe": {
        "learning_rate": 0.001,
        "weight_decay": 0.01,
        "epochs": 3,
        "batch_size": 128,
        "dtype": "float32",
    },
    "k": 2,
    "seed": 42,
}
"""A run as it was written down before there were penalties, random targets and wide blocks."""

LATER = {"net": {"hidden": None}, "recipe": {"penalty": 0.0, "targets": "true"}}
OTHER = [
    ("net", "hidden", 5),
    ("recipe", "penalty", 0.01),
    ("recipe", "targets", "random"),
    ("recipe", "optimizer", "sgd"),
    ("recipe", "beta2", 0.99),
    ("recipe", "schedule", "none"),
    ("recipe", "embedding_rate", 0.5),
    ("recipe", "loss", "squared_error"),
    ("recipe", "score", "R²"),
]
MODELS = [TaskConfig, NetConfig, RuleConfig, TrainingOptions, Recipe, RunConfig]


def with_field(part: str, name: str, value: Any) -> dict[str, Any]:
    return BEFORE | {part: BEFORE[part] | {name: value}}


def test_a_run_without_later_fields_is_written_as_it_was_before():
    assert RunConfig.model_validate(BEFORE).model_dump(mode="json") == BEFORE


def test_a_run_that_was_written_before_keeps_its_name():
    text = json.dumps(BEFORE, sort_keys=True, separators=(",", ":"))
    expected = hashlib.sha256(text.encode()).hexdigest()[:16]
    assert RunConfig.model_validate(BEFORE).identity == expected


def test_saying_the_default_of_a_later_field_changes_nothing():
    said = BEFORE | {part: BEFORE[part] | fields for part, fields in LATER.items()}
    assert RunConfig.model_validate(said) == RunConfig.model_validate(BEFORE)
    assert RunConfig.model_validate(said).identity == RunConfig.model_validate(BEFORE).identity
    assert RunConfig.model_validate(said).model_dump(mode="json") == BEFORE


def test_a_later_field_that_was_chosen_is_written_down_and_read_back():
    for part, name, value in OTHER:
        given = with_field(part, name, value)
        config = RunConfig.model_validate(given)
        assert config.model_dump(mode="json") == given
        assert json.loads(config.model_dump_json()) == given
        assert RunConfig.model_validate_json(config.model_dump_json()) == config
        assert config.identity != RunConfig.model_validate(BEFORE).identity


def test_runs_that_differ_in_a_later_field_have_names_of_their_own():
    names = {RunConfig.model_validate(with_field(*other)).identity for other in OTHER}
    assert len(names) == len(OTHER)


def test_options_that_the_optimizer_or_schedule_does_not_have_do_not_count():
    usual = RunConfig.model_validate(BEFORE)
    for name, value in [("momentum", 0.5), ("nesterov", True), ("milestones", [2]), ("beta1", 0.8)]:
        config = RunConfig.model_validate(with_field("recipe", name, value))
        assert (config.identity == usual.identity) == (name != "beta1")
    sgd = Recipe(optimizer="sgd", momentum=0.5, beta1=0.8)
    assert (sgd.momentum, sgd.beta1) == (0.5, 0.9)
    assert sgd.model_copy(update={"optimizer": "adam"}).momentum == 0.9
    assert not Recipe(optimizer="sgd", momentum=0, nesterov=True).nesterov


def test_milestones_are_written_in_brackets_with_plus_signs():
    recipe = Recipe(schedule="steps", milestones="3+5")
    assert recipe.milestones == (3, 5)
    assert recipe == Recipe.model_validate_json(recipe.model_dump_json())


def test_every_later_field_exists_and_has_a_default():
    for model in MODELS:
        for name in model.added:
            assert not model.model_fields[name].is_required()


def test_what_was_added_to_the_options_of_training_was_added_to_recipes():
    assert TrainingOptions.added <= Recipe.added
    assert set(TrainingOptions.model_fields) <= set(Recipe.model_fields)


def test_what_cannot_be_is_refused():
    for part, name, value in [
        ("net", "hidden", 0),
        ("recipe", "penalty", -0.01),
        ("recipe", "penalty", "inf"),
        ("recipe", "penalty", "nan"),
        ("recipe", "targets", "shuffled"),
        ("recipe", "learning_rate", 0),
        ("recipe", "momentun", 0.9),
        ("recipe", "optimizer", "lamb"),
        ("recipe", "schedule", "steps"),
        ("recipe", "readout_rate", 0),
    ]:
        with pytest.raises(ValidationError, match=name):
            RunConfig.model_validate(with_field(part, name, value))
