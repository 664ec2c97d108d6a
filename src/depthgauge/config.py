"""The full configuration of a run, validated, and the hash that names it."""

from __future__ import annotations

import hashlib
import json
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

SCHEMA_VERSION: Literal[1] = 1
IDENTITY_DIGITS = 16


class _Config(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class TaskConfig(_Config):
    """Which data, down to the bytes."""

    name: str
    checksum: str
    evaluated_on: Literal["test", "validation"] = "test"


class NetConfig(_Config):
    """Which network; `input_dim` and `num_classes` follow from the task."""

    name: str = "residual_mlp"
    width: int = Field(default=64, ge=1)
    blocks: int = Field(default=4, ge=0)
    residual_add: bool = True
    w2_std: float = Field(default=0.01, ge=0, allow_inf_nan=False)
    terminal_norm: bool = True


class RuleConfig(_Config):
    """Which rule, with every option, defaults written out; `label` is how tables call it."""

    name: str
    label: str
    options: dict[str, Any] = {}
    source: str = ""


class Recipe(_Config):
    """How it is trained: AdamW, cosine to zero stepped once an epoch."""

    epochs: int = Field(default=100, ge=1)
    batch_size: int = Field(default=128, ge=1)
    learning_rate: float = Field(default=1e-3, gt=0, allow_inf_nan=False)
    weight_decay: float = Field(default=0.01, ge=0, allow_inf_nan=False)
    dtype: Literal["float32", "float64"] = "float32"


class RunConfig(_Config):
    """One run: one network, one rule, one seed, its last k blocks trained."""

    schema_version: Literal[1] = SCHEMA_VERSION
    task: TaskConfig
    net: NetConfig
    rule: RuleConfig
    recipe: Recipe
    k: int = Field(ge=0)
    seed: int = Field(ge=0, lt=2**63)

    @property
    def identity(self) -> str:
        """Hash of the whole configuration: the name of the run's folder."""
        text = json.dumps(self.model_dump(mode="json"), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:IDENTITY_DIGITS]
