//! Tests `ignore`: matching lines are not read.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use deadloop_detect::harness::{LINE_CHARS, Member};
use deadloop_detect::{Event, Guard, Settings, TextChannel, Value};
use proptest::prelude::*;
use regex::Regex;

use crate::common::{alarm, fires, member, preset, word};

/// Returns a member with `ignore`.
fn ignoring(mut base: Member, patterns: &[&str]) -> Member {
    base.params.set("ignore", list(patterns));
    assert_eq!(base.check(), Ok(()));
    base
}

fn list(patterns: &[&str]) -> Value {
    Value::List(patterns.iter().map(|pattern| word(pattern)).collect())
}

/// The patterns of these tests. Each has a second pattern for starts of lines that may still match.
const BEGINNINGS: [(&str, &str); 6] = [
    (r"^\s*\|", r"^\s*$|^\s*\|"),
    (r"^\s*}$", r"^\s*}?$"),
    ("^$", "^$"),
    ("again", ""),
    (r"^\d+\.", r"^\d*$|^\d+\."),
    ("^思考。$", "^思?$|^思考$|^思考。$"),
];

/// Returns the number of chars of a line after which no pattern can match.
fn free_after(patterns: &[&str], line: &str) -> Option<usize> {
    let open = BEGINNINGS.iter().filter(|(p, _)| patterns.contains(p));
    let open: Vec<Regex> = open.map(|(_, begun)| Regex::new(begun).unwrap()).collect();
    let bare = line.strip_suffix('\n').unwrap_or(line);
    let ends = bare.char_indices().map(|(at, c)| at + c.len_utf8());
    let mut ends = ends.enumerate();
    let free = ends.find(|(_, end)| {
        let begun = &bare[..*end];
        let begun = begun.strip_suffix('\r').unwrap_or(begun);
        !open.iter().any(|open| open.is_match(begun))
    });
    free.map(|(i, _)| i + 1)
}

/// Returns the pieces of a text that are matched, by the definition.
fn lines(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = vec![String::new()];
    for c in text.chars() {
        let line = lines.last_mut().unwrap();
        line.push(c);
        if c == '\n' || line.chars().count() == LINE_CHARS {
            lines.push(String::new());
        }
    }
    lines
}

/// Returns the alarm and the onset by the definition: those of a guard without `ignore` on the remaining text, at the
/// position at which a line is known not to match.
fn slow(base: &Member, names: &[&str], text: &str) -> Option<(u64, u64, u64)> {
    let patterns: Vec<Regex> = names.iter().map(|p| Regex::new(p).unwrap()).collect();
    let (mut left, mut places) = (String::new(), Vec::new());
    let (mut at, mut ends) = (0_u64, Vec::new());
    let all = lines(text);
    for (i, line) in all.iter().enumerate() {
        let chars = line.chars().count() as u64;
        let bare = line.strip_suffix('\n').unwrap_or(line);
        let bare = bare.strip_suffix('\r').unwrap_or(bare);
        let free = free_after(names, line).map(|chars| chars as u64);
        // The last line has not ended, so it is read only if no pattern can match.
        let ended = i + 1 < all.len();
        if free.is_some() || ended && !patterns.iter().any(|p| p.is_match(bare)) {
            left.push_str(line);
            places.extend(at..at + chars);
            let known = |n: u64| n.max(free.unwrap_or(chars));
            ends.extend((1..=chars).map(|n| at + known(n)));
        }
        at += chars;
    }
    let alarm = alarm(base, &left, 1)?;
    let exact = usize::try_from(alarm.exact.count()).unwrap();
    let onset = usize::try_from(alarm.onset.count()).unwrap();
    let onset = places.get(onset).copied().unwrap_or(at);
    Some((ends[exact - 1], onset, alarm.period.count()))
}

fn fast(base: &Member, patterns: &[&str], text: &str, chunk: usize) -> Option<(u64, u64, u64)> {
    let alarm = alarm(&ignoring(base.clone(), patterns), text, chunk)?;
    let (exact, onset) = (alarm.exact.count(), alarm.onset.count());
    Some((exact, onset, alarm.period.count()))
}

/// Returns a guard for each kind of meter, with thresholds that short texts can meet.
fn guards() -> Vec<Member> {
    let int = Value::Int;
    let few = [("min_copies", int(3)), ("min_chars", int(40))];
    let sentences = [few.as_slice(), &[("on", word("sentences"))]].concat();
    let counters = [sentences.as_slice(), &[("fold", word("counters"))]].concat();
    let checkpoints = Value::List(vec![int(100), int(200), int(300)]);
    vec![
        member("periodic", &few),
        member("periodic", &sentences),
        member("periodic", &counters),
        member("recurrence", &[("min_count", int(4))]),
        member("checkpoint", &[("checkpoints", checkpoints)]),
        preset("novelty", "mlx-serve-fuzzy"),
    ]
}

