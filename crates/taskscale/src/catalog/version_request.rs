//! Versions that a user asks for: `node@16,22,26`, `python@3.10..3.14`, `rust/tokio-spawn@tokio=1.28,latest`,
//! `python/trio@python=3.12,trio=0.25,0.31`.

use std::collections::BTreeSet;
use std::fmt;

use serde::Deserialize;

/// A word that selects entries in versions: `ENTRIES@VERSIONS`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionRequest {
    /// The part before `@`.
    pub entries: String,
    /// Each name once.
    pub axes: Vec<VersionAxis>,
}

/// The requested versions of one runtime or library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionAxis {
    /// A library or a runtime. `None`: the runtime of the entries.
    pub name: Option<String>,
    pub wanted: Vec<VersionRange>,
}

/// Maximum numbers of a range. A larger range is a typing error.
pub const MAX_COUNTED: u64 = 1000;

/// One version, or several.
#[derive(Debug, Clone, PartialEq, Eq, strum::Display)]
pub enum VersionRange {
    /// The newest that begins with these numbers: `3.12`.
    #[strum(to_string = "{0}")]
    Series(DottedVersion),
    /// The newest of each series from the first to the last: `3.10..3.14`.
    #[strum(to_string = "{0}..{1}")]
    Between(DottedVersion, DottedVersion),
    #[strum(to_string = "latest")]
    Latest,
}

/// The numbers of a version. 3.9 sorts before 3.11.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(try_from = "String")]
pub struct DottedVersion(pub Vec<u64>);

impl fmt::Display for DottedVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<String> = self.0.iter().map(u64::to_string).collect();
        f.write_str(&numbers.join("."))
    }
}

impl TryFrom<String> for DottedVersion {
    type Error = String;

    fn try_from(text: String) -> Result<DottedVersion, String> {
        DottedVersion::parse(&text).ok_or(format!("`{text}` is not a dotted number such as `21` or `1.24`"))
    }
}

impl DottedVersion {
    /// Parses `1.28`. `None` if the text has anything but numbers and dots.
    pub fn parse(text: &str) -> Option<DottedVersion> {
        text.split('.').map(|number| number.parse().ok()).collect::<Option<Vec<u64>>>().map(DottedVersion)
    }

    /// The first dotted number in a text: `go version go1.26.8` has 1.26.8.
    pub fn first_in(text: &str) -> Option<DottedVersion> {
        let rest = &text[text.find(|c: char| c.is_ascii_digit())?..];
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        Some(DottedVersion(rest[..end].split('.').filter_map(|part| part.parse().ok()).collect()))
    }

    /// Whether it belongs to a series: 3.12.1 belongs to 3.12.
    pub fn is_of(&self, series: &DottedVersion) -> bool {
        self.0.starts_with(&series.0)
    }
}

impl VersionRange {
    fn parse(text: &str) -> Result<VersionRange, String> {
        let number = |text: &str| {
            DottedVersion::parse(text)
                .ok_or_else(|| format!("`{text}` is no version (expected 3.12, 3.10..3.14 or latest)"))
        };
        if text == "latest" {
            return Ok(VersionRange::Latest);
        }
        let Some((first, last)) = text.split_once("..") else {
            return number(text).map(VersionRange::Series);
        };
        let (first, last) = (number(first)?, number(last)?);
        if first >= last {
            return Err(format!("`{text}`: the first version must be lower than the last"));
        }
        Ok(VersionRange::Between(first, last))
    }

    /// The requested numbers, without a list of versions: one number, or a range whose ends differ only in the
    /// last number, by less than [`MAX_COUNTED`]. `None` for other ranges, and for the latest.
    pub fn numbers(&self) -> Option<Vec<String>> {
        let (DottedVersion(first), DottedVersion(last)) = match self {
            VersionRange::Series(one) => (one, one),
            VersionRange::Between(first, last) => (first, last),
            VersionRange::Latest => return None,
        };
        let ((from, before), (to, others)) = (first.split_last()?, last.split_last()?);
        let number = |last: u64| DottedVersion(before.iter().copied().chain([last]).collect()).to_string();
        let is_countable = before == others && to.checked_sub(*from).is_some_and(|more| more < MAX_COUNTED);
        is_countable.then(|| (*from..=*to).map(number).collect())
    }

    /// The newest version in `there` of each requested series, ascending, with the name of the series.
    pub fn choose<'v>(&self, there: &'v [DottedVersion]) -> Vec<(String, &'v DottedVersion)> {
        let series: BTreeSet<DottedVersion> = match self {
            VersionRange::Latest => there.iter().max().cloned().into_iter().collect(),
            VersionRange::Series(series) => BTreeSet::from([series.clone()]),
            VersionRange::Between(first, last) => {
                let numbers = first.0.len().max(last.0.len());
                let within =
                    |version: &&DottedVersion| *version >= first && (*version <= last || version.is_of(last));
                let series = |version: &DottedVersion| {
                    DottedVersion(version.0.iter().copied().take(numbers).collect())
                };
                there.iter().filter(within).map(series).collect()
            }
        };
        let newest = |series: &DottedVersion| there.iter().filter(|version| version.is_of(series)).max();
        series.iter().filter_map(|series| Some((series.to_string(), newest(series)?))).collect()
    }
}

