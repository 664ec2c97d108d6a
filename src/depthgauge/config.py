"""The validated configuration of a run, and the hash that identifies the run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    SerializerFunctionWrapHandler,
    model_serializer,
)
from typing_extensions import Self

SCHEMA_VERSION: Literal[1] = 1
IDENTITY_DIGITS = 16

Engine = Literal["cohort", "plain"]
"""How runs are trained: many at once (cohort), or one by one with autograd (plain).

The results agree.
"""

Precision = Literal["float32", "float64", "bf16"]
"""The precision of training. bf16: matrices are multiplied in bfloat16, the rest is float32."""

_TEXTS: dict[tuple[type, str], str] = {}
"""The cache of `as_text`, by class and values of the fields."""


class _Config(BaseModel):
    """A part of a run's configuration.

    `added` lists the fields that later versions of the class added. An added field is written only
    if its value is not the default, so that the hashes of earlier runs do not change.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    added: ClassVar[frozenset[str]] = frozenset()

    @model_serializer(mode="wrap")
    def _without_added_defaults(
        self, serialise: SerializerFunctionWrapHandler
    ) -> dict[str, object]:
        written: dict[str, object] = serialise(self)
        fields = type(self).model_fields
        unchanged = {name for name in self.added if getattr(self, name) == fields[name].default}
        return {name: value for name, value in written.items() if name not in unchanged}

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a validated copy with changes; cached values are not copied."""
        own = {name: getattr(self, name) for name in type(self).model_fields}
        return type(self)(**own | dict(update or {}))

    @cached_property
    def as_text(self) -> str:
        """The configuration as JSON with sorted keys and no spaces.

        Many runs share the same parts, so the text of each part is made once.
        """
        fields = (type(self), repr(self.__dict__))
        if fields not in _TEXTS:
            written = self.model_dump(mode="json")
            _TEXTS[fields] = json.dumps(written, sort_keys=True, separators=(",", ":"))
        return _TEXTS[fields]


class TaskConfig(_Config):
    """The task of a run, with the checksum of its data."""

    name: str
    checksum: str
    evaluated_on: Literal["test", "validation"] = "test"


class NetConfig(_Config):
    """The network of a run; its input size and number of classes come from the task.

    A user's network has a `source`: the hash of its file, and the function that builds it. Its
    numbers of blocks and of features are what the network has. `block_path` is the dotted path to
    its blocks; without one, the blocks are its attribute `blocks`.
    `options` has all options of a network that is chosen with brackets, defaults included.
    """

    name: str = "residual_mlp"
    width: int = Field(default=64, ge=1)
    blocks: int = Field(default=4, ge=0)
    residual_add: bool = True
    w2_std: float = Field(default=0.01, ge=0, allow_inf_nan=False)
    terminal_norm: bool = True
    hidden: int | None = Field(default=None, ge=1)
    options: dict[str, JsonValue] = {}
    source: str = ""
    block_path: str | None = None
    added = frozenset({"hidden", "options", "source", "block_path"})

    @property
    def is_residual_mlp(self) -> bool:
        """Whether this is the package's residual multilayer perceptron."""
        return self.name == type(self).model_fields["name"].default and not self.source


class RuleConfig(_Config):
    """The rule of a run with all its options, defaults included.

    `label` is the rule's name in tables. `source` is a hash or version of its code, to tell apart
    rules of the same name.
    """

    name: str
    label: str
    options: dict[str, JsonValue] = {}
    source: str = ""


class TrainingOptions(_Config):
    """The part of a recipe that may differ between the rules of one study."""

    learning_rate: float = Field(
        default=1e-3, gt=0, allow_inf_nan=False, description="AdamW's learning rate at the start"
    )
    weight_decay: float = Field(
        default=0.01, ge=0, allow_inf_nan=False, description="AdamW's weight decay"
    )
    penalty: float = Field(
        default=0.0,
        ge=0,
        allow_inf_nan=False,
        description="λ: adds λ times the mean over samples of Σ f_l² to each block's loss",
    )
    added = frozenset({"penalty"})


class Recipe(TrainingOptions):
    """How a run is trained: by AdamW, with a learning rate that falls to zero along a cosine.

    The learning rate changes once per epoch.
    With `targets="random"`, every batch gets new labels, drawn uniformly from the classes.
    """

    epochs: int = Field(default=100, ge=1)
    batch_size: int = Field(default=128, ge=1)
    dtype: Precision = "float32"
    targets: Literal["true", "random"] = "true"
    added = frozenset({"penalty", "targets"})


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


class Intervention(_Config):
    """The exceptions among the last k blocks: blocks that the rule does not train.

    Blocks are counted from 0; block 0 is next to the embedding.
    """

    swapped: tuple[int, ...] = ()
    """Blocks whose credit is replaced by noise of the same norm for each sample."""
    frozen: tuple[int, ...] = ()
    """Blocks that keep their initial values."""
    added = frozenset({"swapped", "frozen"})


NO_INTERVENTION = Intervention()


class RunConfig(_Config):
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
