//! The slow reference of every run detector, which reads the whole run again at each event.

use serde_json::{Map, Value as Json};

use super::Expect;
use super::history::{Called, Past, error, is, text};

/// Returns the first alarm.
pub(crate) fn slow(guard: &str, params: &Map<String, Json>, events: &[Json]) -> Option<Expect> {
    let of =
        |events: &[Json], kind: &str| events.iter().filter(|e| e["type"] == kind).count() as u64;
    (0..events.len()).find_map(|n| {
        let past = Past::new(params, &events[..=n])?;
        let begins = u64::from(events[n]["type"] == "turn");
        Some(Expect {
            kind: kind(guard, &past)?.into(),
            event: n as u64,
            calls: of(&events[..=n], "tool_call"),
            turns: of(&events[..=n], "turn") - begins,
        })
    })
}

/// Returns the last `n` items. `None` if there are fewer.
fn last<T>(of: &[T], n: usize) -> Option<&[T]> {
    of.len().checked_sub(n).map(|from| &of[from..])
}

fn equal<T: PartialEq>(of: &[T]) -> bool {
    of.windows(2).all(|pair| pair[0] == pair[1])
}

fn distinct<T: PartialEq>(of: &[T]) -> usize {
    (0..of.len())
        .filter(|i| !of[..*i].contains(&of[*i]))
        .count()
}

fn said(piece: &[&Json], reasoning: bool) -> String {
    let of = |e: &&&Json| is(e, "answer") || reasoning && is(e, "reasoning");
    piece.iter().filter(of).map(|e| text(e, "text")).collect()
}

fn has(piece: &[&Json], kind: &str) -> bool {
    piece.iter().any(|e| is(e, kind))
}

