//! The versions of runtimes, as tables have them.

use crate::catalog::{Month, release_series, version_number};
use crate::document::joined;
use crate::record::{EntryFacts, Timestamp};

/// The versions that were requested, if any. Otherwise `1.26` for `go version go1.26.8 linux/amd64`, or
/// `1.14 (2022)` if support of that series had ended over a year before.
pub fn shown_version(facts: &EntryFacts, measured: Timestamp) -> Option<String> {
    if !facts.versions.is_empty() {
        return Some(joined(facts.versions.values().cloned(), ", "));
    }
    let version = facts.version.as_deref()?;
    let mut parts = version_number(version)?.split('.');
    let major = parts.next()?;
    let number = match parts.next() {
        Some(minor) if minor != "0" => format!("{major}.{minor}"),
        _ => major.to_owned(),
    };
    let series = release_series(&facts.name, version);
    let old = series.zip(Month::of(&measured.date())).filter(|(series, now)| series.is_old(*now));
    Some(old.map_or_else(|| number.clone(), |(series, _)| format!("{number} ({})", series.released.year)))
}
