//! Entries by footprint at one N: one bar each, stacked by kind of memory.

use super::super::model::{Parts, Rank, Report, Row, RowGroup};
use super::super::phrases::{FailureLine, failure_lines, slope_text};
use super::document::{Anchor, Svg};
use super::style::{fitted, fitted_name, text_width};
use super::{ExportError, FOOT, MARGIN, WIDTH, foot, head, heads, kind, plain};
use crate::catalog::Shape;
use crate::document::joined;
use crate::metrics::{self, MetricDef};
use crate::units::{self, mib};

/// Height of a row in pixels.
const PITCH: f64 = 36.0;
const BAR: f64 = 18.0;
/// Font size for measuring names: bold text of 13 pixels is a tenth wider.
const STRONG: f64 = 14.3;
/// Pixels for the values to the right of the longest bar.
const FIGURES: f64 = 104.0;

/// A kind of memory: its class, its name and its bytes.
type MemoryPart = (&'static str, &'static str, fn(&Parts) -> f64);

/// Kinds of memory, in the order in which they are stacked.
const PARTS: [MemoryPart; 5] = [
    ("anon", "anonymous", |parts| parts.anon_bytes),
    ("file", "file and shared", |parts| parts.file_bytes + parts.shmem_bytes),
    ("stack", "kernel stacks", |parts| parts.kernel_stack_bytes.unwrap_or(0.0)),
    ("tables", "page tables", |parts| parts.page_tables_bytes.unwrap_or(0.0)),
    ("other", "sockets, slab, other kernel memory", |parts| {
        parts.slab_bytes.unwrap_or(0.0) + parts.sock_bytes.unwrap_or(0.0) + parts.kernel_other_bytes
    }),
];

/// The ranking at this N; by default at the largest N with rows.
pub fn ranking(report: &Report, tasks: Option<u64>) -> Result<String, ExportError> {
    let groups = || report.groups.iter().filter(|group| !group.rows.is_empty());
    let group = match tasks {
        None => groups().next_back().ok_or(ExportError::NothingToDraw)?,
        Some(asked) => groups().find(|group| group.tasks == asked).ok_or_else(|| {
            ExportError::NoSuchTasks { asked, there: groups().map(|group| group.tasks).collect() }
        })?,
    };
    Ok(draw(report, group))
}

fn draw(report: &Report, group: &RowGroup) -> String {
    let figure = report.headline();
    let (what, sentence) = heads(report);
    let title = match report.shape {
        Shape::Hold | Shape::Serve => format!("{what} of {}", units::tasks(group.tasks)),
        Shape::Work => format!("{what}, {}", units::tasks(group.tasks)),
    };
    let subtitle = format!(
        "{sentence}{}{}.",
        if report.repetitions > 1 { "; medians and ranges" } else { "" },
        if report.rank == Rank::Kind { "; by kind" } else { "" }
    );
    let rows_top = 138.0;
    let height = rows_top + PITCH * group.rows.len() as f64 + FOOT;
    let id = format!("taskscale-ranking-{}", group.tasks);
    let mut svg = Svg::new(&id, WIDTH, height, &title, &description(figure, group));
    let top = head(&mut svg, &title, &subtitle);
    if figure == &metrics::FOOTPRINT {
        legend(&mut svg, top + 16.0, group);
    }

    let names = group.rows.iter().map(|row| text_width(&plain(&row.entry.with_version()), STRONG));
    let names = names.fold(0.0, f64::max).clamp(90.0, 240.0);
    let from = MARGIN + names + 14.0;
    let to = WIDTH - MARGIN - FIGURES;
    let spreads = group.rows.iter().filter_map(|row| row.headline);
    let largest = spreads.map(|spread| spread.max).fold(0.0, f64::max);
    let scale = Scale { from, to, largest, figure };
    scale.axis(&mut svg, rows_top, height - FOOT);
    for (i, row) in group.rows.iter().enumerate() {
        let row_top = rows_top + PITCH * i as f64;
        svg.group(&pointed_at(figure, row), |svg| draw_row(svg, row, row_top, names, &scale));
    }
    let missing = joined(report.unavailable.iter().map(|missing| plain(&missing.entry.name)), ", ");
    let left_out = (!report.unavailable.is_empty()).then(|| format!("Unavailable: {missing}"));
    foot(&mut svg, report, height - FOOT, left_out);
    svg.finish()
}

