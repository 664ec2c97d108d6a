"""The most memory a process has held: its own, and nobody else's."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import depthgauge
from depthgauge.store.peak_memory import peak_memory_bytes

BATCH = 2**20
"""Bytes: a kernel counts pages in batches, so that a reading may be behind by some of them."""

SAY = "from depthgauge.store.peak_memory import peak_memory_bytes as p; print(p())"


def test_it_is_in_bytes_and_never_falls():
    before = peak_memory_bytes()
    assert 2**23 < before < 2**44  # in kilobytes it would be less
    held = bytearray(b"x" * 2**24)
    after = peak_memory_bytes()
    del held
    assert peak_memory_bytes() > after - BATCH
    assert after > before - BATCH


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not tell")
def test_what_the_process_held_that_started_it_is_not_counted():
    held = bytearray(b"x" * 2**28)
    source = str(Path(depthgauge.__file__).parent.parent)
    environment = {"PYTHONPATH": source}
    done = subprocess.run(
        [sys.executable, "-c", SAY], env=environment, capture_output=True, text=True, check=True
    )
    assert int(done.stdout) < len(held)
