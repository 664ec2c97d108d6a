"""A changed option never reuses an old result, an unchanged one never retrains: every field."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel
from scheduling.small_grids import grid, plan, study_of
from store.small_runs_on_disk import contents, finished, run_config

from depthgauge.config import (
    Intervention,
    RuleConfig,
    RunConfig,
    SharedConfig,
    TrainingOptions,
    identity_of,
)
from depthgauge.errors import UserError
from depthgauge.recipe import text_of_option
from depthgauge.registry import RULES
from depthgauge.rules.choice import choose_rule, option_names
from depthgauge.store.run_folder import RunFolder

CONFIG = run_config().model_copy(
    update={"rule": RuleConfig(name="dfa", label="dfa", options={"normalise": "sample"})}
)
"""Some run; every field of it is changed alone."""

Place = tuple[str, ...]


def fields_of(model: BaseModel, above: Place = ()) -> Iterator[Place]:
    """Every field, and every field of its parts."""
    for name in type(model).model_fields:
        value = getattr(model, name)
        if isinstance(value, BaseModel):
            yield from fields_of(value, (*above, name))
        else:
            yield (*above, name)


NEEDED: dict[str, dict[str, Any]] = {
    "momentum": {"optimizer": "sgd"},
    "nesterov": {"optimizer": "sgd"},
    "milestones": {"schedule": "steps", "milestones": (7,)},
    "step_factor": {"schedule": "steps", "milestones": (7,)},
}
"""The recipe without which a field of the recipe has no effect, by the field's name."""


def config_with(field: str) -> RunConfig:
    """The configuration in which this field has an effect."""
    recipe = CONFIG.recipe.model_copy(update=NEEDED.get(field))
    return CONFIG.model_copy(update={"recipe": recipe})


PLACES = [".".join(place) for place in fields_of(CONFIG)]


def other_value(value: Any, annotation: Any) -> Any:
    """A value of the same kind, one step away where there are steps."""
    choices = [choice for choice in get_args(annotation) if isinstance(choice, str)]
    if choices:
        return next(choice for choice in choices if choice != value)
    if isinstance(value, bool):
        return not value
    if isinstance(value, dict | tuple):
        return value | {"another": 1} if isinstance(value, dict) else (*value, len(value))
    if isinstance(value, float):
        return value * (1 + 1e-12) if value else 1e-12
    assert value is None or isinstance(value, int | str)
    kind = (str if str in get_args(annotation) else int) if value is None else type(value)
    return (kind() if value is None else value) + kind(1)


def changed(config: Any, place: Place) -> Any:
    """The configuration with one field changed."""
    name, *below = place
    value = getattr(config, name)
    if below:
        return config.model_copy(update={name: changed(value, tuple(below))})
    if name == "schema_version":  # no other is valid
        own = {field: getattr(config, field) for field in type(config).model_fields}
        return type(config).model_construct(**own | {name: value + 1})
    annotation = type(config).model_fields[name].annotation
    return config.model_copy(update={name: other_value(value, annotation)})


def again(config: RunConfig) -> RunConfig:
    """The same configuration, as another command reads it from a file."""
    return RunConfig.model_validate(json.loads(json.dumps(config.model_dump(mode="json"))))


def test_all_parts_are_walked():
    assert len(PLACES) == len(set(PLACES)) == 43
    some = {"schema_version", "task.checksum", "net.hidden", "recipe.penalty", "k", "seed"}
    assert some | {"intervention.swapped", "intervention.frozen"} < set(PLACES)


@pytest.mark.parametrize("place", PLACES)
def test_every_field_is_part_of_the_identity(tmp_path, place):
    config = config_with(place.rpartition(".")[2])
    other = changed(config, tuple(place.split(".")))
    assert other != config
    assert other.identity != config.identity
    done = finished(tmp_path, config, accuracy=0.5)
    assert not RunFolder(tmp_path, other).has_ended
    assert RunFolder(tmp_path, other).result is None
    assert RunFolder(tmp_path, again(config)).result == done.result


def test_no_two_changes_give_the_same_identity():
    identities = {
        changed(config_with(place.rpartition(".")[2]), tuple(place.split("."))).identity
        for place in PLACES
    }
    assert len(identities | {CONFIG.identity}) == len(PLACES) + 1


