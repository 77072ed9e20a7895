//! Relay of bytes in both directions after `101 Switching Protocols`.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::STACK_BYTES;
use crate::server_connection::ServerConnection;

/// Relays bytes between client and server until both are done. Bytes that were already read ahead are relayed first.
/// Both connections must have a read timeout.
pub(crate) fn relay_both_ways(
    (client, sent): (&TcpStream, &[u8]),
    (server, answered): (&ServerConnection, &[u8]),
) {
    let broken = AtomicBool::new(false);
    thread::scope(|scope| {
        let up = || relay_one_way((sent, client), server, |how| server.shutdown(how), &broken);
        let thread = thread::Builder::new().stack_size(STACK_BYTES);
        if thread.spawn_scoped(scope, up).is_ok() {
            relay_one_way(
                (answered, server),
                client,
                |how| client.shutdown(how),
                &broken,
            );
        }
    });
}

/// Relays bytes in one direction until that side is done or the connection is broken.
fn relay_one_way(
    (read_ahead, mut from): (&[u8], impl Read),
    mut to: impl Write,
    shutdown: impl Fn(Shutdown) -> io::Result<()>,
    broken: &AtomicBool,
) {
    let mut piece = [0; 16 << 10];
    let mut written = to.write_all(read_ahead);
    while written.is_ok() && !broken.load(Ordering::SeqCst) {
        match from.read(&mut piece) {
            Ok(0) => {
                let _ = shutdown(Shutdown::Write);
                return;
            }
            Ok(n) => written = to.write_all(&piece[..n]),
            Err(e) if is_temporary(&e) => {}
            Err(e) => written = Err(e),
        }
    }
    broken.store(true, Ordering::SeqCst);
    let _ = shutdown(Shutdown::Both);
}

/// Returns whether a read only timed out or was interrupted.
fn is_temporary(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
    )
}
