//! `detector!`: declares an entry of the registry.

/// Declares the registry entry of a detector, with the files of `detectors/NAME`: `exactly.md`, `presets.toml`,
/// `grid.toml` and `examples.txt`. Other fields of [`Detector`](crate::harness::Detector) may follow `measure`.
macro_rules! detector {
    (
        $entry:ident = $name:literal, version $version:literal, $about:literal,
        params: $params:expr, check: $check:expr, measure: $measure:expr $(, $field:ident: $value:expr)* $(,)?
    ) => {
        /// The registry entry.
        pub(in crate::detectors) static $entry: $crate::detectors::Detector = $crate::detectors::Detector {
            spec: $crate::settings::spec::Spec {
                name: $name,
                version: $version,
                about: $about,
                exactly: $crate::detectors::entry::data!($name, "exactly.md"),
                params: $params,
                presets: $crate::detectors::entry::data!($name, "presets.toml"),
                check: $check,
            },
            grid: $crate::detectors::entry::data!($name, "grid.toml"),
            examples: $crate::detectors::entry::data!($name, "examples.txt"),
            $($field: $value,)*
            ..$crate::detectors::Detector::with_measure($measure)
        };
    };
}

/// Embeds a file of the folder of a detector.
macro_rules! data {
    ($name:literal, $file:literal) => {
        include_str!(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/src/detectors/",
            $name,
            "/",
            $file
        ))
    };
}

pub(crate) use data;
pub(crate) use detector;
