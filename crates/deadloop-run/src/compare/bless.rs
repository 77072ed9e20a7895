//! [`BaselineUpdate`]: replaces the baseline BASE by NEW.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use deadloop_corpus::{check_writable, claim, if_exists, read_text};
use deadloop_score::write_text;

use super::ComparisonOptions;
use crate::failure::{Code, RunResult};
use crate::folder::result_files;
use crate::host::Host;
use crate::option::{BLESS, CSV};
use crate::words::several;

/// The files that make a folder a comparable result.
const RESULT_FILES: [&str; 2] = ["manifest.json", "outcomes.csv"];

/// The contents of the text files of a result, by name.
type ResultTexts = BTreeMap<String, String>;

/// The replacement of a baseline by a new result.
pub(super) struct BaselineUpdate<'a> {
    base: &'a Path,
    new: ResultTexts,
    /// The names of the files of the baseline.
    old: BTreeSet<String>,
}

impl<'a> BaselineUpdate<'a> {
    /// Reads the folders BASE and NEW.
    ///
    /// # Errors
    /// Returns an error if NEW is not a result with CSV tables, or if BASE holds something else.
    pub(super) fn from_options(args: &'a ComparisonOptions) -> RunResult<Self> {
        let new = read_texts(&args.new)?;
        if !is_result(&new) {
            let what = format!(
                "holds no outcomes.csv beside manifest.json; expected a result of replay or tune with {CSV}"
            );
            return Err(Code::Usage.at(BLESS, format!("{}: {what}", args.new.display())));
        }
        let old = read_texts(&args.base)?;
        if let (Some(name), false) = (old.keys().next(), is_result(&old)) {
            let what = "and is no baseline; choose another folder";
            let what = format!("{}: holds {name} {what}", args.base.display());
            return Err(Code::Usage.at(BLESS, what));
        }
        let old = old.into_keys().collect();
        Ok(Self {
            base: &args.base,
            new,
            old,
        })
    }

    /// Returns whether BASE is empty, so that nothing can be compared.
    pub(super) fn is_first(&self) -> bool {
        self.old.is_empty()
    }

    /// Writes the files of NEW into BASE, and removes files that NEW does not have. Each file has a temporary name
    /// until it is complete.
    pub(super) fn write(&self, host: &dyn Host) -> RunResult {
        let base = self.base.display();
        let _claim = std::fs::create_dir_all(self.base)
            .and_then(|()| claim(self.base))
            .and_then(|claim| check_writable(self.base).map(|()| claim))
            .map_err(|e| Code::Usage.error(format!("{base}: cannot be written to: {e}")))?;
        for (name, text) in &self.new {
            write_text(&self.base.join(name), text)?;
        }
        for name in self.old.iter().filter(|name| !self.new.contains_key(*name)) {
            std::fs::remove_file(self.base.join(name))?;
        }
        let n = several(self.new.len() as u64, "file");
        host.notify(&format!("{base}: the baseline now, {n}"));
        Ok(())
    }
}

/// Returns whether a folder with these texts is a comparable result.
fn is_result(tables: &ResultTexts) -> bool {
    RESULT_FILES.iter().all(|name| tables.contains_key(*name))
}

/// Reads the text files of a result folder. Empty if the folder does not exist.
fn read_texts(dir: &Path) -> RunResult<ResultTexts> {
    let kept = |file: &String| {
        file.ends_with(".csv") || ["manifest.json", "settings.toml"].contains(&file.as_str())
    };
    let mut found = ResultTexts::new();
    for name in result_files().into_keys().filter(kept) {
        let path = dir.join(&name);
        let text = if_exists(read_text(&path))
            .map_err(|e| Code::Usage.error(format!("{}: {e}", path.display())))?;
        found.extend(text.map(|text| (name, text)));
    }
    Ok(found)
}
