"""Networks by name with options in brackets, and what of a task they refuse."""

from __future__ import annotations

import math
from importlib.metadata import EntryPoint

import pytest
import torch
from torch import nn

from depthgauge.config import NetConfig
from depthgauge.errors import UserError
from depthgauge.nets.architectures.choice import choose_net
from depthgauge.nets.architectures.contract import NetOptions, Network
from depthgauge.nets.architectures.resnet import stages_of_blocks
from depthgauge.nets.registry import build_net, check_net, initial_net
from depthgauge.registry import NETS
from depthgauge.tasks.base import Split, Task
from depthgauge.tasks.shape import TaskShape


def task_of(x: torch.Tensor, y: torch.Tensor | None = None) -> Task:
    y = torch.arange(len(x)) % 3 if y is None else y
    return Task("small", Split(x, y), Split(x, y), 3)


IMAGES = task_of(torch.zeros(6, 1, 8, 8))
NUMBERS = task_of(torch.zeros(6, 4))
TOKENS = task_of(torch.arange(30).view(6, 5) % 7)


def test_the_text_names_what_differs_from_the_defaults() -> None:
    for typed, text in [
        ("vit", "vit"),
        ("vit[patch=4]", "vit"),
        (" vit[ heads=2 , patch=2] ", "vit[heads=2,patch=2]"),
        ("residual_mlp", "residual_mlp"),
    ]:
        assert choose_net(typed).text == text


def test_all_options_are_in_the_configuration() -> None:
    config = choose_net("resnet[norm=batch]").config(width=8, blocks=2)
    assert config.options == {"stages": 3, "norm": "batch"}
    assert config.model_dump()["options"] == config.options


def test_residual_mlp_is_configured_as_ever() -> None:
    """Its configuration is part of the identity of runs of before."""
    assert choose_net("residual_mlp").config(64, 4) == NetConfig()
    assert "options" not in NetConfig().model_dump()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "vit[patch=4",
            "cannot read the net 'vit[patch=4'; write it as vit or vit[patch=4,heads=4",
        ),
        ("vit[patch=4,patch=2]", "has an option twice: patch"),
        ("vit[patches=4]", "the net vit has no option 'patches'; its options are: heads, ratio"),
        ("vit[patch]", "the option 'patch' of the net vit[patch] has no value; write patch=…"),
        ("vit[patch=0]", "option 'patch' of the net vit: Input should be greater than or equal"),
        ("vit[pool=max]", "option 'pool' of the net vit: Input should be 'cls' or 'mean'"),
        ("residual_mlp[heads=2]", "the net residual_mlp has no option 'heads'; its options are: n"),
        ("lenet", "there is no net called 'lenet'; there are: cnn, gpt, residual_mlp, resnet, vit"),
    ],
)
def test_a_wrong_text_gets_one_sentence(text: str, sentence: str) -> None:
    with pytest.raises(UserError) as caught:
        choose_net(text)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "task", "width", "depth", "sentence"),
    [
        ("vit", NUMBERS, 8, 2, "the net vit takes images of the shape (channels, height, width)"),
        ("resnet", TOKENS, 8, 2, "samples of the task small are sequences of tokens of the shape"),
        ("gpt", IMAGES, 8, 2, "the net gpt takes tokens, and the samples of the task small are"),
        ("vit[heads=3]", IMAGES, 8, 2, "the net vit has the width 8, which 3 heads do not divide"),
        ("vit[patch=3]", IMAGES, 8, 2, "choose vit[patch=…] from 1, 2, 4, 8"),
        ("cnn", IMAGES, 8, 6, "the net cnn halves the resolution 5 times, which is too often"),
        ("residual_mlp", TOKENS, 8, 2, "the net residual_mlp takes numbers, and the samples of"),
    ],
)
def test_a_network_that_does_not_fit_the_task(
    text: str, task: Task, width: int, depth: int, sentence: str
) -> None:
    config = choose_net(text).config(width, depth)
    with pytest.raises(UserError) as caught:
        check_net(config, task)
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    ("text", "task", "shape"),
    [
        ("vit", IMAGES, (6, 3)),
        ("resnet", IMAGES, (6, 3)),
        ("cnn", IMAGES, (6, 3)),
        ("residual_mlp", IMAGES, (6, 3)),
        ("gpt", TOKENS, (6, 3)),
        ("gpt", task_of(TOKENS.train.x, TOKENS.train.x % 3), (6, 5, 3)),
    ],
)
@pytest.mark.parametrize("depth", [0, 2])
def test_a_network_is_built_for_its_task(
    text: str, task: Task, shape: tuple[int, ...], depth: int
) -> None:
    config = choose_net(text).config(8, depth)
    net = build_net(config, task)
    assert net(task.train.x).shape == shape
    assert len(net.blocks) == depth


class Flat(Network):
    """A network that another package offers."""

    name, summary = "flat", "one linear layer"
    usual_width = 5

    def __init__(self, features: int, outputs: int) -> None:
        super().__init__()
        self.embed, self.blocks = nn.Flatten(), nn.ModuleList()
        self.readout = nn.Linear(features, outputs)

    @classmethod
    def build(cls, shape: TaskShape, width: int, depth: int, options: NetOptions) -> Flat:
        return cls(math.prod(shape.sample), shape.outputs)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.readout(self.embed(x))


def test_a_network_of_an_installed_package(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("theirs", f"{__name__}:Flat", NETS.group)
    monkeypatch.setitem(NETS.installed, "theirs", point)
    choice = choose_net("theirs")
    assert choice.usual_width == 5
    config = choice.config(5, 0)
    assert config.package == f":{__name__}:Flat"  # with its version, if a package has it
    assert build_net(config, IMAGES)(IMAGES.train.x).shape == (6, 3)


def test_what_is_no_network_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("theirs", "torch.nn:Linear", NETS.group)
    monkeypatch.setitem(NETS.installed, "theirs", point)
    with pytest.raises(UserError, match="the net theirs is not a network of the package"):
        choose_net("theirs")


def test_the_seed_alone_decides_the_weights() -> None:
    config = choose_net("vit[patch=4,heads=2]").config(8, 2)
    torch.manual_seed(3)
    before = torch.get_rng_state()
    one, other = (initial_net(config, IMAGES, 5).state_dict() for _ in range(2))
    assert torch.equal(torch.get_rng_state(), before)
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_blocks_are_divided_over_the_stages() -> None:
    for depth, stages, expected in [
        (0, 3, []),
        (1, 3, [0]),
        (2, 3, [0, 1]),
        (4, 3, [0, 0, 1, 2]),
        (6, 3, [0, 0, 1, 1, 2, 2]),
        (4, 1, [0, 0, 0, 0]),
    ]:
        assert stages_of_blocks(depth, stages) == expected
