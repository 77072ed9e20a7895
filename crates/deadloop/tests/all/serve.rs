//! `deadloop label --serve`: the answers that keys leave are those of `--review`, and nobody else may press them.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use crate::program::{Place, Ran, ended, has, quiet};
use crate::review::corpus;

/// A review in a browser's place.
struct Served {
    child: Child,
    host: String,
    token: String,
}

impl Served {
    fn open(place: &Place, labels: &str) -> Self {
        let line = format!("label c.jsonl --serve --reviewer ann --out {labels}");
        let mut child = place
            .command(line)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        let told = child.stderr.take().expect("it is piped");
        let mut lines = BufReader::new(told).lines().map_while(Result::ok);
        let address =
            lines.find_map(|line| line.strip_prefix("review: http://").map(str::to_owned));
        let address = address.expect("an address is told");
        let (host, token) = address.split_once('/').expect("a path");
        Self {
            child,
            host: host.to_owned(),
            token: token.trim_end_matches('/').to_owned(),
        }
    }

    fn asked(&self, start: &str, headers: &str, body: &str) -> String {
        let mut client = TcpStream::connect(&self.host).expect("it listens");
        let (host, n) = (&self.host, body.len());
        let head =
            format!("{start} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {n}\r\n{headers}\r\n");
        client
            .write_all((head + body).as_bytes())
            .expect("it reads");
        let mut answer = String::new();
        client.read_to_string(&mut answer).expect("it answers");
        answer
    }

    fn state(&self) -> Value {
        let answer = self.asked(&format!("GET /{}/state", self.token), "", "");
        body(&answer)
    }

    fn press(&self, key: &str, turn: &Value) -> Value {
        let pressed = json!({"key": key, "turn": turn}).to_string();
        body(&self.asked(&format!("POST /{}/press", self.token), "", &pressed))
    }
}

fn body(answer: &str) -> Value {
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let (_, body) = answer.split_once("\r\n\r\n").expect("a head ends");
    serde_json::from_str(body).expect("it is JSON")
}

/// Each key that a session knows, and one that it does not. The last transcript stays open: a terminal ends with it.
const KEYS: [&str; 13] = [
    ">", "[", "v", " ", "?", "x", "t", "z", "l", "s", "Enter", "z", "c",
];

#[test]
fn keys_in_a_browser_leave_the_answers_that_they_leave_in_a_terminal() {
    let place = corpus("<b>doubt", "<script>\u{1b}[2J");
    let served = Served::open(&place, "web.csv");
    let mut state = served.state();
    let first = state["head"][0].as_str().expect("a head").to_owned();
    assert!(first.starts_with("1 of 4   proposed: clean"), "{first}");
    let marked = state["excerpts"].to_string();
    assert!(
        marked.contains("onset: ") && !marked.contains('\u{1b}'),
        "{marked}"
    );
    for key in KEYS {
        let before = state["turn"].clone();
        state = served.press(key, &before);
        // A key of an older state does nothing.
        if state["turn"] != before {
            assert_eq!(served.press("c", &before), served.state(), "{key}");
        }
        state = served.state();
    }
    let last = served.press("q", &state["turn"]);
    assert_eq!(
        (&last["ended"], &last["answered"]),
        (&json!(true), &json!(2)),
        "{last}"
    );
    let mut child = served.child;
    assert!(ended(&mut child).success());

    let mut lines = place.command("label c.jsonl --review --reviewer ann --out lines.csv");
    lines.stdin(Stdio::piped());
    let mut lines = quiet(lines);
    let mut stdin = lines.stdin.take().expect("it is piped");
    // A line is trimmed, so that the space bar is no line.
    let keys: Vec<&str> = KEYS.into_iter().filter(|key| *key != " ").collect();
    stdin
        .write_all((keys.join("\n") + "\nq\n").as_bytes())
        .expect("it reads");
    drop(stdin);
    assert!(ended(&mut lines).success());
    let web = place.read("web.csv");
    assert_eq!(web, place.read("lines.csv"));
    assert_eq!(web.matches("review:ann").count(), 2, "{web}");
}

