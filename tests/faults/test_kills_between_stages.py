"""An audit killed while ladders, twins and noise runs are trained ends as if undisturbed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from faults.forked_study import AUDIT, Kind, finish, kill_when
from faults.killer import done_markers, kill_and_restart, outcome

from depthgauge.results.audit import Audit
from depthgauge.results.audit_parts import RuleVerdict
from depthgauge.results.load import load
from depthgauge.store.plan_files import PlanFiles

TWENTY = 20
STAGES = 3
"""Files of the plan: rungs, swap twins, noise runs."""


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("undisturbed") / "study"
    assert finish(folder, AUDIT) == 0
    assert len(stages(folder)) == STAGES
    return folder


@pytest.fixture(scope="module")
def kind(undisturbed: Path) -> Kind:
    """The same study, with how many runs its ladders call for."""
    return replace(AUDIT, called_for=len(done_markers(undisturbed)) - AUDIT.runs)


def stages(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("plan/*.json"))


def verdicts(folder: Path) -> dict[str, RuleVerdict]:
    """What the audit says of every rule, with used depth and every finding."""
    return Audit.model_validate_json((folder / "audit.json").read_text()).verdicts


def assert_as_undisturbed(folder: Path, undisturbed: Path) -> None:
    """Results, metrics and networks bit for bit, and the same verdicts."""
    assert outcome(folder) == outcome(undisturbed)
    assert verdicts(folder) == verdicts(undisturbed)
    assert stages(folder) == stages(undisturbed)


def test_the_study_has_all_kinds_of_runs(undisturbed, kind):
    """Or the tests below would show less than they say."""
    changed = [run.config.intervention for run in load(undisturbed).runs]
    assert sum(intervention.swapped == () for intervention in changed) == AUDIT.runs
    assert {len(intervention.swapped) for intervention in changed} == {0, 1, 2}
    assert kind.runs == len(changed)


def test_killed_between_rungs_and_twins(tmp_path, undisturbed):
    """What the same command does then: it asks the ladders anew, from the runs that are there."""
    folder = tmp_path / "study"
    assert kill_when(folder, (folder / "plan" / "2.json").exists, AUDIT)
    before = done_markers(folder)
    assert AUDIT.runs <= len(before) < len(done_markers(undisturbed))
    assert not (folder / "audit.json").exists()
    assert finish(folder, AUDIT) == 0
    assert before.items() <= done_markers(folder).items()
    assert_as_undisturbed(folder, undisturbed)


@pytest.mark.slow
@pytest.mark.parametrize("stage", range(STAGES))
def test_killed_when_the_first_run_of_a_stage_is_done(tmp_path, undisturbed, stage):
    folder = tmp_path / "study"

    def one_is_done() -> bool:
        files = PlanFiles(folder / "plan").read().files[stage:]
        planned = {name for file in files for cohort in file.cohorts for name in cohort.identities}
        return any(path.parent.name in planned for path in done_markers(folder))

    assert kill_when(folder, one_is_done, AUDIT)
    assert finish(folder, AUDIT) == 0
    assert_as_undisturbed(folder, undisturbed)


@pytest.mark.slow
def test_killed_at_twenty_random_moments(tmp_path, undisturbed, kind):
    figures = kill_and_restart(tmp_path / "study", TWENTY, undisturbed, seed=27, kind=kind)
    print(f"{kind.runs} runs, none lost, none done twice; killed:", figures)
    assert sum(list(figures.values())[:4]) >= TWENTY
    assert_as_undisturbed(tmp_path / "study", undisturbed)
