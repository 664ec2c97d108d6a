"""What is freed is there again without the system, which counts the pages that it hands out."""

from __future__ import annotations

import subprocess
import sys

import pytest

from depthgauge.training import memory

PAGES_OF_EVERY_STEP = """
import ctypes, resource, sys
import torch
from depthgauge.training.memory import keep_freed_memory

def step():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    parts = [torch.ones(10 * 2**20) for _ in range(2)]  # glibc always hands 40 MB back
    del parts
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

ctypes.CDLL(None).prctl(41, 1, 0, 0, 0)  # PR_SET_THP_DISABLE: pages of one size
print(*(step() for _ in range(3)))
if not keep_freed_memory():
    sys.exit("no such allocator")
print(*(step() for _ in range(20)))
"""


def test_later_steps_need_no_new_pages():
    run = subprocess.run(
        [sys.executable, "-c", PAGES_OF_EVERY_STEP], capture_output=True, text=True, check=False
    )
    if run.returncode and "no such allocator" in run.stderr:
        pytest.skip("the C library has no mallopt")
    assert run.returncode == 0, run.stderr
    usual, kept = ([int(pages) for pages in line.split()] for line in run.stdout.splitlines())
    assert min(usual) > 1000
    assert max(kept[-5:]) < min(usual) / 10


def test_another_system_is_left_as_it_is(monkeypatch):
    monkeypatch.setattr(memory.sys, "platform", "darwin")
    assert not memory.keep_freed_memory()
