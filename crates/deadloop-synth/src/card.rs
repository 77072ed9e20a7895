//! The card of a synthetic corpus.

use super::spec::CorpusSpec;

impl CorpusSpec {
    /// Formats the card of the corpus, `dataset.toml`. `from` is the name of the spec.
    pub fn card(&self, from: &str) -> String {
        let mut card = toml::Table::new();
        let how = format!(
            "Made by `deadloop synth --spec {from}` from seed {}: the same spec, sources and seed give the same bytes. Planted loops are labelled by = planted, true by construction and checked; texts of forms and clean text by = construction.",
            self.seed
        );
        let table = &self.table;
        let own = table.how.as_ref().map(|own| format!("{own}\n\n"));
        let own = own.unwrap_or_default();
        let version = table.version.as_ref().map_or("1", |version| version);
        card.insert("name".into(), self.name.clone().into());
        card.insert("version".into(), version.into());
        for (key, text) in [
            ("licence", &table.licence),
            ("description", &table.description),
        ] {
            if let Some(text) = text {
                card.insert(key.into(), text.as_str().into());
            }
        }
        card.insert("how".into(), format!("{own}{how}\n").into());
        card.to_string()
    }
}
