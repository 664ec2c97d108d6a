"""A network from a user's own code."""

from __future__ import annotations

import hashlib
import importlib
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from torch import Tensor, nn

from depthgauge.errors import UserError, one_line
from depthgauge.sources.python_file import import_file

LONGEST = 200
"""Of a complaint that lists every parameter, this much is enough."""


def build_from(reference: str, option: str = "--net", seed: int | None = None) -> nn.Module:
    """The network that `module:function` or `file.py:function` makes, called without arguments.

    One that takes a `seed` is given it where there is one. `option` is what the user typed the
    reference after.
    """
    module_name, _, function_name = reference.rpartition(":")
    if not module_name or not function_name:
        raise UserError(
            f"{option} {reference!r} must be written module:function or file.py:function"
        )
    module = _module(module_name)
    if not hasattr(module, function_name):
        raise UserError(f"{module_name} has no {function_name}")
    function = getattr(module, function_name)
    try:
        net = function(seed=seed) if seed is not None and _takes_seed(function) else function()
    except Exception as error:
        raise UserError(f"{reference} cannot make its network: {one_line(error)}") from error
    if not isinstance(net, nn.Module):
        raise UserError(f"{reference} returns {type(net).__name__}, not a torch.nn.Module")
    return net


def _takes_seed(function: Callable[..., object]) -> bool:
    try:
        return "seed" in inspect.signature(function).parameters
    except ValueError:  # some that are written in C do not say
        return False


def _module(name: str) -> ModuleType:
    """A module by its name, looked for in the working folder too, or by its file."""
    try:
        if name.endswith(".py"):
            return _from_file(Path(name))
        with _on_path(Path.cwd()):
            return importlib.import_module(name)
    except UserError:
        raise
    except Exception as error:
        raise UserError(f"{name} cannot be imported: {one_line(error)}") from error


def _from_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise UserError(f"there is no file {path} to take the network from")
    identity = hashlib.sha256(bytes(path.resolve()) + path.read_bytes()).hexdigest()
    with _on_path(path.parent.resolve()):
        return import_file(f"depthgauge_net_{identity}", path)


@contextmanager
def _on_path(folder: Path) -> Iterator[None]:
    """What is imported inside may lie in that folder."""
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))


def load_weights(net: nn.Module, state_dict: Mapping[str, Tensor], name: str) -> nn.Module:
    """The network with these weights; what does not fit is said in one sentence."""
    try:
        net.load_state_dict(state_dict)
    except RuntimeError as error:
        raise UserError(f"{name} does not fit the network: {first_complaint(error)}") from error
    return net


def first_complaint(error: RuntimeError) -> str:
    """The first thing that torch says does not fit."""
    lines = [line.strip() for line in str(error).splitlines()[1:] if line.strip()]
    first = lines[0].rstrip(".") if lines else str(error)
    return first if len(first) <= LONGEST else f"{first[:LONGEST]} …"
