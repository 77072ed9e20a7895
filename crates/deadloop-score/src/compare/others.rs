//! A side from a folder of `repair` or of `budget`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use deadloop_replay::detect::Seen;
use deadloop_tables::{Rows, Table};

use super::side::{Adds, Fate, Fit, Judged, Side, SideError, SideSeen, Spot, no_setting};
use crate::budget::BudgetRunRow;
use crate::files::cases::{About, DescribedCases, read_cases};
use crate::files::repairs::RepairRow;
use crate::files::store::{FileError, read_table};
use crate::judge::{Mended, Verdict};
use crate::repairs::RepairTally;
use crate::tally::Sums;

/// The side of a folder of repairers or budgets; `None` of any other folder.
pub(super) fn read(dir: &Path, wanted: Option<&str>) -> Result<Option<Side>, SideError> {
    if let Some(table) = read_table(dir, "repairs")? {
        return Found::read(dir, wanted, &table)?.repairs(dir).map(Some);
    }
    if let Some(table) = read_table(dir, "budget_runs")? {
        return Ok(Some(Found::read(dir, wanted, &table)?.budgets()));
    }
    Ok(None)
}

/// A folder, and which of its settings are meant: each for what it is chosen for.
struct Found<'t> {
    source: String,
    name: String,
    about: About,
    cases: DescribedCases,
    /// The ids of the settings.
    meant: BTreeSet<String>,
    rows: Rows<'t>,
}

impl<'t> Found<'t> {
    /// Those that have the name `wanted`, or are chosen.
    fn read(dir: &Path, wanted: Option<&str>, table: &'t Table) -> Result<Self, SideError> {
        let source = dir.display().to_string();
        let (about, cases) = read_cases(dir)?.ok_or_else(|| SideError::NoCases(source.clone()))?;
        let name = wanted.unwrap_or("chosen");
        let is_meant = |id: &str, names: &[String]| id == name || names.iter().any(|n| n == name);
        let meant = about.settings.iter();
        let meant = meant.filter(|(id, described)| is_meant(id, &described.names));
        let meant: BTreeSet<String> = meant.map(|(id, _)| id.clone()).collect();
        if meant.is_empty() {
            return Err(no_setting(dir, Some(name), &about));
        }
        Ok(Self {
            source,
            name: name.to_owned(),
            cases,
            meant,
            about,
            rows: Rows::new(table),
        })
    }

    /// The places of the rows of the settings that are meant; `column` has the setting.
    fn places(&self, column: &str) -> impl Iterator<Item = usize> {
        let setting = move |row: &usize| self.rows.text(column, *row);
        let is_meant = move |row: &usize| setting(row).is_some_and(|id| self.meant.contains(id));
        (0..self.rows.count_rows()).filter(is_meant)
    }

    fn side(self, rows: Vec<Judged>, adds: Adds, settings: BTreeMap<String, String>) -> Side {
        let toml = |id| Some(self.about.settings.get(id)?.toml.as_str());
        let tomls = self.meant.iter().filter_map(toml);
        let tomls: Vec<&str> = tomls.filter(|toml| !toml.is_empty()).collect();
        Side {
            source: self.source,
            name: self.name,
            settings,
            toml: (!tomls.is_empty()).then(|| tomls.join("\n")),
            judge: self.about.judge,
            chunks: self.about.chunks,
            rows,
            adds,
            labels: self.cases.labels,
        }
    }

    /// Streams in the hands of the variants that are meant: of each repairer one.
    fn repairs(self, dir: &Path) -> Result<Side, SideError> {
        let (mut rows, mut adds, mut settings) = (Vec::new(), Vec::new(), BTreeMap::new());
        for place in self.places("variant") {
            let row = RepairRow::read(&self.rows, place);
            let said = row.verdict.as_deref().unwrap_or_default();
            let verdict = Mended::named(said);
            if verdict.is_none() && said != "error" {
                return Err(no_verdict(dir, place, said).into());
            }
            let mut tally = RepairTally::default();
            verdict.into_iter().for_each(|verdict| tally.add(verdict));
            settings.insert(owned(&row.repairer), owned(&row.variant));
            let error = verdict.is_none().then(|| owned(&row.detail));
            rows.push(self.judged(OtherRow {
                fate: verdict.map_or(Fate::Guard(Verdict::Error), Fate::Repair),
                transcript: row.transcript,
                part: row.repairer,
                model: row.model,
                group: row.group,
                split: row.split,
                text: row.text,
                class: row.fault,
                error,
            }));
            adds.push(tally);
        }
        Ok(self.side(rows, Adds::Repairs(adds), settings))
    }

    /// Runs under the settings that are meant: in each world one.
    fn budgets(self) -> Side {
        let (mut rows, mut adds, mut settings) = (Vec::new(), Vec::new(), BTreeMap::new());
        for place in self.places("setting") {
            let row = BudgetRunRow::read(&self.rows, place);
            let over = row.overflow.is_some();
            settings.insert(owned(&row.world), owned(&row.setting));
            // Thousandths, so that sums are whole numbers.
            let parts = |tokens: Option<f64>| (1000.0 * tokens.unwrap_or(0.0)).round() as i64;
            let [price, cost, free] = [row.price, row.cost, row.cost_never].map(parts);
            adds.push(Sums([1, i64::from(over), price, cost, free]));
            rows.push(self.judged(OtherRow {
                fate: Fate::Budget(if over { Fit::Overflow } else { Fit::Fits }),
                transcript: row.transcript,
                part: row.world,
                model: row.model,
                group: row.group,
                split: row.split,
                text: row.text,
                class: None,
                error: None,
            }));
        }
        self.side(rows, Adds::Budgets(adds), settings)
    }

    fn judged(&self, row: OtherRow) -> Judged {
        let maybe = |text: &Shared| text.as_deref().map(str::to_owned);
        let transcript = owned(&row.transcript);
        let original = self.cases.copies.get(&transcript).unwrap_or(&transcript);
        Judged {
            part: owned(&row.part),
            model: owned(&row.model),
            cluster: maybe(&row.group).unwrap_or_else(|| transcript.clone()),
            split: maybe(&row.split),
            text: maybe(&row.text),
            class: maybe(&row.class),
            span: Spot::default(),
            seen: SideSeen {
                verdict: row.fate,
                alarm_at: None,
                alarm_channel: None,
                alarm_kind: None,
                detector: None,
                alarm_seen: Seen::default(),
            },
            error: row.error,
            original: original.clone(),
            transcript,
        }
    }
}

type Shared = Option<Arc<str>>;

/// What both tables say of a transcript.
struct OtherRow {
    fate: Fate,
    transcript: Shared,
    part: Shared,
    model: Shared,
    group: Shared,
    split: Shared,
    text: Shared,
    class: Shared,
    error: Option<String>,
}

fn owned(text: &Shared) -> String {
    text.as_deref().unwrap_or_default().to_owned()
}

fn no_verdict(dir: &Path, place: usize, said: &str) -> FileError {
    let row = place + 1;
    let what = format!("row {row}: verdict {said:?}; expected recovered, wrong, lost, …");
    FileError::at(&dir.join("repairs"), what)
}
