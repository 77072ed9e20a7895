#!/usr/bin/env python3
"""Computes the p values of a comparison again from the outcomes of its two sides, with other people's libraries.

usage: deadloop compare BASE NEW --json >compare.json
       python3 scripts/recompute_compare.py BASE NEW compare.json     (pip install numpy scipy statsmodels)

BASE and NEW are results that were written with --csv. `delay`, `saved` and `fa_per_mchar`: the weights of the
bootstrap are drawn by scripts/references.py, the p is scipy's Student t. Holm's correction is that of statsmodels.
To a relative 1e-9; prints what differs and exits with 1.
"""
import json
import sys
from collections import defaultdict
from functools import cache
from pathlib import Path

import numpy as np
from recompute import LOOPS, WRONG, read, verdict
from references import drawn
from scipy import stats
from statsmodels.stats.multitest import multipletests

# What a metric divides by what, of a row of outcomes.csv.
PARTS = {
    "delay": lambda row: (int(row["delay"]), 1) if verdict(row) in LOOPS else (0, 0),
    "saved": lambda row: (int(row["saved"]), int(row["loop_chars"])) if verdict(row) in LOOPS else (0, 0),
    "fa_per_mchar": lambda row: (1e6 * (verdict(row) in WRONG), int(row["exposure"])),
}


@cache
def weights(seed, name, replicates):
    return np.array(list(drawn(seed, name, 1, replicates)))


def sums(rows, model, metric):
    """Per group what is divided, and by what, copies once; and of all rows together."""
    groups, all_rows = defaultdict(lambda: np.zeros(2)), np.zeros(2)
    for row in rows:
        if model in ("*", row["model"]):
            all_rows += PARTS[metric](row)
            if row["first"]:
                groups[row["group"] or row["transcript"]] += PARTS[metric](row)
    return groups, all_rows


def once(rows, folder):
    """Says of each row whether it is the first of its copies, by id."""
    lines = (Path(folder) / "cases.jsonl").read_text().splitlines()[1:]
    originals = {line["transcript"]: line.get("copy_of", line["transcript"]) for line in map(json.loads, lines)}
    firsts = {}
    for row in rows:
        original = originals[row["transcript"]]
        firsts[original] = min(firsts.get(original, row["transcript"]), row["transcript"])
    for row in rows:
        row["first"] = firsts[originals[row["transcript"]]] == row["transcript"]
    return rows


def tested(sides, row, seed, replicates):
    """The p of one row."""
    (base, all_base), (new, all_new) = (sums(side, row["model"], row["metric"]) for side in sides)
    names = sorted(base)
    # A rate differs where its events do: the text that was watched up to an alarm is no observation of its own.
    part = slice(0, 1) if row["metric"] == "fa_per_mchar" else slice(None)
    differ = sum(not np.array_equal(base[name][part], new[name][part]) for name in names)
    if differ < 6:
        return None
    drawn_sums = np.zeros((2, replicates, 2))
    for name in names:
        if base[name].any() or new[name].any():
            w = weights(seed, name, replicates)
            drawn_sums += np.stack([np.outer(w, base[name]), np.outer(w, new[name])])
    with np.errstate(invalid="ignore"):
        b, n = (side[:, 0] / side[:, 1] for side in drawn_sums)
    d = (n - b)[np.isfinite(n - b)]
    difference = all_new[0] / all_new[1] - all_base[0] / all_base[1]
    return 1.0 if difference == 0 else 2 * stats.t.sf(abs(difference) / d.std(ddof=1), differ - 1)


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    found = json.loads(Path(sys.argv[3]).read_text())
    seed, replicates = found["options"]["seed"], found["options"]["replicates"]
    sides = []
    for folder in sys.argv[1:3]:
        rows = read(Path(folder) / "outcomes.csv")
        # The reported setting: the first of the file.
        sides.append(once([row for row in rows if row["setting"] == rows[0]["setting"]], sys.argv[1]))
    bad = compared = 0
    for row in found["rows"]:
        if row["metric"] not in PARTS:
            continue
        want, compared = tested(sides, row, seed, replicates), compared + 1
        same = (row["p"] is None) == (want is None) and (want is None or np.isclose(row["p"], want, rtol=1e-7, atol=1e-300))
        if not same:
            bad += 1
            print(row["model"], row["metric"], row["p"], "not", want)
    for family in (lambda row: row["model"] == "*", lambda row: row["model"] != "*"):
        rows = [row for row in found["rows"] if family(row) and row["p"] is not None]
        adjusted = multipletests([row["p"] for row in rows], method="holm")[1] if rows else []
        for row, want in zip(rows, adjusted):
            compared += 1
            if not np.isclose(row["p_adjusted"], want, rtol=1e-9):
                bad += 1
                print(row["model"], row["metric"], "adjusted", row["p_adjusted"], "not", want)
    print(f"{compared} p values compared, {bad} differ")
    sys.exit(1 if bad or not compared else 0)


if __name__ == "__main__":
    main()
