"""Build a network with a user's own function, and load weights into it."""

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
from depthgauge.user_code.python_file import import_file

MOST_CHARACTERS = 200
"""The most that is quoted of torch's message about weights that do not fit."""


def build_network(reference: str, option: str = "--net", seed: int | None = None) -> nn.Module:
    """Call a user's function, and return the network that it makes.

    Args:
        reference: `module:function` or `file.py:function`.
        option: the command-line option that names the function, for error messages.
        seed: passed to the function if the function has an argument `seed`.
    """
    module_name, _, function_name = reference.rpartition(":")
    if not module_name or not function_name:
        raise UserError(
            f"{option} {reference!r} must be written module:function or file.py:function"
        )
    module = _import_module(module_name)
    if not hasattr(module, function_name):
        raise UserError(f"{module_name} has no function {function_name}; check {option}")
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
    except ValueError:  # some functions written in C have no signature
        return False


def _import_module(name: str) -> ModuleType:
    """Import a module by its name (also from the working folder), or by its file."""
    try:
        if name.endswith(".py"):
            return _import_file(Path(name))
        with _on_path(Path.cwd()):
            return importlib.import_module(name)
    except UserError:
        raise
    except Exception as error:
        raise UserError(f"{name} cannot be imported: {one_line(error)}") from error


def _import_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise UserError(f"there is no file {path}; give the file that builds the network")
    identity = hashlib.sha256(bytes(path.resolve()) + path.read_bytes()).hexdigest()
    with _on_path(path.parent.resolve()):
        return import_file(f"depthgauge_net_{identity}", path)


@contextmanager
def _on_path(folder: Path) -> Iterator[None]:
    """Let Python import modules from this folder inside the `with` block."""
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))


def load_weights(net: nn.Module, state_dict: Mapping[str, Tensor], name: str) -> nn.Module:
    """Load weights into a network and return it; raise a UserError if they do not fit."""
    try:
        net.load_state_dict(state_dict)
    except RuntimeError as error:
        raise UserError(f"{name} does not fit the network: {first_misfit(error)}") from error
    return net


def first_misfit(error: RuntimeError) -> str:
    """Return the first misfit in torch's message about weights; a long text is shortened."""
    lines = [line.strip() for line in str(error).splitlines()[1:] if line.strip()]
    first = lines[0].rstrip(".") if lines else str(error)
    return first if len(first) <= MOST_CHARACTERS else f"{first[:MOST_CHARACTERS]} …"
