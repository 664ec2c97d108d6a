"""The registry: find rules, networks, tasks, losses, gauges and so on by name.

A name may be built in, an entry point of an installed package, or `path/to/file.py:Name`. Nothing
is imported before it is needed, so that `depthgauge --help` does not wait for torch.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from depthgauge.errors import UserError, one_line
from depthgauge.user_code.definition import file_of_definition
from depthgauge.user_code.python_file import import_file, read_literals
from depthgauge.user_code.standalone import standalone_source

if TYPE_CHECKING:
    from depthgauge.gauges.reading import Gauge
    from depthgauge.losses.contract import Loss
    from depthgauge.nets.architectures.choice import NetClass
    from depthgauge.rules.contract import Rule
    from depthgauge.tasks.registry import TaskEntry

T = TypeVar("T")


@dataclass(frozen=True)
class Kind(Generic[T]):
    """A kind of entry in the registry, such as rules.

    Attributes:
        noun: the word for an entry in messages; entry points are in the group `depthgauge.NOUNs`.
        built_in: the entries of this package by name, each as `module:Attribute` or as an object.
        check: the function that checks an entry, as `module:function`. The function takes the
            object and the user's text for it, and returns the object to use, or raises UserError.
        own: the words in messages that tell users how to name an entry of their own.
    """

    noun: str
    built_in: dict[str, str | T] = field(default_factory=dict)
    check: str = ""
    own: str = ""

    @property
    def group(self) -> str:
        """The group of entry points, such as `depthgauge.rules`."""
        return f"depthgauge.{self.noun}{'es' if self.noun.endswith('s') else 's'}"

    @cached_property
    def installed(self) -> dict[str, EntryPoint]:
        """The entry points of installed packages by name (cached, since the search is slow)."""
        points = {point.name: point for point in entry_points(group=self.group)}
        return {name: point for name, point in points.items() if name not in self.built_in}

    @property
    def names(self) -> list[str]:
        """All names, built-in ones first."""
        return list(dict.fromkeys([*self.built_in, *self.installed]))

    def find(self, reference: str) -> tuple[T, str]:
        """Return the object that `reference` names, and a text that identifies its source.

        The text is part of a run's identity, and tells apart objects of the same name. For an
        object of this package it is empty. For an installed package it has the package's version.
        For a user's file it has the SHA-256 of the file, but not of modules that the file imports.
        """
        if ".py:" in reference:
            return self._find_in_file(reference)
        if reference in self.built_in:
            return self._load(reference, self.built_in[reference]), ""
        if reference in self.installed:
            point = self.installed[reference]
            version = f"{point.dist.name}=={point.dist.version}" if point.dist is not None else ""
            return self._load(reference, point.value), f"{version}:{point.value}"
        own = f"; your own is {self.own}" if self.own else ""
        raise UserError(
            f"there is no {self.noun} called {reference!r}; "
            f"there are: {', '.join(sorted(self.names))}{own}"
        )

    def reference(self, value: object, sources: Path) -> str:
        """Return the text with which `find` finds a class or function.

        A registered class is found by its name, a class from a file by `file.py:Name`. The source
        of a class from a notebook or the running script is first saved in the folder `sources`.
        """
        name = getattr(value, "__qualname__", None)
        if name is None:
            raise UserError(
                f"{value!r} is no {self.noun}; give a name, path/to/file.py:Name, or a class"
            )
        where = f"{value.__module__}:{name}"
        for known in self.names:
            point = self.installed.get(known)
            if where == (point.value if point else self.built_in[known]):
                return known
        path = file_of_definition(value)
        return f"{path}:{name}" if path else standalone_source(value).save(sources)

    def summary(self, name: str) -> str:
        """Return the line that describes the entry `name`, without importing a built-in class."""
        return str(self.attribute(name, "summary", ""))

    def attribute(self, name: str, attribute: str, default: object) -> object:
        """Return an attribute of the entry `name`, without importing a built-in class."""
        where = self.built_in.get(name)
        literals = read_literals(where) if isinstance(where, str) else {}
        if literals:
            return literals.get(attribute, default)
        return getattr(self.find(name)[0], attribute, default)

    def _load(self, name: str, where: str | T) -> T:
        try:
            candidate = load(where) if isinstance(where, str) else where
        except Exception as error:
            raise UserError(
                f"the installed {self.noun} {name!r} cannot be loaded: {one_line(error)}; "
                "reinstall its package"
            ) from error
        return self._checked(candidate, name)

    def _checked(self, candidate: Any, reference: str) -> T:
        check: Callable[[Any, str], T] | None = load(self.check) if self.check else None
        return check(candidate, reference) if check else candidate

    def _find_in_file(self, reference: str) -> tuple[T, str]:
        file_name, _, name = reference.rpartition(":")
        path = Path(file_name)
        if not path.is_file():
            raise UserError(
                f"there is no file {file_name}, which should define the {self.noun} {name}; check "
                "the path"
            )
        source = hashlib.sha256(path.read_bytes()).hexdigest()
        module = import_file(f"depthgauge_{self.noun}_{source[:16]}", path)
        if not hasattr(module, name):
            raise UserError(f"the file {file_name} has no class or function {name}; check the name")
        found = self._checked(getattr(module, name), reference)
        taken = getattr(found, "name", None)
        if taken in self.names:
            raise UserError(
                f"the {self.noun} {reference} has the name {taken}, which is taken by another "
                f"{self.noun}; choose another `name`"
            )
        return found, f"{source}:{name}"


def load(where: str) -> Any:
    """Import and return the object that `module:Attribute` names."""
    module, _, attribute = where.partition(":")
    return getattr(import_module(module), attribute)


def file_of(reference: str) -> Path | None:
    """Return the path in a reference such as `mine.py:Name`; None if it names no file."""
    return Path(reference[: reference.index(".py:") + 3]) if ".py:" in reference else None


def in_file(reference: str, path: Path) -> str:
    """Return the reference with its path replaced: `other.py:Name` for `mine.py:Name`."""
    return f"{path}{reference[reference.index('.py:') + 3 :]}"


RULES: Kind[type[Rule]] = Kind(
    "rule",
    {
        "bp": "depthgauge.rules.bp:BP",
        "fa": "depthgauge.rules.fa:FA",
        "dfa": "depthgauge.rules.dfa:DFA",
        "state_bridge": "depthgauge.rules.state_bridge:StateBridge",
        "credit_bridge": "depthgauge.rules.credit_bridge:CreditBridge",
        "ep": "depthgauge.rules.ep:EP",
        "sdfa": "depthgauge.rules.sdfa:SignDFA",
        "drtp": "depthgauge.rules.drtp:DRTP",
        "noise": "depthgauge.rules.noise:Noise",
    },
    check="depthgauge.rules.validation:validate_rule",
    own="written path/to/file.py:Class",
)
NETS: Kind[NetClass] = Kind(
    "net",
    {
        "residual_mlp": "depthgauge.nets.residual_mlp:ResidualMLP",
        "vit": "depthgauge.nets.architectures.vit:ViT",
        "resnet": "depthgauge.nets.architectures.resnet:ResNet",
        "cnn": "depthgauge.nets.architectures.cnn:CNN",
        "gpt": "depthgauge.nets.architectures.gpt:GPT",
    },
    check="depthgauge.nets.registry:validate_net",
)
TASKS: Kind[TaskEntry] = Kind(
    "task",
    {
        "teacher": "depthgauge.tasks.registry:TEACHER",
        "digits": "depthgauge.tasks.registry:DIGITS",
        "pointers": "depthgauge.tasks.registry:POINTERS",
        "cifar10": "depthgauge.tasks.registry:CIFAR10",
        "cifar100": "depthgauge.tasks.registry:CIFAR100",
        "shakespeare": "depthgauge.tasks.registry:SHAKESPEARE",
    },
    check="depthgauge.tasks.registry:validate_task",
    own="a path that ends in .npz, or path/to/file.py:function",
)
LOSSES: Kind[type[Loss]] = Kind(
    "loss",
    {
        "cross_entropy": "depthgauge.losses.cross_entropy:CrossEntropy",
        "squared_error": "depthgauge.losses.squared_error:SquaredError",
    },
    check="depthgauge.losses.registry:validate_loss",
    own="written path/to/file.py:Class",
)
GAUGES: Kind[type[Gauge]] = Kind(
    "gauge",
    {
        "accuracy": "depthgauge.gauges.accuracy:AccuracyGauge",
        "alignment": "depthgauge.gauges.alignment:AlignmentGauge",
        "lesion": "depthgauge.gauges.lesion:LesionGauge",
        "nudging": "depthgauge.gauges.nudging:NudgingGauge",
        "numerics": "depthgauge.gauges.numerics:NumericsGauge",
        "perturbation": "depthgauge.gauges.perturbation:PerturbationGauge",
        "reference": "depthgauge.gauges.reference:ReferenceGauge",
        "rewind": "depthgauge.gauges.rewind:RewindGauge",
        "scale": "depthgauge.gauges.scale:ScaleGauge",
        "stability": "depthgauge.gauges.stability:StabilityGauge",
    },
)
DIAGNOSTICS: Kind[Any] = Kind("diagnostic")
LOGGERS: Kind[Any] = Kind("logger")
