"""Kills a study again and again at random moments, and sees that nothing was lost or done twice."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from faults.forked_study import (
    SHORT,
    Kind,
    count_operations,
    finish,
    kill_after,
    kill_at_operation,
    kill_worker_after,
    kill_workers_at_operation,
)
from store.small_runs_on_disk import checkpoint_bits

from depthgauge.store.study_folder import StudyFolder

START = 60
"""File operations of a start, before anything new is trained."""


def outcome(folder: Path) -> dict[str, Any]:
    """Metrics, network and result of every run, without what may differ: when and how long."""
    found = {}
    for run in StudyFolder(folder).all_runs():
        result = run.result
        assert result is not None
        result.pop("provenance")
        metrics = run.metrics_path.read_bytes()
        found[run.path.name] = (result, metrics, checkpoint_bits(run.checkpoint_path))
    return found


def done_markers(folder: Path) -> dict[Path, tuple[int, int]]:
    """Every result that is there, and which file it is: another one would have another number."""
    there = folder.glob("runs/*/result.json")
    return {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in there}


def planned(folder: Path) -> list[str]:
    cohorts = StudyFolder(folder).plan_files.read().current
    return [config.identity for cohort in cohorts for config in cohort.configs]


class Killer:
    """Kills a study in one of four ways, at random moments; counts how often it did."""

    def __init__(self, folder: Path, kills: int, kind: Kind, seed: int) -> None:
        self._folder, self._kind, self._wanted = folder, kind, kills
        self._moments = random.Random(seed)
        self._share = count_operations(folder.parent / "counted", kind) // kills
        self.kills = dict.fromkeys(
            (
                "the process, between two file operations",
                "the process, at any moment",
                "workers, between two file operations",
                "a worker, at any moment",
            ),
            0,
        )

    def kill(self) -> None:
        ways = (self._at_operation, self._after, self._workers_at_operation, self._worker_after)
        (way,) = self._moments.choices(range(4), (5, 2, 2, 2))
        self.kills[list(self.kills)[way]] += int(ways[way]())

    @property
    def count(self) -> int:
        return sum(self.kills.values())

    @property
    def share_done(self) -> float:
        """How much of the study is behind it."""
        metrics = [path.read_bytes() for path in self._folder.glob("runs/*/metrics.jsonl")]
        recorded = sum(content.count(b"\n") for content in metrics)
        return recorded / (self._kind.runs * (self._kind.epochs + 1))

    @property
    def _is_behind(self) -> bool:
        """Whether less of the study is done than of the kills: they are to reach far into it.

        The last fifth is spared, or a study might end before its last kills.
        """
        return self.share_done < 0.8 * self.count / self._wanted

    def _number(self) -> int:
        """Of a file operation."""
        return self._moments.randint(1, START + (2 * self._share if self._is_behind else 0))

    def _seconds(self) -> float:
        return self._moments.uniform(0.02, 0.25 if self._is_behind else 0.1)

    def _at_operation(self) -> int:
        return kill_at_operation(self._folder, self._number(), self._kind)

    def _after(self) -> int:
        return kill_after(self._folder, self._seconds(), self._kind)

    def _workers_at_operation(self) -> int:
        return kill_workers_at_operation(self._folder, self._number(), self._kind)

    def _worker_after(self) -> int:
        return kill_worker_after(self._folder, self._seconds(), self._kind)


def kill_and_restart(
    folder: Path, kills: int, undisturbed: Path, seed: int, kind: Kind = SHORT
) -> dict[str, int]:
    """Kill the study until it has been killed so often, or has ended; how it went."""
    killer = Killer(folder, kills, kind, seed)
    before = done_markers(folder)
    while killer.count < kills and len(before) < kind.runs:
        last = killer.share_done
        killer.kill()
        after = done_markers(folder)
        assert before.items() <= after.items(), "a run was done again after its done marker"
        before = after
    assert finish(folder, kind) == 0
    assert done_markers(folder).items() >= before.items()
    assert sorted(planned(folder)) == sorted(set(planned(folder))), "a run was planned twice"
    assert len(outcome(folder)) == kind.runs
    assert outcome(folder) == outcome(undisturbed)
    return killer.kills | {"% of all epochs done before the last kill": round(100 * last)}
