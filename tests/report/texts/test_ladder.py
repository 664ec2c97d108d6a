"""The ladder in words."""

from __future__ import annotations

from report.studies import curve, make_floors, make_ladder

from depthgauge.report.texts.ladder import ladder_sentences
from depthgauge.verdict.thresholds import Thresholds


def sentence(*accuracies: float) -> str:
    (only,) = ladder_sentences(make_ladder({"rule": curve(*accuracies)}))
    assert only.startswith("rule ")
    assert only.endswith(".")
    return only


def test_a_gain():
    words = sentence(0.389, 0.565, 0.617)
    assert "gains 22.8 points" in words
    assert "38.9 %" in words
    assert "61.7 %" in words
    assert "peaks at k = 2 with 61.7 %" in words
    assert "monotone" not in words


def test_less_than_two_points_either_way_is_no_gain():
    for last, points in [(0.41, "+1.0"), (0.40, "(0.0"), (0.385, "−1.5")]:
        words = sentence(0.40, last)
        assert "does not gain from depth" in words
        assert points in words


def test_another_threshold_of_depth_is_that_of_the_words():
    ladder = make_ladder({"rule": curve(0.40, 0.43)})
    assert "gains 3.0 points" in ladder_sentences(ladder)[0]
    (words,) = ladder_sentences(ladder, Thresholds(depth_gain=0.05))
    assert "does not gain from depth (+3.0 points)" in words


def test_the_threshold_is_two_points():
    for first, last, gains in [(0.5, 0.5199, False), (0.5, 0.5201, True), (0.25, 0.27, True)]:
        words = sentence(first, last)
        assert ("gains" in words) == gains
        assert ("does not gain" in words) != gains


def test_a_gain_of_exactly_two_points_counts_whatever_floats_make_of_it():
    assert "gains 2.0 points" in sentence(0.101, 0.121)


def test_a_loss():
    words = sentence(0.349, 0.244, 0.301)
    assert "loses 4.8 points" in words
    assert "peaks at k = 0 with 34.9 %" in words


def test_every_fall_on_the_way_is_named():
    words = sentence(0.35, 0.30, 0.36, 0.31, 0.40)
    assert "not monotone" in words
    assert "by 5.0 from k = 0 to 1" in words
    assert "by 5.0 from k = 2 to 3" in words
    assert "from k = 1" not in words
    assert "from k = 3" not in words


def test_a_peak_in_the_middle():
    words = sentence(0.359, 0.412, 0.361)
    assert "peaks at k = 1 with 41.2 %" in words
    assert "by 5.1 from k = 1 to 2" in words


def test_rising_all_the_way():
    assert "rises at every rung" in sentence(0.1, 0.2, 0.3)


def test_what_stays_the_same_does_not_rise():
    assert "rises" not in sentence(0.2, 0.2, 0.2)
    assert "rises at every rung" not in sentence(0.1, 0.2, 0.2)


def test_rungs_that_were_left_out_are_not_spoken_of():
    words = ladder_sentences(make_ladder({"x": {4: [0.6], 0: [0.4], 2: [0.5]}}))[0]
    assert "40.0 %" in words
    assert "gains 20.0 points" in words
    assert "k = 4" in words
    assert "k = 1" not in words


def test_a_single_rung_cannot_be_read():
    for rungs in [{2: [0.5]}, {0: [0.3], 4: [None]}]:
        words = ladder_sentences(make_ladder({"x": rungs}))[0]
        assert "at least two finished rungs" in words
        assert "gain" not in words


def test_what_diverged_is_said_with_its_seed_and_epoch():
    ladder = make_ladder({"x": {0: [0.3, 0.3], 1: [None, 0.4], 2: [None, None]}})
    about, first, second = ladder_sentences(ladder)
    assert "gains 10.0 points" in about
    assert first == "x at k = 1 diverged: seed 1 in epoch 3."
    assert second == "x at k = 2 diverged: seed 1 in epoch 3, seed 2 in epoch 3."


def test_one_sentence_for_each_rule_in_the_order_of_the_table():
    words = ladder_sentences(make_ladder({"b": curve(0.1, 0.2), "a": curve(0.2, 0.1)}))
    assert [text.split()[0] for text in words] == ["b", "a"]


def test_nothing_finished_needs_no_words():
    assert ladder_sentences(make_ladder({})) == []


def test_a_control_that_changes_what_depth_means_has_no_gain_from_depth():
    for rule, accuracies, words in [
        ("bp[shallow]", (0.25,), "bp[shallow], without any blocks: 25.0 % at k = 0."),
        (
            "bp[wide_block]",
            (0.25, 0.5),
            "bp[wide_block], one block with as many parameters: 25.0 % at k = 0, 50.0 % at k = 1.",
        ),
        (
            "dfa[penalty=1.0,random_targets]",
            (0.1, 0.5),
            "dfa[penalty=1.0,random_targets], with nothing to learn: 10.0 % at k = 0, 50.0 % at "
            "k = 1.",
        ),
    ]:
        assert ladder_sentences(make_ladder({rule: curve(*accuracies)})) == [words]


def test_other_controls_are_ladders_like_any():
    (words,) = ladder_sentences(make_ladder({"bp[no_skip]": curve(0.25, 0.5)}))
    assert "gains 25.0 points from depth" in words


def test_a_rule_that_is_not_shown_to_beat_a_linear_classifier_is_told_so_first():
    ladder = make_ladder({"bp": curve(0.6, 0.7), "dfa": curve(0.2, 0.3)})
    ladder = ladder.model_copy(update={"floors": make_floors()})
    bp, first, dfa, linear, shallow = ladder_sentences(ladder)
    assert bp.startswith("bp gains")
    assert first == (
        "dfa is not shown to beat a linear classifier of the input by 2 points: "
        "30.0 % over 3 seeds, beside 55.0 %."
    )
    assert dfa.startswith("dfa gains")
    assert "linear classifier of the standardised input reaches 55.0 % (" in linear
    assert shallow.endswith("without blocks, trained by bp (bp[shallow]), reaches 45.0 %.")


def test_a_missing_linear_floor_has_its_reason():
    ladder = make_ladder({"bp": curve(0.6, 0.7)})
    floors = make_floors(linear=None, shallow=None)
    words = ladder_sentences(ladder.model_copy(update={"floors": floors}))
    assert words[-1] == "Floor: a linear classifier is n/a: all training samples have one class."
