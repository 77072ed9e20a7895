//! [`Input`]: a source of bytes that may fall silent.

use std::io::{self, ErrorKind, Read};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

/// The maximum number of bytes of one read.
const MAX_READ_BYTES: usize = 1 << 16;
/// The time without bytes after which a read returns `None`.
const SILENCE_INTERVAL: Duration = Duration::from_millis(100);

/// A source of the bytes of a stream.
pub trait Input {
    /// Returns the next bytes. They are empty at the end of the stream, and `None` if nothing came for 100 ms.
    ///
    /// # Errors
    /// Returns an error if the source cannot be read.
    fn next(&mut self) -> io::Result<Option<Vec<u8>>>;
}

/// An input read by a separate thread, so that silence can be noticed.
pub struct ThreadedInput(Receiver<io::Result<Vec<u8>>>);

impl ThreadedInput {
    /// Starts a thread that reads the input returned by `open`. The thread is never joined, since a read may block for
    /// ever.
    pub fn new<R: Read>(open: impl FnOnce() -> R + Send + 'static) -> Self {
        // One piece waits while the next is read, so a slow reader slows the stream down.
        let (sender, pieces) = sync_channel(1);
        std::thread::spawn(move || {
            let mut input = open();
            loop {
                let piece = read(&mut input);
                let ended = piece.as_ref().map_or(true, Vec::is_empty);
                if sender.send(piece).is_err() || ended {
                    return;
                }
            }
        });
        Self(pieces)
    }
}

impl Input for ThreadedInput {
    fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        match self.0.recv_timeout(SILENCE_INTERVAL) {
            Ok(piece) => piece.map(Some),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Ok(Some(Vec::new())),
        }
    }
}

/// Reads once, and retries an interrupted read. Returns no bytes at the end of the input.
pub(super) fn read(input: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut piece = vec![0; MAX_READ_BYTES];
    loop {
        match input.read(&mut piece) {
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            read => {
                piece.truncate(read?);
                return Ok(piece);
            }
        }
    }
}
