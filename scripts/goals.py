"""What the recommended guard misses of its goals: goals.py CORPUS (to stdout), and reports/goals.csv, each transcript.

Run by scripts/goals, from its result folders. Every number is a cell of scores.csv, or a count or sum over rows of
outcomes.csv. What a text is stands in the words of CORPUS/review.csv where its readers wrote some, else in those of who
read it for this report.
"""

import csv
import pathlib
import sys
from collections import Counter, defaultdict

from field import rows, table

FOLDER = pathlib.Path("field-results")
# What was asked of the guard, and how a row of scores.csv is measured by it: (name, asked, metric, wanted, shown).
most = lambda limit: lambda value: value <= limit
least = lambda limit: lambda value: value >= limit
percent = lambda value: f"{value:.1%}".replace("%", " %")
GOALS = [
    ("loops found, or stopped earlier", "at least 98 %", "plus", least(0.98), percent),
    ("wrong alarms per Mchar", "at most 0.45", "fa_per_mchar", most(0.45), lambda value: f"{value:.3f}"),
    ("found within 1,000 chars", "at least 82 %", "within_1000", least(0.82), percent),
    ("delay, chars", "at most 850", "delay", most(850), lambda value: f"{value:,.0f}"),
    ("alarms on the 586 texts of `datasets/negatives`", "at most 12", "negatives", most(12), str),
]
PERIODS = [
    (500, "to 500", "mostly near-copies, and lists in which numbers count on: they have to fill 4,500 chars or more"),
    (1000, "501 to 1,000", "two copies and what leads into them take more than 1,000 chars"),
    (2000, "1,001 to 2,000", "the second copy alone takes more than 1,000 chars"),
    (10**12, "above 2,000", "the second copy alone takes more than 2,000 chars"),
]

# Texts of `real` that were in no dispute between guards, as they were read for this report.
READ = {
    "fastchat-2c59550ed7ae76b4": "a list from J to Z, with one sentence for each letter; then the text goes on: a repetition that ends by itself",
    "fastchat-910f5e692eff68d0": "the loop of the label has begun: the paragraph came twice, slips once in the third copy, and comes to the end",
    "fastchat-138594e1c2ee0732": "the loop of the label has begun: the alarm is 5 chars before the labelled onset",
    "lawbench-33496583d7701e94": "the same sentence under ⑦ to ⑲, to the end of the recording: a loop that the label lacks",
    "lawbench-5e35591c9bb86c1a": "article 1 to article 118, nothing but their numbers, to the end of the recording",
    "mlreason-2bd8d1a84e4023a4": "four options with the same words, one after the other; then the model doubts them: healthy",
    "pmllm-6126dba0a176db82": "stars and empty lines from char 1,690 to the end: a loop that the label sees late",
}


def measured(row):
    """The goals' figures of a row of scores.csv."""
    plus = (int(row["hit"]) + int(row["earlier"])) / int(row["loops"])
    return {"plus": plus} | {name: float(row[name]) for name in ("fa_per_mchar", "within_1000", "delay")}


def scored(real, swept):
    """The figures of every setting: of the guard itself, or of those that were swept. Floors have no detector."""
    suffix = "-swept" if swept else ""
    pick = lambda name: [
        row for row in rows(FOLDER / f"goals-{name}{suffix}/scores.csv")
        if row["model"] == "*" and row["unit"] == "chars" and row["p.periodic.min_chars"]
    ]
    negatives = {row["setting"]: int(row["false_alarm"]) for row in pick("negatives")}
    return [measured(row) | {"negatives": negatives[row["setting"]], "row": row} for row in pick(real)]


def prices(settings):
    """For each goal that is missed, what reaches it: of the settings that find 95 % of the loops the one with the fewest
    wrong alarms; where there is none, the one that finds most."""
    for name, asked, metric, wanted, _ in GOALS[2:]:
        met = [one for one in settings if wanted(one[metric])]
        finding = [one for one in met if one["plus"] >= 0.95]
        reached = asked
        if finding:
            best = min(finding, key=lambda one: (one["fa_per_mchar"], -one["plus"]))
        elif met:
            best = max(met, key=lambda one: (one["plus"], -one["fa_per_mchar"]))
        else:
            # Of the nearest the one with the fewest wrong alarms.
            nearness = (lambda one: -one[metric]) if metric in ("plus", "within_1000") else (lambda one: one[metric])
            best = min(settings, key=lambda one: (nearness(one), one["fa_per_mchar"]))
            reached = f"{asked}: **none does**; the nearest"
        yield [f"{name}: {reached}"] + [show(best[metric]) for _, _, metric, _, show in GOALS] + [changes(best["row"])]


def changes(row):
    """What of a swept setting is not as in the recommended guard."""
    ours = {"periodic.min_chars": "1000", "periodic.min_bare": "400", "periodic-2.min_chars": "600",
            "periodic-2.code": "check", "periodic-2.min_counters": "4500", "periodic-2.min_recycled": "6000"}
    found = [f"{name} {row['p.' + name]}" for name, value in ours.items() if row["p." + name] != value]
    rules = row["p.periodic.rules"]
    for limit in ("300", "700", "1000"):
        if f"max_period = {limit}," in rules:
            found.append(f"two copies are enough from {int(limit) + 1:,} chars on")
    if "min_copies = 2" not in rules:
        found.append("two copies are never enough")
    if "min_chars = 240" in rules:
        found.append("240 and 330 chars of shorter ones")
    return ", ".join(found)


def part(row):
    """The row of PERIODS that the loop of a row of outcomes.csv is of."""
    length = int(row["period"] or 0)
    return next(name for limit, name, _ in PERIODS if length <= limit) if length else "no exact period"


