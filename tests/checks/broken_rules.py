"""Rules that each break the contract in one way; all the rest of them is direct feedback."""

from __future__ import annotations

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from depthgauge.rules.contract import Credit, Rule


class Direct(Rule):
    """Breaks nothing."""

    name = "direct"
    summary = "the error through fixed random matrices"
    needs = frozenset({"error"})

    def feedback(self, net, generator):
        shape = (max(net.num_blocks, 1), net.width, net.error_width)
        return {"B": torch.randn(shape, generator=generator)}

    def matrices(self, context):
        return context.feedback["B"]

    def credit(self, context):
        projected = [context.error @ matrix.T for matrix in self.matrices(context)]
        return Credit(blocks=projected[: len(context.states) - 1], embed=projected[0])

    def scaled(self, context, factor):
        credit = Direct.credit(self, context)
        return Credit(blocks=[block * factor for block in credit.blocks], embed=credit.embed)


class NoFeedback(Direct):
    def feedback(self, net, generator):
        return None


class NumberInFeedback(Direct):
    def feedback(self, net, generator):
        return super().feedback(net, generator) | {"rate": 0.1}


class NumberAsKey(Direct):
    def feedback(self, net, generator):
        return {0: super().feedback(net, generator)["B"]}


class InfiniteFeedback(Direct):
    def feedback(self, net, generator):
        return {"B": 1 / torch.zeros(3, 8, 4)}


class SharedMemory(Direct):
    def feedback(self, net, generator):
        kept = super().feedback(net, generator)
        return kept | {"average": kept["B"]}


class ShapeBySeed(Direct):
    def feedback(self, net, generator):
        extra = torch.randint(1, 100, (), generator=generator)
        return super().feedback(net, generator) | {"extra": torch.zeros(int(extra))}


class UnseededFeedback(Direct):
    def feedback(self, net, generator):
        return {"B": torch.randn(3, 8, 4)}


class ReseededFeedback(Direct):
    def feedback(self, net, generator):
        torch.manual_seed(0)
        return {"B": torch.randn(3, 8, 4)}


class MirrorsTheReadout(Direct):
    def feedback(self, net, generator):
        return {"B": net.weights["out_head.weight"].T.repeat(max(net.num_blocks, 1), 1, 1)}


class SaysThatItMirrors(Direct):
    copies_weights = True


class Peeks(Direct):
    def credit(self, context):
        return Credit(blocks=context.gradient[1:], embed=context.gradient[0])


class PeeksQuietly(Direct):
    def credit(self, context):
        try:
            return Credit(blocks=context.gradient[1:], embed=context.gradient[0])
        except LookupError:
            return super().credit(context)


class PeeksWhenItLearns(Direct):
    def learn(self, context):
        return {"B": context.feedback["B"] * context.readout(context.states[-1]).mean()}


class NoiseWithoutShape(Direct):
    def credit(self, context):
        return self.scaled(context, context.noise)


class Raises(Direct):
    def credit(self, context):
        raise ZeroDivisionError("the author\ndivided by zero")


class Autograd(Direct):
    needs = frozenset({"readout"})

    def credit(self, context):
        last = context.states[-1].detach().requires_grad_()
        loss = cross_entropy(context.readout(last), context.target)
        (gradient,) = torch.autograd.grad(loss, last)
        return Credit(blocks=[gradient] * (len(context.states) - 1), embed=gradient)


class WrongShape(Direct):
    def credit(self, context):
        return Credit(blocks=[context.error] * (len(context.states) - 1), embed=context.error)


class OneForEachState(Direct):
    def credit(self, context):
        credit = super().credit(context)
        return Credit(blocks=[credit.embed, *credit.blocks], embed=credit.embed)


class PlainList(Direct):
    def credit(self, context):
        return super().credit(context).blocks


class WrongPrecision(Direct):
    def credit(self, context):
        credit = super().credit(context)
        return Credit(blocks=[block.float() for block in credit.blocks], embed=credit.embed)


class FailsInDouble(Direct):
    def feedback(self, net, generator):
        return {}

    def matrices(self, context):
        return torch.ones(max(len(context.states) - 1, 1), 8, 4)


class NotFinite(Direct):
    def credit(self, context):
        return self.scaled(context, 1 / (context.error - context.error).sum())


