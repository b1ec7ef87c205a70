//! Reads counts, sizes and durations as people write them.
//!
//! Numbers are read as whole numbers and decimals, never through floating point: what is accepted is exact.

use std::time::Duration;

/// What a text is read as, for the words of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::Display)]
#[strum(serialize_all = "lowercase")]
pub enum Quantity {
    Count,
    Size,
    Duration,
    Share,
}

impl Quantity {
    /// Examples of what is accepted, for errors.
    fn accepted(self) -> &'static str {
        match self {
            Quantity::Count => "a whole number above 0 such as 1000, 1_000_000, 10k, 2.5k or 1M",
            Quantity::Size => {
                "a number and a unit such as 512MiB, 1.5GiB, 64kB or 4096B (B, kB, MB, GB, KiB, MiB, GiB)"
            }
            Quantity::Duration => "a number and a unit such as 500ms, 10s, 2m or 1m30s (ms, s, m, h)",
            Quantity::Share => "a percentage such as 5% or 0.5%",
        }
    }

    fn invalid(self, what: String) -> UnitError {
        UnitError::Invalid { what, quantity: self }
    }

    fn mismatch(self, text: &str) -> UnitError {
        self.invalid(format!("{text:?} is not a {self}"))
    }

    /// What a unit multiplies by: to a count, to bytes or to nanoseconds.
    fn factor(self, text: &str, unit: &str) -> Result<u128, UnitError> {
        let ambiguous = |decimal, binary| {
            let number = text.trim().trim_end_matches(unit).trim_end().to_owned();
            Err(UnitError::Ambiguous { text: text.to_owned(), number, decimal, binary })
        };
        Ok(match (self, unit.to_ascii_lowercase().as_str()) {
            (Quantity::Count, "") | (Quantity::Size, "" | "b") | (Quantity::Duration, "ns") => 1,
            (Quantity::Count, "k") | (Quantity::Size, "kb") | (Quantity::Duration, "us" | "µs") => 1_000,
            (Quantity::Count, "m") | (Quantity::Size, "mb") | (Quantity::Duration, "ms") => 1_000_000,
            (Quantity::Count, "g") | (Quantity::Size, "gb") | (Quantity::Duration, "s") => 1_000_000_000,
            (Quantity::Size, "tb") => 1_000_000_000_000,
            (Quantity::Size, "kib") => 1 << 10,
            (Quantity::Size, "mib") => 1 << 20,
            (Quantity::Size, "gib") => 1 << 30,
            (Quantity::Size, "tib") => 1 << 40,
            (Quantity::Size, "pib") => 1 << 50,
            (Quantity::Size, "eib") => 1 << 60,
            (Quantity::Duration, "m" | "min") => 60_000_000_000,
            (Quantity::Duration, "h") => 3_600_000_000_000,
            (Quantity::Size, "k") => return ambiguous("kB", "KiB"),
            (Quantity::Size, "m") => return ambiguous("MB", "MiB"),
            (Quantity::Size, "g") => return ambiguous("GB", "GiB"),
            (Quantity::Duration, "") => return Err(self.invalid(format!("{text:?} has no unit"))),
            _ => return Err(self.unknown(text, unit)),
        })
    }

    fn unknown(self, text: &str, unit: &str) -> UnitError {
        self.invalid(format!("{unit:?} in {text:?} is not a unit of a {self}"))
    }
}

/// Why a text is not a count, a size or a duration, and what would be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnitError {
    #[error("{what}: give {accepted}", accepted = .quantity.accepted())]
    Invalid { what: String, quantity: Quantity },
    #[error("{text:?} may mean powers of 1000 or of 1024: write {number}{decimal} or {number}{binary}")]
    Ambiguous { text: String, number: String, decimal: &'static str, binary: &'static str },
    #[error("{text:?} is too large: the largest {quantity} is {largest}")]
    TooLarge { quantity: Quantity, text: String, largest: &'static str },
    #[error("the parts of {text:?} are out of order: write the larger unit first, as in 1m30s")]
    OutOfOrder { text: String },
}

