"""The types of tensors for each precision of training."""

from __future__ import annotations

import torch

DTYPES = {"float32": torch.float32, "float64": torch.float64, "bf16": torch.float32}
"""The type of the parameters. With bf16, only matrix products are in bfloat16."""
