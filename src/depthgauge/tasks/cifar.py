"""Load CIFAR-10 and CIFAR-100 from the cache that `depthgauge data fetch` fills."""

from __future__ import annotations

import torch

from depthgauge.errors import UserError
from depthgauge.tasks import cache
from depthgauge.tasks.base import Pixels, Split, Task
from depthgauge.tasks.cifar_sets import (
    CHANNELS,
    CIFAR10,
    CIFAR100,
    HEIGHT,
    WIDTH,
    CifarSet,
)
from depthgauge.tasks.data_set import find_wrong_digest, sha256_by_name


def load_cifar10(dataset: CifarSet = CIFAR10) -> Task:
    """Load CIFAR-10: 60,000 colour images of 32×32 pixels in 10 classes."""
    return _load(dataset, mean=(0.4914, 0.4822, 0.4465), std=(0.2470, 0.2435, 0.2616))


def load_cifar100(dataset: CifarSet = CIFAR100) -> Task:
    """Load CIFAR-100: images like those of CIFAR-10, in 100 classes (the fine labels)."""
    return _load(dataset, mean=(0.5071, 0.4865, 0.4409), std=(0.2673, 0.2564, 0.2762))


def _load(dataset: CifarSet, mean: tuple[float, ...], std: tuple[float, ...]) -> Task:
    """Read a data set from the cache; refuse arrays that have changed since they were fetched."""
    arrays, recorded = cache.read(dataset)
    wrong = find_wrong_digest(sha256_by_name(arrays), dataset.sha256 or recorded)
    if wrong:
        raise UserError(
            f"{cache.path_of(dataset.name)} was changed ({wrong}); get it again with "
            f"`depthgauge data fetch {dataset.name}`"
        )
    tensors = {name: torch.from_numpy(array) for name, array in arrays.items()}
    image = (-1, CHANNELS, HEIGHT, WIDTH)
    return Task(
        name=dataset.name,
        train=Split(tensors["x_train"].view(image), tensors["y_train"].long()),
        evaluation=Split(tensors["x_test"].view(image), tensors["y_test"].long()),
        num_classes=dataset.num_classes,
        pixels=Pixels(CHANNELS, HEIGHT, WIDTH, mean, std),
    )
