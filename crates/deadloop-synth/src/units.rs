//! Units: texts to repeat, cut out of clean text.

use super::letters::{find_words, is_cjk_char};
use super::spec::CountRange;
use super::stock::{CleanText, ends_sentence};
use crate::planted_loops::Rng;
use deadloop_detect::Kind;

/// Cuts a unit of `chars` chars for this kind of loop out of one of the texts. Returns the unit and the id of the text.
///
/// `None` if this draw found no fitting piece.
pub(super) fn cut_unit(
    texts: &[&CleanText],
    kind: Kind,
    chars: CountRange,
    rng: &mut Rng,
) -> Option<(String, String)> {
    let at = rng.below(texts.len());
    let donor = texts.get(at)?;
    let unit = match kind {
        Kind::ShortSequence => draw_words(&donor.text, chars, rng),
        Kind::OrderedList => draw_lines(&donor.text, chars, rng),
        _ => {
            // A text may be a single paragraph, so enough are joined for the longest unit.
            let (mut joined, mut rest) = (donor.text.clone(), texts[at + 1..].iter());
            while joined.chars().count() < chars.high
                && let Some(next) = rest.next()
            {
                joined = format!("{joined}\n\n{}", next.text);
            }
            draw_sentences(&joined, chars, rng)
        }
    }?;
    let fits = !unit.contains("{}") && unit.starts_with(char::is_alphanumeric);
    fits.then(|| (unit, donor.id.clone()))
}

/// Draws a few adjacent words with a space after them, or a few Chinese or Japanese characters.
fn draw_words(text: &str, chars: CountRange, rng: &mut Rng) -> Option<String> {
    let words = find_words(text);
    let first = words.get(rng.below(words.len()))?.clone();
    let max_chars = chars.draw(rng);
    let signs = text[first.start..].chars().next().is_some_and(is_cjk_char);
    if signs {
        let unit: String = text[first.start..].chars().take(max_chars).collect();
        return unit.chars().all(is_cjk_char).then_some(unit);
    }
    let line = text[first.start..].find('\n');
    let line_end = line.map_or(text.len(), |at| first.start + at);
    let mut end = first.start;
    let words = words.iter().filter(|word| word.start >= first.start);
    for word in words.filter(|word| word.end <= line_end) {
        let length = text[first.start..word.end].chars().count() + 1;
        if length > max_chars {
            break;
        }
        end = word.end;
    }
    let unit = format!("{} ", &text[first.start..end]);
    chars.contains(unit.chars().count()).then_some(unit)
}

/// Returns the starts of sentences and the end of the text, as char indices.
fn sentence_boundaries(chars: &[char]) -> Vec<usize> {
    let inner = (1..chars.len()).filter(|at| {
        let begins = !chars[*at].is_whitespace();
        begins && ends_sentence(&chars[at.saturating_sub(2)..*at])
    });
    let starts = std::iter::once(0).chain(inner);
    starts.chain([chars.len()]).collect()
}

/// Draws one or more adjacent sentences.
fn draw_sentences(text: &str, range: CountRange, rng: &mut Rng) -> Option<String> {
    let mut chars: Vec<char> = text.trim().chars().collect();
    chars.push('\n');
    let starts = sentence_boundaries(&chars);
    let first = rng.below(starts.len().saturating_sub(1));
    let begin = *starts.get(first)?;
    let ends = starts[first + 1..].iter();
    let ends: Vec<&usize> = ends.filter(|end| range.contains(*end - begin)).collect();
    let end = **rng.choose(&ends)?;
    Some(chars[begin..end].iter().collect())
}

/// Draws a few sentences, one per line, without leading numbers.
fn draw_lines(text: &str, range: CountRange, rng: &mut Rng) -> Option<String> {
    let count = rng.uniform(1, 3);
    // Each line also gets a number of 3 to 5 chars and a line break.
    let mut lines: Vec<String> = Vec::new();
    for _ in 0..count {
        let room = CountRange::new(2, range.high.saturating_sub(6 * count) / count);
        let line = draw_sentences(text, room, rng)?;
        let line = line.trim();
        let line = line.trim_start_matches(|c: char| !c.is_alphabetic() && c != '"');
        let line = line.to_owned();
        if line.contains('\n') || line.is_empty() || lines.contains(&line) {
            return None;
        }
        lines.push(line);
    }
    Some(lines.join("\n"))
}
