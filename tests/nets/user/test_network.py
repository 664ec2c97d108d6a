"""A network from a user's own code, and weights for it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import torch
from gauges.small_networks import make_net
from torch import nn

from depthgauge.errors import UserError
from depthgauge.nets.user.network import build_network, load_weights

CODE = """
from torch import nn

number = 3

def make():
    return nn.Linear(number, 2)

def demand(width):
    return nn.Linear(width, 2)

def fail():
    raise ValueError("no such\\n width")

def text():
    return "a network"

class Net(nn.Linear):
    def __init__(self):
        super().__init__(7, 1)
"""


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """A working folder with the user's code in it; what is imported there is forgotten again."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "users_nets.py").write_text(CODE)
    package = tmp_path / "users_package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "nets.py").write_text("from users_nets import make\n")
    known = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - known:
        if name.startswith("users_"):
            del sys.modules[name]


@pytest.mark.parametrize(
    ("reference", "inputs"),
    [
        ("users_nets:make", 3),
        ("users_nets:Net", 7),
        ("users_package.nets:make", 3),
        ("users_nets.py:make", 3),
        ("./users_nets.py:Net", 7),
    ],
)
def test_by_module_or_file_from_the_working_folder(folder, reference, inputs):
    path = list(sys.path)
    net = build_network(reference)
    assert isinstance(net, nn.Linear)
    assert net.in_features == inputs
    assert sys.path == path


def test_by_the_whole_path_of_a_file(folder, tmp_path_factory, monkeypatch):
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    assert build_network(f"{folder / 'users_nets.py'}:make").in_features == 3


def test_by_an_installed_module(folder):
    assert type(build_network("torch.nn:Identity")) is nn.Identity


def test_an_edited_file_is_read_again(folder):
    assert build_network("users_nets.py:make").in_features == 3
    (folder / "users_nets.py").write_text(CODE.replace("number = 3", "number = 11"))
    assert build_network("users_nets.py:make").in_features == 11


def test_a_file_may_have_dataclasses(folder):
    (folder / "users_config.py").write_text(
        "from __future__ import annotations\n"
        "from dataclasses import dataclass\n"
        "from torch import nn\n"
        "@dataclass\n"
        "class Config:\n"
        "    width: int = 5\n"
        "def make():\n"
        "    return nn.Linear(Config().width, 2)\n"
    )
    assert build_network("users_config.py:make").in_features == 5


def test_a_file_may_import_its_neighbours(folder, tmp_path_factory, monkeypatch):
    (folder / "users_main.py").write_text("from users_nets import make\n")
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    assert build_network(f"{folder / 'users_main.py'}:make").in_features == 3


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("make", "'make' must be written module:function or file.py:function"),
        (":make", "':make' must be written module:function or file.py:function"),
        ("users_nets:", "'users_nets:' must be written module:function or file.py:function"),
        ("nowhere.py:make", "there is no file nowhere.py"),
        ("users_nowhere:make", "users_nowhere cannot be imported: ModuleNotFoundError"),
        ("users_nets:create", "users_nets has no function create"),
        ("users_nets.py:create", "users_nets.py has no function create"),
        ("users_nets:fail", "users_nets:fail cannot make its network: ValueError: no such width"),
        ("users_nets:demand", "users_nets:demand cannot make its network: TypeError"),
        ("users_nets:number", "users_nets:number cannot make its network: TypeError"),
        ("users_nets:text", "users_nets:text returns str, not a torch.nn.Module"),
    ],
)
def test_what_cannot_be_made_is_said_in_one_sentence(folder, reference, expected):
    path = list(sys.path)
    with pytest.raises(UserError) as caught:
        build_network(reference)
    assert expected in str(caught.value)
    assert "\n" not in str(caught.value)
    assert sys.path == path


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("def make(:\n", "SyntaxError"),
        ("import users_no_such_module\n", "users_no_such_module"),
        ("raise RuntimeError('too\\nearly')\n", "RuntimeError: too early"),
    ],
)
@pytest.mark.parametrize("name", ["users_broken", "users_broken.py"])
def test_code_that_cannot_be_imported_is_named_with_its_error(folder, code, expected, name):
    (folder / "users_broken.py").write_text(code)
    with pytest.raises(UserError) as caught:
        build_network(f"{name}:make")
    assert f"{name} cannot be imported: " in str(caught.value)
    assert expected in str(caught.value)
    assert "\n" not in str(caught.value)


def test_weights_that_fit_are_loaded():
    net, other = make_net(seed=1), make_net(seed=2)
    assert load_weights(net, other.state_dict(), "mine.pt") is net
    for name, tensor in other.state_dict().items():
        assert torch.equal(net.state_dict()[name], tensor)


def test_weights_that_do_not_fit_are_refused_in_one_sentence():
    for theirs, expected in [
        ({"width": 9}, "size mismatch for embed.weight"),
        ({"features": 7}, "size mismatch for embed.weight"),
        ({"blocks": 2}, 'Missing key(s) in state_dict: "blocks.2.ln.weight"'),
        ({"blocks": 4}, 'Unexpected key(s) in state_dict: "blocks.3.ln.weight"'),
    ]:
        with pytest.raises(UserError) as caught:
            load_weights(make_net(), make_net(**theirs).state_dict(), "mine.pt")
        told = str(caught.value)
        assert told.startswith("mine.pt does not fit the network: ")
        assert expected in told
        assert "\n" not in told
        assert not told.endswith(".")