/// Reads a count of tasks: `1000`, `1_000_000`, `10k`, `2.5k`, `1M`. Above zero, and whole.
pub fn parse_count(text: &str) -> Result<u64, UnitError> {
    let quantity = Quantity::Count;
    let n = Decimal::scaled(quantity, text)?.whole();
    let n = n.ok_or_else(|| quantity.invalid(format!("{text:?} does not come out whole")))?;
    above_zero(quantity, text, n)
}

/// Reads a size in bytes: `512MiB`, `1.5GiB`, `64 kB`, `4096`. Fractions of a byte are rounded.
///
/// `64k` is rejected: some tools mean 64,000 by it and others 65,536.
pub fn parse_bytes(text: &str) -> Result<u64, UnitError> {
    above_zero(Quantity::Size, text, Decimal::scaled(Quantity::Size, text)?.rounded())
}

/// Reads a duration: `500ms`, `10s`, `1.5s`, `2m`, `1m30s`, `1h`. Above zero, to the nanosecond.
pub fn parse_duration(text: &str) -> Result<Duration, UnitError> {
    let quantity = Quantity::Duration;
    let (mut total, mut last_unit, mut rest) = (0_u128, u128::MAX, text);
    loop {
        let (number, unit, after) = Decimal::split(quantity, text, rest)?;
        let nanos = quantity.factor(text, unit)?;
        if nanos >= last_unit {
            return Err(UnitError::OutOfOrder { text: text.to_owned() });
        }
        let scaled = number.times(nanos).map(Decimal::rounded);
        let sum = scaled.and_then(|scaled| total.checked_add(scaled));
        total = sum.ok_or_else(|| too_large(quantity, text))?;
        if after.is_empty() {
            return above_zero(quantity, text, total).map(Duration::from_nanos);
        }
        (last_unit, rest) = (nanos, after);
    }
}

/// Reads a share: `5%` is 0.05. Zero is valid.
pub fn parse_share(text: &str) -> Result<f64, UnitError> {
    let quantity = Quantity::Share;
    let (number, unit, rest) = Decimal::split(quantity, text, text)?;
    match (unit, rest) {
        ("", "%") => Ok(number.numerator as f64 / 10f64.powi(number.decimals as i32 + 2)),
        ("", "") => Err(quantity.invalid(format!("{text:?} has no unit"))),
        ("", _) => Err(quantity.mismatch(text)),
        _ => Err(quantity.unknown(text, unit)),
    }
}

/// A decimal number: `numerator / 10^decimals`.
#[derive(Clone, Copy)]
struct Decimal {
    numerator: u128,
    decimals: u32,
}

impl Decimal {
    /// Reads a text of one number and its unit.
    fn scaled(quantity: Quantity, text: &str) -> Result<Decimal, UnitError> {
        let (number, unit, rest) = Decimal::split(quantity, text, text)?;
        let factor = quantity.factor(text, unit)?;
        if !rest.is_empty() {
            return Err(quantity.mismatch(text));
        }
        number.times(factor).ok_or_else(|| too_large(quantity, text))
    }

