#!/usr/bin/env python3
"""Computes the differences of a comparison again, with their intervals and p, from the outcomes of its two sides.

usage: deadloop compare BASE NEW --json >compare.json
       python3 scripts/recompute_compare.py BASE NEW compare.json     (pip install numpy scipy statsmodels)

BASE and NEW are results in chars that were written with --csv. A set of equal texts counts once, in estimates, intervals and
tests alike. The weights of the bootstrap are drawn by scripts/references.py; the p of flips is that of every combination of
signs, added up group by group. To a relative 1e-9; prints what differs and exits with 1.
"""
import json
import sys
from collections import defaultdict
from functools import cache
from pathlib import Path

import numpy as np
from recompute import LOOPS, WRONG, read, verdict
from references import drawn

CLEAN = ("false-alarm", "quiet")
ENDED = ("hit", "earlier")


def share(of, among):
    return lambda row: (verdict(row) in of, verdict(row) in among)


def of_loops(column, by):
    return lambda row: (int(row[column]), by(row)) if verdict(row) in LOOPS else (0, 0)


# What a metric divides by what, of a row of outcomes.csv.
PARTS = {
    "ended": share(ENDED, LOOPS),
    "recall": share(("hit",), LOOPS),
    "fpr": share(("false-alarm",), CLEAN),
    "delay": of_loops("delay", lambda row: 1),
    "saved": of_loops("saved", lambda row: int(row["loop_chars"])),
    "fa_per_mchar": lambda row: (1e6 * (verdict(row) in WRONG), int(row["exposure"])),
    "transient_per_mchar": lambda row: (1e6 * (verdict(row) in ("transient-stop", "earlier")), int(row["exposure"])),
}
# Whether a row is right by a metric, and among which rows; others have no test of flips.
RIGHT = {
    "ended": (lambda v: v in ENDED, LOOPS),
    "recall": (lambda v: v == "hit", LOOPS),
    "fpr": (lambda v: v not in WRONG, CLEAN),
    "fa_per_mchar": (lambda v: v not in WRONG, CLEAN + LOOPS),
}


@cache
def weights(seed, name, replicates):
    return np.array(list(drawn(seed, name, replicates)))


def sums(rows, model, metric):
    """Per group what is divided, and by what; and of all rows together."""
    groups, whole = defaultdict(lambda: np.zeros(2)), np.zeros(2)
    for row in rows:
        if model in ("*", row["model"]):
            whole += PARTS[metric](row)
            groups[row["group"] or row["transcript"]] += PARTS[metric](row)
    return groups, whole


def once(rows):
    """The rows that are the first of their copies, by id."""
    firsts = {}
    for row in rows:
        original = row["copy_of"] or row["transcript"]
        firsts[original] = min(firsts.get(original, row["transcript"]), row["transcript"])
    return [row for row in rows if firsts[row["copy_of"] or row["transcript"]] == row["transcript"]]


def signs(nets):
    """The share of all combinations of signs whose sum is at least as far from 0."""
    chance = {0: 1.0}
    for net in nets:
        next_chance = defaultdict(float)
        for total, p in chance.items():
            for signed in (net, -net):
                next_chance[total + signed] += p / 2
        chance = next_chance
    return sum(p for total, p in chance.items() if abs(total) >= abs(sum(nets)))


def flips(sides, model, metric):
    """The p of the flips of a metric; None where fewer than six groups differ."""
    right, among = RIGHT[metric]
    new = {row["transcript"]: verdict(row) for row in sides[1]}
    nets = defaultdict(int)
    for row in sides[0]:
        before, after = verdict(row), new[row["transcript"]]
        if model in ("*", row["model"]) and before in among and after in among:
            net = int(right(after)) - int(right(before))
            if net:
                nets[row["group"] or row["transcript"]] += net
    return signs(list(nets.values())) if len(nets) >= 6 else None


def interval(sides, row, seed, replicates):
    """The difference of one row, and its interval."""
    (base, all_base), (new, all_new) = (sums(side, row["model"], row["metric"]) for side in sides)
    drawn_sums = np.zeros((2, replicates, 2))
    for name in sorted(base):
        if base[name].any() or new[name].any():
            w = weights(seed, name, replicates)
            drawn_sums += np.stack([np.outer(w, base[name]), np.outer(w, new[name])])
    with np.errstate(invalid="ignore", divide="ignore"):
        b, n = (side[:, 0] / side[:, 1] for side in drawn_sums)
        difference = all_new[0] / all_new[1] - all_base[0] / all_base[1]
    d = (n - b)[np.isfinite(n - b)]
    if not len(d):
        return None, None, None
    lo, hi = np.quantile(d, [0.025, 0.975], method="inverted_cdf")
    return difference if np.isfinite(difference) else None, lo, hi


def close(found, want):
    if found is None or want is None:
        return found is want
    return bool(np.isclose(found, want, rtol=1e-9, atol=1e-12))


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    found = json.loads(Path(sys.argv[3]).read_text())
    seed, replicates = found["options"]["seed"], found["options"]["replicates"]
    sides = []
    for folder in sys.argv[1:3]:
        rows = read(Path(folder) / "outcomes.csv")
        # The reported setting: the first of the file.
        sides.append(once([row for row in rows if row["setting"] == rows[0]["setting"]]))
    bad = compared = 0
    for row in found["rows"]:
        want = dict(zip(("difference", "lo", "hi"), interval(sides, row, seed, replicates)))
        if row["metric"] in RIGHT:
            want["p"] = flips(sides, row["model"], row["metric"])
        for name, value in want.items():
            compared += 1
            if not close(row[name], value):
                bad += 1
                print(row["model"], row["metric"], name, row[name], "not", value)
    print(f"{compared} numbers compared, {bad} differ")
    sys.exit(1 if bad or not compared else 0)


if __name__ == "__main__":
    main()
