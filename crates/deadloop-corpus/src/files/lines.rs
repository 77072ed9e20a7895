//! [`FileLines`]: the unpacked lines of a file, in bounded memory.

use std::io::{self, BufRead, BufReader, Read};

use flate2::read::MultiGzDecoder;

use crate::files::BOM;
use crate::files::decompression::Decompressor;
use crate::transcript::wire::{WireFault, WireResult};
use crate::{Cost, Place};

const GZIP_MAGIC: &[u8] = b"\x1f\x8b";
const ZSTD_MAGIC: &[u8] = b"\x28\xb5\x2f\xfd";
const BUFFER_BYTES: usize = 1 << 16;

/// Returns a reader of the unpacked bytes of a file.
///
/// gzip and zstd are recognised by the first bytes. A file that unpacks to more than a thousand times its size yields
/// an error at that point.
pub fn unpack(file: impl Read + Send + 'static) -> io::Result<Box<dyn BufRead + Send>> {
    let mut file = BufReader::with_capacity(BUFFER_BYTES, file);
    let head = file.fill_buf()?;
    let bytes: Box<dyn Read + Send> = if head.starts_with(GZIP_MAGIC) {
        Box::new(Decompressor::open(file, |file| {
            Ok(MultiGzDecoder::new(file))
        })?)
    } else if head.starts_with(ZSTD_MAGIC) || is_skippable_frame(head) {
        Box::new(Decompressor::open(file, zstd::Decoder::new)?)
    } else {
        return Ok(Box::new(file));
    };
    Ok(Box::new(BufReader::with_capacity(BUFFER_BYTES, bytes)))
}

/// Returns whether a file begins with a skippable zstd frame, which holds user data.
fn is_skippable_frame(head: &[u8]) -> bool {
    matches!(head, [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..])
}

/// Creates the fault for a file that cannot be read to its end.
pub fn broken(error: &io::Error) -> WireFault {
    let what = match error.kind() {
        io::ErrorKind::UnexpectedEof => "the compressed data ends too early".to_owned(),
        _ => format!("cannot be read on: {error}"),
    };
    WireFault::new(what, "a whole file; nothing after this line was read")
        .costing(Cost::from_error(error))
}

/// A reader of the lines of a file.
pub struct FileLines<R> {
    bytes: R,
    /// File and number of the last line read.
    place: Place,
    /// Length of the last line in the buffer of the file, or 0 if the line was copied to `line`.
    buffered: usize,
    /// Copy of a line that spans several buffers.
    line: Vec<u8>,
    limit: usize,
    ended: bool,
}

/// Result of reading one line.
enum LineRead {
    /// The file has no more lines.
    End,
    /// The line is longer than the limit.
    TooLong,
    /// The line, of this length, is in the buffer of the file.
    Buffered(usize),
    /// The line was copied to `line`.
    Copied,
}

impl<R: BufRead> FileLines<R> {
    /// Creates a reader of lines of at most `limit` bytes. `place` names the whole file.
    pub fn new(bytes: R, place: Place, limit: usize) -> Self {
        Self {
            bytes,
            place,
            buffered: 0,
            line: Vec::new(),
            limit,
            ended: false,
        }
    }

    /// Returns the file and number of the last line read.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// Returns the next line, trimmed, even if it is empty. `None` at the end, and after an error that stops the
    /// reading.
    pub fn next_line(&mut self) -> Option<WireResult<&[u8]>> {
        if self.ended {
            return None;
        }
        self.place.line += 1;
        self.bytes.consume(std::mem::take(&mut self.buffered));
        match self.read_line() {
            Ok(LineRead::End) => {
                self.ended = true;
                None
            }
            Ok(LineRead::Copied) => Some(Ok(trim_line(&self.line, self.place.line))),
            Ok(LineRead::Buffered(length)) => {
                self.buffered = length;
                let bytes = self.bytes.fill_buf().map_err(|e| broken(&e));
                Some(bytes.map(|bytes| trim_line(&bytes[..length], self.place.line)))
            }
            Ok(LineRead::TooLong) => {
                let expected = format!(
                    "at most {} bytes a line; what is longer: with long results cut (length and sha256 beside what is \
                     kept), or as several transcripts of one group",
                    self.limit
                );
                Some(Err(WireFault::new("a line that is too long", expected)))
            }
            Err(e) => {
                self.ended = true;
                Some(Err(broken(&e)))
            }
        }
    }

    /// Reads a line, in memory bounded by the limit.
    fn read_line(&mut self) -> io::Result<LineRead> {
        self.line.clear();
        loop {
            let bytes = match self.bytes.fill_buf() {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                bytes => bytes?,
            };
            if bytes.is_empty() {
                break;
            }
            let most = bytes.len().min(self.limit + 1 - self.line.len());
            let end = memchr::memchr(b'\n', &bytes[..most]);
            if let Some(end) = end.filter(|_| self.line.is_empty()) {
                return Ok(LineRead::Buffered(end + 1));
            }
            let taken = end.map_or(most, |end| end + 1);
            self.line.extend_from_slice(&bytes[..taken]);
            self.bytes.consume(taken);
            if end.is_some() || self.line.len() > self.limit {
                break;
            }
        }
        if self.line.is_empty() {
            return Ok(LineRead::End);
        }
        if self.line.last() == Some(&b'\n') || self.line.len() <= self.limit {
            return Ok(LineRead::Copied);
        }
        self.line = Vec::new();
        self.bytes.skip_until(b'\n')?;
        Ok(LineRead::TooLong)
    }
}

fn trim_line(line: &[u8], number: u64) -> &[u8] {
    let line = match line.strip_prefix(BOM) {
        Some(rest) if number == 1 => rest,
        _ => line,
    };
    line.trim_ascii()
}
