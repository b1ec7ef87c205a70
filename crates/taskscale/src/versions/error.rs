//! Why a version cannot be measured.

use crate::catalog::{DottedVersion, MOST_COUNTED, ToolchainSpec, VersionRange};
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
    #[error("{library}={range}: the versions may differ in their last number alone, such as 1.25..1.54, and by fewer than {most}", most = MOST_COUNTED)]
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
        VersionError::NotInstalled {
            title: spec
                .versions
                .as_ref()
                .and_then(|places| places.of.as_ref())
                .unwrap_or(&spec.title)
                .clone(),
            range: range.to_string(),
            there: if shown.is_empty() { "none".to_owned() } else { shown.join(", ") },
            install: spec.versions.as_ref().map(|places| places.install.replace("{version}", &first)),
        }
    }
}

impl Hint for VersionError {
    fn hint(&self) -> Option<String> {
        match self {
            VersionError::NotInstalled { install, .. } => {
                let other = "`--toolchain NAME=FOLDER` names one that is elsewhere";
                Some(match install {
                    Some(install) => format!("`{install}` installs it, and {other}"),
                    None => other.to_owned(),
                })
            }
            VersionError::NotUsed { .. } => {
                Some("`taskscale versions` shows what versions can be chosen".to_owned())
            }
            VersionError::Syntax(_)
            | VersionError::Uncountable { .. }
            | VersionError::Unlisted { .. }
            | VersionError::NoRelease { .. } => None,
        }
    }
}
