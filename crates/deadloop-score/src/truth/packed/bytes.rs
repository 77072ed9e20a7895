//! Numbers and texts as bytes, with one byte for a small number.
//!
//! Values are read in the order in which they were written.

/// The number of bits of a byte that hold a part of a number.
const BITS_PER_BYTE: u32 = 7;
/// The bit of a byte that is set if more bytes of the number follow.
const CONTINUATION_BIT: u8 = 1 << BITS_PER_BYTE;

/// Writes a number.
pub(crate) fn put_number(mut number: u64, to: &mut Vec<u8>) {
    while number >= u64::from(CONTINUATION_BIT) {
        to.push((number & u64::from(!CONTINUATION_BIT)) as u8 | CONTINUATION_BIT);
        number >>= BITS_PER_BYTE;
    }
    to.push(number as u8);
}

/// Writes an optional number.
pub(crate) fn put_optional_number(number: Option<u64>, to: &mut Vec<u8>) {
    put_option(number, put_number, to);
}

/// Writes an optional floating-point number, to the last bit.
pub(crate) fn put_optional_float(number: Option<f64>, to: &mut Vec<u8>) {
    let put = |number: f64, to: &mut Vec<u8>| to.extend(number.to_bits().to_le_bytes());
    put_option(number, put, to);
}

/// Writes an optional value.
pub(crate) fn put_option<T>(value: Option<T>, put: impl FnOnce(T, &mut Vec<u8>), to: &mut Vec<u8>) {
    to.push(value.is_some().into());
    if let Some(value) = value {
        put(value, to);
    }
}

/// Writes the length of a list, then each element.
pub(crate) fn put_list<T>(all: &[T], mut put: impl FnMut(&T, &mut Vec<u8>), to: &mut Vec<u8>) {
    put_number(all.len() as u64, to);
    all.iter().for_each(|one| put(one, to));
}

/// Writes a text.
pub(crate) fn put_text(text: &str, to: &mut Vec<u8>) {
    put_number(text.len() as u64, to);
    to.extend(text.as_bytes());
}

/// A reader of values from bytes. After the last byte it reads zeros.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ByteReader<'a>(pub(crate) &'a [u8]);

impl<'a> ByteReader<'a> {
    /// Reads the next byte.
    pub(crate) fn read_byte(&mut self) -> u8 {
        self.read_up_to(1).first().copied().unwrap_or(0)
    }

    /// Reads the next `count` bytes, or as many as are left.
    pub(crate) fn read_up_to(&mut self, count: usize) -> &'a [u8] {
        let (some, rest) = self.0.split_at(count.min(self.0.len()));
        self.0 = rest;
        some
    }

    /// Reads a number written by [`put_number`].
    pub(crate) fn read_number(&mut self) -> u64 {
        let (mut number, mut shift) = (0, 0);
        loop {
            let byte = self.read_byte();
            number |= u64::from(byte & !CONTINUATION_BIT)
                .checked_shl(shift)
                .unwrap_or(0);
            shift += BITS_PER_BYTE;
            if byte & CONTINUATION_BIT == 0 {
                return number;
            }
        }
    }

    /// Reads a number written by [`put_number`] as a length or an index.
    pub(crate) fn read_size(&mut self) -> usize {
        usize::try_from(self.read_number()).unwrap_or(usize::MAX)
    }

    /// Reads an optional number written by [`put_optional_number`].
    pub(crate) fn read_optional_number(&mut self) -> Option<u64> {
        self.read_option(Self::read_number)
    }

    /// Reads an optional floating-point number written by [`put_optional_float`].
    pub(crate) fn read_optional_float(&mut self) -> Option<f64> {
        self.read_option(|from| {
            let bits = from.read_up_to(8).try_into().unwrap_or_default();
            f64::from_bits(u64::from_le_bytes(bits))
        })
    }

    /// Reads an optional value written by [`put_option`].
    pub(crate) fn read_option<T>(&mut self, read: impl FnOnce(&mut Self) -> T) -> Option<T> {
        (self.read_byte() != 0).then(|| read(self))
    }

    /// Reads a list written by [`put_list`].
    pub(crate) fn read_list<T>(&mut self, mut read: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let length = self.read_size();
        (0..length).map(|_| read(self)).collect()
    }

    /// Reads a text written by [`put_text`].
    pub(crate) fn read_text(&mut self) -> &'a str {
        let length = self.read_size();
        std::str::from_utf8(self.read_up_to(length)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_was_put_is_taken(
            all in proptest::collection::vec((any::<u64>(), 0..64_u32, any::<Option<u64>>(), any::<Option<f64>>(), "\\PC*"), 0..9),
        ) {
            let mut bytes = Vec::new();
            for (number, bits, maybe, float, text) in &all {
                put_number(number >> bits, &mut bytes);
                put_optional_number(*maybe, &mut bytes);
                put_optional_float(*float, &mut bytes);
                put_text(text, &mut bytes);
            }
            let mut rest = ByteReader(&bytes);
            for (number, bits, maybe, float, text) in &all {
                prop_assert_eq!(rest.read_number(), number >> bits);
                prop_assert_eq!(rest.read_optional_number(), *maybe);
                prop_assert_eq!(rest.read_optional_float().map(f64::to_bits), float.map(f64::to_bits));
                prop_assert_eq!(rest.read_text(), text);
            }
            prop_assert!(rest.0.is_empty());
        }
    }

    #[test]
    fn past_the_end_there_are_zeros() {
        let mut bytes = ByteReader(&[]);
        assert_eq!(
            (
                bytes.read_number(),
                bytes.read_optional_number(),
                bytes.read_optional_float()
            ),
            (0, None, None)
        );
        assert_eq!(bytes.read_text(), "");
        assert_eq!(ByteReader(&[5, b'a']).read_text(), "a");
    }
}
