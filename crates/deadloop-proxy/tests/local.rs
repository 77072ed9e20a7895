//! Tests of the local page: answered and refused requests.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;

use deadloop_proxy::{LocalPage, LocalRequest, LocalResponse};

/// Starts a page that repeats its requests and ends at `end`.
fn page() -> (String, thread::JoinHandle<Result<(), String>>) {
    let local = LocalPage::bind(0).unwrap();
    let address = local.address();
    let answer = |request: &LocalRequest| match request.path.as_str() {
        "fail" => Err("failed".to_owned()),
        path => {
            let body = String::from_utf8_lossy(&request.body);
            Ok(LocalResponse {
                status: "200 OK",
                kind: "text/plain",
                text: format!("{} {path} {body}", request.posted),
                last: path == "end",
            })
        }
    };
    (address, thread::spawn(move || local.serve(answer)))
}

fn parts(address: &str) -> (&str, &str) {
    let rest = address.strip_prefix("http://").unwrap();
    let (host, path) = rest.split_once('/').unwrap();
    (host, path.trim_end_matches('/'))
}

/// Returns the whole answer to a request, which is sent as written.
fn answered(host: &str, request: &str) -> String {
    let mut client = TcpStream::connect(host).unwrap();
    client.write_all(request.as_bytes()).unwrap();
    let mut text = String::new();
    client.read_to_string(&mut text).unwrap();
    text
}

fn get(host: &str, path: &str, headers: &str) -> String {
    answered(host, &format!("GET {path} HTTP/1.1\r\n{headers}\r\n"))
}

#[test]
fn the_page_itself_is_answered_and_nobody_else() {
    let (address, serving) = page();
    let (host, token) = parts(&address);
    let port = host.rsplit(':').next().unwrap();
    let own = format!("Host: {host}\r\n");
    // A connection that says nothing holds nobody up.
    let silent = TcpStream::connect(host).unwrap();

    let path = format!("/{token}/state");
    for headers in [
        own.clone(),
        format!("Host: localhost:{port}\r\n"),
        format!("{own}Origin: http://{host}\r\nSec-Fetch-Site: same-origin\r\n"),
        format!("{own}Sec-Fetch-Site: none\r\n"),
    ] {
        let answer = get(host, &path, &headers);
        assert!(answer.starts_with("HTTP/1.1 200"), "{headers}: {answer}");
        assert!(answer.ends_with("false state "), "{answer}");
        assert!(answer.contains("frame-ancestors 'none'"), "{answer}");
    }
    let body = "{\"key\":\"l\"}";
    let head = format!("POST /{token}/press HTTP/1.1\r\n{own}");
    let post = format!("{head}Content-Length: {}\r\n\r\n{body}", body.len());
    assert!(answered(host, &post).ends_with(&format!("true press {body}")));

    let other = token.replace(|_: char| true, "0");
    for (path, headers) in [
        (path.as_str(), "Host: evil.example\r\n".to_owned()),
        (&path, format!("Host: evil.example:{port}\r\n")),
        (&path, format!("{own}Origin: http://evil.example\r\n")),
        (&path, format!("{own}Origin: null\r\n")),
        (&path, format!("{own}Origin: https://{host}\r\n")),
        (&path, format!("{own}Sec-Fetch-Site: cross-site\r\n")),
        (&path, format!("{own}Sec-Fetch-Site: same-site\r\n")),
        ("/", own.clone()),
        ("/state", own.clone()),
        (&format!("/{token}"), own.clone()),
        (&format!("/{token}0/state"), own.clone()),
        (&format!("/{other}/state"), own.clone()),
        (&format!("/?{token}/state"), own.clone()),
    ] {
        let answer = get(host, path, &headers);
        let refused = answer.starts_with("HTTP/1.1 403");
        assert!(refused, "{path} {headers}: {answer}");
        assert!(!answer.contains(token), "{answer}");
    }
    drop(silent);
    assert!(get(host, &format!("/{token}/end"), &own).starts_with("HTTP/1.1 200"));
    assert_eq!(serving.join().unwrap(), Ok(()));
}

#[test]
fn what_is_no_request_of_the_page_is_refused_and_a_failure_ends_it() {
    let (address, serving) = page();
    let (host, token) = parts(&address);
    let own = format!("Host: {host}\r\n");
    let large = format!("POST /{token}/press HTTP/1.1\r\n{own}Content-Length: 65537\r\n\r\n");
    for (request, status) in [
        (large, 413),
        (format!("PUT /{token}/ HTTP/1.1\r\n{own}\r\n"), 405),
        (format!("GET /{token}/ HTTP/1.1\r\n\r\n"), 400),
        (format!("GET /{token}/../ HTTP/1.1\r\n{own}\r\n"), 400),
        ("GET / HTTP/1.1\n\n".to_owned(), 400),
    ] {
        let answer = answered(host, &request);
        let wanted = format!("HTTP/1.1 {status}");
        assert!(answer.starts_with(&wanted), "{request}: {answer}");
    }
    let failed = get(host, &format!("/{token}/fail"), &own);
    assert!(failed.starts_with("HTTP/1.1 500"), "{failed}");
    assert_eq!(serving.join().unwrap(), Err("failed".to_owned()));
}
