"""Parse a network as users write it: its name and, in brackets, its options."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from pydantic import ValidationError

from depthgauge.brackets import parse_brackets
from depthgauge.config import NetConfig
from depthgauge.errors import UserError
from depthgauge.nets.architectures.contract import NetOptions, Network
from depthgauge.nets.residual_mlp import ResidualMLP
from depthgauge.registry import NETS

NetClass = type[Network] | type[ResidualMLP]


@dataclass(frozen=True)
class NetChoice:
    """A network of the package, or of an installed package, with validated options.

    Attributes:
        name: the name that finds the class.
        net_class: the class of the network.
        options: its validated options.
        package: the version of the installed package that offers it; "" if it is of this package.
    """

    name: str
    net_class: NetClass
    options: NetOptions
    package: str = ""

    @cached_property
    def text(self) -> str:
        """The network's name with, in brackets, all options that are not defaults."""
        usual = options_of(self.net_class)().model_dump()
        varied = [f"{n}={v}" for n, v in self.options.model_dump().items() if v != usual[n]]
        return self.name + (f"[{','.join(varied)}]" if varied else "")

    @property
    def usual_width(self) -> int | None:
        """The width that the network has by default; None if the task decides."""
        return self.net_class.usual_width if issubclass(self.net_class, Network) else None

    def config(self, width: int, blocks: int) -> NetConfig:
        """Return the network as a run's configuration holds it."""
        options = self.options.model_dump(mode="json")
        return NetConfig(
            name=self.name, width=width, blocks=blocks, options=options, package=self.package
        )


def choose_net(text: str) -> NetChoice:
    """Find the network that `text` names, and validate the options in its brackets."""
    parts = parse_brackets(text, "net", "vit or vit[patch=4,heads=4]")
    net_class, package = NETS.find(parts.reference)
    options = options_of(net_class)
    for word in parts.words:
        if word in options.model_fields:
            raise UserError(f"the option {word!r} of the net {text} has no value; write {word}=…")
    for name in [*parts.words, *parts.options]:
        if name not in options.model_fields:
            raise UserError(f"the net {parts.reference} has no option {name!r}; {_list(options)}")
    try:
        chosen = options.model_validate(parts.options)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        raise UserError(
            f"option {name!r} of the net {parts.reference}: {first['msg']}; {_list(options)}"
        ) from error
    return NetChoice(parts.reference, net_class, chosen, package)


def options_of(net_class: NetClass) -> type[NetOptions]:
    """Return the options of a network; ResidualMLP has none in brackets."""
    return net_class.Options if issubclass(net_class, Network) else NetOptions


def _list(options: type[NetOptions]) -> str:
    return f"its options are: {', '.join(options.model_fields) or 'none'}"
