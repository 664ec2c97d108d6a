"""The real CIFAR-10, if it has been fetched."""

from __future__ import annotations

import pytest

from depthgauge.tasks import cache
from depthgauge.tasks.cifar_sets import CIFAR10
from depthgauge.tasks.data_set import sha256_by_name


@pytest.mark.cifar
@pytest.mark.usefixtures("cifar10")
def test_it_has_the_published_digests():
    arrays, _ = cache.read(CIFAR10)
    assert sha256_by_name(arrays) == CIFAR10.sha256
