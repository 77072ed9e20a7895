#!/usr/bin/env python3
"""Holds deadloop's statistics against other people's libraries.

usage: python3 scripts/references.py [COMMAND…]     (pip install numpy scipy statsmodels)

COMMAND answers questions, one a line of JSON (default: `statistics` of scripts/studies, which is
built with the whole workspace: built alone, its dependencies would have other features and be built again). Intervals, bounds, exact tests and tails are
compared to a relative 1e-9, the weights of the bootstrap exactly; the coverage of the bootstrap's 95 % intervals is
asserted within three standard errors of the simulation (seed and sizes are in this file). Prints
what differs and exits with 1.
"""
import json
import math
import os
import random
import subprocess
import sys
from fractions import Fraction

import numpy as np
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.proportion import proportion_confint

BUILD = ["cargo", "build", "--quiet", "--release", "--workspace", "--bin", "statistics"]
TARGET = os.environ.get("CARGO_TARGET_DIR", "target")
COVERAGE = {"of": "coverage", "seed": 20261122, "worlds": 1000, "groups": 200}


def proportions():
    pairs = [(k, n) for n in (1, 2, 7, 10, 59, 345, 5000) for k in sorted({0, 1, n // 3, n // 2, n - 1, n})]
    for k, n in pairs:
        yield {"of": "wilson", "k": k, "n": n}, proportion_confint(k, n, method="wilson")
        for alpha in (0.05, 0.01):
            bound = stats.binomtest(k, n, alternative="greater").proportion_ci(1 - alpha, method="exact").low
            yield {"of": "proportion_lower", "k": k, "n": n, "alpha": alpha}, bound


def counts():
    for k in (0, 1, 2, 3, 10, 47, 1000, 20000):
        lo = stats.chi2.ppf(0.025, 2 * k) / 2 if k else 0.0
        yield {"of": "poisson", "k": k}, (lo, stats.chi2.isf(0.025, 2 * k + 2) / 2)
        for alpha in (0.05, 0.01):
            lower = stats.gamma.ppf(alpha, k) if k else 0.0
            yield {"of": "poisson_lower", "k": k, "alpha": alpha}, lower
            yield {"of": "poisson_upper", "k": k, "alpha": alpha}, stats.gamma.isf(alpha, k + 1)


def single_flips():
    """Sign flips of groups with one flip each are the exact test of McNemar."""
    for b, c in [(0, 0), (0, 5), (0, 6), (1, 7), (3, 3), (2, 11), (40, 61), (5, 300), (1000, 1100)]:
        want = mcnemar([[0, b], [c, 0]], exact=True).pvalue if b + c else 1.0
        yield {"of": "sign_flips", "nets": [-1] * b + [1] * c}, want


def tails():
    """The chance of at least so many wrong alarms at a limit: Poisson of a rate, binomial of a share of clean transcripts."""
    for k, chars in [(0, 300_000), (1, 300_000), (1, 3_000_000), (7, 9_999_999), (40, 30_000_000)]:
        for limit in (0.2, 1.0, 4.0):
            yield {"of": "at_least", "limit": f"fa_per_mchar<={limit}", "k": k, "n": chars}, stats.poisson.sf(k - 1, limit * chars / 1e6)
    for k, n in [(0, 1), (1, 1), (3, 10), (10, 10), (30, 345), (500, 5000)]:
        for limit in (0.01, 0.1, 0.7):
            yield {"of": "at_least", "limit": f"fpr<={limit}", "k": k, "n": n}, stats.binom.sf(k - 1, n, limit)


def sign_flips(draw):
    """Every combination of signs."""
    for _ in range(20):
        nets = [draw.choice([-3, -2, -1, 0, 1, 1, 2, 5]) for _ in range(draw.randint(1, 12))]
        signs = np.array(np.meshgrid(*[[-1, 1]] * len(nets))).reshape(len(nets), -1)
        sums = np.abs((signs * np.abs(nets)[:, None]).sum(0))
        yield {"of": "sign_flips", "nets": nets}, float((sums >= abs(sum(nets))).mean())


MASK = (1 << 64) - 1


def splitmix(state):
    """Steele, Lea, Flood 2014."""
    while True:
        state = (state + 0x9E3779B97F4A7C15) & MASK
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        yield z ^ (z >> 31)


def drawn(seed, name, replicates):
    """The weights of a group: crates/deadloop-score/src/intervals/resample.rs says how."""
    state = 0xCBF29CE484222325
    for byte in name.encode():
        state = ((state ^ byte) * 0x100000001B3) & MASK
    stream = splitmix(seed ^ state)
    next(stream)
    # Exact distribution functions, in units of 2^-53.
    steps, term, total = [], Fraction(1), Fraction(0)
    norm = sum(Fraction(1, math.factorial(k)) for k in range(60))
    for k in range(25):
        total += term / norm
        term = term / (k + 1)
        steps.append(int(total * 2**53))
    for _ in range(replicates):
        u = next(stream) >> 11
        yield sum(step <= u for step in steps)


def resampled(draw):
    replicates = 60
    names = ["", "a", "prompt-7", "\u6a21\u578b", *(f"g{i}" for i in range(30))]
    groups = [(name, draw.randint(0, 5), draw.randint(5, 900)) for name in names]
    sums = np.zeros((replicates, 2))
    for name, k, n in groups:
        sums += np.outer(np.array(list(drawn(9, name, replicates))), [k, n])
    yield {"of": "resampled", "seed": 9, "replicates": replicates, "groups": groups}, sums


def same(got, want):
    got, want = np.atleast_1d(np.array(got, float)), np.atleast_1d(np.array(want, float))
    return got.shape == want.shape and bool(np.all(np.abs(got - want) <= 1e-9 * np.maximum(np.abs(want), 1e-3)))


def main():
    draw = random.Random(5)
    asked = [*proportions(), *counts(), *single_flips(), *tails()]
    asked += [*sign_flips(draw), *resampled(draw)]
    questions = [question for question, _ in asked] + [COVERAGE]
    lines = "".join(json.dumps(question) + "\n" for question in questions)
    command = sys.argv[1:]
    if not command:
        subprocess.run(BUILD, check=True)
        command = [os.path.join(TARGET, "release", "statistics")]
    run = subprocess.run(command, input=lines, capture_output=True, text=True)
    if run.returncode:
        sys.exit(run.stderr)
    answers = [json.loads(line) for line in run.stdout.splitlines()]
    bad, kinds = [], {}
    if len(answers) != len(questions):
        bad.append(f"{len(questions)} questions, {len(answers)} answers")
    for (question, want), got in zip(asked, answers):
        kinds[question["of"]] = kinds.get(question["of"], 0) + 1
        if not same(got, want):
            bad.append(f"{json.dumps(question)[:200]}: {got}, not {want}")
    # A 95 % interval holds the truth in 95 % of worlds, give or take the error of the simulation.
    error = 3 * math.sqrt(0.95 * 0.05 / COVERAGE["worlds"])
    for name, share in answers[-1].items():
        if abs(share - 0.95) > error:
            bad.append(f"coverage of {name}: {share}, not 0.95 +- {error:.3f}")
    print("\n".join(bad) if bad else "all agree to 1e-9")
    print(", ".join(f"{n} {kind}" for kind, n in sorted(kinds.items())))
    print(f"coverage of 95 % intervals in {COVERAGE['worlds']} worlds: {answers[-1]}, +- {error:.3f}")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
