//! Numbers and sizes on the command line.

/// `4096`, `4KiB`, `4MiB`, `4GiB`.
pub fn size(text: &str) -> Result<u64, String> {
    let units = [("KiB", 10), ("MiB", 20), ("GiB", 30), ("", 0)];
    let split = units.iter().find_map(|(unit, shift)| Some((text.strip_suffix(unit)?, shift)));
    let (digits, shift) = split.unwrap_or((text, &0));
    let bytes = number(digits)?.checked_mul(1 << shift).filter(|bytes| *bytes <= i64::MAX as u64);
    bytes.ok_or_else(|| "too large a size".to_owned())
}

pub fn number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| "not a whole number".to_owned())
}
