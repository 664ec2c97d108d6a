"""The devices that tests run on: a GPU's only where there is one."""

from __future__ import annotations

import pytest
import torch

needs_cuda = pytest.mark.skipif(
    not torch.cuda.is_available(), reason="there is no CUDA device on this machine"
)

CUDA = pytest.param("cuda", marks=needs_cuda)
