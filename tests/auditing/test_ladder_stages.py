"""The runs that used depth needs after the ladders.

A missing run would leave used depth open, and a needless one would cost hours of training.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from results.written_ladders import (
    BP,
    BP_TWINS,
    ONE_BLOCK,
    ONE_BLOCK_TWINS,
    SEEDS,
    TWO_BLOCKS,
    TWO_BLOCKS_TWINS,
    WrittenLadders,
)

from depthgauge.auditing.ladder_stages import find_next_runs
from depthgauge.config import Intervention
from depthgauge.scheduling.grid import Grid, PlannedRun, RunList

Call = tuple[str, int, tuple[int, ...], tuple[int, ...]]
"""Label, k, the blocks on noise, the blocks frozen."""


def called(ladders: WrittenLadders, grid: Grid | None = None) -> RunList | None:
    return find_next_runs(ladders.load(), grid or ladders.grid)


def who(runs: Sequence[PlannedRun]) -> dict[Call, list[int]]:
    """Return the seeds of each kind of run."""
    found: dict[Call, list[int]] = {}
    for run in runs:
        changed = run.config.intervention
        kind = (run.config.rule.label, run.k, changed.swapped, changed.frozen)
        found.setdefault(kind, []).append(run.seed)
    return found


def every_seed(*kinds: Call) -> dict[Call, list[int]]:
    return {kind: list(SEEDS) for kind in kinds}


@pytest.fixture
def ladders(tmp_path: Path) -> WrittenLadders:
    """Write the ladders of backpropagation and of a rule that uses two blocks of four."""
    made = WrittenLadders(tmp_path / "study", "bp", "dfa")
    made.ladder("bp", BP, {})
    made.ladder("dfa", TWO_BLOCKS, {})
    return made


def test_without_a_whole_ladder_nothing_is_called_for(tmp_path):
    made = WrittenLadders(tmp_path / "study", "bp")
    assert called(made) is None
    for k in (1, 2, 3, 4):
        made.end(made.runs("bp", k), BP[k])
    assert called(made) is None
    made.end(made.runs("bp", 0), BP[0])
    assert called(made) is not None


def test_a_rung_has_a_twin_where_it_is_above_every_lower_one(ladders):
    found = called(ladders)
    assert found.noun == "swap twin"
    assert (found.task, found.base) == (ladders.grid.task, ladders.grid.base)
    assert who(found.runs()) == every_seed(
        *(("bp", k, (4 - k,), ()) for k in (1, 2, 3, 4)),
        ("dfa", 2, (2,), ()),
        ("dfa", 4, (0,), ()),
    )


def test_a_rule_that_does_not_climb_has_no_twins(tmp_path):
    made = WrittenLadders(tmp_path / "study", "bp", "fa", "dfa")
    made.ladder("bp", BP, BP_TWINS)
    made.ladder("fa", ONE_BLOCK, {})
    made.ladder("dfa", (35.0, 24.0, 28.0, 29.0, 30.0), {})
    assert who(called(made).runs()) == every_seed(("fa", 1, (3,), ()))


def test_where_rungs_are_skipped_a_twin_has_all_that_its_rung_adds_on_noise(tmp_path):
    made = WrittenLadders(tmp_path / "study", "bp", ks=(0, 1, 2, 4))
    made.ladder("bp", (27.1, 55.7, 64.8, 71.2), {})
    assert set(who(called(made).runs())) == {
        ("bp", 1, (3,), ()),
        ("bp", 2, (2,), ()),
        ("bp", 4, (0, 1), ()),
    }


def test_confirming_runs_wait_for_all_twins_and_train_the_earning_blocks_alone(ladders):
    ladders.end_twins("dfa", TWO_BLOCKS_TWINS)
    assert called(ladders).noun == "swap twin"
    ladders.end_twins("bp", BP_TWINS)
    found = called(ladders)
    assert found.noun == "confirming run"
    assert who(found.runs()) == every_seed(("dfa", 4, (), (1, 3)))


def test_a_confirming_run_starts_at_the_first_block_that_earns(tmp_path):
    made = WrittenLadders(tmp_path / "study", "bp", "dfa")
    made.ladder("bp", BP, BP_TWINS)
    made.ladder("dfa", (27.1, 27.0, 57.0, 56.9, 56.8), {2: 27.1})
    assert who(called(made).runs()) == every_seed(("dfa", 2, (), (3,)))


@pytest.fixture
def twinned(ladders: WrittenLadders) -> WrittenLadders:
    """Return the ladders with every swap twin that they need."""
    ladders.end_twins("bp", BP_TWINS)
    ladders.end_twins("dfa", TWO_BLOCKS_TWINS)
    return ladders


ALONE = Intervention(frozen=(1, 3))
ON_NOISE = Intervention(swapped=(1, 3))


def test_where_the_earning_blocks_alone_are_enough_nothing_more_is_called_for(twinned):
    twinned.end(twinned.runs("dfa", 4, ALONE), TWO_BLOCKS[4])
    assert called(twinned) is None


def test_where_the_earning_blocks_are_not_enough_the_rest_is_tried_on_noise(twinned):
    twinned.end(twinned.runs("dfa", 4, ALONE), 60.0)
    found = called(twinned)
    assert found.noun == "noise run"
    assert who(found.runs()) == every_seed(("dfa", 4, (1, 3), ()))
    twinned.end(twinned.runs("dfa", 4, ON_NOISE), 60.0)
    assert called(twinned) is None


def test_where_the_last_blocks_earn_the_rung_that_trains_them_confirms_it(tmp_path):
    """It was trained already; a confirming run would be the same run once more."""
    made = WrittenLadders(tmp_path / "study", "bp", "fa")
    made.ladder("bp", BP, BP_TWINS)
    made.ladder("fa", ONE_BLOCK, ONE_BLOCK_TWINS)
    assert called(made) is None


def test_what_climbs_no_higher_than_its_twins_is_tried_on_noise_as_a_whole(tmp_path):
    """None of its blocks earns, and all together might."""
    climb = (27.1, 29.1, 30.1, 30.7, 31.4)
    made = WrittenLadders(tmp_path / "study", "bp", "dfa")
    made.ladder("bp", BP, BP_TWINS)
    made.ladder("dfa", climb, {k: climb[k] + 0.5 for k in (1, 2, 3, 4)})
    found = called(made)
    assert (found.noun, who(found.runs())) == (
        "noise run",
        every_seed(("dfa", 4, (0, 1, 2, 3), ())),
    )


# What has ended, and what has not


def test_only_what_has_not_ended_is_called_for_again(ladders):
    first, second, third = ladders.twins("dfa", 2)
    ladders.end([first], 27.1)
    ladders.begin(second)
    again = who(called(ladders).runs())
    assert again["dfa", 2, (2,), ()] == [second.seed, third.seed]


@pytest.mark.parametrize("ended", ["failed", "diverged"])
def test_a_twin_that_was_lost_is_not_called_for_again(ladders, ended):
    """Otherwise the same error would come again and again, and the command would never end."""
    lost = [*ladders.twins("dfa", 2), *ladders.twins("dfa", 4)]
    if ended == "failed":
        ladders.fail(lost)
    else:
        ladders.diverge(lost)
    left = who(called(ladders).runs())
    assert {label for label, *_ in left} == {"bp"}
    ladders.end_twins("bp", BP_TWINS)
    found = called(ladders)
    # without its twin no rung earns; a twin that diverged is worth chance, so both do
    assert found.noun == ("noise run" if ended == "failed" else "confirming run")


def test_a_confirming_run_that_failed_is_not_called_for_again(twinned):
    twinned.fail(twinned.runs("dfa", 4, ALONE))
    assert called(twinned).noun == "noise run"
    twinned.fail(twinned.runs("dfa", 4, ON_NOISE))
    assert called(twinned) is None


@pytest.mark.parametrize("seeds", [(1,), (1, 2)])
def test_one_or_two_seeds_show_nothing_so_nothing_is_confirmed(tmp_path, seeds):
    made = WrittenLadders(tmp_path / "study", "bp", "dfa", seeds=seeds)
    made.ladder("bp", BP, BP_TWINS)
    made.ladder("dfa", TWO_BLOCKS, {})
    assert set(who(called(made).runs())) == {("dfa", 2, (2,), ()), ("dfa", 4, (0,), ())}
    made.end_twins("dfa", TWO_BLOCKS_TWINS)
    assert called(made) is None


# What does not belong to it


def test_seeds_settings_and_rules_that_were_not_asked_for_count_for_nothing(tmp_path):
    """A folder may have runs of other commands."""
    folder = tmp_path / "study"
    made = WrittenLadders(folder, "bp", "dfa")
    made.ladder("bp", BP, BP_TWINS)
    made.ladder("dfa", ONE_BLOCK, {})
    expected = every_seed(("dfa", 1, (3,), ()))
    assert who(called(made).runs()) == expected
    others = WrittenLadders(folder, "dfa[normalise=batch]", "dfa[penalty=0.1]", "fa")
    for rule in ("dfa[normalise=batch]", "dfa[penalty=0.1]", "fa"):
        others.ladder(rule, TWO_BLOCKS, {})
    seeds = WrittenLadders(folder, "dfa", seeds=(4, 5, 6))
    seeds.ladder("dfa", TWO_BLOCKS, {})
    assert who(called(made).runs()) == expected
    assert {run.seed for run in called(made, seeds.grid).runs()} == {4, 5, 6}


def test_every_setting_and_every_control_has_a_ladder_of_its_own(tmp_path):
    rules = ("bp", "dfa", "dfa[normalise=batch]", "dfa[no_norm]")
    made = WrittenLadders(tmp_path / "study", *rules)
    made.ladder("bp", BP, BP_TWINS)
    made.ladder("dfa", ONE_BLOCK, ONE_BLOCK_TWINS)
    made.ladder("dfa[normalise=batch]", TWO_BLOCKS, {})
    made.ladder("dfa[no_norm]", ONE_BLOCK, {})
    found = called(made).runs()
    assert who(found) == every_seed(
        ("dfa[normalise=batch]", 2, (2,), ()),
        ("dfa[normalise=batch]", 4, (0,), ()),
        ("dfa[no_norm]", 1, (3,), ()),
    )
    assert {run.config.net.terminal_norm for run in found if "no_norm" in run.kind.rule.label} == {
        False
    }


def test_a_rule_is_held_against_backpropagation_under_the_same_control(tmp_path):
    """What gain matters depends on what backpropagation gains there: 0.5 points, or 0.1."""
    made = WrittenLadders(tmp_path / "study", "bp", "bp[no_norm]", "dfa", "dfa[no_norm]")
    little = (27.0, 27.3, 27.2, 27.1, 27.1)
    made.ladder("bp", BP, BP_TWINS)
    made.ladder("bp[no_norm]", (27.0, 32.0, 32.0, 32.0, 32.0), {1: 27.0})
    for rule in ("dfa", "dfa[no_norm]"):
        for k in made.grid.ks:
            for run, apart in zip(made.runs(rule, k), (-1.0, 0.0, 1.0), strict=True):
                gain = (little[k] - little[0]) * (1 - apart)
                made.end([run], little[0] + gain)
    assert {call[0] for call in who(called(made).runs())} == {"dfa[no_norm]"}
