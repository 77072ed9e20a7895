//! Compares lines without markers with regular expressions of markers.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::{LazyLock, Mutex};

use proptest::prelude::*;
use regex::Regex;

use super::super::elements::KeptElements;
use super::super::fold::Fold;
use super::super::{ElementKind, PeriodicSymbols, SymbolSink};

/// Returns a text without its markers.
fn left(fold: Fold, text: &str, size: usize) -> String {
    struct Left(String, KeptElements);
    impl SymbolSink for Left {
        fn symbol(&mut self, symbol: u32, _: u64, _: u64) {
            self.0.extend(char::from_u32(symbol));
        }
        fn chars(&mut self, text: &str, _: RangeInclusive<u64>) {
            self.0 += text;
        }
        fn marker(&mut self, _: u64) {}
        fn number(&mut self, _: u64, _: u64, _: bool) {}
        fn elements(&mut self) -> &mut KeptElements {
            &mut self.1
        }
    }
    let mut out = Left(String::new(), KeptElements::new(false));
    let mut symbols = PeriodicSymbols::new(fold, ElementKind::Chars, (false, false));
    let chars: Vec<char> = text.chars().collect();
    for chunk in chars.chunks(size) {
        symbols.read(&String::from_iter(chunk), &mut out);
    }
    out.0
}

/// A pattern, compiled once.
fn pattern(text: &str) -> Regex {
    static KNOWN: LazyLock<Mutex<HashMap<String, Regex>>> = LazyLock::new(Mutex::default);
    let mut known = KNOWN.lock().unwrap();
    let compiled = known.entry(text.to_owned());
    compiled
        .or_insert_with(|| Regex::new(text).unwrap())
        .clone()
}

const NUMBER: &str = r"[\p{N}〇零一二两兩三四五六七八九十百千万萬亿億壹贰叁肆伍陆柒捌玖拾佰仟]";
/// A number at the start of a line. A keycap contains a selector.
const NUMERAL: &str = "[\\p{N}〇零一二两兩三四五六七八九十百千万萬亿億壹贰叁肆伍陆柒捌玖拾佰仟][\\p{N}〇零一二两兩三四五六七八九十百千万萬亿億壹贰叁肆伍陆柒捌玖拾佰仟\u{FE0F}]*";
/// A keycap.
const KEYCAP: &str = "7\u{FE0F}\u{20E3}";
/// Words that need no blank before a number.
const BARE: &str = r"(?i:q|no\.\s*)";
const CLOSE: &str = r"[)）\]】]";
const LETTER: &str = "(?:[A-Za-z]|A[A-Z]|BB|CC|[ivx]{1,6}|[IVX]{1,6})";
const WORD: &str = "(?i:step|case|part|chapter|section|question|problem|example|exercise|article|item|option|round|attempt|\
    iteration|task|day|no|q|步骤|情况|情形|案例|示例|例|例题|问题|题目|选项|方案|方法|任务|阶段)";

/// Returns the patterns of markers at the start of a line, after blanks and signs. After a dot, more of the number
/// follows.
fn markers() -> Vec<Regex> {
    let tail = format!(r"(?:[*_:：.、\s]|{CLOSE})*");
    let dots = format!(r"\.(?:{NUMBER}|\.)*");
    let closed = format!("(?:{dots}|[．、:：]|{CLOSE})");
    let forms = [
        r"[①-⒛❶-➓㈠-㈩㊀-㊉]".to_owned(),
        format!("{NUMERAL}{closed}"),
        format!("{NUMERAL}(?:\u{20E3}|-\\s)"),
        format!(r"[(（\[【]\s*(?:{NUMBER}+\s*|{LETTER}){CLOSE}"),
        format!(r"第\s*{NUMBER}(?:{NUMBER}|\s)*[条章节款项题步轮种天次点部讲课例类篇卷幕集回段]"),
        format!(r"{LETTER}(?:[.．、]|{CLOSE})\.*(?:[\s*_]|$|(?<next>[^\x00-\x7F]))"),
        "(?:[ivx]{1,6}|[IVX]{1,6})$".to_owned(),
        format!(r"(?:{WORD}\s+|{BARE}){NUMBER}+{closed}"),
        format!(r"(?i:no)\.\s*{NUMBER}+\s"),
        format!(r"[步情案示例问题选方任阶骤况形目项案法务段]+{NUMBER}+{closed}"),
        format!(r"(?:{WORD}\s+|(?i:no)\.\s*)[A-Z][:：]"),
    ];
    let whole = |form: String| pattern(&format!("^(?:{form}){tail}"));
    forms.into_iter().map(whole).collect()
}

