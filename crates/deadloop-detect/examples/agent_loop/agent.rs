//! An agent loop with a guard and a context budget, to copy into a product.
//!
//! Every event goes into the guard, every message into the budget. The loop handles alarms, warnings, and a prompt
//! that no longer fits.

use deadloop_detect::{
    Alarm, Arguments, Context, ContextBudget, Decision, Event, Guard, Guards, Kind, PromptStatus,
    PushResult, Response, TextChannel, estimate_tokens,
};

/// A model's reply to the conversation.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    /// A call of a tool.
    Call { name: String, arguments: String },
    /// An answer to the user.
    Message(String),
}

/// A model that replies to a conversation.
pub(crate) trait Model {
    fn reply(&mut self, conversation: &[String]) -> Reply;

    /// Summarises old messages in at most `tokens` tokens.
    fn summary(&mut self, old: &[String], tokens: u64) -> String;
}

/// Tools that run calls. `Err` has the text of the failure.
pub(crate) trait Toolbox {
    fn run(&mut self, name: &str, arguments: &str) -> Result<String, String>;
}

/// An agent with its guards.
pub(crate) struct Agent {
    pub(crate) guards: Guards,
    pub(crate) budget: ContextBudget,
}

/// The outcome of a run.
#[derive(Debug, Default)]
pub(crate) struct RunEnd {
    /// The last message to the user.
    pub(crate) message: String,
    /// The log, one entry per line.
    pub(crate) log: Vec<String>,
    /// Calls that ran.
    pub(crate) ran: usize,
    /// Whether a guard stopped it.
    pub(crate) stopped: bool,
}

impl Agent {
    /// Runs the agent on a user's messages, one after the other.
    pub(crate) fn run(
        &self,
        model_name: &str,
        model: &mut dyn Model,
        tools: &mut dyn Toolbox,
        messages: &[String],
    ) -> RunEnd {
        let mut run = Run {
            guard: self.guards.guard(model_name),
            context: Context::new(self.budget),
            conversation: Vec::new(),
            end: RunEnd::default(),
            calls: 0,
        };
        for message in messages {
            run.keep(format!("user: {message}"));
            // Detectors with `reset = "user"` are reset here.
            let _no_call_yet = run.push_event(&Event::User(message));
            if let Some(why) = run.answer(model, tools) {
                run.end.stopped = true;
                run.end.message = why;
                break;
            }
        }
        run.end
    }
}

/// The state of one run.
struct Run {
    guard: Guard,
    context: Context,
    conversation: Vec<String>,
    end: RunEnd,
    calls: usize,
}

impl Run {
    /// Runs turns until the model answers. Returns the message to the user if the run was stopped.
    fn answer(&mut self, model: &mut dyn Model, tools: &mut dyn Toolbox) -> Option<String> {
        loop {
            // Limits, and alarms about ended turns, come before the request.
            if let Decision::Stop(alarm) = self.push_event(&Event::Turn { agent: None }) {
                return Some(alarm.user_message());
            }
            if !self.fits(model) {
                return Some("The conversation has become too long to go on.".into());
            }
            match model.reply(&self.conversation) {
                Reply::Message(text) => {
                    let decision = self.push_event(&Event::Text(TextChannel::Answer, &text));
                    self.keep(format!("assistant: {text}"));
                    self.end.message = text;
                    return stopped(decision).map(|alarm| alarm.user_message());
                }
                Reply::Call { name, arguments } => {
                    if let Some(alarm) = self.call(tools, &name, &arguments) {
                        return Some(alarm.user_message());
                    }
                }
            }
        }
    }

    /// Summarises old messages while the prompt is above the budget's threshold. Returns false if the prompt still
    /// does not fit.
    fn fits(&mut self, model: &mut dyn Model) -> bool {
        loop {
            match self.context.before_turn() {
                PromptStatus::Fits { .. } => return true,
                PromptStatus::Overflow { tokens } => {
                    self.end
                        .log
                        .push(format!("stopped: a prompt of {tokens} tokens"));
                    return false;
                }
                PromptStatus::Long {
                    tokens,
                    keep,
                    summary,
                } => {
                    let old = self.conversation.len() - keep;
                    let text = model.summary(&self.conversation[..old], summary);
                    let text = format!("summary: {text}");
                    // The actual length counts, which may exceed the requested one.
                    self.context.fold(keep, estimate_tokens(&text));
                    self.conversation.splice(..old, [text]);
                    let line = format!("summarised: {old} messages, {tokens} tokens before it");
                    self.end.log.push(line);
                }
            }
        }
    }

    /// Adds a message to the conversation and to its budget.
    fn keep(&mut self, message: String) {
        self.context.push(estimate_tokens(&message));
        self.conversation.push(message);
    }

    /// Runs a call: passes the call to the guard, runs the tool, passes the result to the guard. Returns the alarm if
    /// the guard stops the run.
    fn call(&mut self, tools: &mut dyn Toolbox, name: &str, arguments: &str) -> Option<Alarm> {
        self.calls += 1;
        let id = format!("call-{}", self.calls);
        let call = Event::Call {
            id: Some(&id),
            name,
            arguments: Arguments::Raw(arguments),
        };
        self.keep(format!("call: {name} {arguments}"));
        let result = match self.push_event(&call) {
            Decision::Refuse(_) => {
                Err("This call was refused: you made it before. Do something else.".into())
            }
            Decision::Stop(alarm) => return Some(alarm),
            Decision::Continue => {
                self.end.ran += 1;
                tools.run(name, arguments)
            }
        };
        let error = result.is_err();
        let content = result.unwrap_or_else(|failure| failure);
        self.keep(format!("result: {content}"));
        stopped(self.push_event(&Event::Result {
            id: Some(&id),
            content: &content,
            error: Some(error),
            cut: None,
        }))
    }

    /// Passes an event to the guard. Warnings are remarks to the model, and all alarms are logged.
    fn push_event(&mut self, event: &Event<'_>) -> Decision {
        let PushResult { decision, warnings } = self.guard.push(event);
        for warning in &warnings {
            self.log("warned", warning);
            self.keep(format!("system: {}", remark(warning)));
        }
        match &decision {
            Decision::Continue => {}
            Decision::Refuse(alarm) => self.log("refused", alarm),
            Decision::Stop(alarm) => self.log("stopped", alarm),
        }
        decision
    }

    fn log(&mut self, what: &str, alarm: &Alarm) {
        self.end.log.push(format!("{what}: {}", alarm.log_line()));
    }
}

/// Returns the alarm if the decision stops the run.
fn stopped(decision: Decision) -> Option<Alarm> {
    decision
        .into_alarm()
        .filter(|alarm| alarm.response == Response::Stop)
}

/// Returns the remark that the model gets for a warning.
fn remark(warning: &Alarm) -> &'static str {
    match warning.kind {
        Kind::Iterations => "Few steps are left. Come to an end.",
        _ => "You have done this before. Try another way, or finish.",
    }
}
