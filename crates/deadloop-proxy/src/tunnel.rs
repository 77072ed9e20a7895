//! What follows a `101 Switching Protocols`: bytes both ways that are no HTTP, until both sides are done.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::STACK;

/// Passes on what each side sends, beginning with what was read ahead of it. Both have a read timeout.
pub(crate) fn run((client, sent): (&TcpStream, &[u8]), (server, answered): (&TcpStream, &[u8])) {
    let broken = AtomicBool::new(false);
    thread::scope(|scope| {
        let up = || pass(sent, client, server, &broken);
        let thread = thread::Builder::new().stack_size(STACK);
        if thread.spawn_scoped(scope, up).is_ok() {
            pass(answered, server, client, &broken);
        }
    });
}

/// One way, until its side is done or the connection is broken.
fn pass(ahead: &[u8], mut from: &TcpStream, mut to: &TcpStream, broken: &AtomicBool) {
    let mut piece = [0; 16 << 10];
    let mut written = to.write_all(ahead);
    while written.is_ok() && !broken.load(Ordering::SeqCst) {
        match from.read(&mut piece) {
            Ok(0) => {
                let _ = to.shutdown(Shutdown::Write);
                return;
            }
            Ok(n) => written = to.write_all(&piece[..n]),
            Err(e) if waits(&e) => {}
            Err(e) => written = Err(e),
        }
    }
    broken.store(true, Ordering::SeqCst);
    let _ = to.shutdown(Shutdown::Both);
}

/// Whether nothing came for a while, and that is all.
fn waits(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
    )
}
