//! Numbers and texts as bytes. Small numbers take one byte.
//!
//! Values are read in the order in which they were written.

/// Number of bits of a byte that hold a number. The highest bit marks that more bytes follow.
const BITS_PER_BYTE: u32 = 7;
const MORE_FOLLOWS: u8 = 1 << BITS_PER_BYTE;

/// Writes a number.
pub(crate) fn put_number(mut number: u64, to: &mut Vec<u8>) {
    while number >= u64::from(MORE_FOLLOWS) {
        to.push((number & u64::from(!MORE_FOLLOWS)) as u8 | MORE_FOLLOWS);
        number >>= BITS_PER_BYTE;
    }
    to.push(number as u8);
}

/// Writes an optional number.
pub(crate) fn put_maybe(number: Option<u64>, to: &mut Vec<u8>) {
    put_option(number, put_number, to);
}

/// Writes an optional floating-point number, to the last bit.
pub(crate) fn put_float(number: Option<f64>, to: &mut Vec<u8>) {
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

/// A reader of bytes. Past the end it returns zeros.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ByteReader<'a>(pub(crate) &'a [u8]);

impl<'a> ByteReader<'a> {
    /// Reads the next byte.
    pub(crate) fn byte(&mut self) -> u8 {
        self.read_up_to(1).first().copied().unwrap_or(0)
    }

    /// Reads the next `many` bytes, or as many as are left.
    pub(crate) fn read_up_to(&mut self, many: usize) -> &'a [u8] {
        let (some, rest) = self.0.split_at(many.min(self.0.len()));
        self.0 = rest;
        some
    }

    /// Reads a number of [`put_number`].
    pub(crate) fn number(&mut self) -> u64 {
        let (mut number, mut shift) = (0, 0);
        loop {
            let byte = self.byte();
            number |= u64::from(byte & !MORE_FOLLOWS)
                .checked_shl(shift)
                .unwrap_or(0);
            shift += BITS_PER_BYTE;
            if byte & MORE_FOLLOWS == 0 {
                return number;
            }
        }
    }

    /// Reads a number of [`put_number`] as a length or a place.
    pub(crate) fn size(&mut self) -> usize {
        usize::try_from(self.number()).unwrap_or(usize::MAX)
    }

    /// Reads a number of [`put_maybe`].
    pub(crate) fn maybe(&mut self) -> Option<u64> {
        self.option(Self::number)
    }

    /// Reads a number of [`put_float`].
    pub(crate) fn float(&mut self) -> Option<f64> {
        self.option(|from| {
            let bits = from.read_up_to(8).try_into().unwrap_or_default();
            f64::from_bits(u64::from_le_bytes(bits))
        })
    }

    /// Reads a value of [`put_option`].
    pub(crate) fn option<T>(&mut self, take: impl FnOnce(&mut Self) -> T) -> Option<T> {
        (self.byte() != 0).then(|| take(self))
    }

    /// Reads a list of [`put_list`].
    pub(crate) fn list<T>(&mut self, mut take: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let many = self.size();
        (0..many).map(|_| take(self)).collect()
    }

    /// Reads a text of [`put_text`].
    pub(crate) fn text(&mut self) -> &'a str {
        let length = self.size();
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
                put_maybe(*maybe, &mut bytes);
                put_float(*float, &mut bytes);
                put_text(text, &mut bytes);
            }
            let mut rest = ByteReader(&bytes);
            for (number, bits, maybe, float, text) in &all {
                prop_assert_eq!(rest.number(), number >> bits);
                prop_assert_eq!(rest.maybe(), *maybe);
                prop_assert_eq!(rest.float().map(f64::to_bits), float.map(f64::to_bits));
                prop_assert_eq!(rest.text(), text);
            }
            prop_assert!(rest.0.is_empty());
        }
    }

    #[test]
    fn past_the_end_there_are_zeros() {
        let mut bytes = ByteReader(&[]);
        assert_eq!(
            (bytes.number(), bytes.maybe(), bytes.float()),
            (0, None, None)
        );
        assert_eq!(bytes.text(), "");
        assert_eq!(ByteReader(&[5, b'a']).text(), "a");
    }
}
