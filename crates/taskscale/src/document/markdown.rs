//! A document as Markdown that pastes well into a GitHub issue.
//!
//! Texts from results cannot create tables, links, mentions or HTML.

use super::model::{
    Block, Column, ColumnContent, Document, DocumentRow, Emphasis, NOTE_LENGTH, Table, TableCell,
    TableSection,
};
use super::sanitize::{brief, command_line, safe, width};

impl Document {
    /// As Markdown that ends in a line end.
    pub fn markdown(&self) -> String {
        let mut out = String::new();
        // Follows the open sections.
        let mut folded = String::new();
        for block in &self.blocks {
            match block {
                Block::Title(title) => {
                    out.push_str(&std::mem::take(&mut folded));
                    out.push_str(&format!("### taskscale: {}\n\n", prose(title)));
                }
                Block::Text(text, emphasis) => {
                    out.push_str(&format!("{}\n\n", emphasized(prose(text), *emphasis)))
                }
                Block::Table(table) => {
                    for section in &table.sections {
                        let (heading, rows) = (prose(&section.heading), rows(table, section));
                        match section.folded {
                            true => fold(&mut folded, &heading, &rows),
                            false => out.push_str(&format!("#### {heading}\n\n{rows}")),
                        }
                    }
                }
            }
        }
        out.push_str(&folded);
        let said = self.notes.iter().chain(&self.details).chain(&self.provenance).map(|text| prose(text));
        let command = (!self.command.is_empty()).then(|| code(&command_line(&self.command)));
        let notes = bullets(said.chain(command));
        if !notes.is_empty() {
            fold(&mut out, "Notes and provenance", &notes);
        }
        format!("{}\n", out.trim_end())
    }
}

fn fold(out: &mut String, summary: &str, text: &str) {
    out.push_str(&format!("<details><summary>{summary}</summary>\n\n{text}</details>\n\n"));
}

fn bullets(items: impl Iterator<Item = String>) -> String {
    let list: String = items.map(|item| format!("- {item}\n")).collect();
    if list.is_empty() { list } else { format!("{list}\n") }
}

/// Bold in place of the colors of a terminal.
fn emphasized(text: String, emphasis: Emphasis) -> String {
    if matches!(emphasis, Emphasis::Strong | Emphasis::Bad) { format!("**{text}**") } else { text }
}

/// The table, and its notes below: within the table, long reasons would push values out of view.
fn rows(table: &Table, section: &TableSection) -> String {
    let mut out = String::new();
    let complete = || section.rows.iter().filter(|row| row.is_complete(table));
    // Only columns with a value in some complete row.
    let has = |i: usize| complete().any(|row| !cell(&row.cells[i]).is_empty());
    let shown: Vec<usize> = (0..table.columns.len()).filter(|i| has(*i)).collect();
    if !shown.is_empty() {
        let lines = section.rows.iter().map(|row| shown.iter().map(|i| of_row(row, *i)).collect()).collect();
        aligned(&mut out, &shown.iter().map(|i| &table.columns[*i]).collect::<Vec<_>>(), lines);
    }
    let notes = section.rows.iter().flat_map(|row| {
        row.notes.iter().map(|note| {
            let name = row.cells.first().map(cell).unwrap_or_default();
            let head = if note.head.is_empty() { name } else { format!("{name} **{}**", prose(&note.head)) };
            format!("{head}: {}", prose(&brief(&note.text, NOTE_LENGTH)))
        })
    });
    out + &bullets(notes)
}

fn of_row(row: &DocumentRow, column: usize) -> String {
    let text = row.cells.get(column).map(cell).unwrap_or_default();
    match row.flag.as_deref().filter(|_| column == 0) {
        Some(flag) => format!("{text} **{}**", prose(flag)),
        None => text,
    }
}

fn cell(cell: &TableCell) -> String {
    match cell {
        TableCell::Name(text, _) => code(text),
        TableCell::Entry(name, more, _) => format!("{}{}", code(name), prose(more)),
        TableCell::Text(text, _) if text.is_empty() => String::new(),
        TableCell::Text(text, emphasis) | TableCell::Marked(text, emphasis, None) => {
            emphasized(prose(text), *emphasis)
        }
        TableCell::Marked(text, emphasis, Some(mark)) => {
            format!("{} {}", emphasized(prose(text), *emphasis), prose(mark))
        }
        TableCell::Bar(..) => String::new(),
    }
}

/// Appends a table whose source is readable, too: padded to equal widths.
fn aligned(out: &mut String, columns: &[&Column], lines: Vec<Vec<String>>) {
    let names: Vec<String> = columns.iter().map(|column| prose(&column.name)).collect();
    // A long text must not widen all other lines.
    let lines_of = |i: usize| lines.iter().filter(move |_| columns[i].content != ColumnContent::Prose);
    let widest = |i: usize| lines_of(i).chain([&names]).map(|line| width(&line[i])).max().unwrap_or(0).max(3);
    let widths: Vec<usize> = (0..columns.len()).map(widest).collect();
    let rules = widths.iter().zip(columns).map(|(width, column)| match column.content {
        ColumnContent::Figures => format!("{}:", "-".repeat(width - 1)),
        _ => "-".repeat(*width),
    });
    for line in [&names, &rules.collect()].into_iter().chain(&lines) {
        for ((text, column), most) in line.iter().zip(columns).zip(&widths) {
            let padding = " ".repeat(most.saturating_sub(width(text)));
            out.push_str(&match column.content {
                ColumnContent::Figures => format!("| {padding}{text} "),
                _ => format!("| {text}{padding} "),
            });
        }
        out.push_str("|\n");
    }
    out.push('\n');
}

/// The text as code, where Markdown interprets nothing, or as escaped prose if code cannot contain it: a
/// backquote ends the code, and a bar ends a table cell, with or without a backslash.
fn code(text: &str) -> String {
    let text = safe(text);
    if text.trim().is_empty() || text.contains(['`', '|', '\\']) { prose(&text) } else { format!("`{text}`") }
}

/// The text with everything escaped that Markdown, HTML or GitHub would interpret.
fn prose(text: &str) -> String {
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
            // GitHub notifies the user named after `@`, with or without a backslash.
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
    fn markup_is_escaped() {
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
