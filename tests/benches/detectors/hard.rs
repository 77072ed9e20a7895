//! Texts that are costly to a detector of repetitions.

/// About so many chars each.
pub(crate) const CHARS: usize = 1_000_000;

/// Each text and its name.
pub(crate) fn texts() -> [(&'static str, [String; 1]); 12] {
    let texts = [
        ("one char", "a".repeat(CHARS)),
        ("floods of thousands of one char", floods()),
        ("Fibonacci word", fibonacci()),
        ("Thue-Morse word", thue_morse()),
        ("de Bruijn word of order 16", de_bruijn()),
        ("period just under the longest", long_period()),
        ("random over two letters", random(2, 'a')),
        ("random over eight 4-byte chars", random(8, '😀')),
        ("runs of one char of many lengths", runs("a", 'b')),
        ("runs of two chars of many lengths", runs("ab", 'c')),
        ("items that count on", items(|n| n)),
        (
            "items with numbers drawn anew",
            items(|n| n.wrapping_mul(2_654_435_761) % 9_973),
        ),
    ];
    texts.map(|(name, text)| (name, [text]))
}

/// In each flood the one before repeats at every lag that reaches into it.
fn floods() -> String {
    let flood = "a".repeat(6000) + "b";
    flood.repeat(CHARS / flood.len())
}

/// Short sentences with a number each: every one is like the last, until its number is compared.
fn items(number: impl Fn(u64) -> u64) -> String {
    let line = |n| format!("{}. Go on with case {}.\n", n, number(n));
    (1..).map(line).take(CHARS / 30).collect()
}

fn fibonacci() -> String {
    let (mut a, mut b) = ("a".to_owned(), "ab".to_owned());
    while b.len() < CHARS {
        (a, b) = (b.clone(), b + &a);
    }
    b
}

fn thue_morse() -> String {
    let letter = |i: usize| {
        if i.count_ones().is_multiple_of(2) {
            'a'
        } else {
            'b'
        }
    };
    (0..CHARS).map(letter).collect()
}

/// By a shift register whose feedback is primitive: each window of 16 but one comes once in 65,535.
fn de_bruijn() -> String {
    let mut state = 1_u32;
    let mut next = || {
        let bit = (state ^ state >> 2 ^ state >> 3 ^ state >> 5) & 1;
        state = state >> 1 | bit << 15;
        if bit == 1 { 'a' } else { 'b' }
    };
    (0..CHARS).map(|_| next()).collect()
}

fn long_period() -> String {
    let unit: String = random(2, 'a').chars().take(1990).collect();
    unit.repeat(CHARS / 1990)
}

fn random(letters: u32, first: char) -> String {
    let mut next = generator();
    let letter = |n: u64| char::from_u32(u32::from(first) + n as u32 % letters).unwrap_or(first);
    (0..CHARS).map(|_| letter(next())).collect()
}

/// Runs of 60 to 120 chars, so that many lags match for a while and none for long.
fn runs(unit: &str, end: char) -> String {
    let mut next = generator();
    let mut text = String::new();
    while text.len() < CHARS {
        text += &unit.repeat((60 + next() as usize % 60) / unit.len());
        text.push(end);
    }
    text
}

/// A linear congruential generator.
fn generator() -> impl FnMut() -> u64 {
    let mut state = 1_u64;
    move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    }
}
