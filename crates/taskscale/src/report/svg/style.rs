//! Colors, fonts and widths of texts. Knows nothing of reports.

use super::super::sanitize::width as columns;

/// Light, and dark if the reader's system is dark. The background is drawn too, as that of the page may be
/// either.
///
/// Colors of parts and lines are those of the HTML page. They come from Okabe and Ito (2008), "Color Universal Design",
/// distinguishable with any of the usual color-vision deficiencies, and darker or lighter where the contrast is too
/// low. Lines also have markers, and every line and bar has a name. Two rules instead of variables, as some SVG viewers
/// do not support those.
pub const CSS: &str = "
.taskscale text{font-family:-apple-system,BlinkMacSystemFont,'Segoe UI','Noto Sans',Helvetica,Arial,sans-serif;font-size:13px;fill:#1f2328}
.taskscale .title{font-size:19px;font-weight:600}
.taskscale .strong{font-weight:600}
.taskscale .small{font-size:11px}
.taskscale .muted{fill:#59636e}
.taskscale .bad{fill:#a40e26}
.taskscale .card{fill:#ffffff;stroke:#d1d9e0}
.taskscale .grid{fill:none;stroke:#e4e8ec}
.taskscale .axis{fill:none;stroke:#818b98}
.taskscale .whisker{fill:none;stroke:#1f2328;stroke-width:1.25}
.taskscale .halo{fill:none;stroke:#ffffff;stroke-width:3.5;stroke-linecap:square}
.taskscale .border{fill:none;stroke:#ffffff}
.taskscale .leader{fill:none;stroke:#b7bfc8;stroke-dasharray:1 3}
.taskscale .anon{fill:#0072b2}
.taskscale .file{fill:#6cb6e4}
.taskscale .stack{fill:#c44e00}
.taskscale .tables{fill:#e0a100}
.taskscale .other{fill:#8f5aa8}
.taskscale .pale{opacity:.45}
.taskscale .line{fill:none;stroke-width:2;stroke-linejoin:round}
.taskscale .floor{fill:none;stroke:#6e7781;stroke-width:1.5;stroke-dasharray:5 4}
.taskscale .c0{stroke:#0072b2}.taskscale .m0{fill:#0072b2}
.taskscale .c1{stroke:#c44e00}.taskscale .m1{fill:#c44e00}
.taskscale .c2{stroke:#00795a}.taskscale .m2{fill:#00795a}
.taskscale .c3{stroke:#a8477e}.taskscale .m3{fill:#a8477e}
.taskscale .c4{stroke:#8a6d00}.taskscale .m4{fill:#8a6d00}
.taskscale .c5{stroke:#3d94cb}.taskscale .m5{fill:#3d94cb}
.taskscale .c6{stroke:#6c4fa3}.taskscale .m6{fill:#6c4fa3}
.taskscale .c7{stroke:#7d5a3c}.taskscale .m7{fill:#7d5a3c}
.taskscale .m8{fill:#6e7781}
.taskscale .mark{stroke:#ffffff;stroke-width:1}
@media (prefers-color-scheme:dark){
.taskscale text{fill:#e6edf3}
.taskscale .muted{fill:#9da7b3}
.taskscale .bad{fill:#ff8f84}
.taskscale .card{fill:#0d1117;stroke:#30363d}
.taskscale .grid{stroke:#222931}
.taskscale .axis{stroke:#7d8590}
.taskscale .whisker{stroke:#e6edf3}
.taskscale .halo{stroke:#0d1117}
.taskscale .border{stroke:#0d1117}
.taskscale .leader{stroke:#57606a}
.taskscale .anon{fill:#3f97d9}
.taskscale .file{fill:#a9d8f7}
.taskscale .stack{fill:#ff7d3e}
.taskscale .tables{fill:#f0c330}
.taskscale .other{fill:#c48fe2}
.taskscale .floor{stroke:#9da7b3}
.taskscale .c0{stroke:#5ab4e8}.taskscale .m0{fill:#5ab4e8}
.taskscale .c1{stroke:#ff8a4c}.taskscale .m1{fill:#ff8a4c}
.taskscale .c2{stroke:#2fc79a}.taskscale .m2{fill:#2fc79a}
.taskscale .c3{stroke:#e48fc0}.taskscale .m3{fill:#e48fc0}
.taskscale .c4{stroke:#e5c22e}.taskscale .m4{fill:#e5c22e}
.taskscale .c5{stroke:#a9d8f7}.taskscale .m5{fill:#a9d8f7}
.taskscale .c6{stroke:#c0a3f5}.taskscale .m6{fill:#c0a3f5}
.taskscale .c7{stroke:#d0a584}.taskscale .m7{fill:#d0a584}
.taskscale .m8{fill:#9da7b3}
.taskscale .mark{stroke:#0d1117}
}
";

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
    let mut cut = String::new();
    for c in text.chars() {
        cut.push(c);
        if text_width(&cut, size) + size > room {
            cut.pop();
            break;
        }
    }
    format!("{}…", cut.trim_end())
}

/// A name, shortened in the middle to fit into a width: both ends identify it.
pub fn fitted_name(name: &str, size: f64, room: f64) -> String {
    let mut columns = columns(name);
    let mut text = name.to_owned();
    while text_width(&text, size) > room && columns > 4 {
        columns -= 1;
        text = super::super::sanitize::shortened(name, columns).into_owned();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::colour::COLOURS;

    /// Relative luminance of `#rrggbb`: <https://www.w3.org/TR/WCAG22/#dfn-relative-luminance>.
    fn luminance(colour: &str) -> f64 {
        let channel = |at: usize| {
            let value = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
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
    fn what_is_to_be_read_stands_out_from_its_ground() {
        let (light, dark) = CSS.split_once("@media (prefers-color-scheme:dark){").unwrap();
        for (name, css) in [("light", light), ("dark", dark)] {
            let colour = |selector: &str, property: &str| {
                let rule = css.split_once(&format!(".taskscale {selector}{{")).unwrap().1;
                let rule = rule.split_once('}').unwrap().0;
                rule.split(';')
                    .find_map(|part| part.strip_prefix(property)?.strip_prefix(':'))
                    .unwrap()
                    .to_owned()
            };
            let ground = colour(".card", "fill");
            let lines = (0..COLOURS).map(|i| (format!(".c{i}"), "stroke", 3.0));
            let marks = (0..=COLOURS).map(|i| (format!(".m{i}"), "fill", 3.0));
            let texts = ["text", ".muted", ".bad"].map(|class| (class.to_owned(), "fill", 4.5));
            let others = [".axis", ".whisker", ".floor"].map(|class| (class.to_owned(), "stroke", 3.0));
            for (class, property, least) in lines.chain(marks).chain(texts).chain(others) {
                let contrast = contrast(&colour(&class, property), &ground);
                assert!(contrast >= least, "{class} in {name}: {contrast:.2}");
            }
        }
    }

    #[test]
    fn texts_are_cut_to_fit() {
        assert_eq!(fitted("short", 13.0, 200.0), "short");
        let long = fitted("a reason that goes on and on and on", 13.0, 120.0);
        assert!(long.ends_with('…') && text_width(&long, 13.0) <= 121.0, "{long}");
        let name = fitted_name("python/asyncio-create-task", 13.0, 120.0);
        assert!(name.starts_with("python") && name.ends_with("task") && name.contains('…'), "{name}");
    }
}