fn text() -> impl Strategy<Value = String> {
    let rows = ["| 1 | 2 |", "| 3 | 4 |", "a and b", "}", "", "\r"];
    let said = ["we look at it again.", "3. we count on", "思考。"];
    let line = prop::sample::select([&rows[..], &said].concat());
    let end = prop::sample::select(vec!["\n", "\n", "\n", " "]);
    let unit = prop::collection::vec((line, end), 1..5);
    let unit = unit.prop_map(|lines| lines.iter().map(|(a, b)| format!("{a}{b}")).collect());
    let stretch = (unit, 1..16_usize).prop_map(|(unit, n): (String, usize)| unit.repeat(n));
    prop::collection::vec(stretch, 1..6).prop_map(|all| all.concat())
}

fn patterns() -> impl Strategy<Value = Vec<&'static str>> {
    let all = vec![r"^\s*\|", r"^\s*}$", "^$", "again", r"^\d+\.", "^思考。$"];
    prop::sample::subsequence(all, 1..4)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::common::drawn(1500), ..ProptestConfig::default() })]

    /// Compares the guard with the definition, for any chunks.
    #[test]
    fn what_is_left_is_read_as_if_nothing_else_were_there(
        guard in prop::sample::select(guards()),
        patterns in patterns(),
        text in text(),
        chunk in 1..50_usize,
    ) {
        let want = slow(&guard, &patterns, &text);
        let found = fast(&guard, &patterns, &text, chunk);
        prop_assert_eq!(found.map(|f| f.0), want.map(|w| w.0));
        if let (Some(found), Some(want)) = (found, want) && found.2 == want.2 {
            prop_assert_eq!(found.1, want.1, "onset");
        }
        prop_assert_eq!(fast(&guard, &patterns, &text, usize::MAX), found);
    }
}

#[test]
fn generated_texts_alarm_with_and_without_the_list() {
    let drawn = (prop::sample::select(guards()), patterns());
    let both = crate::common::how_often((drawn, text()), |(guard, patterns), text| {
        slow(guard, patterns, text).is_some()
    });
    assert!((60..290).contains(&both), "{both} of 300");
    let drawn = (prop::sample::select(guards()), patterns());
    let silent = crate::common::how_often((drawn, text()), |(guard, patterns), text| {
        fires(guard, text).is_some() && slow(guard, patterns, text).is_none()
    });
    assert!(silent > 10, "{silent} of 300");
}

/// A table of equal rows is no loop if rows are ignored. A loop of the text around it is found.
#[test]
fn a_listed_row_is_no_loop_and_what_stands_around_it_is() {
    let rows = "| 0 | 0 | 0 |\n".repeat(40);
    let periodic = member("periodic", &[]);
    let listed = ignoring(periodic.clone(), &[r"^\s*\|"]);
    assert!(fires(&periodic, &rows).is_some());
    assert_eq!(fires(&listed, &rows), None);
    let thought = format!("Let me draw the table once more, to be sure.\n{rows}").repeat(6);
    let told = alarm(&listed, &thought, 7).unwrap();
    assert_eq!(told.unit, "Let me draw the table once more, to be sure.\n");
    let round = thought.chars().count() as u64 / 6;
    assert_eq!(told.onset.count(), round, "the second sentence");
    let plain = alarm(&periodic, &thought.replace("| 0 | 0 | 0 |\n", ""), 7).unwrap();
    // The alarm is the same as without rows.
    let (copies, rest) = (plain.exact.count() / 45, plain.exact.count() % 45);
    assert_eq!(told.exact.count(), copies * round + rest);
}

/// A line without end is matched in pieces.
#[test]
fn a_line_without_an_end_is_read_in_pieces() {
    let periodic = member("periodic", &[]);
    let flood = "-".repeat(50_000);
    assert_eq!(fires(&ignoring(periodic.clone(), &["^-+$"]), &flood), None);
    let loops = format!("{}{}", "-".repeat(2 * LINE_CHARS), "so it is ".repeat(400));
    let found = fires(&ignoring(periodic.clone(), &["^-+$"]), &loops);
    let plain = fires(&periodic, &"so it is ".repeat(400)).unwrap();
    assert_eq!(found, Some(2 * LINE_CHARS as u64 + plain));
    // At the end of a text, a line that may still match is not read. Other lines are.
    let open = "so it is ".repeat(LINE_CHARS / 9);
    let found = fires(&ignoring(periodic.clone(), &["^-+$"]), &open);
    assert_eq!(found, Some(plain));
    assert_eq!(fires(&ignoring(periodic, &["never"]), &open), None);
}