fn kind(guard: &str, past: &Past<'_>) -> Option<&'static str> {
    let at_call = past.newest("tool_call");
    let at_result = past.newest("tool_result");
    let before_turn = past.newest("turn");
    match guard {
        "duplicate" | "cycle" if at_call => calls(guard, past),
        "same-pair" | "interleaved" | "novelty" | "stagnation" | "error-run" if at_result => {
            pairs(guard, past)
        }
        "iterations" => iterations(past),
        "narration" if before_turn => narration(past),
        "loom" if before_turn => loom(past),
        "openhands" if before_turn => super::openhands_twin::openhands(&past.kept, past.params),
        _ => None,
    }
}

fn calls(guard: &str, past: &Past<'_>) -> Option<&'static str> {
    let default = if guard == "cycle" { "raw" } else { "call" };
    let key = past.word("key", default);
    let keys: Vec<(&str, Json)> = past
        .calls
        .iter()
        .map(|call| match key {
            "name" => (call.name.as_str(), Json::Null),
            "raw" => (call.name.as_str(), call.text.as_str().into()),
            _ => (call.name.as_str(), call.value.clone()),
        })
        .collect();
    if guard == "duplicate" {
        return last(&keys, past.number("n", 3))
            .is_some_and(equal)
            .then_some("identical-call");
    }
    let mut periods = past.number("min_period", 1)..=past.number("max_period", 5);
    let repeats = past.number("repeats", 5);
    let found = periods.find(|k| {
        last(&keys, k * repeats).is_some_and(|t| (*k..t.len()).all(|i| t[i] == t[i - k]))
    });
    found.map(|k| if k == 1 { "identical-call" } else { "cycle" })
}

/// A call and its result as they are compared.
#[derive(Clone, PartialEq)]
struct Compared {
    /// The tool, and its arguments if they are compared.
    asked: (String, Json),
    /// The tool and the arguments as they are compared together with the result.
    call: (String, Json),
    /// The first of the equal results.
    class: String,
    error: bool,
    /// Whether the result carries no information, and the number of its occurrences so far.
    nothing: bool,
    times: usize,
}

/// Returns the words of a result, and whether each is an id. Ids of the random results begin with `req-`, and dates are
/// `2026-…` and `04:…`.
fn words(body: &str, volatile: bool) -> Vec<(bool, &str)> {
    let date = (false, "<dates>");
    let of = |text| match text {
        id if volatile && str::starts_with(id, "req-") => (true, id),
        day if volatile && day.starts_with("2026-") => date,
        time if volatile && time.starts_with("04:") => date,
        other => (false, other),
    };
    body.split(' ').map(of).collect()
}

/// Returns each pair as it is compared. Its result is compared with all earlier results of its key, newest first. With
/// `or_nothing`, the arguments count if the result carries no information.
fn compared(past: &Past<'_>, arguments: bool, or_nothing: bool) -> Vec<Compared> {
    struct Met<'a> {
        call: (String, Json),
        words: Vec<(bool, &'a str)>,
        moving: Option<Vec<usize>>,
        class: String,
        times: usize,
    }
    let volatile = past.word("volatile", "off") == "row";
    let from = past.number("stateless_n", 0);
    let mut met: Vec<Met<'_>> = Vec::new();
    let mut all = Vec::new();
    for (called, body, error) in &past.pairs {
        let short = body.replace("<o>", "").replace("</o>", "");
        let short = short.trim();
        let nothing = from > 0
            && !error
            && short.chars().count() <= past.number("stateless_chars", 12)
            && !short.contains(|c: char| ('1'..='9').contains(&c));
        let of = |counts: bool| {
            if counts {
                (called.name.clone(), called.value.clone())
            } else {
                (called.name.clone(), Json::Null)
            }
        };
        let (asked, call) = (of(arguments), of(arguments || or_nothing && nothing));
        let new = words(body, volatile);
        let differ = |old: &Met<'_>| -> Option<Vec<usize>> {
            let alike = old.call == call && old.words.len() == new.len();
            let both = || old.words.iter().zip(&new);
            let alike = alike && both().all(|(a, b)| a == b || a.0 && b.0);
            let differ: Vec<usize> = (0..new.len())
                .filter(|i| alike && old.words[*i] != new[*i])
                .collect();
            let same = alike && old.moving.as_ref().is_none_or(|moving| *moving == differ);
            same.then_some(differ)
        };
        let found = met
            .iter()
            .enumerate()
            .rev()
            .find_map(|(at, old)| Some((at, differ(old)?)));
        let mut result = match found {
            Some((at, differ)) => Met {
                moving: Some(differ),
                ..met.remove(at)
            },
            None => Met {
                call: call.clone(),
                words: new.clone(),
                moving: None,
                class: body.clone(),
                times: 0,
            },
        };
        (result.words, result.times) = (new, result.times + 1);
        all.push(Compared {
            asked,
            call,
            class: result.class.clone(),
            error: *error,
            nothing,
            times: result.times,
        });
        met.push(result);
    }
    all
}

/// Returns a text without ids and dates.
fn still(body: &str, volatile: bool) -> String {
    let words = words(body, volatile).into_iter();
    words
        .map(|(id, word)| if id { "\0" } else { word })
        .collect::<Vec<_>>()
        .join(" ")
}

fn pairs(guard: &str, past: &Past<'_>) -> Option<&'static str> {
    let n = past.number("n", if guard == "stagnation" { 6 } else { 3 });
    let from = past.number("stateless_n", 0);
    let window = past.number("window", 10);
    let with_result = past.flag("with_result", guard == "interleaved");
    let all = compared(
        past,
        past.flag("arguments", guard != "stagnation"),
        guard != "stagnation",
    );
    let newest = all.last()?;
    let counts = |count: usize| !newest.nothing || count >= from;
    let same = |c: &Compared| {
        if with_result {
            (&c.call, &c.class) == (&newest.call, &newest.class)
        } else {
            c.asked == newest.asked
        }
    };
    let row = |same: &dyn Fn(&Compared) -> bool| all.iter().rev().take_while(|c| same(c)).count();
    match guard {
        "same-pair" => {
            let length = row(&|c| {
                (&c.call, &c.class, c.error) == (&newest.call, &newest.class, newest.error)
            });
            let fails = !past.flag("failure_only", false) || newest.error;
            (length >= n && counts(length) && fails).then_some("same-call-same-result")
        }
        "stagnation" => {
            let length = row(&|c| (&c.call, &c.class) == (&newest.call, &newest.class));
            (length >= n && counts(length)).then_some("aperiodic-stagnation")
        }
        "interleaved" => {
            let last = &all[all.len().saturating_sub(window)..];
            let count = last.iter().filter(|c| same(c)).count();
            (count >= n && counts(count)).then_some("interleaved")
        }
        "novelty" => {
            let keys = all.iter().enumerate().map(|(i, c)| {
                let apart = (c.nothing && c.times < from).then_some(i);
                if with_result {
                    (apart, &c.call, c.class.as_str())
                } else {
                    (apart, &c.asked, "")
                }
            });
            let keys: Vec<_> = keys.collect();
            let from = keys.len().checked_sub(window)?;
            let kept = &keys[from.saturating_sub(past.number("before", 0))..];
            let (before, keys) = kept.split_at(kept.len() - window);
            let (older, newer) = kept.split_at(before.len() + window / 2);
            let returns = newer.iter().any(|key| older.contains(key));
            let (newest, others) = kept.split_last()?;
            let returns = returns && others.contains(newest);
            let circles = returns || !past.flag("returns", false);
            let new: Vec<_> = keys.iter().filter(|key| !before.contains(key)).collect();
            (circles && distinct(&new) <= past.number("max_distinct", 6))
                .then_some("aperiodic-stagnation")
        }
        _ => {
            let row = last(&past.pairs, n)?;
            let volatile = past.word("volatile", "off") == "row";
            let same = past.word("same", "any");
            let start = |body: &str| {
                still(body, volatile)
                    .chars()
                    .take(past.number("prefix", 100))
                    .collect()
            };
            let key = |p: &(Called, String, bool)| match same {
                "any" => (String::new(), String::new()),
                "tool" => (p.0.name.clone(), String::new()),
                _ => (p.0.name.clone(), start(&p.1)),
            };
            let keys: Vec<_> = row.iter().map(key).collect();
            (row.iter().all(|p| p.2) && equal(&keys)).then_some("error-retry")
        }
    }
}

fn iterations(past: &Past<'_>) -> Option<&'static str> {
    let limit = past.number("limit", 50) as u64;
    let (call, turn) = (past.newest("tool_call"), past.newest("turn"));
    let fires = match past.word("unit", "turns") {
        "turns" => turn && past.turns >= limit,
        "calls" => call && past.issued > limit,
        _ => {
            let pieces = past.pieces();
            let turns = pieces[1..].iter();
            let steps: usize = turns
                .map(|turn| 1 + usize::from(has(turn, "tool_call")))
                .sum();
            let first = pieces.len() > 1
                && pieces
                    .last()
                    .is_some_and(|t| t.iter().filter(|e| is(e, "tool_call")).count() == 1);
            let begins = usize::from(turn);
            (turn || call && first) && (steps + begins) as u64 > limit
        }
    };
    fires.then_some("iterations")
}

/// Returns the text of a turn as `narration` compares it. The random texts have one time of day, and the only id is
/// `17done`.
fn folded(text: &str) -> String {
    // A time of day must not be followed by an ASCII letter, as in `04:33:17I read`.
    let mut pieces = text.split("04:33:17");
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let goes_on = piece.starts_with(|c: char| c.is_ascii_alphanumeric());
        text += match piece.strip_prefix("done") {
            Some(_) => "04:33:<ids>",
            None if goes_on => "04:33:17",
            None => "<dates>",
        };
        text += piece.strip_prefix("done").unwrap_or(piece);
    }
    let text = text.to_lowercase();
    let mut folded = String::new();
    for c in text.chars() {
        match c {
            c if c.is_ascii_digit() && folded.ends_with('#') => {}
            c if c.is_ascii_digit() => folded.push('#'),
            c if c.is_whitespace() && folded.ends_with(' ') => {}
            c if c.is_whitespace() => folded.push(' '),
            c => folded.push(c),
        }
    }
    folded.trim().into()
}

/// Returns the distinct trigrams of words and ideographs.
fn trigrams(text: &str) -> Vec<Vec<String>> {
    let mut spaced = String::new();
    for c in text.chars() {
        match c {
            '一'..='鿿' | '#' => spaced.push_str(&format!(" {c} ")),
            c if c.is_alphanumeric() => spaced.push(c),
            _ => spaced.push(' '),
        }
    }
    let words: Vec<String> = spaced.split_whitespace().map(str::to_owned).collect();
    let mut grams: Vec<Vec<String>> = words.windows(3).map(<[String]>::to_vec).collect();
    if grams.is_empty() && !words.is_empty() {
        grams.push(words);
    }
    grams.sort();
    grams.dedup();
    grams
}

fn narration(past: &Past<'_>) -> Option<&'static str> {
    let pieces = past.pieces();
    let turns: Vec<(String, Vec<(String, Json)>)> = pieces[1..]
        .iter()
        .map(|turn| {
            let calls = turn.iter().filter(|e| is(e, "tool_call"));
            let calls = calls
                .map(|call| super::history::called(call))
                .map(|c| (c.name, c.value));
            (
                folded(&said(turn, past.flag("reasoning", true))),
                calls.collect(),
            )
        })
        .collect();
    let newest = turns.last()?;
    let alike = |turn: &&(String, Vec<(String, Json)>)| {
        let (a, b) = (trigrams(&turn.0), trigrams(&newest.0));
        let both = a.iter().filter(|gram| b.contains(gram)).count();
        let all = a.len() + b.len() - both;
        let near = match past.word("like", "exact") {
            "exact" => turn.0 == newest.0,
            _ => all > 0 && both as f64 / all as f64 >= past.float("min_share", 0.55),
        };
        near && (!past.flag("with_calls", false) || turn.1 == newest.1)
            && (!past.flag("without_calls", false) || turn.1.len() + newest.1.len() == 0)
    };
    let last = &turns[turns.len().saturating_sub(past.number("window", 12))..];
    let enough = newest.0.chars().count() >= past.number("min_chars", 40);
    (enough && last.iter().filter(alike).count() >= past.number("n", 3)).then_some("monologue")
}

fn loom(past: &Past<'_>) -> Option<&'static str> {
    let pieces = past.pieces();
    let turns = &pieces[1..];
    let output = |turn: &Vec<&Json>| {
        let first = turn.iter().find(|e| is(e, "tool_result"));
        let text = first.map_or_else(|| said(turn, false), |e| text(e, "content").into());
        text.chars().take(200).collect::<String>()
    };
    let outputs: Vec<String> = turns.iter().map(output).filter(|o| !o.is_empty()).collect();
    let outputs = &outputs[outputs
        .len()
        .saturating_sub(past.number("keep_outputs", 10))..];
    let names: Vec<&String> = past.calls.iter().map(|call| &call.name).collect();
    let names = &names[names.len().saturating_sub(past.number("keep_calls", 20))..];
    let window = past.number("loop_detection_window", 5);
    let bad = turns
        .iter()
        .filter(|turn| turn.iter().any(|e| error(e)))
        .count();
    let share = bad as f64 / past.turns as f64;
    if past.turns >= past.number("max_iterations", 50) as u64 {
        Some("iterations")
    } else if last(names, past.number("duplicate_threshold", 3)).is_some_and(equal) {
        Some("identical-call")
    } else if last(outputs, 2 * window).is_some_and(|t| t[..window] == t[window..]) {
        Some("cycle")
    } else {
        (past.turns > 0 && share > past.float("error_threshold", 0.5)).then_some("error-retry")
    }
}
