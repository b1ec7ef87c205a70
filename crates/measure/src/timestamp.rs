//! Instants of the wall clock, as records have them: RFC 3339 in UTC.

use std::fmt;
use std::str::FromStr;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

/// An instant of the wall clock, to the nanosecond.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Timestamp(SystemTime);

impl Timestamp {
    pub const UNIX_EPOCH: Timestamp = Timestamp(SystemTime::UNIX_EPOCH);

    pub fn now() -> Timestamp {
        // A clock that was never set may show an earlier time, which the format cannot express.
        Timestamp(SystemTime::now().max(SystemTime::UNIX_EPOCH))
    }

    /// Whole seconds since 1970.
    pub fn unix_s(self) -> u64 {
        self.0.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs())
    }

    /// `2026-11-22`
    pub fn date(self) -> String {
        self.to_string()[..10].to_owned()
    }

    /// `09:30`
    pub fn time_of_day(self) -> String {
        self.to_string()[11..16].to_owned()
    }

    /// `20261122T093000Z`, for names of folders.
    pub fn compact(self) -> String {
        let text = humantime::format_rfc3339_seconds(self.0).to_string();
        text.chars().filter(|c| !matches!(c, '-' | ':')).collect()
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        humantime::format_rfc3339(self.0).fmt(f)
    }
}

impl FromStr for Timestamp {
    type Err = humantime::TimestampError;

    fn from_str(text: &str) -> Result<Timestamp, Self::Err> {
        humantime::parse_rfc3339(text).map(Timestamp)
    }
}

impl TryFrom<String> for Timestamp {
    type Error = humantime::TimestampError;

    fn try_from(text: String) -> Result<Timestamp, Self::Error> {
        text.parse()
    }
}

impl From<Timestamp> for String {
    fn from(at: Timestamp) -> String {
        at.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_timestamps_parse_back() {
        let text = "2026-11-22T05:58:07.15664822Z";
        let at: Timestamp = text.parse().unwrap();
        assert_eq!(at.to_string(), "2026-11-22T05:58:07.156648220Z");
        assert_eq!((at.date().as_str(), at.time_of_day().as_str()), ("2026-11-22", "05:58"));
        assert_eq!((at.compact().as_str(), at.unix_s()), ("20261122T055807Z", 1_795_327_087));
        let json = serde_json::to_string(&at).unwrap();
        assert_eq!(serde_json::from_str::<Timestamp>(&json).unwrap(), at);
        assert!("yesterday".parse::<Timestamp>().is_err());
        assert!("1969-12-31T00:00:00Z".parse::<Timestamp>().is_err());
    }
}
