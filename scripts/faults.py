"""Prints the tables of reports/faults.md from what scripts/faults left in a folder."""

import collections
import csv
import pathlib
import statistics
import sys

OUT = pathlib.Path(sys.argv[1])
FLOORS = {"never"}
DETECTORS = ["stall", "ending", "malformed", "json", "pseudo", "incomplete-results"]


def rows(path):
    with open(OUT / path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def outcomes(name):
    return [row for row in rows(f"{name}/outcomes.csv") if row["setting"] not in FLOORS]


def stem(transcript):
    return transcript.split("/")[0]


found = {name: outcomes(name) for name in DETECTORS}
labels = {}
with open("datasets/faults/labels.csv", newline="", encoding="utf-8") as file:
    for row in csv.DictReader(file):
        labels[row["transcript"]] = (row["class"], row["kind"])
of_kind = collections.Counter(kind for class_, kind in labels.values() if class_ == "fault")

print("| detector | intact streams that it stops |\n|---|---|")
for name in DETECTORS:
    clean = [row for row in found[name] if labels[row["transcript"]][0] == "clean"]
    wrong = collections.Counter(stem(row["transcript"]) for row in clean if row["alarm_at"])
    told = ", ".join(f"{item} {n}" for item, n in sorted(wrong.items())) or "none"
    print(f"| `{name}` | {sum(wrong.values())} of {len(clean)} ({told}) |")

scores = rows("repair/scores.csv")
print("\n| fault | noticed by | after | mended by, nothing wrong | mended by most | wrong then |\n|---|---|---|---|---|---|")
for kind, count in sorted(of_kind.items()):
    best = ("nobody", 0, "")
    for name in DETECTORS:
        hits = [r for r in found[name] if labels[r["transcript"]] == ("fault", kind) and r["verdict"] == "hit"]
        if len(hits) > best[1]:
            late = [int(r["latency"]) for r in hits if r["latency"]]
            unit = hits[0]["unit"]
            best = (name, len(hits), f"{statistics.median(late):.0f} {unit}" if late else "")
    own = [s for s in scores if s["fault"] == kind and s["damaged"] != "0"]
    intact = {s["variant"]: int(s["false_repair"]) for s in scores if s["fault"] == "intact"}
    none = [s for s in own if s["wrong"] == "0" and s["recovered"] != "0"]
    key = lambda s: (int(s["recovered"]), -int(s["wrong"]), -intact.get(s["variant"], 0))
    safe, most = max(none, key=key, default=None), max(own, key=key, default=None)
    say = lambda s: "nobody" if s is None or s["recovered"] == "0" else f"`{s['variant']}` {s['recovered']} of {s['damaged']}"
    wrong = "" if most is None or most["recovered"] == "0" else f"{most['wrong']} of {most['damaged']}"
    who = "nobody" if not best[1] else f"`{best[0]}` {best[1]} of {count}"
    print(f"| `{kind}` | {who} | {best[2]} | {say(safe)} | {say(most)} | {wrong} |")



def share(row, name):
    """Per cent of an interval."""
    return f"{100 * float(row[name + '_share']):.1f} ({100 * float(row[name + '_lo']):.1f} to {100 * float(row[name + '_hi']):.1f})"


def presets(scores):
    """Every preset over all faults."""
    print("\n| repairer | preset | damaged | recovered | wrong | intact | false repairs |\n|---|---|---|---|---|---|---|")
    for s in scores:
        preset = s["variant"].split("/")[1]
        cell = len(preset) == 8 and all(c in "0123456789abcdef" for c in preset)
        if s["fault"] == "*" and preset != "none" and not cell:
            shares = [share(s, name) for name in ("recovered", "wrong", "false_repair")]
            print(f"| `{s['repairer']}` | `{preset}` | {s['damaged']} | {shares[0]} | {shares[1]} | {s['intact']} | {shares[2]} |")


presets(scores)
if (OUT / "repair-real/scores.csv").exists():
    print("\nThe same for faults in real transcripts:")
    presets(rows("repair-real/scores.csv"))

    print("\nWhat is chosen on datasets/faults, on faults in real transcripts:")
    print("\n| repairer | recovered | damaged, wrong | at most | intact, changed | at most |\n|---|---|---|---|---|---|")
    chosen = [line[2:].split(":")[:3] for line in open(OUT / "repair/settings.toml", encoding="utf-8") if line.startswith("# ")]
    real = {s["variant"]: s for s in rows("repair-real/scores.csv") if s["fault"] == "*"}
    for verdict, variant in [(said[1].strip().split(".")[0], said[1].split(". ")[1].split(" ")[0]) for said in chosen[1:]]:
        if s := real.get(variant):
            most = [f"{100 * float(s[name]):.3f} %" for name in ("wrong_hi", "false_repair_hi")]
            share = f"{100 * float(s['recovered_share']):.1f} %"
            print(f"| `{variant}` ({verdict}) | {share} | {s['damaged']}, {s['wrong']} | {most[0]} | {s['intact']}, {s['false_repair']} | {most[1]} |")

if (OUT / "runs-2/outcomes.csv").exists():
    print("\nParallel calls of real runs, all needed:\n\n| what came back | alarms at it | alarms before it |\n|---|---|---|")
    for way in ["error", "field", "intact"]:
        found = collections.Counter(r["verdict"] for r in outcomes(f"real-calls-{way}"))
        before = found["premature"] + found["false-alarm"]
        print(f"| {way} | {found['hit']} of {sum(found.values())} | {before} |")
    for calls in [1, 2]:
        runs = collections.defaultdict(lambda: [0, 0])
        for r in outcomes(f"runs-{calls}"):
            runs[stem(r["transcript"])][0] += bool(r["alarm_at"])
            runs[stem(r["transcript"])][1] += 1
        told = ", ".join(f"{name} {n} of {all_}" for name, (n, all_) in sorted(runs.items()))
        alarms, count = (sum(column) for column in zip(*runs.values()))
        print(f"Real runs as they are, `min_calls` {calls}: {alarms} of {count} ({told})")

ended = collections.Counter()
with open("datasets/local-lm/labels.csv", newline="", encoding="utf-8") as file:
    of_lm = {row["transcript"]: row["class"] for row in csv.DictReader(file)}
for row in outcomes("local-lm-ending"):
    ended[of_lm.get(row["transcript"], "unlabelled"), bool(row["alarm_at"])] += 1
told = ", ".join(f"{name} {n} of {n + ended[name, False]}" for (name, stopped), n in sorted(ended.items()) if stopped)
print(f"\n`ending` on local-lm stops: {told}; of clean ones {ended['clean', True]} of {ended['clean', True] + ended['clean', False]}")

print("\n| idle_ms | model | stalls found | delay, s | intact ones cut |\n|---|---|---|---|---|")
for r in rows("stalls-swept/scores.csv"):
    if r["unit"] == "ms" and r["p.stall.idle_ms"] and int(r["p.stall.idle_ms"]) <= 5000:
        model = r["model"].replace("*", "all")
        delay = float(r["delay"]) / 1000
        print(f"| {r['p.stall.idle_ms']} | {model} | {r['hit']} of {r['loops']} | {delay:.1f} | {r['false_alarm']} of {r['clean']} |")

print("\n| idle_ms | stalls found (faults) | pauses cut (faults) | local-lm cut, by model |\n|---|---|---|---|")
for ms in [1000, 2000, 3000, 5000, 10000, 20000, 30000, 60000]:
    made = [r for r in outcomes(f"faults-{ms}") if stem(r["transcript"]) == "stall"]
    hit = sum(1 for r in made if r["verdict"] == "hit")
    stalls = sum(1 for r in made if labels[r["transcript"]][0] == "fault")
    cut = sum(1 for r in made if labels[r["transcript"]][0] == "clean" and r["alarm_at"])
    models = collections.defaultdict(lambda: [0, 0])
    for r in outcomes(f"local-lm-{ms}"):
        models[r["model"]][0] += bool(r["alarm_at"])
        models[r["model"]][1] += 1
    told = ", ".join(f"{model} {n} of {all_}" for model, (n, all_) in sorted(models.items()))
    print(f"| {ms} | {hit} of {stalls} | {cut} of {len(made) - stalls} | {told} |")
