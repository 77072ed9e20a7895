//! Budgets held against a slow twin: a list of what stands in the prompt, rebuilt before each turn as agents.md says.

#![allow(clippy::unwrap_used, clippy::cast_precision_loss)]

use deadloop_corpus::{Body, RecordedEvent, Transcript};
use std::sync::atomic::AtomicBool;

use deadloop_replay::budget::{
    Budget, BudgetTally, Counter, Field, Lengths, Limit, Played, Policy, RunSizes, Stage, play,
    sweep, trace,
};
use deadloop_replay::corpus as deadloop_corpus;
use deadloop_replay::detect::{Context, ContextBudget, Room};
use serde_json::Value;

/// Small numbers from a seed.
struct Draw(u64);

impl Draw {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    fn of<T: Clone>(&mut self, items: &[T]) -> T {
        items[self.below(items.len() as u64) as usize].clone()
    }
}

/// Words that calls and results have in common.
const WORDS: [&str; 6] = [
    "src/main.rs",
    "ORDER-12345",
    "/tmp/build.log",
    "customer_77",
    "short",
    "README.markdown",
];

fn text(draw: &mut Draw, most: u64) -> String {
    let mut text = "x ".repeat(draw.below(most) as usize);
    for _ in 0..draw.below(3) {
        text += draw.of(&WORDS);
        text.push(' ');
    }
    text
}

fn run(draw: &mut Draw) -> Transcript {
    let mut events = Vec::new();
    for _ in 0..draw.below(3) {
        let mut event = RecordedEvent::of(Body::System);
        event.rest.insert("length".into(), draw.below(200).into());
        events.push(event);
    }
    if draw.below(4) > 0 {
        events.push(RecordedEvent::of(Body::User(text(draw, 60))));
    }
    let mut total = 0;
    for turn in 0..draw.below(25) {
        let mut event = RecordedEvent::of(Body::Turn);
        if draw.below(3) > 0 {
            total += draw.below(300);
            event.rest.insert("tokens_in".into(), total.into());
        }
        events.push(event);
        if draw.below(2) == 0 {
            events.push(RecordedEvent::of(Body::Answer(text(draw, 80))));
        }
        for call in 0..draw.below(3) {
            let id = Some(format!("{turn}/{call}"));
            events.push(RecordedEvent::of(Body::ToolCall {
                id: id.clone(),
                name: draw.of(&["read", "ls"]).into(),
                arguments: Value::String(text(draw, 6)),
            }));
            let result =
                serde_json::json!({"type": "tool_result", "id": id, "content": text(draw, 150)});
            events.push(event_of(&result));
        }
    }
    Transcript {
        events,
        ..Transcript::default()
    }
}

/// An event as a file has it.
fn event_of(value: &Value) -> RecordedEvent {
    let line = serde_json::json!({"id": "x", "events": [value]}).to_string();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.jsonl");
    std::fs::write(&path, line).unwrap();
    let corpus = deadloop_corpus::Corpus::open(&path).unwrap();
    let entry = corpus.entries().next().unwrap().unwrap();
    entry.transcript.events[0].clone()
}

/// One thing in the prompt: who it is, and its tokens. A summary has a number of its own, below 0.
#[derive(Clone, Debug, PartialEq)]
struct Piece {
    who: i64,
    tokens: u64,
    kind: Kind,
    text: String,
}

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    System,
    Result(String),
    Call,
    Other,
}

fn text_of(event: &RecordedEvent) -> String {
    match &event.body {
        Body::Answer(text) | Body::Reasoning(text) | Body::User(text) => text.clone(),
        Body::ToolCall {
            arguments: Value::String(text),
            ..
        } => text.clone(),
        Body::ToolResult { content, .. } => content.clone(),
        _ => String::new(),
    }
}

fn pieces(run: &Transcript, counter: Counter) -> Vec<Piece> {
    let mut names = std::collections::HashMap::new();
    let mut all = Vec::new();
    for (who, event) in (0..).zip(&run.events) {
        let count = |text: &str| text.chars().count() as u64;
        let (chars, kind) = match &event.body {
            Body::Turn | Body::Finish { .. } | Body::Handoff { .. } => (0, Kind::Other),
            Body::System => (event.rest["length"].as_u64().unwrap(), Kind::System),
            Body::ToolCall { id, name, .. } => {
                names.insert(id.clone(), name.clone());
                (count(name) + count(&text_of(event)), Kind::Call)
            }
            Body::ToolResult { id, .. } => {
                (count(&text_of(event)), Kind::Result(names[id].clone()))
            }
            _ => (count(&text_of(event)), Kind::Other),
        };
        let tokens = (chars as f64 / counter.chars()).ceil() as u64;
        all.push(Piece {
            who,
            tokens,
            kind,
            text: text_of(event),
        });
    }
    all
}

