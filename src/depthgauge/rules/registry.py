"""Finding a rule: by its built-in name, by entry point, or as a class in a file."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

from depthgauge.errors import UserError, one_line
from depthgauge.rules.contract import Rule
from depthgauge.rules.declared import checked
from depthgauge.rules.known import BUILT_IN, installed_rules, known_rules


def find_rule(reference: str) -> tuple[type[Rule], str]:
    """The rule class, and what tells it from others of its name.

    That is the SHA-256 of the file and the class for a user's own (what the file imports is not
    looked at), the package's version for an installed one, nothing for those of depthgauge itself.
    """
    if ".py:" in reference:
        return _load_from_file(reference)
    return load_known(reference), _source_of_known(reference)


def file_of_rule(text: str) -> Path | None:
    """The file that a rule is taken from, as it was typed; None if it is not from a file."""
    return Path(text[: text.index(".py:") + 3]) if ".py:" in text else None


def from_file(text: str, path: Path) -> str:
    """The same rule, taken from another file."""
    return f"{path}{text[text.index('.py:') + 3 :]}"


def load_known(name: str) -> type[Rule]:
    """The rule class of a built-in or installed rule."""
    rules = known_rules()
    if name not in rules:
        raise UserError(
            f"there is no rule called {name!r}; there are: {', '.join(sorted(rules))}; "
            "your own is written path/to/file.py:Class"
        )
    module, _, attribute = rules[name].partition(":")
    try:
        candidate = getattr(import_module(module), attribute)
    except Exception as error:
        raise UserError(
            f"the installed rule {name!r} cannot be loaded: {one_line(error)}"
        ) from error
    return checked(candidate, name)


def _source_of_known(name: str) -> str:
    if name in BUILT_IN:
        return ""
    point = installed_rules()[name]
    version = f"{point.dist.name}=={point.dist.version}" if point.dist is not None else ""
    return f"{version}:{point.value}"


def _load_from_file(reference: str) -> tuple[type[Rule], str]:
    file_name, _, class_name = reference.rpartition(":")
    path = Path(file_name)
    if not path.is_file():
        raise UserError(f"there is no file {file_name} to take the rule {class_name} from")
    source = hashlib.sha256(path.read_bytes()).hexdigest()
    module = _imported(f"depthgauge_rule_{source[:16]}", path)
    if not hasattr(module, class_name):
        raise UserError(f"{file_name} has no class {class_name}")
    rule_class = checked(getattr(module, class_name), reference)
    if rule_class.name in known_rules():
        raise UserError(
            f"the rule {reference} is called {rule_class.name}, as one that there is already; "
            "choose another `name`"
        )
    return rule_class, f"{source}:{class_name}"


def _imported(name: str, path: Path) -> ModuleType:
    """The file as a module; the same content is imported once."""
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise UserError(f"{path} cannot be loaded as Python")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise UserError(f"{path} cannot be imported: {one_line(error)}") from error
    return module
