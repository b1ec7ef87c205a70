//! Errors of a manifest with line and column.

use std::path::Path;

use super::error::CatalogError;
use super::names::did_you_mean;

/// A manifest being checked. Turns offsets in its text into errors with line and column.
pub(super) struct ManifestFile<'a> {
    pub path: &'a Path,
    pub text: &'a str,
}

impl ManifestFile<'_> {
    pub fn error(&self, offset: usize, message: impl Into<String>) -> CatalogError {
        let before = self.text.get(..offset).unwrap_or("");
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
        CatalogError::Invalid { path: self.path.to_owned(), line, column, message: message.into() }
    }

    pub fn syntax_error(&self, error: &toml::de::Error) -> CatalogError {
        let mut message = error.message().trim().to_owned();
        message += &nearest_expected(&message).unwrap_or_default();
        self.error(error.span().map_or(0, |span| span.start), message)
    }
}

/// A suggestion for serde's "unknown field `a`, expected one of `b`, `c`": the nearest of the expected names.
fn nearest_expected(message: &str) -> Option<String> {
    let (unknown, expected) = message.split_once(", expected ")?;
    if !unknown.starts_with("unknown") {
        return None;
    }
    let quoted = |text| str::split(text, '`').skip(1).step_by(2);
    Some(did_you_mean(quoted(unknown).next()?, quoted(expected)))
}
