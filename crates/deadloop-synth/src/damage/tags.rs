//! Faults of tags.
//!
//! A text without elements stays as it is. `<think>` is not an element here.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::DamageDraws;

/// An element: an opening tag, its content and the closing tag. Places are in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
struct TagElement {
    name: String,
    open: Range<usize>,
    close: Range<usize>,
    /// Whether the element is inside another one.
    inner: bool,
}

/// Returns the properly nested elements of a text, in the order in which they begin.
fn find_elements(text: &str) -> Vec<TagElement> {
    static TAG: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"<(/?)([A-Za-z_][A-Za-z0-9_]*)>").ok());
    let (mut found, mut open): (Vec<TagElement>, Vec<(String, Range<usize>)>) =
        (Vec::new(), Vec::new());
    for tag in TAG.iter().flat_map(|tag| tag.captures_iter(text)) {
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
                inner: !open.is_empty(),
            });
        }
    }
    found.sort_by_key(|element| element.open.start);
    found
}

/// Returns the text with each of these ranges replaced. The ranges do not overlap.
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

fn delete(range: Range<usize>) -> (Range<usize>, String) {
    (range, String::new())
}

pub(super) fn remove_closing(intact: &str, severity: usize, draw: &mut DamageDraws) -> String {
    let hit = draw.pick_some(find_elements(intact), severity);
    apply_edits(
        intact,
        hit.into_iter()
            .map(|element| delete(element.close))
            .collect(),
    )
}

pub(super) fn close_early(intact: &str, severity: usize, draw: &mut DamageDraws) -> String {
    // In an element with inner elements, the early tag could end up inside one of them.
    let flat = |element: &TagElement| !intact[element.open.end..element.close.start].contains('<');
    let flat: Vec<TagElement> = find_elements(intact).into_iter().filter(flat).collect();
    let hit = draw.pick_some(flat, severity);
    let early = |element: TagElement| {
        let at = draw.place(intact, element.open.end, element.close.start);
        (at..at, intact[element.close].to_owned())
    };
    apply_edits(intact, hit.into_iter().map(early).collect())
}

/// Returns the elements that are not inside another one.
fn find_outermost(text: &str) -> Vec<TagElement> {
    find_elements(text)
        .into_iter()
        .filter(|element| !element.inner)
        .collect()
}

pub(super) fn nest_elements(intact: &str, severity: usize, draw: &mut DamageDraws) -> String {
    let outer = find_outermost(intact);
    if outer.len() < 2 {
        return intact.to_owned();
    }
    let first = draw.below(outer.len() - 1);
    let last = (first + severity).min(outer.len() - 1);
    let (closing, to) = (outer[first].close.clone(), outer[last].close.end);
    let moved = (to..to, intact[closing.clone()].to_owned());
    apply_edits(intact, vec![delete(closing), moved])
}

pub(super) fn cross_elements(intact: &str, draw: &mut DamageDraws) -> String {
    let outer = find_outermost(intact);
    if outer.len() < 2 {
        return intact.to_owned();
    }
    let first = draw.below(outer.len() - 1);
    let (closing, to) = (outer[first].close.clone(), outer[first + 1].open.end);
    let moved = (to..to, intact[closing.clone()].to_owned());
    apply_edits(intact, vec![delete(closing), moved])
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

pub(super) fn change_case(intact: &str, severity: usize, draw: &mut DamageDraws) -> String {
    let hit = draw.pick_some(find_elements(intact), severity);
    let cased = |element: TagElement| {
        let name = match draw.below(3) {
            0 => element.name.to_ascii_uppercase(),
            1 => capitalize(&element.name, true),
            _ => capitalize(&element.name, false),
        };
        rename_tags(&element, Some(&name), Some(&name))
    };
    apply_edits(intact, hit.into_iter().flat_map(cased).collect())
}

/// Returns the name with a capital first letter, and with `all` also after each `_`.
fn capitalize(name: &str, all: bool) -> String {
    let (mut begin, mut capitals) = (true, String::new());
    for c in name.chars() {
        capitals.push(if begin { c.to_ascii_uppercase() } else { c });
        begin = all && c == '_';
    }
    capitals
}

pub(super) fn misspell(intact: &str, severity: usize, draw: &mut DamageDraws) -> String {
    let Some(element) = draw.pick(&find_elements(intact)).cloned() else {
        return intact.to_owned();
    };
    let mut name: Vec<char> = element.name.chars().collect();
    for _ in 0..severity {
        edit_name(&mut name, draw);
    }
    let mut name: String = name.into_iter().collect();
    if name == element.name {
        name.push('s');
    }
    let (open, close) = [(true, true), (true, false), (false, true)][draw.below(3)];
    apply_edits(
        intact,
        rename_tags(&element, open.then_some(&*name), close.then_some(&*name)),
    )
}

/// Edits a name once after the first letter: removes, inserts or changes a letter, or swaps it with the next one.
fn edit_name(name: &mut Vec<char>, draw: &mut DamageDraws) {
    let letter = char::from(b'a' + u8::try_from(draw.below(26)).unwrap_or(0));
    let at = 1 + draw.below(name.len().saturating_sub(1));
    match draw.below(4) {
        0 if at < name.len() => {
            name.remove(at);
        }
        1 if at < name.len() => name[at] = letter,
        2 if at + 1 < name.len() => name.swap(at, at + 1),
        _ => name.insert(at.min(name.len()), letter),
    }
}

pub(super) fn mismatch_numbers(intact: &str, severity: usize, draw: &mut DamageDraws) -> String {
    let number = |name: &str| {
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let number: Option<u32> = name[stem.len()..].parse().ok();
        number.map(|number| (stem.to_owned(), number))
    };
    let numbered = find_elements(intact)
        .into_iter()
        .filter(|element| number(&element.name).is_some());
    let hit = draw.pick_some(numbered.collect(), severity);
    let other = |element: TagElement| {
        let (stem, number) = number(&element.name)?;
        let name = format!(
            "{stem}{}",
            number.checked_add(1 + u32::try_from(draw.below(3)).ok()?)?
        );
        Some(rename_tags(&element, None, Some(&name)))
    };
    apply_edits(
        intact,
        hit.into_iter().filter_map(other).flatten().collect(),
    )
}

pub(super) fn remove_field(intact: &str, severity: usize, draw: &mut DamageDraws) -> String {
    let mut fields: Vec<TagElement> = Vec::new();
    for element in find_elements(intact)
        .into_iter()
        .filter(|element| element.inner)
    {
        if fields
            .last()
            .is_none_or(|last| last.close.end <= element.open.start)
        {
            fields.push(element);
        }
    }
    let hit = draw.pick_some(fields, severity);
    let gone = |element: TagElement| delete(element.open.start..element.close.end);
    apply_edits(intact, hit.into_iter().map(gone).collect())
}

pub(super) fn remove_text(intact: &str, severity: usize) -> String {
    let outer = find_outermost(intact);
    let (Some(first), Some(last)) = (outer.first(), outer.last()) else {
        return intact.to_owned();
    };
    let mut gone = vec![delete(last.close.end..intact.len())];
    if severity > 1 {
        gone.push(delete(0..first.open.start));
    }
    if severity > 2 {
        let between = |pair: &[TagElement]| delete(pair[0].close.end..pair[1].open.start);
        gone.extend(outer.windows(2).map(between));
    }
    apply_edits(intact, gone)
}
