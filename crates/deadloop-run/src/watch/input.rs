//! [`Input`]: the source of a stream's bytes, which notices silence.

use std::io::{self, ErrorKind, Read};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

/// The maximum number of bytes of one read.
const CHUNK: usize = 1 << 16;
/// The interval between checks of a silent stream.
const TICK: Duration = Duration::from_millis(100);

/// The source of a stream.
pub trait Input {
    /// Returns the next bytes. Empty at the end. `None` if nothing came for a tenth of a second.
    ///
    /// # Errors
    /// Returns an error if the source cannot be read.
    fn next(&mut self) -> io::Result<Option<Vec<u8>>>;
}

/// An input that a separate thread reads, so that a silence is noticed.
pub struct ThreadedInput(Receiver<io::Result<Vec<u8>>>);

impl ThreadedInput {
    /// Reads the input that `open` returns. The thread is never joined, since a read may block for ever.
    pub fn new<R: Read>(open: impl FnOnce() -> R + Send + 'static) -> Self {
        // One piece waits while the next is read, so a slow reader slows the stream down.
        let (send, pieces) = sync_channel(1);
        std::thread::spawn(move || {
            let mut input = open();
            loop {
                let piece = read(&mut input);
                let ended = piece.as_ref().map_or(true, Vec::is_empty);
                if send.send(piece).is_err() || ended {
                    return;
                }
            }
        });
        Self(pieces)
    }
}

impl Input for ThreadedInput {
    fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        match self.0.recv_timeout(TICK) {
            Ok(piece) => piece.map(Some),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Ok(Some(Vec::new())),
        }
    }
}

/// Reads once. Empty at the end.
pub(super) fn read(input: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut piece = vec![0; CHUNK];
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
