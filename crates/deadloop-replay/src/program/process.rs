//! [`Process`]: one running program and its three pipes.
//!
//! One thread writes to stdin, one reads stdout, and one keeps the end of stderr. So waiting for an answer is bounded
//! even if the program stops reading or writes too much.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The maximum length of an answer, in bytes.
const MAX_ANSWER_BYTES: u64 = 64 << 10;
/// The maximum number of unread answers. Beyond it, the program's output blocks.
const MAX_UNREAD_ANSWERS: usize = 8;
/// The number of bytes kept from the end of stderr.
const STDERR_TAIL_BYTES: usize = 2 << 10;
/// The time between two calls of `stop` during a wait.
const STOP_CHECK_INTERVAL: Duration = Duration::from_millis(50);
/// The maximum time to wait for the exit status and the rest of stderr after the output was closed.
const EXIT_TIMEOUT: Duration = Duration::from_secs(1);

/// A running program. Dropping the value kills the program and its child processes.
pub(super) struct Process {
    child: Child,
    killed: bool,
    to: Sender<OutgoingLines>,
    from: Receiver<StdoutMessage>,
    stderr: Arc<StderrTail>,
}

/// Lines to send, for the thread that writes stdin.
struct OutgoingLines {
    blocks: Arc<[Vec<u8>]>,
    /// Set when the answer has arrived, after which no more lines are sent.
    answered: Arc<AtomicBool>,
}

/// A message from the thread that reads stdout.
enum StdoutMessage {
    Whole {
        line: Vec<u8>,
        /// Whether more output arrived together with the line.
        more: bool,
    },
    TooLong,
    /// The end of the output.
    End,
}

/// The reasons why a program gave no answer.
#[derive(Debug)]
pub(super) enum Halt {
    /// The run was cancelled.
    Interrupted,
    /// The program failed. Holds a description.
    Failed(String),
    /// The program ended before it answered. Holds a description.
    Ended(String),
}

/// The last part of the program's stderr.
#[derive(Default)]
struct StderrTail {
    bytes: Mutex<VecDeque<u8>>,
    /// Set once stderr is closed.
    closed: AtomicBool,
}

impl Process {
    /// Starts a program with its arguments, in its own process group.
    pub(super) fn start(command: &[String]) -> Result<Self, String> {
        let error = |e: io::Error| format!("it cannot be started: {e}");
        let (program, args) = command.split_first().ok_or("no program is named")?;
        let mut command = Command::new(program);
        command
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn().map_err(error)?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (to, sendings) = channel();
        let (lines, from) = sync_channel(MAX_UNREAD_ANSWERS);
        let stderr = Arc::new(StderrTail::default());
        // From here on, an error drops the process and so kills it.
        let process = Self {
            child,
            killed: false,
            to,
            from,
            stderr: Arc::clone(&stderr),
        };
        if let (Some(stdin), Some(stdout), Some(errors)) = pipes {
            let make = || thread::Builder::new().name("program".into());
            make()
                .spawn(move || write_lines(stdin, sendings))
                .map_err(error)?;
            make()
                .spawn(move || receive(stdout, lines))
                .map_err(error)?;
            make()
                .spawn(move || stderr.collect(errors))
                .map_err(error)?;
        }
        Ok(process)
    }

    /// Sends lines and waits for the answer, one line, for at most `timeout` or until `stop` returns true. Lines still
    /// unsent when the answer arrives are dropped.
    pub(super) fn ask(
        &mut self,
        blocks: Arc<[Vec<u8>]>,
        timeout: Duration,
        stop: &dyn Fn() -> bool,
    ) -> Result<Vec<u8>, Halt> {
        if let Ok(line) = self.from.try_recv() {
            return Err(self.unexpected_line(line));
        }
        self.stderr.clear();
        let answered = Arc::new(AtomicBool::new(false));
        let sending = OutgoingLines {
            blocks,
            answered: Arc::clone(&answered),
        };
        // If the writer is gone, the pipe was closed: `await_line` reports that.
        drop(self.to.send(sending));
        let answer = self.await_line(timeout, stop);
        answered.store(true, Ordering::Relaxed);
        answer
    }

