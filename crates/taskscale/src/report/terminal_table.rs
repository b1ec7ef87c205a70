//! Columns of text on a terminal: aligned, coloured where asked, and never wider than they may be.
//!
//! Knows nothing of reports. All texts must have been made [safe](super::sanitize::safe) before.

use std::borrow::Cow;

use anstyle::Style;

use super::bar::{Bars, bar};
use super::sanitize::{shortened, width, wrapped};

/// Narrower than this, the first column is shortened no further.
const LEAST_FIRST: usize = 12;
/// The first column may be shortened down to this before any other column is left out.
const FAIR_FIRST: usize = 24;

/// The least and the most room for a bar.
const BAR: (usize, usize) = (8, 24);

/// A text of one or more styles, or a bar.
#[derive(Debug, Clone)]
pub enum Cell {
    Text(Vec<(String, Style)>),
    /// A share of the column's width, 0 to 1.
    Bar(f64, Style),
}

impl Cell {
    pub fn new(text: impl Into<String>, style: Style) -> Cell {
        Cell::Text(vec![(text.into(), style)])
    }

    /// More text behind a text.
    #[must_use]
    pub fn then(mut self, text: impl Into<String>, style: Style) -> Cell {
        if let Cell::Text(parts) = &mut self {
            parts.push((text.into(), style));
        }
        self
    }