    /// Splits a part of the text into its first number, the letters after it and the rest. Errors quote the
    /// whole text.
    fn split<'t>(
        quantity: Quantity,
        text: &str,
        part: &'t str,
    ) -> Result<(Decimal, &'t str, &'t str), UnitError> {
        let trimmed = part.trim();
        if trimmed.is_empty() {
            return Err(quantity.invalid(format!("a {quantity} is missing")));
        }
        if let Some(after) = trimmed.strip_prefix(['-', '−'])
            && after.starts_with(|c: char| c.is_ascii_digit())
        {
            return Err(quantity.invalid(format!("{text:?} is below zero")));
        }
        let is_part = |c: char| c.is_ascii_digit() || c == '.' || c == '_';
        let number_end = trimmed.find(|c| !is_part(c)).unwrap_or(trimmed.len());
        let (number, after) = trimmed.split_at(number_end);
        let after = after.trim_start();
        let unit_end = after.find(|c: char| !c.is_alphabetic()).unwrap_or(after.len());
        let (unit, rest) = after.split_at(unit_end);
        let number = Decimal::read(quantity, text, number)?;
        Ok((number, unit, rest.trim_start()))
    }

    fn read(quantity: Quantity, text: &str, number: &str) -> Result<Decimal, UnitError> {
        let (whole, fraction) = match number.split_once('.') {
            Some((whole, fraction)) if !fraction.is_empty() => (whole, fraction),
            Some(_) => return Err(quantity.mismatch(text)),
            None => (number, ""),
        };
        // Underscores are allowed only between digits.
        let groups_ok = whole.split('_').all(|group| !group.is_empty());
        if !groups_ok || fraction.contains(['_', '.']) {
            return Err(quantity.mismatch(text));
        }
        let fraction = fraction.trim_end_matches('0');
        let mut numerator: u128 = 0;
        for digit in whole.chars().chain(fraction.chars()).filter_map(|c| c.to_digit(10)) {
            numerator = numerator
                .checked_mul(10)
                .and_then(|n| n.checked_add(u128::from(digit)))
                .ok_or_else(|| too_large(quantity, text))?;
        }
        // The numerator has at most 39 digits here, not counting leading zeros of the fraction.
        let decimals = u32::try_from(fraction.len()).map_err(|_| quantity.mismatch(text))?;
        Ok(Decimal { numerator, decimals })
    }

    fn times(self, factor: u128) -> Option<Decimal> {
        Some(Decimal { numerator: self.numerator.checked_mul(factor)?, ..self })
    }

    /// The number, if it is whole.
    fn whole(self) -> Option<u128> {
        match 10u128.checked_pow(self.decimals) {
            Some(divisor) => self.numerator.is_multiple_of(divisor).then_some(self.numerator / divisor),
            None => (self.numerator == 0).then_some(0),
        }
    }

    /// The nearest whole number.
    fn rounded(self) -> u128 {
        match 10u128.checked_pow(self.decimals) {
            Some(divisor) => {
                self.numerator / divisor + u128::from(self.numerator % divisor >= divisor.div_ceil(2))
            }
            None => 0,
        }
    }
}

fn above_zero(quantity: Quantity, text: &str, n: u128) -> Result<u64, UnitError> {
    match u64::try_from(n) {
        Ok(0) => Err(quantity.invalid(format!("{text:?} is zero"))),
        Ok(n) => Ok(n),
        Err(_) => Err(too_large(quantity, text)),
    }
}

