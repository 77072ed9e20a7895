#!/usr/bin/env python3
"""Computes the scores of a run again from its outcomes.csv, with other people's libraries.

usage: python3 scripts/recompute.py DIR     (pip install scipy statsmodels scikit-learn)

Compares scores.csv and intervals.csv in DIR with what scikit-learn (precision, recall, F1),
statsmodels (Wilson, Clopper-Pearson), scipy (Poisson) and numpy (quantiles) make of the rows of
outcomes.csv, to a relative 1e-9. Prints what differs and exits with 1. Settings without rows in
outcomes.csv (floors, cells of a sweep) are counted and not compared.
"""
import csv
import json
import math
import sys
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
from scipy.stats import chi2
from sklearn.metrics import f1_score, precision_score, recall_score
from statsmodels.stats.proportion import proportion_confint

LOOPS = ("hit", "late", "premature", "stale", "miss")
WRONG = ("false-alarm", "premature", "stale")
# What each verdict is to a binary classifier: (true class, predicted class). A healthy stream that
# was cut before or after its loop is a false positive and a false negative.
BINARY = {
    "hit": [(1, 1)], "late": [(1, 0)], "miss": [(1, 0)],
    "premature": [(1, 0), (0, 1)], "stale": [(1, 0), (0, 1)],
    "false-alarm": [(0, 1)], "quiet": [(0, 0)],
}


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def number(text):
    if text == "":
        return None
    return math.inf if text == "never" else float(text)


def ratio(part, whole):
    return part / whole if whole else None


def known(value):
    return None if value is None or math.isnan(value) else float(value)


def binary(rows):
    pairs = [pair for row in rows for pair in BINARY.get(row["verdict"], [])]
    truth, said = [p[0] for p in pairs], [p[1] for p in pairs]
    if not pairs:
        return {}
    scores = {
        "precision": known(precision_score(truth, said, zero_division=np.nan)),
        "recall": known(recall_score(truth, said, zero_division=np.nan)),
    }
    if any(truth) or any(said):
        scores["f1"] = float(f1_score(truth, said, zero_division=0.0))
    return scores


def interval(name, k, n):
    if n == 0:
        return {f"{name}_lo": None, f"{name}_hi": None}
    lo, hi = proportion_confint(k, n, method="wilson")
    return {f"{name}_lo": float(lo), f"{name}_hi": float(hi)}


def rates(count, exposure):
    wrong = sum(count[v] for v in WRONG)
    clean = count["false-alarm"] + count["quiet"]
    loops = sum(count[v] for v in LOOPS)
    scores = {"fpr": ratio(count["false-alarm"], clean), "exposure": exposure}
    scores |= interval("precision", count["hit"], count["hit"] + wrong)
    scores |= interval("recall", count["hit"], loops)
    scores |= interval("fpr", count["false-alarm"], clean)
    scores |= {"fa_per_mchar": None, "fa_lo": None, "fa_hi": None}
    if exposure:
        lo = chi2.ppf(0.025, 2 * wrong) / 2 if wrong else 0.0
        hi = chi2.ppf(0.975, 2 * wrong + 2) / 2
        events = {"fa_per_mchar": wrong, "fa_lo": lo, "fa_hi": hi}
        scores |= {name: 1e6 * n / exposure for name, n in events.items()}
    return scores


def quantiles(prefix, values):
    def at(q):
        return float(np.quantile(values, q, method="inverted_cdf")) if values else None
    return {f"{prefix}_p{name}": at(q) for name, q in (("50", 0.5), ("90", 0.9), ("95", 0.95))}


def latencies(rows, loops):
    hits = [number(r["latency"]) for r in rows if r["verdict"] == "hit"]
    scores = quantiles("latency", hits + [math.inf] * (loops - len(hits)))
    scores |= quantiles("hit_latency", hits)
    for n in (100, 200, 500, 1000, 2000, 5000):
        scores[f"within_{n}"] = ratio(sum(1 for d in hits if d <= n), loops)
    return scores


