"""Time the null calibration of Γ: our 1,000 fresh draws, and the 20 draws of a usual script.

    python benchmarks/null.py [--rounds 5] [--json]

The network has d = 256 and L = 4, and the feedback of DFA or FA; there are 2,048 samples in the
shape of CIFAR-10. The usual script repeats everything for every draw: forward, backward, credit,
cosines. The two take turns with all threads, and the ratio counts. `--json` prints one document.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import time
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from depthgauge.auditing.null import calibrate_null
from depthgauge.auditing.trained_network import TrainedNetwork
from depthgauge.nets.residual_mlp import ResidualMLP
from depthgauge.rules.choice import choose_rule

WIDTH, BLOCKS, CLASSES, FEATURES, SAMPLES = 256, 4, 10, 3072, 2048
SCRIPT_DRAWS, DRAWS = 20, 1000


def script(net: ResidualMLP, x: Tensor, y: Tensor, rule: str) -> list[list[float]]:
    """Return Γ of every draw and layer as a usual script does: everything again for every draw."""
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


def seconds(work: Callable[[], object]) -> float:
    """Return the seconds of a call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def compare(rule: str, rounds: int) -> dict[str, float | str]:
    """Return the medians of alternating measurements, and the agreement of the first draws."""
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
