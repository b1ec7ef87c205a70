//! The report as one HTML file that needs nothing else: no network, no server, no other file.
//!
//! The page itself (markup, style, program) is an asset that `report/` builds; only data is put in here. Texts in it
//! come from programs, manifests and results that somebody may have sent. They are JSON inside a block that no browser
//! interprets, can neither end that block nor act where they are shown, and the page's policy allows no other script.

use serde_json::Value;

use super::page::{PageCampaign, PageData};
use super::text::acts;

/// Built from `report/` by `npm run build`; never edited by hand.
const PAGE: &str = include_str!("../../assets/report.html");
/// Stands where the data is to be.
const DATA: &str = "@@TASKSCALE_DATA@@";

/// The page of one or more campaigns. The first is the one that others are compared with.
pub fn html(campaigns: &[PageCampaign]) -> String {
    let data = match serde_json::to_value(PageData::of(campaigns)) {
        Ok(data) => data,
        // The model holds no map with keys that are not text and no type that refuses to be written.
        Err(error) => unreachable!("the data of a page is always valid JSON: {error}"),
    };
    let (before, after) = PAGE.split_once(DATA).unwrap_or((PAGE, ""));
    [before, &embedded(&neutralised(data)), after].concat()
}

/// Texts without characters that act instead of being seen (terminal escapes, reversed text); line ends and tabs stay,
/// as sources have them. Whole numbers without a fraction.
fn neutralised(value: Value) -> Value {
    let text = |text: String| -> String {
        let harmless = |c: char| !acts(c) || c == '\n' || c == '\t';
        if text.chars().all(harmless) {
            return text;
        }
        text.chars().map(|c| if harmless(c) { c } else { '\u{fffd}' }).collect()
    };
    match value {
        Value::String(string) => Value::String(text(string)),
        Value::Array(values) => Value::Array(values.into_iter().map(neutralised).collect()),
        Value::Object(fields) => {
            Value::Object(fields.into_iter().map(|(name, value)| (text(name), neutralised(value))).collect())
        }
        // `12.0` and `12` are one number; the shorter is written.
        Value::Number(number) => {
            let whole = number.as_f64().filter(|value| value.fract() == 0.0 && value.abs() < 9e15);
            whole.map_or(Value::Number(number), |value| Value::from(value as i64))
        }
        other => other,
    }
}

/// JSON that cannot end the script block it stands in, nor begin a comment in it: `<`, `>` and `&` occur in its texts
/// alone, where JSON has another way to write them.
fn embedded(value: &Value) -> String {
    let json = value.to_string();
    let mut out = String::with_capacity(json.len() + json.len() / 16);
    for c in json.chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn the_asset_has_one_place_for_data() {
        assert_eq!(PAGE.matches(DATA).count(), 1, "report/: npm run build");
        assert!(PAGE.len() < 1024 * 1024, "{} bytes", PAGE.len());
        assert!(PAGE.contains("Content-Security-Policy"));
    }

    #[test]
    fn texts_cannot_leave_their_block() {
        let hostile = "</script><img src=x onerror=alert(1)><!--<script>&\u{2028}\u{2029}\u{1b}[2J\u{202e}";
        let text = embedded(&neutralised(json!({ "name": hostile, hostile: [hostile] })));
        assert!(!text.contains(['<', '>', '&', '\u{2028}', '\u{2029}', '\u{1b}', '\u{202e}']), "{text}");
        let back: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(
            back["name"],
            "</script><img src=x onerror=alert(1)><!--<script>&\u{fffd}\u{fffd}\u{fffd}[2J\u{fffd}"
        );
    }

    proptest! {
        #[test]
        fn what_is_embedded_reads_back(text in any::<String>()) {
            let value = neutralised(json!([text, { text.clone(): 1.5 }]));
            let embedded = embedded(&value);
            prop_assert!(!embedded.contains(['<', '>', '&']));
            prop_assert_eq!(serde_json::from_str::<Value>(&embedded).unwrap(), value);
        }
    }
}
