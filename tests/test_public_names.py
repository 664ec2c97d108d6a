"""The package's public names, and what importing it costs."""

from __future__ import annotations

import subprocess
import sys

import pytest

import depthgauge


def test_importing_the_package_does_not_import_torch():
    code = "import sys, depthgauge; print({'torch', 'numpy', 'pydantic'} & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout == "set()\n"


def test_every_public_name_can_be_had():
    for name in depthgauge.__all__:
        assert getattr(depthgauge, name) is not None
        assert name in dir(depthgauge)


def test_another_name_is_refused_as_any_module_refuses_it():
    with pytest.raises(AttributeError, match="no attribute 'adit'"):
        depthgauge.adit  # noqa: B018


def test_the_room_report_does_not_hide_the_function_report():
    import depthgauge.report.plot  # noqa: PLC0415
    from depthgauge.api import report  # noqa: PLC0415

    assert depthgauge.report is report
