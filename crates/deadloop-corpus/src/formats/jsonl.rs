//! JSON lines: one transcript a line, plain, gzip or zstd, which is told by the bytes.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::Path;

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use tempfile::NamedTempFile;

use super::{Format, Record, Records, Sink, Source};
use crate::digest::RecordDigest;
use crate::raws::{Counted, Raw};
use crate::wire::{Fault, Line, Wire, utf8};
use crate::{Entry, Place, Problem};

pub(crate) const ENTRY: Format = Format {
    name: "jsonl",
    endings: &[".jsonl", ".jsonl.zst", ".jsonl.gz"],
    magic: b"",
    read,
    create,
};

/// The longest line that is read, in bytes. A longer one is a problem and is skipped without being
/// held in memory: 64 MiB of text is far beyond any model's context.
pub const MAX_LINE: usize = 64 << 20;

/// The mark that some tools write before UTF-8 text.
pub(crate) const BOM: &[u8] = b"\xef\xbb\xbf";
const GZIP: &[u8] = b"\x1f\x8b";
const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd";
const BUFFER: usize = 1 << 16;

fn read(source: Source) -> Records {
    let place = source.place(0);
    let counted = Counted::new(source.file, source.progress);
    match unpack(counted) {
        Ok(bytes) => Box::new(Lines {
            bytes,
            place,
            limit: MAX_LINE,
            ended: false,
        }),
        Err(e) => Box::new(std::iter::once(Err(broken(e).at(place)))),
    }
}

/// The text of a file, whatever it is packed with.
fn unpack(file: Counted<File>) -> io::Result<Box<dyn BufRead + Send>> {
    let mut file = BufReader::with_capacity(BUFFER, file);
    let head = file.fill_buf()?;
    let bytes: Box<dyn Read + Send> = if head.starts_with(GZIP) {
        Box::new(MultiGzDecoder::new(file))
    } else if head.starts_with(ZSTD) || is_skippable_frame(head) {
        Box::new(zstd::Decoder::with_buffer(file)?)
    } else {
        return Ok(Box::new(file));
    };
    Ok(Box::new(BufReader::with_capacity(BUFFER, bytes)))
}

/// zstd files may begin with a frame of somebody's own data.
fn is_skippable_frame(head: &[u8]) -> bool {
    matches!(head, [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..])
}

fn broken(error: io::Error) -> Fault {
    let what = match error.kind() {
        io::ErrorKind::UnexpectedEof => "the compressed data ends too early".to_owned(),
        _ => format!("cannot be read on: {error}"),
    };
    Fault::new(what, "a whole file; nothing after this line was read")
}

/// The lines of a file.
struct Lines<R> {
    bytes: R,
    /// The line read last.
    place: Place,
    limit: usize,
    ended: bool,
}

enum Piece {
    End,
    TooLong,
    Whole(Vec<u8>),
}

impl<R: BufRead> Lines<R> {
    /// The next line without its ending. Memory is bounded by the limit.
    fn line(&mut self) -> io::Result<Piece> {
        let mut line = Vec::new();
        let limit = self.limit as u64 + 1;
        self.bytes
            .by_ref()
            .take(limit)
            .read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Ok(Piece::End);
        }
        if line.last() == Some(&b'\n') {
            line.pop();
            return Ok(Piece::Whole(line));
        }
        if line.len() <= self.limit {
            return Ok(Piece::Whole(line));
        }
        drop(line);
        self.bytes.skip_until(b'\n')?;
        Ok(Piece::TooLong)
    }

    fn problem(&self, fault: Fault) -> Option<Result<Raw, Problem>> {
        Some(Err(fault.at(self.place.clone())))
    }
}

impl<R: BufRead> Iterator for Lines<R> {
    type Item = Result<Raw, Problem>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.ended {
            self.place.line += 1;
            match self.line() {
                Ok(Piece::End) => self.ended = true,
                Ok(Piece::Whole(line)) => {
                    let text = trim(&line, self.place.line);
                    if !text.is_empty() {
                        let record = JsonLine(text.to_vec());
                        return Some(Ok(Raw::new(self.place.clone(), Box::new(record))));
                    }
                }
                Ok(Piece::TooLong) => {
                    let expected = format!("at most {} bytes a line", self.limit);
                    return self.problem(Fault::new("a line that is too long", expected));
                }
                Err(e) => {
                    self.ended = true;
                    return self.problem(broken(e));
                }
            }
        }
        None
    }
}

fn trim(line: &[u8], number: u64) -> &[u8] {
    let line = match line.strip_prefix(BOM) {
        Some(rest) if number == 1 => rest,
        _ => line,
    };
    line.trim_ascii()
}

/// A line of a file, blanks around it taken off.
struct JsonLine(Vec<u8>);

impl Record for JsonLine {
    fn decode(&self) -> Result<Wire, Fault> {
        serde_json::from_str(utf8(&self.0)?).map_err(|e| Fault::json(&e))
    }

    fn digest(&self) -> RecordDigest {
        RecordDigest::of([self.0.as_slice()])
    }

    fn bytes(&self) -> usize {
        self.0.len()
    }
}

/// Recordings are written once and kept: a little smaller than at the default level, and still faster
/// than most disks. The highest levels would gain a third more at fifty times the time.
const ZSTD_LEVEL: i32 = 9;

fn create(file: NamedTempFile, path: &Path) -> io::Result<Box<dyn Sink>> {
    let file = BufWriter::new(file);
    let packing = path.extension().unwrap_or_default();
    let packer = if packing == "zst" {
        Packer::Zstd(zstd::Encoder::new(file, ZSTD_LEVEL)?)
    } else if packing == "gz" {
        Packer::Gzip(GzEncoder::new(file, Compression::default()))
    } else {
        Packer::Plain(file)
    };
    Ok(Box::new(packer))
}

/// The three ways to pack lines.
enum Packer {
    Plain(BufWriter<NamedTempFile>),
    Gzip(GzEncoder<BufWriter<NamedTempFile>>),
    Zstd(zstd::Encoder<'static, BufWriter<NamedTempFile>>),
}

impl Packer {
    fn writer(&mut self) -> &mut dyn Write {
        match self {
            Self::Plain(file) => file,
            Self::Gzip(file) => file,
            Self::Zstd(file) => file,
        }
    }
}

impl Sink for Packer {
    fn write(&mut self, entry: &Entry) -> io::Result<()> {
        let writer = self.writer();
        serde_json::to_writer(&mut *writer, &Line(entry))?;
        writer.write_all(b"\n")
    }

    fn finish(self: Box<Self>) -> io::Result<NamedTempFile> {
        let file = match *self {
            Self::Plain(file) => file,
            Self::Gzip(file) => file.finish()?,
            Self::Zstd(file) => file.finish()?,
        };
        file.into_inner().map_err(io::IntoInnerError::into_error)
    }
}
