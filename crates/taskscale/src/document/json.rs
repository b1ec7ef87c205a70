//! The model itself as JSON, with its `schema` number.

use serde::Serialize;

use super::sanitize::acts;

/// Indented JSON with texts as recorded. Characters that could act on a terminal are escaped. They occur only
/// within JSON strings, so a parser gets them back unchanged.
pub fn pretty(value: &impl Serialize) -> String {
    // Callers only pass maps with text keys, and types that always serialize.
    let json = serde_json::to_string_pretty(value)
        .unwrap_or_else(|error| unreachable!("a report is always valid JSON: {error}"));
    let mut out = String::with_capacity(json.len() + 1);
    for c in json.chars() {
        if c != '\n' && acts(c) {
            out.extend(c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")));
        } else {
            out.push(c);
        }
    }
    out.push('\n');
    out
}
