//! The dots of the planes, as JSON for the page.
//!
//! `templates/plane.js` reads the JSON from a script element that is never executed, and shows the clicked dot.

use crate::charts::{Plane, draw_planes};
use crate::data::{ALL_MODELS, Differences, ReportData};
use crate::numbers::{count, formatter_of};
use crate::pack::pack;
use crate::page::PageError;
use crate::visible::visible;
use deadloop_score::format_value;
use deadloop_score::sentences::wrong_and_transient;
use serde::Serialize;
use std::collections::BTreeMap;

/// The plane of a model, prepared for the page.
#[derive(Serialize)]
pub(crate) struct PlanePicture {
    /// The visible name of the model. Empty for all models together.
    model: String,
    svg: String,
}

/// The dots of all planes, as the page reads them.
#[derive(Serialize)]
struct PlaneData {
    /// The dots of each plane.
    planes: Vec<Vec<DotView>>,
    /// The settings files, without duplicates.
    files: Vec<FileView>,
}

/// A settings file, and its differences from a known guard.
#[derive(Serialize)]
struct FileView {
    toml: String,
    differs: Option<Differences>,
}

/// The settings files, and the index of the file of each setting. `None` for a setting without a file.
type PlaneFiles = (Vec<FileView>, BTreeMap<usize, Option<usize>>);

/// A dot, prepared for the page.
#[derive(Serialize)]
struct DotView {
    name: String,
    /// The titles of measures, with their formatted values.
    figures: Vec<(String, String)>,
    /// The index of the settings file. `None` if the setting has no file.
    file: Option<usize>,
}

/// Returns the pictures of the planes, and their dots as compressed JSON. `None` if there is no plane.
pub(crate) fn embedded_planes(
    data: &ReportData,
) -> Result<Option<(Vec<PlanePicture>, String)>, PageError> {
    let planes = draw_planes(data)?;
    if planes.is_empty() {
        return Ok(None);
    }
    let mut files = PlaneFiles::default();
    let dots = planes.iter().map(|one| dot_views(data, one, &mut files));
    let embedded = PlaneData {
        planes: dots.collect(),
        files: files.0,
    };
    let json = pack(&serde_json::to_vec(&embedded).map_err(std::io::Error::from)?)?;
    let picture = |plane: Plane<'_>| PlanePicture {
        model: match plane.model {
            ALL_MODELS => String::new(),
            model => visible(model).into_owned(),
        },
        svg: plane.svg,
    };
    Ok(Some((planes.into_iter().map(picture).collect(), json)))
}

/// Prepares the dots of a plane, and adds the settings files of new settings.
fn dot_views(
    data: &ReportData,
    plane: &Plane<'_>,
    (files, known): &mut PlaneFiles,
) -> Vec<DotView> {
    let mut file = |setting: usize| {
        *known.entry(setting).or_insert_with(|| {
            let toml = data.toml(setting)?.to_owned();
            let differs = data.differences(setting);
            files.push(FileView { toml, differs });
            Some(files.len() - 1)
        })
    };
    let shown = plane.dots.iter().map(|dot| DotView {
        name: visible(&data.describe(dot.setting)).into_owned(),
        figures: figures(data, plane.model, dot.setting)
            .chain(held_out(data, plane.model, dot.setting))
            .chain((dot.settings > 1).then(|| {
                let here = format!("{}, of which this is the best", count(dot.settings as u64));
                ("settings here".to_owned(), here)
            }))
            .chain([(
                "in scores.parquet".to_owned(),
                data.settings[dot.setting].id.clone(),
            )])
            .collect(),
        file: file(dot.setting),
    });
    shown.collect()
}

/// Returns the held-out figures of a setting, under the strictest limit for which the choice took it.
fn held_out(data: &ReportData, model: &str, setting: usize) -> Option<(String, String)> {
    let advice = data.advice.as_ref().filter(|_| model == ALL_MODELS)?;
    let id = &data.settings[setting].id;
    let rung = advice.limits.iter().find(|rung| rung.setting == *id)?;
    let (objective, figures) = (data.run.objective.0, &rung.held_out);
    let value = format_value(objective, figures.objective);
    let alarms = wrong_and_transient(figures.wrong, figures.transient);
    let text = format!("{} {value}, {alarms}", objective.name);
    Some(("held out".to_owned(), text))
}

/// Returns the titles and the in-sample values of the measures in the table of choices.
fn figures<'d>(
    data: &'d ReportData,
    model: &str,
    setting: usize,
) -> impl Iterator<Item = (String, String)> + use<'d> {
    let score = data.score(setting, model);
    let shown = data.run.table_measures().into_iter();
    shown.filter_map(move |measure| {
        let score = score?;
        let mut text = formatter_of(measure)(score.value(measure));
        if measure.is_wrong_rate() {
            let transient = score.scores.tally.get(deadloop_score::Count::TransientStop);
            text = format!(
                "{text} ({})",
                wrong_and_transient(score.scores.tally.wrong(), transient)
            );
        }
        Some((measure.title_in(data.run.unit).into_owned(), text))
    })
}
