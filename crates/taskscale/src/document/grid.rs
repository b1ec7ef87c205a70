//! A table in a terminal: aligned, colored if requested, and never wider than allowed.

use anstyle::{AnsiColor, Style};

use super::bar::{Bars, bar};
use super::model::{
    ColumnContent, DocumentRow, Emphasis, NOTE_LENGTH, RenderOptions, RowNote, Table, TableCell,
};
use super::sanitize::{brief, safe, shortened, width, wrapped};
use super::style::{painted, style};

/// Minimum width of the first column when it is shortened.
const MIN_FIRST_WIDTH: usize = 12;
/// The first column may be shortened down to this before any other column is left out.
const FAIR_FIRST: usize = 24;

/// The least and the most room for a bar.
const BAR: (usize, usize) = (8, 24);
const BAR_STYLE: Style = AnsiColor::Cyan.on_default();

/// Spaces between columns.
const GAP: usize = 2;

/// Writes the table, and returns the columns with values that did not fit.
pub(super) fn put(out: &mut String, table: &Table, options: RenderOptions) -> Vec<String> {
    let (grid, left_out) = Grid::of(table, options);
    let mut pen = Pen { out, options, owed: 0 };
    for (position, section) in table.sections.iter().enumerate() {
        if position > 0 {
            pen.end_line();
        }
        let names = table.columns.iter().map(|column| Piece::text(&column.short, Emphasis::Quiet));
        let mut names: Vec<Piece> = names.collect();
        if table.begins_with_names() {
            names[0] = Piece::text(&section.heading, section.emphasis);
        } else {
            pen.put(&safe(&section.heading), style(section.emphasis));
            pen.end_line();
        }
        grid.cells(&mut pen, &names);
        pen.end_line();
        pen.put(&"─".repeat(grid.total()), style(Emphasis::Quiet));
        pen.end_line();
        section.rows.iter().for_each(|row| grid.row(&mut pen, row));
    }
    left_out
}

/// The widths of columns, and which columns are shown.
struct Grid<'t> {
    table: &'t Table,
    limit: usize,
    widths: Vec<usize>,
    shown: Vec<usize>,
    /// Maximum width of marks, so that the values before them align.
    marks: usize,
}

/// The content of a cell: a text of one or two styles, or a bar.
enum Piece {
    Text(Vec<(String, Style)>),
    Bar(f64, Style),
}

impl Piece {
    fn text(text: &str, emphasis: Emphasis) -> Piece {
        Piece::Text(vec![(safe(text).into_owned(), style(emphasis))])
    }

    fn width(&self) -> usize {
        match self {
            Piece::Text(parts) => parts.iter().map(|(text, _)| width(text)).sum(),
            Piece::Bar(..) => BAR.0,
        }
    }
}

impl<'t> Grid<'t> {
    fn of(table: &'t Table, options: RenderOptions) -> (Grid<'t>, Vec<String>) {
        let rows = || table.sections.iter().flat_map(|section| &section.rows);
        let marks = rows().flat_map(|row| &row.cells).filter_map(|cell| match cell {
            TableCell::Marked(.., mark) => mark.as_deref().map(|mark| width(mark) + 1),
            _ => None,
        });
        let (limit, marks) = (options.width, marks.max().unwrap_or(0));
        // Columns without any value are hidden.
        let is_empty = |i: usize| {
            let has = |row: &DocumentRow| match row.cells.get(i) {
                Some(TableCell::Text(text, _)) => !text.is_empty(),
                cell => cell.is_some(),
            };
            i > 0 && !rows().any(has)
        };
        let is_shown = |i: &usize| match table.columns[*i].content {
            ColumnContent::Bars => options.bars != Bars::Hidden,
            ColumnContent::Prose => true,
            ColumnContent::Words | ColumnContent::Figures => !is_empty(*i),
        };
        let shown = (0..table.columns.len()).filter(is_shown).collect();
        let mut grid = Grid { table, limit, widths: Vec::new(), shown, marks };
        let mut widths: Vec<usize> = table.columns.iter().map(|column| width(&column.short)).collect();
        if table.begins_with_names() {
            let headings = table.sections.iter().map(|section| width(&safe(&section.heading)));
            widths[0] = headings.max().unwrap_or(0);
        }
        for row in rows().filter(|row| !row.heading) {
            for (i, cell) in row.cells.iter().enumerate().filter(|(i, _)| !grid.is_prose(*i)) {
                widths[i] = widths[i].max(grid.piece(cell).width());
            }
        }
        grid.widths = widths;
        let left_out = grid.fit();
        (grid, left_out)
    }

    /// Shortens names to `FAIR_FIRST`, then drops columns, then shortens names to `MIN_FIRST_WIDTH`. Bars take the
    /// rest. Returns the dropped columns, except bars.
    fn fit(&mut self) -> Vec<String> {
        let columns = &self.table.columns;
        let mut left_out = Vec::new();
        let first = self.widths.first().copied().unwrap_or(0);
        while self.total().saturating_sub(self.limit) > first.saturating_sub(FAIR_FIRST) {
            let drop_priority = self.shown.iter().copied().filter(|i| columns[*i].drop_priority.is_some());
            let Some(next) = drop_priority.min_by_key(|i| columns[*i].drop_priority) else { break };
            self.shown.retain(|i| *i != next);
            // A bar only repeats a value of the row.
            if columns[next].content != ColumnContent::Bars {
                left_out.push(columns[next].short.to_string());
            }
        }
        let excess = self.total().saturating_sub(self.limit);
        if let Some(first) = self.widths.first_mut() {
            *first = first.saturating_sub(excess).max(MIN_FIRST_WIDTH.min(*first));
        }
        let left = self.limit.saturating_sub(self.total());
        if let Some(bars) = self.shown.iter().find(|i| columns[**i].content == ColumnContent::Bars) {
            let width = &mut self.widths[*bars];
            *width = (*width + left).min(BAR.1.max(*width));
        }
        left_out
    }

