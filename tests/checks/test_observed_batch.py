"""A batch notes what a rule asks for and changes; two answers are compared up to rounding."""

from __future__ import annotations

import torch

from depthgauge.checks.checked_rule import CheckedRule
from depthgauge.checks.observed_batch import ObservedNeeds, difference
from depthgauge.rules.choice import choose_rule

ONES = torch.ones(2, 3, dtype=torch.float64)


def observed():
    checked = CheckedRule(choose_rule("dfa"))
    return checked.observe(checked.build(), checked.draw_feedback(checked.build(), 0))


def test_needs_note_what_is_asked_for_declared_or_not():
    needs = ObservedNeeds({"error": ONES})
    assert ("error" in needs, "gradient" in needs) == (True, False)
    assert needs.asked == {"error", "gradient"}
    assert needs.hidden == ["gradient"]


def test_a_batch_that_nobody_touched_has_not_changed():
    assert observed().changed == []


def test_what_is_changed_in_place_is_named():
    for touch, name in [
        (lambda s: s.context.states[2].add_(1), "states[2]"),
        (lambda s: s.context.target.zero_(), "target"),
        (lambda s: s.context.error.neg_(), "error"),
        (lambda s: s.gradient[1].mul_(2), "gradient[1]"),
        (lambda s: s.context.feedback["B"].mul_(2), "feedback['B']"),
    ]:
        batch = observed()
        touch(batch)
        assert batch.changed == [name]


def test_rounding_is_no_difference_and_more_is():
    assert difference({"a": ONES}, {"a": ONES * (1 + 1e-9)}) is None
    assert difference({"a": ONES}, {"a": ONES * 1.001}).startswith("a differs by up to 0.001")
    assert difference({"a": 1e-20 * ONES}, {"a": 1.001e-20 * ONES}) is not None
    assert difference({"a": ONES}, {"a": ONES * torch.nan}) is not None
    assert difference({"a": torch.empty(0)}, {"a": torch.empty(0)}) is None


def test_other_names_and_other_shapes_are_differences():
    assert difference({"a": ONES}, {"b": ONES}) == "a, b is missing in one of two answers"
    assert "(2, 3) and (3,)" in difference({"a": ONES}, {"a": ONES[0]})