def worth(rows, count, exposure, pi, cost):
    loops = sum(count[v] for v in LOOPS)
    clean = count["false-alarm"] + count["quiet"]
    looping = [r for r in rows if r["verdict"] in LOOPS]

    def total(column, some=rows):
        return sum(number(r[column]) or 0 for r in some)

    lost = total("lost")
    kinds = [number(r["kind_right"]) for r in rows if r["kind_right"] != ""]
    scores = {
        "delay": ratio(total("delay", looping), loops),
        "saved": ratio(total("saved", looping), total("loop_chars", looping)),
        "lost": 1e6 * lost / (lost + exposure) if lost + exposure else None,
        "kind_accuracy": ratio(sum(kinds), len(kinds)),
        "ppv": None,
        "utility": None,
    }
    if loops and clean:
        h = pi * (count["hit"] + count["late"]) / loops
        q = pi * (count["premature"] + count["stale"]) / loops
        f = (1 - pi) * count["false-alarm"] / clean
        scores["ppv"] = ratio(h, h + q + f)
        # Shares are summed in units of 1e-12, rounded down.
        share = sum(math.floor(number(r["saved"]) * 10**12 / number(r["loop_chars"])) / 1e12
                    for r in looping if r["verdict"] in ("hit", "late") and number(r["loop_chars"]))
        gain = share - cost * (count["premature"] + count["stale"])
        loss = (1 - pi) * cost * count["false-alarm"] / clean
        scores["utility"] = 100 * (pi * gain / loops - loss) / pi
    return scores


def counts(rows, count):
    return {
        "transcripts": len(rows),
        "loops": sum(count[v] for v in LOOPS),
        "clean": count["false-alarm"] + count["quiet"],
        "transient": count["transient-stop"] + count["transient-pass"],
        "unlabelled": count["unlabelled"],
        "false_alarm": count["false-alarm"],
        "errors": count["error"],
    } | {v: count[v] for v in LOOPS + ("quiet",)}


def scores_of(rows, pi, cost):
    count = Counter(r["verdict"] for r in rows)
    exposure = sum(int(r["exposure"]) for r in rows)
    loops = sum(count[v] for v in LOOPS)
    scores = {"precision": None, "recall": None, "f1": None}
    scores |= binary(rows) | counts(rows, count) | rates(count, exposure)
    return scores | latencies(rows, loops) | worth(rows, count, exposure, pi, cost)


def same(a, b):
    if a is None or b is None:
        return a is b
    if math.isinf(a) or math.isinf(b):
        return a == b
    return abs(a - b) <= 1e-9 * max(1.0, abs(a), abs(b))


def check_rows(outcomes):
    """What a row says must follow from its own columns."""
    for row in outcomes:
        if row["verdict"] not in ("hit", "late") or row["alarm_channel"] != row["channel"]:
            continue
        at, onset, end = (int(row[c]) for c in ("alarm_at", "onset", "end"))
        where = (row["setting"], row["transcript"])
        yield (*where, "latency", number(row["latency"]), float(max(0, at - onset)))
        yield (*where, "saved", number(row["saved"]), float(max(0, end - max(at, onset))))
        yield (*where, "loop_chars", number(row["loop_chars"]), float(end - onset))


def check_scores(folder, groups, pi, cost):
    for row in read(folder / "scores.csv"):
        rows = groups.get((row["setting"], row["model"]))
        if rows is None:
            continue
        for name, value in scores_of(rows, pi, cost).items():
            yield row["setting"], row["model"], name, number(row[name]), value


def check_intervals(folder, groups):
    path = folder / "intervals.csv"
    for row in read(path) if path.exists() else []:
        rows = groups.get((row["setting"], row["model"]))
        if rows is None or row["method"] != "clopper-pearson":
            continue
        count = Counter(r["verdict"] for r in rows)
        wrong = sum(count[v] for v in WRONG)
        k, n = {
            "precision": (count["hit"], count["hit"] + wrong),
            "recall": (count["hit"], sum(count[v] for v in LOOPS)),
            "fpr": (count["false-alarm"], count["false-alarm"] + count["quiet"]),
        }[row["metric"]]
        lo, hi = map(float, proportion_confint(k, n, method="beta")) if n else (None, None)
        lo = 0.0 if n and k == 0 else lo
        hi = 1.0 if n and k == n else hi
        for name, value in (("estimate", ratio(k, n)), ("lo", lo), ("hi", hi)):
            where = f"{row['metric']} {name}"
            yield row["setting"], row["model"], where, number(row[name]), value


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = Path(sys.argv[1])
    worth = json.loads((folder / "manifest.json").read_text())["worth"]
    outcomes = read(folder / "outcomes.csv")
    groups = defaultdict(list)
    for row in outcomes:
        groups[row["setting"], row["model"]].append(row)
        groups[row["setting"], "*"].append(row)
    found = [
        *check_rows(outcomes),
        *check_scores(folder, groups, worth["pi"], worth["lambda"]),
        *check_intervals(folder, groups),
    ]
    wrong = [row for row in found if not same(row[3], row[4])]
    for setting, where, name, ours, theirs in wrong:
        print(f"{setting:<16} {where:<28} {name:<20} {ours!s:<24} {theirs}")
    settings = len({setting for setting, _ in groups})
    print(f"{len(found)} numbers of {settings} settings compared, {len(wrong)} differ")
    sys.exit(1 if wrong or not found else 0)


if __name__ == "__main__":
    main()
