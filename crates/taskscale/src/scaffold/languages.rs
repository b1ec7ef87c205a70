//! The languages of `new`, each with the entry of the catalog that it copies.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::document::capitalized;

/// A language, or the shell for any other: a table of `languages.toml`, where its keys are explained.
#[derive(Debug, Deserialize)]
pub struct Language {
    pub title: String,
    /// Empty for the shell.
    pub names: Vec<String>,
    pub model: String,
    #[serde(default)]
    pub(super) libraries: String,
}

/// The shell's runtime, which is in no catalog: it shows the protocol for any language.
pub(super) static SHELL: &[(&str, &str)] = &[
    ("runtime.toml", include_str!("../../templates/shell/runtime.toml")),
    ("process/sleep.sh", include_str!("../../templates/shell/process/sleep.sh")),
    ("process/spawn.sh", include_str!("../../templates/shell/process/spawn.sh")),
];

/// Every language, the shell last.
pub static LANGUAGES: LazyLock<Vec<Language>> = LazyLock::new(|| {
    let text = include_str!("languages.toml");
    let all: BTreeMap<String, Vec<Language>> = toml::from_str(text).expect("a table that a test reads");
    all.into_values().flatten().collect()
});

/// The language of a runtime's name, or the shell for other names.
pub fn language_of(name: &str) -> &'static Language {
    let named = LANGUAGES.iter().find(|language| language.names.iter().any(|known| known == name));
    named.unwrap_or(&LANGUAGES[LANGUAGES.len() - 1])
}

impl Language {
    /// Whether it is the shell, in place of an unknown language.
    pub fn is_generic(&self) -> bool {
        self.names.is_empty()
    }

    /// The title of a runtime of this name.
    pub fn title_of(&self, runtime: &str) -> String {
        if self.is_generic() { capitalized(runtime) } else { self.title.clone() }
    }
}
