//! JSON Lines: one transcript per line, plain or compressed.
//!
//! gzip and zstd are recognised by the first bytes.

use std::fs::File;
use std::io::{self, BufRead, BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flate2::Compression;
use flate2::write::GzEncoder;
use tempfile::NamedTempFile;
use zstd::zstd_safe::{CParameter, compress_bound};

use crate::files::{
    CountingReader, FileLines, MAX_LINE, RawRecord, ReadProgress, broken, open_file, unpack,
};
use crate::transcript::wire::write_line;
use crate::{Cost, Entry, Place, Problem};

/// Extensions of transcript files. Other files in a corpus folder are ignored.
const FILE_EXTENSIONS: [&str; 3] = [".jsonl", ".jsonl.zst", ".jsonl.gz"];

/// Compression effort of a writer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// High compression, for files that are stored. They are a tenth smaller than with `Quick`, at several times the
    /// cost.
    Kept,
    /// Fast compression, for files that are written while the user waits.
    Quick,
}

/// Returns whether a file name has the extension of a transcript file.
pub(crate) fn is_transcript_file(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    FILE_EXTENSIONS.iter().any(|ending| name.ends_with(ending))
}

/// Records of a file, in order and in bounded memory. The iterator ends after an error that stops the reading.
pub(crate) type FileRecords = Box<dyn Iterator<Item = Result<RawRecord, Problem>> + Send>;

/// Opens a transcript file and returns its records.
pub(crate) fn open(path: &Arc<PathBuf>, progress: ReadProgress) -> Result<FileRecords, Problem> {
    let place = Place::new(Arc::clone(path), 0);
    let unreadable = |e: io::Error| {
        let what = format!("cannot be read: {e}");
        Problem::new(place.clone(), what, "a readable file").costing(Cost::from_error(&e))
    };
    let mut file = open_file(path).map_err(unreadable)?;
    if is_parquet(&mut file).map_err(unreadable)? {
        let expected = "JSON lines; deadloop import makes a corpus of a table";
        let table = Problem::new(place.clone(), "a table in Parquet", expected);
        return Err(table.costing(Cost::Unread));
    }
    let bytes =
        unpack(CountingReader::new(file, progress)).map_err(|e| broken(&e).at(place.clone()))?;
    let lines = FileLines::new(bytes, place, MAX_LINE);
    Ok(Box::new(JsonlRecords(lines)))
}

fn is_parquet(file: &mut File) -> io::Result<bool> {
    let mut head = Vec::with_capacity(4);
    (&mut *file).take(4).read_to_end(&mut head)?;
    file.rewind()?;
    Ok(head == b"PAR1")
}

/// An iterator over the records of a file, one per line.
struct JsonlRecords<R>(FileLines<R>);

impl<R: BufRead> Iterator for JsonlRecords<R> {
    type Item = Result<RawRecord, Problem>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let line = match self.0.next_line()? {
                Ok([]) => continue,
                line => line.map(<[u8]>::to_vec),
            };
            let place = self.0.place().clone();
            let record = line.map(|line| RawRecord::new(place.clone(), line));
            return Some(record.map_err(|fault| fault.at(place)));
        }
    }
}

/// The zstd level of stored files.
///
/// Files are a little smaller than at the default level, and compression is still faster than most disks. The highest
/// levels would save another third, but take fifty times as long.
const KEPT_ZSTD_LEVEL: i32 = 9;
/// The zstd parameters of files that are written while the user waits.
///
/// The effort is below the lowest ordinary level, since short matches are skipped. A larger table, and a window of a
/// whole frame, make up for some of the loss. Compared with the lowest level, files are a seventh larger, and
/// compression takes a sixth less time.
const QUICK_ZSTD_PARAMETERS: [CParameter; 4] = [
    CParameter::CompressionLevel(-2),
    CParameter::MinMatch(7),
    CParameter::HashLog(14),
    CParameter::WindowLog(MIN_FRAME_BYTES.ilog2()),
];

