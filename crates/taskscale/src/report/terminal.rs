//! The report as a table for the terminal.
//!
//! One unit per column, so that figures can be compared at a glance; one heading per number of tasks. Must not decide
//! whether this is a terminal: the caller says how wide, and whether in colour.

use std::borrow::Cow;

use anstyle::{AnsiColor, Style};

use super::RenderOptions;
use super::columns::columns;
use super::footnotes;
use super::model::{Entry, Report, Row};
use super::phrases::{NONE, REASON, bent_text, growth_texts, relative, told};
use super::sanitize::{brief, safe, wrapped};
use super::speedup::speedups;
use super::terminal_table::{Align, Cell, Column, Grid, painted};
use crate::catalog::Kind;
use crate::figures::Figure;
use crate::stats::Spread;
use crate::units;

pub(crate) const PLAIN: Style = Style::new();
pub(crate) const STRONG: Style = Style::new().bold();
pub(crate) const QUIET: Style = Style::new().dimmed();
pub(crate) const GOOD: Style = AnsiColor::Green.on_default().bold();
pub(crate) const SHORT: Style = AnsiColor::Yellow.on_default();
pub(crate) const BAD: Style = AnsiColor::Red.on_default();
const BAR: Style = AnsiColor::Cyan.on_default();

/// Sentences are not broken later than this, however wide the terminal: longer lines are hard to read.
const TEXT_WIDTH: usize = 100;

/// The parts of one campaign, one below the other.
pub fn render(reports: &[Report], options: RenderOptions) -> String {
    let page = Page::new(options);
    let mut out = String::new();
    for (position, report) in reports.iter().enumerate() {
        if position > 0 {
            out.push('\n');
        }
        let last = position + 1 == reports.len();
        part(&page, &mut out, report, position == 0, last.then_some(reports));
    }
    out
}

/// What all parts have in common stands above the first and below the last.
fn part(page: &Page, out: &mut String, report: &Report, first: bool, all: Option<&[Report]>) {
    page.paragraph(out, &footnotes::title(report, page.quote), STRONG);
    if first {
        page.paragraph(out, &footnotes::machine(report, page.quote), QUIET);
    }
    page.paragraph(out, &footnotes::course(report, page.quote), QUIET);
    let left_out = page.groups(out, report);
    page.growth(out, report);
    page.unavailable(out, report);
    out.push('\n');
    for note in footnotes::notes(report, page.quote) {
        page.bullet(out, &note);
    }
    page.left_out(out, &left_out);
    let Some(all) = all else { return };
    page.speedup(out, all);
    out.push('\n');
    page.paragraph(out, &footnotes::provenance(all, page.quote), QUIET);
    page.paragraph(out, &footnotes::command(report), QUIET);
}

pub(crate) struct Page {
    options: RenderOptions,
    pub(crate) quote: fn(&str) -> String,
}

impl Page {
    pub(crate) fn new(options: RenderOptions) -> Page {
        Page { options, quote: |text| safe(text).into_owned() }
    }

    pub(crate) fn paragraph(&self, out: &mut String, text: &str, style: Style) {
        for line in wrapped(text, self.options.width.min(TEXT_WIDTH)) {
            out.push_str(&painted(&line, style, self.options.color));
            out.push('\n');
        }
    }

    pub(crate) fn bullet(&self, out: &mut String, text: &str) {
        for (i, line) in
            wrapped(text, self.options.width.min(TEXT_WIDTH).saturating_sub(2)).iter().enumerate()
        {
            let lead = if i == 0 { "· " } else { "  " };
            out.push_str(&painted(&format!("{lead}{line}"), QUIET, self.options.color));
            out.push('\n');
        }
    }

    /// Names the columns for which there was no room.
    pub(crate) fn left_out(&self, out: &mut String, columns: &[String]) {
        if !columns.is_empty() {
            self.bullet(out, &format!("Left out for lack of width: {}.", columns.join(", ")));
        }
    }

    pub(crate) fn put(&self, out: &mut String, grid: &Grid) -> Vec<String> {
        let (text, left_out) = grid.render(self.options.width, self.options.color, self.options.bars);
        out.push('\n');
        out.push_str(&text);
        left_out
    }

