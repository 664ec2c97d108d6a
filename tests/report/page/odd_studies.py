"""Studies with parts missing, by what is missing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from report.studies import make_network
from report.study_folders import BAD, DEAD, GOOD, HEALTHY, put_audit
from results.written_studies import put_plan, write_study
from store.claiming import put_claim
from store.small_runs_on_disk import run_config, started

from depthgauge.store.owner import this_process
from depthgauge.store.study_folder import StudyFolder


def _one_rule_one_seed(folder: Path) -> None:
    rungs = {0: {1: 0.3}, 2: {1: 0.6}}
    write_study(folder, {"bp": rungs}, readings={"bp": HEALTHY})
    put_audit(folder, make_network("bp", 1, 0.6, 0.3))


def _no_ladder(folder: Path) -> None:
    write_study(folder, {"bp": {2: GOOD[2]}, "dfa": {2: {1: 0.3}}}, readings={"bp": HEALTHY})


def _no_audit(folder: Path) -> None:
    write_study(folder, {"bp": GOOD, "dfa": BAD}, readings={"bp": HEALTHY, "dfa": DEAD})


def _only_failed(folder: Path) -> None:
    write_study(folder, {})
    for k in (0, 2):
        started(StudyFolder(folder).runs, run_config("dfa", k, 1), 0).fail("no luck", "", {})


def _failed_before_the_first_epoch(folder: Path) -> None:
    write_study(folder, {})
    started(StudyFolder(folder).runs, run_config("dfa", 2, 1)).fail("no luck", "", {})


def _nothing_begun(folder: Path) -> None:
    write_study(folder, {})
    put_plan(StudyFolder(folder), [run_config("dfa", k, 1) for k in (0, 1, 2)], 0.5)


def _nothing_planned(folder: Path) -> None:
    write_study(folder, {})


def _running(folder: Path) -> None:
    write_study(folder, {})
    study = StudyFolder(folder)
    cohort = put_plan(study, [run_config("dfa", k, 1) for k in (0, 1, 2)], 0.5)
    put_claim(study.path / "claims", cohort.name, this_process())
    started(study.runs, run_config("dfa", 2, 1), 1)


def _all_diverged(folder: Path) -> None:
    write_study(folder, {"dfa": {0: {1: None}, 2: {1: None, 2: None}}})
    put_audit(folder, *(make_network("dfa", seed, None, None) for seed in (1, 2)))


def _audit_alone(folder: Path) -> None:
    mine = make_network("mine", 1, 0.5, None, gamma=(None, 0.1))
    put_audit(folder, make_network("bp", 1, 0.5, 0.4), mine)


def _controls(folder: Path) -> None:
    rules = {
        "bp": GOOD,
        "bp[shallow]": {0: {1: 0.2, 2: 0.2}},
        "bp[wide_block]": {0: {1: 0.2}, 1: {1: 0.3}},
        "bp[random_targets]": {0: {1: 0.1}, 2: {1: 0.1}},
    }
    write_study(folder, rules, readings={"bp": HEALTHY})


def _edited(folder: Path) -> None:
    write_study(folder, {"mine": GOOD}, source="7" * 64)
    put_plan(StudyFolder(folder), [run_config("mine", 2, 1, "8" * 64)], 0.5)


ODD: dict[str, Callable[[Path], None]] = {
    "one rule, one seed": _one_rule_one_seed,
    "no ladder": _no_ladder,
    "no audit": _no_audit,
    "only failed runs": _only_failed,
    "failed before the first epoch": _failed_before_the_first_epoch,
    "nothing begun": _nothing_begun,
    "nothing planned": _nothing_planned,
    "running": _running,
    "all diverged": _all_diverged,
    "an audit alone": _audit_alone,
    "controls": _controls,
    "a rule that was edited": _edited,
}


def write_odd_study(folder: Path, what: str) -> Path:
    ODD[what](folder)
    return folder