/// Creates a sink for a new file. The extension of `path` selects the compression.
pub(crate) fn create(file: NamedTempFile, path: &Path, effort: Effort) -> io::Result<LineSink> {
    let file = BufWriter::new(file);
    let extension = path.extension().unwrap_or_default();
    let packer = if extension == "zst" {
        match effort {
            Effort::Kept => LineCompressor::Zstd(zstd::Encoder::new(file, KEPT_ZSTD_LEVEL)?),
            Effort::Quick => LineCompressor::Frames(FrameCompressor::new(file)?),
        }
    } else if extension == "gz" {
        LineCompressor::Gzip(GzEncoder::new(file, Compression::default()))
    } else {
        LineCompressor::Plain(file)
    };
    let line = Vec::new();
    Ok(LineSink { packer, line })
}

/// A sink that writes transcripts as lines, possibly compressed.
pub(crate) struct LineSink {
    packer: LineCompressor,
    /// Buffer for the current line. Compressors are much faster with one large write than with many small ones.
    line: Vec<u8>,
}

/// Compressor of the lines, by the extension of the file.
enum LineCompressor {
    Plain(BufWriter<NamedTempFile>),
    Gzip(GzEncoder<BufWriter<NamedTempFile>>),
    Zstd(zstd::Encoder<'static, BufWriter<NamedTempFile>>),
    Frames(FrameCompressor),
}

impl LineSink {
    /// Writes a transcript as a line.
    pub(crate) fn write(&mut self, entry: &Entry) -> io::Result<()> {
        let file: &mut dyn Write = match &mut self.packer {
            LineCompressor::Plain(file) => file,
            LineCompressor::Gzip(file) => file,
            LineCompressor::Zstd(file) => file,
            LineCompressor::Frames(frames) => return frames.write_entry(entry),
        };
        self.line.clear();
        write_line(entry, &mut self.line)?;
        self.line.push(b'\n');
        file.write_all(&self.line)
    }

    /// Completes the file and returns it.
    pub(crate) fn finish(self) -> io::Result<NamedTempFile> {
        let file = match self.packer {
            LineCompressor::Plain(file) => file,
            LineCompressor::Gzip(file) => file.finish()?,
            LineCompressor::Zstd(file) => file.finish()?,
            LineCompressor::Frames(file) => file.finish()?,
        };
        file.into_inner().map_err(io::IntoInnerError::into_error)
    }
}

/// A zstd compressor that compresses each frame at once.
///
/// Streaming compression is slower, since zstd then searches for matches in two buffers.
struct FrameCompressor {
    zstd: zstd::bulk::Compressor<'static>,
    /// Content of the next frame.
    frame: Vec<u8>,
    /// Buffer for a compressed frame.
    packed: Vec<u8>,
    file: BufWriter<NamedTempFile>,
}

/// The minimum size of an uncompressed frame. Smaller frames make files larger, and larger frames save little.
const MIN_FRAME_BYTES: usize = 1 << 21;

impl FrameCompressor {
    fn new(file: BufWriter<NamedTempFile>) -> io::Result<Self> {
        let mut zstd = zstd::bulk::Compressor::default();
        for parameter in QUICK_ZSTD_PARAMETERS {
            zstd.set_parameter(parameter)?;
        }
        Ok(Self {
            zstd,
            frame: Vec::new(),
            packed: Vec::new(),
            file,
        })
    }

    fn write_entry(&mut self, entry: &Entry) -> io::Result<()> {
        write_line(entry, &mut self.frame)?;
        self.frame.push(b'\n');
        if self.frame.len() >= MIN_FRAME_BYTES {
            self.compress()
        } else {
            Ok(())
        }
    }

    fn compress(&mut self) -> io::Result<()> {
        self.packed.clear();
        self.packed.reserve(compress_bound(self.frame.len()));
        self.zstd
            .compress_to_buffer(&self.frame, &mut self.packed)?;
        self.frame.clear();
        self.file.write_all(&self.packed)
    }

    /// Compresses the last frame. The frame may be empty, so that an empty file is valid zstd too.
    fn finish(mut self) -> io::Result<BufWriter<NamedTempFile>> {
        self.compress()?;
        Ok(self.file)
    }
}