/// Returns a line without its marker, or without leading blanks and signs.
fn slow_line(line: &str) -> String {
    let signs = pattern(r#"^(?:[#*_>+•◦●▪·○■|"“「『-]|\s)*"#);
    let head = signs.find(line).unwrap().end();
    let rest = &line[head..];
    let blank = line[..head].rfind(char::is_whitespace);
    let kept = blank.map_or(0, |i| i + 1);
    let signed =
        line[..head].ends_with(['-', '+']) && pattern(&format!("^{NUMBER}")).is_match(rest);
    if line[..head].contains('#') {
        // A heading may have any word, or only a word.
        let tail = format!(r"(?:[:：](?:[*_:：.、\s]|{CLOSE})*|$)");
        let heading = format!(r"^(?:\p{{Alphabetic}}{{1,16}}\s+|情况|{BARE}){NUMBER}+{tail}");
        if let Some(found) = pattern(&heading).find(rest) {
            return rest[found.end()..].to_owned();
        }
    }
    if line[kept..].starts_with(['*', '_']) {
        let bold = format!(
            r"^(?:{WORD}\s+|{BARE}|[步情案示例问题选方任阶骤况形目项案法务段]+){NUMBER}+[*_]+[:：\s](?:[*_:：.、\s]|{CLOSE})*"
        );
        if let Some(found) = pattern(&bold).find(rest) {
            return rest[found.end()..].to_owned();
        }
    }
    let signs = line[..head].trim_end();
    let whole = pattern("^[①-⒛❶-➓㈠-㈩㊀-㊉]");
    let after_sign = [
        (line[..head].ends_with('#'), format!(r"^{NUMERAL}\s")),
        (
            signs.ends_with('|') && !whole.is_match(rest),
            format!(r"^{NUMERAL}\s*\|"),
        ),
    ];
    for (follows, form) in after_sign {
        let form = format!(r"{form}(?:[*_:：.、\s]|{CLOSE})*");
        if let Some(found) = pattern(&form).find(rest).filter(|_| follows) {
            return rest[found.end()..].to_owned();
        }
    }
    for marker in markers().iter().filter(|_| !signed) {
        if let Some(found) = marker.captures(rest) {
            // Text that is not ASCII stays after a letter and its sign.
            let end = found
                .name("next")
                .map_or(found[0].len(), |next| next.start());
            return rest[end..].to_owned();
        }
    }
    line[kept..].to_owned()
}

fn line() -> impl Strategy<Value = String> {
    let pick = |all: &[&'static str]| prop::sample::select(all.to_vec());
    let head = pick(&[
        "", "  ", "- ", "* ", "**", "## ", "#", "-", "> • ", "\t", "| ", "|", "“", "\" ",
    ]);
    let number = pick(&[
        "", "7", "12", "三", "二十", "１２", KEYCAP, "①", "b", "AB", "iv", "XII", "xyz", "Mix",
    ]);
    let open = pick(&[
        "", "(", "（", "第", "Step ", "case  ", "Q", "No. ", "no.", "情况", "Room ", "[", "[7 ",
    ]);
    let close = pick(&[
        "", ".", ")", "、", "）", ": ", "条", ".2 ", ". ", "，", "]", "- ", "-", " |", "|",
    ]);
    let tail = pick(&["", " ", "**", "** "]);
    let text = pick(&["zq", "文", "zq zq", "~", ""]);
    (head, open, number, close, tail, text).prop_map(|(a, b, c, d, e, f)| {
        // Without a heading, a number after a word is inside the line, which another test covers.
        let b = if b == "Room " && a != "## " { "" } else { b };
        [a, b, c, d, e, f].concat()
    })
}

/// Returns a line without numbers of items inside it. The line begins with a char that continues no marker.
fn slow_inside(line: &str) -> String {
    let number = pattern(&format!("{NUMBER}+"));
    let chars_before = |at: usize| {
        let blank = pattern(r"\s+");
        let before = blank.replace_all(&line[..at], " ").into_owned();
        before.chars().rev().collect::<String>()
    };
    let mut kept = String::new();
    let mut from = 0;
    for found in number.find_iter(line) {
        let before = chars_before(found.start());
        let after = &line[found.end()..];
        let is = |form: &str, text: &str| pattern(form).is_match(text);
        let sentence = is(r"^(?: [.。；;！!？?]|[。；;！!？?])", &before);
        let item = is("^[.．、)）]|^[\\]】]", after) && !is(&format!(r"^\.(?:{NUMBER}|$)"), after);
        let marked = sentence && item
            || is("^ ?[:：]", &before) && is("^[、)）\\]】]", after)
            || is(r"^[(（](?: |[.。；;！!？?:：])", &before) && is("^[)）\\]】]", after)
            || is(r"^ [\p{Alphabetic}\p{N}]", &before) && is("^[)）\\]】]", after)
            || is(r#"^第["“「『]?(?: |[.。；;！!？?:：])"#, &before) && !after.is_empty();
        kept += &line[from..found.start()];
        if !marked {
            kept += found.as_str();
        }
        from = found.end();
    }
    kept + &line[from..]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn what_lines_begin_with(lines in prop::collection::vec(line(), 1..4), size in 1..9_usize) {
        let text: String = lines.iter().map(|line| line.clone() + "\n").collect();
        let slow: String = lines.iter().map(|line| slow_line(line) + "\n").collect();
        prop_assert_eq!(&left(Fold::Markers, &text, size), &slow, "{:?}", text);
        prop_assert_eq!(left(Fold::Markers, &text, usize::MAX >> 1), slow);
    }

    #[test]
    fn numbers_inside_lines(
        parts in prop::collection::vec(
            prop::sample::select(vec!["a", " ", ". ", ".", "。", "；", "：", ": ", "(", "（", ")", "、", "）", "“", "第", "7", "12", "三", "十", "条", ","]),
            0..14,
        ),
        size in 1..9_usize,
    ) {
        let line = format!("!{}~", parts.concat());
        let text = line.clone() + "\n";
        let slow = slow_inside(&line) + "\n";
        prop_assert_eq!(&left(Fold::Markers, &text, size), &slow, "{:?}", text);
        prop_assert_eq!(left(Fold::Markers, &text, usize::MAX >> 1), slow);
    }

    #[test]
    fn leading_blanks(text in "[ \t\nab-]{0,40}", size in 1..9_usize) {
        let blanks = pattern(r"(?m)^[ \t]+");
        let slow = blanks.replace_all(&text, "").into_owned();
        prop_assert_eq!(left(Fold::Indent, &text, size), slow);
    }
}
