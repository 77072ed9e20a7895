//! What a packed file unpacks to, told apart from what is made to fill a machine.

use std::io::{self, Read};

use crate::files::raws::{Counted, Progress};

/// Bytes that any file may unpack to.
const FREE: u64 = 256 << 20;

/// How many times its size a file may unpack to beyond that. Recordings of loops reach some hundred.
const RATIO: u64 = 1000;

/// Counts what is unpacked against what it was unpacked from.
#[derive(Clone, Debug)]
pub(crate) struct Swelling {
    out: u64,
    free: u64,
    ratio: u64,
}

impl Default for Swelling {
    fn default() -> Self {
        Self {
            out: 0,
            free: FREE,
            ratio: RATIO,
        }
    }
}

impl Swelling {
    /// Adds bytes that were unpacked; `packed`: how many were read for all so far.
    ///
    /// # Errors
    /// They are too many for a recording.
    pub(crate) fn add(&mut self, bytes: u64, packed: u64) -> io::Result<()> {
        self.out += bytes;
        if self.out <= self.free || self.out / self.ratio <= packed {
            return Ok(());
        }
        let what = format!(
            "{packed} packed bytes are more than {} unpacked, {} times as many and more, as in files that are made to \
             fill a machine; if it is a recording, unpack it (gunzip, zstd -d, unzip) and name what comes of it",
            self.out, self.ratio
        );
        Err(io::Error::new(io::ErrorKind::InvalidData, what))
    }
}

/// The unpacked bytes of a file.
pub(crate) struct Unpacked<R> {
    bytes: R,
    packed: Progress,
    swelling: Swelling,
}

impl<R: Read> Unpacked<R> {
    /// What `unpacker` makes of a file whose bytes are counted.
    pub(crate) fn of<P: Read>(
        packed: P,
        unpacker: impl FnOnce(Counted<P>) -> io::Result<R>,
    ) -> io::Result<Self> {
        let progress = Progress::default();
        let bytes = unpacker(Counted::new(packed, progress.clone()))?;
        Ok(Self {
            bytes,
            packed: progress,
            swelling: Swelling::default(),
        })
    }
}

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.bytes.read(buffer)?;
        self.swelling.add(count as u64, self.packed.get())?;
        Ok(count)
    }
}

/// The text of a file that is packed with zstd: as [`zstd::Decoder`], but for what is made to fill a machine.
///
/// # Errors
/// It cannot be read, or is no zstd.
pub fn unpack_zstd(file: impl Read + Send + 'static) -> io::Result<Box<dyn Read + Send>> {
    let unpacked = Unpacked::of(file, zstd::Decoder::new)?;
    Ok(Box::new(unpacked))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_swells_beyond_all_recordings_is_refused_where_it_does() {
        let mut small = Swelling::default();
        assert!(small.add(FREE, 1).is_ok(), "any file may be this large");
        let told = small.add(1, 1).unwrap_err().to_string();
        assert!(told.contains("unpack it (gunzip"), "{told}");
        let mut even = Swelling::default();
        for n in 1..10_000 {
            assert!(even.add(RATIO << 10, n << 10).is_ok(), "{n}");
        }
        assert!(even.add(2 * RATIO, 9_999 << 10).is_err());
    }

    #[test]
    fn a_bomb_of_zstd_ends_in_bounded_time_and_memory() {
        let mut packed = Vec::new();
        let mut packer = zstd::Encoder::new(&mut packed, 1).unwrap();
        let zeros = vec![0; 1 << 20];
        for _ in 0..400 {
            io::Write::write_all(&mut packer, &zeros).unwrap();
        }
        packer.finish().unwrap();
        assert!(packed.len() < 200_000, "{}", packed.len());
        let mut unpacked = unpack_zstd(io::Cursor::new(packed)).unwrap();
        let (mut buffer, mut total) = (vec![0; 1 << 16], 0_u64);
        let ended = loop {
            match unpacked.read(&mut buffer) {
                Ok(0) => break None,
                Ok(count) => total += count as u64,
                Err(e) => break Some(e.to_string()),
            }
        };
        let told = ended.expect("it is refused");
        assert!(told.contains("made to fill a machine"), "{told}");
        assert!((FREE - (1 << 16)..=FREE).contains(&total), "{total}");
    }
}
