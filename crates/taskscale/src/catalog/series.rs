//! Release series of toolchains: when each came out, and when its support ended or will end.
//!
//! Read from the built-in catalog's `series.toml` even if another catalog is in use: dates are facts, not
//! choices of a catalog.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::LazyLock;

use serde::Deserialize;

use super::version_request::DottedVersion;

/// The built-in table. The catalog has it as well, packed with all its sources.
const TABLE: &str = include_str!("../../packaged/runtimes/series.toml");
/// A series whose support ended longer ago than this, in months, is old.
const OLD_MONTHS: u32 = 12;

/// A month of a year.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Month {
    pub year: u16,
    /// From 1.
    pub month: u8,
}

/// A release series, such as Python 3.11.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReleaseSeries {
    /// `Python`.
    pub toolchain: String,
    /// `3.11`.
    pub number: DottedVersion,
    pub released: Month,
    /// The last month of its support. `None` if no end is announced.
    pub ends: Option<Month>,
}

impl ReleaseSeries {
    /// Whether its support ended more than a year before `now`.
    pub fn is_old(&self, now: Month) -> bool {
        self.ends.is_some_and(|ends| now.count() > ends.count() + OLD_MONTHS)
    }
}

impl fmt::Display for ReleaseSeries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.toolchain, self.number)
    }
}

impl Month {
    /// Months since the year 0.
    pub fn count(self) -> u32 {
        u32::from(self.year) * 12 + u32::from(self.month)
    }

    /// Parses `2026-11`, or a date that begins with a month.
    pub fn of(date: &str) -> Option<Month> {
        let (year, rest) = date.split_once('-')?;
        let month = rest.split('-').next()?.parse().ok().filter(|month| (1..=12).contains(month))?;
        Some(Month { year: year.parse().ok()?, month })
    }
}

impl fmt::Display for Month {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{:02}", self.year, self.month)
    }
}

/// A toolchain in `series.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolchainSeries {
    title: String,
    /// `2022-10`, or with the end of support `2022-10 to 2027-10`.
    series: BTreeMap<DottedVersion, String>,
}

/// The series of each toolchain, the oldest first. Keys are folders of the catalog, or names of libraries.
static ALL: LazyLock<BTreeMap<String, Vec<ReleaseSeries>>> =
    LazyLock::new(|| parse(TABLE).unwrap_or_default());

fn parse(text: &str) -> Result<BTreeMap<String, Vec<ReleaseSeries>>, String> {
    let read: BTreeMap<String, ToolchainSeries> =
        toml::from_str(text).map_err(|error| error.message().to_owned())?;
    let of = |(name, of): (String, ToolchainSeries)| {
        let one = |(number, dates): (DottedVersion, String)| {
            let (released, ends) =
                dates.split_once(" to ").map_or((dates.as_str(), None), |(from, to)| (from, Some(to)));
            let month = |date: &str| {
                Month::of(date).ok_or_else(|| format!("{name} {number}: expected YYYY-MM: {date:?}"))
            };
            Ok(ReleaseSeries {
                toolchain: of.title.clone(),
                released: month(released)?,
                ends: ends.map(month).transpose()?,
                number,
            })
        };
        let series = of.series.into_iter().map(one).collect::<Result<Vec<_>, String>>()?;
        Ok((name.clone(), series))
    };
    read.into_iter().map(of).collect()
}

/// The number in a version string: `1.26.8` in `go version go1.26.8 linux/amd64`. The last of several parts
/// counts: `1.54.1` in `rustc 1.95.0; tokio 1.54.1`.
pub fn version_number(version: &str) -> Option<&str> {
    let last = version.rsplit("; ").next()?;
    let number = &last[last.find(|c: char| c.is_ascii_digit())?..];
    let end = number.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(number.len());
    Some(number[..end].trim_end_matches('.'))
}

