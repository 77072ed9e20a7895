#!/usr/bin/env python3
"""Computes the scores of a run again from its outcomes.csv, with other people's libraries.

usage: python3 scripts/recompute.py DIR     (pip install scipy statsmodels scikit-learn)

Compares scores.csv in DIR with what scikit-learn (precision, recall),
statsmodels (Wilson), scipy (Poisson) and numpy (quantiles) make of the rows of outcomes.csv, to a relative 1e-9;
where groups have several transcripts the intervals are over groups, and only have to hold the estimate. Prints what differs and exits with 1. Settings without rows in
outcomes.csv (`never`, cells of a sweep) are counted and not compared.
"""
import csv
import json
import math
import sys
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
from scipy.stats import chi2
from sklearn.metrics import precision_score, recall_score
from statsmodels.stats.proportion import proportion_confint

LOOPS = ("hit", "premature", "stale", "miss", "earlier")
WRONG = ("false-alarm", "premature", "stale")
# What each verdict is to a binary classifier: (true class, predicted class). A healthy stream that
# was cut before or after its loop is a false positive and a false negative.
BINARY = {
    "hit": [(1, 1)], "miss": [(1, 0)],
    "premature": [(1, 0), (0, 1)], "stale": [(1, 0), (0, 1)],
    "false-alarm": [(0, 1)], "quiet": [(0, 0)],
    # An earlier repetition was stopped: the loop was not found.
    "earlier": [(1, 0)],
}


def verdict(row):
    """An alarm in an earlier repetition of a transcript that loops later has a loop with a length."""
    earlier = row["verdict"] == "transient-stop" and int(row["loop_chars"] or 0) > 0
    return "earlier" if earlier else row["verdict"]


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
    pairs = [pair for row in rows for pair in BINARY.get(verdict(row), [])]
    truth, said = [p[0] for p in pairs], [p[1] for p in pairs]
    if not pairs:
        return {}
    scores = {
        "precision": known(precision_score(truth, said, zero_division=np.nan)),
        "recall": known(recall_score(truth, said, zero_division=np.nan)),
    }
    return scores


def interval(name, k, n):
    if n == 0:
        return {f"{name}_lo": None, f"{name}_hi": None}
    lo, hi = proportion_confint(k, n, method="wilson")
    return {f"{name}_lo": float(lo), f"{name}_hi": float(hi)}


# Of each unit: the name of its rates, and per how many units they are.
RATES = {"chars": ("mchar", 1e6), "calls": ("kcall", 1e3), "turns": ("kturn", 1e3)}


def rates(count, exposure, unit):
    wrong = sum(count[v] for v in WRONG)
    loops = sum(count[v] for v in LOOPS)
    scores = {"exposure": exposure}
    ended = count["hit"] + count["earlier"]
    scores["ended"] = ratio(ended, loops)
    scores |= interval("ended", ended, loops)
    scores |= interval("recall", count["hit"], loops)
    per, scale = RATES[unit]
    scores |= {f"fa_per_{name}": None for name, _ in RATES.values()} | {"fa_lo": None, "fa_hi": None}
    scores |= {f"transient_per_{name}": None for name, _ in RATES.values()}
    if exposure:
        lo = chi2.ppf(0.025, 2 * wrong) / 2 if wrong else 0.0
        hi = chi2.ppf(0.975, 2 * wrong + 2) / 2
        stops = count["transient-stop"] + count["earlier"]
        events = {f"fa_per_{per}": wrong, "fa_lo": lo, "fa_hi": hi, f"transient_per_{per}": stops}
        scores |= {name: scale * n / exposure for name, n in events.items()}
    return scores


def quantiles(prefix, values):
    def at(q):
        return float(np.quantile(values, q, method="inverted_cdf")) if values else None
    return {f"{prefix}_p{name}": at(q) for name, q in (("50", 0.5), ("90", 0.9))}


def latencies(rows, loops, unit):
    hits = [number(r["latency"]) for r in rows if verdict(r) == "hit"]
    scores = quantiles("latency", hits + [math.inf] * (loops - len(hits)))
    ended = [r for r in rows if verdict(r) in ("hit", "earlier")]
    n = {"chars": 1000, "calls": 5, "turns": 5}[unit]
    return scores | {f"within_{n}": ratio(sum(1 for r in ended if int(r["delay"]) <= n), loops)}


def worth(rows, count, response, cut):
    loops = sum(count[v] for v in LOOPS)
    clean = count["false-alarm"] + count["quiet"]
    looping = [r for r in rows if verdict(r) in LOOPS]

    def total(column, some=rows):
        return sum(number(r[column]) or 0 for r in some)

    scores = {
        "delay": ratio(total("delay", looping), loops),
        "saved": ratio(total("saved", looping), total("loop_chars", looping)),
        "loop_chars": total("loop_chars", looping),
        "lost_chars": total("lost"),
        "break_even": None,
    }
    if loops and clean:
        again = sum(number(r["exposure"]) for r in rows if verdict(r) == "false-alarm")
        spared = total("saved", looping) - cut - response * (count["premature"] + count["stale"])
        s, w = spared / loops, (again + response * count["false-alarm"]) / clean
        scores["break_even"] = w / (s + w) if s > 0 else None
    return scores


