"""No pickle, ever: it runs code.

The one exception reads the authors' CIFAR files and is restricted to arrays; it has tests of its
own.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import depthgauge

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
