//! Scripts that write without blanks between words.

/// Returns whether a char is an ideograph, a kana or a hangul. Such a char has about the information of a word.
pub(crate) fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{1100}'..='\u{11FF}' | '\u{2E80}'..='\u{2FDF}' | '\u{3005}'..='\u{3007}'
        | '\u{3021}'..='\u{3029}' | '\u{3031}'..='\u{303C}' | '\u{3041}'..='\u{3096}'
        | '\u{309D}'..='\u{309F}' | '\u{30A1}'..='\u{30FA}' | '\u{30FC}'..='\u{31BF}'
        | '\u{31F0}'..='\u{31FF}' | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}'
        | '\u{A960}'..='\u{A97F}' | '\u{AC00}'..='\u{D7FF}' | '\u{F900}'..='\u{FAFF}'
        | '\u{FF66}'..='\u{FFDC}' | '\u{1B000}'..='\u{1B16F}' | '\u{20000}'..='\u{3FFFF}')
}

/// Returns whether a char is an ideograph or a kana. Such a char has about the information of two or three letters.
pub(crate) fn is_wide(c: char) -> bool {
    let hangul = matches!(c,
        '\u{1100}'..='\u{11FF}' | '\u{3131}'..='\u{318E}' | '\u{A960}'..='\u{A97F}'
        | '\u{AC00}'..='\u{D7FF}' | '\u{FFA0}'..='\u{FFDC}');
    is_unspaced(c) && !hangul
}

/// Returns whether a char is a pictograph, or joins pictographs to an emoji.
pub(crate) fn is_picture(c: char) -> bool {
    matches!(c, '\u{2600}'..='\u{27BF}' | '\u{1F000}'..='\u{1FAFF}' | '\u{200D}' | '\u{FE0F}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_without_blanks() {
        let scripts = r"\p{Han}|\p{Hiragana}|\p{Katakana}|\p{Hangul}|\p{Bopomofo}|[\u30fc\uff70]";
        let scripts = regex::Regex::new(scripts).unwrap();
        // Beyond the first plane one Unicode version knows ideographs that another does not.
        let letters = ('\0'..='\u{FFFF}').filter(|c| c.is_alphanumeric());
        let other = letters.filter(|c| is_unspaced(*c) != scripts.is_match(&c.to_string()));
        let shared = "〆〱〲〳〴〵〼㆒㆓㆔㆕ﾞﾟ";
        assert_eq!(other.collect::<String>(), shared);
    }

    #[test]
    fn hangul_is_not_wide() {
        let hangul = regex::Regex::new(r"\p{Hangul}").unwrap();
        let letters = ('\0'..='\u{FFFF}').filter(|c| c.is_alphanumeric() && is_unspaced(*c));
        let other = letters.filter(|c| is_wide(*c) == hangul.is_match(&c.to_string()));
        assert_eq!(other.collect::<String>(), "");
    }
}
