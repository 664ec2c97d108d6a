"""A rule whose own code raises when it is read: its runs are audited as far as they can be."""

from __future__ import annotations

import pytest
from cli.audits import readings_of, run_audit

MOODY = """
import os

from depthgauge.rules.dfa import DFA


class Moody(DFA):
    name = "moody"

    def feedback(self, net, generator):
        if os.environ.get("TEST_MOOD") == "bad":
            raise ValueError("my matrix is singular")
        return super().feedback(net, generator)
"""


@pytest.mark.parametrize("mood", ["good", "bad"])
def test_what_a_rule_refuses_to_draw_anew_is_left_out_and_said(tmp_path, monkeypatch, mood):
    (tmp_path / "moody.py").write_text(MOODY)
    rules = ("bp", f"{tmp_path}/moody.py:Moody")
    trained = run_audit(tmp_path / "study", rules=rules)
    assert trained.status == 0, trained.err
    monkeypatch.setenv("TEST_MOOD", mood)
    done = run_audit(tmp_path / "study", "--json", rules=rules)
    readings = readings_of(done.document, "moody")
    assert done.status == 0
    assert "alignment" in readings
    assert ("null" in readings) == (mood == "good")
    words = "the credit of moody, k = 2, seed 1 cannot be read: ValueError: my matrix is singular"
    assert (words in done.err) == (mood == "bad")
    assert "Traceback" not in done.err
