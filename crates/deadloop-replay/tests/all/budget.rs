//! Tests of budgets against a slow reference that rebuilds the list of prompt items before each turn, as described in
//! `reports/METHOD.md`.

#![allow(clippy::unwrap_used, clippy::cast_precision_loss)]

use crate::kit::Draw;

use deadloop_corpus::{Body, RecordedEvent, Transcript};
use std::sync::atomic::AtomicBool;

use deadloop_replay::budget::{
    Budget, BudgetStage, BudgetTally, Lengths, Limit, MeasuredRuns, Policy, RunSizes, SimulatedRun,
    TokenCounter, TokenSums, simulate_run, sweep, trace_run,
};
use deadloop_replay::corpus as deadloop_corpus;
use deadloop_replay::detect::{Context, ContextBudget, Room};
use serde_json::{Value, json};

fn bill(played: &SimulatedRun) -> TokenSums {
    let mut bill = TokenSums::default();
    bill.add(played);
    bill
}

fn text(draw: &mut Draw, most: u64) -> String {
    "x ".repeat(draw.below(most) as usize) + draw.pick(&["", "README.markdown ", "src/main.rs "])
}

fn run(draw: &mut Draw) -> Transcript {
    let mut events = Vec::new();
    for _ in 0..draw.below(3) {
        let mut event = RecordedEvent::new(Body::System);
        event.rest.insert("length".into(), draw.below(200).into());
        events.push(event);
    }
    if draw.below(4) > 0 {
        events.push(RecordedEvent::new(Body::User(text(draw, 60))));
    }
    let mut total = 0;
    for turn in 0..draw.below(25) {
        let mut event = RecordedEvent::new(Body::Turn);
        if draw.below(3) > 0 {
            total += draw.below(300);
            event.rest.insert("tokens_in".into(), total.into());
        }
        events.push(event);
        if draw.below(2) == 0 {
            events.push(RecordedEvent::new(Body::Answer(text(draw, 80))));
        }
        for call in 0..draw.below(3) {
            let id = Some(format!("{turn}/{call}"));
            events.push(RecordedEvent::new(Body::ToolCall {
                id: id.clone(),
                name: draw.pick(&["read", "ls"]).into(),
                arguments: Value::String(text(draw, 6)),
            }));
            events.push(RecordedEvent::new(Body::ToolResult {
                id,
                content: text(draw, 150),
                error: None,
            }));
        }
    }
    Transcript {
        events,
        ..Transcript::default()
    }
}

/// An item of the prompt: its identity and its tokens. Summaries have identities below 0.
#[derive(Clone, Debug, PartialEq)]
struct Piece {
    who: i64,
    tokens: u64,
    is_system: bool,
}

fn event_text(event: &RecordedEvent) -> String {
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

fn pieces(run: &Transcript, counter: TokenCounter) -> Vec<Piece> {
    let piece = |(who, event): (i64, &RecordedEvent)| {
        let count = |text: &str| text.chars().count() as u64;
        let chars = match &event.body {
            Body::Turn | Body::Finish { .. } | Body::Handoff { .. } => 0,
            Body::System => event.rest["length"].as_u64().unwrap(),
            Body::ToolCall { name, .. } => count(name) + count(&event_text(event)),
            _ => count(&event_text(event)),
        };
        Piece {
            who,
            tokens: (chars as f64 / counter.chars()).ceil() as u64,
            is_system: event.body == Body::System,
        }
    };
    (0..).zip(&run.events).map(piece).collect()
}

/// Simulates a run turn by turn, as described under "Context budgets" in `reports/METHOD.md`.
fn slow(run: &Transcript, b: &Budget) -> SimulatedRun {
    let all = pieces(run, b.counter);
    let mut out = SimulatedRun::default();
    let (mut prompt, mut before): (Vec<Piece>, Option<Vec<Piece>>) = (Vec::new(), None);
    let (mut last, mut number) = (None, 0);
    let mut turn = 0_u64;
    for (event, piece) in run.events.iter().zip(&all) {
        if event.body != Body::Turn {
            if piece.tokens > 0 {
                prompt.push(piece.clone());
            }
            continue;
        }
        let tokens = |pieces: &[Piece]| pieces.iter().map(|x| x.tokens).sum::<u64>();
        let p = b.tools + tokens(&prompt);
        let over = p as f64 > b.threshold * (b.window - b.tools) as f64;
        let mut acted = false;
        if over && b.policy != Policy::Never {
            acted = true;
            number += 1;
            let (fixed, rest): (Vec<Piece>, Vec<Piece>) =
                prompt.iter().cloned().partition(|x| x.is_system);
            let mut kept = 0;
            while kept < rest.len() {
                let newest = tokens(&rest[rest.len() - kept - 1..]);
                if newest as f64 > b.keep * b.window as f64 {
                    break;
                }
                kept += 1;
            }
            let (gone, kept) = rest.split_at(rest.len() - kept);
            let size = tokens(gone);
            let mut after = fixed;
            if b.policy == Policy::Summary {
                let s = size.min((b.summary * b.window as f64).ceil() as u64);
                out.cached += p;
                out.written += s;
                if !gone.is_empty() {
                    after.push(Piece {
                        who: -number,
                        tokens: s,
                        is_system: false,
                    });
                }
            }
            after.extend(kept.iter().cloned());
            prompt = after;
        }
        let sent = b.tools + tokens(&prompt);
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
            let both = prompt.iter().zip(before);
            let equal = both.take_while(|(a, b)| a.who == b.who && a.tokens == b.tokens);
            same = b.tools + equal.map(|(a, _)| a.tokens).sum::<u64>();
        }
        out.cached += same;
        out.fresh += sent - same;
        out.turns += 1;
        before = Some(prompt.clone());
        turn += 1;
    }
    out
}

