"""Files that are either whole or not there, and that nobody has to unpickle."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import depthgauge
from depthgauge.errors import UserError
from depthgauge.store.files import read_json, write_atomically, write_json, write_text


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "file.json"
    path.write_text('"old"')
    return path


def assert_untouched(path: Path) -> None:
    assert path.read_text() == '"old"'
    assert os.listdir(path.parent) == [path.name]


def test_what_is_written_is_read(path):
    document = {"a": [1, 2.5, None, True], "ü": {"nested": "‖h‖"}}
    write_json(path, document)
    assert read_json(path) == document
    assert os.listdir(path.parent) == [path.name]


def test_a_writer_that_fails_half_way_leaves_the_old_file(path):
    def write(temporary: Path) -> None:
        temporary.write_text("half of the n")
        raise RuntimeError("disk full")

    with pytest.raises(RuntimeError, match="disk full"):
        write_atomically(path, write)
    assert_untouched(path)


def test_a_writer_that_fails_before_it_writes_leaves_the_old_file(path):
    def write(_: Path) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_atomically(path, write)
    assert_untouched(path)


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_system_call_that_fails_leaves_the_old_file(path, monkeypatch, call):
    def fail(*_: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(f"depthgauge.store.files.os.{call}", fail)
    with pytest.raises(OSError, match="no space left"):
        write_text(path, "new")
    assert_untouched(path)


def test_the_old_file_is_in_place_while_the_new_one_is_written(path):
    def write(temporary: Path) -> None:
        assert temporary.parent == path.parent  # another disk could not be renamed from
        temporary.write_text("new")
        assert path.read_text() == '"old"'

    write_atomically(path, write)
    assert path.read_text() == "new"


def test_the_bytes_are_on_the_disk_before_the_name_is(path, monkeypatch):
    calls = []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda handle: (calls.append("fsync"), fsync(handle)))
    monkeypatch.setattr(os, "replace", lambda a, b: (calls.append("replace"), replace(a, b)))
    write_text(path, "new")
    assert calls == ["fsync", "replace"]


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_json_cannot_say_is_not_written(path, value):
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json(path, {"a": value})
    assert_untouched(path)


@pytest.mark.parametrize("damage", [b"", b'{"a": 1', b"\xff\xfe", b"\0" * 40])
def test_a_corrupt_document_is_named_and_left_alone(path, damage):
    path.write_bytes(damage)
    with pytest.raises(UserError) as caught:
        read_json(path)
    assert str(path) in str(caught.value)
    assert "nothing was changed" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert path.read_bytes() == damage


@pytest.mark.parametrize("name", ["missing.json", "."])
def test_what_is_not_a_file_cannot_be_read(path, name):
    with pytest.raises(UserError, match="cannot be read"):
        read_json(path.parent / name)


# No pickle, ever: it runs code. The one exception reads the authors' CIFAR files and is
# restricted to arrays; it has tests of its own.

PICKLING_MODULES = {"pickle", "_pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve"}
PICKLING_CALLS = {"torch.load", "torch.save", "numpy.load", "np.load", "np.save", "marshal.loads"}
EXCEPTION = "tasks/cifar_pickle.py"


def package_files() -> list[tuple[str, ast.Module]]:
    root = Path(depthgauge.__file__).parent
    return [
        (path.relative_to(root).as_posix(), ast.parse(path.read_text(encoding="utf-8")))
        for path in sorted(root.rglob("*.py"))
    ]


def modules_imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").partition(".")[0]


def unsafe_calls(tree: ast.Module) -> Iterator[str]:
    """Calls that may unpickle, unless they say in so many words that they do not."""
    promises = ("weights_only=True", "allow_pickle=False")
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in PICKLING_CALLS:
            said = {ast.unparse(keyword) for keyword in node.keywords}
            if not said.intersection(promises):
                yield ast.unparse(node)


def test_no_module_imports_a_pickler():
    files = package_files()
    assert len(files) > 30
    found = [name for name, tree in files if PICKLING_MODULES.intersection(modules_imported(tree))]
    assert found == [EXCEPTION]


def test_no_call_may_unpickle():
    found = {name: list(unsafe_calls(tree)) for name, tree in package_files()}
    assert not {name: calls for name, calls in found.items() if calls}


def test_the_search_for_pickling_finds_it():
    tree = ast.parse("import pickle\nfrom joblib.x import y\ntorch.load(p)\nnp.load(p, mmap=None)")
    assert set(modules_imported(tree)) == {"pickle", "joblib"}
    assert list(unsafe_calls(tree)) == ["torch.load(p)", "np.load(p, mmap=None)"]