impl VersionRequest {
    /// Parses a word. `None` if it has no versions.
    pub fn parse(word: &str) -> Result<Option<VersionRequest>, String> {
        // A word that begins with `@` names a set.
        let Some((at, _)) = word.char_indices().skip(1).find(|(_, c)| *c == '@') else { return Ok(None) };
        let (entries, versions) = (&word[..at], &word[at + 1..]);
        let fault = |why: String| format!("{word}: {why}");
        let mut axes: Vec<VersionAxis> = Vec::new();
        for item in versions.split(',') {
            let (name, range) = match item.split_once('=') {
                Some((name, range)) => (Some(name), range),
                None => (None, item),
            };
            if name.is_some() || axes.is_empty() {
                if axes.iter().any(|axis| axis.name.as_deref() == name) {
                    return Err(fault(format!("`{}` is there twice", name.unwrap_or_default())));
                }
                axes.push(VersionAxis { name: name.map(str::to_owned), wanted: Vec::new() });
            }
            let range = VersionRange::parse(range).map_err(fault)?;
            if let Some(axis) = axes.last_mut() {
                axis.wanted.push(range);
            }
        }
        Ok(Some(VersionRequest { entries: entries.to_owned(), axes }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> DottedVersion {
        DottedVersion::parse(text).unwrap()
    }

    #[test]
    fn requests_parse_into_entries_and_versions() {
        let axes = |word: &str| {
            let request = VersionRequest::parse(word).unwrap()?;
            let axis = |axis: &VersionAxis| {
                let wanted: Vec<String> = axis.wanted.iter().map(ToString::to_string).collect();
                format!("{}: {}", axis.name.as_deref().unwrap_or("-"), wanted.join(" "))
            };
            Some((request.entries, request.axes.iter().map(axis).collect::<Vec<_>>().join("; ")))
        };
        let some = |entries: &str, axes: &str| Some((entries.to_owned(), axes.to_owned()));
        assert_eq!(axes("node@16,22"), some("node", "-: 16 22"));
        assert_eq!(axes("python@3.10..3.14"), some("python", "-: 3.10..3.14"));
        assert_eq!(
            axes("rust/tokio-spawn@tokio=1.28,latest"),
            some("rust/tokio-spawn", "tokio: 1.28 latest")
        );
        let both = some("python/trio", "python: 3.12; trio: 0.25 0.31");
        assert_eq!(axes("python/trio@python=3.12,trio=0.25,0.31"), both);
        assert_eq!((axes("node"), axes("@posts"), axes("rust/*")), (None, None, None));
    }

    #[test]
    fn invalid_versions_are_refused() {
        for (word, why) in [
            ("node@", "`` is no version"),
            ("node@x", "`x` is no version"),
            ("node@22,", "`` is no version"),
            ("node@1.x", "`1.x` is no version"),
            ("node@3.14..3.10", "must be lower"),
            ("a/b@tokio=1,tokio=2", "`tokio` is there twice"),
        ] {
            let error = VersionRequest::parse(word).unwrap_err();
            assert!(error.starts_with(&format!("{word}: ")) && error.contains(why), "{error}");
        }
    }

    #[test]
    fn the_newest_version_of_each_series_is_selected() {
        let there: Vec<DottedVersion> =
            ["3.9.18", "3.10.13", "3.11.2", "3.11.7", "3.12.1", "3.14.0"].map(version).to_vec();
        let chosen = |text: &str| {
            let range = VersionRange::parse(text).unwrap();
            let chosen = range.choose(&there);
            chosen
                .iter()
                .map(|(series, version)| format!("{series} {version}"))
                .collect::<Vec<_>>()
                .join(", ")
        };
        assert_eq!(chosen("3.11"), "3.11 3.11.7");
        assert_eq!(chosen("3.11.2"), "3.11.2 3.11.2");
        assert_eq!(chosen("3.10..3.12"), "3.10 3.10.13, 3.11 3.11.7, 3.12 3.12.1");
        assert_eq!(chosen("3.13"), "");
        assert_eq!(chosen("latest"), "3.14.0 3.14.0");
        let numbers = |text: &str| VersionRange::parse(text).unwrap().numbers();
        assert_eq!(numbers("1.8..1.10").unwrap(), ["1.8", "1.9", "1.10"]);
        assert_eq!(numbers("1.8").unwrap(), ["1.8"]);
        assert_eq!((numbers("1.8..2.1"), numbers("1.8..1.9.1"), numbers("latest")), (None, None, None));
        assert_eq!(numbers(&format!("1.0..1.{}", u64::MAX)), None);
    }

    #[test]
    fn the_first_number_of_output_is_the_version() {
        let first = |text: &str| DottedVersion::first_in(text).map(|version| version.to_string());
        assert_eq!(first("go version go1.26.8 linux/amd64").as_deref(), Some("1.26.8"));
        assert_eq!(first("openjdk version \"17.0.15\" 2025-04-15").as_deref(), Some("17.0.15"));
        assert_eq!((first("v20.20.2").as_deref(), first("no number")), (Some("20.20.2"), None));
        assert!(version("21") > version("17.0.15") && version("1.9") < version("1.24"));
    }
}
