"""One bit for each evaluation sample: none is lost, none is invented."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from depthgauge.store.result_file import find_fault, pack_answers, unpack_answers


@given(st.lists(st.booleans(), min_size=1, max_size=40))
def test_what_is_packed_comes_back(flags):
    stored = pack_answers(flags)
    assert stored["samples"] == len(flags)
    assert unpack_answers(stored).tolist() == flags


@pytest.mark.parametrize("damage", [{"samples": 99}, {"bits": "AA"}, {"bits": "not base64!"}])
def test_bits_that_are_not_as_many_as_the_samples_make_a_result_unusable(damage):
    result = {
        "schema_version": 1,
        "identity": "a",
        "status": "finished",
        "final_acc": 0.5,
        "diverged_epoch": None,
        "final": {"h_norm": [], "g_norm": []},
        "provenance": {"commit": None},
        "right": pack_answers(np.ones(16, dtype=bool)),
    }
    assert find_fault(result, "a") is None
    result["right"] |= damage
    assert find_fault(result, "a") == "is incomplete, or is the result of another run"
