//! [`Numeral`]: the value of a number, read digit by digit. Digits of any script and Chinese numerals are read.

/// A number being read. Values are taken modulo 2^64, since only their differences are used.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Numeral {
    /// The value up to the last 万 or 亿.
    whole: u64,
    /// The value of 十, 百 and 千 since the last 万 or 亿.
    section: u64,
    /// The digits since the last unit, if there are any.
    digits: Option<u64>,
}

/// The effect of a character on the value of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NumeralPart {
    Digit(u64),
    /// 十, 百, 千.
    Unit(u64),
    /// 万 and 亿, which multiply everything before them.
    Large(u64),
}

/// The zeros of the scripts whose ten digits are consecutive (category Nd).
const ZEROS: [u32; 77] = [
    0x30, 0x660, 0x6F0, 0x7C0, 0x966, 0x9E6, 0xA66, 0xAE6, 0xB66, 0xBE6, 0xC66, 0xCE6, 0xD66,
    0xDE6, 0xE50, 0xED0, 0xF20, 0x1040, 0x1090, 0x17E0, 0x1810, 0x1946, 0x19D0, 0x1A80, 0x1A90,
    0x1B50, 0x1BB0, 0x1C40, 0x1C50, 0xA620, 0xA8D0, 0xA900, 0xA9D0, 0xA9F0, 0xAA50, 0xABF0, 0xFF10,
    0x1_04A0, 0x1_0D30, 0x1_0D40, 0x1_1066, 0x1_10F0, 0x1_1136, 0x1_11D0, 0x1_12F0, 0x1_1450,
    0x1_14D0, 0x1_1650, 0x1_16C0, 0x1_16D0, 0x1_16DA, 0x1_1730, 0x1_18E0, 0x1_1950, 0x1_1BF0,
    0x1_1C50, 0x1_1D50, 0x1_1DA0, 0x1_1DE0, 0x1_1F50, 0x1_6130, 0x1_6A60, 0x1_6AC0, 0x1_6B50,
    0x1_6D70, 0x1_CCF0, 0x1_D7CE, 0x1_D7D8, 0x1_D7E2, 0x1_D7EC, 0x1_D7F6, 0x1_E140, 0x1_E2F0,
    0x1_E4F0, 0x1_E5F1, 0x1_E950, 0x1_FBF0,
];

impl Numeral {
    /// Adds a char: a digit of some script, a number by itself, or a Chinese numeral.
    pub(super) fn add(&mut self, c: char) {
        match part(c) {
            NumeralPart::Digit(digit) => {
                let before = self.digits.unwrap_or(0);
                self.digits = Some(before.wrapping_mul(10).wrapping_add(digit));
            }
            NumeralPart::Unit(unit) => {
                // Without a digit before it, 十 is ten.
                let times = self.digits.take().unwrap_or(1);
                self.section = self.section.wrapping_add(times.wrapping_mul(unit));
            }
            NumeralPart::Large(unit) => {
                let below = self.section.wrapping_add(self.digits.take().unwrap_or(0));
                self.section = 0;
                self.whole = match unit {
                    // In 一亿二千万, 万 multiplies only the numerals after 亿.
                    WAN => self.whole.wrapping_add(below.wrapping_mul(unit)),
                    _ => self.whole.wrapping_add(below).wrapping_mul(unit),
                };
            }
        }
    }

    /// Returns the value.
    pub(super) fn value(&self) -> u64 {
        let below = self.section.wrapping_add(self.digits.unwrap_or(0));
        self.whole.wrapping_add(below)
    }
}

const WAN: u64 = 10_000;