def hash_of_json(config: RunConfig) -> str:
    """The identity as it is defined: of the configuration as a whole."""
    whole = json.dumps(config.model_dump(mode="json"), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(whole.encode()).hexdigest()[:16]


ODD = RuleConfig(name="odd", label='λ["a, b"]', options={"z": [1e-07, None], "a": {"y": 1, "b": 2}})
VARIANTS = {
    place: changed(config_with(place.rpartition(".")[2]), tuple(place.split(".")))
    for place in PLACES
    if place != "schema_version"
} | {"odd": CONFIG.model_copy(update={"rule": ODD, "seed": 2**63 - 1})}


def test_the_identity_put_together_from_parts_is_the_hash_of_the_whole():
    for variant in VARIANTS:
        config = VARIANTS[variant]
        parts = (config.task, config.net, config.rule, config.recipe)
        own = {"k": config.k, "seed": config.seed, "intervention": config.intervention}
        assert identity_of(*parts, **own) == hash_of_json(config)
        assert config.identity == hash_of_json(config)


def test_a_rung_is_named_as_it_was_before_there_were_interventions():
    """Or every study on disk would be trained again."""
    written = CONFIG.model_dump(mode="json")
    assert "intervention" not in written
    assert again(CONFIG) == CONFIG
    parts = (CONFIG.task, CONFIG.net, CONFIG.rule, CONFIG.recipe)
    assert identity_of(*parts, k=CONFIG.k, seed=CONFIG.seed) == CONFIG.identity


@pytest.mark.parametrize(
    "intervention",
    [
        Intervention(swapped=(0,)),
        Intervention(frozen=(0,)),
        Intervention(swapped=(0, 1)),
        Intervention(swapped=(0,), frozen=(1,)),
    ],
)
def test_an_intervention_is_written_down_without_what_it_leaves_alone(intervention):
    changed = CONFIG.model_copy(update={"intervention": intervention})
    named = {"swapped": list(intervention.swapped), "frozen": list(intervention.frozen)}
    expected = {name: blocks for name, blocks in named.items() if blocks}
    assert changed.model_dump(mode="json")["intervention"] == expected
    assert again(changed) == changed
    assert again(changed).identity == changed.identity == hash_of_json(changed)


def test_who_is_on_noise_and_who_is_frozen_are_told_apart():
    told_apart = [
        Intervention(),
        Intervention(swapped=(0,)),
        Intervention(frozen=(0,)),
        Intervention(swapped=(1,)),
        Intervention(swapped=(0, 1)),
        Intervention(swapped=(0,), frozen=(1,)),
        Intervention(swapped=(1,), frozen=(0,)),
    ]
    runs = [CONFIG.model_copy(update={"intervention": one}) for one in told_apart]
    assert len({run.identity for run in runs}) == len(told_apart)


# Options of rules, as they are typed


def rule_options() -> list[tuple[str, str, str]]:
    """Every option of every rule, and a value that is not its default."""
    found = []
    for rule in RULES.built_in:
        options = RULES.find(rule)[0].Options
        for name in option_names(RULES.find(rule)[0]):
            field = options.model_fields[name]
            found.append((rule, name, _valid_other(options, name, field.default, field.annotation)))
    return found


def _valid_other(options: Any, name: str, default: Any, annotation: Any) -> str:
    guesses = [other_value(default, annotation)]
    if isinstance(default, float):
        guesses = [default * 0.5, 0.5, 1.5]
    for guess in guesses:
        if guess == default:
            continue
        try:
            options.model_validate({name: str(guess)})
        except ValueError:
            continue
        return str(guess)
    raise AssertionError(f"no other value for {name} is known")


OPTIONS = (
    rule_options()
    + [
        ("bp", name, text_of_option(other_value(field.default, field.annotation)))
        for name, field in TrainingOptions.model_fields.items()
        if name not in ("milestones", "schedule")
    ]
    + [
        ("bp", "milestones", "7+9"),
        ("bp", "schedule", "none"),
    ]
)


def only(text: str) -> RunConfig:
    (run,) = grid(text, ks=(2,), seeds=(1,)).runs()
    return run.config


def test_every_option_of_every_rule_is_part_of_the_identity():
    for rule, name, value in OPTIONS:
        needed = {n: text_of_option(v) for n, v in NEEDED.get(name, {}).items() if n != name}
        if name == "milestones":
            needed["milestones"] = "7"
        inside = ",".join(f"{n}={v}" for n, v in needed.items())
        usual = only(f"{rule}[{inside}]" if inside else rule)
        changes = ",".join(f"{n}={v}" for n, v in (needed | {name: value}).items())
        assert usual.identity != only(f"{rule}[{changes}]").identity
        options = dict(choose_rule(rule).rule_class.Options())
        default = options[name] if name in options else getattr(usual.recipe, name)
        said = ",".join(f"{n}={text_of_option(v)}" for n, v in ({name: default} | needed).items())
        assert only(f"{rule}[{said}]").identity == usual.identity


def test_options_that_are_in_no_run_are_not_forgotten():
    for rule in RULES.built_in:
        written, rule_class = only(rule).rule.options, choose_rule(rule).rule_class
        later = getattr(rule_class.Options, "added", frozenset())  # written only if chosen
        assert set(option_names(rule_class)) <= set(written) | later


# In the plan of a study


@pytest.mark.parametrize(
    "other", ["dfa[normalise=batch]", "dfa[penalty=0.1]", "dfa[no_norm]", "sdfa"]
)
def test_a_finished_run_is_not_planned_again_and_a_changed_one_is(tmp_path, other):
    usual = grid("dfa", ks=(2,), seeds=(1,))
    study = study_of(usual, tmp_path / "study")
    assert len(plan(study, usual)) == 1
    finished(study.runs, usual.runs()[0].config, accuracy=0.5)
    before = contents(study.path)
    assert plan(study, usual) == []
    assert contents(study.path) == before
    (cohort,) = plan(study, grid("dfa", other, ks=(2,), seeds=(1,)))
    assert [config.rule.label for config in cohort.configs] == [other]


def another(value: Any) -> Any:
    """A value that a field takes as well as this one."""
    choices = {"test": "validation", "float32": "float64"}
    if isinstance(value, bool):
        return not value
    return choices.get(value, f"{value}1") if isinstance(value, str) else value + 1


def test_a_changed_task_net_or_recipe_is_refused_as_another_study(tmp_path: Path):
    study = study_of(grid(), tmp_path / "study")
    base = grid().base.model_dump(mode="json")
    for part, values in base.items():
        for name, value in values.items():
            changed = base | {part: values | {name: another(value)}}
            other = SharedConfig.model_validate(changed)
            with pytest.raises(UserError, match=f"{part}.{name}"):
                study.open(other, "cpu", None, 1)
