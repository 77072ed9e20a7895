//! Tests of the table of client requests behind nginx, which shares its connections to the proxy among all clients.
//!
//! For all requests, `location /admin { return 403; }` must hold, and each client must get the answers to its own
//! requests.

#![cfg(unix)]
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test that cannot go on says why"
)]

mod kit;

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use kit::recorded::{cases, recorder, seen};
use kit::{get, proxy, until};

/// Returns the most lenient configuration of nginx, with two connections for all clients.
fn settings(folder: &Path, listen: SocketAddr, proxy: SocketAddr) -> String {
    let at = folder.display();
    format!(
        "daemon off; master_process off; pid {at}/pid; error_log {at}/error.log crit;
events {{ worker_connections 256; }}
http {{
  access_log off; client_body_temp_path {at}/body; proxy_temp_path {at}/proxy;
  fastcgi_temp_path {at}/fastcgi; uwsgi_temp_path {at}/uwsgi; scgi_temp_path {at}/scgi;
  upstream guarded {{ server {proxy}; keepalive 2; }}
  server {{
    listen {listen};
    ignore_invalid_headers off; underscores_in_headers on;
    proxy_http_version 1.1; proxy_set_header Connection \"\"; proxy_request_buffering off;
    proxy_ignore_client_abort on; proxy_next_upstream off;
    location / {{ proxy_pass http://guarded; }}
    location /admin {{ return 403; }}
  }}
}}
"
    )
}

/// Guard value that stops nginx at the end of the test.
struct Nginx(Child);

impl Drop for Nginx {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts nginx before the proxy. `None` if it is not installed, which fails in CI.
fn nginx(folder: &Path, proxy: SocketAddr) -> Option<(Nginx, SocketAddr)> {
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let listen = free.local_addr().unwrap();
    drop(free);
    let file = folder.join("nginx.conf");
    std::fs::write(&file, settings(folder, listen, proxy)).unwrap();
    let path = std::env::var("PATH").unwrap_or_default() + ":/usr/sbin:/usr/local/sbin";
    let started = Command::new("nginx")
        .env("PATH", path)
        .arg("-p")
        .arg(folder)
        .arg("-c")
        .arg(&file)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let Ok(child) = started else {
        assert!(std::env::var_os("CI").is_none(), "CI has nginx");
        eprintln!("skipped: nginx is not installed");
        return None;
    };
    let running = Nginx(child);
    until("nginx listens", || TcpStream::connect(listen).is_ok());
    Some((running, listen))
}

#[test]
fn nothing_passes_a_location_that_is_closed_and_answers_stay_with_their_clients() {
    let (server, record) = recorder();
    let running = proxy(server);
    let folder = tempfile::tempdir().unwrap();
    let Some((_nginx, at)) = nginx(folder.path(), running.at) else {
        return;
    };
    let ask = |target: &str| get(at, &format!("GET {target} HTTP/1.1\r\nHost: me\r\n\r\n"));
    assert!(ask("/admin").0.starts_with("HTTP/1.1 403"));
    for (n, case) in cases().iter().enumerate() {
        let mut client = TcpStream::connect(at).unwrap();
        client
            .set_read_timeout(Some(Duration::from_secs(10)))
            .unwrap();
        client.write_all(case.send.as_bytes()).unwrap();
        client.shutdown(Shutdown::Write).unwrap();
        // Whatever nginx says to it.
        let _ = client.read_to_end(&mut Vec::new());
        for time in 0..3 {
            let own = format!("/own/{n}/{time}");
            let (head, body, _) = ask(&own);
            let body = String::from_utf8_lossy(&body).into_owned();
            let name = &case.name;
            assert_eq!(body, format!("GET {own} 0"), "after {name}: {head}");
        }
    }
    let all = record.lock().unwrap();
    assert!(all.len() > 3 * cases().len(), "{}", all.len());
    for one in all.iter() {
        let seen = seen(one);
        assert!(!seen.contains("/admin"), "{seen}");
    }
}
