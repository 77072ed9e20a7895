//! A zip archive: a record for each JSON member, in the order of names.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;
use std::sync::Arc;

use zip::ZipArchive;

use super::{
    MAX_DOCUMENT_BYTES, MAX_VALUES, RecordContent, RecordResult, SourceRecord, SourceRecords,
};
use deadloop_corpus::Place;
use deadloop_corpus::files::decompression::UnpackedBytes;
use deadloop_stream::wire::{self, WireFault, WireResult, read_utf8};

type Archive = ZipArchive<BufReader<File>>;

pub(super) fn read_records(place: Place) -> SourceRecords {
    match open_archive(&place.file) {
        Ok((archive, mut names)) => {
            names.retain(|name| name.ends_with(".json"));
            let names = names.into();
            Box::new(MemberRecords {
                packed: std::fs::metadata(&*place.file).map_or(0, |about| about.len()),
                unpacked: UnpackedBytes::default(),
                archive,
                names,
                place,
            })
        }
        Err(fault) => Box::new(std::iter::once(Err(fault.at(place)))),
    }
}

/// Returns the names of an archive's members, sorted. Empty if the archive cannot be read.
pub(crate) fn member_names(path: &Path) -> Vec<String> {
    open_archive(path).map_or(Vec::new(), |(_, names)| names)
}

/// Opens an archive. Also returns the sorted names of its members.
fn open_archive(path: &Path) -> WireResult<(Archive, Vec<String>)> {
    let broken = |e: &dyn std::fmt::Display| {
        let what = format!("the archive cannot be read: {e}");
        WireFault::new(what, "a whole zip archive")
    };
    let file = File::open(path).map_err(|e| broken(&e))?;
    let archive = ZipArchive::new(BufReader::new(file)).map_err(|e| broken(&e))?;
    let names = archive.file_names().map(|name| name.map(Cow::into_owned));
    let mut names: Vec<String> = names.collect::<Result<_, _>>().map_err(|e| broken(&e))?;
    names.sort();
    Ok((archive, names))
}

struct MemberRecords {
    archive: Archive,
    /// Size of the archive, in bytes.
    packed: u64,
    /// Total unpacked size of its members.
    unpacked: UnpackedBytes,
    names: VecDeque<String>,
    place: Place,
}

impl Iterator for MemberRecords {
    type Item = RecordResult;

    fn next(&mut self) -> Option<Self::Item> {
        let member = self.names.pop_front()?;
        let file = Arc::new(self.place.file.join(&member));
        let place = |line| Place::new(Arc::clone(&file), line);
        Some(match self.read_member(&member) {
            Ok(content) => Ok(SourceRecord {
                place: place(1),
                member,
                content,
            }),
            Err((line, fault)) => Err(fault.at(place(line))),
        })
    }
}

impl MemberRecords {
    /// Parses a member as JSON. On error, also returns the line of the fault.
    fn read_member(&mut self, name: &str) -> Result<RecordContent, (u64, WireFault)> {
        let broken = |e: &dyn std::fmt::Display| {
            let what = format!("the member cannot be read: {e}");
            (0, WireFault::new(what, "a whole zip archive"))
        };
        let member = self.archive.by_name(name).map_err(|e| broken(&e))?;
        let mut bytes = Vec::new();
        let mut limited = member.take(MAX_DOCUMENT_BYTES as u64 + 1);
        limited.read_to_end(&mut bytes).map_err(|e| broken(&e))?;
        // All members count together, since members may share bytes of the archive.
        if let Err(e) = self.unpacked.add(bytes.len() as u64, self.packed) {
            self.names.clear();
            return Err(broken(&e));
        }
        if bytes.len() > MAX_DOCUMENT_BYTES {
            let expected = format!("at most {MAX_DOCUMENT_BYTES} bytes");
            return Err((0, WireFault::new("a member that is too long", expected)));
        }
        let text = read_utf8(&bytes).map_err(|fault| (1, fault))?;
        wire::parse(text, MAX_VALUES)
            .map(RecordContent::Json)
            .map_err(|e| (e.line() as u64, WireFault::json(&e, text)))
    }
}