fn setting(draw: &mut Draw) -> Budget {
    Budget {
        counter: draw.pick(&[TokenCounter::Quarter, TokenCounter::Third]),
        window: draw.pick(&[100, 150, 200, 400, 1000]),
        threshold: draw.pick(&[0.05, 0.3, 0.5, 0.85, 0.95, 1.0]),
        reserve: draw.pick(&[0.0, 0.1, 0.3]),
        tools: draw.pick(&[0, 0, 20, 90]),
        keep: draw.pick(&[0.0, 0.1, 0.2, 0.3, 0.7, 1.0]),
        summary: draw.pick(&[0.0, 0.05, 0.2]),
        policy: draw.pick(&[
            Policy::Summary,
            Policy::Summary,
            Policy::Drop,
            Policy::Never,
        ]),
        cache: 1.0,
    }
}

#[test]
fn a_setting_makes_of_a_run_what_the_slow_twin_makes_of_it() {
    let mut draw = Draw(7);
    let mut acted = [0; 3];
    for _ in 0..400 {
        let run = run(&mut draw);
        let lengths = Lengths::from_transcript(&run);
        for _ in 0..40 {
            let budget = setting(&mut draw);
            let sizes = RunSizes::new(&lengths, budget.counter);
            let fast = simulate_run(&sizes, &budget);
            assert_eq!(fast, slow(&run, &budget), "{budget:?}");
            acted[budget.policy as usize] += fast.summaries;
        }
    }
    assert!(acted[0] > 1000 && acted[1] > 500, "{acted:?}");
}

/// Checks a run with two turns before the first text, as in logs of agents without their prompt.
#[test]
fn definitions_of_tools_are_fresh_once() {
    let line = r#"{"id":"a","events":[{"type":"turn"},{"type":"turn"},{"type":"answer","text":"12345678"},{"type":"turn"}]}"#;
    let run = &recorded_runs(&[serde_json::from_str(line).unwrap()])[0];
    let budget = Budget {
        counter: TokenCounter::Quarter,
        tools: 60,
        window: 1000,
        ..Budget::default()
    };
    let played = simulate_run(
        &RunSizes::new(&Lengths::from_transcript(run), budget.counter),
        &budget,
    );
    assert_eq!((played.turns, played.fresh), (3, 60 + 2));
    assert_eq!(played.cached, 60 + 60);
    assert_eq!(played, slow(run, &budget));
}

#[test]
fn a_trace_sends_what_was_counted() {
    let mut draw = Draw(11);
    for _ in 0..300 {
        let run = run(&mut draw);
        let budget = setting(&mut draw);
        let sizes = RunSizes::new(&Lengths::from_transcript(&run), budget.counter);
        let (played, steps) = trace_run(&sizes, &budget);
        let alive = steps.iter().filter(|step| !step.overflow);
        let read = |step: &deadloop_replay::budget::BudgetStep| match budget.policy {
            Policy::Summary if step.done => step.wanted,
            _ => 0,
        };
        let sent: u64 = alive.map(|step| step.sent).sum();
        let read: u64 = steps.iter().map(read).sum();
        assert_eq!(bill(&played).sent(), sent + read);
        let done = steps.iter().filter(|step| step.done);
        assert_eq!(done.count() as u64, played.summaries);
    }
}

