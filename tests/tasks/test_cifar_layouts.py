"""The readers of CIFAR's file layouts: what they accept and what they refuse."""

from __future__ import annotations

import os
import pickle
import tarfile
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tasks.cifar_files import (
    CIFAR10_WRITERS,
    CIFAR100_WRITERS,
    pack,
    python2_pickle,
    small_cifar10,
    small_cifar100,
    write_binary10,
    write_npm10,
    write_python10,
)

from depthgauge.errors import UserError
from depthgauge.tasks import cifar_layouts
from depthgauge.tasks.cifar_layouts import read_layout

CASES = [(small_cifar10, *case) for case in CIFAR10_WRITERS.items()]
CASES += [(small_cifar100, *case) for case in CIFAR100_WRITERS.items()]


def assert_same(found, arrays):
    assert found.keys() == arrays.keys()
    for name, array in arrays.items():
        assert found[name].dtype == np.uint8
        np.testing.assert_array_equal(found[name], array)


@pytest.mark.parametrize(("make", "archive", "write"), CASES)
def test_reads_the_layout_folder_itself_its_parent_and_the_archive(tmp_path, make, archive, write):
    dataset, arrays = make()
    folder = write(tmp_path / "files", arrays)
    packed = pack(folder, tmp_path / "packed" / archive)
    for source in (folder, folder.parent, packed.parent):
        assert_same(read_layout(dataset, source), arrays)


def test_channels_of_the_png_layout_are_apart(tmp_path):
    dataset, arrays = small_cifar10()
    arrays["x_test"][:] = np.repeat([10, 20, 30], 1024)
    found = read_layout(dataset, write_npm10(tmp_path, arrays))
    assert (
        found["x_test"][0, [0, 1023, 1024, 2047, 2048, 3071]].tolist()
        == [10] * 2 + [20] * 2 + [30] * 2
    )


def test_empty_folder_is_refused_with_what_is_looked_for(tmp_path):
    with pytest.raises(UserError, match=r"holds no cifar10.*cifar-10-batches-bin/"):
        read_layout(small_cifar10()[0], tmp_path)


@pytest.mark.parametrize("write", CIFAR10_WRITERS.values())
def test_missing_file_is_named(tmp_path, write):
    dataset, arrays = small_cifar10()
    folder = write(tmp_path, arrays)
    missing = next(folder.glob("test_batch*"))
    missing.unlink()
    with pytest.raises(UserError, match=missing.name):
        read_layout(dataset, folder)


