"""A file of somebody's own is imported as it is now, and nothing is left beside it."""

from __future__ import annotations

import os
import sys

import pytest

from depthgauge.errors import UserError
from depthgauge.user_code.python_file import import_file


@pytest.fixture(autouse=True)
def with_bytecode(monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)


def test_a_file_that_was_changed_within_the_same_second_is_imported_anew(tmp_path):
    path, found = tmp_path / "mine.py", []
    for value in (1, 2):
        path.write_text(f"VALUE = {value}\n")
        os.utime(path, (10**9, 10**9))
        found.append(import_file(f"mine_{tmp_path.name}_{value}", path).VALUE)
    assert found == [1, 2]


def test_nothing_is_left_beside_it(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text("VALUE = 1\n")
    import_file(f"mine_{tmp_path.name}", path)
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_raises_is_named_and_not_kept(tmp_path):
    path, name = tmp_path / "mine.py", f"mine_{tmp_path.name}"
    path.write_text("1 / 0\n")
    with pytest.raises(UserError, match=r"mine\.py cannot be imported: .*division by zero"):
        import_file(name, path)
    assert name not in sys.modules


def test_a_file_of_another_kind_is_refused(tmp_path):
    path = tmp_path / "mine.txt"
    path.write_text("VALUE = 1\n")
    with pytest.raises(UserError, match=r"mine\.txt: the name of a Python file must end in \.py"):
        import_file(f"mine_{tmp_path.name}", path)