/// The chart in words, for screen readers.
fn description(figure: &MetricDef, group: &RowGroup) -> String {
    format!("Bar chart. {}.", joined(group.rows.iter().map(|row| said(figure, row)), "; "))
}

fn said(figure: &MetricDef, row: &Row) -> String {
    let name = plain(&row.entry.name);
    match row.headline {
        Some(headline) if row.ok_runs > 0 => format!("{name}: {}", figure.with_unit(headline.median)),
        _ => format!("{name}: {}", ending(row)),
    }
}

fn legend(svg: &mut Svg, y: f64, group: &RowGroup) {
    let mut x = MARGIN;
    for (class, label, part) in PARTS {
        let there = group.rows.iter().filter_map(|row| row.parts).any(|parts| part(&parts) > 0.0);
        if there {
            svg.rectangle(x, y - 9.0, 10.0, 10.0, class, 2.0);
            svg.text(x + 15.0, y, "small muted", Anchor::Start, label);
            x += 15.0 + text_width(label, 11.0) + 14.0;
        }
    }
}

struct Scale {
    from: f64,
    to: f64,
    /// In the unit of the metric.
    largest: f64,
    figure: &'static MetricDef,
}

impl Scale {
    fn x(&self, value: f64) -> f64 {
        if self.largest > 0.0 { self.from + (self.to - self.from) * value / self.largest } else { self.from }
    }

    /// Draws lines at round numbers of the shown unit, labeled above.
    fn axis(&self, svg: &mut Svg, top: f64, bottom: f64) {
        let (unit, divisor) = self.figure.shown_unit();
        let largest = self.largest / divisor;
        let step = round_step(largest, 5.0);
        let steps = if step > 0.0 { (largest * 1.0001 / step) as u32 } else { 0 };
        for at in (0..=steps).map(|nth| f64::from(nth) * step) {
            let x = self.x(at * divisor).round() + 0.5;
            svg.path(&[(x, top - 4.0), (x, bottom)], if at == 0.0 { "axis" } else { "grid" });
            let decimals = usize::from(step < 1.0);
            let unit = if at == 0.0 { format!(" {unit}") } else { String::new() };
            svg.text(x, top - 10.0, "small muted", Anchor::Middle, &(units::decimal(at, decimals) + &unit));
        }
    }
}

/// The smallest 1, 2 or 5 times a power of ten that fits into the whole at most `lines` times; 0 for nothing.
fn round_step(whole: f64, lines: f64) -> f64 {
    if whole.is_nan() || whole <= 0.0 {
        return 0.0;
    }
    let power = 10f64.powf((whole / lines).log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * power);
    steps.into_iter().find(|step| whole / step <= lines).unwrap_or(10.0 * power)
}