    fn width(&self) -> usize {
        match self {
            Cell::Text(parts) => parts.iter().map(|(text, _)| width(text)).sum(),
            Cell::Bar(..) => BAR.0,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    Left,
    Right,
}

#[derive(Debug, Clone)]
pub struct Column {
    pub name: Cow<'static, str>,
    pub align: Align,
    /// Left out where the grid would be too wide; the lowest number first.
    pub spare: Option<u8>,
}

/// A table whose first column gives way where room is short.
#[derive(Debug)]
pub struct Grid {
    columns: Vec<Column>,
    lines: Vec<Line>,
}

#[derive(Debug)]
enum Line {
    Cells(Vec<Cell>),
    /// The first cells, and then a text over the rest of the width.
    Over(Vec<Cell>, String, Style),
    Rule,
    Blank,
}

impl Grid {
    pub fn new(columns: Vec<Column>) -> Grid {
        Grid { columns, lines: Vec::new() }
    }

    /// A heading in the first column beside the names of the others, and a rule below.
    pub fn heading(&mut self, heading: Cell, names: Style) {
        if !self.lines.is_empty() {
            self.lines.push(Line::Blank);
        }
        let names = self.columns.iter().skip(1).map(|column| Cell::new(column.name.clone(), names));
        self.lines.push(Line::Cells(std::iter::once(heading).chain(names).collect()));
        self.lines.push(Line::Rule);
    }

    /// One cell for each column.
    pub fn row(&mut self, cells: Vec<Cell>) {
        self.lines.push(Line::Cells(cells));
    }

    /// Fewer cells than columns, and then a text that takes the width that is left, on several lines if need be.
    pub fn over(&mut self, cells: Vec<Cell>, text: impl Into<String>, style: Style) {
        self.lines.push(Line::Over(cells, text.into(), style));
    }

    /// The lines, and the names of columns that were left out. A column of bars takes the width that is left.
    pub fn render(&self, limit: usize, color: bool, bars: Bars) -> (String, Vec<String>) {
        let mut widths = self.widths();
        let mut shown: Vec<usize> = (0..self.columns.len()).collect();
        let mut left_out = Vec::new();
        let total = |widths: &[usize], shown: &[usize]| -> usize {
            shown.iter().map(|i| widths[*i]).sum::<usize>() + 2 * shown.len().saturating_sub(1)
        };
        // Names first give way as far as is fair, then columns, then names as far as it takes.
        let first = widths.first().copied().unwrap_or(0);
        loop {
            let excess = total(&widths, &shown).saturating_sub(limit);
            if excess <= first.saturating_sub(FAIR_FIRST) {
                break;
            }
            let next = shown.iter().copied().filter(|i| self.columns[*i].spare.is_some());
            let Some(next) = next.min_by_key(|i| self.columns[*i].spare) else {
                break;
            };
            shown.retain(|i| *i != next);
            left_out.push(self.columns[next].name.to_string());
        }
        let excess = total(&widths, &shown).saturating_sub(limit);
        if let Some(first) = widths.first_mut() {
            *first = first.saturating_sub(excess).max(LEAST_FIRST.min(*first));
        }
        if let Some(bars) = shown.iter().copied().find(|i| self.is_of_bars(*i)) {
            let spare = limit.saturating_sub(total(&widths, &shown));
            widths[bars] = (widths[bars] + spare).min(BAR.1.max(widths[bars]));
        }
        let full = total(&widths, &shown);
        let mut out = Out { text: String::new(), color, bars, owed: 0 };
        for line in &self.lines {
            match line {
                Line::Blank => {}
                Line::Rule => out.put(&"─".repeat(full), Style::new().dimmed()),
                Line::Cells(cells) => self.put(&mut out, cells, &widths, &shown),
                Line::Over(cells, text, style) => {
                    let first: Vec<usize> = shown.iter().copied().filter(|i| *i < cells.len()).collect();
                    self.put(&mut out, cells, &widths, &first);
                    let indent = if first.is_empty() { 2 } else { total(&widths, &first) + 2 };
                    let mut at = if first.is_empty() { 0 } else { total(&widths, &first) };
                    for (i, text) in wrapped(text, limit.saturating_sub(indent).max(1)).iter().enumerate() {
                        if i > 0 {
                            out.end_line();
                            at = 0;
                        }
                        out.owed += indent - at;
                        out.put(text, *style);
                    }
                }
            }
            out.end_line();
        }
        (out.text, left_out)
    }

    fn is_of_bars(&self, column: usize) -> bool {
        let of_bars = |line: &Line| matches!(line, Line::Cells(cells) if matches!(cells.get(column), Some(Cell::Bar(..))));
        self.lines.iter().any(of_bars)
    }

    fn widths(&self) -> Vec<usize> {
        let mut widths = vec![0; self.columns.len()];
        for line in &self.lines {
            if let Line::Cells(cells) | Line::Over(cells, ..) = line {
                for (width, cell) in widths.iter_mut().zip(cells) {
                    *width = cell.width().max(*width);
                }
            }
        }
        widths
    }

    fn put(&self, out: &mut Out, cells: &[Cell], widths: &[usize], shown: &[usize]) {
        for (nth, &i) in shown.iter().enumerate() {
            let Some(cell) = cells.get(i) else { break };
            out.owed += if nth > 0 { 2 } else { 0 };
            let room = widths[i];
            let padding = room.saturating_sub(cell.width());
            if self.columns[i].align == Align::Right {
                out.owed += padding;
            }
            match cell {
                // Nothing stands behind a bar.
                Cell::Bar(share, style) => out.put(&bar(*share, room, out.bars), *style),
                Cell::Text(parts) if cell.width() > room => {
                    // Only the first column is ever shortened. Its marks, if any, are part of the text.
                    let text: String = parts.iter().map(|(text, _)| text.as_str()).collect();
                    let style = parts.first().map_or_else(Style::new, |(_, style)| *style);
                    let text = shortened(&text, room);
                    out.put(&text, style);
                    out.owed += room.saturating_sub(width(&text));
                }
                Cell::Text(parts) => {
                    for (text, style) in parts {
                        out.put(text, *style);
                    }
                }
            }
            if self.columns[i].align == Align::Left {
                out.owed += padding;
            }
        }
    }
}

/// What has been put so far. Spaces are owed until something follows: no line ends in them.
struct Out {
    text: String,
    color: bool,
    bars: Bars,
    owed: usize,
}

impl Out {
    fn put(&mut self, text: &str, style: Style) {
        let trimmed = text.trim_end_matches(' ');
        let leading = trimmed.len() - trimmed.trim_start_matches(' ').len();
        self.owed += leading;
        let inner = &trimmed[leading..];
        if !inner.is_empty() {
            self.text.push_str(&" ".repeat(self.owed));
            self.owed = 0;
            self.text.push_str(&painted(inner, style, self.color));
        }
        self.owed += text.len() - trimmed.len();
    }

    fn end_line(&mut self) {
        self.owed = 0;
        self.text.push('\n');
    }
}

/// The text in the style, where colour is wanted.
pub fn painted(text: &str, style: Style, color: bool) -> String {
    if color { format!("{style}{text}{style:#}") } else { text.to_owned() }
}
