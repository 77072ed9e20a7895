#!/usr/bin/env python3
"""How `circling` does on recordings that two readers judged: reports/circling.md.

    deadloop replay ../shared/data/real --settings scripts/circling.toml --csv --out circling-results
    scripts/circling.py circling-results ../shared/data/semantic >reports/circling.md

Reads outcomes.csv of that folder, and labels.csv (reader 1) and second.csv (reader 2) of the other. Nothing but the
standard library.
"""

import csv
import pathlib
import sys
from collections import Counter

CIRCLES = {"semantic", "escaped", "before-exact"}


def rows(path):
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(file))


def readings(folder):
    """What each reader says of a transcript, by id; a hard negative of any sort is `other`."""
    first = {r["id"]: r["class"] if r["class"] in CIRCLES else "other" for r in rows(folder / "labels.csv")}
    second = {r["id"]: r["verdict"] if r["verdict"] in CIRCLES else "other" for r in rows(folder / "second.csv")}
    both = {i: v for i, v in first.items() if second.get(i) == v}
    return {"reader 1": first, "reader 2": second, "both agree": both}


def main(results, folder):
    outcomes = {r["transcript"]: r for r in rows(results / "outcomes.csv")}
    alarmed = {i for i, r in outcomes.items() if r["alarm_exact"]}
    print("# `circling` on recordings that were read\n")
    print("The same few ideas again in other words: whether a text does that is a judgement. Two readers, both language models,")
    print("agree on 82 % of 186 recordings (Cohen's kappa 0.74). The defaults of `circling`, on both readings and where they agree")
    print("(`scripts/circling.py` says how to run this again):\n")
    print("| labels | semantic: found | escaped: stopped | before an exact loop: stopped | read as something else: alarms |")
    print("|---|---|---|---|---|")
    for name, read in readings(folder).items():
        read = {i: v for i, v in read.items() if i in outcomes}
        all_of = Counter(read.values())
        hit = Counter(v for i, v in read.items() if i in alarmed)
        cells = [f"{hit[c]} of {all_of[c]}" for c in ("semantic", "escaped", "before-exact", "other")]
        print(f"| {name} | {' | '.join(cells)} |")
    seen = set().union(*(set(r) for r in readings(folder).values()))
    clean = [r for r in outcomes.values() if r["class"] == "clean"]
    chars = sum(int(r["exposure"] or 0) for r in clean)
    unread = [r for r in clean if r["alarm_exact"] and r["transcript"] not in seen]
    wrong = [r for r in clean if r["alarm_exact"]]
    print(f"\nAlarms on transcripts that the corpus calls clean: {len(wrong)} in {chars / 1e6:.1f} million chars"
          f" ({1e6 * len(wrong) / chars:.2f} per million); {len(unread)} of them nobody read.")
    by_class = Counter(r["verdict"] for r in outcomes.values())
    print("Verdicts by the labels of `real`, version 2: " + ", ".join(f"{v} {n:,}" for v, n in sorted(by_class.items())) + ".\n")
    print("It is a warning: a third of what it finds answers in the end. Its Chinese list of markers is untested: the readers saw")
    print("English alone. `semantic` recordings were chosen by what sentence encoders rank first, so recall is on what these can see.")
    print()
    print("Planted, where the truth is known (`datasets/circling`: few statements over and over in any order, behind words of doubt;")
    print("the same doubt about something new each time): 30 of 30 found, 10 of them Chinese, after the onset; 0 of 20 healthy ones met")
    print("(`cargo nextest run --release --workspace --locked planted_circling`). These texts are plain: they show that the rule does what it says,")
    print("not how good it is.")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
