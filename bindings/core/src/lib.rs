//! What the packages for Python and node share: everything but the two languages.
//!
//! | to find | look in |
//! |---|---|
//! | a settings file as guards, with how it splits thinking | [`Guards`] |
//! | the bytes of a streamed response through a guard | [`Live`] |
//! | strings of UTF-16 that may be cut inside a char, and positions in them | [`Lane`] |
//! | an alarm as JSON | [`alarm_json`] |

mod guards;
mod live;
mod utf16;

pub use guards::{Guards, ReadError};
pub use live::Live;
pub use utf16::Lane;

use deadloop_detect::{Alarm, Channel};
use serde::Serialize;

/// An alarm as JSON: its fields, and what it says to a log (`log_line`) and to a user (`user_message`).
pub fn alarm_json(alarm: &Alarm) -> String {
    #[derive(Serialize)]
    struct Told<'a> {
        #[serde(flatten)]
        alarm: &'a Alarm,
        what: String,
        log_line: String,
        user_message: String,
    }
    let told = Told {
        alarm,
        what: alarm.what(),
        log_line: alarm.log_line(),
        user_message: alarm.user_message(),
    };
    // Plain data with text as keys: nothing in it can fail.
    serde_json::to_string(&told).unwrap_or_default()
}

/// The channel of text with that name.
///
/// # Errors
/// It is none; what there is.
pub fn channel(name: &str) -> Result<Channel, String> {
    let found = Channel::LANES.into_iter().find(|c| c.name() == name);
    found.ok_or_else(|| {
        format!("no channel of text is called {name:?}; there is: reasoning, answer, arguments")
    })
}
