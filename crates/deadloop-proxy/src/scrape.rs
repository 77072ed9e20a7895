//! Server of `/metrics`, at its own address.
//!
//! Each connection has one request and one answer.

use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use crate::ProxyState;
use crate::http::{Connection, MessageHead};
use crate::reply::ProxyReply;
use crate::thread_group::ThreadGroup;

/// The maximum number of simultaneous requests. Further connections are closed.
const MAX_SCRAPES: usize = 32;
/// The time limit for a request.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);

/// Answers requests until the proxy has ended.
pub(crate) fn serve_metrics(listener: &TcpListener, shared: &Arc<ProxyState>) {
    let threads = ThreadGroup::new(MAX_SCRAPES);
    for client in listener.incoming() {
        if shared.has_ended() {
            break;
        }
        match client {
            Ok(client) => {
                let shared = Arc::clone(shared);
                threads.spawn(move || answer_request(&client, &shared));
            }
            // Out of file handles: waits for some, as the proxy does.
            Err(_) => thread::sleep(Duration::from_millis(20)),
        }
    }
}

fn answer_request(client: &TcpStream, shared: &ProxyState) {
    let ready = client
        .set_read_timeout(Some(REQUEST_TIMEOUT))
        .and_then(|()| client.set_write_timeout(Some(REQUEST_TIMEOUT)));
    let head = ready.map(|()| Connection::of_client(client).read_head());
    let Ok(Ok(Some(head))) = head else {
        return ProxyReply::from_text("400 Bad Request", "a request of HTTP/1.1 is wanted\n")
            .finish(client);
    };
    match MessageHead::of_request(&head) {
        Err(what) => ProxyReply::from_text("400 Bad Request", what).finish(client),
        Ok(head) if head.start == ("GET".into(), "/metrics".into()) => ProxyReply {
            status: "200 OK",
            kind: "text/plain; version=0.0.4",
            headers: "",
            text: &shared.metrics.render(),
        }
        .finish(client),
        Ok(_) => {
            ProxyReply::from_text("404 Not Found", "GET /metrics is all there is\n").finish(client)
        }
    }
}
