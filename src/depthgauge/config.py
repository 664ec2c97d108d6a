"""The validated configuration of a run, and the hash that identifies the run."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property
from typing import Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    SerializerFunctionWrapHandler,
    model_serializer,
)

from depthgauge.config_part import ConfigPart
from depthgauge.recipe import Precision, Recipe, TrainingOptions

__all__ = [
    "Engine",
    "Intervention",
    "NetConfig",
    "Precision",
    "Recipe",
    "RuleConfig",
    "RunConfig",
    "SharedConfig",
    "TaskConfig",
    "TrainingOptions",
    "identity_of",
]

SCHEMA_VERSION: Literal[1] = 1
IDENTITY_DIGITS = 16

Engine = Literal["cohort", "plain"]
"""How runs are trained: many at once (cohort), or one by one with autograd (plain).

The results agree.
"""


class TaskConfig(ConfigPart):
    """The task of a run, with the checksum of its data."""

    name: str
    checksum: str
    evaluated_on: Literal["test", "validation"] = "test"


class NetConfig(ConfigPart):
    """The network of a run; its input size and number of classes come from the task.

    `options` has all options of a network that is chosen with brackets, defaults included.
    `package` names the version of the installed package that offers the network; it is empty for a
    network of this package.

    A user's network has a `source`: the hash of its file, and the function that builds it. Its
    numbers of blocks and of features are what the network has. `block_path` is the dotted path to
    its blocks; without one, the blocks are its attribute `blocks`.
    """

    name: str = "residual_mlp"
    width: int = Field(default=64, ge=1)
    blocks: int = Field(default=4, ge=0)
    residual_add: bool = True
    w2_std: float = Field(default=0.01, ge=0, allow_inf_nan=False)
    terminal_norm: bool = True
    hidden: int | None = Field(default=None, ge=1)
    options: dict[str, JsonValue] = Field(default={})
    package: str = ""
    source: str = ""
    block_path: str | None = None
    added = frozenset({"hidden", "options", "package", "source", "block_path"})

    @property
    def is_residual_mlp(self) -> bool:
        """Whether this is the package's residual multilayer perceptron."""
        return self.name == type(self).model_fields["name"].default and not self.source


class RuleConfig(ConfigPart):
    """The rule of a run with all its options, defaults included.

    `label` is the rule's name in tables. `source` is a hash or version of its code, to tell apart
    rules of the same name.
    """

    name: str
    label: str
    options: dict[str, JsonValue] = Field(default={})
    source: str = ""


class SharedConfig(BaseModel):
    """The configuration that all runs of a study, or all networks of an audit, share."""

    model_config = ConfigDict(frozen=True)

    task: TaskConfig
    net: NetConfig | None = None
    """None if the networks were trained elsewhere."""
    recipe: Recipe | None = None
    """None if the networks were trained elsewhere."""
    checkpoints: str | None = None
    """The folder with the networks, if they were trained elsewhere."""
    factory: str | None = None
    """The user's function that builds networks trained elsewhere: `file.py:function`."""
    blocks: str | None = None
    """The dotted path to the blocks in networks trained elsewhere."""
    frozen_acc: dict[str, float] = {}
    """The accuracies with frozen blocks that the user gave, by label; they were not measured."""

    @model_serializer(mode="wrap")
    def _without_defaults(self, serialise: SerializerFunctionWrapHandler) -> dict[str, object]:
        written: dict[str, object] = serialise(self)
        return {name: value for name, value in written.items() if value not in (None, {})}


class Intervention(ConfigPart):
    """The exceptions among the last k blocks: blocks that the rule does not train.

    Blocks are counted from 0; block 0 is next to the embedding.
    """

    swapped: tuple[int, ...] = ()
    """Blocks whose credit is replaced by noise of the same norm for each sample."""
    frozen: tuple[int, ...] = ()
    """Blocks that keep their initial values."""
    added = frozenset({"swapped", "frozen"})


NO_INTERVENTION = Intervention()


class RunConfig(ConfigPart):
    """One run: one network, one rule, one seed, and the last k blocks trained.

    All runs of a rule that have no intervention form the rule's ladder. Among them, the runs with
    the same k form one rung. A run with an intervention is compared with a rung, to measure what
    the rule adds on this rung.
    """

    schema_version: Literal[1] = SCHEMA_VERSION
    task: TaskConfig
    net: NetConfig
    rule: RuleConfig
    recipe: Recipe
    k: int = Field(ge=0)
    seed: int = Field(ge=0, lt=2**63)
    intervention: Intervention = NO_INTERVENTION
    added = frozenset({"intervention"})

    @cached_property
    def identity(self) -> str:
        """The hash of the configuration, which names the run's folder."""
        return identity_of(
            self.task,
            self.net,
            self.rule,
            self.recipe,
            k=self.k,
            seed=self.seed,
            intervention=self.intervention,
            schema_version=self.schema_version,
        )

    @property
    def is_rung(self) -> bool:
        """Whether all of the last k blocks follow the rule."""
        return self.intervention == NO_INTERVENTION

    @property
    def rung(self) -> str:
        """The rung as text, for example `4 (block 0 on noise)`.

        The text has k and, in brackets, the blocks that do not follow the rule.
        """
        changed = self.intervention
        named = ((changed.swapped, "on noise"), (changed.frozen, "frozen"))
        words = [f"{_blocks(blocks)} {how}" for blocks, how in named if blocks]
        return str(self.k) + (f" ({', '.join(words)})" if words else "")

    @property
    def is_full(self) -> bool:
        """Whether the network has blocks and all of them follow the rule."""
        return self.is_rung and self.k == self.net.blocks > 0


def _blocks(numbers: Sequence[int]) -> str:
    return f"block{'s' if len(numbers) > 1 else ''} {' and '.join(map(str, numbers))}"


def identity_of(
    task: TaskConfig,
    net: NetConfig,
    rule: RuleConfig,
    recipe: Recipe,
    *,
    k: int,
    seed: int,
    intervention: Intervention = NO_INTERVENTION,
    schema_version: int = SCHEMA_VERSION,
) -> str:
    """Return the hash of a run's whole configuration.

    The configuration is first written as JSON with sorted keys. Many runs share parts of their
    configuration, so the JSON text is put together from the cached texts of the parts.
    """
    first = "" if intervention == NO_INTERVENTION else f'"intervention":{intervention.as_text},'
    text = (
        f'{{{first}"k":{k},"net":{net.as_text},"recipe":{recipe.as_text},"rule":{rule.as_text},'
        f'"schema_version":{schema_version},"seed":{seed},"task":{task.as_text}}}'
    )
    return hashlib.sha256(text.encode()).hexdigest()[:IDENTITY_DIGITS]
