"""What `depthgauge` itself offers, and that it offers it lazily."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

import depthgauge

HOMES = {
    "Finding": "depthgauge.diagnostics.finding",
    "Layout": "depthgauge.nets.layout",
    "judge": "depthgauge.verdict.judge",
    "Report": "depthgauge.diagnosis.report",
    "Thresholds": "depthgauge.verdict.thresholds",
    "UserError": "depthgauge.errors",
    "diagnose": "depthgauge.diagnosis.diagnose",
    "watch": "depthgauge.diagnosis.watch",
}


def in_a_fresh_python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.parametrize("name", HOMES)
def test_an_export_is_the_thing_itself(name):
    assert getattr(depthgauge, name) is getattr(importlib.import_module(HOMES[name]), name)


def test_everything_offered_is_there():
    assert set(depthgauge.__all__) == {*HOMES, "__version__"}
    offered: dict[str, object] = {}
    exec("from depthgauge import *", offered)
    assert offered.keys() >= set(depthgauge.__all__)
    assert offered["__version__"] == depthgauge.__version__


def test_a_name_that_is_not_offered_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'depthgauge' has no attribute 'daignose'"):
        _ = depthgauge.daignose
    with pytest.raises(ImportError, match="daignose"):
        exec("from depthgauge import daignose")


def test_importing_depthgauge_does_not_load_torch_and_diagnose_does():
    loaded = "print('torch' in sys.modules)"
    code = f"import sys, depthgauge; {loaded}; depthgauge.diagnose; {loaded}"
    assert in_a_fresh_python(code).split() == ["False", "True"]
