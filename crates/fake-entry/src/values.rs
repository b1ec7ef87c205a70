//! Texts of single values: whole numbers, sizes in bytes, metrics.

/// Passed on as it is: a test may want a broken one.
#[derive(Debug, PartialEq)]
pub struct MetricLine {
    pub name: String,
    pub value: String,
    pub unit: String,
}

/// Digits only: `parse` alone would take `+5` as well.
pub fn number(text: &str) -> Result<u64, String> {
    if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
        return Err("not a whole number".to_owned());
    }
    text.parse().map_err(|_| "too large a number".to_owned())
}

/// `4096`, `4KiB`, `4MiB`, `4GiB`.
pub fn size(text: &str) -> Result<u64, String> {
    let units = [("KiB", 10), ("MiB", 20), ("GiB", 30), ("", 0)];
    let split = units.iter().find_map(|(unit, shift)| Some((text.strip_suffix(unit)?, shift)));
    let (digits, shift) = split.unwrap_or((text, &0));
    let count = number(digits).map_err(|why| format!("{why} (of bytes, KiB, MiB or GiB)"))?;
    count
        .checked_mul(1 << shift)
        .filter(|bytes| *bytes <= i64::MAX as u64)
        .ok_or_else(|| "too large a size".to_owned())
}

/// The name may hold `:`, the value may not hold `=`, and the unit holds neither.
pub fn metric(text: &str) -> Result<MetricLine, String> {
    let parts = text.split_once('=').and_then(|(name, rest)| Some((name, rest.rsplit_once(':')?)));
    let Some((name, (value, unit))) = parts else {
        return Err("expected NAME=VALUE:UNIT".to_owned());
    };
    Ok(MetricLine { name: name.to_owned(), value: value.to_owned(), unit: unit.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!(size("0"), Ok(0));
        assert_eq!(size("4097"), Ok(4097));
        assert_eq!(size("3KiB"), Ok(3072));
        assert_eq!(size("3MiB"), Ok(3 << 20));
        assert_eq!(size("3GiB"), Ok(3 << 30));
        for bad in ["", "KiB", "-1", "+1", "1.5MiB", "1 MiB", "1MB", "1mib"] {
            assert!(size(bad).is_err(), "{bad}");
        }
        assert!(size("99999999999999999999").is_err());
        assert!(size("9999999999GiB").is_err());
    }
}
