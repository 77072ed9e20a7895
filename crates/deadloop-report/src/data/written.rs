//! A setting as a settings file writes it, from the columns of the scores.

use super::{ReportData, SettingRow, member, short};
use deadloop_score::replay::detect::harness::{Detector, Literal};
use deadloop_score::replay::detect::{Settings, Value};
use std::fmt::Write as _;

impl ReportData {
    /// The text of a settings file with this setting. `None` where the columns do not say all of it (on which channel
    /// a member is, which program it is): the text would be of another setting.
    pub fn toml(&self, setting: usize) -> Option<String> {
        let this = self.settings.get(setting)?;
        let text = self.lines(this)?;
        let read = Settings::parse(&text).ok()?;
        (read.id() == this.id).then_some(text)
    }

    fn lines(&self, this: &SettingRow) -> Option<String> {
        let mut text = String::new();
        let mut before = None;
        for (name, value) in self.parameters.iter().zip(&this.params) {
            let Some(value) = value else { continue };
            let (member, param) = (member(name), short(name));
            let detector = detector(member)?;
            if before != Some(member) {
                // Writing into a String cannot fail.
                let gap = if text.is_empty() { "" } else { "\n" };
                let detector = detector.name;
                let _ = writeln!(
                    text,
                    "{gap}[[guard]]\ndetector = \"{detector}\"\n[guard.params]"
                );
            }
            before = Some(member);
            let value = match detector.param(param)?.default {
                Literal::Text(_) => Value::Text(value.to_string()).to_string(),
                _ => value.to_string(),
            };
            let _ = writeln!(text, "{param} = {value}");
        }
        before.map(|_| text)
    }
}

/// The detector of a member; the second of the same is called `periodic-2`.
pub(super) fn detector(member: &str) -> Option<&'static Detector> {
    let name = match member.rsplit_once('-') {
        Some((name, n)) if n.parse::<usize>().is_ok() => name,
        _ => member,
    };
    Detector::find(name)
}
