"""Tables of the field from result folders of `deadloop replay --presets`: field.py FOLDER... (to stdout).

Run by scripts/field. The peers' own programs stand beside the presets where FOLDER-peers has them, on the same
transcripts. Nothing is computed here but the choice and order of rows, and which are on the Pareto
front: every number is a cell of scores.csv or scores_by.csv, or of reports/bench.md (cost); but for how often
a preset and the peer of its name stop the same transcripts, which is counted from outcomes.csv.
"""

import csv
import json
import pathlib
import re
import sys

FLOORS = ("never",)
# A preset is made from a release that is not the peer's present one.
PRESET_OF = {"qwen-code": "qwen-code-0.0.14"}
BENCH = pathlib.Path("reports/bench.md")


def rows(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def percent(text):
    return f"{float(text):.1%}".replace("%", " %") if text else "n/a"


def number(text, digits):
    return f"{float(text):,.{digits}f}" if text else "n/a"


def interval(row, metric, low, high, digits=None):
    show = percent if digits is None else lambda text: number(text, digits)
    return f"{show(row[metric])} ({show(row[low])} to {show(row[high])})"


def peers(folder):
    """Where the peers' own programs ran on the same transcripts; none: nowhere."""
    beside = folder.with_name(folder.name + "-peers")
    return [beside] if beside.exists() else []


def programs(folder):
    return {row["setting"] for row in rows(folder / "scores.csv") if row.get("p.command.command")}


def names(folder):
    """What each setting is called; a program is told from the preset of its name."""
    settings = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["settings"]
    mark = {setting: " (program)" for setting in programs(folder)}
    named = {setting: " = ".join(labels) + mark.get(setting, "") for setting, labels in settings.items()}
    for beside in peers(folder):
        # The first of them is the current one there.
        theirs = {setting: name.replace(" = current", "") for setting, name in names(beside).items()}
        named |= {setting: name for setting, name in theirs.items() if name.endswith(" (program)")}
    return named


def scores(folder, name):
    """The rows of a table of scores, and those of the peers' programs, in chars: tokens and times have rows of their own."""
    own, others = rows(folder / name), []
    for beside in peers(folder):
        theirs = programs(beside)
        others += [row for row in rows(beside / name) if row["setting"] in theirs]
    return [row for row in own + others if row["unit"] == "chars"]


def table(header, lines):
    print("| " + " | ".join(header) + " |")
    print("|" + "---|" * len(header))
    for line in lines:
        print("| " + " | ".join(map(str, line)) + " |")
    print()


def recall_of(row):
    return float(row["recall"] or 0)


def found_or_earlier(row):
    """Loops that were found, or stopped in a repetition before: the share of all."""
    loops = int(row["loops"])
    return percent((int(row["hit"]) + int(row["earlier"])) / loops) if loops else "n/a"


def break_even(row):
    """The share of responses that loop from which on the guard spares more than it cuts."""
    return f"{float(row['break_even']):.4%}".replace("%", " %") if row["break_even"] else "n/a"


# What is known of the run whose rows are read: the chars of one mean clean response.
RUN = {}


def worth(row):
    """What a looping response is spared on average, and what a healthy one is cut: S and W of `break_even` (METHOD); nothing
    where one of them is n/a."""
    loops, clean = int(row["loops"]), int(row["clean"])
    if not loops or not clean:
        return None
    cut = int(row["cut_chars"]) + RUN["response"] * (int(row["premature"]) + int(row["stale"]))
    wasted = int(row["false_chars"]) + RUN["response"] * int(row["false_alarm"])
    return (int(row["saved_chars"]) - cut) / loops, wasted / clean


def ours_ahead(row, ours):
    """The share of responses that loop from which on the recommended guard spares more than this one."""
    theirs, own = worth(row), worth(ours)
    if theirs is None or own is None or row["setting"] == ours["setting"]:
        return ""
    more, cost = own[0] - theirs[0], own[1] - theirs[1]
    if more <= 0:
        return "never" if cost >= 0 else "n/a"
    odds = max(0.0, cost / more)
    return f"{odds / (1 + odds):.2%}".replace("%", " %")


def passing(folder, known, order):
    """What stopping a repetition that ends by itself costs: what was left of it, and what came after it."""
    lines = []
    by = {}
    for row in rows(folder / "outcomes.csv"):
        if row["class"] == "transient" and row["verdict"] == "transient-stop" and row["end"]:
            by.setdefault(row["setting"], []).append(row)
    for setting in order:
        stopped = by.get(setting)
        if stopped:
            left = sorted(max(0, int(r["end"]) - int(r["alarm_exact"])) for r in stopped)
            after = sorted(int(r["length"]) - int(r["end"]) for r in stopped)
            middle = lambda found: f"{found[len(found) // 2]:,}"
            lines.append([known.get(setting, setting), str(len(stopped)), middle(left), middle(after)])
    if lines:
        print("Repetitions that ended by themselves and were stopped (`passing`), in transcripts that have no loop: how many, how many")
        print("chars of the repetition were left, and how many came after it, medians:\n")
        table(["guard", "stopped", "chars left", "chars after"], lines)


def costs():
    """CPU milliseconds per megabyte of each preset and of the recommended guard, as the benchmark measured them."""
    text = BENCH.read_text(encoding="utf-8")
    megabytes, chars = (float(n) for n in re.search(r"([\d.]+) MB, ([\d.]+) M chars", text).groups())
    per_char = re.findall(r"^  \w+ +([\w-]+) +([\d.]+)$", text, re.M)
    found = {name: float(ns) * chars / megabytes for name, ns in per_char}
    found["recommended"] = 1000 * float(re.search(r"the recommended guard: ([\d.]+) s", text)[1]) / megabytes
    return found


def front(scored):
    """The settings that no other one beats: recall, false alarms and delay together."""
    def worth(row):
        return recall_of(row), -float(row["fa_per_mchar"] or 0), -float(row["delay"] or 0)

    real = [row for row in scored if row["setting"] not in FLOORS]
    beaten = lambda a: any(all(x >= y for x, y in zip(worth(b), worth(a))) and worth(a) != worth(b) for b in real)
    return {row["setting"] for row in real if not beaten(row)}


def whole(folder, known):
    scored = [row for row in scores(folder, "scores.csv") if row["model"] == "*"]
    if len({row["transcripts"] for row in scored}) > 1:
        sys.exit(f"{folder}: the peers' programs did not run on the same transcripts")
    scored.sort(key=recall_of, reverse=True)
    best, cost = front(scored), costs()
    ours = next(row for row in scored if known.get(row["setting"], "").split(" = ")[0] == "recommended")
    lines = []
    for row in scored:
        name = known.get(row["setting"], row["setting"])
        took = next((cost[part] for part in name.split(" = ") if part in cost), None)
        lines.append([
            name,
            interval(row, "recall", "recall_lo", "recall_hi"),
            found_or_earlier(row),
            percent(row["within_1000"]),
            number(row["delay"], 0),
            interval(row, "fa_per_mchar", "fa_lo", "fa_hi", 2),
            f"{row['false_alarm']} + {row['premature']}",
            number(row["transient_per_mchar"], 2),
            break_even(row),
            ours_ahead(row, ours),
            row["errors"],
            "yes" if row["setting"] in best else "",
            f"{took:,.1f}" if took is not None else "",
        ])
    table(["guard", "recall (95 %)", "or stopped earlier", "within 1,000", "delay, chars", "false alarms/Mchar (95 %)",
           "false alarms + premature", "passing/Mchar", "pays from", "ours ahead from", "errors", "Pareto", "ms/MB"], lines)
    return [row["setting"] for row in scored]


def broken_down(folder, known, order, by, title, metric):
    found = [row for row in scores(folder, "scores_by.csv") if row["by"] == by and row["model"] == "*"]
    if not found:
        return
    weight = {}
    for row in found:
        weight[row["value"]] = max(weight.get(row["value"], 0), int(row["transcripts"]))
    values = sorted(weight, key=lambda value: -weight[value])[:8]
    cells = {(row["setting"], row["value"]): row for row in found}
    lines = []
    for setting in order:
        line = [known.get(setting, setting)]
        for value in values:
            row = cells.get((setting, value))
            line.append(metric(row) if row else "n/a")
        if len(line) > 1:
            lines.append(line)
    print(f"{title}\n")
    table(["guard"] + [f"{value or '(none)'} ({weight[value]:,})" for value in values], lines)


def models(folder, known, order):
    scored = scores(folder, "scores.csv")
    weight = {row["model"]: int(row["loops"]) for row in scored if row["model"] != "*" and row["setting"] in order}
    values = sorted(weight, key=lambda model: (-weight[model], model))[:8]
    cells = {(row["setting"], row["model"]): row for row in scored}
    lines = []
    for setting in order:
        found = [cells.get((setting, model)) for model in values]
        lines.append([known.get(setting, setting)] + [percent(row["recall"]) if row else "n/a" for row in found])
    print("Recall by model, those with most loops:\n")
    table(["guard"] + [f"{model} ({weight[model]})" for model in values], lines)


def agreement(folder):
    """Peers beside our presets of their name, transcript by transcript: who alarms, and where."""
    outcomes = folder / "outcomes.csv"
    known = names(folder)
    twins = [(setting, other) for setting, name in known.items() for other, program in known.items()
             if program == f"{PRESET_OF.get(name, name)} (program)"]
    if not twins or not outcomes.exists():
        return
    alarms = {}
    for row in rows(outcomes):
        alarms.setdefault(row["setting"], {})[row["transcript"]] = row["alarm_exact"] and int(row["alarm_exact"])
    lines = []
    for preset, program in sorted(twins, key=lambda twin: known[twin[0]]):
        pairs = [(alarms[preset][id], at, id) for id, at in alarms[program].items()]
        both = [at - ours for ours, at, _ in pairs if ours != "" and at != ""]
        alone = [[id for *twin, id in pairs if twin[mine] != "" and twin[1 - mine] == ""] for mine in (0, 1)]
        later = f"{sorted(both)[len(both) // 2]:+,}" if both else "n/a"
        lines.append([known[preset], known[program], f"{len(pairs):,}", f"{len(both):,}", later]
                     + [f"{len(ids)}" + (f" ({', '.join(sorted(ids)[:3])})" if ids else "") for ids in alone])
    print("Our presets beside the peers themselves: how many transcripts both stop, how many chars later the program does (the")
    print("median), and how many only one of them stops, with the first three by name. Why they differ stands beside each")
    print("preset (`deadloop detectors --presets`, \"left out\"):\n")
    table(["preset", "peer", "transcripts", "both stop", "later by", "only the preset", "only the peer"], lines)


def heading(folder, manifest):
    """What was replayed, from the counts of the rows of all models together."""
    row = next(row for row in rows(folder / "scores.csv") if row["model"] == "*")
    return (f"{int(row['transcripts']):,} transcripts, {int(row['loops']):,} scored loops. "
            f"Command: `{manifest.get('command', 'replay')}`, seed {manifest.get('seed', 1)}.")


def main():
    print("# The guards of the field, side by side\n")
    print("Made by `scripts/field`; what each number means: `METHOD.md`. `(program)` is the peer's own code, run as it")
    print("ships through `scripts/peers`; the others are presets of ours. `never` is no guard at")
    print("all. `delay`: what a loop costs in chars, misses included. `Pareto`: no other guard of the table is as")
    print("good in recall, wrong alarms and delay and better in one. `or stopped earlier`: found, or stopped in a repetition before.")
    print("`passing`: alarms in repetitions that end by themselves. `pays from`: the share of responses that loop from which")
    print("on the guard spares more than it cuts. `ours ahead from`: the same share from which on the recommended guard spares")
    print("more than this one. `ms/MB`: CPU time of one core per megabyte of text, from `bench.md`. Every corpus here is the")
    print("development one, and the recommended guard was chosen on `real`: its row there is in-sample (held out: reports/real.md). The test split of these recordings is sealed, and not opened.\n")
    folders = [pathlib.Path(name) for name in sys.argv[1:]]
    if not any(map(peers, folders)):
        print("The peers' own programs were not run this time; `field-programs.md` has what they did the last time, on older labels.\n")
    for folder in folders:
        known = names(folder)
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        RUN["response"] = manifest["worth"]["response"]
        print(f"## {folder.name}\n")
        print(f"{heading(folder, manifest)}\n")
        order = whole(folder, known)
        passing(folder, known, order)
        broken_down(folder, known, order, "kind", "Recall by kind:", lambda row: percent(row["recall"]))
        broken_down(folder, known, order, "lang", "Recall by language:", lambda row: percent(row["recall"]))
        broken_down(folder, known, order, "meta.tag", "Wrong alarms per million clean chars by class of text (`meta.tag`):",
                    lambda row: number(row["fa_per_mchar"], 2))
        models(folder, known, order)
        for beside in peers(folder):
            agreement(beside)


if __name__ == "__main__":
    main()
