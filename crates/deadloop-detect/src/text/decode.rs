//! [`append`]: appends the chars of a text to a vector.
//!
//! Most text is mostly ASCII, which is widened many bytes at a time. Decoding char by char costs several times as much.

/// The number of bytes that are tested together.
const BLOCK: usize = 32;

/// Appends each char of a text.
#[inline]
pub(crate) fn append<T: From<u8> + From<char>>(all: &mut Vec<T>, text: &str) {
    let mut rest = text;
    while !rest.is_empty() {
        match rest.as_bytes().first_chunk::<BLOCK>() {
            Some(block) if block.is_ascii() => {
                all.extend(block.map(T::from));
                rest = &rest[BLOCK..];
            }
            None if rest.is_ascii() => return all.extend(rest.bytes().map(T::from)),
            _ => {
                let (block, after) = rest.split_at(rest.floor_char_boundary(BLOCK));
                all.extend(block.chars().map(T::from));
                rest = after;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_char_in_order(text in "(?s)(\\PC{0,50}|[ -~]{0,80}|.{0,10}){0,4}") {
            let mut all = vec!['x'];
            append(&mut all, &text);
            prop_assert_eq!(all, std::iter::once('x').chain(text.chars()).collect::<Vec<_>>());
        }
    }
}
