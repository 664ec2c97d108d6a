"""Training the embedded study again, with the real command, comes to what was recorded."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli.commands import run
from golden.facts import EMBEDDED_COMMAND, GOLDEN, run_facts, study_facts

TOLERANCE = 0.005
"""Of an accuracy on 4,000 samples: twenty of them.

On the processor of the record the difference is zero. Others may add the terms of matrix products
in another order; where the two largest logits are nearly equal, rounding may then decide otherwise.
"""


def test_the_same_command_gives_the_same_runs_accuracies_and_words(tmp_path: Path) -> None:
    recorded = json.loads((GOLDEN / "embedded.json").read_text(encoding="utf-8"))
    done = run(*EMBEDDED_COMMAND, "--out", tmp_path / "again", "--json")
    assert done.status == 0, done.err
    runs = run_facts(tmp_path / "again")
    assert {name: run["state"] for name, run in runs.items()} == {
        name: run["state"] for name, run in recorded["runs"].items()
    }
    assert {name: run["accuracy"] for name, run in runs.items()} == pytest.approx(
        {name: run["accuracy"] for name, run in recorded["runs"].items()}, rel=0, abs=TOLERANCE
    )
    verdicts = study_facts(tmp_path / "again", runs)["verdicts"]
    assert {label: verdict["word"] for label, verdict in verdicts.items()} == {
        label: verdict["word"] for label, verdict in recorded["study"]["verdicts"].items()
    }
