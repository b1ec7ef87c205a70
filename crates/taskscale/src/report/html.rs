//! The report as one self-contained HTML file, without network, server or other files.
//!
//! The page itself (markup, style, program) is an asset that `report/` builds; only data is inserted here. Texts come
//! from programs, manifests and results of unknown origin. They are JSON inside a block that browsers do not interpret,
//! so they can neither end that block nor act where they are shown. The page's policy allows no other script.

use std::io::{self, Write};

use miniz_oxide::inflate::stream::{InflateState, inflate};
use miniz_oxide::{DataFormat, MZFlush, MZStatus};
use serde::Serialize;
use serde_json::ser::{CharEscape, CompactFormatter, Formatter, Serializer};

use super::page::PageData;
use super::sanitize::acts;
use crate::explain::Explanation;

/// A part of `assets/report.html`, which `npm run build` makes from `report/`, packed by build.rs.
macro_rules! part {
    ($name:literal) => {
        include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".deflate"))
    };
}

/// Writes the page. The first campaign of a series is the one that others are compared with.
///
/// Streamed to `out`, as a page may be large.
pub fn write_html(mut page: PageData, out: &mut dyn Write) -> io::Result<()> {
    let bytes = |of: &Explanation| of.sheet.slope.bytes;
    page.anatomy.sort_by(|a, b| a.kind.cmp(&b.kind).then(bytes(a).total_cmp(&bytes(b))));
    unpack(part!("before"), out)?;
    embed(&page, FIGURE_DIGITS, out)?;
    unpack(part!("between"), out)?;
    block("sources", &page.sources, out)?;
    for (position, campaign) in page.campaigns.iter().enumerate() {
        block(&format!("samples-{position}"), &campaign.samples, out)?;
    }
    unpack(part!("after"), out)
}

/// Unpacks in pieces: the whole page would add a twentieth to taskscale's memory.
fn unpack(mut packed: &[u8], out: &mut dyn Write) -> io::Result<()> {
    let (mut state, mut piece) = (InflateState::new_boxed(DataFormat::Raw), [0; 1 << 13]);
    loop {
        let step = inflate(&mut state, packed, &mut piece, MZFlush::None);
        out.write_all(&piece[..step.bytes_written])?;
        packed = &packed[step.bytes_consumed..];
        match step.status {
            Ok(MZStatus::StreamEnd) => return Ok(()),
            Ok(_) => (),
            Err(error) => {
                return Err(io::Error::other(format!("this taskscale is damaged: its page: {error:?}")));
            }
        }
    }
}

fn block(id: &str, value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "<script type=\"application/json\" id=\"{id}\">")?;
    embed(value, DETAIL_DIGITS, out)?;
    out.write_all(b"</script>\n")
}

fn embed(value: &impl Serialize, digits: i32, out: &mut dyn Write) -> io::Result<()> {
    Ok(value.serialize(&mut Serializer::with_formatter(out, Embedded { digits }))?)
}

/// JSON that can neither end its script block nor begin a comment in it: `<`, `>` and `&` occur only in
/// strings, where JSON can escape them.
///
/// Strings have no characters that act instead of being seen (terminal escapes, reversed text). Line feeds and
/// tabs stay, as sources have them. Numbers are rounded by `brief`.
struct Embedded {
    /// Significant digits of numbers.
    digits: i32,
}

/// The page rounds again, to three digits. Of figures it also computes ratios.
const FIGURE_DIGITS: i32 = 7;
const DETAIL_DIGITS: i32 = 5;

/// Rounds to `digits` significant digits, one less below 1, and at most twelve decimals, and at least to a whole
/// number. Runs do not repeat the rest.
fn brief(value: f64, digits: i32) -> f64 {
    let before_point = if value == 0.0 { 0 } else { value.abs().log10().floor() as i32 + 1 };
    let decimals = digits - before_point - i32::from(before_point < 1);
    let scale = 10_f64.powi(decimals.clamp(0, 12));
    (value * scale).round() / scale
}

impl Formatter for Embedded {
    fn write_f64<W: ?Sized + Write>(&mut self, out: &mut W, value: f64) -> io::Result<()> {
        // Display writes `12`, not `12.0`. The sum is `0` where the rounded value is `-0`.
        write!(out, "{}", brief(value, self.digits) + 0.0)
    }

    fn write_string_fragment<W: ?Sized + Write>(&mut self, out: &mut W, text: &str) -> io::Result<()> {
        let mut rest = text;
        while let Some((at, c)) = rest.char_indices().find(|(_, c)| acts(*c) || "<>&".contains(*c)) {
            out.write_all(&rest.as_bytes()[..at])?;
            match acts(c) {
                true => write!(out, "\u{fffd}")?,
                false => write!(out, "\\u{:04x}", u32::from(c))?,
            }
            rest = &rest[at + c.len_utf8()..];
        }
        out.write_all(rest.as_bytes())
    }