def is_late(row):
    return row["verdict"] == "miss" or row["verdict"] == "hit" and int(row["latency"]) > 1000


def late(loops):
    """The loops that cost the goals of 1,000 chars, by how long what they repeat is."""
    of, sums = Counter(), Counter()
    for row in loops:
        sums[part(row)] += float(row["delay"] or 0)
        of[part(row), row["verdict"]] += is_late(row)
    why = {name: reason for _, name, reason in PERIODS}
    why["no exact period"] = "their copies differ: they circle in other words, or grow; most misses are here"
    for name in why:
        yield [name, of[name, "hit"], of[name, "miss"], f"{sums[name] / len(loops):,.0f}", why[name]]


def listed(outcomes, negatives):
    """Each transcript that stands in the way of a goal, those that cost most first."""
    with open("reports/goals.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["stands_in_the_way_as", "transcript", "model", "kind", "period", "onset", "alarm_at", "delay", "cut"])
        cost = lambda row: int(row["lost"] or 0) + float(row["delay"] or 0)
        for row in sorted(outcomes + negatives, key=lambda row: (-cost(row), row["transcript"])):
            kind = row["verdict"] if row["verdict"] in ("false-alarm", "premature") else None
            kind = kind or row["class"] == "loop" and is_late(row) and ("missed" if row["verdict"] == "miss" else "late")
            if kind:
                cells = ("transcript", "model", "kind", "period", "onset", "alarm_at", "delay", "lost")
                writer.writerow([kind] + [row[cell] for cell in cells])


def wrong(outcomes, notes):
    for row in sorted(outcomes, key=lambda row: -int(row["lost"] or 0)):
        if row["verdict"] in ("false-alarm", "premature"):
            note = notes.get(row["transcript"]) or READ.get(row["transcript"], "not read")
            yield [row["transcript"], row["verdict"], f"{int(row['alarm_at']):,}", f"{int(row['lost'] or 0):,}", row["alarm_kind"], note]


def main():
    corpus = pathlib.Path(sys.argv[1])
    name = corpus.name
    guard = scored(name, swept=False)[0]
    settings = scored(name, swept=True)
    review = corpus / "review.csv"
    notes = {row["id"]: row["note"] for row in rows(review)} if review.exists() else {}
    outcomes = rows(FOLDER / f"goals-{name}/outcomes.csv")
    loops = [row for row in outcomes if row["class"] == "loop"]
    negatives = rows(FOLDER / "goals-negatives/outcomes.csv")
    listed(outcomes, negatives)

    print("# What the recommended guard misses of its goals\n")
    print(f"Made by `scripts/goals`, on `{name}` and `datasets/negatives`; what each number means: `METHOD.md`. All of it is in-sample: the")
    print("guard was chosen on these recordings (held out: reports/real.md). `goals.csv` names each transcript, those that cost most first.\n")
    print("## The goals\n")
    table(["goal", "asked", "reached", "held"],
          [[goal, asked, show(guard[metric]), "yes" if wanted(guard[metric]) else "**no**"] for goal, asked, metric, wanted, show in GOALS])
    print("## What reaching the others would cost\n")
    print(f"Of the {len(settings):,} settings of `scripts/goals.toml`, for each goal that is missed, one that reaches it: among those that find 95 % of")
    print("the loops the one with the fewest wrong alarms; where there is none, the one that finds most. Where no setting reaches it, the nearest.\n")
    table(["to reach"] + [goal for goal, *_ in GOALS] + ["what changes"], list(prices(settings)))
    quiet = [one for one in settings if all(wanted(one[metric]) for _, _, metric, wanted, _ in GOALS[:2])]
    soonest = min(quiet, key=lambda one: one["delay"])
    widest = max(quiet, key=lambda one: one["within_1000"])
    print("Of those that keep the first two goals, none has a shorter delay than")
    print(f"{soonest['delay']:,.0f} chars ({changes(soonest['row'])}), and none finds more than {percent(widest['within_1000'])} within 1,000 chars.\n")
    print("## The loops that come late\n")
    print("By the chars of what they repeat: how many of them are found, but later than 1,000 chars after their onset; how many are")
    print(f"missed; and how much of the delay of {guard['delay']:,.0f} chars all loops of that period make, these and the others.\n")
    table(["period, chars", "found late", "missed", "of the delay", "why"], list(late(loops)))
    print("## The wrong alarms\n")
    print("`cut`: chars that the alarm took away, up to the end of a clean text or to the onset of a loop.\n")
    table(["transcript", "verdict", "alarm at", "cut", "kind", "what a reader says"], list(wrong(outcomes, notes)))
    false = sum(row["verdict"] == "false-alarm" for row in outcomes)
    print(f"Each of the {false} wrong alarms costs what was written up to it, and a mean clean transcript more (METHOD, `break_even`). `pays from` in")
    print("`field.md` is made of these alone: a guard with fewer of them pays from a smaller share of loops, however few loops it finds.\n")
    print("## The hard negatives\n")
    print("Each class has texts that were written to provoke an alarm. A guard that knows no more than the text cannot tell them")
    print("from loops: what is in them comes back as often, and as much of it, as in loops of `real`.\n")
    classes = defaultdict(list)
    for row in negatives:
        if row["verdict"] == "false-alarm":
            classes[row["transcript"].rsplit("/", 1)[0]].append(row)
    table(["class", "alarms", "kind", "chars read"],
          [[kind, len(found), ", ".join(sorted({row["alarm_kind"] for row in found})), ", ".join(f"{int(row['alarm_at']):,}" for row in found)]
           for kind, found in sorted(classes.items(), key=lambda item: -len(item[1]))])


main()