fn words(text: &str) -> Vec<&str> {
    let long = |word: &&str| word.chars().count() >= 8;
    text.split(' ').filter(long).collect()
}

/// As agents.md 7 has it, turn by turn.
fn slow(run: &Transcript, b: &Budget) -> Played {
    let all = pieces(run, b.counter);
    let mut out = Played::default();
    let (mut prompt, mut before): (Vec<Piece>, Option<Vec<Piece>>) = (Vec::new(), None);
    let (mut last, mut number) = (None, 0);
    let (mut cleared, mut needed) = (Vec::<i64>::new(), Vec::<i64>::new());
    let mut forgotten = Vec::<i64>::new();
    let mut turn = 0_u64;
    for (event, piece) in run.events.iter().zip(&all) {
        if event.body != Body::Turn {
            if piece.tokens > 0 {
                prompt.push(piece.clone());
            }
            continue;
        }
        let p = b.tools + prompt.iter().map(|x| x.tokens).sum::<u64>();
        let over = p as f64 > b.threshold * (b.window - b.tools) as f64;
        let mut acted = false;
        let q = |prompt: &[Piece]| b.tools + prompt.iter().map(|x| x.tokens).sum::<u64>();
        if over && matches!(b.policy, Policy::Summary | Policy::Drop) {
            acted = true;
            number += 1;
            let (fixed, rest): (Vec<Piece>, Vec<Piece>) =
                prompt.iter().cloned().partition(|x| x.kind == Kind::System);
            let mut kept = 0;
            while kept < rest.len() {
                let newest = rest[rest.len() - kept - 1..]
                    .iter()
                    .map(|x| x.tokens)
                    .sum::<u64>();
                if newest as f64 > b.keep * b.window as f64 {
                    break;
                }
                kept += 1;
            }
            let (gone, kept) = rest.split_at(rest.len() - kept);
            let size = gone.iter().map(|x| x.tokens).sum::<u64>();
            let results = gone.iter().filter(|x| matches!(x.kind, Kind::Result(_)));
            forgotten.extend(results.map(|x| x.who));
            let mut after = fixed;
            if b.policy == Policy::Summary {
                let s = size.min((b.summary * b.window as f64).ceil() as u64);
                out.cached += p;
                out.written += s;
                if !gone.is_empty() {
                    after.push(Piece {
                        who: -number,
                        tokens: s,
                        kind: Kind::Other,
                        text: String::new(),
                    });
                }
            }
            after.extend(kept.iter().cloned());
            prompt = after;
        } else if over && b.policy == Policy::ClearResults {
            let results: Vec<usize> = (0..prompt.len())
                .filter(|at| matches!(prompt[*at].kind, Kind::Result(_)))
                .collect();
            let old = &results[..results.len().saturating_sub(b.keep_results as usize)];
            let can = |at: &&usize| match &prompt[**at].kind {
                Kind::Result(tool) => {
                    prompt[**at].tokens > 20 && prompt[**at].who >= 0 && !b.exclude.contains(tool)
                }
                _ => false,
            };
            let old: Vec<usize> = old.iter().filter(can).copied().collect();
            let freed: u64 = old.iter().map(|at| prompt[*at].tokens - 20).sum();
            if freed > 0 && freed >= b.clear_at_least {
                acted = true;
                for at in old {
                    cleared.push(prompt[at].who);
                    forgotten.push(prompt[at].who);
                    prompt[at].tokens = 20;
                    prompt[at].text.clear();
                }
            }
        }
        let sent = q(&prompt);
        if acted {
            out.summaries += 1;
            out.first = out.first.or(Some(turn));
            out.useless += u64::from(((p - sent) as f64) < 0.1 * p as f64);
            out.thrash += u64::from(last.is_some_and(|last| turn - last < 3));
            last = Some(turn);
        }
        if sent as f64 > b.window as f64 * (1.0 - b.reserve) {
            out.overflow = Some(turn);
            break;
        }
        let mut same = 0;
        if let Some(before) = &before {
            let equal = prompt
                .iter()
                .zip(before)
                .take_while(|(a, b)| a.who == b.who && a.tokens == b.tokens);
            same = b.tools + equal.map(|(a, _)| a.tokens).sum::<u64>();
        }
        out.cached += same;
        out.fresh += sent - same;
        out.turns += 1;
        // What the calls of this turn need: words that stand in what is gone, and nowhere in the prompt.
        let at = all
            .iter()
            .position(|x| x == piece && x.who == piece.who)
            .unwrap();
        let own = run.events[at + 1..].iter().zip(&all[at + 1..]);
        for (_, call) in own
            .take_while(|(e, _)| e.body != Body::Turn)
            .filter(|(_, x)| x.kind == Kind::Call)
        {
            for word in words(&call.text) {
                if prompt.iter().any(|x| words(&x.text).contains(&word)) {
                    continue;
                }
                let had = forgotten
                    .iter()
                    .filter(|who| words(&all[**who as usize].text).contains(&word));
                needed.extend(had);
            }
        }
        before = Some(prompt.clone());
        turn += 1;
    }
    needed.sort_unstable();
    needed.dedup();
    out.again = needed.iter().map(|who| all[*who as usize].tokens).sum();
    out.cleared = cleared.len() as u64;
    out.needed = if b.policy == Policy::ClearResults {
        needed.len() as u64
    } else {
        0
    };
    out
}

