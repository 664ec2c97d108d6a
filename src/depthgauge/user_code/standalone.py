"""Turn a class or function of a notebook into a standalone Python file.

The file has the imports, constants, functions and classes that the definition uses, so any process
can import the file. The same definitions give the same text.
"""

from __future__ import annotations
import __future__

import ast
import builtins
import hashlib
import inspect
import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from depthgauge.errors import UserError
from depthgauge.user_code.definition import (
    MAIN,
    main_texts,
    namespace_of,
    own_functions,
    written_source,
)
from depthgauge.user_code.global_names import annotation_names, dotted_names, global_names

IN_EVERY_MODULE = ("__name__", "__file__", "__doc__")


@dataclass(frozen=True)
class StandaloneSource:
    """A Python text that defines the class or function `name` and everything that it uses."""

    text: str
    name: str

    @property
    def checksum(self) -> str:
        """The SHA-256 of the text."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    def save(self, folder: Path) -> str:
        """Write the text to a file in the folder, and return `path.py:Name`."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{self.checksum[:16]}.py"
        unfinished = path.with_suffix(".tmp")
        unfinished.write_bytes(self.text.encode())
        unfinished.replace(path)
        return f"{path}:{self.name}"


def standalone_source(value: Any) -> StandaloneSource:
    """Return the source of a class or function together with everything that it uses."""
    collected = _Collected()
    collected.add(value)
    parts = [
        f'"""{value.__name__}, with what it uses."""\n',
        "from __future__ import annotations\n" if collected.postponed else "",
        "".join(f"{line}\n" for line in sorted(collected.imports)),
        "".join(f"{name} = {text}\n" for name, text in sorted(collected.constants.items())),
        "\n\n".join(collected.definitions),
    ]
    return StandaloneSource("\n".join(part for part in parts if part), value.__name__)


class _Collected:
    """The parts of a standalone file; each definition comes after the definitions that it uses."""

    def __init__(self) -> None:
        self.imports: set[str] = set()
        self.constants: dict[str, str] = {}
        self.definitions: list[str] = []
        self.postponed = False
        self._added: list[Any] = []

    def add(self, value: Any) -> None:
        """Add the definition of a class or function, after the definitions that it uses."""
        if any(value is added for added in self._added):
            return
        self._added.append(value)
        text, namespace = written_source(value), namespace_of(value)
        _refuse_outdated_bases(value, text, namespace)
        postponed = _postpones_annotations(value)
        self.postponed |= postponed
        optional = annotation_names(text) if postponed else set()
        for name in sorted(global_names(text) - {value.__name__, *IN_EVERY_MODULE}):
            if name in namespace:
                self._add_used(name, namespace, value, text)
            elif not hasattr(builtins, name) and name not in optional:
                raise UserError(
                    f"{value.__name__} uses {name}, which is not defined; define {name} or import "
                    "it"
                )
        self.definitions.append(text)

    def _add_used(self, name: str, namespace: Mapping[str, Any], user: Any, text: str) -> None:
        """Add one name that a definition uses: an import, a constant, or another definition."""
        used = namespace[name]
        constant = _as_constant(used)
        if isinstance(used, ModuleType):
            self.imports |= _import_module(name, used, text)
        elif constant is not None:
            self.constants[name] = constant
        elif _is_defined_in(namespace, used):
            definition = inspect.unwrap(used)
            self.add(definition)
            if definition.__name__ != name:
                self.definitions.append(f"{name} = {definition.__name__}\n")
        else:
            self.imports.add(_import_name(name, namespace, user))


def _postpones_annotations(value: Any) -> bool:
    """Return whether the value was defined under `from __future__ import annotations`."""
    flag = __future__.annotations.compiler_flag
    written = inspect.get_annotations(value).values()
    return any(function.__code__.co_flags & flag for function in own_functions(value)) or any(
        isinstance(annotation, str) for annotation in written
    )


def _refuse_outdated_bases(value: Any, text: str, namespace: Mapping[str, Any]) -> None:
    """Refuse a class whose base class was defined again later.

    In a file, the class would get the new base instead of the base that it has.
    """
    (node,) = ast.parse(text).body
    for base in node.bases if isinstance(node, ast.ClassDef) else []:
        current = namespace.get(base.id) if isinstance(base, ast.Name) else None
        if isinstance(current, type) and current not in value.__bases__:
            raise UserError(
                f"{value.__name__} has an old version of its base class {current.__name__}, which "
                f"was defined again later; run the cell of {value.__name__} once more"
            )


def _is_defined_in(namespace: Mapping[str, Any], value: Any) -> bool:
    """Return whether `value` is a class or function that the notebook itself defines."""
    if getattr(value, "__module__", None) != namespace.get("__name__"):
        return False
    definition = inspect.unwrap(value)
    named = isinstance(definition, type) or inspect.isfunction(definition)
    return named and definition.__qualname__.isidentifier()


def _as_constant(value: Any) -> str | None:
    """Return `value` as Python text if it is a plain constant, else None."""
    if type(value) is float and not math.isfinite(value):
        return f'float("{value}")'
    if value is None or type(value) in (bool, int, float, str, bytes):
        return repr(value)
    if type(value) is dict:
        parts = [_as_constant(part) for pair in value.items() for part in pair]
        pairs = zip(parts[::2], parts[1::2], strict=True)
        return None if None in parts else f"{{{', '.join(f'{key}: {v}' for key, v in pairs)}}}"
    if type(value) in (tuple, list):
        items = [_as_constant(item) for item in value]
        inside = "".join(f"{item}, " for item in items)
        return None if None in items else f"({inside})" if type(value) is tuple else f"[{inside}]"
    return None


def _import_module(name: str, module: ModuleType, text: str) -> set[str]:
    """Return lines that import a module and all of its submodules that the text uses."""
    if module.__name__ != name:
        return {f"import {module.__name__} as {name}"}
    parts = [used for used in dotted_names(text) if used.startswith(f"{name}.")]
    return {f"import {used}" for used in [name, *parts] if used in sys.modules}


def _import_name(name: str, namespace: Mapping[str, Any], user: Any) -> str:
    """Return a line that imports `name`.

    The line imports `name` from the module that defines it. If this is not possible, the line
    repeats an import that the user wrote.
    """
    value = namespace[name]
    module = getattr(value, "__module__", None)
    homes = [(module, getattr(value, "__name__", name)), (module, name)]
    for home, attribute in [*homes, *_written_imports(name, namespace)]:
        if home in MAIN:
            continue
        if getattr(sys.modules.get(str(home)), str(attribute), namespace) is value:
            renamed = "" if attribute == name else f" as {name}"
            return f"from {home} import {attribute}{renamed}"
    kind = type(value)
    raise UserError(
        f"{user.__name__} uses {name}, which is a {kind.__module__}.{kind.__qualname__} and cannot "
        f"be saved as text; import {name} from a module, make {name} an option, or put "
        f"{user.__name__} into a file and give path/to/file.py:{user.__name__}"
    )


def _written_imports(name: str, namespace: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return (module, name in the module) for each notebook import of `name`, newest first."""
    found = []
    for text in main_texts(namespace):
        try:
            nodes = list(ast.walk(ast.parse(text)))
        except SyntaxError:
            continue
        for node in nodes:
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                aliases = [alias for alias in node.names if (alias.asname or alias.name) == name]
                found += [(node.module, alias.name) for alias in aliases]
    return found
