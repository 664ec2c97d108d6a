"""In what two studies differ, and how alike their common runs are."""

from __future__ import annotations

import pytest
from results.written_studies import change_losses, write_study
from store.small_runs_on_disk import NET, RECIPE, TASK

from depthgauge.results.config_difference import Agreement, agreement, config_difference
from depthgauge.results.load import load

DFA = {"dfa": {0: {1: 0.2, 2: 0.25}, 2: {1: 0.5, 2: 0.5}}}


@pytest.fixture
def first(tmp_path):
    return load(write_study(tmp_path / "first", DFA))


def other(tmp_path, accuracies=DFA, **changes):
    return load(write_study(tmp_path / "other", accuracies, **changes))


def test_the_same_runs_bit_for_bit(first, tmp_path):
    again = other(tmp_path)
    assert config_difference(first, again, "dfa").is_empty
    assert agreement(first, again, "dfa") == Agreement(4, 4, 4)


def test_runs_count_as_common_by_k_and_seed(first, tmp_path):
    again = other(tmp_path, {"dfa": {0: {2: 0.25}, 1: {1: 0.5}, 2: {2: 0.75}}})
    assert agreement(first, again, "dfa") == Agreement(2, 1, 1)
    assert agreement(first, again, "fa") == Agreement(0, 0, 0)


def test_equal_accuracies_are_not_equal_epochs(first, tmp_path):
    write_study(tmp_path / "other", DFA)
    change_losses(tmp_path / "other", 1.25)
    assert agreement(first, load(tmp_path / "other"), "dfa") == Agreement(4, 4, 0)


def test_two_runs_that_diverged_agree(tmp_path):
    diverged = {"dfa": {2: {1: None}}}
    studies = [load(write_study(tmp_path / name, diverged)) for name in "ab"]
    assert agreement(*studies, "dfa") == Agreement(1, 1, 1)
    assert agreement(studies[0], other(tmp_path, DFA), "dfa") == Agreement(1, 0, 0)


@pytest.mark.parametrize(
    ("changes", "differ_in"),
    [
        ({"recipe": RECIPE.model_copy(update={"epochs": 2})}, {"recipe.epochs": (3, 2)}),
        ({"net": NET.model_copy(update={"width": 5})}, {"net.width": (3, 5)}),
        (
            {"task": TASK.model_copy(update={"checksum": "1" * 64})},
            {"task.checksum": ("0" * 64, "1" * 64)},
        ),
        ({"source": "mended"}, {"rule.source": ("", "mended")}),
    ],
)
def test_in_what_the_runs_of_a_rule_differ(first, tmp_path, changes, differ_in):
    difference = config_difference(first, other(tmp_path, **changes), "dfa")
    found = {option.name: (option.first, option.other) for option in difference.differ_in}
    assert found == differ_in
    assert difference.not_known == ()
    assert not difference.is_empty


def test_a_rule_is_no_part_of_what_studies_must_share(first, tmp_path):
    assert config_difference(first, other(tmp_path, source="mended")).is_empty
