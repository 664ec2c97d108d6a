"""One registry: rules, networks, tasks, gauges, diagnostics and loggers.

Each is found by its name, by an installed package's entry point, or as `path/to/file.py:Name`; a
class or function that is handed over gets such a text too. Nothing is imported before it is asked
for, so that `depthgauge --help` answers without torch.
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
from depthgauge.sources.definition import file_of_definition
from depthgauge.sources.python_file import import_file, read_literals
from depthgauge.sources.standalone import standalone_source

if TYPE_CHECKING:
    from depthgauge.gauges.reading import Gauge
    from depthgauge.nets.residual_mlp import ResidualMLP
    from depthgauge.rules.contract import Rule
    from depthgauge.tasks.registry import TaskEntry

T = TypeVar("T")


@dataclass(frozen=True)
class Kind(Generic[T]):
    """A kind of thing that can be registered.

    Attributes:
        noun: what messages call one of them; its plural names the entry points' group.
        built_in: by name, where those of this package are (`module:Attribute`), or the thing.
        check: where the function is that takes what was found and how the user named it, and
            returns what is used; it refuses what is no such thing.
        own: how a message says that users can bring their own.
    """

    noun: str
    built_in: dict[str, str | T] = field(default_factory=dict)
    check: str = ""
    own: str = ""

    @property
    def group(self) -> str:
        """The group of entry points, such as `depthgauge.rules`."""
        return f"depthgauge.{self.noun}s"

    @cached_property
    def installed(self) -> dict[str, EntryPoint]:
        """Those of installed packages; looking through all packages takes a while, so once."""
        points = {point.name: point for point in entry_points(group=self.group)}
        return {name: point for name, point in points.items() if name not in self.built_in}

    @property
    def names(self) -> list[str]:
        """All that have a name: built-in ones first."""
        return list(dict.fromkeys([*self.built_in, *self.installed]))

    def find(self, reference: str) -> tuple[T, str]:
        """Return what `reference` names, and its source: what tells it from others of its name.

        The source is part of a run's identity. It is empty for those of this package, the package's
        version for an installed one, and the SHA-256 of the file with the name in it for a user's
        own; what the file imports is not looked at.
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

    def reference(self, handed_over: object, sources: Path) -> str:
        """Return the text by which `find` finds a class or function that was handed over.

        One that has a name keeps it. One from a file is `file.py:Name`. The source of one from a
        notebook, or from the script that is running, is saved in the folder `sources`.
        """
        name = getattr(handed_over, "__qualname__", None)
        if name is None:
            raise UserError(
                f"{handed_over!r} is no {self.noun}; give a name, path/to/file.py:Name, or a class"
            )
        where = f"{handed_over.__module__}:{name}"
        for known in self.names:
            point = self.installed.get(known)
            if where == (point.value if point else self.built_in[known]):
                return known
        path = file_of_definition(handed_over)
        return f"{path}:{name}" if path else standalone_source(handed_over).save(sources)

    def summary(self, name: str) -> str:
        """Return the line that says what `name` is, read off the source of a built-in class."""
        return str(self.attribute(name, "summary", ""))

    def attribute(self, name: str, attribute: str, default: object) -> object:
        """Return an attribute of what `name` is, read off the source of a built-in class."""
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
                f"the installed {self.noun} {name!r} cannot be loaded: {one_line(error)}"
            ) from error
        return self._checked(candidate, name)

    def _checked(self, candidate: Any, reference: str) -> T:
        check: Callable[[Any, str], T] | None = load(self.check) if self.check else None
        return check(candidate, reference) if check else candidate

    def _find_in_file(self, reference: str) -> tuple[T, str]:
        file_name, _, name = reference.rpartition(":")
        path = Path(file_name)
        if not path.is_file():
            raise UserError(f"there is no file {file_name} to take the {self.noun} {name} from")
        source = hashlib.sha256(path.read_bytes()).hexdigest()
        module = import_file(f"depthgauge_{self.noun}_{source[:16]}", path)
        if not hasattr(module, name):
            raise UserError(f"{file_name} has no class or function {name}")
        found = self._checked(getattr(module, name), reference)
        taken = getattr(found, "name", None)
        if taken in self.names:
            raise UserError(
                f"the {self.noun} {reference} is called {taken}, as one that there is already; "
                "choose another `name`"
            )
        return found, f"{source}:{name}"


def load(where: str) -> Any:
    """Return what `module:Attribute` names."""
    module, _, attribute = where.partition(":")
    return getattr(import_module(module), attribute)


def file_of(reference: str) -> Path | None:
    """Return the file in a reference, as it was typed; None if it is not from a file."""
    return Path(reference[: reference.index(".py:") + 3]) if ".py:" in reference else None


def in_file(reference: str, path: Path) -> str:
    """Return the reference to the same name in another file."""
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
NETS: Kind[type[ResidualMLP]] = Kind(
    "net",
    {"residual_mlp": "depthgauge.nets.residual_mlp:ResidualMLP"},
    check="depthgauge.nets.registry:validate_net",
)
TASKS: Kind[TaskEntry] = Kind(
    "task",
    {
        "teacher": "depthgauge.tasks.registry:TEACHER",
        "digits": "depthgauge.tasks.registry:DIGITS",
        "cifar10": "depthgauge.tasks.registry:CIFAR10",
        "cifar100": "depthgauge.tasks.registry:CIFAR100",
    },
    check="depthgauge.tasks.registry:validate_task",
    own="a path that ends in .npz, or path/to/file.py:function",
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
