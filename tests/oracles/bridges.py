"""The two bridges as one would first write them: sample by sample, with `nn` and `torch.optim`.

Written from section 5 of the protocol and from what the rules say of themselves. Gradients come
from `torch.autograd.grad`, those of the slope through `create_graph`. Feedback is read by the names
of the checkpoint (`V.0.weight`, `first.V.0.weight`, `steps.V`); no code of the package is used.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils import skip_init


def perceptron(feedback: Mapping[str, Tensor], name: str) -> nn.Sequential:
    """Linear, GELU, …, Linear with the weights that are kept under `name`."""
    modules: list[nn.Module] = []
    while f"{name}.{(len(modules) + 1) // 2}.weight" in feedback:
        own = f"{name}.{(len(modules) + 1) // 2}"
        weight, bias = feedback[f"{own}.weight"], feedback[f"{own}.bias"]
        linear = skip_init(nn.Linear, weight.shape[1], weight.shape[0], dtype=weight.dtype)
        with torch.no_grad():
            linear.weight.copy_(weight)
            linear.bias.copy_(bias)
        modules += [nn.GELU(), linear] if modules else [linear]
    return nn.Sequential(*modules)


def weights_of(name: str, network: nn.Sequential) -> dict[str, nn.Parameter]:
    """Weights and biases by the names of the checkpoint."""
    linears = [module for module in network if isinstance(module, nn.Linear)]
    return {
        f"{name}.{number}.{kind}": getattr(linear, kind)
        for number, linear in enumerate(linears)
        for kind in ("weight", "bias")
    }


def with_moments(name: str, network: nn.Sequential, adam: torch.optim.Adam) -> dict[str, Tensor]:
    """A network and its optimizer's state by the names of the checkpoint."""
    found: dict[str, Tensor] = {}
    for own, weight in weights_of(name, network).items():
        state = adam.state[weight]
        found[own] = weight.detach()
        found[f"first.{own}"] = state["exp_avg"]
        found[f"second.{own}"] = state["exp_avg_sq"]
        found[f"steps.{name}"] = state["step"].to(weight.dtype)
    return found


def size(h: Tensor) -> Tensor:
    """Root mean square of one sample's state."""
    return sum(h_i * h_i for h_i in h) ** 0.5 / math.sqrt(len(h))


def seen(h: Tensor, t: float, e: Tensor, frequencies: int) -> Tensor:
    """h/RMS(h), t, sin(πt), cos(πt), sin(2πt), cos(2πt), sin(4πt), …, e."""
    numbers = [t]
    for i in range(frequencies):
        numbers += [math.sin(2**i * math.pi * t), math.cos(2**i * math.pi * t)]
    return torch.cat([h / size(h), torch.tensor(numbers, dtype=h.dtype), e])


class Readout:
    """Logits, loss and error of one sample from its last state."""

    def __init__(self, net: nn.Module) -> None:
        self.net = net

    def loss(self, h: Tensor, label: int) -> Tensor:
        """−log p_y."""
        return -torch.log_softmax(self.net.out_head(self.net.out_ln(h)), 0)[label]

    def error(self, h: Tensor, label: int) -> Tensor:
        """softmax(logits) − onehot(y)."""
        error = torch.softmax(self.net.out_head(self.net.out_ln(h)), 0).detach().clone()
        error[label] -= 1
        return error

    def gradient(self, h: Tensor, label: int) -> Tensor:
        """g_L."""
        at = h.detach().clone().requires_grad_(True)
        return torch.autograd.grad(self.loss(at, label), at)[0]


class SlowBridge:
    """What the two bridges share: samples one by one, and an Adam for their network."""

    def __init__(
        self, name: str, net: nn.Module, feedback: Mapping[str, Tensor], options: Any
    ) -> None:
        self.name, self.readout, self.options = name, Readout(net), options
        self.network = perceptron(feedback, name)
        self.adam = torch.optim.Adam(self.network.parameters(), lr=options.rate)

    def samples(self, states: list[Tensor], y: Tensor) -> list[tuple[list[Tensor], int, Tensor]]:
        """For each sample its states h_0 … h_L, its label and its error."""
        found = []
        for i, label in enumerate(y.tolist()):
            own = [h[i].detach() for h in states]
            found.append((own, label, self.readout.error(own[-1], label)))
        return found

    def slopes(self, states: list[Tensor], y: Tensor) -> list[Tensor]:
        """∂(what the credit descends)/∂h_l at h_0 … h_L, each (samples, d)."""
        blocks = len(states) - 1
        rows: list[list[Tensor]] = [[] for _ in states]
        for own, label, e in self.samples(states, y):
            for index, h in enumerate(own):
                at = h.clone().requires_grad_(True)
                t = index / blocks if blocks else 1.0
                descended = self.descended(at, t, e, label, at_the_end=index == blocks)
                rows[index].append(torch.autograd.grad(descended, at)[0])
        return [torch.stack(row) for row in rows]

    def descended(self, h: Tensor, t: float, e: Tensor, label: int, *, at_the_end: bool) -> Tensor:
        raise NotImplementedError

    def step(self, loss: Tensor) -> None:
        self.adam.zero_grad()
        loss.backward()
        self.adam.step()

    def kept(self) -> dict[str, Tensor]:
        """What a checkpoint has of the bridge."""
        return with_moments(self.name, self.network, self.adam)


