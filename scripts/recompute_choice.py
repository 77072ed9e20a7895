#!/usr/bin/env python3
"""Computes the rows of a choice.csv again, of all models and of each, with other people's libraries.

usage: deadloop tune CORPUS --csv --out DIR
       python3 scripts/recompute_choice.py DIR     (pip install scipy statsmodels scikit-learn)

From outcomes.csv: how many transcripts, loops and clean ones a row stands on, the figures of the setting in use
(`in_use_…`), and those of the file, each model under its own setting (`in_sample_…`), in chars. `held_out_…` is compared
where no fold chose it; the choice of each fold is in no file. To a relative 1e-9; prints what differs and exits with 1.
"""
import json
import sys
from pathlib import Path

from recompute import read, same, scores_of

METRICS = ("ended", "recall", "within_1000", "fa_per_mchar", "delay", "saved")
COUNTS = ("transcripts", "loops", "clean")


def rows_of(outcomes, model, setting_of):
    return [r for r in outcomes if model in ("*", r["model"]) and r["setting"] == setting_of(r["model"])]


def compared(row, outcomes, in_use, file):
    """Each figure of the row that can be known: its name, what it says, what comes out here."""
    model = row["model"]
    used = scores_of(rows_of(outcomes, model, lambda _: in_use), 0, 0)
    own = scores_of(rows_of(outcomes, model, file.get), 0, 0)
    for name in COUNTS:
        yield name, row[name], own[name]
    for name in METRICS:
        yield f"in_use_{name}", row[f"in_use_{name}"], used[name]
        yield f"in_sample_{name}", row[f"in_sample_{name}"], own[name]
        if row["from"] != "grid" and model != "*":
            yield f"held_out_{name}", row[f"held_out_{name}"], own[name]


def setting_in_use(folder):
    """Its id: what --settings named, or else the recommended guard."""
    names = json.loads((folder / "manifest.json").read_text())["settings"]
    for name in ("current", "recommended"):
        for setting, known in names.items():
            if name in known:
                return setting
    sys.exit("the manifest does not name what is in use")


def main(folder):
    outcomes, choice = read(folder / "outcomes.csv"), read(folder / "choice.csv")
    in_use = setting_in_use(folder)
    file = {row["model"]: row["setting"] for row in choice}
    cells = wrong = 0
    for row in choice:
        for name, said, known in compared(row, outcomes, in_use, file):
            cells += 1
            if not same(None if said == "" else float(said), known):
                wrong += 1
                print(f"{row['model']}: {name} is {said}, here {known}")
    print(f"{cells} figures of {len(choice)} rows of choice.csv, {wrong} differ")
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
