"""What was recorded of published runs and of a small study is what the code still says of them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from golden.facts import EMBEDDED, GOLDEN, REPRODUCTION, run_facts, run_id, study_facts

ROUNDING = 1e-9
"""Relative: logarithms and Student's t may differ in their last digits between processors."""


def recorded(name: str) -> Any:
    return json.loads((GOLDEN / name).read_text(encoding="utf-8"))


PINNED = {REPRODUCTION / name: facts for name, facts in recorded("reproduction.json").items()}
PINNED[EMBEDDED] = recorded("embedded.json")


def differences(found: Any, expected: Any, at: str = "") -> Iterator[str]:
    """Every place where facts differ from the recorded ones; infinities are like themselves."""
    if isinstance(found, dict) and isinstance(expected, dict):
        for name in sorted({*found, *expected}):
            both = (facts.get(name, "not there") for facts in (found, expected))
            yield from differences(*both, f"{at} / {name}")
    elif isinstance(found, float) and isinstance(expected, float):
        if not math.isclose(found, expected, rel_tol=ROUNDING):
            yield f"{at}: {found!r} instead of {expected!r}"
    elif found != expected and not _close_lists(found, expected):
        yield f"{at}: {found!r} instead of {expected!r}"


def _close_lists(found: Any, expected: Any) -> bool:
    """Whether both are lists that differ in nothing."""
    if not (isinstance(found, list) and isinstance(expected, list)):
        return False
    numbered = (dict(enumerate(values)) for values in (found, expected))
    return not any(differences(*numbered))


def name_of(folder: Path) -> str:
    return folder.relative_to(GOLDEN.parent.parent).as_posix()


studies = pytest.mark.parametrize("folder", PINNED, ids=name_of)


@studies
def test_configurations_give_the_run_ids_that_folders_are_named_by(folder: Path) -> None:
    pinned = list(PINNED[folder]["runs"])
    assert [run_id(folder / "runs" / name) for name in pinned] == pinned


@studies
def test_runs_are_in_the_state_and_have_the_accuracy_that_was_recorded(folder: Path) -> None:
    found = run_facts(folder)
    ended = {name: run for name, run in PINNED[folder]["runs"].items() if run["state"] is not None}
    assert not list(differences({name: found[name] for name in ended}, ended))


@studies
def test_ladders_verdicts_audits_and_comparisons_are_those_recorded(folder: Path) -> None:
    pinned = PINNED[folder]
    ended = [name for name, run in pinned["runs"].items() if run["state"] is not None]
    assert not list(differences(study_facts(folder, ended), pinned["study"]))


def test_a_changed_fact_is_noticed() -> None:
    recorded = {"word": "walk back", "interval": {"high": math.inf}, "norms": [1.0, 2.0]}
    last_digit = recorded | {"norms": [1.0, 2.0 + 1e-12]}
    assert not list(differences(last_digit, recorded))
    for change in (
        {"word": "trustworthy"},
        {"interval": {"high": 1e300}},
        {"norms": [1.0, 2.001]},
        {"norms": [1.0]},
        {"more": None},
    ):
        assert len(list(differences(recorded | change, recorded))) == 1


def test_the_record_has_what_it_should_guard() -> None:
    """An empty record would agree with anything."""
    runs = {name for facts in PINNED.values() for name in facts["runs"]}
    verdicts = [v for facts in PINNED.values() for v in facts["study"]["verdicts"].values()]
    compared = {kind for facts in PINNED.values() for kind in facts["study"]["published"]}
    assert len(runs) > 250
    assert {v["word"] for v in verdicts} >= {
        *("trustworthy", "walk back", "inconclusive", "no alarm, depth untested", "not judged")
    }
    assert {name for v in verdicts for name in v["fired"]} == {"D1", "D2", "D3"}
    assert compared == {"ladder", "audit", "thirty epochs"}