fn setting(draw: &mut Draw) -> Budget {
    Budget {
        counter: draw.of(&[Counter::Quarter, Counter::Third]),
        window: draw.of(&[100, 150, 200, 400, 1000]),
        threshold: draw.of(&[0.05, 0.3, 0.5, 0.85, 0.95, 1.0]),
        reserve: draw.of(&[0.0, 0.1, 0.3]),
        tools: draw.of(&[0, 0, 20, 90]),
        keep: draw.of(&[0.0, 0.1, 0.2, 0.3, 0.7, 1.0]),
        summary: draw.of(&[0.0, 0.05, 0.2]),
        policy: draw.of(&[
            Policy::Summary,
            Policy::Summary,
            Policy::Drop,
            Policy::ClearResults,
            Policy::Never,
        ]),
        keep_results: draw.of(&[0, 1, 3]),
        clear_at_least: draw.of(&[0, 30]),
        exclude: draw.of(&[vec![], vec!["ls".to_owned()]]),
        cache: 1.0,
    }
}

#[test]
fn a_setting_makes_of_a_run_what_the_slow_twin_makes_of_it() {
    let mut draw = Draw(7);
    let mut acted = [0; 6];
    for _ in 0..400 {
        let run = run(&mut draw);
        let lengths = Lengths::of(&run);
        for _ in 0..40 {
            let budget = setting(&mut draw);
            let sizes = RunSizes::of(&lengths, budget.counter, &budget.exclude);
            let fast = play(&sizes, &budget);
            assert_eq!(fast, slow(&run, &budget), "{budget:?}");
            acted[budget.policy as usize] += fast.summaries;
            acted[4] += fast.needed;
            acted[5] += u64::from(budget.policy != Policy::ClearResults && fast.again > 0);
        }
    }
    assert!(
        acted[0] > 1000 && acted[1] > 500 && acted[2] > 200 && acted[4] > 50 && acted[5] > 50,
        "{acted:?}"
    );
}

/// Two turns before anything was said, as logs of agents without their prompt have them.
#[test]
fn definitions_of_tools_are_fresh_once() {
    let line = r#"{"id":"a","events":[{"type":"turn"},{"type":"turn"},{"type":"answer","text":"12345678"},{"type":"turn"}]}"#;
    let run = &recorded_runs(&[serde_json::from_str(line).unwrap()])[0];
    let budget = Budget {
        counter: Counter::Quarter,
        tools: 60,
        window: 1000,
        ..Budget::default()
    };
    let played = play(
        &RunSizes::of(&Lengths::of(run), budget.counter, &[]),
        &budget,
    );
    assert_eq!(
        (played.turns, played.fresh, played.cached),
        (3, 60 + 2, 60 + 60)
    );
    assert_eq!(played, slow(run, &budget));
}

