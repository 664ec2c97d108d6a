"""Small networks whose streams have positions, and contexts of rules on their batches."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.nn.functional import adaptive_avg_pool2d

from depthgauge.losses.cross_entropy import CrossEntropy
from depthgauge.nets.net_shape import NetShape
from depthgauge.rules.contract import Context, Rule
from depthgauge.rules.offered_context import offer_context

SAMPLES, CLASSES, WIDTH, TOKENS, SIDE, BLOCKS = 3, 4, 5, 6, 4, 3


class TokenBlock(nn.Module):
    """A branch that mixes tokens, then features."""

    def __init__(self) -> None:
        super().__init__()
        self.mix, self.turn = nn.Linear(TOKENS, TOKENS), nn.Linear(WIDTH, WIDTH)

    def forward(self, h: Tensor) -> Tensor:
        return self.turn(torch.tanh(self.mix(h.mT).mT))


class Residual(nn.Module):
    """The forward pass of both networks; a block that changes the shape replaces the stream."""

    embed: nn.Module
    blocks: nn.ModuleList

    def forward(self, x: Tensor) -> Tensor:
        return self.readout(states_of(self, x)[-1])


class TokenNet(Residual):
    """(samples, tokens, features); one answer for a sample, or one for each token."""

    def __init__(self, *, each: bool = False) -> None:
        super().__init__()
        self.each = each
        self.embed, self.head = nn.Linear(2, WIDTH), nn.Linear(WIDTH, CLASSES)
        self.blocks = nn.ModuleList(TokenBlock() for _ in range(BLOCKS))

    def readout(self, h: Tensor) -> Tensor:
        logits: Tensor = self.head(h if self.each else h.mean(1))
        return logits

    def batch(self) -> tuple[Tensor, Tensor]:
        generator = torch.Generator().manual_seed(2)
        x = torch.randn(SAMPLES, TOKENS, 2, generator=generator, dtype=torch.float64)
        shape = (SAMPLES, TOKENS) if self.each else (SAMPLES,)
        return x, torch.randint(CLASSES, shape, generator=generator)


class ImageBlock(nn.Module):
    """A branch of one convolution; with a stride the stream's side is halved before."""

    def __init__(self, stage: bool) -> None:
        super().__init__()
        self.stage = stage
        self.conv = nn.Conv2d(WIDTH, WIDTH + 2 * stage, 3, padding=1)

    def forward(self, h: Tensor) -> Tensor:
        if self.stage:
            h = adaptive_avg_pool2d(h, SIDE // 2)
        return torch.tanh(self.conv(h))


class ImageNet(Residual):
    """(samples, channels, height, width); with `stages` the last block changes the shape."""

    def __init__(self, *, stages: bool = False) -> None:
        super().__init__()
        self.embed = nn.Conv2d(2, WIDTH, 1)
        self.head = nn.Linear(WIDTH + 2 * stages, CLASSES)
        last = [stages and i == BLOCKS - 1 for i in range(BLOCKS)]
        self.blocks = nn.ModuleList(ImageBlock(stage) for stage in last)

    def readout(self, h: Tensor) -> Tensor:
        logits: Tensor = self.head(h.mean((2, 3)))
        return logits

    def batch(self) -> tuple[Tensor, Tensor]:
        generator = torch.Generator().manual_seed(2)
        x = torch.randn(SAMPLES, 2, SIDE, SIDE, generator=generator, dtype=torch.float64)
        return x, torch.randint(CLASSES, (SAMPLES,), generator=generator)


NETS = {
    "tokens": TokenNet,
    "answer for each token": lambda: TokenNet(each=True),
    "images": ImageNet,
    "stages": lambda: ImageNet(stages=True),
}


def make(name: str) -> TokenNet | ImageNet:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        return NETS[name]().double()


def states_of(net: TokenNet | ImageNet, x: Tensor) -> list[Tensor]:
    """h_0 … h_L with their graph; a block that changes the shape replaces the stream."""
    states = [net.embed(x)]
    for block in net.blocks:
        branch = block(states[-1])
        states.append(states[-1] + branch if branch.shape == states[-1].shape else branch)
    return states


def shape_of(net: TokenNet | ImageNet) -> NetShape:
    states = states_of(net, net.batch()[0])
    return NetShape.of_pass(states, net.readout(states[-1]), CLASSES)


def gradients_of(net: TokenNet | ImageNet) -> list[Tensor]:
    """g_0 … g_L of each sample's own loss by autograd."""
    x, y = net.batch()
    states = states_of(net, x)
    loss = CrossEntropy().value(net.readout(states[-1]), y).sum()
    return list(torch.autograd.grad(loss, states))


def error_of(net: TokenNet | ImageNet) -> Tensor:
    """e of each sample by autograd."""
    x, y = net.batch()
    output = net.readout(states_of(net, x)[-1]).detach().requires_grad_()
    return torch.autograd.grad(CrossEntropy().value(output, y).sum(), output)[0]


def drawn(rule: Rule, net: TokenNet | ImageNet) -> dict[str, Tensor]:
    feedback = rule.feedback(shape_of(net), torch.Generator().manual_seed(3))
    return {name: tensor.double() for name, tensor in feedback.items()}


def context_on(
    rule: Rule, net: TokenNet | ImageNet, feedback: Mapping[str, Tensor], *, progress: float = 1.0
) -> Context:
    """What the rule may see of the network's batch."""
    x, y = net.batch()
    states = [state.detach() for state in states_of(net, x)]
    shape, noise = rule.noise_shape(states), None
    if shape is not None:
        generator = torch.Generator().manual_seed(4)
        noise = torch.randn(shape, generator=generator, dtype=x.dtype)
    return offer_context(
        rule,
        states,
        target=y,
        feedback=feedback,
        progress=progress,
        offers={
            "error": lambda: error_of(net),
            "gradient": lambda: gradients_of(net),
            "readout": lambda: net.readout,
            "blocks": lambda: list(net.blocks),
        },
        noise=noise,
        loss=CrossEntropy(),
    )
