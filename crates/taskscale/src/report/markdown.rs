//! The report as Markdown that pastes well into a GitHub issue.
//!
//! Texts from results cannot make tables, links, mentions or HTML of themselves.

use std::borrow::Cow;

use super::columns::columns;
use super::footnotes;
use super::model::{Entry, Group, Report, Row};
use super::phrases::{REASON, bent_text, growth_texts, relative, told};
use super::sanitize::{brief, safe};
use crate::units;

/// The largest N comes first and open, for it is the answer; the smaller ones can be unfolded.
pub fn render(reports: &[Report]) -> String {
    reports.iter().map(part).collect::<Vec<_>>().join("\n")
}

fn part(report: &Report) -> String {
    let mut out = String::new();
    out.push_str(&format!("### taskscale: {}\n\n", footnotes::title(report, prose)));
    out.push_str(&format!("{}\n\n", footnotes::machine(report, prose)));
    let groups: Vec<&Group> = report.groups.iter().filter(|group| !group.rows.is_empty()).rev().collect();
    if let Some((largest, smaller)) = groups.split_first() {
        out.push_str(&format!("#### {}\n\n", footnotes::tasks(largest.tasks)));
        rows(&mut out, report, &largest.rows);
        growth(&mut out, report);
        for group in smaller {
            out.push_str(&format!("<details><summary>{}</summary>\n\n", footnotes::tasks(group.tasks)));
            rows(&mut out, report, &group.rows);
            out.push_str("</details>\n\n");
        }
    }
    if !report.unavailable.is_empty() {
        out.push_str("#### Not available here\n\n");
        for missing in &report.unavailable {
            let reason = prose(&brief(&missing.reason, REASON));
            let mark = if missing.entry.unverified.is_some() { footnotes::UNVERIFIED } else { "" };
            out.push_str(&format!("- {}{mark}: {reason}\n", name(&missing.entry)));
        }
        out.push('\n');
    }
    out.push_str("<details><summary>Notes and provenance</summary>\n\n");
    for note in footnotes::notes(report, prose) {
        out.push_str(&format!("- {note}\n"));
    }
    out.push_str(&format!("- {}\n", footnotes::course(report, prose)));
    for version in &report.versions {
        out.push_str(&format!("- {}: {}\n", prose(&version.runtime), prose(&version.version)));
    }
    out.push_str(&format!("- {}\n", footnotes::provenance(std::slice::from_ref(report), prose)));
    out.push_str(&format!("- {}\n", code(&footnotes::command(report))));
    out.push_str("\n</details>\n");
    out
}

/// The table, and below it why some rows are not what was asked: in the table, reasons would push figures away.
fn rows(out: &mut String, report: &Report, rows: &[Row]) {
    let mut below = Vec::new();
    let spread = rows.iter().any(|row| row.headline.and_then(|spread| relative(&spread)).is_some());
    let statuses = rows.iter().any(|row| status(report, row).is_some());

    let mut table = Table::new();
    table.column("entry", false);
    table.column("kind", false);
    if statuses {
        table.column("status", false);
    }
    table.column(report.headline().heading, true);
    if spread {
        table.column("± %", true);
    }
    for shown in columns(report.shape) {
        table.column(shown.figure.heading, true);
    }
    table.column("× best", true);
    for row in rows {
        let mut cells = vec![name(&row.entry), footnotes::kind_with_marks(&row.entry)];
        if statuses {
            cells.push(
                status(report, row).map_or_else(|| row.status.clone(), |status| format!("**{status}**")),
            );
        }
        let headline = row.headline.map(|spread| report.headline().show(spread.median));
        cells.push(headline.unwrap_or_default());
        if spread {
            cells.push(row.headline.and_then(|spread| relative(&spread)).unwrap_or_default());
        }
        // The slope is of other numbers of tasks where this row has no figures.
        let text = |figure| row.text(figure).filter(|_| row.has_figures()).unwrap_or_default();
        cells.extend(columns(report.shape).iter().map(|shown| text(shown.figure)));
        cells.push(match row.times_best {
            Some(1.0) => "**1.00**".to_owned(),
            Some(times) => units::decimal(times, 2),
            None if row.entry.reference => footnotes::REFERENCE.to_owned(),
            None => String::new(),
        });
        table.row(cells);
        for told in told(row) {
            let reason = prose(&brief(&told.reason, REASON));
            below.push(format!("{} **{}**: {reason}", name(&row.entry), told.head));
        }
        if let Some(source) = footnotes::unusual_source(report, &row.memory_sources) {
            below.push(format!("{}: memory by {source}, so not ranked", name(&row.entry)));
        }
    }
    table.put(out);
    for line in &below {
        out.push_str(&format!("- {line}\n"));
    }
    if !below.is_empty() {
        out.push('\n');
    }
}

/// What a row is, where it is not simply ok.
fn status<'a>(report: &Report, row: &'a Row) -> Option<&'a str> {
    let unusual = || footnotes::unusual_source(report, &row.memory_sources).is_some();
    if row.ok_runs < row.runs {
        Some(&row.status)
    } else if unusual() {
        Some("other source")
    } else {
        None
    }
}