#[test]
fn a_trace_sends_what_was_counted() {
    let mut draw = Draw(11);
    for _ in 0..300 {
        let run = run(&mut draw);
        let budget = setting(&mut draw);
        let sizes = RunSizes::of(&Lengths::of(&run), budget.counter, &budget.exclude);
        let (played, steps) = trace(&sizes, &budget);
        let alive = steps.iter().filter(|step| !step.overflow);
        let read = |step: &deadloop_replay::budget::BudgetStep| match budget.policy {
            Policy::Summary if step.done => step.wanted,
            _ => 0,
        };
        let sent: u64 = alive.map(|step| step.sent).sum();
        let read: u64 = steps.iter().map(read).sum();
        assert_eq!(played.sent(), sent + read);
        assert_eq!(
            steps.iter().filter(|step| step.done).count() as u64,
            played.summaries
        );
    }
}

/// The tokens that a live context sends, turn by turn, and whether it ends in an overflow.
fn live(run: &Transcript, b: &Budget) -> (Vec<u64>, bool) {
    let mut context = Context::new(ContextBudget {
        window: b.window,
        threshold: b.threshold,
        reserve: b.reserve,
        tools: b.tools,
        keep: b.keep,
        summary: if b.policy == Policy::Drop {
            0.0
        } else {
            b.summary
        },
    });
    let mut sent = Vec::new();
    for (event, piece) in run.events.iter().zip(pieces(run, b.counter)) {
        match (&event.body, &piece.kind) {
            (Body::Turn, _) => loop {
                match context.before_turn() {
                    Room::Tight { keep, summary, .. } => context.fold(keep, summary),
                    Room::Enough { tokens } => break sent.push(tokens),
                    Room::Overflow { .. } => return (sent, true),
                }
            },
            (_, Kind::System) => context.push_fixed(piece.tokens),
            _ if piece.tokens > 0 => context.push(piece.tokens),
            _ => {}
        }
    }
    (sent, false)
}

#[test]
fn a_live_context_sends_what_a_replay_says() {
    let mut draw = Draw(13);
    let mut folded = 0;
    for _ in 0..150 {
        let run = run(&mut draw);
        for _ in 0..20 {
            let budget = setting(&mut draw);
            if !matches!(budget.policy, Policy::Summary | Policy::Drop) {
                continue;
            }
            let sizes = RunSizes::of(&Lengths::of(&run), budget.counter, &budget.exclude);
            let (played, steps) = trace(&sizes, &budget);
            let alive = steps.iter().filter(|step| !step.overflow);
            let sent: Vec<u64> = alive.map(|step| step.sent).collect();
            let wanted = (sent, played.overflow.is_some());
            assert_eq!(live(&run, &budget), wanted, "{budget:?}");
            folded += played.summaries;
        }
    }
    assert!(folded > 1000, "{folded}");
}

#[test]
fn a_sweep_adds_up_what_each_setting_makes_of_each_run() {
    let mut draw = Draw(5);
    let lengths: Vec<Lengths> = (0..60).map(|_| Lengths::of(&run(&mut draw))).collect();
    let sources: Vec<u32> = (0..60).map(|_| draw.below(3) as u32).collect();
    let budgets: Vec<Budget> = (0..300)
        .map(|_| setting(&mut draw))
        .filter(|b| b.policy != Policy::Never)
        .collect();
    let field = Field::of(&lengths, &budgets);
    let within = |killed: &[usize]| killed.len() * 4 <= 60;
    let mut plays = 0;
    for stage in Stage::of(&budgets) {
        let swept = sweep(&field, &stage, &sources, 3, within, &AtomicBool::new(false)).unwrap();
        let free = field.free(&stage.never);
        let all: Vec<Vec<Played>> = stage.plays.iter().map(|b| field.played(b)).collect();
        let dead = |played: &[Played]| -> Vec<usize> {
            let dead = |run: &usize| played[*run].overflow.is_some();
            (0..played.len()).filter(dead).collect()
        };
        let allowed: Vec<bool> = all.iter().map(|played| within(&dead(played))).collect();
        assert_eq!(allowed, swept.within);
        let alive = |at: usize| {
            all.iter()
                .zip(&allowed)
                .all(|(p, allowed)| !allowed || p[at].overflow.is_none())
        };
        for (at, played) in all.iter().enumerate() {
            let mut slow = vec![BudgetTally::default(); 3];
            for (run, one) in played.iter().enumerate() {
                let tally = &mut slow[sources[run] as usize];
                tally.add(one, &free[run]);
                if allowed[at] && alive(run) {
                    tally.shared.add(one);
                    tally.shared_free.add(&free[run]);
                }
            }
            assert_eq!(slow, swept.plays[at]);
            plays += 1;
        }
    }
    assert!(plays > 150, "{plays}");
}

