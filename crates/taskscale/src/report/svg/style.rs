//! Colors, fonts and widths of texts. Knows nothing of reports.

use super::super::sanitize::{shortened, width as columns};

/// Light, and dark if the reader's system is dark. The background is drawn too, as that of the page may be
/// either.
///
/// Colors of parts and lines are those of the HTML page. They come from Okabe and Ito (2008), "Color Universal Design",
/// distinguishable with any of the usual color-vision deficiencies, and darker or lighter where the contrast is too
/// low. Lines also have markers, and every line and bar has a name. Two rules instead of variables, as some SVG viewers
/// do not support those.
pub const CSS: &str = include_str!("../../../assets/chart.css");

/// The estimated width of a text in pixels at a font size, on the generous side, as no font is available.
///
/// By classes of letters, from the widths of DejaVu Sans, which is among the widest of the fonts that may be used.
pub fn text_width(text: &str, size: f64) -> f64 {
    let of = |c: char| match c {
        'i' | 'j' | 'l' | '|' | '\'' | '.' | ',' | ':' | ';' | '!' | 'I' => 0.32,
        'f' | 't' | 'r' | '/' | '(' | ')' | '[' | ']' | ' ' | '-' => 0.40,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 0.95,
        'A'..='Z' => 0.72,
        c if c.is_ascii() => 0.64,
        c => 0.64 * columns(c.encode_utf8(&mut [0; 4])).max(1) as f64,
    };
    text.chars().map(of).sum::<f64>() * size
}

/// The text, cut at its end to fit into a width.
pub fn fitted(text: &str, size: f64, room: f64) -> String {
    if text_width(text, size) <= room {
        return text.to_owned();
    }
    let mut cuts = text.char_indices().rev().map(|(at, _)| &text[..at]);
    let cut = cuts.find(|cut| text_width(cut, size) + size <= room).unwrap_or_default();
    format!("{}…", cut.trim_end())
}

/// A name, shortened in the middle to fit into a width: both ends identify it.
pub fn fitted_name(name: &str, size: f64, room: f64) -> String {
    let mut texts = (4..=columns(name).max(4)).rev().map(|columns| shortened(name, columns));
    texts.find(|text| text_width(text, size) <= room).unwrap_or_else(|| shortened(name, 4)).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::color::COLORS;

    /// Relative luminance of `#rrggbb`: <https://www.w3.org/TR/WCAG22/#dfn-relative-luminance>.
    fn luminance(color: &str) -> f64 {
        let channel = |at: usize| {
            let value = f64::from(u8::from_str_radix(&color[at..at + 2], 16).unwrap()) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
    }

    fn contrast(a: &str, b: &str) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    /// WCAG 2.2: 4.5 to 1 for text (1.4.3), 3 to 1 for lines and marks that carry meaning (1.4.11). Bars have
    /// their values as text.
    #[test]
    fn text_has_enough_contrast() {
        let (light, dark) = CSS.split_once("@media (prefers-color-scheme:dark){").unwrap();
        for (name, css) in [("light", light), ("dark", dark)] {
            let color = |selector: &str, property: &str| {
                let rule = css.split_once(&format!(".taskscale {selector}{{")).unwrap().1;
                let rule = rule.split_once('}').unwrap().0;
                rule.split(';')
                    .find_map(|part| part.strip_prefix(property)?.strip_prefix(':'))
                    .unwrap()
                    .to_owned()
            };
            let ground = color(".card", "fill");
            let lines = (0..COLORS).map(|i| (format!(".c{i}"), "stroke", 3.0));
            let marks = (0..=COLORS).map(|i| (format!(".m{i}"), "fill", 3.0));
            let texts = ["text", ".muted", ".bad"].map(|class| (class.to_owned(), "fill", 4.5));
            let others = [".axis", ".whisker", ".floor"].map(|class| (class.to_owned(), "stroke", 3.0));
            for (class, property, least) in lines.chain(marks).chain(texts).chain(others) {
                let contrast = contrast(&color(&class, property), &ground);
                assert!(contrast >= least, "{class} in {name}: {contrast:.2}");
            }
        }
    }

    #[test]
    fn long_texts_are_shortened_to_fit() {
        assert_eq!(fitted("short", 13.0, 200.0), "short");
        let long = fitted("a reason that goes on and on and on", 13.0, 120.0);
        assert!(long.ends_with('…') && text_width(&long, 13.0) <= 121.0, "{long}");
        let name = fitted_name("python/asyncio-create-task", 13.0, 120.0);
        assert!(name.starts_with("python") && name.ends_with("task") && name.contains('…'), "{name}");
    }
}
