//! Counts, sizes and durations: how people write them, and how reports show them.
//!
//! Pure functions of text and numbers. Knows nothing of records, tables or the command line.

mod parse;

use std::time::Duration;

pub use parse::{Quantity, UnitError, parse_bytes, parse_count, parse_duration, parse_share};

/// A duration of this many seconds: zero if negative or not a number, `Duration::MAX` if too long.
pub fn duration(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or(Duration::MAX)
}

/// A count as people write it, and exact: `1M`, `100k`, `2.5k`, `1,234`.
///
/// A suffix is used only where three digits or fewer are left in front of it, so that the number can be read at
/// once and [`parse_count`] (less the commas) gives the same count back.
pub fn count(n: u64) -> String {
    for (suffix, unit) in [('G', 1_000_000_000), ('M', 1_000_000), ('k', 1_000)] {
        if n < unit || n / unit >= 1_000 {
            continue;
        }
        let whole = n / unit;
        let decimals = 2 - whole.ilog10();
        let step = unit / 10u64.pow(decimals);
        if n.is_multiple_of(step) {
            let number = format!("{whole}.{:0width$}", n % unit / step, width = decimals as usize);
            let number = number.trim_end_matches('0').trim_end_matches('.');
            // Without a decimal point, trailing zeros belong to the number.
            return if decimals == 0 { format!("{whole}{suffix}") } else { format!("{number}{suffix}") };
        }
    }
    grouped(n)
}

/// A count in full, with commas: `1,000,000`.
pub fn grouped(n: u64) -> String {
    if n < 1_000 { n.to_string() } else { format!("{},{:03}", grouped(n / 1_000), n % 1_000) }
}

/// Significant digits, with separators: `1,230`, `0.251`.
pub fn significant(value: f64, digits: u32) -> String {
    if value == 0.0 || !value.is_finite() {
        return decimal(value, 0);
    }
    // From the rounded value: 9.996 becomes 10.0, with one more digit before the point.
    let rounded = format!("{value:.*e}", digits.saturating_sub(1) as usize);
    let power: i32 = rounded.split_once('e').and_then(|(_, power)| power.parse().ok()).unwrap_or(0);
    let decimals = digits as i32 - 1 - power;
    if decimals >= 0 {
        return decimal(value, decimals as usize);
    }
    let unit = 10f64.powi(-decimals);
    decimal((value / unit).round() * unit, 0)
}

/// A count with its noun: `1 run`, `3 runs`, `1,200 entries`. For nouns that end in a consonant and y, or take
/// an s.
pub fn counted(n: impl TryInto<u64>, noun: &str) -> String {
    // No count of anything is larger.
    let n = n.try_into().unwrap_or(u64::MAX);
    with_noun(grouped(n), n, noun)
}

/// A number of tasks in short: `1 task`, `10k tasks`.
pub fn tasks(n: u64) -> String {
    with_noun(count(n), n, "task")
}

fn with_noun(number: String, n: u64, noun: &str) -> String {
    match noun.strip_suffix('y') {
        _ if n == 1 => format!("{number} {noun}"),
        Some(stem) => format!("{number} {stem}ies"),
        None => format!("{number} {noun}s"),
    }
}

/// A number with a fixed number of decimals and commas: `2,150.3`.
///
/// For columns of one unit, so that the decimal points align. Never `-0.0`. A number that is not finite is `?`.
pub fn decimal(value: f64, decimals: usize) -> String {
    if !value.is_finite() {
        return "?".to_owned();
    }
    let plain = format!("{:.decimals$}", value.abs());
    let (whole, fraction) = plain.split_once('.').unwrap_or((&plain, ""));
    let sign = if value < 0.0 && plain.contains(|c| matches!(c, '1'..='9')) { "-" } else { "" };
    // 2^64 and above: no commas.
    let whole = whole.parse().map_or(whole.to_owned(), grouped);
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{sign}{whole}{point}{fraction}")
}

/// A size in binary units and three significant digits: `436 MiB`, `4.10 MiB`, `912 KiB`, `17 B`.
pub fn bytes(n: u64) -> String {
    if n < 1024 {
        return format!("{n} B");
    }
    let mut value = n as f64;
    let mut unit = "B";
    for larger in ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"] {
        // 1023.6 would be shown as 1024: take the next unit.
        if value < 1023.5 {
            break;
        }
        value /= 1024.0;
        unit = larger;
    }
    let decimals = match value {
        ..9.995 => 2,
        ..99.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$} {unit}")
}

/// Bytes in MiB, for columns of one unit.
pub fn mib(bytes: f64) -> f64 {
    bytes / (1024.0 * 1024.0)
}

/// A latency in ms, given in µs. Whole milliseconds are shown in full.
pub fn milliseconds(us: f64) -> String {
    if us % 1e3 == 0.0 {
        return format!("{} ms", grouped((us / 1e3) as u64));
    }
    format!("{} ms", significant(us / 1e3, 3))
}