    /// The table of the main job. Names the columns for which there was no room.
    fn groups(&self, out: &mut String, report: &Report) -> Vec<String> {
        let headline = report.headline();
        let bar = headline.name.split('-').next().unwrap_or_default();
        let mut heads = vec![left("entry"), left("kind"), right(headline.heading, None)];
        heads.extend(columns(report.shape).iter().map(|shown| right(shown.short, shown.spare)));
        heads.push(right("× best", None));
        // The headline once more: it goes before a figure that stands nowhere else.
        heads.push(Column { spare: Some(2), ..left(bar) });
        let mut grid = Grid::new(heads);
        let spreads = report.groups.iter().flat_map(|group| &group.rows).filter_map(|row| row.headline);
        let spreads = SpreadWidth::of(spreads);
        for group in report.groups.iter().filter(|group| !group.rows.is_empty()) {
            grid.heading(Cell::new(footnotes::tasks(group.tasks), STRONG), QUIET);
            let median = |row: &Row| row.headline.map(|spread| spread.median);
            let largest = group.rows.iter().filter_map(median).fold(0.0, f64::max);
            for row in &group.rows {
                let share = median(row).filter(|_| largest > 0.0).map_or(0.0, |value| value / largest);
                self.row(&mut grid, report, row, spreads, share);
            }
        }
        let mut left_out = self.put(out, &grid);
        // No figure is missing without them.
        left_out.retain(|name| name != bar);
        left_out
    }

    /// `share` is the row's headline as a share of the largest in its group.
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
        let times = match row.times_best {
            // The best itself, and what equals it.
            Some(1.0) => Cell::new("1.00", GOOD),
            Some(times) => Cell::new(units::decimal(times, 2), style),
            None if row.entry.reference => Cell::new(footnotes::REFERENCE, QUIET),
            None => Cell::new(NONE, QUIET),
        };
        let mut cells = vec![name, kind, spreads.cell(report.headline(), row.headline, style)];
        cells.extend(columns(report.shape).iter().map(|shown| match row.text(shown.figure) {
            Some(text) => Cell::new(text, style),
            None => Cell::new(NONE, QUIET),
        }));
        cells.extend([times, Cell::Bar(share, if row.ranked { BAR } else { QUIET })]);
        grid.row(cells);
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

    /// What more CPUs bring. Left out where no part was run on several numbers of them.
    fn speedup(&self, out: &mut String, reports: &[Report]) {
        for table in speedups(reports) {
            let mut heads = vec![left("entry"), right("tasks", None)];
            let cpus = |cpus: &Option<u32>| match cpus {
                Some(cpus) => footnotes::counted(u64::from(*cpus), "CPU"),
                None => "all CPUs".to_owned(),
            };
            heads.extend(table.cpus.iter().map(|count| right(cpus(count), None)));
            let mut grid = Grid::new(heads);
            grid.heading(
                Cell::new(format!("{}: speed-up with CPUs", (self.quote)(&table.name)), STRONG),
                QUIET,
            );
            for line in &table.lines {
                let mut cells = vec![
                    Cell::new((self.quote)(&line.entry), PLAIN),
                    Cell::new(units::count(line.tasks), QUIET),
                ];
                cells.extend(line.times.iter().map(|times| match times {
                    Some(times) => Cell::new(format!("{}×", units::decimal(*times, 2)), PLAIN),
                    None => Cell::new(NONE, QUIET),
                }));
                grid.row(cells);
            }
            self.put(out, &grid);
        }
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

pub(crate) fn left(name: impl Into<Cow<'static, str>>) -> Column {
    Column { name: name.into(), align: Align::Left, spare: None }
}

pub(crate) fn right(name: impl Into<Cow<'static, str>>, spare: Option<u8>) -> Column {
    Column { name: name.into(), align: Align::Right, spare }
}

/// How wide the part behind `±` is in all rows, so that the medians before it stand below each other.
#[derive(Clone, Copy)]
struct SpreadWidth(usize);

impl SpreadWidth {
    fn of(spreads: impl Iterator<Item = Spread>) -> SpreadWidth {
        SpreadWidth(spreads.filter_map(|spread| relative(&spread)).map(|text| text.len()).max().unwrap_or(0))
    }

    fn cell(self, figure: &Figure, spread: Option<Spread>, style: Style) -> Cell {
        let Some(spread) = spread else {
            return Cell::new(NONE, QUIET);
        };
        let median = Cell::new(figure.show(spread.median), style);
        let width = self.0;
        match relative(&spread) {
            _ if width == 0 => median,
            Some(share) => median.then(format!(" ±{share:>width$}%"), QUIET),
            // As wide as " ±" and "%" with the share between them.
            None => median.then(" ".repeat(width + 3), QUIET),
        }
    }
}
