//! [`Programs`]: the running programs of a plan's `command` detectors.
//!
//! | to find | look in |
//! |---|---|
//! | the process pools, and the limit on errors | this module |
//! | lines to send, and conversion of alarms | `script` |
//! | messages of the protocol | `protocol` |
//! | one process: pipes, waiting, killing | `process` |
//!
//! A process handles one transcript at a time, and a thread one process at a time. So no program has more processes
//! than there are threads. An answer must not depend on earlier transcripts.

use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use deadloop_corpus::Transcript;
use deadloop_detect::Channel;
use deadloop_detect::harness::Program;
use rayon::prelude::*;

use crate::corpus_pass::{Interruption, PassResult};
use crate::engine::decide_with;
use crate::plan::Plan;
use crate::plan_meters::PlanProgram;
use crate::record::Record;

mod mender;
mod process;
mod protocol;
mod script;

pub use mender::{Mender, MenderAnswer};
use process::{Halt, Process};
pub use protocol::ProgramName;
use protocol::{ProgramMessage, ProgramReply, write_line};
pub(crate) use script::ProgramAlarm;
use script::Script;

/// The maximum time until a program is ready. Some programs first load a model.
const START_TIMEOUT: Duration = Duration::from_secs(30);

/// The maximum number of idle processes kept, since each takes memory. In a run with more programs, the remaining
/// programs are started again for each transcript.
const MAX_IDLE_PROCESSES: usize = 64;

/// A program's answer to a transcript: an alarm, none, or the program's error.
pub(crate) type ProgramAnswer = Result<Option<ProgramAlarm>, String>;

/// The running programs of a plan. Dropping the value kills them.
#[derive(Default)]
pub struct Programs {
    pools: Vec<ProcessPool>,
    /// The number of idle processes in all pools.
    idle_count: AtomicUsize,
    /// Set once a program has exceeded its error limit.
    failing: AtomicBool,
}

/// The idle processes of one program. Threads start further processes as needed.
struct ProcessPool {
    source: PlanProgram,
    ready: ProgramName,
    idle: Mutex<Vec<Process>>,
    errors: Mutex<ProgramErrors>,
}

#[derive(Default)]
struct ProgramErrors {
    count: u64,
    /// The last error, with its transcript.
    last: String,
}

/// The reasons why the programs of a plan cannot start.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StartError {
    /// A program cannot be started, or refuses its parameters.
    #[error("{command}: {what}")]
    Refused {
        /// The command line.
        command: String,
        /// The failure, with the end of the program's stderr.
        what: String,
    },
    /// The start was cancelled.
    #[error("interrupted while the detectors' programs started")]
    Interrupted,
}

impl StartError {
    fn new(program: &Program, halt: Halt) -> Self {
        match halt {
            Halt::Interrupted => Self::Interrupted,
            Halt::Failed(what) | Halt::Ended(what) => Self::Refused {
                command: command_line(program),
                what,
            },
        }
    }
}

impl Programs {
    /// Starts one process of each program of a plan and waits until all are ready. Further processes are started as
    /// needed.
    ///
    /// # Errors
    /// Returns the error of the first program, in the plan's order, that cannot be used.
    pub fn start(plan: &Plan, cancel: &AtomicBool) -> Result<Self, StartError> {
        let programs = Self::default();
        let stop = || cancel.load(Ordering::Relaxed);
        let start = |source: &PlanProgram| {
            let started = launch(&source.program, &stop);
            let (process, ready) =
                started.map_err(|halt| StartError::new(&source.program, halt))?;
            let pool = ProcessPool {
                source: source.clone(),
                ready,
                idle: Mutex::default(),
                errors: Mutex::default(),
            };
            programs.keep_idle(&pool, process);
            Ok(pool)
        };
        let started: Vec<_> = plan.sources().programs().par_iter().map(start).collect();
        Ok(Self {
            pools: started.into_iter().collect::<Result<_, _>>()?,
            ..programs
        })
    }

    /// Lists the programs in the plan's order, each with the name and version that it reported.
    pub fn list(&self) -> impl Iterator<Item = (&Program, &ProgramName)> {
        self.pools.iter().map(|p| (&p.source.program, &p.ready))
    }

    /// Returns the reason to end the run, if a program has failed on more transcripts than allowed.
    pub fn failure(&self) -> Option<String> {
        let too_many = |pool: &ProcessPool| {
            let (errors, max) = (lock(&pool.errors), pool.source.program.max_errors);
            (errors.count > max).then(|| {
                let command = command_line(&pool.source.program);
                format!(
                    "{command}: failed on more than max_errors = {max} transcripts, the last {}",
                    errors.last
                )
            })
        };
        self.pools.iter().find_map(too_many)
    }

    /// Returns whether the plan has no programs.
    pub fn is_empty(&self) -> bool {
        self.pools.is_empty()
    }

    /// Replays one transcript through every setting of `plan`, including those with programs. The programs must have
    /// been started for that plan. Text arrives in `chunks`, see [`decide`](crate::decide).
    ///
    /// # Errors
    /// Returns an error if `cancel` was raised while a program was running.
    pub fn decide(
        &self,
        plan: &Plan,
        transcript: &Transcript,
        chunks: Option<NonZeroU64>,
        cancel: &AtomicBool,
    ) -> PassResult<Record> {
        let answers = self.query_all(plan, transcript, chunks, cancel)?;
        Ok(decide_with(plan, transcript, chunks, &answers))
    }

