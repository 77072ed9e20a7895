#!/usr/bin/env python3
"""A judge of one's own, trained on facts: facts.py train FACTS.csv JUDGED.csv, then facts.py judge JUDGED.csv as a program.

`train` reads what `deadloop replay --facts FACTS.csv` wrote, and asks boosted trees (scikit-learn) how likely each fact lies in a loop.
Each fact is asked of trees that saw no transcript of its group. JUDGED.csv has the facts with that probability.
`judge` speaks the protocol of docs/programs.md: of each transcript it alarms at the first fact whose probability is
at least the parameter `p`. So deadloop replays, sweeps and compares it as any other detector, on text that it was not trained on."""
import collections, csv, json, sys


def numbers(row, names):
    # A threshold that does not ask for a fact is empty: trees take that as it is.
    return [float(row[name]) if row[name] else float("nan") for name in names]


def train(facts, judged):
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.model_selection import GroupKFold, cross_val_predict

    with open(facts, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    known = [row for row in rows if row["label"] in ("loop", "clean", "before")]
    # A measure that never differs says nothing.
    measures = [name for name in known[0] if "." in name or name in ("position", "period", "copies")]
    measures = [name for name in measures if len({row[name] for row in known} - {""}) > 1]
    groups = [row["group"] or row["transcript"] for row in known]
    likely = cross_val_predict(
        HistGradientBoostingClassifier(random_state=1), [numbers(row, measures) for row in known],
        [row["label"] == "loop" for row in known], groups=groups, cv=GroupKFold(5), method="predict_proba",
    )[:, 1]
    with open(judged, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["transcript", "channel", "position", "kind", "p"])
        for row, p in zip(known, likely):
            writer.writerow([row["transcript"], row["channel"], row["position"], row["kind"], f"{p:.4f}"])
    print(f"{len(known)} facts of {len(set(groups))} groups, {len(measures)} measures")


def judge(judged):
    facts = collections.defaultdict(list)
    with open(judged, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            facts[row["transcript"]].append((int(row["position"]), row["channel"], row["kind"], float(row["p"])))
    say = lambda message: print(json.dumps(message), flush=True)
    least, now = 0.5, None
    for line in sys.stdin:
        event = json.loads(line)
        if event["type"] == "hello":
            least = event["params"].get("p", least)
            say({"type": "ready", "name": "facts", "version": "1"})
        elif event["type"] == "start":
            now, index, read = event["transcript"], -1, collections.Counter()
            due = sorted(fact for fact in facts[now] if fact[3] >= least)
        elif event["type"] == "end":
            if now is not None:
                say({"type": "verdict", "transcript": now, "alarm": None})
            now = None
        else:
            index += 1
            if event["type"] not in ("reasoning", "answer") or now is None:
                continue
            read[event["type"]] += len(event["text"])
            for at, channel, kind, p in due:
                if channel == event["type"] and at <= read[channel]:
                    say({"type": "verdict", "transcript": now, "alarm": {"event": index, "at": at, "kind": kind, "detail": f"p {p}"}})
                    now = None
                    break


if __name__ == "__main__":
    if sys.argv[1:2] == ["train"] and len(sys.argv) == 4:
        train(*sys.argv[2:])
    elif sys.argv[1:2] == ["judge"] and len(sys.argv) == 3:
        judge(sys.argv[2])
    else:
        sys.exit(__doc__)
