//! How the data of a page is written: JSON that can neither end the script block in which it stands, nor begin a comment
//! in it, and whose texts hold nothing that acts instead of being seen (terminal escapes, reversed text); line ends and
//! tabs stay, as sources have them.

use std::io::{self, Write};

use serde_json::ser::{CharEscape, Formatter};

use super::text::acts;

pub struct EmbeddedJson;

impl Formatter for EmbeddedJson {
    fn write_string_fragment<W: Write + ?Sized>(&mut self, out: &mut W, text: &str) -> io::Result<()> {
        let mut plain = 0;
        for (at, c) in text.char_indices() {
            let instead = match c {
                // They occur in texts alone, where JSON has another way to write them.
                '<' => "\\u003c",
                '>' => "\\u003e",
                '&' => "\\u0026",
                c if acts(c) => "\u{fffd}",
                _ => continue,
            };
            out.write_all(&text.as_bytes()[plain..at])?;
            out.write_all(instead.as_bytes())?;
            plain = at + c.len_utf8();
        }
        out.write_all(&text.as_bytes()[plain..])
    }

    /// What JSON cannot hold as it is: quotes, backslashes and control characters.
    fn write_char_escape<W: Write + ?Sized>(&mut self, out: &mut W, escape: CharEscape) -> io::Result<()> {
        let text = match escape {
            CharEscape::Quote => "\\\"",
            CharEscape::ReverseSolidus => "\\\\",
            CharEscape::LineFeed => "\\n",
            CharEscape::Tab => "\\t",
            _ => "\u{fffd}",
        };
        out.write_all(text.as_bytes())
    }

    /// `12.0` and `12` are one number; the shorter is written.
    fn write_f64<W: Write + ?Sized>(&mut self, out: &mut W, value: f64) -> io::Result<()> {
        if value.fract() == 0.0 && value.abs() < 9e15 {
            return write!(out, "{}", value as i64);
        }
        write!(out, "{value:?}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde::Serialize;
    use serde_json::{Value, json};

    fn embedded(value: &impl Serialize) -> String {
        let mut text = Vec::new();
        value.serialize(&mut serde_json::Serializer::with_formatter(&mut text, EmbeddedJson)).unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn texts_cannot_leave_their_block() {
        let hostile = "</script><img src=x onerror=alert(1)><!--<script>&\u{2028}\u{2029}\u{1b}[2J\u{202e}";
        let text = embedded(&json!({ "name": hostile, hostile: [hostile] }));
        assert!(!text.contains(['<', '>', '&', '\u{2028}', '\u{2029}', '\u{1b}', '\u{202e}']), "{text}");
        let back: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(
            back["name"],
            "</script><img src=x onerror=alert(1)><!--<script>&\u{fffd}\u{fffd}\u{fffd}[2J\u{fffd}"
        );
    }

    #[test]
    fn sources_keep_their_lines_and_numbers_their_value() {
        let text = "a\tb\n\"c\\\"\r\u{8}\u{c}\u{7f}\0 é\u{1f600}";
        let back: Value = serde_json::from_str(&embedded(&text)).unwrap();
        assert_eq!(back, "a\tb\n\"c\\\"\u{fffd}\u{fffd}\u{fffd}\u{fffd}\u{fffd} é\u{1f600}");
        assert_eq!(embedded(&[12.0, -0.0, 0.1, 1e300, f64::NAN]), "[12,0,0.1,1e300,null]");
        assert_eq!(embedded(&u64::MAX), u64::MAX.to_string());
    }

    proptest! {
        #[test]
        fn what_is_embedded_reads_back(text in any::<String>(), number in any::<f64>()) {
            let embedded = embedded(&json!([text, { text.clone(): number }]));
            prop_assert!(!embedded.contains(['<', '>', '&']));
            let back = serde_json::from_str::<Value>(&embedded).unwrap();
            let seen: String =
                text.chars().map(|c| if acts(c) && !"\n\t".contains(c) { '\u{fffd}' } else { c }).collect();
            prop_assert_eq!(&back[0], &Value::from(&*seen));
            let number = Some(number).filter(|number| number.is_finite());
            let written = back[1][&seen].as_f64();
            prop_assert!(number.zip(written).is_none_or(|(a, b)| (a - b).abs() <= a.abs() * 1e-15));
            prop_assert_eq!(number.is_some(), written.is_some());
        }
    }
}