    /// Width of the table, in terminal columns.
    fn total(&self) -> usize {
        self.shown.iter().map(|i| self.widths[*i]).sum::<usize>() + GAP * self.shown.len().saturating_sub(1)
    }

    fn is_prose(&self, column: usize) -> bool {
        self.table.columns.get(column).is_some_and(|column| column.content == ColumnContent::Prose)
    }

    fn piece(&self, cell: &TableCell) -> Piece {
        match cell {
            TableCell::Name(text, emphasis) | TableCell::Text(text, emphasis) => Piece::text(text, *emphasis),
            TableCell::Entry(name, more, emphasis) => Piece::Text(vec![
                (format!("  {}", safe(name)), style(*emphasis)),
                (safe(more).into_owned(), style(Emphasis::Quiet)),
            ]),
            TableCell::Marked(text, emphasis, mark) => {
                let mark = mark.as_deref().map_or(String::new(), |mark| format!(" {mark}"));
                let columns = self.marks;
                let mark = (format!("{mark:>columns$}"), style(Emphasis::Quiet));
                Piece::Text(vec![(safe(text).into_owned(), style(*emphasis)), mark])
            }
            TableCell::Bar(share, Emphasis::Plain) => Piece::Bar(*share, BAR_STYLE),
            TableCell::Bar(share, emphasis) => Piece::Bar(*share, style(*emphasis)),
        }
    }

    fn row(&self, pen: &mut Pen, row: &DocumentRow) {
        if let (true, Some(TableCell::Text(title, emphasis))) = (row.heading, row.cells.first()) {
            pen.put(&safe(title), style(*emphasis));
            return pen.end_line();
        }
        let pieces: Vec<Piece> = row.cells.iter().map(|cell| self.piece(cell)).collect();
        if !row.is_complete(self.table) {
            let notes: Vec<String> = row.notes.iter().map(said).collect();
            let emphasis = row.notes.first().map_or(Emphasis::Plain, |note| note.emphasis);
            return self.over(pen, &pieces, &notes.join("; "), style(emphasis));
        }
        match row.cells.last() {
            Some(TableCell::Text(text, emphasis)) if self.is_prose(pieces.len() - 1) => {
                self.over(pen, &pieces[..pieces.len() - 1], &safe(text), style(*emphasis));
            }
            _ => {
                self.cells(pen, &pieces);
                pen.end_line();
            }
        }
        for note in &row.notes {
            self.over(pen, &[], &format!("└ {}", said(note)), style(note.emphasis));
        }
    }

    /// Writes the first pieces of a row, and a text over the rest of the width, wrapped if needed.
    fn over(&self, pen: &mut Pen, pieces: &[Piece], text: &str, style: Style) {
        self.cells(pen, pieces);
        let first = self.shown.iter().filter(|i| **i < pieces.len());
        let indent = first.map(|i| self.widths[*i] + GAP).sum::<usize>().max(GAP);
        let mut owed = if pieces.is_empty() { indent } else { GAP };
        for (i, line) in wrapped(text, self.limit.saturating_sub(indent).max(1)).iter().enumerate() {
            if i > 0 {
                pen.end_line();
                owed = indent;
            }
            pen.owed += owed;
            pen.put(line, style);
        }
        pen.end_line();
    }

    fn cells(&self, pen: &mut Pen, pieces: &[Piece]) {
        for (nth, &i) in self.shown.iter().enumerate() {
            let Some(piece) = pieces.get(i) else { break };
            pen.owed += if nth > 0 { GAP } else { 0 };
            let room = self.widths[i];
            let padding = room.saturating_sub(piece.width());
            let to_the_right = self.table.columns[i].content == ColumnContent::Figures;
            pen.owed += if to_the_right { padding } else { 0 };
            match piece {
                // Nothing follows a bar.
                Piece::Bar(share, style) => pen.put(&bar(*share, room, pen.options.bars), *style),
                Piece::Text(parts) if piece.width() > room => {
                    // Only the first column is ever shortened, and a heading above prose, which has room.
                    let text: String = parts.iter().map(|(text, _)| text.as_str()).collect();
                    let style = parts.first().map_or_else(Style::new, |(_, style)| *style);
                    let text = shortened(&text, room);
                    pen.put(&text, style);
                    pen.owed += room.saturating_sub(width(&text));
                }
                Piece::Text(parts) => parts.iter().for_each(|(text, style)| pen.put(text, *style)),
            }
            pen.owed += if to_the_right { 0 } else { padding };
        }
    }
}

/// A note as one text.
fn said(note: &RowNote) -> String {
    let lead = if note.head.is_empty() { String::new() } else { format!("{}: ", safe(&note.head)) };
    format!("{lead}{}", brief(&note.text, NOTE_LENGTH))
}

/// Writes text. Spaces are owed until text follows: no line ends in them.
struct Pen<'o> {
    out: &'o mut String,
    options: RenderOptions,
    owed: usize,
}

impl Pen<'_> {
    fn put(&mut self, text: &str, style: Style) {
        let trimmed = text.trim_end_matches(' ');
        let leading = trimmed.len() - trimmed.trim_start_matches(' ').len();
        self.owed += leading;
        let inner = &trimmed[leading..];
        if !inner.is_empty() {
            self.out.push_str(&" ".repeat(self.owed));
            self.owed = 0;
            self.out.push_str(&painted(inner, style, self.options.color));
        }
        self.owed += text.len() - trimmed.len();
    }

    fn end_line(&mut self) {
        self.owed = 0;
        self.out.push('\n');
    }
}
