//! The card of a made corpus.

use super::spec::CorpusSpec;

impl CorpusSpec {
    /// The card of the corpus, dataset.toml: `from` names the spec.
    pub fn card(&self, from: &str) -> String {
        let mut card = toml::Table::new();
        let how = format!(
            "Made by `deadloop synth --spec {from}` from seed {}: the same spec, sources and seed give the same bytes. Planted loops are labelled by = planted, true by construction and checked; texts of forms and clean text by = construction.",
            self.seed
        );
        let own = self
            .card
            .get("how")
            .map_or(String::new(), |own| format!("{own}\n\n"));
        card.insert("name".into(), self.name.clone().into());
        card.insert(
            "version".into(),
            self.card.get("version").map_or("1", String::as_str).into(),
        );
        for key in ["licence", "description"] {
            if let Some(text) = self.card.get(key) {
                card.insert(key.into(), text.clone().into());
            }
        }
        card.insert("how".into(), format!("{own}{how}\n").into());
        card.to_string()
    }
}
