"""OMP_NUM_THREADS, which cluster profiles set to 1, changes neither processes nor results."""

from __future__ import annotations

import os
from pathlib import Path
from subprocess import PIPE
from unittest.mock import patch

import pytest
from cli.commands import start
from scheduling.small_grids import outcome

from depthgauge.scheduling.resources import available_cores

CORES = 2

RULES = '''
import os
from pathlib import Path

from depthgauge.rules.dfa import DFA


class Logged(DFA):
    """Writes down which process trains it."""

    name = "logged"

    def feedback(self, net, generator):
        Path(os.environ["TEST_LOG"], str(os.getpid())).touch()
        return super().feedback(net, generator)
'''


def ladder(folder: Path, rules: Path, environment: dict[str, str]) -> tuple[str, int]:
    """Run the command: what it said when it started, and how many processes trained."""
    log = folder.with_suffix(".log")
    log.mkdir()
    size = (
        "--task",
        "digits",
        "--width",
        "96",
        "--depth",
        "2",
        "--epochs",
        "1",
        "--no-floors",
        "--no-twins",
    )
    typed = ("ladder", *size, "--rules", f"{rules}:Logged", "--seeds", "1", "2", "3", "4")
    with patch.dict(os.environ, environment | {"TEST_LOG": str(log)}):
        if not environment:
            os.environ.pop("OMP_NUM_THREADS", None)
        typed = ("-m", "depthgauge.cli.main", *typed, "--out", folder, "--json")
        command = start(*typed, cores=CORES, stdout=PIPE, stderr=PIPE)
    _, said = command.communicate(timeout=600)
    assert command.returncode == 0, said
    return said.splitlines()[0], len(list(log.iterdir()))


@pytest.mark.slow
@pytest.mark.skipif(available_cores() < CORES, reason="needs two cores")
def test_every_core_is_used_and_the_bits_are_the_same(tmp_path):
    rules = tmp_path / "rules.py"
    rules.write_text(RULES)
    plain = ladder(tmp_path / "plain", rules, {})
    told = ladder(tmp_path / "told", rules, {"OMP_NUM_THREADS": "1"})
    assert plain == told
    assert plain[0].startswith("training 12 runs of 1 epoch (")
    assert plain[0].endswith(" in 2 processes of 1 thread")
    assert plain[1] == CORES
    first = outcome(tmp_path / "plain")
    assert len(first) == 12
    assert first == outcome(tmp_path / "told")