/// Returns the effect of a character. The value of a number in one character, such as ①, is its place in its series.
fn part(c: char) -> NumeralPart {
    if let '0'..='9' = c {
        return NumeralPart::Digit(u64::from(c) - u64::from('0'));
    }
    match c {
        '〇' | '零' => NumeralPart::Digit(0),
        '一' | '壹' => NumeralPart::Digit(1),
        '二' | '两' | '兩' | '贰' => NumeralPart::Digit(2),
        '三' | '叁' => NumeralPart::Digit(3),
        '四' | '肆' => NumeralPart::Digit(4),
        '五' | '伍' => NumeralPart::Digit(5),
        '六' | '陆' => NumeralPart::Digit(6),
        '七' | '柒' => NumeralPart::Digit(7),
        '八' | '捌' => NumeralPart::Digit(8),
        '九' | '玖' => NumeralPart::Digit(9),
        '十' | '拾' => NumeralPart::Unit(10),
        '百' | '佰' => NumeralPart::Unit(100),
        '千' | '仟' => NumeralPart::Unit(1000),
        '万' | '萬' => NumeralPart::Large(WAN),
        '亿' | '億' => NumeralPart::Large(100_000_000),
        _ => {
            let code = u32::from(c);
            let before = ZEROS.partition_point(|zero| *zero <= code);
            let zero = before.checked_sub(1).map(|i| ZEROS[i]);
            let digit = zero.map(|zero| code - zero).filter(|digit| *digit < 10);
            NumeralPart::Digit(u64::from(digit.unwrap_or(code)))
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn value(text: &str) -> u64 {
        let mut numeral = Numeral::default();
        text.chars().for_each(|c| numeral.add(c));
        numeral.value()
    }

    #[test]
    fn what_numbers_are_worth() {
        let all = [
            ("0", 0),
            ("007", 7),
            ("19", 19),
            ("১৬", 16),
            ("٣٦٠", 360),
            ("１２", 12),
            ("十", 10),
            ("十二", 12),
            ("二十", 20),
            ("二十一", 21),
            ("一百零三", 103),
            ("一百二十九", 129),
            ("三千五百", 3500),
            ("二〇二三", 2023),
            ("三万五千", 35_000),
            ("3万", 30_000),
            ("一亿二千万", 120_000_000),
        ];
        for (text, number) in all {
            assert_eq!(value(text), number, "{text}");
        }
        for row in ["①②③④⑤", "ⅠⅡⅢⅣⅤ", "㊀㊁㊂"] {
            let values: Vec<u64> = row.chars().map(|c| value(&c.to_string())).collect();
            let one_more = |pair: &[u64]| pair[1] == pair[0] + 1;
            assert!(values.windows(2).all(one_more), "{row}");
        }
    }

    #[test]
    fn every_digit_of_every_script() {
        // Unicode versions differ in their digits.
        let digit = regex::Regex::new(r"^\p{Nd}$").unwrap();
        for c in ('\0'..=char::MAX).filter(|c| digit.is_match(&c.to_string())) {
            let worth = value(&c.to_string());
            assert!(worth < 10, "{c:?} {:x}: {worth}", u32::from(c));
        }
        for zero in ZEROS {
            let row = (zero..zero + 10).filter_map(char::from_u32);
            assert!(row.map(|c| value(&c.to_string())).eq(0..10), "{zero:x}");
        }
    }

    /// Writes a number below 10,000 in Chinese numerals.
    fn written(n: u32) -> String {
        let digits: Vec<char> = "零一二三四五六七八九".chars().collect();
        let mut text = String::new();
        for (unit, sign) in [(1000, "千"), (100, "百"), (10, "十"), (1, "")] {
            match n / unit % 10 {
                0 if text.is_empty() || text.ends_with('零') || n.is_multiple_of(unit) => {}
                0 => text.push('零'),
                digit => text = text + &digits[digit as usize].to_string() + sign,
            }
        }
        text
    }

    proptest! {
        #[test]
        fn as_they_are_written(n in 1..10_000_u32) {
            prop_assert_eq!(value(&written(n)), u64::from(n), "{}", written(n));
            prop_assert_eq!(value(&n.to_string()), u64::from(n));
        }
    }
}