/// Turn by turn, as reference/budget.py does it.
fn slow_limit(limit: &Limit, turns: u64) -> (u64, Option<u64>, Option<u64>) {
    let (mut asked, mut warned, mut l) = (0, None, limit.limit);
    for i in 0..turns {
        if warned.is_none() && i as f64 >= limit.warn_at * l as f64 {
            warned = Some(i);
        }
        if i >= l {
            if limit.hard > 0 && i >= limit.hard || limit.cancel_after == Some(asked) {
                return (asked, Some(i), warned);
            }
            asked += 1;
            l = (l + 1).max((l as f64 * limit.grow).round_ties_even() as u64 + limit.grow_by);
            if limit.hard > 0 {
                l = l.min(limit.hard);
            }
        }
    }
    (asked, None, warned)
}

#[test]
fn a_limit_asks_where_its_twin_asks() {
    let mut draw = Draw(3);
    for _ in 0..20_000 {
        let limit = Limit {
            limit: 1 + draw.below(30),
            grow: draw.of(&[1.0, 1.1, 1.5, 2.0]),
            grow_by: draw.of(&[0, 1, 10]),
            hard: draw.of(&[0, 5, 20, 60]),
            warn_at: draw.of(&[0.6, 0.8, 0.9, 1.0]),
            cancel_after: draw.of(&[None, Some(0), Some(2)]),
        };
        let turns = draw.below(120);
        let asked = limit.ask(turns);
        assert_eq!(
            (asked.confirmations, asked.stopped, asked.warned),
            slow_limit(&limit, turns),
            "{limit:?} {turns}"
        );
    }
}

/// What another program, which shares no code with this one, made of drawn runs.
fn vectors() -> Vec<Value> {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/vectors/budget.jsonl"
    );
    let text = std::fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The runs of the vectors, read as any corpus is.
fn recorded_runs(vectors: &[Value]) -> Vec<Transcript> {
    let lines = vectors.iter().filter(|v| v.get("events").is_some());
    let lines = lines.map(|v| {
        serde_json::json!({"id": v["run"].to_string(), "events": v["events"]}).to_string()
    });
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("runs.jsonl");
    std::fs::write(&path, lines.collect::<Vec<_>>().join("\n")).unwrap();
    let corpus = deadloop_corpus::Corpus::open(&path).unwrap();
    corpus
        .entries()
        .map(|entry| entry.unwrap().transcript)
        .collect()
}

#[test]
fn the_reference_says_the_same_of_every_run() {
    let vectors = vectors();
    let runs = recorded_runs(&vectors);
    let mut asked = 0;
    for vector in vectors.iter().filter(|v| v.get("params").is_some()) {
        let (p, expect) = (&vector["params"], &vector["expect"]);
        let share = |name: &str| p[name].as_f64().unwrap();
        let count = |name: &str| expect[name].as_u64();
        let budget = Budget {
            counter: if share("per") == 4.0 {
                Counter::Quarter
            } else {
                Counter::Third
            },
            window: p["window"].as_u64().unwrap(),
            threshold: share("threshold"),
            tools: p["tools"].as_u64().unwrap(),
            reserve: share("reserve"),
            keep: share("keep"),
            summary: share("summary"),
            ..Budget::default()
        };
        let run = &runs[usize::try_from(vector["run"].as_u64().unwrap()).unwrap()];
        let played = play(
            &RunSizes::of(&Lengths::of(run), budget.counter, &[]),
            &budget,
        );
        let told = [
            played.turns,
            played.summaries,
            played.useless,
            played.thrash,
            played.sent(),
        ];
        let wanted =
            ["turns", "summaries", "useless", "thrash", "sent"].map(|name| count(name).unwrap());
        assert_eq!(told, wanted, "{vector}");
        assert_eq!(played.overflow, count("overflow"), "{vector}");
        let (cost, want) = (
            played.cost(share("cache")),
            expect["cost"].as_f64().unwrap(),
        );
        assert!(
            (cost - want).abs() <= 1e-9 * want.max(1.0),
            "{cost} {vector}"
        );
        asked += 1;
    }
    assert_eq!(asked, 320);
}