/// The series of an entry's version.
pub fn release_series(entry: &str, version: &str) -> Option<&'static ReleaseSeries> {
    let number = DottedVersion::first_in(version_number(version)?)?;
    let of_library = version.rsplit_once("; ").map(|(_, last)| last.split(' ').next().unwrap_or_default());
    let name = of_library.unwrap_or_else(|| entry.split('/').next().unwrap_or_default());
    let of_version = ALL.get(name)?.iter().filter(|series| number.is_of(&series.number));
    of_version.max_by_key(|series| series.number.0.len())
}

/// The newest supported series of a runtime's toolchain, if it is newer than the version's.
pub fn newer_series(runtime: &str, version: &str, now: Month) -> Option<&'static ReleaseSeries> {
    let number = DottedVersion::first_in(version_number(version)?)?;
    let is_supported =
        |series: &&ReleaseSeries| series.released <= now && series.ends.is_none_or(|ends| ends >= now);
    let newest = ALL.get(runtime)?.iter().rfind(is_supported)?;
    let is_newer = release_series(runtime, version).is_none_or(|own| own != newest) && newest.number > number;
    is_newer.then_some(newest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::embedded_texts;

    const NOW: Month = Month { year: 2026, month: 11 };

    #[test]
    fn the_table_parses_and_names_runtimes() {
        let all = parse(TABLE).unwrap();
        assert!(all.len() > 10);
        for (name, series) in &all {
            assert!(embedded_texts(name).next().is_some(), "{name} is no runtime of the catalog");
            for one in series {
                assert!(one.ends.is_none_or(|ends| ends > one.released), "{one}");
            }
        }
    }

    #[test]
    fn a_version_belongs_to_the_series_of_its_prefix() {
        let series = |entry, version| release_series(entry, version).map(ToString::to_string);
        assert_eq!(series("go/goroutine", "go version go1.26.8 linux/amd64"), Some("Go 1.26".into()));
        assert_eq!(series("node/timer-promise", "v20.20.2"), Some("Node.js 20".into()));
        assert_eq!(series("python/asyncio", "Python 3.11.7"), Some("Python 3.11".into()));
        assert_eq!(series("python/asyncio", "Python 3.1"), None);
        assert_eq!(series("rust/tokio-spawn", "rustc 1.95.0; tokio 1.54.1"), None, "a library's number");
        assert_eq!(series("nothing/known", "1.2"), None);
    }

    #[test]
    fn series_are_old_a_year_after_their_end() {
        let old = |entry, version| release_series(entry, version).unwrap().is_old(NOW);
        assert!(old("erlang/process", "Erlang/OTP 25.2.3"));
        assert!(!old("node/timer-promise", "v20.20.2"), "it ended seven months ago");
        assert!(!old("python/asyncio", "Python 3.11.7"));
    }

    #[test]
    fn unreleased_series_are_not_newer() {
        let newer = |runtime, version, now| newer_series(runtime, version, now).map(ToString::to_string);
        assert_eq!(newer("node", "v20.20.2", NOW), Some("Node.js 26".into()));
        assert_eq!(newer("node", "v20.20.2", Month { year: 2023, month: 12 }), None);
        assert_eq!(newer("java", "openjdk version \"25.0.3\"", NOW), None, "26 has ended");
        assert_eq!(newer("node", "v26.1.0", NOW), None);
        assert_eq!(newer("node", "v99.0.0", NOW), None, "newer than what the table has");
    }

    #[test]
    fn invalid_months_are_refused() {
        let text = |dates: &str| format!("[go]\ntitle = \"Go\"\nseries = {{ \"1.26\" = \"{dates}\" }}\n");
        assert!(parse(&text("2026-02")).is_ok() && parse(&text("2026-02 to 2027-02")).is_ok());
        for bad in ["2026", "2026-13", "2026-02 to", "soon"] {
            assert!(parse(&text(bad)).is_err_and(|why| why.contains("go 1.26")), "{bad}");
        }
    }
}