@pytest.mark.parametrize(("make", "archive", "write"), CASES)
def test_truncated_file_is_named(tmp_path, make, archive, write):
    dataset, arrays = make()
    folder = write(tmp_path, arrays)
    for victim in folder.iterdir():
        whole = victim.read_bytes()
        victim.write_bytes(whole[: len(whole) // 2])
        with pytest.raises(UserError, match=victim.name):
            read_layout(dataset, folder)
        victim.write_bytes(whole)


def test_truncated_archive_is_named(tmp_path):
    dataset, arrays = small_cifar10()
    archive = pack(write_binary10(tmp_path / "files", arrays), tmp_path / "cifar-10-binary.tar.gz")
    os.truncate(archive, archive.stat().st_size // 2)
    with pytest.raises(UserError, match=r"cifar-10-binary\.tar\.gz is truncated or damaged"):
        read_layout(dataset, tmp_path)


@settings(max_examples=60, deadline=None)
@given(
    case=st.sampled_from(CASES),
    packed=st.booleans(),
    which=st.integers(0, 7),
    at=st.integers(0, 200) | st.integers(0, 50_000),
    flip=st.integers(1, 255),
)
def test_damage_never_escapes_as_another_error(case, packed, which, at, flip):
    make, archive, write = case
    dataset, arrays = make()
    with tempfile.TemporaryDirectory() as home:
        place = write(Path(home), arrays)
        files = sorted(place.iterdir())
        victim = files[which % len(files)]
        if packed:
            victim = pack(place, Path(home) / "packed" / archive)
            place = victim.parent
        content = bytearray(victim.read_bytes())
        content[at % len(content)] ^= flip
        victim.write_bytes(content)
        try:
            found = read_layout(dataset, place)
        except UserError:
            return
        assert {name: array.shape for name, array in found.items()} == dataset.shapes


class Malicious:
    """Unpickling it calls a function of the attacker's choice."""

    def __init__(self, marker):
        self.marker = marker

    def __reduce__(self):
        return (os.mkdir, (str(self.marker),))


@pytest.mark.parametrize("dump", [python2_pickle, pickle.dumps])
def test_malicious_pickle_is_refused_and_not_run(tmp_path, dump):
    dataset, arrays = small_cifar10()
    folder = write_python10(tmp_path, arrays)
    marker = tmp_path / "attacked"
    (folder / "data_batch_2").write_bytes(dump({b"data": Malicious(marker)}))
    with pytest.raises(UserError, match=r"data_batch_2 is refused: the pickle asks for \w+\.mkdir"):
        read_layout(dataset, folder)
    assert not marker.exists()


def test_pickle_of_a_current_python_and_numpy_is_read(tmp_path):
    dataset, arrays = small_cifar10()
    folder = write_python10(tmp_path, arrays)
    batch = {b"labels": arrays["y_test"].tolist(), b"data": arrays["x_test"]}
    (folder / "test_batch").write_bytes(pickle.dumps(batch, protocol=4))
    assert_same(read_layout(dataset, folder), arrays)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ([1, 2], "holds a list"),
        ({b"labels": [1, 2, 3]}, "no uint8 array"),
        ({b"labels": [1, 2, 3], b"data": np.zeros((3, 3072))}, "no uint8 array"),
        ({b"labels": [1, 2, 3], b"data": np.zeros((2, 3072), np.uint8)}, "images of shape"),
        ({b"labels": [1, 2], b"data": np.zeros((3, 3072), np.uint8)}, "list of 3 labels"),
        ({b"labels": [1, 2, 300], b"data": np.zeros((3, 3072), np.uint8)}, "whole numbers"),
    ],
)
def test_pickle_of_something_else_is_refused(tmp_path, content, words):
    dataset, arrays = small_cifar10()
    folder = write_python10(tmp_path, arrays)
    (folder / "test_batch").write_bytes(python2_pickle(content))
    with pytest.raises(UserError, match=f"test_batch .*{words}"):
        read_layout(dataset, folder)


@pytest.mark.parametrize("name", ["../escaped", "/tmp/escaped", "cifar-10-batches-bin/../../x"])
def test_archive_that_reaches_outside_is_refused(tmp_path, name):
    dataset, arrays = small_cifar10()
    folder = write_binary10(tmp_path / "files", arrays)
    pack(folder, tmp_path / "cifar-10-binary.tar.gz", tarfile.TarInfo(name))
    with pytest.raises(UserError, match=r"refused: its member .* is not a plain file"):
        read_layout(dataset, tmp_path)


def test_archive_with_a_link_is_refused(tmp_path):
    dataset, arrays = small_cifar10()
    folder = write_binary10(tmp_path / "files", arrays)
    link = tarfile.TarInfo("cifar-10-batches-bin/data_batch_1.bin")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/hostname"
    pack(folder, tmp_path / "cifar-10-binary.tar.gz", link)
    with pytest.raises(UserError, match="is not a plain file"):
        read_layout(dataset, tmp_path)


def test_file_larger_than_any_of_cifar_is_refused_unread(tmp_path):
    dataset, arrays = small_cifar10()
    folder = write_binary10(tmp_path / "files", arrays)
    os.truncate(folder / "data_batch_4.bin", cifar_layouts.LARGEST_FILE + 1)
    with pytest.raises(UserError, match=r"data_batch_4\.bin is refused: no file of CIFAR"):
        read_layout(dataset, folder)