/// Returns the tokens that a live context sends in each turn, and whether it ends in an overflow.
fn live(run: &Transcript, b: &Budget) -> (Vec<u64>, bool) {
    let mut context = Context::new(ContextBudget {
        window: b.window,
        threshold: b.threshold,
        reserve: b.reserve,
        tools: b.tools,
        keep: b.keep,
        summary: match b.policy {
            Policy::Drop => 0.0,
            _ => b.summary,
        },
    });
    let mut sent = Vec::new();
    for (event, piece) in run.events.iter().zip(pieces(run, b.counter)) {
        match (&event.body, piece.is_system) {
            (Body::Turn, _) => loop {
                match context.before_turn() {
                    Room::Tight { keep, summary, .. } => context.fold(keep, summary),
                    Room::Enough { tokens } => break sent.push(tokens),
                    Room::Overflow { .. } => return (sent, true),
                }
            },
            (_, true) => context.push_fixed(piece.tokens),
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
            if budget.policy == Policy::Never {
                continue;
            }
            let sizes = RunSizes::new(&Lengths::from_transcript(&run), budget.counter);
            let (played, steps) = trace_run(&sizes, &budget);
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
    let lengths: Vec<Lengths> = (0..60)
        .map(|_| Lengths::from_transcript(&run(&mut draw)))
        .collect();
    let sources: Vec<u32> = (0..60).map(|_| draw.below(3) as u32).collect();
    let mut budgets: Vec<Budget> = (0..300).map(|_| setting(&mut draw)).collect();
    budgets.retain(|b| b.policy != Policy::Never);
    let field = MeasuredRuns::new(&lengths, &budgets);
    let mut plays = 0;
    for stage in BudgetStage::stages(&budgets) {
        let swept = sweep(&field, &stage, &sources, 3, &AtomicBool::new(false)).unwrap();
        let free = field.simulate_unguarded(&stage.never);
        for (budget, swept) in stage.plays.iter().zip(&swept.plays) {
            let mut slow = vec![BudgetTally::default(); 3];
            for (run, one) in field.simulate_all(budget).iter().enumerate() {
                slow[sources[run] as usize].add(one, &free[run]);
            }
            assert_eq!(slow, *swept);
            plays += 1;
        }
    }
    assert!(plays > 150, "{plays}");
}

/// Simulates a limit turn by turn, in the way of reference/budget.py.
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
            grow: draw.pick(&[1.0, 1.1, 1.5, 2.0]),
            grow_by: draw.pick(&[0, 1, 10]),
            hard: draw.pick(&[0, 5, 20, 60]),
            warn_at: draw.pick(&[0.6, 0.8, 0.9, 1.0]),
            cancel_after: draw.pick(&[None, Some(0), Some(2)]),
        };
        let turns = draw.below(120);
        let asked = limit.ask(turns);
        let told = (asked.confirmations, asked.stopped, asked.warned);
        assert_eq!(told, slow_limit(&limit, turns), "{limit:?} {turns}");
    }
}

/// Returns the results of an independent program for random runs.
fn vectors() -> Vec<Value> {
    let text = include_str!("../../../../tests/vectors/budget.jsonl");
    let vectors = text.lines().map(|line| serde_json::from_str(line).unwrap());
    vectors.collect()
}

/// Reads the runs of the vectors in the way of any corpus.
fn recorded_runs(vectors: &[Value]) -> Vec<Transcript> {
    let lines = vectors.iter().filter(|v| v.get("events").is_some());
    let line = |v: &Value| json!({"id": v["run"].to_string(), "events": v["events"]}).to_string();
    let lines = lines.map(line);
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("runs.jsonl");
    std::fs::write(&path, lines.collect::<Vec<_>>().join("\n")).unwrap();
    let corpus = deadloop_corpus::Corpus::open(&path).unwrap();
    let entries = corpus.entries();
    entries.map(|entry| entry.unwrap().transcript).collect()
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
            counter: [TokenCounter::Third, TokenCounter::Quarter][usize::from(share("per") == 4.0)],
            window: p["window"].as_u64().unwrap(),
            threshold: share("threshold"),
            tools: p["tools"].as_u64().unwrap(),
            reserve: share("reserve"),
            keep: share("keep"),
            summary: share("summary"),
            ..Budget::default()
        };
        let run = &runs[usize::try_from(vector["run"].as_u64().unwrap()).unwrap()];
        let played = simulate_run(
            &RunSizes::new(&Lengths::from_transcript(run), budget.counter),
            &budget,
        );
        for (name, told) in [
            ("turns", Some(played.turns)),
            ("summaries", Some(played.summaries)),
            ("useless", Some(played.useless)),
            ("thrash", Some(played.thrash)),
            ("sent", Some(bill(&played).sent())),
            ("overflow", played.overflow),
        ] {
            assert_eq!(told, count(name), "{name} {vector}");
        }
        let (cost, want) = (bill(&played).cost(share("cache")), &expect["cost"]);
        let want = want.as_f64().unwrap();
        let near = (cost - want).abs() <= 1e-9 * want.max(1.0);
        assert!(near, "{cost} {vector}");
        asked += 1;
    }
    assert_eq!(asked, 320);
}