class SlowStateBridge(SlowBridge):
    """G predicts h_L; credit is the gradient of the loss of this prediction."""

    def __init__(self, net: nn.Module, feedback: Mapping[str, Tensor], options: Any) -> None:
        super().__init__("G", net, feedback, options)

    def predict(self, h: Tensor, t: float, e: Tensor) -> Tensor:
        change = size(h) * self.network(seen(h, t, e, self.options.frequencies))
        return h + change if self.options.skip else change

    def descended(self, h: Tensor, t: float, e: Tensor, label: int, *, at_the_end: bool) -> Tensor:
        return self.readout.loss(h if at_the_end else self.predict(h, t, e), label)

    def credit(self, states: list[Tensor], y: Tensor) -> list[Tensor]:
        """The embedding's, then each block's."""
        slopes = self.slopes(states, y)
        blocks = slopes[:-1] if self.options.at == "input" else slopes[1:]
        return [slopes[0], *blocks]

    def learn(self, states: list[Tensor], y: Tensor) -> None:
        """The mean over samples and l < L of ‖G(h_l, l/L, e) − h_L‖²/‖h_L‖²."""
        missed = []
        for own, _, e in self.samples(states, y):
            end, blocks = own[-1], len(own) - 1
            for index in range(blocks):
                apart = self.predict(own[index], index / blocks, e) - end
                missed.append((apart @ apart) / (end @ end))
        self.step(sum(missed) / len(missed))


class SlowCreditBridge(SlowBridge):
    """V predicts the loss; credit is the gradient of V."""

    def __init__(self, net: nn.Module, feedback: Mapping[str, Tensor], options: Any) -> None:
        super().__init__("V", net, feedback, options)
        self.average = perceptron(feedback, "A")
        self.matrices = [matrix.clone() for matrix in feedback["B"]]

    def value(self, network: nn.Module, h: Tensor, t: float, e: Tensor) -> Tensor:
        return network(seen(h, t, e, self.options.frequencies))[0]

    def descended(self, h: Tensor, t: float, e: Tensor, label: int, *, at_the_end: bool) -> Tensor:
        return self.value(self.network, h, t, e)

    def credit(self, states: list[Tensor], y: Tensor, progress: float) -> list[Tensor]:
        """The embedding's, then each block's; e·B_lᵀ during the warm-up."""
        if progress < self.options.warm_up:
            errors = torch.stack([e for _, _, e in self.samples(states, y)])
            direct = [errors @ matrix.T for matrix in self.matrices]
            return [direct[0], *direct[: len(states) - 1]]
        slopes = self.slopes(states, y)
        return [slopes[0], *slopes[:-1]]

    def soft_minimum(self, values: list[Tensor]) -> Tensor:
        """−τ·log of the mean of exp(−v/τ)."""
        tau = self.options.temperature
        return -tau * torch.log(sum(torch.exp(-v / tau) for v in values) / len(values))

    def wanted(self, own: list[Tensor], label: int, e: Tensor, noise: Tensor) -> list[Tensor]:
        """What V should say at h_0 … h_L; `noise` is (copies, blocks, d)."""
        blocks = len(own) - 1
        targets = []
        for index in range(blocks):
            above, t = own[index + 1], (index + 1) / blocks
            copies = [above + self.options.sigma * size(above) * eta for eta in noise[:, index]]
            values = [self.value(self.average, copy_, t, e).detach() for copy_ in copies]
            targets.append(self.soft_minimum(values))
        return [*targets, self.readout.loss(own[-1], label).detach()]

    def learn(self, states: list[Tensor], y: Tensor, noise: Tensor) -> None:
        """Σ over l of the mean squared miss of V, and the relative miss of ∇V(h_L).

        The latter is Σ RMS(h_L)²·‖∇V(h_L) − g_L‖² over Σ RMS(h_L)²·‖g_L‖², sums over samples.
        """
        squares, missed, whole = [], [], []
        for i, (own, label, e) in enumerate(self.samples(states, y)):
            blocks = len(own) - 1
            for index, target in enumerate(self.wanted(own, label, e, noise[:, :, i])):
                t = index / blocks if blocks else 1.0
                squares.append((self.value(self.network, own[index], t, e) - target) ** 2)
            at = own[-1].clone().requires_grad_(True)
            value = self.value(self.network, at, 1.0, e)
            slope = torch.autograd.grad(value, at, create_graph=True)[0]
            true = self.readout.gradient(own[-1], label)
            missed.append(size(own[-1]) ** 2 * ((slope - true) ** 2).sum())
            whole.append(size(own[-1]) ** 2 * (true**2).sum())
        matched = self.options.matching * sum(missed) / sum(whole)
        self.step(sum(squares) / len(y) + matched)
        self.follow()

    @torch.no_grad()
    def follow(self) -> None:
        """The moving average, after V's step."""
        kept = self.options.ema
        for slow, fast in zip(self.average.parameters(), self.network.parameters(), strict=True):
            slow.copy_(kept * slow + (1 - kept) * fast)

    def kept(self) -> dict[str, Tensor]:
        """V with its moments, its average, and DFA's matrices."""
        average = {n: w.detach() for n, w in weights_of("A", self.average).items()}
        return super().kept() | copy.deepcopy(average) | {"B": torch.stack(self.matrices)}
