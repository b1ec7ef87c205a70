//! The report as a table for the terminal.
//!
//! One unit per column, so that figures can be compared at a glance; one heading per number of tasks. Must not decide
//! whether this is a terminal: the caller says how wide, and whether in colour.

use std::borrow::Cow;

use anstyle::{AnsiColor, Style};

use super::RenderOptions;
use super::footnotes;
use super::model::{Entry, Report, Row};
use super::phrases::{NONE, REASON, bent_text, growth_texts, relative, slope_text, told};
use super::sanitize::{brief, safe, wrapped};
use super::terminal_table::{Align, Cell, Column, Grid, painted};
use crate::catalog::Kind;
use crate::figures::time_text;
use crate::stats::Spread;
use crate::units::{self, mib};

pub(super) const PLAIN: Style = Style::new();
pub(super) const STRONG: Style = Style::new().bold();
pub(super) const QUIET: Style = Style::new().dimmed();
pub(super) const GOOD: Style = AnsiColor::Green.on_default().bold();
pub(super) const SHORT: Style = AnsiColor::Yellow.on_default();
pub(super) const BAD: Style = AnsiColor::Red.on_default();
const BAR: Style = AnsiColor::Cyan.on_default();

/// Sentences are not broken later than this, however wide the terminal: longer lines are hard to read.
const TEXT_WIDTH: usize = 100;

pub fn render(report: &Report, options: RenderOptions) -> String {
    let page = Page::new(options);
    let mut out = String::new();
    page.paragraph(&mut out, &footnotes::title(report, page.quote), STRONG);
    page.paragraph(&mut out, &footnotes::machine(report, page.quote), QUIET);
    page.paragraph(&mut out, &footnotes::hold(report), QUIET);
    let left_out = page.groups(&mut out, report);
    page.growth(&mut out, report);
    page.unavailable(&mut out, report);
    out.push('\n');
    for note in footnotes::notes(report, page.quote) {
        page.bullet(&mut out, &note);
    }
    page.left_out(&mut out, &left_out);
    out.push('\n');
    page.paragraph(&mut out, &footnotes::provenance(report, page.quote), QUIET);
    page.paragraph(&mut out, &footnotes::command(report), QUIET);
    out
}

pub(super) struct Page {
    options: RenderOptions,
    pub(super) quote: fn(&str) -> String,
}

impl Page {
    pub(super) fn new(options: RenderOptions) -> Page {
        Page { options, quote: |text| safe(text).into_owned() }
    }

    pub(super) fn paragraph(&self, out: &mut String, text: &str, style: Style) {
        for line in wrapped(text, self.options.width.min(TEXT_WIDTH)) {
            out.push_str(&painted(&line, style, self.options.color));
            out.push('\n');
        }
    }

    pub(super) fn bullet(&self, out: &mut String, text: &str) {
        for (i, line) in
            wrapped(text, self.options.width.min(TEXT_WIDTH).saturating_sub(2)).iter().enumerate()
        {
            let lead = if i == 0 { "· " } else { "  " };
            out.push_str(&painted(&format!("{lead}{line}"), QUIET, self.options.color));
            out.push('\n');
        }
    }

    /// Names the columns for which there was no room.
    pub(super) fn left_out(&self, out: &mut String, columns: &[String]) {
        if !columns.is_empty() {
            self.bullet(out, &format!("Left out for lack of width: {}.", columns.join(", ")));
        }
    }

    pub(super) fn put(&self, out: &mut String, grid: &Grid) -> Vec<String> {
        let (text, left_out) = grid.render(self.options.width, self.options.color, self.options.bars);
        out.push('\n');
        out.push_str(&text);
        left_out
    }

    /// The table of the main job. Names the columns for which there was no room.
    fn groups(&self, out: &mut String, report: &Report) -> Vec<String> {
        let mut grid = Grid::new(vec![
            left("entry"),
            left("kind"),
            right("footprint MiB", None),
            right("kernel", Some(4)),
            // It stands in the next table as well, with its interval.
            right("B/task", Some(0)),
            right("launch s", Some(3)),
            right("wall s", Some(1)),
            right("CPU s", Some(5)),
            right("× best", None),
            // The footprint once more: it goes before a figure that stands nowhere else.
            Column { spare: Some(2), ..left("footprint") },
        ]);
        let spreads =
            report.groups.iter().flat_map(|group| &group.rows).filter_map(|row| row.footprint_bytes);
        let spreads = SpreadWidth::of(spreads);
        for group in report.groups.iter().filter(|group| !group.rows.is_empty()) {
            grid.heading(Cell::new(footnotes::tasks(group.tasks), STRONG), QUIET);
            let footprint = |row: &Row| row.footprint_bytes.map(|spread| spread.median);
            let largest = group.rows.iter().filter_map(footprint).fold(0.0, f64::max);
            for row in &group.rows {
                let share = footprint(row).filter(|_| largest > 0.0).map_or(0.0, |bytes| bytes / largest);
                self.row(&mut grid, report, row, spreads, share);
            }
        }
        let mut left_out = self.put(out, &grid);
        // No figure is missing without them.
        left_out.retain(|name| name != "footprint");
        left_out
    }

