"""How the proposals of `deadloop label` agree with labels: labels.py AFTER [BEFORE], folders with real.csv and fresh.csv.

Run by scripts/labels. Writes the part of reports/labels.md between the marks below.
"""

import csv
import json
import pathlib
import subprocess
import sys

DATA = pathlib.Path("../shared/data")
CORPORA = {
    "real": ("`real`, version 3", sorted((DATA / "real/transcripts").glob("*.jsonl.zst"))),
    "fresh": ("`fresh`, texts", [DATA / "fresh/text.jsonl.zst"]),
}
CLASSES = ("loop", "clean", "transient")
MARKS = ("<!-- scripts/labels: from here -->", "<!-- scripts/labels: to here -->")


def main_of(rows):
    """The class of a transcript from its rows, and the row that says where the loop is."""
    for name in ("loop", "unsure", "transient", "clean"):
        found = [row for row in rows if row["class"] == name]
        if found:
            return name, found[-1]
    return "clean", {}


def truth(files):
    """The labels of a corpus: by id the class, its row, and whether the text is an answer to a puzzle."""
    known = {}
    for file in files:
        lines = subprocess.run(["zstd", "-dcq", str(file)], capture_output=True, check=True).stdout
        for line in lines.decode().split("\n"):
            if line:
                one = json.loads(line)
                known[one["id"]] = (*main_of(one["labels"]), one["meta"].get("source") == "rgym")
    return known


def proposed(path):
    if not path.exists():
        return {}
    rows = {}
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            rows.setdefault(row["transcript"], []).append(row)
    return {key: main_of(group) for key, group in rows.items()}


def begins(row):
    at = row.get("earliest")
    at = row.get("onset") if at in (None, "") else at
    return None if at in (None, "") else int(at)


def share(part, whole):
    return f"{part / whole:.1%}".replace("%", " %") + f" of {whole:,}" if whole else "n/a"


def rows_of(known, found):
    """Each row of the table: what it is, and the figure."""
    scored = {key: one for key, one in known.items() if one[0] in CLASSES and key in found}
    is_of = lambda wanted: [key for key, one in scored.items() if one[0] == wanted]
    same = lambda keys: sum(found[key][0] == known[key][0] for key in keys)
    yield "the same class", share(same(scored), len(scored))
    for name in CLASSES:
        keys = is_of(name)
        yield f"of the {name} ones", share(same(keys), len(keys))
    loops = is_of("loop")
    for kind in sorted({str(known[key][1].get("kind")) for key in loops}):
        keys = [key for key in loops if str(known[key][1].get("kind")) == kind]
        yield f"loops of kind {kind}", share(same(keys), len(keys))
    both = [(begins(found[key][1]), begins(known[key][1])) for key in loops if found[key][0] == "loop"]
    off = sorted(abs(a - b) for a, b in both if a is not None and b is not None)
    if off:
        yield "loops that both see: begin within 300 chars", share(sum(one <= 300 for one in off), len(off))
        yield "begin within 1,000 chars", share(sum(one <= 1000 for one in off), len(off))
        yield "median distance, chars", f"{off[len(off) // 2]:,}"
    puzzles = [key for key, one in scored.items() if one[2] and one[0] == "clean"]
    if puzzles:
        called = sum(found[key][0] == "loop" for key in puzzles)
        yield "healthy puzzles called loops", f"{called} ({share(called, len(puzzles))})"


def main():
    after = pathlib.Path(sys.argv[1])
    before = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 and sys.argv[2] else None
    out = []
    for name, (title, files) in CORPORA.items():
        known = truth(files)
        old = dict(rows_of(known, proposed(before / f"{name}.csv"))) if before else {}
        out += [f"| {title} | before | after |", "|---|---|---|"]
        out += [f"| {what} | {old.get(what, '')} | {figure} |" for what, figure in rows_of(known, proposed(after / f"{name}.csv"))]
        out.append("")
    report = pathlib.Path("reports/labels.md")
    text = report.read_text(encoding="utf-8")
    head, rest = text.split(MARKS[0])
    report.write_text(head + MARKS[0] + "\n" + "\n".join(out) + MARKS[1] + rest.split(MARKS[1])[1], encoding="utf-8")


main()
