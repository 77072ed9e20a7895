//! What to copy into a product that runs an agent: every event into the guard, every message into the context's budget, and
//! what comes of an alarm, a warning, and a prompt that no longer fits.

use deadloop_detect::{
    Alarm, Arguments, Context, ContextBudget, Decision, Event, Guard, Guards, Kind, Pushed,
    Response, Room, TextChannel, estimated_tokens,
};

/// What the model makes of the conversation.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    /// It calls a tool.
    Call { name: String, arguments: String },
    /// It answers the user.
    Message(String),
}

/// A model: sees what was said and done, and replies.
pub(crate) trait Model {
    fn reply(&mut self, conversation: &[String]) -> Reply;

    /// What is to be remembered of old messages, in at most so many tokens.
    fn summary(&mut self, old: &[String], tokens: u64) -> String;
}

/// Runs a call; `Err`: what it says of its failure.
pub(crate) trait Toolbox {
    fn run(&mut self, name: &str, arguments: &str) -> Result<String, String>;
}

/// An agent with its guards.
pub(crate) struct Agent {
    pub(crate) guards: Guards,
    pub(crate) budget: ContextBudget,
}

/// How a run ended.
#[derive(Debug, Default)]
pub(crate) struct End {
    /// What the user was told last.
    pub(crate) said: String,
    /// What went into the log, a line each.
    pub(crate) log: Vec<String>,
    /// Calls that ran.
    pub(crate) ran: usize,
    /// Whether a guard stopped it.
    pub(crate) stopped: bool,
}

impl Agent {
    /// Works on the messages of a user, one after the other.
    pub(crate) fn run(
        &self,
        model_name: &str,
        model: &mut dyn Model,
        tools: &mut dyn Toolbox,
        messages: &[String],
    ) -> End {
        let mut run = Run {
            guard: self.guards.guard(model_name),
            context: Context::new(self.budget),
            conversation: Vec::new(),
            end: End::default(),
            calls: 0,
        };
        for message in messages {
            run.keep(format!("user: {message}"));
            // Guards with `reset = "user"` forget here what they have seen.
            let _no_call_yet = run.tell(&Event::User(message));
            if let Some(why) = run.answer(model, tools) {
                run.end.stopped = true;
                run.end.said = why;
                break;
            }
        }
        run.end
    }
}

/// One run.
struct Run {
    guard: Guard,
    context: Context,
    conversation: Vec<String>,
    end: End,
    calls: usize,
}

impl Run {
    /// Turn after turn, until the model answers; `Some`: the run was stopped, and what the user is told.
    fn answer(&mut self, model: &mut dyn Model, tools: &mut dyn Toolbox) -> Option<String> {
        loop {
            // Before the model is asked: limits and what is told of ended turns.
            if let Decision::Stop(alarm) = self.tell(&Event::Turn { agent: None }) {
                return Some(alarm.user_message());
            }
            if !self.fits(model) {
                return Some("The conversation has become too long to go on.".into());
            }
            match model.reply(&self.conversation) {
                Reply::Message(text) => {
                    let decision = self.tell(&Event::Text(TextChannel::Answer, &text));
                    self.keep(format!("assistant: {text}"));
                    self.end.said = text;
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

    /// Makes room where the prompt is above the budget's threshold; false: it is too long all the same.
    fn fits(&mut self, model: &mut dyn Model) -> bool {
        loop {
            match self.context.before_turn() {
                Room::Enough { .. } => return true,
                Room::Overflow { tokens } => {
                    self.end
                        .log
                        .push(format!("stopped: a prompt of {tokens} tokens"));
                    return false;
                }
                Room::Tight {
                    tokens,
                    keep,
                    summary,
                } => {
                    let old = self.conversation.len() - keep;
                    let text = model.summary(&self.conversation[..old], summary);
                    let text = format!("summary: {text}");
                    // What is counted is what it became, whatever was asked for.
                    self.context.fold(keep, estimated_tokens(&text));
                    self.conversation.splice(..old, [text]);
                    let line = format!("summarised: {old} messages, {tokens} tokens before it");
                    self.end.log.push(line);
                }
            }
        }
    }

    /// A message more, in the conversation and in its budget.
    fn keep(&mut self, message: String) {
        self.context.push(estimated_tokens(&message));
        self.conversation.push(message);
    }

    /// One call: into the guard, then it is run, then its result into the guard.
    fn call(&mut self, tools: &mut dyn Toolbox, name: &str, arguments: &str) -> Option<Alarm> {
        self.calls += 1;
        let id = format!("call-{}", self.calls);
        let call = Event::Call {
            id: Some(&id),
            name,
            arguments: Arguments::Raw(arguments),
        };
        self.keep(format!("call: {name} {arguments}"));
        let result = match self.tell(&call) {
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
        stopped(self.tell(&Event::Result {
            id: Some(&id),
            content: &content,
            error: Some(error),
            cut: None,
        }))
    }

    /// Tells the guard of an event: warnings go to the model as a remark, every alarm into the log.
    fn tell(&mut self, event: &Event<'_>) -> Decision {
        let Pushed { decision, warnings } = self.guard.push(event);
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

/// The alarm that ends the run, if one does.
fn stopped(decision: Decision) -> Option<Alarm> {
    decision
        .into_alarm()
        .filter(|alarm| alarm.response == Response::Stop)
}

/// What the model is told of a warning.
fn remark(warning: &Alarm) -> &'static str {
    match warning.kind {
        Kind::Iterations => "Few steps are left. Come to an end.",
        _ => "You have done this before. Try another way, or finish.",
    }
}
