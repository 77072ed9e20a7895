//! Tag faults.
//!
//! A text without elements remains unchanged. `<think>` is not an element here.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::DamageRng;

/// An element, with the byte ranges of its opening and closing tags.
#[derive(Clone, Debug, PartialEq, Eq)]
struct TagElement {
    name: String,
    open: Range<usize>,
    close: Range<usize>,
    /// Whether the element is inside another element.
    is_inner: bool,
}

/// Returns the properly nested elements of a text, in order.
fn find_elements(text: &str) -> Vec<TagElement> {
    static TAG_REGEX: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"<(/?)([A-Za-z_][A-Za-z0-9_]*)>").ok());
    let (mut found, mut open): (Vec<TagElement>, Vec<(String, Range<usize>)>) =
        (Vec::new(), Vec::new());
    for tag in TAG_REGEX.iter().flat_map(|tag| tag.captures_iter(text)) {
        let (Some(all), Some(name)) = (tag.get(0), tag.get(2)) else {
            continue;
        };
        let is_closing = tag.get(1).is_some_and(|slash| !slash.is_empty());
        if name.as_str() == "think" {
            continue;
        }
        if !is_closing {
            open.push((name.as_str().to_owned(), all.range()));
            continue;
        }
        // A closing tag that does not match the last open one is ignored.
        if open.last().is_none_or(|(last, _)| last != name.as_str()) {
            continue;
        }
        if let Some((name, range)) = open.pop() {
            found.push(TagElement {
                name,
                open: range,
                close: all.range(),
                is_inner: !open.is_empty(),
            });
        }
    }
    found.sort_by_key(|element| element.open.start);
    found
}

/// Replaces non-overlapping byte ranges of a text.
fn apply_edits(text: &str, mut edits: Vec<(Range<usize>, String)>) -> String {
    edits.sort_by_key(|(range, _)| (range.start, range.end));
    let (mut all, mut from) = (String::with_capacity(text.len()), 0);
    for (range, with) in edits {
        all.push_str(text.get(from..range.start).unwrap_or(""));
        all.push_str(&with);
        from = range.end.max(from);
    }
    all + text.get(from..).unwrap_or("")
}

fn deletion(range: Range<usize>) -> (Range<usize>, String) {
    (range, String::new())
}

pub(super) fn remove_closing(intact: &str, severity: usize, rng: &mut DamageRng) -> String {
    let chosen = rng.choose_some(find_elements(intact), severity);
    apply_edits(
        intact,
        chosen
            .into_iter()
            .map(|element| deletion(element.close))
            .collect(),
    )
}

pub(super) fn close_early(intact: &str, severity: usize, rng: &mut DamageRng) -> String {
    // In an element with inner elements, the early tag could end up inside one of them.
    let flat = |element: &TagElement| !intact[element.open.end..element.close.start].contains('<');
    let flat: Vec<TagElement> = find_elements(intact).into_iter().filter(flat).collect();
    let chosen = rng.choose_some(flat, severity);
    let early = |element: TagElement| {
        let at = rng.char_boundary(intact, element.open.end, element.close.start);
        (at..at, intact[element.close].to_owned())
    };
    apply_edits(intact, chosen.into_iter().map(early).collect())
}

/// Returns the elements that are not inside another element.
fn find_outermost(text: &str) -> Vec<TagElement> {
    find_elements(text)
        .into_iter()
        .filter(|element| !element.is_inner)
        .collect()
}

pub(super) fn nest_elements(intact: &str, severity: usize, rng: &mut DamageRng) -> String {
    let outer = find_outermost(intact);
    if outer.len() < 2 {
        return intact.to_owned();
    }
    let first = rng.below(outer.len() - 1);
    let last = (first + severity).min(outer.len() - 1);
    let (closing, to) = (outer[first].close.clone(), outer[last].close.end);
    let moved = (to..to, intact[closing.clone()].to_owned());
    apply_edits(intact, vec![deletion(closing), moved])
}

pub(super) fn cross_elements(intact: &str, rng: &mut DamageRng) -> String {
    let outer = find_outermost(intact);
    if outer.len() < 2 {
        return intact.to_owned();
    }
    let first = rng.below(outer.len() - 1);
    let (closing, to) = (outer[first].close.clone(), outer[first + 1].open.end);
    let moved = (to..to, intact[closing.clone()].to_owned());
    apply_edits(intact, vec![deletion(closing), moved])
}

