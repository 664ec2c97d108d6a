"""The options of a study: the name, type, limits, default and description of each.

The command line, study files, their JSON schema and the keyword arguments in Python are all made
from the fields of `StudyConfig`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Any, Literal, get_origin

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)
from pydantic.fields import FieldInfo
from typing_extensions import Self

from depthgauge.config import Engine
from depthgauge.errors import OptionError
from depthgauge.recipe import (
    OptimizerName,
    Precision,
    Schedule,
    TrainingOptions,
    unused_fields,
)

LARGEST_SEED = 2**63 - 1

PUBLISHED_SEEDS = (42, 123, 456)


def _some_seeds(given: Any) -> Any:
    """Turn a number of seeds into a list: the three published seeds, then 457, 458 and so on."""
    if isinstance(given, int) and not isinstance(given, bool):
        if given < 1:
            raise ValueError("must be at least 1")
        later = range(PUBLISHED_SEEDS[-1] + 1, PUBLISHED_SEEDS[-1] + 1 + given)
        return [*PUBLISHED_SEEDS, *later][:given]
    return given


def _every_value(given: Any) -> Any:
    """Turn texts such as `penalty=0,0.01` into a mapping of names to lists of values."""
    if not isinstance(given, list | tuple):
        return given
    pairs = [_pair(text, "NAME=VALUE,VALUE") for text in given]
    _refuse_repeats([name for name, _ in pairs], "; write its values in one list")
    return {name: [value.strip() for value in values.split(",")] for name, values in pairs}


def _every_number(given: Any) -> Any:
    """Turn texts such as `growth=50` into a mapping of names to numbers."""
    if not isinstance(given, list | tuple):
        return given
    pairs = [_pair(text, "NAME=VALUE, with a number") for text in given]
    _refuse_repeats([name for name, _ in pairs])
    return dict(pairs)


def _pair(text: Any, form: str) -> tuple[str, str]:
    split = str.rpartition if "[" in str(text) else str.partition  # a label may have options
    name, equals, value = split(str(text), "=")
    if not (name.strip() and equals and all(part.strip() for part in value.split(","))):
        raise ValueError(f"cannot read {text!r}; write {form}")
    return name.strip(), value.strip()


def _refuse_repeats(values: list[Any], remedy: str = "") -> list[Any]:
    twice = [value for value, count in Counter(values).items() if count > 1]
    if twice:
        raise ValueError(f"has {twice[0]} more than once{remedy}")
    return values


def _known_device(name: str) -> str:
    if re.fullmatch(r"auto|cpu|cuda(:\d+)?", name) is None:
        raise ValueError(f"{name} is not known; choose auto, cpu, cuda or cuda:N")
    return name


def _no_bool(given: Any) -> Any:
    if isinstance(given, bool):
        raise ValueError("must be a whole number")
    return given


Whole = Annotated[int, Field(ge=1), BeforeValidator(_no_bool)]
NotNegative = Annotated[int, Field(ge=0), BeforeValidator(_no_bool)]
Seed = Annotated[int, Field(ge=0, le=LARGEST_SEED), BeforeValidator(_no_bool)]
Share = Annotated[float, Field(ge=0, le=1)]
Once = AfterValidator(_refuse_repeats)
Several = Field(min_length=1)
Value = str | int | float
Values = Annotated[list[Value], Several]


def of_training(name: str, **changes: Any) -> Any:
    """Return the field of this name as `TrainingOptions` defines it: limits, default, words."""
    field = TrainingOptions.model_fields[name]
    known = {"default": field.default, "description": field.description} | changes
    return Field(**known, **_limits_of(field))


def _limits_of(field: FieldInfo) -> dict[str, Any]:
    """Return the limits of a number, as arguments for `Field`."""
    names = ("gt", "ge", "lt", "le", "allow_inf_nan")
    return {
        name: limit
        for part in field.metadata
        for name in names
        if (limit := getattr(part, name, None)) is not None
    }


class StudyConfig(BaseModel):
    """A study: what to train, how and where to train it, and how to judge it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    task: str = Field(
        default="teacher", description="name of a task, path of your .npz, or file.py:function"
    )
    net: str = Field(
        default="residual_mlp",
        description="the network: a name, a name with options such as vit[patch=4], or "
        "file.py:function, which builds your own",
    )
    width: Whole | None = Field(default=None, description="width of the stream (the task's own)")
    depth: NotNegative = Field(default=4, description="number of blocks L")
    rules: Annotated[list[str], Several, Once] = Field(
        default=["bp", "fa", "dfa"],
        description="names, names with options such as dfa[normalise=batch], or file.py:Class",
    )
    vary: Annotated[dict[str, Values], BeforeValidator(_every_value)] = Field(
        default={},
        description="train every rule at each combination of these values of its options, the "
        "penalty, learning_rate or weight_decay: NAME=V1,V2",
    )
    controls: Annotated[list[str], Once] = Field(
        default=[],
        description="train every rule under these controls too: shallow, wide_block, "
        "random_targets, no_norm, no_skip",
    )
    floors: bool = Field(
        default=True,
        description="compare with a linear classifier of the input, and with the network without "
        "blocks trained by bp",
    )
    k: Annotated[list[NotNegative | Literal["all"]], Once] = Field(
        default=[],
        description="how many of the last blocks to train: numbers, or all. By default a ladder "
        "trains all numbers from 0 to L; an audit does so up to 8 blocks, beyond that 0, 1, 2, 4, "
        "…, L. An audit always adds 0 and L",
    )
    twins: bool = Field(
        default=True,
        description="also train the swap twins and confirming runs that the ladders need; without "
        "them used depth has no lower bound, since no rung can be shown to earn accuracy",
    )
    seeds: Annotated[list[Seed], Several, Once, BeforeValidator(_some_seeds)] = Field(
        default=list(PUBLISHED_SEEDS),
        description="seeds; Python and study files also take the number of seeds",
    )
    epochs: Whole | None = Field(default=None, description="epochs of training (the task's own)")
    batch_size: Whole = Field(default=128, description="samples in a batch")
    loss: str | None = Field(
        default=None,
        description="cross_entropy, squared_error, or path/to/file.py:Class (the task's own)",
    )
    optimizer: OptimizerName = of_training("optimizer")
    learning_rate: float = of_training("learning_rate")
    weight_decay: float = of_training("weight_decay")
    beta1: float = of_training("beta1")
    beta2: float = of_training("beta2")
    momentum: float = of_training("momentum")
    nesterov: bool = of_training("nesterov")
    schedule: Schedule = of_training("schedule")
    milestones: Annotated[list[Whole], Once] = of_training("milestones", default=[])
    step_factor: float = of_training("step_factor")
    embedding_rate: float = of_training("embedding_rate")
    blocks_rate: float = of_training("blocks_rate")
    readout_rate: float = of_training("readout_rate")
    dtype: Precision = Field(
        default="float32",
        description="precision of training; with bf16 only matrix products are in bfloat16",
    )
    validation: NotNegative = Field(
        default=0,
        description="hold out this many training samples, and measure accuracy on these instead "
        "of the test set",
    )
    select: Literal["validation"] | None = Field(
        default=None,
        description="with vary: train every setting and find the best on held-out training samples "
        "(a tenth, or the number of validation); then audit each rule unvaried and at its best "
        "setting",
    )
    thresholds: Annotated[dict[str, float], BeforeValidator(_every_number)] = Field(
        default={}, description="other values for thresholds of the protocol: NAME=VALUE"
    )
    strict: bool = Field(
        default=False, description="exit with status 3 if a verdict is walk back or shallow"
    )
    checkpoints: str | None = Field(
        default=None,
        description="train nothing: audit the networks in this folder, named LABEL_sSEED.pt; "
        "rules and seeds choose which (all)",
    )
    blocks: str | None = Field(
        default=None,
        description="with your own net: dotted path to the net's blocks (blocks)",
    )
    frozen_acc: Annotated[dict[str, Share], BeforeValidator(_every_number)] = Field(
        default={},
        description="with checkpoints: the accuracy of a rule with frozen blocks, LABEL=SHARE",
    )
    out: str | None = Field(
        default=None, description="folder of the study; the same folder continues the study"
    )
    device: Annotated[str, AfterValidator(_known_device)] = Field(
        default="auto", description="auto, cpu, cuda, cuda:1, …"
    )
    threads: Whole | None = Field(default=None, description="threads of each process (1)")
    cohort: Whole | None = Field(
        default=None,
        description="the most runs that are trained together; fewer if memory is short (15)",
    )
    engine: Engine | None = Field(
        default=None,
        description="cohort trains many runs at once; plain trains them one by one, for reference",
    )
    save_every: Annotated[float, Field(ge=0)] = Field(
        default=60.0, description="seconds between checkpoints"
    )
    executor: Literal["local", "ray", "slurm"] = Field(
        default="local",
        description="where to train: on this machine, on a Ray cluster, or on a Slurm cluster, for "
        "which the script of an array job is written",
    )
    submit: bool = Field(
        default=False, description="with executor slurm: submit the script with sbatch"
    )
    address: str | None = Field(
        default=None,
        description="address of the Ray cluster (a cluster that runs on this machine, else a new "
        "one that is started for this command)",
    )

    @model_validator(mode="after")
    def _options_fit_each_other(self) -> Self:
        if self.submit and self.executor != "slurm":
            raise OptionError(
                "submit", "--submit needs --executor slurm; add it, or leave out --submit"
            )
        if self.address is not None and self.executor != "ray":
            raise OptionError(
                "address", "--address needs --executor ray; add it, or leave out --address"
            )
        if self.blocks is not None and self.own_net is None:
            raise OptionError(
                "blocks",
                "--blocks needs --net file.py:function, since the package's networks know their "
                "blocks; for the number of blocks use --depth",
            )
        if self.own_net is not None and (given := self._given_size) is not None:
            raise OptionError(
                given,
                f"--{given} is for networks of the package; {self.net} decides its own size, so "
                f"leave out --{given}",
            )
        if self.frozen_acc and self.checkpoints is None:
            raise OptionError(
                "frozen_acc",
                "--frozen-acc needs --checkpoints; without --checkpoints the networks with frozen "
                "blocks are trained, so leave out --frozen-acc",
            )
        if self.engine == "plain" and self.dtype == "bf16":
            raise OptionError(
                "dtype",
                "--engine plain has no bf16; use --engine cohort, or --dtype float32",
            )
        self._check_recipe()
        if self.select and not self.vary:
            raise OptionError(
                "select", "--select needs settings to choose from; add --vary NAME=V1,V2,…"
            )
        highest = max((k for k in self.k if isinstance(k, int)), default=0)
        if highest > self.depth and self.own_net is None:
            raise OptionError(
                "k",
                f"--k {highest} is not possible: the network has {self.depth} blocks; choose k "
                f"from 0 to {self.depth}",
            )
        return self

    def _check_recipe(self) -> None:
        """Refuse an option that the optimizer or schedule does not have, unless they are varied."""
        names = TrainingOptions.model_fields.keys() & type(self).model_fields.keys()
        own = {name: getattr(self, name) for name in names}
        varied = [name for name in ("optimizer", "schedule", "momentum") if name in self.vary]
        for name, choice in unused_fields(own).items():
            if name in self.model_fields_set and not varied:
                raise OptionError(
                    name,
                    f"--{name.replace('_', '-')} has no effect with {choice}; leave it out, or "
                    f"choose another {choice.split()[1]}",
                )
        if self.schedule == "steps" and not self.milestones and "milestones" not in self.vary:
            raise OptionError(
                "milestones",
                "--schedule steps needs the epochs after which the rate falls; add --milestones "
                "30 60",
            )

    @property
    def own_net(self) -> str | None:
        """The function that builds the user's network; None for a network of the package."""
        return self.net if ":" in self.net else None

    @property
    def _given_size(self) -> str | None:
        """The first option that gives the size of a network of the package, if any is given."""
        given = (name for name in ("width", "depth") if name in self.model_fields_set)
        return next(given, None)

    @property
    def variations(self) -> dict[str, list[str]]:
        """The values of the option `vary` as texts, by the name of the varied option."""
        return {name: [str(value) for value in values] for name, values in self.vary.items()}

    def changed(self, **changes: Any) -> StudyConfig:
        """Return a copy of the configuration with some options changed, validated again."""
        own = {name: getattr(self, name) for name in self.model_fields_set}
        return study_config(own | changes)


