//! Comma-separated values, for spreadsheets and data frames.
//!
//! Quoted as in RFC 4180, but lines end in LF only, for tools in pipes. Unknown values are empty fields.

use super::sanitize::{joined, safe};

/// A column for lines of type `L`: its name with the unit, and the function that returns a line's field.
pub type CsvColumn<L> = (&'static str, fn(&L) -> String);

/// A header and the lines.
pub fn table<L>(
    columns: &[(impl AsRef<str>, impl Fn(&L) -> String)],
    lines: impl IntoIterator<Item = L>,
) -> String {
    let mut out = String::new();
    line(&mut out, columns.iter().map(|(name, _)| name));
    lines.into_iter().for_each(|of| line(&mut out, columns.iter().map(|(_, field)| field(&of))));
    out
}

/// At most six decimals: microseconds, and more than bytes need.
pub fn figure(value: Option<f64>) -> String {
    let Some(value) = value.filter(|value| value.is_finite()) else { return String::new() };
    let text = format!("{value:.6}");
    match text.trim_end_matches('0').trim_end_matches('.') {
        "-0" => "0".to_owned(),
        text => text.to_owned(),
    }
}

/// A value that is written as it is, such as a whole number.
pub fn whole(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// A text, with an apostrophe in front if a spreadsheet would run it as a formula.
///
/// OWASP, CSV injection: a field is run if it begins with `=`, `+`, `-`, `@`, a tab or a carriage return. [`safe`]
/// removes the last two, and leading spaces, which some programs skip.
pub fn text(text: &str) -> String {
    let text = safe(text);
    let text = text.trim_start();
    let acts = text.starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠']);
    format!("{}{text}", if acts { "'" } else { "" })
}

/// Appends one record to `out`.
pub fn line(out: &mut String, fields: impl IntoIterator<Item = impl AsRef<str>>) {
    let quoted = |field: &str| match field.contains(['"', ',', '\n', '\r']) {
        true => format!("\"{}\"", field.replace('"', "\"\"")),
        false => field.to_owned(),
    };
    out.push_str(&joined(fields.into_iter().map(|field| quoted(field.as_ref())), ","));
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_escaped() {
        assert_eq!(text("=1+1"), "'=1+1");
        assert_eq!(text("\t@SUM(A1)"), "'@SUM(A1)");
        assert_eq!(text("a-b"), "a-b");
    }

    #[test]
    fn fields_are_quoted_per_rfc_4180() {
        let mut out = String::new();
        line(&mut out, ["a,b", "say \"x\"", "", "plain"]);
        assert_eq!(out, "\"a,b\",\"say \"\"x\"\"\",,plain\n");
    }

    #[test]
    fn numbers_are_rounded_plain_decimals_or_empty() {
        assert_eq!(figure(Some(436_000_000.0)), "436000000");
        assert_eq!(figure(Some(-412.25)), "-412.25");
        assert_eq!(figure(Some(0.1 + 0.2)), "0.3");
        assert_eq!(figure(Some(-1e-9)), "0");
        assert_eq!(figure(Some(100.0)), "100");
        assert_eq!(figure(Some(f64::NAN)), "");
        assert_eq!(figure(None), "");
    }
}
