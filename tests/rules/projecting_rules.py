"""Rules whose credit is a projection: their null, the quick way and the long one."""

from __future__ import annotations

from dataclasses import replace

import pytest
from auditing.small_trained import make_batch, make_trained
from torch import Tensor

from depthgauge.auditing.null import calibrate_null
from depthgauge.rules.contract import Context, Credit
from depthgauge.rules.dfa import DFA

DRAWS = 12


def assert_null_is_the_same_the_quick_way(rule_class: type[DFA]) -> None:
    """`projected` is taken at its word (credit is formed once, to check it), and is right."""
    asked: list[str] = []

    class Quick(rule_class):  # type: ignore[misc, valid-type]
        def credit(self, context: Context) -> Credit:
            asked.append("quick")
            return super().credit(context)

    class Long(rule_class):  # type: ignore[misc, valid-type]
        batched = False

        def credit(self, context: Context) -> Credit:
            asked.append("long")
            return super().credit(context)

        def projected(self, context: Context) -> Tensor | None:
            return None

    trained, batch = make_trained(Quick()), make_batch()
    quick = calibrate_null(trained, batch, DRAWS)
    long = calibrate_null(replace(trained, rule=Long()), batch, DRAWS)
    assert (asked.count("quick"), asked.count("long")) == (1, 1 + DRAWS)
    assert quick.fresh_deep == pytest.approx(long.fresh_deep, rel=0, abs=1e-6)
    for one, other in zip(quick.per_layer, long.per_layer, strict=True):
        assert one.observed == pytest.approx(other.observed, rel=0, abs=1e-6)
        assert one.mean == pytest.approx(other.mean, rel=0, abs=1e-6)
    assert max(abs(value) for value in long.fresh_deep) > 1e-3