    /// `share` is the row's footprint as a share of the largest in its group.
    fn row(&self, grid: &mut Grid, report: &Report, row: &Row, spreads: SpreadWidth, share: f64) {
        let style = if row.entry.reference { QUIET } else { PLAIN };
        let [name, kind] = self.names(&row.entry, style);
        let told: Vec<String> =
            told(row).iter().map(|told| format!("{}: {}", told.head, brief(&told.reason, REASON))).collect();
        if !row.has_figures() {
            let text =
                if told.is_empty() { "ok, but nothing was measured".to_owned() } else { told.join("; ") };
            grid.over(vec![name, kind], text, BAD);
            return;
        }
        let number = |value: Option<f64>, decimals| match value {
            Some(value) => Cell::new(units::decimal(value, decimals), style),
            None => Cell::new(NONE, QUIET),
        };
        let times = match row.times_best {
            // The best itself, and what equals it.
            Some(1.0) => Cell::new("1.00", GOOD),
            Some(times) => Cell::new(units::decimal(times, 2), style),
            None if row.entry.reference => Cell::new(footnotes::REFERENCE, QUIET),
            None => Cell::new(NONE, QUIET),
        };
        grid.row(vec![
            name,
            kind,
            spreads.cell(row.footprint_bytes, style),
            number(row.kernel_bytes.map(mib), 1),
            row.bytes_per_task
                .map_or(Cell::new(NONE, QUIET), |slope| Cell::new(slope_text(slope, row.straight), style)),
            time(row.launch_s, style),
            time(row.wall_s, style),
            time(row.cpu_s, style),
            times,
            Cell::Bar(share, if row.ranked { BAR } else { QUIET }),
        ]);
        if !told.is_empty() {
            let lead = if row.ok_runs > 0 { format!("{}; ", row.status) } else { String::new() };
            grid.over(vec![], format!("└ {lead}{}", told.join("; ")), SHORT);
        }
        if let Some(source) = footnotes::unusual_source(report, &row.memory_sources) {
            grid.over(vec![], format!("└ memory by {source}: not ranked"), SHORT);
        }
    }

    fn names(&self, entry: &Entry, style: Style) -> [Cell; 2] {
        // A timer is the least like a task: it must not pass for one.
        let kind_style = if entry.kind == Kind::Timer { SHORT } else { QUIET };
        [
            Cell::new((self.quote)(&entry.name), style),
            Cell::new(footnotes::kind_with_marks(entry), kind_style),
        ]
    }

    /// Base and bytes per task. Left out where no entry has a line.
    fn growth(&self, out: &mut String, report: &Report) {
        if report.growth.iter().all(|growth| growth.bytes_per_task.is_none()) {
            return;
        }
        let mut grid = Grid::new(vec![
            left("entry"),
            left("kind"),
            right("base MiB", None),
            right("95 % interval", Some(0)),
            right("B/task", None),
            right("95 % interval", Some(2)),
            right("off the line", None),
            right("runs", Some(1)),
        ]);
        grid.heading(Cell::new("growth with N", STRONG), QUIET);
        for growth in &report.growth {
            let style = if growth.entry.reference { QUIET } else { PLAIN };
            let [name, kind] = self.names(&growth.entry, style);
            let [base, base_interval, slope, slope_interval, off] = growth_texts(growth);
            grid.row(vec![
                name,
                kind,
                Cell::new(base, style),
                Cell::new(base_interval, QUIET),
                Cell::new(slope, style),
                Cell::new(slope_interval, QUIET),
                Cell::new(off, if growth.bent() { SHORT } else { QUIET }),
                Cell::new(units::grouped(growth.points), QUIET),
            ]);
            if let Some(text) = bent_text(growth) {
                grid.over(vec![], format!("└ {text}"), SHORT);
            }
        }
        self.put(out, &grid);
    }

    fn unavailable(&self, out: &mut String, report: &Report) {
        if report.unavailable.is_empty() {
            return;
        }
        let mut grid = Grid::new(vec![left("entry"), left("")]);
        grid.heading(Cell::new("not available here", STRONG), QUIET);
        for missing in &report.unavailable {
            let [name, kind] = self.names(&missing.entry, PLAIN);
            grid.over(vec![name, kind], brief(&missing.reason, REASON), PLAIN);
        }
        self.put(out, &grid);
    }
}

pub(super) fn left(name: impl Into<Cow<'static, str>>) -> Column {
    Column { name: name.into(), align: Align::Left, spare: None }
}

pub(super) fn right(name: impl Into<Cow<'static, str>>, spare: Option<u8>) -> Column {
    Column { name: name.into(), align: Align::Right, spare }
}

fn time(seconds: Option<f64>, style: Style) -> Cell {
    match seconds {
        Some(seconds) => Cell::new(time_text(seconds), style),
        None => Cell::new(NONE, QUIET),
    }
}

/// How wide the part behind `±` is in all rows, so that the medians before it stand below each other.
#[derive(Clone, Copy)]
struct SpreadWidth(usize);

impl SpreadWidth {
    fn of(spreads: impl Iterator<Item = Spread>) -> SpreadWidth {
        SpreadWidth(spreads.filter_map(|spread| relative(&spread)).map(|text| text.len()).max().unwrap_or(0))
    }

    fn cell(self, spread: Option<Spread>, style: Style) -> Cell {
        let Some(spread) = spread else {
            return Cell::new(NONE, QUIET);
        };
        let median = Cell::new(units::decimal(mib(spread.median), 1), style);
        let width = self.0;
        match relative(&spread) {
            _ if width == 0 => median,
            Some(share) => median.then(format!(" ±{share:>width$}%"), QUIET),
            // As wide as " ±" and "%" with the share between them.
            None => median.then(" ".repeat(width + 3), QUIET),
        }
    }
}
