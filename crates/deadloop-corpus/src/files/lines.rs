//! [`FileLines`]: the lines of a file, unpacked, in bounded memory.

use std::io::{self, BufRead, BufReader, Read};

use flate2::read::MultiGzDecoder;

use crate::files::BOM;
use crate::files::decompression::Decompressor;
use crate::transcript::wire::WireFault;
use crate::{Cost, Place};

const GZIP: &[u8] = b"\x1f\x8b";
const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd";
const BUFFER: usize = 1 << 16;

/// Returns the text of a file. gzip and zstd are recognised by the first bytes. A file that unpacks to more than a
/// thousand times its size yields an error at that point.
pub fn unpack(file: impl Read + Send + 'static) -> io::Result<Box<dyn BufRead + Send>> {
    let mut file = BufReader::with_capacity(BUFFER, file);
    let head = file.fill_buf()?;
    let bytes: Box<dyn Read + Send> = if head.starts_with(GZIP) {
        Box::new(Decompressor::open(file, |file| {
            Ok(MultiGzDecoder::new(file))
        })?)
    } else if head.starts_with(ZSTD) || is_skippable_frame(head) {
        Box::new(Decompressor::open(file, zstd::Decoder::new)?)
    } else {
        return Ok(Box::new(file));
    };
    Ok(Box::new(BufReader::with_capacity(BUFFER, bytes)))
}

/// Returns whether a file begins with a skippable frame of zstd, which holds user data.
fn is_skippable_frame(head: &[u8]) -> bool {
    matches!(head, [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..])
}

/// Returns the fault of a file that cannot be read to its end.
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
    /// The place of the last line read.
    place: Place,
    /// The length of the last line in the buffer of the file. A line in several parts is copied to `line` instead.
    held: usize,
    line: Vec<u8>,
    limit: usize,
    ended: bool,
}

enum LinePiece {
    End,
    TooLong,
    /// In one part of the file.
    Held(usize),
    Whole,
}

impl<R: BufRead> FileLines<R> {
    /// Returns the lines, each of at most `limit` bytes. `place` is the file as a whole.
    pub fn new(bytes: R, place: Place, limit: usize) -> Self {
        Self {
            bytes,
            place,
            held: 0,
            line: Vec::new(),
            limit,
            ended: false,
        }
    }

    /// Returns the place of the last line read.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// Returns the next line, trimmed. Empty lines are returned too. `None` at the end, and after an error from which
    /// reading cannot continue.
    pub fn next_line(&mut self) -> Option<Result<&[u8], WireFault>> {
        if self.ended {
            return None;
        }
        self.place.line += 1;
        self.bytes.consume(std::mem::take(&mut self.held));
        match self.read() {
            Ok(LinePiece::End) => {
                self.ended = true;
                None
            }
            Ok(LinePiece::Whole) => Some(Ok(trim(&self.line, self.place.line))),
            Ok(LinePiece::Held(length)) => {
                self.held = length;
                let bytes = self.bytes.fill_buf().map_err(|e| broken(&e));
                Some(bytes.map(|bytes| trim(&bytes[..length], self.place.line)))
            }
            Ok(LinePiece::TooLong) => {
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
    fn read(&mut self) -> io::Result<LinePiece> {
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
                return Ok(LinePiece::Held(end + 1));
            }
            let taken = end.map_or(most, |end| end + 1);
            self.line.extend_from_slice(&bytes[..taken]);
            self.bytes.consume(taken);
            if end.is_some() || self.line.len() > self.limit {
                break;
            }
        }
        if self.line.is_empty() {
            return Ok(LinePiece::End);
        }
        if self.line.last() == Some(&b'\n') || self.line.len() <= self.limit {
            return Ok(LinePiece::Whole);
        }
        self.line = Vec::new();
        self.bytes.skip_until(b'\n')?;
        Ok(LinePiece::TooLong)
    }
}

fn trim(line: &[u8], number: u64) -> &[u8] {
    let line = match line.strip_prefix(BOM) {
        Some(rest) if number == 1 => rest,
        _ => line,
    };
    line.trim_ascii()
}
