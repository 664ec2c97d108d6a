"""The plan of a study: written down once, added to by one at a time, the same when read again."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from store.small_runs_on_disk import contents

from depthgauge.config import (
    NO_INTERVENTION,
    Intervention,
    NetConfig,
    Recipe,
    RuleConfig,
    TaskConfig,
)
from depthgauge.errors import UserError
from depthgauge.store.plan_files import CohortPlan, Plan, PlanFile, PlanFiles, PlannedRule

SEEDS = (1, 2, 3, 4)
SWAPPED = Intervention(swapped=(0,))


def rule(label: str) -> PlannedRule:
    name = label.partition("[")[0]
    return PlannedRule(config=RuleConfig(name=name, label=label), typed=label)


def cohort(*labels: str, seeds: tuple[int, ...] = SEEDS, width: int = 8) -> CohortPlan:
    """One run for each seed, at k = 2, of one rule after the other."""
    return CohortPlan(
        task=TaskConfig(name="tiny", checksum="0" * 64),
        net=NetConfig(width=width, blocks=2),
        recipe=Recipe(epochs=3),
        rules=tuple(rule(label) for label in labels),
        runs=tuple((number % len(labels), 2, seed) for number, seed in enumerate(seeds)),
    )


def file_of(*cohorts: CohortPlan, task: str = "path/to/tiny.npz", validation: int = 7) -> PlanFile:
    return PlanFile(task=task, validation=validation, samples=130, cohorts=list(cohorts))


@pytest.fixture
def files(tmp_path: Path) -> PlanFiles:
    return PlanFiles(tmp_path / "plan")


# Cohorts


def test_a_cohort_names_each_run_in_its_order():
    planned = cohort("dfa", "dfa[normalise=batch]")
    assert [(c.rule.label, c.k, c.seed) for c in planned.configs] == [
        ("dfa", 2, 1),
        ("dfa[normalise=batch]", 2, 2),
        ("dfa", 2, 3),
        ("dfa[normalise=batch]", 2, 4),
    ]
    assert [rule.typed for rule in planned.rules] == ["dfa", "dfa[normalise=batch]"]
    for config in planned.configs:
        assert (config.task, config.net, config.recipe) == (
            planned.task,
            planned.net,
            planned.recipe,
        )


def test_identities_are_those_of_the_configurations():
    planned = cohort("dfa", "dfa[normalise=batch]")
    assert planned.identities == [config.identity for config in planned.configs]
    assert len(set(planned.identities)) == len(SEEDS)


def test_the_name_depends_on_the_runs_and_on_their_order():
    names = {
        cohort("dfa").name,
        cohort("bp").name,
        cohort("dfa", width=9).name,
        cohort("dfa", seeds=(1, 2, 3)).name,
        cohort("dfa", seeds=(2, 1, 3, 4)).name,
    }
    assert len(names) == 5
    assert cohort("dfa").name in names


def test_the_name_does_not_depend_on_how_a_rule_was_typed_or_what_the_cohort_replaces():
    planned = cohort("dfa")
    typed = PlannedRule(config=planned.rules[0].config, typed="dfa[epsilon=1e-6]")
    assert planned.changed(rules=(typed,), replaces="x").name == planned.name


def test_a_cohort_is_called_by_its_settings_while_they_are_few():
    for labels, called in [
        (["dfa"], "dfa"),
        (["dfa[normalise=batch]"], "dfa[normalise=batch]"),
        (["dfa", "dfa[normalise=batch]"], "dfa, dfa[normalise=batch]"),
        (["dfa", "dfa[normalise=batch]", "dfa[normalise=none]"], "dfa at 3 settings"),
    ]:
        assert cohort(*labels).label == called


def test_a_part_is_those_runs_alone_in_the_place_of_the_whole():
    whole = cohort("dfa", "dfa[normalise=batch]")
    part = whole.part([3, 1])
    assert part.configs == [whole.configs[3], whole.configs[1]]
    assert part.rules[part.runs[0][0]].typed == "dfa[normalise=batch]"
    assert part.replaces == whole.name
    assert part.name != whole.name


def test_the_same_rule_with_and_without_an_intervention_are_runs_of_their_own():
    own, twin = rule("dfa"), rule("dfa").model_copy(update={"intervention": SWAPPED})
    planned = cohort("dfa").changed(rules=(own, twin), runs=((0, 2, 1), (1, 2, 1)))
    assert [config.intervention for config in planned.configs] == [NO_INTERVENTION, SWAPPED]
    assert planned.identities == [config.identity for config in planned.configs]
    assert len(set(planned.identities)) == 2
    assert planned.label == "dfa"


# Files


def test_a_study_that_was_not_planned_has_an_empty_plan_and_looking_makes_nothing(files):
    plan = files.read()
    assert (plan.current, plan.cohort_of, plan.resolve([])) == ([], {}, [])
    assert not files.folder.exists()


def test_a_plan_is_the_same_when_it_is_read_again(files):
    first, second, third = cohort("dfa", "dfa[normalise=batch]"), cohort("bp"), cohort("fa")
    assert files.add(files.read(), file_of(first, second))
    assert files.add(files.read(), file_of(third, task="digits", validation=0))
    for reader in (files, PlanFiles(files.folder)):
        plan = reader.read()
        assert plan.current == [first, second, third]
        assert plan.resolve([third.name, first.name]) == [third, first]
        assert plan.task_of(second) == ("path/to/tiny.npz", 7)
        assert plan.task_of(third) == ("digits", 0)
        assert plan.steps_of(third) == 2
        assert plan.cohort_of[second.configs[1].identity] == second
    assert sorted(path.name for path in files.folder.iterdir()) == ["1.json", "2.json"]


def test_interventions_are_kept(files):
    kinds = (SWAPPED, Intervention(frozen=(1,)), Intervention(swapped=(0,), frozen=(1,)))
    rules = tuple(rule("dfa").model_copy(update={"intervention": kind}) for kind in kinds)
    planned = cohort("dfa").changed(rules=rules, runs=((0, 2, 1), (1, 2, 1), (2, 2, 1)))
    assert files.add(files.read(), file_of(planned))
    (read,) = PlanFiles(files.folder).read().current
    assert read == planned
    assert [config.intervention for config in read.configs] == list(kinds)
    assert read.part([1]).configs[0].intervention == kinds[1]


def test_a_plan_from_before_there_were_interventions_has_none(files):
    files.add(files.read(), file_of(cohort("dfa")))
    path = files.folder / "1.json"
    content = json.loads(path.read_text())
    for planned in content["cohorts"][0]["rules"]:
        del planned["intervention"]
    path.write_text(json.dumps(content))
    (read,) = PlanFiles(files.folder).read().current
    assert read == cohort("dfa")
    assert all(config.is_rung for config in read.configs)


def test_the_accuracy_of_chance_is_kept_and_older_plans_do_not_know_it(files):
    files.add(files.read(), file_of(cohort("dfa")).model_copy(update={"chance": 0.125}))
    path = files.folder / "1.json"
    assert PlanFiles(files.folder).read().files[0].chance == 0.125
    content = json.loads(path.read_text())
    del content["chance"]
    path.write_text(json.dumps(content))
    assert PlanFiles(files.folder).read().files[0].chance is None


def test_what_others_add_is_seen_and_what_was_read_is_not_read_again(files):
    reader = PlanFiles(files.folder)
    assert reader.read().current == []
    assert files.add(files.read(), file_of(cohort("dfa")))
    plan = reader.read()
    assert plan.current == [cohort("dfa")]
    assert reader.read() is plan


def test_an_added_file_never_changes(files):
    files.add(files.read(), file_of(cohort("dfa")))
    before = contents(files.folder)
    assert not files.add(Plan([]), file_of(cohort("bp")))
    assert contents(files.folder) == before


# Cohorts in the place of others


def test_parts_stand_in_the_place_of_a_cohort_over_several_levels(files):
    whole, other = cohort("dfa"), cohort("bp")
    left, right = whole.part([0, 1]), whole.part([2, 3])
    alone = [right.part([0]), right.part([1])]
    assert files.add(files.read(), file_of(whole, other))
    for replaced, parts in ((whole, [left, right]), (right, alone)):
        plan = files.read()
        assert files.add(plan, plan.file_of(replaced).with_cohorts(parts))
    plan = files.read()
    assert plan.resolve([whole.name]) == [left, *alone]
    assert plan.resolve([right.name, other.name]) == [*alone, other]
    assert plan.current == [other, left, *alone]
    by_run = [plan.cohort_of[config.identity] for config in whole.configs]
    assert by_run == [left, left, *alone]
    assert plan.task_of(alone[0]) == ("path/to/tiny.npz", 7)


# Two planners at once


def test_of_two_that_add_to_the_same_plan_the_second_is_told_and_can_add_to_the_new_one(files):
    other = PlanFiles(files.folder)
    before = other.read()
    assert files.add(files.read(), file_of(cohort("dfa")))
    assert not other.add(before, file_of(cohort("bp")))
    assert other.add(other.read(), file_of(cohort("bp")))
    assert files.read().current == [cohort("dfa"), cohort("bp")]


def test_of_many_that_plan_at_once_each_adds_its_own_and_none_adds_twice(files):
    labels = [f"rule{number}" for number in range(8)]
    barrier = threading.Barrier(len(labels))

    def plan(label: str) -> int:
        own, tries = PlanFiles(files.folder), 1
        barrier.wait()
        while not own.add(own.read(), file_of(cohort(label))):
            tries += 1
        return tries

    with ThreadPoolExecutor(len(labels)) as threads:
        tries = list(threads.map(plan, labels))
    assert max(tries) <= len(labels)
    planned = files.read().current
    assert sorted(c.rules[0].typed for c in planned) == labels
    assert len(list(files.folder.iterdir())) == len(labels)


# Damage


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: "",
        lambda text: text[:-20],
        lambda text: "[]",
        lambda text: json.dumps(json.loads(text) | {"schema_version": 99}),
        lambda text: json.dumps(json.loads(text) | {"cohorts": None}),
        lambda text: text.replace('"runs":[[', '"runs":[["x",'),
    ],
    ids=["empty", "cut short", "not a plan", "another version", "no cohorts", "no run"],
)
def test_a_plan_that_cannot_be_read_is_named_in_one_sentence(files, damage):
    files.add(files.read(), file_of(cohort("dfa")))
    path = files.folder / "1.json"
    path.write_text(damage(path.read_text()))
    before = contents(files.folder)
    with pytest.raises(UserError) as caught:
        PlanFiles(files.folder).read()
    message = str(caught.value)
    assert message.startswith(str(path))
    assert "nothing was changed" in message
    assert "\n" not in message
    assert contents(files.folder) == before


def test_a_plan_with_bytes_that_are_no_text_is_named_too(files):
    files.folder.mkdir()
    (files.folder / "1.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UserError, match=r"1\.json is damaged"):
        files.read()
