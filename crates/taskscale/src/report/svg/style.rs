//! Colours, letters and how wide a text is. Knows nothing of reports.

use super::super::text::width as columns;

/// Light, and dark where the reader's system is. The ground is drawn too: a page's own may be either.
///
/// Colours of parts and lines are those of Okabe and Ito (2008), "Color Universal Design", told apart by readers with any
/// of the usual colour-vision deficiencies; lighter in the dark where the original would be too dim. Lines have marks of
/// their own as well, and every line and bar its name. Two rules instead of variables: not every program that shows
/// SVG knows those.
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
.taskscale .file{fill:#7cc4ee}
.taskscale .stack{fill:#d55e00}
.taskscale .tables{fill:#f0b429}
.taskscale .other{fill:#c77bab}
.taskscale .pale{opacity:.45}
.taskscale .line{fill:none;stroke-width:2;stroke-linejoin:round}
.taskscale .floor{fill:none;stroke:#6e7781;stroke-width:1.5;stroke-dasharray:5 4}
.taskscale .c0{stroke:#0072b2}.taskscale .m0{fill:#0072b2}
.taskscale .c1{stroke:#d55e00}.taskscale .m1{fill:#d55e00}
.taskscale .c2{stroke:#009e73}.taskscale .m2{fill:#009e73}
.taskscale .c3{stroke:#b8629b}.taskscale .m3{fill:#b8629b}
.taskscale .c4{stroke:#d39200}.taskscale .m4{fill:#d39200}
.taskscale .c5{stroke:#3d9fd6}.taskscale .m5{fill:#3d9fd6}
.taskscale .c6{stroke:#6b4fa0}.taskscale .m6{fill:#6b4fa0}
.taskscale .c7{stroke:#5c4a3d}.taskscale .m7{fill:#5c4a3d}
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
.taskscale .anon{fill:#3b9ede}
.taskscale .file{fill:#a5d8f6}
.taskscale .stack{fill:#ee7a2e}
.taskscale .tables{fill:#f5c451}
.taskscale .other{fill:#d896c1}
.taskscale .floor{stroke:#9da7b3}
.taskscale .c0{stroke:#3b9ede}.taskscale .m0{fill:#3b9ede}
.taskscale .c1{stroke:#ee7a2e}.taskscale .m1{fill:#ee7a2e}
.taskscale .c2{stroke:#22bf93}.taskscale .m2{fill:#22bf93}
.taskscale .c3{stroke:#d896c1}.taskscale .m3{fill:#d896c1}
.taskscale .c4{stroke:#f0b429}.taskscale .m4{fill:#f0b429}
.taskscale .c5{stroke:#9bd3f5}.taskscale .m5{fill:#9bd3f5}
.taskscale .c6{stroke:#a993e0}.taskscale .m6{fill:#a993e0}
.taskscale .c7{stroke:#bda68f}.taskscale .m7{fill:#bda68f}
.taskscale .m8{fill:#9da7b3}
.taskscale .mark{stroke:#0d1117}
}
";

/// How many colours lines have.
pub const COLOURS: usize = 8;

/// About how wide a text is in pixels at a size, on the generous side: no font can be asked.
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

/// A name, cut in its middle to fit into a width: both ends tell it from others.
pub fn fitted_name(name: &str, size: f64, room: f64) -> String {
    let mut columns = columns(name);
    let mut text = name.to_owned();
    while text_width(&text, size) > room && columns > 4 {
        columns -= 1;
        text = super::super::text::shortened(name, columns).into_owned();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_to_fit() {
        assert_eq!(fitted("short", 13.0, 200.0), "short");
        let long = fitted("a reason that goes on and on and on", 13.0, 120.0);
        assert!(long.ends_with('…') && text_width(&long, 13.0) <= 121.0, "{long}");
        let name = fitted_name("python/asyncio-create-task", 13.0, 120.0);
        assert!(name.starts_with("python") && name.ends_with("task") && name.contains('…'), "{name}");
    }
}
