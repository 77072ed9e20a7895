//! What `deadloop proxy` says of guards that it cannot feed, and of calls that it refuses.
#![cfg(unix)]
#![allow(clippy::expect_used, reason = "a test that cannot go on says why")]

use crate::program;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;

use program::{Place, Ran, ended, send, until};

const BLIND: &str = "[[guard]]\ndetector = \"duplicate\"\nresponse = \"refuse\"\n[[guard]]\ndetector = \"error-run\"\n[[model]]\nmatch = \"big-*\"\n[[model.guard]]\ndetector = \"error-run\"\n";
const NAMED: &str = "a response can never feed some guards: error-run: no results; error-run: no results (for big-*)";

#[test]
fn strict_refuses_guards_that_no_response_can_feed() {
    let place = Place::new();
    place.file("blind.toml", BLIND);
    let proxy = "proxy --listen nowhere --upstream http://127.0.0.1:1 --strict";
    let strict = place.run(format!("{proxy} --settings blind.toml")).ends(2);
    strict.says(&format!(
        "--strict: {NAMED}; expected a guard in the program that runs the tools"
    ));
    // What it can feed it takes: the address is what is wrong.
    place.run(proxy).ends(2).says("--listen nowhere");
}

/// The blind guards are told once, at the start, and each refusal when it comes.
#[test]
fn blind_guards_and_refusals_are_told() {
    let place = Place::new();
    place.file("blind.toml", BLIND);
    let free = TcpListener::bind("127.0.0.1:0").expect("a port");
    let at = free.local_addr().expect("it listens").to_string();
    drop(free);
    let upstream = calling();
    let line = format!("proxy --listen {at} --upstream {upstream} --settings blind.toml");
    let mut proxy = place.command(line);
    let started = proxy.stderr(Stdio::piped()).stdout(Stdio::null()).spawn();
    let mut child = started.expect("it starts");
    until(|| TcpStream::connect(&at).is_ok());
    let mut client = TcpStream::connect(&at).expect("it listens");
    client
        .write_all(b"GET / HTTP/1.0\r\n\r\n")
        .expect("it takes it");
    let mut got = String::new();
    client.read_to_string(&mut got).expect("it answers");
    assert!(got.contains("\"c1\"") && !got.contains("\"c3\""), "{got}");
    assert!(got.contains("\"finish_reason\":\"length\""), "{got}");
    send(&child, nix::sys::signal::Signal::SIGTERM);
    assert_eq!(ended(&mut child).code(), Some(0));
    let mut said = String::new();
    let mut heard = child.stderr.take().expect("it is piped");
    heard.read_to_string(&mut said).expect("it is text");
    assert_eq!(said.matches(NAMED).count(), 1, "{said}");
    let refused = "m: refuse: the response was ended before the call: ";
    assert_eq!(said.matches(refused).count(), 1, "{said}");
}

/// A server whose every response is nine equal calls; its address.
fn calling() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let at = listener.local_addr().expect("it listens");
    let call = r#"data: {"model":"m","choices":[{"delta":{"tool_calls":[{"index":N,"id":"cN","function":{"name":"ls","arguments":"{}"}}]}}]}"#;
    let calls = (0..9).map(|n| call.replace('N', &n.to_string()) + "\n\n");
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
    let answer = head.to_owned() + &calls.collect::<String>();
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let mut client = client.expect("a client");
            let _ = client.read(&mut [0; 4096]);
            let _ = client.write_all(answer.as_bytes());
        }
    });
    format!("http://{at}")
}
