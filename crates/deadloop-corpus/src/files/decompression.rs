//! Limits on the unpacked size of files, against decompression bombs.

use std::io::{self, Read};

use crate::files::raw_records::{CountingReader, ReadProgress};

/// The number of bytes up to which any file may unpack.
const UNLIMITED_BYTES: u64 = 256 << 20;

/// The maximum ratio of unpacked to packed size above [`UNLIMITED_BYTES`]. Recordings of loops reach a few hundred.
const MAX_RATIO: u64 = 1000;

/// A count of unpacked bytes, whose ratio to the packed bytes is limited.
#[derive(Clone, Debug, Default)]
pub struct UnpackedBytes(u64);

impl UnpackedBytes {
    /// Adds the number of newly unpacked bytes. `packed` is the number of packed bytes read so far.
    ///
    /// # Errors
    /// Returns an error if the ratio is too high for a recording.
    pub fn add(&mut self, bytes: u64, packed: u64) -> io::Result<()> {
        self.0 += bytes;
        if self.0 <= UNLIMITED_BYTES || self.0 / MAX_RATIO <= packed {
            return Ok(());
        }
        let what = format!(
            "{packed} packed bytes are more than {} unpacked, {MAX_RATIO} times as many and more, as in files that are \
             made to fill a machine; if it is a recording, unpack it (gunzip, zstd -d, unzip) and name what comes of it",
            self.0
        );
        Err(io::Error::new(io::ErrorKind::InvalidData, what))
    }
}

/// A reader of the unpacked bytes of a file, with a limit on the unpacked size.
pub(crate) struct Decompressor<R> {
    bytes: R,
    packed: ReadProgress,
    unpacked: UnpackedBytes,
}

impl<R: Read> Decompressor<R> {
    /// Unpacks a file with `unpacker`, counting the packed bytes.
    pub(crate) fn open<P: Read>(
        packed: P,
        unpacker: impl FnOnce(CountingReader<P>) -> io::Result<R>,
    ) -> io::Result<Self> {
        let progress = ReadProgress::default();
        let bytes = unpacker(CountingReader::new(packed, progress.clone()))?;
        Ok(Self {
            bytes,
            packed: progress,
            unpacked: UnpackedBytes::default(),
        })
    }
}

impl<R: Read> Read for Decompressor<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.bytes.read(buffer)?;
        self.unpacked.add(count as u64, self.packed.get())?;
        Ok(count)
    }
}

/// Returns a reader of a zstd file, with a limit on the unpacked size.
///
/// # Errors
/// Returns an error if the file cannot be read or is not zstd.
pub fn unpack_zstd(file: impl Read + Send + 'static) -> io::Result<Box<dyn Read + Send>> {
    let unpacked = Decompressor::open(file, zstd::Decoder::new)?;
    Ok(Box::new(unpacked))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_swells_beyond_all_recordings_is_refused_where_it_does() {
        let mut small = UnpackedBytes::default();
        assert!(small.add(UNLIMITED_BYTES, 1).is_ok());
        let told = small.add(1, 1).unwrap_err().to_string();
        assert!(told.contains("unpack it (gunzip"), "{told}");
        let mut even = UnpackedBytes::default();
        for n in 1..10_000 {
            assert!(even.add(MAX_RATIO << 10, n << 10).is_ok(), "{n}");
        }
        assert!(even.add(2 * MAX_RATIO, 9_999 << 10).is_err());
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
        assert!((UNLIMITED_BYTES - (1 << 16)..=UNLIMITED_BYTES).contains(&total));
    }
}
