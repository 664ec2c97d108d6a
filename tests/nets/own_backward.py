"""Networks whose layers define their own backward pass, and plain twins of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

FEATURES, WIDTH, CLASSES, DEPTH = 6, 8, 4, 3
PIXELS = 4


class LinearByFeedback(torch.autograd.Function):
    """x·Wᵀ + b, with a fixed matrix in place of W in the backward pass."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor, feedback: Tensor) -> Tensor:
        ctx.save_for_backward(x, feedback)
        return x @ weight.T + bias

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        x, feedback = ctx.saved_tensors
        return gradient @ feedback, gradient.T @ x, gradient.sum(0), None


class ConvByFeedback(torch.autograd.Function):
    """A convolution with another kernel in its backward pass."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor, feedback: Tensor) -> Tensor:
        ctx.save_for_backward(x, feedback)
        return nn.functional.conv2d(x, weight, bias, padding=1)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        x, feedback = ctx.saved_tensors
        down = torch.nn.grad.conv2d_input(x.shape, feedback, gradient, padding=1)
        kernel = torch.nn.grad.conv2d_weight(x, feedback.shape, gradient, padding=1)
        return down, kernel, gradient.sum((0, 2, 3)), None


class FeedbackLinear(nn.Linear):
    """As libraries for feedback alignment have it: the matrix is a buffer."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__(inputs, outputs)
        self.register_buffer("feedback", torch.randn(outputs, inputs) / inputs**0.5)

    def forward(self, x: Tensor) -> Tensor:
        return LinearByFeedback.apply(x, self.weight, self.bias, self.feedback)


class SignLinear(nn.Linear):
    """Sign feedback: the signs of the weights come back."""

    def forward(self, x: Tensor) -> Tensor:
        return LinearByFeedback.apply(x, self.weight, self.bias, self.weight.sign())


class FeedbackConv(nn.Conv2d):
    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__(inputs, outputs, 3, padding=1)
        self.register_buffer("feedback", torch.randn(self.weight.shape) / (9 * inputs) ** 0.5)

    def forward(self, x: Tensor) -> Tensor:
        return ConvByFeedback.apply(x, self.weight, self.bias, self.feedback)


class SignConv(FeedbackConv):
    def forward(self, x: Tensor) -> Tensor:
        return ConvByFeedback.apply(x, self.weight, self.bias, self.weight.sign())


def conv(inputs: int, outputs: int) -> nn.Conv2d:
    return nn.Conv2d(inputs, outputs, 3, padding=1)


class Branch(nn.Module):
    def __init__(self, layer: Callable[[int, int], nn.Module]) -> None:
        super().__init__()
        self.fc1, self.fc2 = layer(WIDTH, WIDTH), layer(WIDTH, WIDTH)

    def forward(self, h: Tensor) -> Tensor:
        return h + self.fc2(nn.functional.gelu(self.fc1(h)))


class Net(nn.Module):
    """Blocks that return the stream; `layers` makes the layers of each, and of the head."""

    def __init__(
        self, layers: list[Callable[[int, int], nn.Module]], head: Callable[..., nn.Module]
    ) -> None:
        super().__init__()
        self.images = layers[0] in (conv, FeedbackConv, SignConv)
        self.embed = (conv if self.images else nn.Linear)(FEATURES, WIDTH)
        self.blocks = nn.ModuleList(Branch(layer) for layer in layers)
        self.norm = nn.GroupNorm(1, WIDTH)
        self.head = head(WIDTH, CLASSES)

    def forward(self, x: Tensor) -> Tensor:
        h = self.embed(x)
        for block in self.blocks:
            h = block(h)
        h = self.norm(h)
        return self.head(h.mean((2, 3)) if self.images else h)


FALSE = {
    "linear, random feedback": (FeedbackLinear, nn.Linear),
    "linear, sign feedback": (SignLinear, nn.Linear),
    "convolution, random feedback": (FeedbackConv, conv),
    "convolution, sign feedback": (SignConv, conv),
}
"""Layers with a backward pass of their own, and the plain ones that they stand for."""


def make(own: Any, plain: Any, wrong: set[int], *, head: Any = nn.Linear) -> Net:
    """Blocks in `wrong` are made of `own`; the weights are the same whatever is wrong."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(5)
        weights = Net([plain] * DEPTH, nn.Linear).state_dict()
        net = Net([own if index in wrong else plain for index in range(DEPTH)], head)
    net.load_state_dict(weights, strict=False)
    return net


def batches(images: bool, count: int = 9, size: int = 12) -> list[tuple[Tensor, Tensor]]:
    generator = torch.Generator().manual_seed(6)
    shape = (size, FEATURES, PIXELS, PIXELS) if images else (size, FEATURES)
    return [
        (
            torch.randn(*shape, generator=generator),
            torch.randint(CLASSES, (size,), generator=generator),
        )
        for _ in range(count)
    ]


class Wrapped(nn.Module):
    """A block that does something to the stream before its own work."""

    def __init__(self, block: nn.Module, first: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.block, self.first = block, first

    def forward(self, h: Tensor) -> Tensor:
        return self.block(self.first(h))


def straight_through(h: Tensor) -> Tensor:
    """Signs, with the derivative of the identity."""
    return h + (h.sign() - h).detach()


def half_detached(h: Tensor) -> Tensor:
    return torch.cat([h[:, :3].detach(), h[:, 3:]], 1)


def wrapped(first: Callable[[Tensor], Tensor], index: int) -> Net:
    net = make(nn.Linear, nn.Linear, set())
    net.blocks[index] = Wrapped(net.blocks[index], first)
    return net