    fn write_char_escape<W: ?Sized + Write>(&mut self, out: &mut W, escape: CharEscape) -> io::Result<()> {
        match escape {
            CharEscape::Quote | CharEscape::ReverseSolidus | CharEscape::LineFeed | CharEscape::Tab => {
                CompactFormatter.write_char_escape(out, escape)
            }
            _ => write!(out, "\u{fffd}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn embedded(value: &impl Serialize) -> String {
        let mut out = Vec::new();
        embed(value, FIGURE_DIGITS, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    const PAGE: &str = include_str!("../../assets/report.html");
    const DATA: &str = "@@TASKSCALE_DATA@@";
    const DETAILS: &str = "@@TASKSCALE_DETAILS@@\n";

    #[test]
    fn the_page_is_assembled_from_the_asset() {
        let unpacked = |part| {
            let mut out = Vec::new();
            unpack(part, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        let [before, between, after]: [&[u8]; 3] = [part!("before"), part!("between"), part!("after")];
        let whole = [&unpacked(before), DATA, &unpacked(between), DETAILS, &unpacked(after)].concat();
        assert!(whole == PAGE, "{} bytes, not {}", whole.len(), PAGE.len());
        assert!(unpack(&before[..before.len() / 2], &mut Vec::new()).is_err());
    }

    #[test]
    fn page_asset_has_one_placeholder_each_for_data_and_details() {
        assert_eq!(PAGE.matches(DATA).count(), 1, "report/: npm run build");
        assert_eq!(PAGE.matches(DETAILS).count(), 1, "report/: npm run build");
        assert!(PAGE.len() < 1024 * 1024, "{} bytes", PAGE.len());
        assert!(PAGE.contains("Content-Security-Policy"));
    }

    /// What a browser reads before it can show anything: the data, style and program of the first view.
    #[test]
    fn first_view_is_small_and_precedes_deferred_data() {
        let (data, rest) = PAGE.split_once(DATA).unwrap();
        let (program, later) = rest.split_once("id=\"program-").unwrap();
        assert!(data.len() + program.len() < 128 * 1024, "{} and {} bytes", data.len(), program.len());
        assert!(later.contains(DETAILS));
    }

    #[test]
    fn embedded_text_cannot_escape_its_script_block() {
        let hostile =
            "</script><img src=x onerror=alert(1)><!--<script>&\u{2028}\u{2029}\u{1b}[2J\u{202e}\"\\\r\n\t";
        let text = embedded(&json!({ "name": hostile, hostile: [hostile] }));
        assert!(!text.contains(['<', '>', '&', '\u{2028}', '\u{2029}', '\u{1b}', '\u{202e}']), "{text}");
        let back: Value = serde_json::from_str(&text).unwrap();
        let harmless = "</script><img src=x onerror=alert(1)><!--<script>&\u{fffd}\u{fffd}\u{fffd}[2J\u{fffd}\"\\\u{fffd}\n\t";
        assert_eq!(back, json!({ "name": harmless, harmless: [harmless] }));
    }

    #[test]
    fn embedded_numbers_are_rounded() {
        let numbers = [12.0, -3.0, 0.5, 2e-6, 4e-13, 1.5e300, f64::NAN, f64::INFINITY];
        let back: Value = serde_json::from_str(&embedded(&numbers)).unwrap();
        assert_eq!(back, json!([12, -3, 0.5, 2e-6, 0, 1.5e300, null, null]));
        assert!(embedded(&numbers).starts_with("[12,-3,0.5,"), "{}", embedded(&numbers));
        let long = [0.123_456_789, 9.123_456_789, -1_234.567_891_2, 9_876_543.21, 1_234_567_890.0];
        assert_eq!(embedded(&long), "[0.123457,9.123457,-1234.568,9876543,1234567890]");
    }

    proptest! {
        #[test]
        fn embedded_data_parses_back(text in any::<String>(), number in any::<f64>()) {
            let embedded = embedded(&json!([text, { text.clone(): number }]));
            prop_assert!(!embedded.contains(['<', '>', '&']));
            let harmless: String =
                text.chars().map(|c| if acts(c) && c != '\n' && c != '\t' { '\u{fffd}' } else { c }).collect();
            let back: Value = serde_json::from_str(&embedded).unwrap();
            prop_assert_eq!(&back[0], &json!(harmless));
            match back[1][&harmless].as_f64() {
                None => prop_assert!(!number.is_finite()),
                Some(read) => prop_assert!((read - number).abs() <= 1e-6 + number.abs() * 1e-6, "{number} {read}"),
            }
        }
    }
}