/// Turns and arguments begin a new line.
#[test]
fn a_turn_begins_a_line() {
    let settings = "ignore = ['^x']\n[[guard]]\ndetector = \"periodic\"\n";
    let settings = Settings::parse(settings).unwrap();
    let mut guard = Guard::new(settings.guard()).unwrap();
    let events = [
        Event::Text(TextChannel::Answer, "x"),
        Event::Turn { agent: None },
        Event::Text(TextChannel::Answer, "so it is "),
    ];
    for event in &events {
        assert!(guard.push(event).into_alarm().is_none());
    }
    let rest = "so it is ".repeat(400);
    let alarm = guard.push_text(TextChannel::Answer, &rest).into_alarm();
    let alarm = alarm.unwrap();
    let whole = format!("so it is {rest}");
    let plain = fires(&member("periodic", &[]), &whole).unwrap();
    assert_eq!(alarm.exact.count(), 1 + plain);
    assert_eq!(alarm.onset.count(), 1 + 9);
}

const GUARD: &str = "[[guard]]\ndetector = \"periodic\"\n";

#[test]
fn lists_of_a_file_and_of_a_guard_add_up() {
    let text = format!(
        "ignore = ['^a', '^b']\n{GUARD}ignore = ['^b', '^c']\n[[guard]]\ndetector = \"duplicate\"\n\
         [[guard]]\ndetector = \"malformed\"\n[[model]]\nmatch = \"m\"\n[[model.guard]]\ndetector = \"novelty\"\n"
    );
    let settings = Settings::parse(&text).unwrap();
    let lists = |model: &str| {
        let members = settings.for_model(model).members.iter();
        let lists = members.map(|m| m.params.get("ignore").cloned());
        lists.collect::<Vec<_>>()
    };
    assert_eq!(lists("x"), [Some(list(&["^a", "^b", "^c"])), None, None]);
    assert_eq!(lists("m"), [Some(list(&["^a", "^b"]))]);
    // The parameter and the old key beside `detector` are the same.
    let [new, old] = ["[guard.params]\n", ""].map(|table| {
        let text = format!("{GUARD}{table}ignore = ['^a']\n");
        Settings::parse(&text).unwrap().id()
    });
    assert_eq!(new, old);
    let both = format!("{GUARD}ignore = ['^a']\n[guard.params]\nignore = ['^b']\n");
    let both = Settings::parse(&both).unwrap();
    let all = both.guard().members[0].params.get("ignore").cloned();
    assert_eq!(all, Some(list(&["^a", "^b"])));
    // The written setting parses as the same setting, and other settings have other ids.
    let own = settings.guard();
    let again = Settings::parse(&own.to_toml("guard")).unwrap();
    assert_eq!(again.guard(), own);
    assert_eq!(again.guard().id(), own.id());
    let plain = Settings::parse(GUARD).unwrap();
    let listed = Settings::parse(&format!("ignore = ['^a']\n{GUARD}")).unwrap();
    assert_ne!(plain.guard().id(), listed.guard().id());
    let empty = Settings::parse(&format!("ignore = []\n{GUARD}")).unwrap();
    assert_eq!(plain.guard().id(), empty.guard().id());
}

#[test]
fn what_is_no_list_is_refused_where_it_stands() {
    let all = "\".*\" matches every line: the detector would read nothing";
    let calls = "[[guard]]\ndetector = \"duplicate\"\n";
    let checkpoint = "[[guard]]\ndetector = \"checkpoint\"\n[guard.params]\n";
    for (text, told) in [
        (
            format!("ignore = ['.*']\n{GUARD}"),
            format!("1:10: ignore: [\".*\"]: {all}"),
        ),
        (
            format!("{GUARD}ignore = ['a', '.*']\n"),
            format!("3:10: ignore: [\"a\", \".*\"]: {all}"),
        ),
        (
            format!("{GUARD}ignore = ['(']\n"),
            "3:10: ignore: [\"(\"]: expected a regular expression: unclosed group".to_owned(),
        ),
        (
            format!("{calls}ignore = ['a']\n"),
            "unknown parameter \"ignore\"".to_owned(),
        ),
        (
            format!("ignore = ['a']\n{calls}"),
            "1:10: ignore: no guard looks for repetition in a text".to_owned(),
        ),
        (
            format!("{checkpoint}ignore = ['.*']\n"),
            "matches every line".to_owned(),
        ),
    ] {
        let refused = Settings::parse(&text).unwrap_err().to_string();
        let whole = told.starts_with(char::is_numeric);
        assert!(refused.contains(&told), "{refused}");
        assert!(!whole || refused == told, "{refused}");
    }
}