def counts(rows, count):
    return {
        "transcripts": len(rows),
        "loops": sum(count[v] for v in LOOPS),
        "clean": count["false-alarm"] + count["quiet"],
        "transient_pass": count["transient-pass"],
        "transient_stop": count["transient-stop"] + count["earlier"],
        "unlabelled": count["unlabelled"],
        "false_alarm": count["false-alarm"],
        "errors": count["error"],
    } | {v: count[v] for v in LOOPS}


def scores_of(rows, response, cut):
    unit = rows[0]["unit"]
    count = Counter(verdict(r) for r in rows)
    exposure = sum(int(r["exposure"]) for r in rows)
    loops = sum(count[v] for v in LOOPS)
    scores = {"precision": None, "recall": None}
    scores |= binary(rows) | counts(rows, count) | rates(count, exposure, unit)
    return scores | latencies(rows, loops, unit) | worth(rows, count, response, cut)


def same(a, b):
    if a is None or b is None:
        return a is b
    if math.isinf(a) or math.isinf(b):
        return a == b
    return abs(a - b) <= 1e-9 * max(1.0, abs(a), abs(b))


def check_rows(outcomes):
    """What a row says must follow from its own columns."""
    for row in outcomes:
        if row["verdict"] != "hit" or row["alarm_channel"] != row["channel"]:
            continue
        at, onset, end = (int(row[c]) for c in ("alarm_at", "onset", "end"))
        where = (row["setting"], row["transcript"])
        yield (*where, "latency", number(row["latency"]), float(max(0, at - onset)))
        yield (*where, "saved", number(row["saved"]), float(max(0, end - max(at, onset))))
        yield (*where, "loop_chars", number(row["loop_chars"]), float(end - onset))


def check_scores(folder, groups, response):
    for row in read(folder / "scores.csv"):
        rows = groups.get((row["setting"], row["by"], row["value"]))
        # Outcomes are in the unit of choice.
        if rows is None or row["unit"] != rows[0]["unit"]:
            continue
        where = f"{row['by']} {row['value']}"
        clustered = len({r["group"] or r["transcript"] for r in rows}) < len(rows)
        # What had been generated at a premature or stale alarm stands in no row; a premature one's exposure ends there.
        cut = number(row["cut_chars"])
        if not any(verdict(r) == "stale" for r in rows):
            again = sum(number(r["exposure"]) for r in rows if verdict(r) == "premature")
            yield row["setting"], where, "cut_chars", cut, again
        scores = scores_of(rows, response, cut)
        resampled = {f"{of}_{end}" for of in ("saved", "delay") for end in ("lo", "hi")}
        for name in row.keys() & (scores.keys() | resampled):
            if name in resampled or clustered and name.endswith(("_lo", "_hi")):
                # Over groups, and never narrower: it has to hold the estimate.
                yield row["setting"], where, name, *held(row, name)
            else:
                yield row["setting"], where, name, number(row[name]), scores[name]


def held(row, name):
    """The bound, and the bound again if it lies on its side of the estimate."""
    bound = number(row[name])
    of = {"fa": f"fa_per_{RATES[row['unit']][0]}"}.get(name[:-3], name[:-3])
    estimate = number(row[of])
    if bound is None or estimate is None:
        return bound, bound
    right = bound <= estimate * (1 + 1e-9) if name.endswith("_lo") else bound >= estimate * (1 - 1e-9)
    return bound, bound if right else estimate


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = Path(sys.argv[1])
    worth = json.loads((folder / "manifest.json").read_text())["worth"]
    outcomes = read(folder / "outcomes.csv")
    groups = defaultdict(list)
    for row in outcomes:
        groups[row["setting"], "total", ""].append(row)
        for by in ("model", "kind", "lang", "source"):
            groups[row["setting"], by, row[by]].append(row)
    found = [
        *check_rows(outcomes),
        *check_scores(folder, groups, worth["response"]),
    ]
    wrong = [row for row in found if not same(row[3], row[4])]
    for setting, where, name, ours, theirs in wrong:
        print(f"{setting:<16} {where:<28} {name:<20} {ours!s:<24} {theirs}")
    settings = len({setting for setting, *_ in groups})
    print(f"{len(found)} numbers of {settings} settings compared, {len(wrong)} differ")
    sys.exit(1 if wrong or not found else 0)


if __name__ == "__main__":
    main()