class InPlace(Direct):
    def credit(self, context):
        context.states[1].mul_(0.5)
        return super().credit(context)


class FeedbackInPlace(Direct):
    def learn(self, context):
        context.feedback["B"].mul_(0.9)
        return {}


class LearnsOtherShape(Direct):
    def learn(self, context):
        return {"B": context.feedback["B"][0]}


class LearnsUnknown(Direct):
    def learn(self, context):
        return {"average": context.feedback["B"]}


class LearnsOtherPrecision(Direct):
    def learn(self, context):
        return {"B": context.feedback["B"].float()}


class LearnsInfinity(Direct):
    def learn(self, context):
        return {"B": context.feedback["B"] / 0}


class Unseeded(Direct):
    def credit(self, context):
        return self.scaled(context, torch.randn_like(context.states[0]))


class UnseededNumpy(Direct):
    def credit(self, context):
        return self.scaled(context, np.random.rand())


class UnseededLearning(Direct):
    def learn(self, context):
        return {"B": context.feedback["B"] + torch.randn_like(context.feedback["B"])}


class CountsInTheClass(Direct):
    calls = 0

    def credit(self, context):
        type(self).calls += 1
        return self.scaled(context, 1 + self.calls * context.states[0])


class KeepsItsMatrices(Direct):
    """Its feedback is not declared: it is on the rule instead."""

    def feedback(self, net, generator):
        self.own = super().feedback(net, generator)["B"].double()
        return {}

    def matrices(self, context):
        return self.own.to(context.states[0].dtype)


class KeepsItsMatricesInTheClass(KeepsItsMatrices):
    def feedback(self, net, generator):
        type(self).own = Direct.feedback(self, net, generator)["B"].double()
        return {}


class NotLiftable(Direct):
    def credit(self, context):
        return self.scaled(context, context.error.abs().max().item())


class OtherwiseWhenLifted(Direct):
    def credit(self, context):
        lifted = torch._C._functorch.is_batchedtensor(context.error)
        return self.scaled(context, -1.0 if lifted else 1.0)


class WritesIntoZeros(Direct):
    """Works lifted over runs, where the states are lifted too, but not over feedback alone."""

    def credit(self, context):
        filled = torch.zeros_like(context.states[0])
        filled.add_(context.error @ context.feedback["B"][0].T)
        return Credit(blocks=[filled] * (len(context.states) - 1), embed=filled)


class WrongProjection(Direct):
    def credit(self, context):
        return self.scaled(context, context.states[0])

    def projected(self, context):
        return context.error


class ProjectionWithoutMatrices(WrongProjection):
    def feedback(self, net, generator):
        return {"A": super().feedback(net, generator)["B"]}

    def matrices(self, context):
        return context.feedback["A"]


class DependsOnOtherRuns(Direct):
    """Asked for one run after the other, it remembers the ones before."""

    batched = False

    def __init__(self, options=None):
        super().__init__(options)
        self.errors = []

    def credit(self, context):
        self.errors.append(context.error.abs().mean())
        return self.scaled(context, 1 + context.states[0] * torch.stack(self.errors).mean())


class CountsBatches(Direct):
    def __init__(self, options=None):
        super().__init__(options)
        self.batches = 0

    def credit(self, context):
        self.batches += 1
        return self.scaled(context, 1 + self.batches * context.states[0])


class KeepsATensor(Direct):
    def __init__(self, options=None):
        super().__init__(options)
        self.last = 0.0

    def credit(self, context):
        self.last = self.last + context.error.abs().mean()
        return self.scaled(context, 1 + context.states[0] * self.last)


class Explodes(Direct):
    def learn(self, context):
        return {"B": context.feedback["B"] * 1e20}


class DeclaresTooMuch(Direct):
    """Worth a remark, not wrong."""

    needs = frozenset({"error", "blocks", "gradient"})


class NeedsABlock(Direct):
    """Worth a remark, not wrong: without blocks there is no matrix for the embedding."""

    def feedback(self, net, generator):
        return {"B": super().feedback(net, generator)["B"][: net.num_blocks]}


class AskedOneByOne(NotLiftable):
    """Nothing wrong: it says that it cannot be lifted."""

    batched = False