    /// Returns the answer of each program to a transcript, in the plan's order.
    ///
    /// The programs must have been started for `plan`. Programs that are not in the guards of the transcript's model
    /// are skipped. Text arrives in `chunks`, see [`decide`](crate::decide).
    fn query_all(
        &self,
        plan: &Plan,
        transcript: &Transcript,
        chunks: Option<NonZeroU64>,
        cancel: &AtomicBool,
    ) -> PassResult<Vec<ProgramAnswer>> {
        if self.is_empty() {
            return Ok(Vec::new());
        }
        let stop = || cancel.load(Ordering::Relaxed) || self.failing.load(Ordering::Relaxed);
        let wanted = plan.programs_for(transcript.work());
        let mut scripts: BTreeMap<Option<Channel>, Result<Script, String>> = BTreeMap::new();
        let ask = |(i, pool): (usize, &ProcessPool)| {
            if !wanted.contains(&i) {
                return Ok(Ok(None));
            }
            let channel = pool.source.channel;
            let new = || Script::new(transcript, channel, chunks);
            let answer = match scripts.entry(channel).or_insert_with(new) {
                Ok(script) => self.query_pool(pool, script, &stop),
                Err(what) => Err(Halt::Failed(what.clone())),
            };
            match answer {
                Ok(result) => Ok(Ok(result)),
                Err(Halt::Interrupted) => Err(Interruption),
                Err(Halt::Failed(what) | Halt::Ended(what)) => {
                    Ok(Err(self.count_error(pool, &transcript.id, &what)))
                }
            }
        };
        self.pools.iter().enumerate().map(ask).collect()
    }

    /// Sends a transcript to a process of the pool and returns its alarm.
    ///
    /// If an idle process ends without an answer, a new process gets the transcript. The idle one may have ended after
    /// its last transcript, and such timing must not affect the result.
    fn query_pool(
        &self,
        pool: &ProcessPool,
        script: &Script,
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<ProgramAlarm>, Halt> {
        // The lock is held only while the process is taken out.
        let idle = lock(&pool.idle).pop();
        if let Some(process) = idle {
            self.idle_count.fetch_sub(1, Ordering::Relaxed);
            match self.query_process(pool, process, script, stop) {
                Err(Halt::Ended(_)) => {}
                answer => return answer,
            }
        }
        let (process, _) = launch(&pool.source.program, stop)?;
        self.query_process(pool, process, script, stop)
    }

    /// Sends a transcript to a process. Keeps the process if its answer is valid.
    fn query_process(
        &self,
        pool: &ProcessPool,
        mut process: Process,
        script: &Script,
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<ProgramAlarm>, Halt> {
        let timeout = Duration::from_millis(pool.source.program.timeout_ms);
        let answer = process.ask(script.blocks.clone(), timeout, stop);
        let result = answer.and_then(|line| parse_alarm(&line, script).map_err(Halt::Failed));
        match result {
            Ok(alarm) => {
                self.keep_idle(pool, process);
                Ok(alarm)
            }
            Err(Halt::Failed(what)) => Err(Halt::Failed(process.end_with_stderr(&what))),
            Err(Halt::Ended(what)) => Err(Halt::Ended(process.end_with_stderr(&what))),
            Err(Halt::Interrupted) => Err(Halt::Interrupted),
        }
    }

    /// Keeps an idle process, or drops it if enough are kept.
    fn keep_idle(&self, pool: &ProcessPool, process: Process) {
        if self.idle_count.fetch_add(1, Ordering::Relaxed) < MAX_IDLE_PROCESSES {
            lock(&pool.idle).push(process);
        } else {
            self.idle_count.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Counts an error and returns its message.
    fn count_error(&self, pool: &ProcessPool, transcript: &str, what: &str) -> String {
        let mut errors = lock(&pool.errors);
        errors.count += 1;
        errors.last = format!("{transcript}: {what}");
        if errors.count > pool.source.program.max_errors {
            self.failing.store(true, Ordering::Relaxed);
        }
        format!("{} {}: {what}", pool.ready.name, pool.ready.version)
    }
}

/// Starts a program and waits until it is ready.
fn launch(program: &Program, stop: &dyn Fn() -> bool) -> Result<(Process, ProgramName), Halt> {
    let mut hello = Vec::new();
    write_line(&ProgramMessage::hello(&program.params), &mut hello).map_err(Halt::Failed)?;
    let mut process = Process::start(&program.command).map_err(Halt::Failed)?;
    let answer = process.ask([hello].into(), START_TIMEOUT, stop);
    let ready = answer.and_then(|line| match ProgramReply::parse(&line) {
        Ok(ProgramReply::Ready(ready)) => Ok(ready),
        Ok(ProgramReply::Verdict { .. }) => Err(Halt::Failed("its answer is no ready".into())),
        Err(what) => Err(Halt::Failed(what)),
    });
    match ready {
        Ok(ready) => Ok((process, ready)),
        Err(Halt::Failed(what) | Halt::Ended(what)) => {
            let what = format!("{what}, after hello");
            Err(Halt::Failed(process.end_with_stderr(&what)))
        }
        Err(Halt::Interrupted) => Err(Halt::Interrupted),
    }
}

/// Parses the alarm in a program's answer.
fn parse_alarm(line: &[u8], script: &Script) -> Result<Option<ProgramAlarm>, String> {
    match ProgramReply::parse(line)? {
        ProgramReply::Ready(_) => Err("its answer is no verdict".into()),
        ProgramReply::Verdict {
            transcript: Some(of),
            ..
        } if of != script.transcript => Err(format!(
            "its verdict is of {of:?}, {:?} was asked",
            script.transcript
        )),
        ProgramReply::Verdict { alarm, .. } => {
            alarm.map(|raw| script.convert_alarm(&raw)).transpose()
        }
    }
}

/// Returns the command line of a program as a user would type it.
fn command_line(program: &Program) -> String {
    program.command.join(" ")
}

/// Locks a mutex, even after another thread panicked. Each change is a single step, so the data is always valid.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