AUDIT_ONLY = frozenset({"select", "thresholds", "strict", "checkpoints", "frozen_acc"})
"""Options that `audit` has and `ladder` does not."""


def study_config(given: Mapping[str, Any]) -> StudyConfig:
    """Return a `StudyConfig` with these options.

    Raises:
        OptionError: an option is not known, or its value is not possible; the message names the
            first such option.
    """
    try:
        return StudyConfig(**given)
    except ValidationError as error:
        raise option_error(error) from error


def option_error(error: ValidationError) -> OptionError:
    """Turn the first of pydantic's errors into an OptionError that names the option."""
    first, *others = error.errors()
    option, *inside = (str(part) for part in first["loc"] or ("",))
    if first["type"] == "extra_forbidden":
        known = ", ".join(StudyConfig.model_fields)
        return OptionError(option, f"there is no option {option}; there are: {known}")
    value = first["input"]
    shown = f" {value}" if isinstance(value, str | int | float) else ""
    if inside and get_origin(StudyConfig.model_fields[option].annotation) is dict:
        shown = f" {inside[0]}={value}"
    same_place = [first, *(other for other in others if other["loc"][:2] == first["loc"][:2])]
    reasons = dict.fromkeys(map(_reason, same_place))
    return OptionError(option, f"--{option.replace('_', '-')}{shown}: {' or '.join(reasons)}")


def _reason(complaint: Any) -> str:
    """Return in words what is wrong with a value, from one of pydantic's errors."""
    kind, context = complaint["type"], complaint.get("ctx", {})
    if kind == "value_error":
        return str(context["error"])
    if kind in REASONS:
        return REASONS[kind].format(**context)
    message = str(complaint["msg"])
    return message[0].lower() + message[1:]


REASONS = {
    **dict.fromkeys(("int_parsing", "int_type", "int_from_float"), "must be a whole number"),
    **dict.fromkeys(("float_parsing", "float_type"), "must be a number"),
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
    "greater_than": "must be greater than {gt}",
    "less_than": "must be less than {lt}",
    "finite_number": "must be finite",
    "too_short": "is empty; give at least one",
    "literal_error": "choose {expected}",
    "list_type": "must be a list",
    "dict_type": "must be a table of names and values",
    "string_type": "must be a text",
    **dict.fromkeys(("bool_type", "bool_parsing"), "must be true or false"),
}
"""The words for each kind of pydantic's errors."""
