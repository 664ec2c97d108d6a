"""`depthgauge gc`: shows what nothing needs any more, and deletes that alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli.audits import find_run
from cli.commands import assert_bad_input, run, run_ladder
from cli.stopped_studies import command
from scheduling.small_grids import outcome
from store.claiming import elsewhere, ended_owner, put_claim
from store.small_runs_on_disk import contents

from depthgauge.store.plan_files import PlanFiles
from depthgauge.store.quarantine import put_aside


@pytest.fixture
def littered(study: Path) -> list[Path]:
    """What killed processes leave in the folder of a study."""
    done = find_run(study, "dfa")
    left = [
        study / ".study.json.12.ab.tmp",
        study / ".shared-0123456789abcdef",
        study / "plan" / ".2.json.12.ab.tmp",
        study / "claims" / ".x.1.12.tmp",
        done / ".checkpoint.safetensors.12.ab.tmp",
        done / "checkpoint.previous.safetensors",
    ]
    for number, path in enumerate(left):
        path.write_bytes(bytes(1000 * (number + 1)))
    return [*left, put_claim(study / "claims", first_cohort(study), ended_owner())]


def first_cohort(study: Path) -> str:
    return PlanFiles(study / "plan").read().current[0].name


def shown(out: str) -> set[str]:
    """The files that were named."""
    return {line.split(" MB  ")[1].rpartition("  (")[0] for line in out.splitlines()[:-1]}


def test_it_shows_and_deletes_nothing(study, littered):
    before = contents(study)
    done = run("gc", study)
    assert (done.status, done.err) == (0, "")
    assert shown(done.out) == {str(path) for path in littered}
    assert "    0.004 MB" in done.out
    assert done.out.endswith(" could be deleted (--delete does it)\n")
    assert done.out.splitlines()[-1].startswith(f"{len(littered)} files, 0.02")
    assert contents(study) == before


def test_it_deletes_what_it_shows_and_nothing_else(study, littered):
    names = {str(path.relative_to(study)) for path in littered}
    before = contents(study)
    done = run("gc", study, "--delete")
    assert done.status == 0
    assert shown(done.out) == {str(path) for path in littered}
    assert " deleted\n" in done.out
    after = contents(study)
    assert after == {name: file for name, file in before.items() if name not in names}
    assert len(outcome(study)) == 12
    assert run("gc", study).out == "nothing to delete\n"
    assert run_ladder(study).status == 0


def test_what_was_put_aside_goes_only_if_that_is_asked_for(study):
    path = find_run(study, "bp") / "notes.txt"
    path.write_text("bad")
    aside = put_aside(path, "is bad", quietly=True)
    assert run("gc", study, "--delete").out == "nothing to delete\n"
    assert aside.exists()
    done = run("gc", study, "--quarantine", "--delete")
    assert shown(done.out) == {str(aside), f"{aside}.reason.txt"}
    assert list(aside.parent.iterdir()) == []


def test_what_an_unfinished_run_goes_on_from_is_never_touched(stopping_rules, stopped, undisturbed):
    before = contents(stopped)
    done = run("gc", stopped, "--delete")
    assert all("claims" in name for name in shown(done.out))
    after = contents(stopped)
    assert {name for name in before if name not in after} <= {
        str(Path(name).relative_to(stopped)) for name in shown(done.out)
    }
    assert len(list(stopped.glob("runs/*/checkpoint.previous.safetensors"))) == 2
    assert run(*command(stopping_rules, stopped)).status == 0
    assert outcome(stopped) == outcome(undisturbed)


@pytest.mark.parametrize("options", [(), ("--delete",)])
def test_refused_while_somebody_trains(study, littered, options):
    put_claim(study / "claims", first_cohort(study), elsewhere())
    before = contents(study)
    assert_bad_input(run("gc", study, *options), str(study), "is training", "depthgauge status")
    assert contents(study) == before


def test_not_a_study(tmp_path):
    assert_bad_input(run("gc", tmp_path, "--delete"), str(tmp_path), "study.json")
