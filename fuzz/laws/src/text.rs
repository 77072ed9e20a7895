//! Repetitive texts, and their chunks.

/// The maximum length of a text, in chars.
const LONGEST: usize = 3000;

/// Builds a text from bytes. Bytes below 8 are instructions with operands of one byte each; all others are text.
/// Invalid UTF-8 is replaced.
pub(crate) fn text(bytes: &[u8]) -> String {
    let mut text: Vec<char> = Vec::new();
    let mut rest = bytes;
    while text.len() < LONGEST
        && let Some(order) = rest.first()
    {
        let operand = |i: usize| usize::from(rest.get(i).copied().unwrap_or(0));
        let taken = match order {
            // The last few chars again, some times.
            1 | 2 => {
                let unit = last(&text, operand(1) * if *order == 1 { 1 } else { 16 });
                text.extend(unit.repeat(operand(2)).iter().take(LONGEST));
                3
            }
            // The last few chars again, each copy with its number before it.
            3 => {
                let unit: String = last(&text, operand(1)).iter().collect();
                let items = (1..=operand(2))
                    .flat_map(|i| format!("{i}. {unit}").chars().collect::<Vec<_>>());
                text.extend(items.take(LONGEST));
                3
            }
            // What stood farther back.
            4 => {
                let back = last(&text, operand(1) * 16);
                text.extend(back.iter().take(operand(2) * 4));
                3
            }
            // Any char there is.
            5 => {
                let code = operand(1) << 16 | operand(2) << 8 | operand(3);
                text.extend(u32::try_from(code).ok().and_then(char::from_u32));
                4
            }
            // The last few chars with one of them changed.
            6 => {
                let mut copy = last(&text, operand(1));
                let at = operand(2) % copy.len().max(1);
                copy.iter_mut().skip(at).take(1).for_each(|c| *c = 'x');
                text.extend(copy);
                3
            }
            0 | 7 => 1,
            _ => {
                let end = rest.iter().position(|byte| *byte < 8).unwrap_or(rest.len());
                text.extend(String::from_utf8_lossy(&rest[..end]).chars());
                end
            }
        };
        rest = rest.get(taken..).unwrap_or_default();
    }
    text.truncate(LONGEST);
    text.into_iter().collect()
}

fn last(text: &[char], count: usize) -> Vec<char> {
    text[text.len().saturating_sub(count)..].to_vec()
}

/// Cuts a text into chunks, some of them empty. The places depend on `seed`.
pub(crate) fn chunks(text: &str, seed: u8) -> Vec<&str> {
    let mut chunks = Vec::new();
    let (mut rest, mut state) = (text, u64::from(seed));
    while !rest.is_empty() {
        // Knuth's: the upper bits are good enough to cut by.
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let most = 1_usize << (seed % 12);
        let chars = usize::try_from(state >> 33).unwrap_or(0) % (most + 1);
        let end = rest.char_indices().nth(chars);
        let end = end.map_or(rest.len(), |(at, _)| at);
        let (chunk, left) = rest.split_at(end);
        chunks.push(chunk);
        rest = left;
    }
    chunks
}

/// Cuts a text into its chars.
pub(crate) fn chars(text: &str) -> Vec<&str> {
    let all = text.char_indices();
    all.map(|(at, c)| &text[at..at + c.len_utf8()]).collect()
}

/// Replaces the chars from 14 to 31 by their marks.
pub(crate) fn marked(text: &str, marks: &[&str; 18]) -> String {
    let mark = |c: char| match u32::from(c) {
        code @ 14..32 => marks[code as usize - 14].to_owned(),
        _ => c.to_string(),
    };
    text.chars().map(mark).collect()
}
