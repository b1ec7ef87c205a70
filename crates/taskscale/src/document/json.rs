//! The model itself as JSON, with its `schema` number.

use std::collections::BTreeMap;

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

/// One item alone, or several under a name, with their schema.
pub fn one_or_many<T: Serialize>(schema: u32, name: &'static str, items: &[T]) -> String {
    #[derive(Serialize)]
    struct Many<'a, T> {
        schema: u32,
        #[serde(flatten)]
        named: BTreeMap<&'static str, &'a [T]>,
    }
    match items {
        [item] => pretty(item),
        items => pretty(&Many { schema, named: [(name, items)].into() }),
    }
}