/// A length of time in the unit that suits it: `812 µs`, `1.2 ms`, `12 ms`, `0.81 s`, `12.3 s`, `2 m 05 s`, `1 h 02 m`.
pub fn seconds(s: f64) -> String {
    // Each boundary is where the rounded number would need one more digit than its unit shows.
    match s {
        _ if !s.is_finite() => "?".to_owned(),
        ..0.0 => format!("-{}", seconds(-s)),
        0.0 => "0 s".to_owned(),
        ..0.999_5e-3 => format!("{:.0} µs", s * 1e6),
        ..9.95e-3 => format!("{:.1} ms", s * 1e3),
        ..99.5e-3 => format!("{:.0} ms", s * 1e3),
        ..9.995 => format!("{s:.2} s"),
        ..59.95 => format!("{s:.1} s"),
        ..3599.5 => {
            let whole = s.round() as u64;
            format!("{} m {:02} s", whole / 60, whole % 60)
        }
        _ => {
            let minutes = (s / 60.0).round() as u64;
            format!("{} h {:02} m", minutes / 60, minutes % 60)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular() {
        let said = [0u64, 1, 2, 1_200].map(|n| counted(n, "run"));
        assert_eq!(said, ["0 runs", "1 run", "2 runs", "1,200 runs"]);
        assert_eq!([1u32, 2].map(|n| counted(n, "entry")), ["1 entry", "2 entries"]);
        assert_eq!([1, 10_000].map(tasks), ["1 task", "10k tasks"]);
    }
    use proptest::prelude::*;

    #[test]
    fn numbers_are_rounded_before_digits_are_counted() {
        let shown = [9.996, 99.96, 999.6, 0.099_96].map(|value| significant(value, 3));
        assert_eq!(shown, ["10.0", "100", "1,000", "0.100"]);
    }

    #[test]
    fn counts_are_abbreviated_only_if_exact() {
        for (n, shown) in [
            (0, "0"),
            (1, "1"),
            (999, "999"),
            (1_000, "1k"),
            (1_234, "1,234"),
            (2_500, "2.5k"),
            (9_999, "9,999"),
            (10_000, "10k"),
            (100_000, "100k"),
            (102_000, "102k"),
            (250_500, "250,500"),
            (1_000_000, "1M"),
            (1_010_000, "1.01M"),
            (1_234_567, "1,234,567"),
            (10_000_000_000, "10G"),
            (u64::MAX, "18,446,744,073,709,551,615"),
        ] {
            assert_eq!(count(n), shown);
        }
    }

    #[test]
    fn sizes_have_three_digits() {
        for (n, shown) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.00 KiB"),
            (912 << 10, "912 KiB"),
            (4_299_162, "4.10 MiB"),
            (436 << 20, "436 MiB"),
            ((1 << 20) - 1, "1.00 MiB"),
            (10 << 30, "10.0 GiB"),
            (u64::MAX, "16.0 EiB"),
        ] {
            assert_eq!(bytes(n), shown);
        }
    }

    #[test]
    fn out_of_range_seconds_are_clamped() {
        assert_eq!(duration(1.5), Duration::from_millis(1_500));
        for (seconds, expected) in
            [(-1.0, Duration::ZERO), (f64::NAN, Duration::ZERO), (1e300, Duration::MAX)]
        {
            assert_eq!(duration(seconds), expected);
        }
    }

    #[test]
    fn rounded_times_move_to_the_next_unit() {
        for (s, shown) in [
            (0.0, "0 s"),
            (0.000_812, "812 µs"),
            (0.000_999_9, "1.0 ms"),
            (0.001_24, "1.2 ms"),
            (0.012, "12 ms"),
            (0.099_7, "0.10 s"),
            (0.81, "0.81 s"),
            (9.996, "10.0 s"),
            (59.96, "1 m 00 s"),
            (125.0, "2 m 05 s"),
            (3_599.7, "1 h 00 m"),
            (3_720.0, "1 h 02 m"),
            (-0.5, "-0.50 s"),
            (f64::NAN, "?"),
        ] {
            assert_eq!(seconds(s), shown);
        }
    }

    #[test]
    fn decimals_are_rounded_and_grouped() {
        assert_eq!(decimal(2150.34, 1), "2,150.3");
        assert_eq!(decimal(-0.04, 1), "0.0");
        assert_eq!(decimal(-1234.0, 0), "-1,234");
        assert_eq!(decimal(0.999, 2), "1.00");
        assert_eq!(decimal(f64::INFINITY, 1), "?");
        assert_eq!(decimal(1e30, 0).len(), 31);
    }

    proptest! {
        #[test]
        fn formatted_counts_parse_back(n in 1u64..) {
            prop_assert_eq!(parse_count(&count(n).replace(',', "")), Ok(n));
        }

        #[test]
        fn short_counts_parse_back(m in 1u64..1_000, power in 0u32..9) {
            let n = m * 10u64.pow(power);
            prop_assert_eq!(parse_count(&count(n).replace(',', "")), Ok(n));
        }

        #[test]
        fn formatted_sizes_parse_back(n in 1u64..1 << 60) {
            let shown = bytes(n);
            prop_assert_eq!(parse_bytes(&shown).map(bytes), Ok(shown));
        }

        #[test]
        fn formatting_never_panics(value in any::<f64>(), decimals in 0usize..9, n in any::<u64>()) {
            let _ = (seconds(value), decimal(value, decimals), bytes(n), grouped(n));
        }
    }
}
