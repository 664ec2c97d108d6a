"""A grid of runs: what is in it, in which order, and by what name each run is found again."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import BaseModel
from scheduling.small_grids import NET, RECIPE, TASK, chosen, grid

from depthgauge.config import Intervention, NetConfig, Recipe, RuleConfig, RunConfig, TaskConfig
from depthgauge.errors import UserError
from depthgauge.scheduling.grid import Grid
from depthgauge.tasks.base import hold_out_validation

CONFIG = RunConfig(
    task=TaskConfig(name="tiny", checksum="0" * 64),
    net=NetConfig(width=8, blocks=2),
    rule=RuleConfig(name="dfa", label="dfa", options={"normalise": "sample", "epsilon": 1e-6}),
    recipe=Recipe(epochs=3),
    k=2,
    seed=42,
)


# The grid


def test_every_rule_seed_and_k_once_and_in_order():
    runs = grid("dfa", "bp", ks=(1, 0, 2), seeds=(9, 4)).runs()
    assert [(r.config.rule.label, r.config.seed, r.config.k) for r in runs] == [
        (rule, seed, k) for rule in ("dfa", "bp") for seed in (9, 4) for k in (2, 1, 0)
    ]


def test_a_run_carries_everything_that_it_depends_on():
    planned = grid("dfa[normalise=batch]", ks=(1,), seeds=(7,))
    (run,) = planned.runs()
    assert run.config == RunConfig(
        task=TaskConfig(name="tiny", checksum=TASK.checksum, evaluated_on="test"),
        net=NET,
        rule=RuleConfig(
            name="dfa",
            label="dfa[normalise=batch]",
            options={"normalise": "batch", "epsilon": 1e-6},
        ),
        recipe=RECIPE,
        k=1,
        seed=7,
    )
    assert run.choice.build().options.normalise == "batch"


def test_a_run_is_named_after_its_configuration():
    for run in grid("dfa[penalty=0.1]", "bp[shallow]", ks=(0, 2), seeds=(1, 2**63 - 1)).runs():
        assert run.identity == run.config.identity
        assert (run.k, run.seed) == (run.config.k, run.config.seed)


def test_the_base_is_what_all_runs_share():
    planned = grid("bp", "dfa")
    base = planned.base.model_dump(mode="json")
    assert set(base) == {"task", "net", "recipe"}
    for run in planned.runs():
        config = run.config.model_dump(mode="json")
        assert {name: config[name] for name in base} == base


def test_a_validation_split_is_another_task():
    held = Grid(hold_out_validation(TASK, 20), NET, RECIPE, [chosen("bp")], [0], [1])
    assert held.base.task.evaluated_on == "validation"
    assert held.base.task.checksum != TASK.checksum


@pytest.mark.parametrize("rules", [["bp", "dfa", "bp"], ["dfa", "dfa[normalise=sample]"]])
def test_the_same_rule_twice_is_refused(rules):
    with pytest.raises(UserError, match="--rules"):
        Grid(TASK, NET, RECIPE, [chosen(rule) for rule in rules], [0], [1])


def test_a_rule_may_come_twice_with_different_options():
    labels = {run.config.rule.label for run in grid("dfa", "dfa[normalise=none]").runs()}
    assert labels == {"dfa", "dfa[normalise=none]"}


def test_options_of_training_and_controls_give_a_run_its_own_recipe_and_network():
    planned = grid("dfa[penalty=0.01]", "dfa[learning_rate=0.01,no_skip]", "dfa[random_targets]")
    configs = {run.config.rule.label: run.config for run in planned.runs()}
    penalised = configs["dfa[penalty=0.01]"]
    assert penalised.recipe == RECIPE.model_copy(update={"penalty": 0.01})
    assert penalised.net == NET
    no_skip = configs["dfa[learning_rate=0.01,no_skip]"]
    assert no_skip.recipe == RECIPE.model_copy(update={"learning_rate": 0.01})
    assert no_skip.net == NET.model_copy(update={"residual_add": False, "w2_std": 0.5})
    random = configs["dfa[random_targets]"]
    assert random.recipe == RECIPE.model_copy(update={"targets": "random"})


def test_a_control_with_fewer_blocks_has_its_frozen_and_its_full_run():
    planned = grid("bp", "bp[shallow]", "bp[wide_block]", ks=(2,))
    ks = {(run.config.rule.label, run.config.k, run.config.net.blocks) for run in planned.runs()}
    assert ks == {
        ("bp", 2, NET.blocks),
        ("bp[shallow]", 0, 0),
        ("bp[wide_block]", 0, 1),
        ("bp[wide_block]", 1, 1),
    }


def test_a_rung_with_an_intervention_is_another_run_for_every_seed():
    planned = grid("dfa[penalty=0.1]", ks=(0, 2), seeds=(9, 4))
    changed = Intervention(swapped=(0,), frozen=(1,))
    runs = planned.with_intervention(planned.rules[0], 2, changed)
    full = [run for run in planned.runs() if run.k == 2]
    assert [run.config for run in runs] == [
        run.config.model_copy(update={"intervention": changed}) for run in full
    ]
    assert [run.identity for run in runs] == [run.config.identity for run in runs]
    assert [run.is_full for run in (*runs, *full)] == [False, False, True, True]
    assert runs[0].config.rung == "2 (block 0 on noise, block 1 frozen)"


# The name of a run: no field may be left out of the hash


def leaves(model: BaseModel, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for name in type(model).model_fields:
        value = getattr(model, name)
        if isinstance(value, BaseModel):
            yield from leaves(value, (*path, name))
        else:
            yield (*path, name)


def another(value: Any) -> Any:
    """A value of the same type that differs."""
    choices = {"test": "validation", "float32": "float64", "true": "random"}
    if value is None:
        return 1
    if isinstance(value, bool):
        return not value
    if isinstance(value, dict):
        return value | {"more": 1}
    if isinstance(value, tuple):
        return (*value, 1)
    if isinstance(value, str):
        return choices.get(value, value + "x")
    return value + 1


def with_another(model: BaseModel, path: tuple[str, ...]) -> BaseModel:
    name, *rest = path
    value = getattr(model, name)
    changed = with_another(value, tuple(rest)) if rest else another(value)
    own = {field: getattr(model, field) for field in type(model).model_fields}
    return type(model).model_construct(**own | {name: changed})


FIELDS = sorted(leaves(CONFIG))


def test_the_fields_are_found():
    assert len(FIELDS) == 43
    assert ("net", "residual_add") in FIELDS
    assert ("rule", "source") in FIELDS
    assert ("intervention", "frozen") in FIELDS


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")  # schema_version 2 is to come
@pytest.mark.parametrize("path", FIELDS, ids=".".join)
def test_a_run_that_differs_in_one_field_has_another_identity(path):
    changed = with_another(CONFIG, path)
    assert changed != CONFIG
    assert changed.identity != CONFIG.identity


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
def test_no_two_of_them_share_an_identity():
    names = {with_another(CONFIG, path).identity for path in FIELDS}
    assert len(names) == len(FIELDS)


def test_one_option_of_the_rule_is_enough():
    options = [{"normalise": n, "epsilon": e} for n in ("sample", "batch") for e in (1e-6, 2e-6)]
    names = {
        CONFIG.model_copy(update={"rule": CONFIG.rule.model_copy(update={"options": one})}).identity
        for one in options
    }
    assert len(names) == 4


def test_the_identity_does_not_depend_on_the_order_in_which_options_are_written():
    for order in itertools.permutations(CONFIG.rule.options.items()):
        rule = CONFIG.rule.model_copy(update={"options": dict(order)})
        assert CONFIG.model_copy(update={"rule": rule}).identity == CONFIG.identity


def test_the_identity_survives_being_written_down():
    again = RunConfig.model_validate_json(CONFIG.model_dump_json())
    assert again == CONFIG
    assert again.identity == CONFIG.identity


def test_finished_runs_are_found_again_by_later_versions():
    """If this fails, every study that exists would be trained anew: raise the schema version."""
    assert CONFIG.identity == "5647849e8e85dbbe"
