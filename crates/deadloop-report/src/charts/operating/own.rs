//! Models on the operating curve: all of them, and the marks of what is in use and of what they get.

use super::{Curve, place, told};
use crate::data::{ALL_MODELS, ReportData};
use crate::draw::{Canvas, DrawError, Panel};
use std::collections::BTreeMap;

/// A model's own setting.
pub(super) struct Own<'d> {
    pub(super) model: &'d str,
    /// `in use` or `settings.toml`.
    pub(super) role: &'static str,
    pub(super) setting: usize,
    pub(super) at: (f64, f64),
}

/// Small marks on the lines, in their shapes.
pub(super) fn own_marks(
    data: &ReportData,
    (canvas, panel): (&Canvas, &Panel<'_>),
    curves: &[Curve<'_>],
) -> Result<(), DrawError> {
    for curve in curves {
        let Some(shape) = curve.shape else { continue };
        for one in own_points(data, curve.model) {
            let (ink, at) = (curve.pen.ink, panel.at(one.at.0, one.at.1));
            let titled = canvas.title(format!(
                "{}, {}: {}",
                one.model,
                one.role,
                told(data, one.at)
            ));
            match one.role {
                "in use" => titled.hollow(at, shape, 4.2, ink)?,
                _ => titled.mark(at, shape, 4.2, ink)?,
            }
        }
    }
    Ok(())
}

/// What is in use, and what `settings.toml` holds for a model.
pub(super) fn own_points<'d>(data: &'d ReportData, model: &'d str) -> Vec<Own<'d>> {
    let settings = [
        ("in use", data.in_use()),
        ("settings.toml", data.held_for(model)),
    ];
    let own = |(role, setting): (&'static str, Option<usize>)| {
        let setting = setting?;
        Some(Own {
            model,
            role,
            setting,
            at: place(data, data.score(setting, model)?)?,
        })
    };
    settings.into_iter().filter_map(own).collect()
}

/// Every model, those with the most loops first.
pub(super) fn models(data: &ReportData) -> Vec<&str> {
    let mut loops: BTreeMap<&str, u64> = BTreeMap::new();
    for score in data.scores.iter().filter(|score| score.model != ALL_MODELS) {
        let most = loops.entry(&score.model).or_default();
        *most = score.loops().max(*most);
    }
    let mut models: Vec<(&str, u64)> = loops.into_iter().collect();
    models.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    models.into_iter().map(|(model, _)| model).collect()
}