fn growth(out: &mut String, report: &Report) {
    if report.growth.iter().all(|growth| growth.bytes_per_task.is_none()) {
        return;
    }
    out.push_str("#### Growth with N\n\n");
    let mut table = Table::new();
    table.column("entry", false);
    table.column("kind", false);
    for name in ["base MiB", "95 % interval", "B/task", "95 % interval", "off the line", "runs"] {
        table.column(name, true);
    }
    for growth in &report.growth {
        let mut cells = vec![name(&growth.entry), footnotes::kind_with_marks(&growth.entry)];
        cells.extend(growth_texts(growth));
        cells.push(units::grouped(growth.points));
        table.row(cells);
    }
    table.put(out);
    let bent: Vec<String> = report
        .growth
        .iter()
        .filter_map(|growth| Some(format!("- {}: {}\n", name(&growth.entry), bent_text(growth)?)))
        .collect();
    if !bent.is_empty() {
        out.push_str(&format!("{}\n", bent.concat()));
    }
}

/// A table whose source can be read as well: cells are padded by characters.
pub(crate) struct Table {
    /// Name, and whether to align to the right.
    columns: Vec<(Cow<'static, str>, bool)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new() -> Table {
        Table { columns: Vec::new(), rows: Vec::new() }
    }

    pub(crate) fn column(&mut self, name: impl Into<Cow<'static, str>>, right: bool) {
        self.columns.push((name.into(), right));
    }

    pub(crate) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    pub(crate) fn put(&self, out: &mut String) {
        let width = |i: usize, name: &str| {
            let cells =
                self.rows.iter().filter_map(|row| row.get(i)).map(|cell| super::sanitize::width(cell));
            cells.chain([super::sanitize::width(name), 3]).max().unwrap_or(3)
        };
        let widths: Vec<usize> =
            self.columns.iter().enumerate().map(|(i, (name, _))| width(i, name)).collect();
        let last = self.columns.len().saturating_sub(1);
        let mut line = |cells: &mut dyn Iterator<Item = &str>| {
            for (i, cell) in cells.enumerate() {
                let padding = " ".repeat(widths[i].saturating_sub(super::sanitize::width(cell)));
                let padded = match (self.columns[i].1, i == last) {
                    (true, _) => format!("| {padding}{cell} "),
                    // A reason may be long: it must not push every other line out to its width.
                    (false, true) => format!("| {cell} "),
                    (false, false) => format!("| {cell}{padding} "),
                };
                out.push_str(&padded);
            }
            out.push_str("|\n");
        };
        line(&mut self.columns.iter().map(|(name, _)| name.as_ref()));
        let rules: Vec<String> = (self.columns.iter().zip(&widths).enumerate())
            .map(|(i, ((_, right), width))| match (right, i == last) {
                (true, _) => format!("{}:", "-".repeat(width - 1)),
                (false, true) => "---".to_owned(),
                (false, false) => "-".repeat(*width),
            })
            .collect();
        line(&mut rules.iter().map(String::as_str));
        for row in &self.rows {
            line(&mut row.iter().map(String::as_str));
        }
        out.push('\n');
    }
}

fn name(entry: &Entry) -> String {
    code(&entry.name)
}

/// The text as code, in which nothing has a meaning; as escaped prose where code cannot hold it: a backquote would
/// end it, and inside a table a bar would end the cell, with or without a backslash.
pub(crate) fn code(text: &str) -> String {
    let text = safe(text);
    if text.trim().is_empty() || text.contains(['`', '|', '\\']) { prose(&text) } else { format!("`{text}`") }
}

/// The text with everything escaped that means something to Markdown, HTML or GitHub.
pub(crate) fn prose(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut before = ' ';
    let text = safe(text);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let link = (before == ':' && c == '/') || (c == '.' && escaped.ends_with("www"));
        let within_word =
            c == '_' && before.is_alphanumeric() && chars.peek().is_some_and(|c| c.is_alphanumeric());
        if link || ("\\`*_[]<>|~&#$!".contains(c) && !within_word) {
            escaped.push('\\');
        }
        escaped.push(c);
        if c == '@' {
            // GitHub notifies whoever is named behind it, backslash or not.
            escaped.push_str("<!-- -->");
        }
        before = c;
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_means_anything() {
        assert_eq!(prose("a|b <b>x</b>"), r"a\|b \<b\>x\</b\>");
        assert_eq!(prose(r"\| *x* [y](z)"), r"\\\| \*x\* \[y\](z)");
        assert_eq!(
            prose("ask @someone at https://example.org"),
            r"ask @<!-- -->someone at https:\//example.org"
        );
        assert_eq!(prose("one\ntwo, now. www.x.y"), r"one two, now. www\.x.y");
        assert_eq!(code("go/goroutine"), "`go/goroutine`");
        assert_eq!(code("@someone"), "`@someone`");
        assert_eq!(code("a`b|c"), r"a\`b\|c");
        assert_eq!(code(" "), " ");
    }
}