fn draw_row(svg: &mut Svg, row: &Row, top: f64, names: f64, scale: &Scale) {
    let middle = top + PITCH / 2.0;
    let name = fitted_name(&plain(&row.entry.with_version()), STRONG, names);
    svg.text(MARGIN, middle - 2.0, "strong", Anchor::Start, &name);
    svg.text(MARGIN, middle + 12.0, "small muted", Anchor::Start, &kind(&row.entry));
    match row.headline {
        None => {
            let room = WIDTH - MARGIN - scale.from - 8.0;
            svg.text(scale.from + 8.0, middle + 4.0, "bad", Anchor::Start, &fitted(&ending(row), 13.0, room));
        }
        Some(headline) => {
            let pale = if row.ranked { "" } else { " pale" };
            let bar_top = middle - BAR / 2.0;
            let to = scale.x(headline.median);
            match row.parts.filter(|_| scale.figure == &metrics::FOOTPRINT) {
                Some(parts) => stack(svg, &parts, bar_top, (scale.from, to), pale),
                None => svg.rectangle(scale.from, bar_top, to - scale.from, BAR, &format!("anon{pale}"), 0.0),
            }
            let mut end = to;
            let (low, high) = (scale.x(headline.min), scale.x(headline.max));
            // A shorter range would look like a dot.
            if headline.readings > 1 && high - low >= 6.0 {
                // With a halo, to be visible on any color.
                for class in ["halo", "whisker"] {
                    svg.path(&[(low, middle), (high, middle)], class);
                    svg.path(&[(low, middle - 3.5), (low, middle + 3.5)], class);
                    svg.path(&[(high, middle - 3.5), (high, middle + 3.5)], class);
                }
                end = end.max(high);
            }
            let value = scale.figure.with_unit(headline.median);
            svg.text(end + 8.0, middle - 2.0, "strong", Anchor::Start, &value);
            let (class, more) = beside(row);
            svg.text(end + 8.0, middle + 12.0, class, Anchor::Start, &more);
        }
    }
}

/// Draws a bar of parts. They may exceed the footprint by a page, so they are scaled to it.
fn stack(svg: &mut Svg, parts: &Parts, top: f64, (from, to): (f64, f64), pale: &str) {
    let total: f64 = PARTS.iter().map(|(_, _, part)| part(parts)).sum();
    let (mut x, mut before) = (from, 0.0);
    for (class, _, part) in PARTS {
        let width = if total > 0.0 { (to - from) * part(parts) / total } else { 0.0 };
        svg.rectangle(x, top, width, BAR, &format!("{class}{pale}"), 0.0);
        // Two colors may look alike to a reader, so a border separates parts that are wide enough.
        if before >= 3.0 && width >= 3.0 {
            svg.path(&[(x, top), (x, top + BAR)], "border");
        }
        if width > 0.0 {
            before = width;
        }
        x += width;
    }
}

/// The class and text below a value: the bytes per task, or why it is not comparable.
fn beside(row: &Row) -> (&'static str, String) {
    if row.ok_runs == 0 {
        let alive = row.short_alive.map(|alive| format!("{} alive", units::grouped(alive)));
        return ("small bad", alive.unwrap_or_else(|| row.status.clone()));
    }
    let text = if row.ok_runs < row.runs {
        row.status.clone()
    } else if !row.ranked && !row.entry.reference {
        format!("memory by {}", joined(row.memory_sources.iter().map(|source| source.name()), ", "))
    } else {
        let per_task = |slope| format!("{} B/task", slope_text(slope, row.linear));
        row.bytes_per_task.map(per_task).unwrap_or_default()
    };
    ("small muted", text)
}

/// How a row without values ended: `limit: 32,751 of 1,000,000 threads could be started`.
fn ending(row: &Row) -> String {
    let line = |failure: FailureLine| format!("{}: {}", failure.head, plain(&failure.reason));
    let failures = joined(failure_lines(row).into_iter().map(line), "; ");
    if failures.is_empty() { "ok, but nothing was measured".to_owned() } else { failures }
}

fn pointed_at(figure: &MetricDef, row: &Row) -> String {
    let mut text = said(figure, row);
    if let Some(parts) = row.parts.filter(|_| figure == &metrics::FOOTPRINT) {
        for (_, label, part) in PARTS {
            text.push_str(&format!(", {label} {} MiB", units::decimal(mib(part(&parts)), 1)));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axis_steps_are_round_numbers() {
        for (whole, step) in
            [(2770.0, 1000.0), (370.0, 100.0), (34.0, 10.0), (0.9, 0.2), (5.0, 1.0), (0.0, 0.0)]
        {
            assert!((round_step(whole, 5.0) - step).abs() < 1e-9, "{whole}: {}", round_step(whole, 5.0));
        }
    }
}