/// Returns the edits that rename the opening tag, the closing tag or both.
fn rename_tags(
    element: &TagElement,
    open: Option<&str>,
    close: Option<&str>,
) -> Vec<(Range<usize>, String)> {
    let open = open.map(|name| (element.open.clone(), format!("<{name}>")));
    let close = close.map(|name| (element.close.clone(), format!("</{name}>")));
    open.into_iter().chain(close).collect()
}

pub(super) fn change_case(intact: &str, severity: usize, rng: &mut DamageRng) -> String {
    let chosen = rng.choose_some(find_elements(intact), severity);
    let cased = |element: TagElement| {
        let name = match rng.below(3) {
            0 => element.name.to_ascii_uppercase(),
            1 => capitalize(&element.name, true),
            _ => capitalize(&element.name, false),
        };
        rename_tags(&element, Some(&name), Some(&name))
    };
    apply_edits(intact, chosen.into_iter().flat_map(cased).collect())
}

/// Capitalizes a name. If `every_word`, also the letter after each `_`.
fn capitalize(name: &str, every_word: bool) -> String {
    let (mut begin, mut capitals) = (true, String::new());
    for c in name.chars() {
        capitals.push(if begin { c.to_ascii_uppercase() } else { c });
        begin = every_word && c == '_';
    }
    capitals
}

pub(super) fn misspell(intact: &str, severity: usize, rng: &mut DamageRng) -> String {
    let Some(element) = rng.choose(&find_elements(intact)).cloned() else {
        return intact.to_owned();
    };
    let mut name: Vec<char> = element.name.chars().collect();
    for _ in 0..severity {
        edit_name(&mut name, rng);
    }
    let mut name: String = name.into_iter().collect();
    if name == element.name {
        name.push('s');
    }
    let (open, close) = [(true, true), (true, false), (false, true)][rng.below(3)];
    apply_edits(
        intact,
        rename_tags(&element, open.then_some(&*name), close.then_some(&*name)),
    )
}

/// Makes one random typing error in a name, after its first letter: removes, inserts or changes a letter, or swaps two
/// letters.
fn edit_name(name: &mut Vec<char>, rng: &mut DamageRng) {
    let letter = char::from(b'a' + u8::try_from(rng.below(26)).unwrap_or(0));
    let at = 1 + rng.below(name.len().saturating_sub(1));
    match rng.below(4) {
        0 if at < name.len() => {
            name.remove(at);
        }
        1 if at < name.len() => name[at] = letter,
        2 if at + 1 < name.len() => name.swap(at, at + 1),
        _ => name.insert(at.min(name.len()), letter),
    }
}

pub(super) fn mismatch_numbers(intact: &str, severity: usize, rng: &mut DamageRng) -> String {
    let number = |name: &str| {
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let number: Option<u32> = name[stem.len()..].parse().ok();
        number.map(|number| (stem.to_owned(), number))
    };
    let numbered = find_elements(intact)
        .into_iter()
        .filter(|element| number(&element.name).is_some());
    let chosen = rng.choose_some(numbered.collect(), severity);
    let other = |element: TagElement| {
        let (stem, number) = number(&element.name)?;
        let name = format!(
            "{stem}{}",
            number.checked_add(1 + u32::try_from(rng.below(3)).ok()?)?
        );
        Some(rename_tags(&element, None, Some(&name)))
    };
    apply_edits(
        intact,
        chosen.into_iter().filter_map(other).flatten().collect(),
    )
}

pub(super) fn remove_field(intact: &str, severity: usize, rng: &mut DamageRng) -> String {
    let mut fields: Vec<TagElement> = Vec::new();
    for element in find_elements(intact)
        .into_iter()
        .filter(|element| element.is_inner)
    {
        if fields
            .last()
            .is_none_or(|last| last.close.end <= element.open.start)
        {
            fields.push(element);
        }
    }
    let chosen = rng.choose_some(fields, severity);
    let gone = |element: TagElement| deletion(element.open.start..element.close.end);
    apply_edits(intact, chosen.into_iter().map(gone).collect())
}

pub(super) fn remove_text(intact: &str, severity: usize) -> String {
    let outer = find_outermost(intact);
    let (Some(first), Some(last)) = (outer.first(), outer.last()) else {
        return intact.to_owned();
    };
    let mut gone = vec![deletion(last.close.end..intact.len())];
    if severity > 1 {
        gone.push(deletion(0..first.open.start));
    }
    if severity > 2 {
        let between = |pair: &[TagElement]| deletion(pair[0].close.end..pair[1].open.start);
        gone.extend(outer.windows(2).map(between));
    }
    apply_edits(intact, gone)
}