#[test]
fn the_page_is_for_this_machine_and_its_own_requests() {
    let place = corpus("<b>doubt", "<script>\u{1b}[2J");
    let mut served = Served::open(&place, "l.csv");
    let (host, token) = (served.host.clone(), served.token.clone());
    let page = served.asked(&format!("GET /{token}/"), "", "");
    for part in [
        "HTTP/1.1 200",
        "default-src &#x27;none&#x27;; style-src &#x27;sha256-",
        "connect-src &#x27;self&#x27;",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    // No text of a transcript is in the page: it comes as data, and is put there as text.
    assert!(!page.contains("doubt"), "{page}");
    let press = format!("POST /{token}/press");
    let key = json!({"key": "c", "turn": 0}).to_string();
    let before = place.read("l.csv");
    for (start, headers) in [
        (press.as_str(), "Origin: http://evil.example\r\n"),
        (&press, "Origin: null\r\n"),
        (&press, "Sec-Fetch-Site: cross-site\r\n"),
        ("POST /press", ""),
        ("POST /0123456789abcdef0123456789abcdef/press", ""),
    ] {
        let answer = served.asked(start, headers, &key);
        assert!(
            answer.starts_with("HTTP/1.1 403"),
            "{start} {headers}: {answer}"
        );
    }
    let mut other = TcpStream::connect(&host).expect("it listens");
    let foreign = format!(
        "{press} HTTP/1.1\r\nHost: evil.example\r\nContent-Length: {}\r\n\r\n{key}",
        key.len()
    );
    other.write_all(foreign.as_bytes()).expect("it reads");
    let mut answer = String::new();
    other.read_to_string(&mut answer).expect("it answers");
    assert!(answer.starts_with("HTTP/1.1 403"), "{answer}");
    for nonsense in [
        "",
        "{}",
        "[1]",
        "{\"key\":\"c\"}",
        "{\"key\":\"c\",\"turn\":0,\"x\":1}",
    ] {
        let answer = served.asked(&press, "", nonsense);
        assert!(answer.starts_with("HTTP/1.1 400"), "{nonsense}: {answer}");
    }
    assert_eq!(served.state()["turn"], 0, "nothing was pressed");
    let after = place.read("l.csv");
    assert_eq!(before, after);
    served.press("q", &json!(0));
    assert!(ended(&mut served.child).success());
}

#[test]
fn two_reviewers_become_one_file_and_what_differs_is_asked_again() {
    let place = Place::new();
    let head = "transcript,class,kind,channel,start,onset,earliest,end,period,by,note\n";
    let rows = |name: &str, answers: [&str; 3]| {
        let row = |(n, class): (usize, &str)| {
            let (at, by) = match class {
                "auto" => (String::new(), "clean,,,,,,,,auto".to_owned()),
                class => (class.to_owned(), format!(",,,,,,,,review:{name}")),
            };
            format!("t{n},{at}{by},\n")
        };
        let text: String = answers.into_iter().enumerate().map(row).collect();
        place.file(&format!("{name}.csv"), format!("{head}{text}"));
    };
    rows("ann", ["clean", "unsure", "auto"]);
    rows("bob", ["clean", "clean", "clean"]);
    let merge = "label --merge ann.csv bob.csv";
    let merged = place.run(format!("{merge} --out both.csv")).ends(0);
    merged.shows("1 equal, 1 reviewed by one person, 0 by nobody, 1 different");
    let both = place.read("both.csv");
    has(&both, "t1,unsure,,,,,,,,merge,");
    has(&both, "t2,clean,,,,,,,,review:bob");
    place.run(format!("{merge} --out both.csv")).ends(2);
    place.run(format!("{merge} --out ann.csv --force")).ends(2);
    place.run(merge).ends(2);
}
