"""Null calibration of Γ: 1,000 fresh draws against the usual script's 20, alternately in one run.

    python benchmarks/null.py [--rounds 5] [--json]

A network with d = 256 and L = 4, trained by DFA or FA on CIFAR-shaped data, 2,048 samples. The
usual script does, for every draw, what was done for the training feedback: forward, backward,
credit, cosines. Both use all threads. What counts is the ratio; with `--json` one JSON document.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import time

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from depthgauge.auditing.null import calibrate_null
from depthgauge.auditing.trained_network import TrainedNetwork
from depthgauge.nets.residual_mlp import ResidualMLP
from depthgauge.rules.choice import choose_rule

WIDTH, BLOCKS, CLASSES, FEATURES, SAMPLES = 256, 4, 10, 3072, 2048
SCRIPT_DRAWS, DRAWS = 20, 1000


def script(net: nn.Module, x: Tensor, y: Tensor, rule: str) -> list[list[float]]:
    """The usual script: everything again for every draw."""
    results = []
    for draw in range(SCRIPT_DRAWS):
        torch.manual_seed(10_000 + draw)
        columns = CLASSES if rule == "dfa" else WIDTH
        matrices = [torch.randn(WIDTH, columns) / math.sqrt(columns) for _ in range(BLOCKS)]
        states = [net.embed(x)]
        for block in net.blocks:
            states.append(states[-1] + block(states[-1]))
        logits = net.out_head(net.out_ln(states[-1]))
        gradients = torch.autograd.grad(cross_entropy(logits, y, reduction="sum"), states)
        error = logits.softmax(-1).detach()
        error[torch.arange(len(y)), y] -= 1
        if rule == "dfa":
            credit = [error @ matrix.T for matrix in matrices]
            credit = [credit[0], *credit]
        else:
            credit = [gradients[-1]]
            for matrix in reversed(matrices):
                credit.insert(0, credit[0] @ matrix.T)
        results.append([_mean_cosine(a, g) for a, g in zip(credit, gradients, strict=True)])
    return results


def _mean_cosine(a: Tensor, b: Tensor) -> float:
    return float(((a * b).sum(-1) / (a.norm(dim=-1) * b.norm(dim=-1))).mean())


def seconds(work: object) -> float:
    """How long a call takes."""
    start = time.perf_counter()
    work()  # type: ignore[operator]
    return time.perf_counter() - start


def compare(rule: str, rounds: int) -> dict[str, float | str]:
    """Medians of alternating measurements, and how well the first draws agree."""
    torch.manual_seed(0)
    net = ResidualMLP(FEATURES, WIDTH, CLASSES, BLOCKS, w2_std=0.05)
    built = choose_rule(rule).build()
    trained = TrainedNetwork(
        net, built, built.feedback(net, torch.default_generator), "", "benchmark"
    )
    x, y = torch.randn(SAMPLES, FEATURES), torch.randint(CLASSES, (SAMPLES,))
    theirs = torch.tensor(script(net, x, y, rule))
    ours = calibrate_null(trained, (x, y), SCRIPT_DRAWS)
    apart = (theirs[:, 1:].mean(1) - torch.tensor(ours.fresh_deep)).abs().max()
    script_times, our_times = [], []
    for _ in range(rounds):
        script_times.append(seconds(lambda: script(net, x, y, rule)))
        our_times.append(seconds(lambda: calibrate_null(trained, (x, y), DRAWS)))
    ratios = [ours / theirs for ours, theirs in zip(our_times, script_times, strict=True)]
    return {
        "rule": rule,
        "script_20_draws_s": statistics.median(script_times),
        "depthgauge_1000_draws_s": statistics.median(our_times),
        "ratio": statistics.median(ratios),
        "ratio_low": min(ratios),
        "ratio_high": max(ratios),
        "largest_difference": float(apart),
    }


def main() -> None:
    """Print one line for each rule."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    results = [compare(rule, args.rounds) for rule in ("dfa", "fa")]
    if args.json:
        print(json.dumps(results, indent=2))
        return
    for result in results:
        print(
            "{rule}: 1,000 draws {depthgauge_1000_draws_s:.2f} s, the script's 20 "
            "{script_20_draws_s:.2f} s: ratio {ratio:.2f} ({ratio_low:.2f} to {ratio_high:.2f}); "
            "the first 20 draws differ by at most {largest_difference:.1e}".format(**result)
        )


if __name__ == "__main__":
    main()
