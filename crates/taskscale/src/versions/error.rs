//! Why a version cannot be measured.

use crate::catalog::{DottedVersion, Entry, MAX_COUNTED, ToolchainSpec, VersionRange};
use crate::hint::Hint;

/// Why a version cannot be measured.
#[derive(Debug, thiserror::Error)]
pub enum VersionError {
    #[error("{0}")]
    Syntax(String),
    #[error("{title} {range} is not installed (found: {there})")]
    NotInstalled { title: String, range: String, there: String, install: Option<String> },
    #[error("{entry} does not use `{name}` (it uses {uses})")]
    NotUsed { entry: String, name: String, uses: String },
    #[error("{library}={range}: the versions may differ in their last number alone, such as 1.25..1.54, and by fewer than {most}", most = MAX_COUNTED)]
    Uncountable { library: String, range: String },
    #[error("cannot list the releases of {library}: {why}")]
    Unlisted { library: String, why: String },
    #[error("{library}={range}: there is no such release (from {oldest} to {newest})")]
    NoRelease { library: String, range: String, oldest: DottedVersion, newest: DottedVersion },
}

impl VersionError {
    pub(super) fn uncountable(library: &str, range: &VersionRange) -> VersionError {
        VersionError::Uncountable { library: library.to_owned(), range: range.to_string() }
    }

    pub(super) fn not_used(entry: &Entry, name: &str, uses: String) -> VersionError {
        VersionError::NotUsed { entry: entry.full_name.clone(), name: name.to_owned(), uses }
    }

    pub(super) fn not_installed(
        spec: &ToolchainSpec,
        range: &VersionRange,
        there: &[DottedVersion],
    ) -> VersionError {
        let shown: Vec<String> = there.iter().map(ToString::to_string).collect();
        let first = match range {
            VersionRange::Series(first) | VersionRange::Between(first, _) => first.to_string(),
            VersionRange::Latest => "latest".to_owned(),
        };
        let places = spec.versions.as_ref();
        VersionError::NotInstalled {
            title: places.and_then(|places| places.of.as_ref()).unwrap_or(&spec.title).clone(),
            range: range.to_string(),
            there: if shown.is_empty() { "none".to_owned() } else { shown.join(", ") },
            install: places.map(|places| places.install.replace("{version}", &first)),
        }
    }
}

impl Hint for VersionError {
    fn hint(&self) -> Option<String> {
        let other = "`--toolchain NAME=FOLDER` names one that is elsewhere";
        match self {
            VersionError::NotInstalled { install: Some(install), .. } => {
                Some(format!("`{install}` installs it, and {other}"))
            }
            VersionError::NotInstalled { install: None, .. } => Some(other.to_owned()),
            VersionError::NotUsed { .. } => {
                Some("`taskscale versions` shows what versions can be chosen".to_owned())
            }
            _ => None,
        }
    }
}