fn too_large(quantity: Quantity, text: &str) -> UnitError {
    let largest = match quantity {
        Quantity::Count => "18446744073709551615 (2^64 - 1)",
        Quantity::Size => "16 EiB less one byte",
        Quantity::Duration => "about 584 years",
        Quantity::Share => "about 10^38 %",
    };
    UnitError::TooLarge { quantity, text: text.to_owned(), largest }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn shares() {
        assert_eq!(parse_share("5%"), Ok(0.05));
        assert_eq!(parse_share(" 0.5 % "), Ok(0.005));
        assert_eq!(parse_share("0%"), Ok(0.0));
        for (text, said) in [
            ("5", "\"5\" has no unit: give a percentage such as 5% or 0.5%"),
            ("-5%", "\"-5%\" is below zero"),
            ("5x", "\"x\" in \"5x\" is not a unit of a share"),
            ("5%%", "\"5%%\" is not a share"),
            ("", "a share is missing"),
        ] {
            let error = parse_share(text).unwrap_err().to_string();
            assert!(error.starts_with(said), "{error}");
        }
    }

    #[test]
    fn counts() {
        for (text, n) in [
            ("1", 1),
            ("10k", 10_000),
            ("10K", 10_000),
            ("1M", 1_000_000),
            ("1_000_000", 1_000_000),
            ("2.5k", 2_500),
            ("1.50M", 1_500_000),
            (" 7 ", 7),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(parse_count(text), Ok(n), "{text}");
        }
    }

    #[test]
    fn invalid_counts_are_refused_with_the_reason() {
        let told = |text| parse_count(text).unwrap_err().to_string();
        let accepted = "give a whole number above 0 such as 1000, 1_000_000, 10k, 2.5k or 1M";
        assert_eq!(told(""), format!("a count is missing: {accepted}"));
        assert_eq!(told("1x"), format!("\"x\" in \"1x\" is not a unit of a count: {accepted}"));
        assert_eq!(told("0"), format!("\"0\" is zero: {accepted}"));
        assert_eq!(told("-5"), format!("\"-5\" is below zero: {accepted}"));
        assert_eq!(told("2.5"), format!("\"2.5\" does not come out whole: {accepted}"));
        assert_eq!(told("many"), format!("\"many\" is not a count: {accepted}"));
        assert_eq!(
            told("1000000000000000000000000000000"),
            "\"1000000000000000000000000000000\" is too large: the largest count is 18446744073709551615 (2^64 - 1)"
        );
        for text in
            ["1,000", "_1", "1__0", "1_", "1.", ".5k", "1.2.3", "1k1", "0x10", "1e6", "١", "\u{1b}[2J"]
        {
            assert!(parse_count(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes() {
        for (text, n) in [
            ("512MiB", 512 << 20),
            ("512mib", 512 << 20),
            ("1GB", 1_000_000_000),
            ("1GiB", 1 << 30),
            ("1.5 GiB", 3 << 29),
            ("64kB", 64_000),
            ("64KB", 64_000),
            ("64KiB", 65_536),
            ("4096", 4_096),
            ("4096B", 4_096),
            ("0.3KiB", 307),
        ] {
            assert_eq!(parse_bytes(text), Ok(n), "{text}");
        }
        assert_eq!(
            parse_bytes("64k").unwrap_err().to_string(),
            "\"64k\" may mean powers of 1000 or of 1024: write 64kB or 64KiB"
        );
        for text in ["", "0", "-1MiB", "1XB", "16EiB", "MiB", "1MiB2", "0.0001B"] {
            assert!(parse_bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn durations() {
        for (text, ms) in [
            ("10s", 10_000),
            ("500ms", 500),
            ("2m", 120_000),
            ("1.5s", 1_500),
            ("1m30s", 90_000),
            ("2 m 05 s", 125_000),
            ("1h", 3_600_000),
        ] {
            assert_eq!(parse_duration(text), Ok(Duration::from_millis(ms)), "{text}");
        }
        assert_eq!(
            parse_duration("10").unwrap_err().to_string(),
            "\"10\" has no unit: give a number and a unit such as 500ms, 10s, 2m or 1m30s (ms, s, m, h)"
        );
        assert!(matches!(parse_duration("30s1m"), Err(UnitError::OutOfOrder { .. })));
        for text in ["", "0s", "-1s", "1d", "s", "1s1", "1m1m", "999999999999h"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn parsing_never_panics(text in "\\PC*|[0-9._kKMmGiBshn -]{0,50}") {
            let _ = (parse_count(&text), parse_bytes(&text), parse_duration(&text));
        }

        #[test]
        fn plain_numbers_parse_back(n in 1u64..) {
            prop_assert_eq!(parse_count(&n.to_string()), Ok(n));
            prop_assert_eq!(parse_bytes(&n.to_string()), Ok(n));
            prop_assert_eq!(parse_duration(&format!("{n}ns")), Ok(Duration::from_nanos(n)));
        }

        #[test]
        fn units_multiply(n in 1u64..1_000_000) {
            prop_assert_eq!(parse_count(&format!("{n}k")), Ok(n * 1_000));
            prop_assert_eq!(parse_bytes(&format!("{n}KiB")), Ok(n * 1_024));
            prop_assert_eq!(parse_duration(&format!("{n}s")), Ok(Duration::from_secs(n)));
        }
    }
}
