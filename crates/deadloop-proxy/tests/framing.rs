//! Tests of the table of client requests against the proxy alone. `behind_nginx.rs` tests it behind nginx.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says why")]

mod kit;

use std::io::{BufReader, Read, Write};
use std::time::Duration;

use kit::recorded::{Case, cases, recorder, seen};
use kit::{answer, proxy, until};

#[test]
fn every_request_is_one_request_for_all_or_refused() {
    let (server, record) = recorder();
    let running = proxy(server);
    for case in cases() {
        record.lock().unwrap().clear();
        let mut client = running.client(&case.send);
        let patience = Some(Duration::from_secs(10));
        client.set_read_timeout(patience).unwrap();
        let mut reader = BufReader::new(client.try_clone().unwrap());
        for status in &case.status {
            let (head, body, whole) = answer(&mut reader);
            let body = String::from_utf8_lossy(&body).into_owned();
            assert!(
                whole && head.starts_with(&format!("HTTP/1.1 {status} ")),
                "{}: expected {status}, got {head}{body}",
                case.name
            );
            let told = head.to_lowercase().contains("\r\nconnection: close\r\n");
            let last = case.closed && case.status.len() == 1;
            assert_eq!(told, last, "{}: {head}", case.name);
        }
        let mut expected = case.server.clone();
        if case.closed {
            let rest = reader.read_to_end(&mut Vec::new());
            assert!(matches!(rest, Ok(0)), "{}: not closed: {rest:?}", case.name);
        } else {
            let next = b"GET /next HTTP/1.1\r\nHost: a\r\n\r\n";
            client.write_all(next).unwrap();
            let (head, body, _) = answer(&mut reader);
            assert_eq!(body, b"GET /next 0", "{}: {head}", case.name);
            expected.push("GET /next 0".into());
        }
        drop((client, reader));
        let Case { name, .. } = &case;
        until(name, || record.lock().unwrap().len() >= expected.len());
        let mut sent: Vec<String> = record.lock().unwrap().iter().map(|all| seen(all)).collect();
        // Connections end in any order.
        sent.sort();
        expected.sort();
        assert_eq!(sent, expected, "{name}");
    }
    // What a refused case sent on would be here by now.
    let all = record.lock().unwrap();
    assert!(all.len() < 3, "{all:?}");
}

/// Checks that headers of one connection are not forwarded, and that the framing is written anew.
#[test]
fn headers_of_a_connection_stay_here() {
    let (server, record) = recorder();
    let running = proxy(server);
    let request = "POST /x HTTP/1.1\r\nHost: a\r\nConnection: close, X-Own, Content-Length\r\nX-Own: 1\r\nTE: x\r\nUpgrade: y\r\nX-Kept: 2\r\nContent-Length: 002\r\n\r\nhi";
    let mut client = running.client(request);
    client.read_to_end(&mut Vec::new()).unwrap();
    until("it is recorded", || !record.lock().unwrap().is_empty());
    let sent = String::from_utf8(record.lock().unwrap()[0].clone()).unwrap();
    let expected = format!(
        "POST /x HTTP/1.1\r\nHost: {server}\r\nConnection: close\r\nAccept-Encoding: identity\r\nx-kept: 2\r\nContent-Length: 2\r\n\r\nhi"
    );
    assert_eq!(sent, expected);
}
