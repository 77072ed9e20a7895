//! [`FolderAnswer`]: the answer of a command that writes a result folder.

use std::fmt::{self, Display, Formatter};
use std::path::{Path, PathBuf};

use deadloop_report::Options;
use deadloop_score::Manifest;
use serde_json::json;

use crate::failure::{Code, Failure, RunResult};
use crate::folder::Folder;
use crate::host::Host;
use crate::layout::TextDocument;
use crate::option::FORCE;
use crate::report::render;
use crate::shards::PartSummary;
use crate::words::several;

/// The answer of a command that writes a result folder.
pub struct FolderAnswer {
    /// The path of the folder.
    pub out: PathBuf,
    /// The content of the folder.
    pub content: FolderContent,
    /// The failure that the finished command reports, such as too little data.
    pub failure: Option<Failure>,
    /// The id of a transcript worth explaining after a replay: a wrong alarm, else a miss, else a hit.
    pub worth_explaining: Option<String>,
    pub(crate) text: TextDocument,
}

/// The content of a result folder.
pub enum FolderContent {
    /// The plan of a dry run, as text. Nothing was written.
    Plan(String),
    /// The part of one shard.
    Part(PartSummary),
    /// The result of this run.
    Result(Box<Manifest>),
    /// The result of an earlier run of the same request.
    Earlier(Box<Manifest>),
}

impl FolderAnswer {
    pub(crate) fn new(out: &Path, content: FolderContent, failure: Option<Failure>) -> Self {
        Self {
            out: out.to_path_buf(),
            content,
            failure,
            worth_explaining: None,
            text: TextDocument::default(),
        }
    }

    /// Creates the answer for a folder that holds the result of the same request. A missing report is rendered again.
    pub(crate) fn from_earlier_run(
        folder: &Folder,
        manifest: Box<Manifest>,
        host: &dyn Host,
    ) -> RunResult<Self> {
        let dir = folder.path();
        host.notify(&format!(
            "{}: already holds these results; nothing to do ({FORCE} makes them anew)",
            dir.display()
        ));
        if !dir.join("report.html").is_file() {
            render(dir, &Options::default(), host)?;
        }
        let ended = manifest.ended.as_ref();
        let ended = ended.map(|ended| Code::of_result(ended.exit).error(&ended.reason));
        Ok(Self::new(dir, FolderContent::Earlier(manifest), ended))
    }

    /// Sets the text of the answer, and adds a line on rejected lines of the corpus.
    pub(crate) fn with_text(mut self, text: TextDocument) -> Self {
        self.text = text;
        if let FolderContent::Result(manifest) = &self.content
            && manifest.corpus.rejected > 0
        {
            let file = self.out.join("rejected.jsonl");
            let problems = several(manifest.corpus.rejected, "problem");
            let line = format!("{problems} rejected: see {}", file.display());
            self.text = self.text.lines(line);
        }
        self
    }
}

impl Display for FolderAnswer {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let FolderContent::Part(part) = &self.content {
            let all = several(part.records, "transcript");
            let (read, out) = (several(part.files, "file"), self.out.display());
            return write!(f, "shard {}: {all} of {read} in {out}", part.shard);
        }
        if let FolderContent::Plan(plan) = &self.content {
            return f.write_str(plan);
        }
        self.text.fmt(f)
    }
}

serialize_as_json!(FolderAnswer, this => {
    let mut answer = json!({"out": this.out.display().to_string()});
    match &this.content {
        FolderContent::Plan(plan) => answer["plan"] = plan.as_str().into(),
        FolderContent::Part(part) => {
            answer["shard"] = part.shard.as_str().into();
            answer["files"] = part.files.into();
            answer["records"] = part.records.into();
        }
        FolderContent::Result(manifest) | FolderContent::Earlier(manifest) => {
            for (key, value) in &manifest.summary {
                answer[key] = value.clone();
            }
            if let Some(ended) = &manifest.ended {
                answer["exit"] = ended.exit.into();
                answer["reason"] = ended.reason.as_str().into();
            }
        }
    }
    answer
});
