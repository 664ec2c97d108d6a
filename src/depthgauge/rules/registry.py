"""Finding a rule: by its built-in name, by entry point, or as a class in a file.

A rule is written on the command line as `dfa`, `dfa[normalise=batch,epsilon=1e-3]`,
`path/to/my_rule.py:MyRule`, or the last with options in brackets.
"""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import re
import sys
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import get_args

from pydantic import ValidationError

from depthgauge.errors import UserError, one_line
from depthgauge.rules.bp import BP
from depthgauge.rules.contract import Need, Rule, RuleOptions

ENTRY_POINT_GROUP = "depthgauge.rules"
BUILT_IN = {
    "bp": "depthgauge.rules.bp:BP",
    "fa": "depthgauge.rules.fa:FA",
    "dfa": "depthgauge.rules.dfa:DFA",
    "state_bridge": "depthgauge.rules.state_bridge:StateBridge",
    "credit_bridge": "depthgauge.rules.credit_bridge:CreditBridge",
    "ep": "depthgauge.rules.ep:EP",
    "sdfa": "depthgauge.rules.sdfa:SignDFA",
    "drtp": "depthgauge.rules.drtp:DRTP",
}


@dataclass(frozen=True)
class RuleChoice:
    """A rule class with validated options, ready to be put into a run's configuration.

    `text` is how the user wrote it. `source` tells rules of the same name apart: the SHA-256 of the
    file and the class for a user's own (what the file imports is not looked at), the package's
    version for an installed one, nothing for those of depthgauge itself.
    """

    rule_class: type[Rule]
    options: RuleOptions
    text: str
    source: str = ""

    @cached_property
    def label(self) -> str:
        """The rule's name, with the options that differ from its defaults in brackets."""
        given, default = self.options.model_dump(), self.rule_class.Options().model_dump()
        varied = [f"{name}={value}" for name, value in given.items() if value != default[name]]
        return self.rule_class.name + (f"[{','.join(varied)}]" if varied else "")

    def build(self) -> Rule:
        """The rule itself."""
        return self.rule_class(self.options)


def known_rules() -> dict[str, str]:
    """Names and references (`module:Class`) of all built-in and installed third-party rules."""
    installed = {point.name: point.value for point in entry_points(group=ENTRY_POINT_GROUP)}
    return installed | BUILT_IN


def choose_rule(text: str) -> RuleChoice:
    """The rule that `text` names, with the options in its brackets."""
    match = re.fullmatch(r"(?P<reference>[^\[\]]+)(\[(?P<options>[^\[\]]*)\])?", text.strip())
    if match is None:
        raise UserError(f"cannot read the rule {text!r}; write it as dfa or dfa[normalise=batch]")
    reference = match["reference"]
    source = ""
    if ".py:" in reference:
        rule_class, source = _load_from_file(reference)
    else:
        rule_class, source = load_known(reference), _source_of_known(reference)
    options = _parse_options(rule_class, match["options"] or "")
    return RuleChoice(rule_class, options, text, source)


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
    return _checked(candidate, name)


def _source_of_known(name: str) -> str:
    if name in BUILT_IN:
        return ""
    point = next(point for point in entry_points(group=ENTRY_POINT_GROUP) if point.name == name)
    version = f"{point.dist.name}=={point.dist.version}" if point.dist is not None else ""
    return f"{version}:{point.value}"


def _load_from_file(reference: str) -> tuple[type[Rule], str]:
    file_name, _, class_name = reference.rpartition(":")
    path = Path(file_name)
    if not path.is_file():
        raise UserError(f"there is no file {file_name} to take the rule {class_name} from")
    source = hashlib.sha256(path.read_bytes()).hexdigest()
    module_name = f"depthgauge_rule_{source[:16]}"
    spec = importlib.util.spec_from_file_location(module_name, path)
    if spec is None or spec.loader is None:
        raise UserError(f"{file_name} cannot be loaded as Python")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise UserError(f"{file_name} cannot be imported: {one_line(error)}") from error
    if not hasattr(module, class_name):
        raise UserError(f"{file_name} has no class {class_name}")
    return _checked(getattr(module, class_name), reference), f"{source}:{class_name}"


def _checked(candidate: object, reference: str) -> type[Rule]:
    if not (isinstance(candidate, type) and issubclass(candidate, Rule)):
        raise UserError(
            f"{reference} is not a rule: it must be a subclass of depthgauge.rules.contract.Rule"
        )
    for attribute in ("name", "summary"):
        if not isinstance(getattr(candidate, attribute, None), str):
            raise UserError(f"the rule {reference} must set `{attribute}` to a text")
    if inspect.isabstract(candidate):
        raise UserError(f"the rule {reference} does not define `credit`")
    if candidate.end_to_end and candidate is not BP:
        raise UserError(
            f"the rule {reference} sets `end_to_end`, which only bp may: it skips `credit`"
        )
    try:
        candidate.Options()
    except ValidationError as error:
        raise UserError(f"every option of the rule {reference} must have a default") from error
    unknown = sorted(candidate.needs - set(get_args(Need)))
    if unknown:
        raise UserError(
            f"the rule {reference} needs {', '.join(map(repr, unknown))}, which does not exist; a "
            f"rule may need: {', '.join(get_args(Need))}"
        )
    return candidate


def _parse_options(rule_class: type[Rule], text: str) -> RuleOptions:
    pairs = [part.partition("=") for part in text.split(",") if part.strip()]
    values = {name.strip(): value.strip() for name, _, value in pairs}
    if len(values) < len(pairs):
        raise UserError(f"the rule {rule_class.name} is given an option twice: {text}")
    try:
        return rule_class.Options.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        valid = ", ".join(rule_class.Options.model_fields)
        raise UserError(
            f"option {name!r} of the rule {rule_class.name}: {first['msg']}; "
            f"its options are: {valid}"
        ) from error