    fn await_line(&mut self, timeout: Duration, stop: &dyn Fn() -> bool) -> Result<Vec<u8>, Halt> {
        let until = Instant::now() + timeout;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match self.from.recv_timeout(left.min(STOP_CHECK_INTERVAL)) {
                Ok(StdoutMessage::Whole { line, more: false }) => return Ok(line),
                Ok(StdoutMessage::Whole { more: true, .. }) => {
                    return Err(Halt::Failed("it gave more than one answer".into()));
                }
                Ok(StdoutMessage::TooLong) => {
                    let what = format!("its answer is longer than {MAX_ANSWER_BYTES} bytes");
                    return Err(Halt::Failed(what));
                }
                Ok(StdoutMessage::End) | Err(RecvTimeoutError::Disconnected) => {
                    return Err(Halt::Ended(self.await_end()));
                }
                Err(RecvTimeoutError::Timeout) if stop() => return Err(Halt::Interrupted),
                Err(RecvTimeoutError::Timeout) if left.is_zero() => {
                    let what = format!("no answer within {} ms", timeout.as_millis());
                    return Err(Halt::Failed(what));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Returns the error for output, or its end, before the next transcript is sent.
    fn unexpected_line(&mut self, line: StdoutMessage) -> Halt {
        match line {
            StdoutMessage::End => Halt::Ended(format!("{} before it was asked", self.await_end())),
            _ => Halt::Failed(
                "it spoke before it was asked: a second answer to the last transcript?".into(),
            ),
        }
    }

    /// Waits for the process to end, and describes how it ended.
    fn await_end(&mut self) -> String {
        let until = Instant::now() + EXIT_TIMEOUT;
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return format!("it ended ({status})"),
                Ok(None) if Instant::now() < until => thread::sleep(Duration::from_millis(5)),
                _ => return "it closed its output".into(),
            }
        }
    }

    /// Ends the process. Returns `what`, followed by the end of stderr.
    pub(super) fn end_with_stderr(mut self, what: &str) -> String {
        self.kill();
        let until = Instant::now() + EXIT_TIMEOUT;
        while !self.stderr.closed.load(Ordering::Acquire) && Instant::now() < until {
            thread::sleep(Duration::from_millis(5));
        }
        match self.stderr.to_line() {
            tail if tail.is_empty() => what.into(),
            tail => format!("{what}; its stderr ends: {tail}"),
        }
    }

    /// Kills the process and its child processes, and reaps the process.
    fn kill(&mut self) {
        // Only once: after the whole group has ended, the system may reuse its id. A process that has ended already
        // is no error.
        if std::mem::replace(&mut self.killed, true) {
            return;
        }
        #[cfg(unix)]
        if let Ok(id) = i32::try_from(self.child.id()) {
            use nix::sys::signal::{Signal, killpg};
            let _ = killpg(nix::unistd::Pid::from_raw(id), Signal::SIGKILL);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Writes lines to stdin until the sender is gone or the pipe is closed.
fn write_lines(mut stdin: ChildStdin, sendings: Receiver<OutgoingLines>) {
    for OutgoingLines { blocks, answered } in sendings {
        for block in blocks.iter() {
            if answered.load(Ordering::Relaxed) {
                break;
            }
            if stdin.write_all(block).is_err() {
                return;
            }
        }
    }
}

/// Reads lines, which end only at `\n`, until the output ends or the receiver is gone.
fn receive(stdout: ChildStdout, lines: SyncSender<StdoutMessage>) {
    let mut stdout = BufReader::new(stdout);
    loop {
        let mut line = Vec::new();
        let read = (&mut stdout)
            .take(MAX_ANSWER_BYTES)
            .read_until(b'\n', &mut line);
        let whole = read.is_ok() && line.pop_if(|last| *last == b'\n').is_some();
        let message = match whole {
            true => StdoutMessage::Whole {
                line,
                more: !stdout.buffer().is_empty(),
            },
            false if line.len() as u64 == MAX_ANSWER_BYTES => StdoutMessage::TooLong,
            false => StdoutMessage::End,
        };
        if lines.send(message).is_err() || !whole {
            return;
        }
    }
}

impl StderrTail {
    fn collect(&self, mut stderr: ChildStderr) {
        let mut chunk = [0; 4096];
        while let Ok(n @ 1..) = stderr.read(&mut chunk) {
            let mut bytes = self.lock();
            bytes.extend(&chunk[..n]);
            let old = bytes.len().saturating_sub(STDERR_TAIL_BYTES);
            bytes.drain(..old);
        }
        self.closed.store(true, Ordering::Release);
    }

    /// Discards the output about the last transcript.
    fn clear(&self) {
        self.lock().clear();
    }

    /// Returns the kept output as one line.
    fn to_line(&self) -> String {
        let bytes: Vec<u8> = self.lock().iter().copied().collect();
        let text = String::from_utf8_lossy(&bytes);
        let lines = text.lines().map(str::trim_end).filter(|l| !l.is_empty());
        lines.collect::<Vec<_>>().join(" / ")
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, VecDeque<u8>> {
        self.bytes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
