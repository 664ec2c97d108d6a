"""The cache: whole or not at all, one writer at a time, and clear words when something is wrong."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
import torch
from safetensors.numpy import save_file
from tasks.cifar_files import small_cifar10, small_cifar100, write_binary10

from depthgauge.errors import UserError
from depthgauge.tasks import cache
from depthgauge.tasks.cifar import load_cifar10, load_cifar100
from depthgauge.tasks.data_set import sha256_by_name

pytestmark = pytest.mark.usefixtures("home")


def store_small():
    dataset, arrays = small_cifar10()
    with cache.workspace(dataset.name, pytest.fail) as scratch:
        path = cache.store(dataset.name, arrays, sha256_by_name(arrays), scratch)
    return dataset, arrays, path


def test_what_was_stored_is_read(home):
    dataset, arrays, path = store_small()
    found, digests = cache.read(dataset)
    assert digests == dataset.sha256
    for name, array in arrays.items():
        np.testing.assert_array_equal(found[name], array)
    assert path == home / "cifar10.safetensors"
    assert sorted(each.suffix for each in home.iterdir()) == [".lock", ".safetensors"]


def test_without_the_variable_the_platform_chooses(monkeypatch):
    monkeypatch.delenv("DEPTHGAUGE_DATA")
    assert "depthgauge" in str(cache.cache_dir())


@pytest.mark.parametrize(("load", "name"), [(load_cifar10, "cifar10"), (load_cifar100, "cifar100")])
def test_missing_data_set_names_the_command(load, name):
    with pytest.raises(
        UserError, match=f"^{name} is not in the cache.*`depthgauge data fetch {name}`"
    ):
        load()


@pytest.mark.parametrize("size", [0, 5, 100, 20_000])
def test_truncated_file_names_the_command(size):
    dataset, _, path = store_small()
    os.truncate(path, size)
    with pytest.raises(UserError, match=r"cannot be read.*`depthgauge data fetch cifar10`"):
        cache.read(dataset)


@pytest.mark.parametrize(
    ("name", "array", "words"),
    [
        ("x_test", np.zeros((3, 3071), np.uint8), "x_test is uint8"),
        ("y_train", np.zeros(10, np.int64), "y_train is int64"),
        ("y_test", np.array([1, 2, 10], np.uint8), "y_test holds the label 10"),
    ],
)
def test_array_of_the_wrong_form_is_named(name, array, words):
    dataset, arrays, path = store_small()
    save_file({**arrays, name: array}, path)
    with pytest.raises(UserError, match=f"is damaged .{words}.*depthgauge data fetch cifar10"):
        cache.read(dataset)


def test_missing_array_is_named():
    dataset, arrays, path = store_small()
    del arrays["y_test"]
    save_file(arrays, path)
    with pytest.raises(UserError, match=r"y_test.*depthgauge data fetch cifar10"):
        cache.read(dataset)


@pytest.mark.parametrize(
    ("make", "load"), [(small_cifar10, load_cifar10), (small_cifar100, load_cifar100)]
)
def test_task_has_the_canonical_types(make, load):
    dataset, arrays = make()
    with cache.workspace(dataset.name, pytest.fail) as scratch:
        cache.store(dataset.name, arrays, {}, scratch)
    task = load(dataset)
    assert (task.name, task.num_classes) == (dataset.name, dataset.num_classes)
    assert (task.train.x.dtype, task.evaluation.y.dtype) == (torch.uint8, torch.int64)
    assert task.train.x.shape[1:] == (3, 32, 32)
    np.testing.assert_array_equal(task.train.x.flatten(1), arrays["x_train"])
    np.testing.assert_array_equal(task.evaluation.y, arrays["y_test"])
    assert task.pixels is not None
    assert (task.pixels.channels, task.pixels.height, task.pixels.width) == (3, 32, 32)


KILLED_BEFORE_RENAME = """
import os, signal, sys
from pathlib import Path
from rich.console import Console
from tasks.cifar_files import small_cifar10
from depthgauge.tasks.fetch import fetch_set

os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
fetch_set(small_cifar10()[0], sys.argv[1], Console(quiet=True))
"""


@pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL")
def test_killed_fetch_leaves_nothing_that_counts_as_finished(tmp_path):
    dataset, arrays = small_cifar10()
    source = write_binary10(tmp_path, arrays)
    command = [sys.executable, "-c", KILLED_BEFORE_RENAME, str(source)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    killed = subprocess.run(command, check=False, env=environment)
    assert killed.returncode == -signal.SIGKILL
    (left,) = cache.scratch_folders(dataset.name)
    assert (left / "draft.safetensors").exists()
    with pytest.raises(UserError, match="is not in the cache"):
        cache.read(dataset)
    with cache.workspace(dataset.name, pytest.fail) as scratch:
        assert list(scratch.iterdir()) == []
    assert cache.scratch_folders(dataset.name) == []


def test_second_fetch_waits_for_the_first():
    dataset, _ = small_cifar10()
    told, entered = threading.Event(), threading.Event()

    def second():
        with cache.workspace(dataset.name, told.set):
            entered.set()

    with cache.workspace(dataset.name, pytest.fail) as scratch:
        thread = threading.Thread(target=second)
        thread.start()
        assert told.wait(10)
        assert not entered.is_set()
        assert scratch.exists()
    thread.join(10)
    assert entered.is_set()


def test_cache_that_cannot_be_written_is_explained(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("DEPTHGAUGE_DATA", str(tmp_path / "file"))
    with (
        pytest.raises(UserError, match=r"cannot write to .* set DEPTHGAUGE_DATA"),
        cache.workspace("cifar10", pytest.fail),
    ):
        pass


def test_one_changed_bit_in_the_cache_is_refused_when_it_is_loaded():
    dataset, arrays, path = store_small()
    assert len(load_cifar10(dataset).train) == len(arrays["y_train"])
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(UserError, match=r"was changed .*`depthgauge data fetch cifar10`"):
        load_cifar10(dataset)
