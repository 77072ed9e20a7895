//! The estimated width of texts, and the shortening of long texts.

use unicode_width::UnicodeWidthChar;

/// Estimates the width in pixels of a text at font size `size`, rather too wide than too narrow.
///
/// Letters have the widths of a plain sans-serif font. A wide (CJK) char takes a whole em.
pub(crate) fn text_width(text: &str, size: f64) -> f64 {
    text.chars().map(width_in_em).sum::<f64>() * size
}

/// Returns the estimated width of a char, in em.
fn width_in_em(c: char) -> f64 {
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

/// Shortens a text wider than `room` pixels to its two ends around `…`.
///
/// The middle is left out, since names of models differ more at their ends.
pub(crate) fn elide(text: &str, room: f64, size: f64) -> String {
    if text_width(text, size) <= room {
        return text.to_owned();
    }
    let chars: Vec<char> = text.chars().collect();
    let budget = room / size - width_in_em('…');
    let (mut head, mut tail, mut used) = (0, 0, 0.0);
    while head + tail < chars.len() {
        let from_head = head <= tail;
        let next = if from_head {
            chars[head]
        } else {
            chars[chars.len() - 1 - tail]
        };
        used += width_in_em(next);
        if used > budget {
            break;
        }
        if from_head { head += 1 } else { tail += 1 }
    }
    let start: String = chars[..head].iter().collect();
    let end: String = chars[chars.len() - tail..].iter().collect();
    format!("{}…{}", start.trim_end(), end.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_chars_count_as_wide() {
        assert!(text_width("思考", 10.0) > 1.5 * text_width("ab", 10.0));
    }

    #[test]
    fn a_long_name_keeps_both_ends_and_fits() {
        let name = "deepseek-r1-distill-通义千问-qwen2.5-7b-instruct";
        let short = elide(name, 120.0, 12.0);
        assert!(
            short.starts_with("deep") && short.ends_with("uct") && short.contains('…'),
            "{short}"
        );
        assert!(text_width(&short, 12.0) <= 120.0);
        assert_eq!(elide("short", 120.0, 12.0), "short");
    }
}
