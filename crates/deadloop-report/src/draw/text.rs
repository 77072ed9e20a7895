//! The width of texts without their font, and the shortening of long ones.

use std::collections::BTreeMap;
use unicode_width::UnicodeWidthChar;

/// Estimates the width of `text` in pixels at font size `size`, rather too wide than too narrow. Letters are in classes
/// of a plain sans-serif. A wide (CJK) char takes a whole em.
pub(crate) fn measure(text: &str, size: f64) -> f64 {
    text.chars().map(em).sum::<f64>() * size
}

fn em(c: char) -> f64 {
    match c {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '|' | '\'' | '!' | ' ' | '\u{202f}' => 0.33,
        'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '/' | '-' => 0.4,
        'm' | 'w' | 'M' | 'W' | '%' | '@' | '…' => 0.92,
        'A'..='Z' => 0.71,
        _ => match c.width() {
            Some(0) | None => 0.0,
            Some(1) => 0.63,
            Some(_) => 1.02,
        },
    }
}

/// Shortens a text wider than `room` pixels to its two ends around `…`. The ends of a model's name differ more than its
/// middle.
pub(crate) fn elide(text: &str, room: f64, size: f64) -> String {
    if measure(text, size) <= room {
        return text.to_owned();
    }
    let chars: Vec<char> = text.chars().collect();
    let budget = room / size - em('…');
    let (mut head, mut tail, mut used) = (0, 0, 0.0);
    while head + tail < chars.len() {
        let from_head = head <= tail;
        let next = if from_head {
            chars[head]
        } else {
            chars[chars.len() - 1 - tail]
        };
        used += em(next);
        if used > budget {
            break;
        }
        if from_head { head += 1 } else { tail += 1 }
    }
    let start: String = chars[..head].iter().collect();
    let end: String = chars[chars.len() - tail..].iter().collect();
    format!("{}…{}", start.trim_end(), end.trim_start())
}

/// Shortens each of `names` like [`elide`]. Names that would look alike lose their common beginning. Names that still
/// look alike are numbered.
pub(crate) fn elide_apart(names: &[&str], room: f64, size: f64) -> Vec<String> {
    let mut shown: Vec<String> = names.iter().map(|name| elide(name, room, size)).collect();
    // Each turn cuts more of a group of names, until they differ right after the mark.
    for _ in 0..names.len() {
        let groups = alike(names, &shown);
        if groups.is_empty() {
            return shown;
        }
        for group in groups {
            let common = common_prefix(group.iter().map(|at| names[*at]));
            for at in group {
                let rest: String = names[at].chars().skip(common).collect();
                shown[at] = elide(&format!("…{rest}"), room, size);
            }
        }
    }
    for group in alike(names, &shown) {
        for (n, at) in group.into_iter().enumerate() {
            shown[at] = format!("{} ({})", shown[at], n + 1);
        }
    }
    shown
}

/// Returns the indices of different names that look alike, by groups.
fn alike(names: &[&str], shown: &[String]) -> Vec<Vec<usize>> {
    let mut by_text: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, text) in shown.iter().enumerate() {
        by_text.entry(text).or_default().push(at);
    }
    let differ = |group: &Vec<usize>| group.iter().any(|at| names[*at] != names[group[0]]);
    by_text.into_values().filter(differ).collect()
}

/// Counts the chars of the common beginning of all `names`.
fn common_prefix<'n>(mut names: impl Iterator<Item = &'n str>) -> usize {
    let first = names.next().unwrap_or_default();
    let with = |name: &str| {
        first
            .chars()
            .zip(name.chars())
            .take_while(|(a, b)| a == b)
            .count()
    };
    names.map(with).min().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_differ_are_never_shown_alike() {
        let long = |middle: &str| {
            format!(
                "{}{middle}{}",
                "organisation/model-".repeat(4),
                "-instruct".repeat(5)
            )
        };
        let mut names: Vec<String> = ["7b", "7b-v2", "13b", "70b"].map(long).to_vec();
        names.extend((0..40).map(|n| long(&format!("checkpoint-{n:03}"))));
        names.extend(["short".to_owned(), long("7b")]);
        let list: Vec<&str> = names.iter().map(String::as_str).collect();
        for room in [60.0, 120.0, 300.0] {
            let shown = elide_apart(&list, room, 13.0);
            for (a, one) in shown.iter().enumerate() {
                for (b, other) in shown.iter().enumerate() {
                    assert_eq!(one == other, list[a] == list[b], "{one} {other}");
                }
            }
        }
        assert_eq!(elide_apart(&["a", "b"], 300.0, 13.0), ["a", "b"]);
    }

    #[test]
    fn wide_chars_count_as_wide() {
        assert!(measure("思考", 10.0) > 1.5 * measure("ab", 10.0));
    }

    #[test]
    fn a_long_name_keeps_both_ends_and_fits() {
        let name = "deepseek-r1-distill-通义千问-qwen2.5-7b-instruct";
        let short = elide(name, 120.0, 12.0);
        assert!(
            short.starts_with("deep") && short.ends_with("uct") && short.contains('…'),
            "{short}"
        );
        assert!(measure(&short, 12.0) <= 120.0);
        assert_eq!(elide("short", 120.0, 12.0), "short");
    }
}
