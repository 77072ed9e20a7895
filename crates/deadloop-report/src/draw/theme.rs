//! The inks of the charts, each with a colour on light and a colour on dark paper.
//!
//! A chart uses an [`Ink`]. plotters writes its light colour, and the CSS replaces it by the colour of the page's
//! theme. So the same SVG works in a page, where it follows the page's toggle, and as a file with the CSS inside it.
//! The inks of series are based on those of Okabe and Ito, changed until each has a contrast of at least 3:1 against
//! its paper. The hatching has this contrast against the covered area. No chart depends on colours alone.

use plotters::style::RGBColor;
use std::fmt::Write as _;

macro_rules! inks {
    ($($ink:ident, $class:literal, $light:literal, $dark:literal;)*) => {
        /// The role of a drawn element, with its colours in both themes.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Ink { $(#[doc = concat!("`", $class, "`: ", $light, " on light, ", $dark, " on dark.")] $ink,)* }

        /// Every ink, in the order of the enum.
        const INKS: &[(Ink, &str, &str, &str)] = &[$((Ink::$ink, $class, $light, $dark),)*];
    };
}

inks! {
    Paper, "paper", "#ffffff", "#15181d";
    Text, "text", "#1c2127", "#e8eaed";
    Muted, "muted", "#56606b", "#a7b1bc";
    Grid, "grid", "#e4e8ec", "#2b3139";
    Axis, "axis", "#98a2ac", "#5b6570";
    Band, "band", "#f5f7f9", "#1b1f25";
    Current, "current", "#0072b2", "#56b4e9";
    Chosen, "chosen", "#cc4e00", "#ff8f54";
    Third, "third", "#00805f", "#35c79b";
    Fourth, "fourth", "#a1487f", "#e59cc8";
    Fifth, "fifth", "#8f6000", "#e3b530";
    Sixth, "sixth", "#4b57a0", "#a5b2f3";
    Seventh, "seventh", "#565656", "#c2c2c2";
    Eighth, "eighth", "#8c1d18", "#ff9c94";
    Limit, "limit", "#b3261e", "#f28b82";
    Hatch, "hatch", "#848d97", "#667280";
    Void, "void", "#f7f8f9", "#1a1e23";
    OnHigh, "onhigh", "#fffffe", "#0c151d";
    Sequence0, "q0", "#eef4fa", "#1b2530";
    Sequence1, "q1", "#d3e4f3", "#1f3448";
    Sequence2, "q2", "#abcde6", "#234a6b";
    Sequence3, "q3", "#7cb1d8", "#2c6694";
    Sequence4, "q4", "#3a7db2", "#4b8dbf";
    Sequence5, "q5", "#20649a", "#7ab0da";
    Sequence6, "q6", "#0b4272", "#b7d9f2";
}

/// The number of inks for heatmaps.
pub(crate) const HEATMAP_INKS: usize = 7;

/// The number of inks for series.
const SERIES_INKS: usize = 8;

impl Ink {
    /// Returns the ink of a series. The first two are those of the setting in use and the chosen setting.
    pub(crate) fn series(nth: usize) -> Self {
        INKS[Self::Current as usize + nth % SERIES_INKS].0
    }

    /// Returns the ink of a step of heatmaps. Step 0 is the lowest.
    pub(crate) fn heatmap_step(nth: usize) -> Self {
        INKS[Self::Sequence0 as usize + nth.min(HEATMAP_INKS - 1)].0
    }

    /// Returns the light colour for plotters. In the SVG, the colour identifies the ink.
    pub(crate) fn color(self) -> RGBColor {
        let part = |at: usize| u8::from_str_radix(&self.light()[at..at + 2], 16).unwrap_or(0);
        RGBColor(part(1), part(3), part(5))
    }

    /// Returns the colour on light paper, for viewers without CSS.
    pub(crate) fn light(self) -> &'static str {
        INKS[self as usize].2
    }
}

/// Returns the CSS variables `--c-<ink>` of both themes.
///
/// They are light by default, and dark by the preference of the system or by `data-theme` on the root element of a
/// page. Print is light.
pub(crate) fn variables_css() -> String {
    let list = |dark: bool| {
        INKS.iter().fold(String::new(), |mut css, ink| {
            let _ = write!(css, "--c-{}:{};", ink.1, if dark { ink.3 } else { ink.2 });
            css
        })
    };
    format!(
        ":root{{{light}color-scheme:light dark}}\n\
         @media(prefers-color-scheme:dark){{:root{{{dark}}}}}\n\
         :root[data-theme=light]{{{light}color-scheme:light}}\n\
         :root[data-theme=dark]{{{dark}color-scheme:dark}}\n\
         @media print{{:root:root{{{light}color-scheme:light}}}}\n",
        light = list(false),
        dark = list(true)
    )
}

/// Returns the CSS that replaces the light colour of each ink by its variable.
pub(crate) fn chart_css() -> String {
    INKS.iter().fold(
        String::from(".chart text{font-family:system-ui,-apple-system,\"Segoe UI\",Roboto,\"Noto Sans\",\"Helvetica Neue\",Arial,\"Noto Sans CJK SC\",\"PingFang SC\",\"Microsoft YaHei\",\"WenQuanYi Micro Hei\",\"Droid Sans Fallback\",sans-serif}\n"),
        |mut css, ink| {
            let _ = writeln!(css, ".chart [fill=\"{1}\" i]{{fill:var(--c-{0})}}.chart [stroke=\"{1}\" i]{{stroke:var(--c-{0})}}", ink.1, ink.2);
            css
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn luminance(color: &str) -> f64 {
        let part = |at: usize| {
            let part = f64::from(u8::from_str_radix(&color[at..at + 2], 16).unwrap()) / 255.0;
            if part <= 0.04045 {
                part / 12.92
            } else {
                ((part + 0.055) / 1.055).powf(2.4)
            }
        };
        0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5)
    }

    fn contrast(a: &str, b: &str) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn series_and_hatching_are_seen_in_both_themes() {
        let of = |ink: Ink| (INKS[ink as usize].2, INKS[ink as usize].3);
        let pairs = (0..SERIES_INKS).map(|nth| (Ink::series(nth), Ink::Paper));
        for (ink, ground) in pairs.chain([(Ink::Limit, Ink::Paper), (Ink::Hatch, Ink::Void)]) {
            let (light, dark) = (of(ink), of(ground));
            assert!(contrast(light.0, dark.0) >= 3.0, "{ink:?} on light");
            assert!(contrast(light.1, dark.1) >= 3.0, "{ink:?} on dark");
        }
    }
}
