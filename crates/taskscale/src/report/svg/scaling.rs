//! Footprint over the number of tasks, both logarithmic: a line for each entry, named at its end.

use std::collections::BTreeSet;

use super::super::model::{EntryInfo, Growth, Report, Row};
use super::super::phrases::{NO_LINE, slope_text};
use super::document::{Anchor, Svg};
use super::style::{fitted_name, text_width};
use super::{ExportError, FOOT, MARGIN, WIDTH, foot, head, heads, plain};
use crate::catalog::{Kind, Shape};
use crate::document::joined;
use crate::metrics::MetricDef;
use crate::report::color::color_of;
use crate::units;

/// Least distance between names, in pixels.
const PITCH: f64 = 17.0;
/// Pixels for the labels of the axis on the left.
const LEFT: f64 = 66.0;
/// Least height of the plot itself, in pixels.
const MIN_HEIGHT: f64 = 380.0;
/// Pixels between the plot and the names, for the lines that lead to them.
const LEAD: f64 = 26.0;

struct Curve<'a> {
    entry: &'a EntryInfo,
    /// By number of tasks, ascending; where some repetition was ok.
    points: Vec<&'a Row>,
    growth: Option<&'a Growth>,
    /// How it ended at the first number of tasks beyond its last point: `limit at 1M`.
    broke: Option<String>,
    color: usize,
}

/// The chart of all entries that were ok at some N.
pub fn scaling(report: &Report) -> Result<String, ExportError> {
    let lines = lines(report);
    let points = lines.iter().flat_map(|line| &line.points);
    let tasks: BTreeSet<u64> = points.map(|row| row.tasks).collect();
    match tasks.len() {
        0 => Err(ExportError::NothingToDraw),
        1 => Err(ExportError::TooFewTasks(1)),
        _ => Ok(draw(report, &lines, &tasks.into_iter().collect::<Vec<_>>())),
    }
}

fn lines(report: &Report) -> Vec<Curve<'_>> {
    let is_point = |row: &&Row| row.ok_runs > 0 && row.median().is_some_and(|median| median > 0.0);
    let line = |name| {
        let rows: Vec<&Row> = report.rows_of(name).collect();
        // Only failures beyond the last point end a curve.
        let broke = rows.iter().rev().take_while(|row| !is_point(row)).last();
        Curve {
            entry: &rows[0].entry,
            points: rows.iter().copied().filter(is_point).collect(),
            // Only memory is fitted, so curves of times have no fit.
            growth: report.growth_of(name).filter(|_| report.shape.has_plateau()),
            broke: broke.map(|row| format!("{} at {}", row.status, units::count(row.tasks))),
            color: color_of(name.split('/').next().unwrap_or_default()),
        }
    };
    report.names_where(|row| is_point(&row)).into_iter().map(line).collect()
}

struct Plot {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    tasks: (f64, f64),
    values: (f64, f64),
    figure: &'static MetricDef,
}

impl Plot {
    fn x(&self, tasks: u64) -> f64 {
        place((tasks.max(1)) as f64, self.tasks, self.left, self.right)
    }

    fn y(&self, value: f64) -> f64 {
        place(value, self.values, self.bottom, self.top)
    }
}

fn place(value: f64, (low, high): (f64, f64), from: f64, to: f64) -> f64 {
    let span = (high / low).log10();
    if span > 0.0 { from + (to - from) * (value / low).log10() / span } else { (from + to) / 2.0 }
}

fn draw(report: &Report, lines: &[Curve], tasks: &[u64]) -> String {
    let figure = report.headline();
    let (what, sentence) = heads(report);
    let title = &format!("{what} over the number of tasks");
    let subtitle = match report.shape {
        Shape::Hold | Shape::Serve => format!("{sentence}. Lines: fixed + N × bytes per task."),
        Shape::Work => format!("{sentence}. Medians are joined."),
    };
    let slope =
        |growth: &Growth| Some(format!("{} B/task", slope_text(growth.bytes_per_task?, growth.linear)));
    let beside = |line: &Curve| line.broke.clone().or_else(|| slope(line.growth?)).unwrap_or_default();
    let names =
        lines.iter().map(|line| text_width(&plain(&line.entry.name), 12.5)).fold(0.0, f64::max).min(190.0);
    let figures = lines.iter().map(|line| text_width(&beside(line), 11.0)).fold(0.0, f64::max).min(110.0);
    let names_at = WIDTH - MARGIN - figures - 10.0 - names;
    let height = MIN_HEIGHT.max(PITCH * lines.len() as f64);
    let top = 122.0;
    let spreads = || lines.iter().flat_map(|line| &line.points).filter_map(|row| row.headline);
    let low = spreads().map(|spread| spread.min).filter(|bytes| *bytes > 0.0).fold(f64::INFINITY, f64::min);
    let high = spreads().map(|spread| spread.max).fold(0.0, f64::max);
    let plot = Plot {
        left: MARGIN + LEFT,
        right: names_at - LEAD - 12.0,
        top,
        bottom: top + height,
        tasks: (tasks[0].max(1) as f64, tasks[tasks.len() - 1].max(1) as f64),
        values: (low * 0.85, high * 1.15),
        figure,
    };

    let mut svg =
        Svg::new("taskscale-scaling", WIDTH, plot.bottom + 40.0 + FOOT, title, &description(figure, lines));
    let below = head(&mut svg, title, &subtitle);
    legend(&mut svg, below + 16.0, lines);
    axes(&mut svg, &plot, tasks);
    for line in lines {
        draw_line(&mut svg, &plot, line);
    }
    let ends: Vec<f64> =
        lines.iter().map(|line| line.points.last().map_or(plot.bottom, |row| plot.y(middle(row)))).collect();
    let places = apart(&ends, PITCH, plot.top, plot.bottom);
    for ((line, &from), &to) in lines.iter().zip(&ends).zip(&places) {
        let x = line.points.last().map_or(plot.right, |row| plot.x(row.tasks));
        svg.path(&[(x + 6.0, from), (plot.right.max(x) + 10.0, from), (names_at - 18.0, to)], "leader");
        mark(&mut svg, line.entry, line.color, names_at - 10.0, to);
        let name = fitted_name(&plain(&line.entry.name), 12.5, names);
        svg.text(names_at, to + 4.0, if line.entry.reference { "muted" } else { "" }, Anchor::Start, &name);
        let class = if line.broke.is_some() { "small bad" } else { "small muted" };
        svg.text(WIDTH - MARGIN, to + 4.0, class, Anchor::End, &beside(line));
    }
    // Entries that were run and have no line.
    let without = report.names_where(|row| lines.iter().all(|line| line.entry.name != row.entry.name));
    let mut below = Vec::new();
    if lines.iter().any(|line| line.growth.is_some_and(Growth::is_nonlinear)) {
        below.push(format!("{NO_LINE}: not linear, so medians are joined"));
    }
    if !without.is_empty() {
        below.push(format!("Never ok: {}", joined(without.into_iter().map(plain), ", ")));
    }
    foot(&mut svg, report, plot.bottom + 40.0, (!below.is_empty()).then(|| below.join(". ")));
    svg.finish()
}

fn middle(row: &Row) -> f64 {
    row.median().unwrap_or(0.0)
}

fn description(figure: &MetricDef, lines: &[Curve]) -> String {
    let point = |row: &&Row| format!("{} at {}", figure.with_unit(middle(row)), units::count(row.tasks));
    let said = |line: &Curve| {
        let broke = line.broke.as_ref().map(|broke| format!(", {broke}")).unwrap_or_default();
        format!("{}: {}{broke}", plain(&line.entry.name), joined(line.points.iter().map(point), ", "))
    };
    format!("Line chart. {}.", joined(lines.iter().map(said), "; "))
}

/// Explains the marks of the kinds that are in the chart.
fn legend(svg: &mut Svg, y: f64, lines: &[Curve]) {
    let mut x = MARGIN;
    let kinds: BTreeSet<Kind> =
        lines.iter().filter(|line| !line.entry.reference).map(|line| line.entry.kind).collect();
    for kind in kinds {
        mark_of(svg, kind, "m8", x + 5.0, y - 4.0);
        svg.text(x + 15.0, y, "small muted", Anchor::Start, kind.name());
        x += 15.0 + text_width(kind.name(), 11.0) + 14.0;
    }
    if lines.iter().any(|line| line.entry.reference) {
        svg.path(&[(x, y - 4.0), (x + 18.0, y - 4.0)], "floor");
        svg.text(x + 24.0, y, "small muted", Anchor::Start, "floor: a reference without a task runtime");
    }
    svg.text(WIDTH - MARGIN, y, "small muted", Anchor::End, "color: runtime");
}

fn axes(svg: &mut Svg, plot: &Plot, tasks: &[u64]) {
    let (unit, divisor) = plot.figure.shown_unit();
    let (low, high) = (plot.values.0 / divisor, plot.values.1 / divisor);
    // If the axis spans few powers of ten, label values between them too.
    let factors: &[f64] = match (high / low).log10() {
        powers if powers < 2.2 => &[1.0, 2.0, 5.0],
        powers if powers < 3.6 => &[1.0, 3.0],
        _ => &[1.0],
    };
    let powers = (low.log10().floor() as i32..20).take_while(|power| 10f64.powi(*power) <= high);
    let values =
        powers.flat_map(|power| factors.iter().map(move |factor| (power, factor * 10f64.powi(power))));
    for (power, value) in values.filter(|(_, value)| (low..=high).contains(value)) {
        let y = plot.y(value * divisor).round() + 0.5;
        svg.path(&[(plot.left - 6.0, y), (plot.right, y)], "grid");
        let decimals = usize::try_from(-power).unwrap_or(0).min(6);
        let text = units::decimal(value, decimals);
        svg.text(plot.left - 12.0, y + 4.0, "small muted", Anchor::End, &text);
    }
    svg.text(plot.left - 12.0, plot.top - 8.0, "small muted", Anchor::End, unit);
    svg.path(&[(plot.left - 6.0, plot.bottom + 0.5), (plot.right, plot.bottom + 0.5)], "axis");
    let mut free_from = f64::NEG_INFINITY;
    for &n in tasks {
        let x = plot.x(n);
        svg.path(&[(x, plot.bottom), (x, plot.bottom + 5.0)], "axis");
        let text = units::count(n);
        let half = text_width(&text, 11.0) / 2.0;
        // Skip labels that would overlap the one before.
        if x - half > free_from {
            svg.text(x, plot.bottom + 19.0, "small muted", Anchor::Middle, &text);
            free_from = x + half + 4.0;
        }
    }
    svg.text(free_from.max(plot.right) + 4.0, plot.bottom + 19.0, "small muted", Anchor::Start, "tasks");
}

fn draw_line(svg: &mut Svg, plot: &Plot, line: &Curve) {
    let points: Vec<(f64, f64)> =
        line.points.iter().map(|row| (plot.x(row.tasks), plot.y(middle(row)))).collect();
    let point = |row: &&Row| format!("{} at {}", plot.figure.with_unit(middle(row)), units::tasks(row.tasks));
    let said = joined(line.points.iter().map(point), ", ");
    svg.group(&format!("{}: {said}", plain(&line.entry.name)), |svg| {
        let class = if line.entry.reference { "floor".to_owned() } else { format!("line c{}", line.color) };
        if points.len() > 1 {
            svg.path(&fitted(plot, line).unwrap_or_else(|| points.clone()), &class);
        }
        for (row, (x, y)) in line.points.iter().zip(&points) {
            if let Some(spread) = row.headline.filter(|spread| spread.min > 0.0) {
                let (low, high) = (plot.y(spread.min), plot.y(spread.max));
                // A shorter whisker would be hidden by the mark.
                if low - high > 10.0 {
                    svg.path(&[(*x, low), (*x, high)], "whisker");
                }
            }
            mark(svg, line.entry, line.color, *x, *y);
        }
    });
}

/// Points of the fit from an entry's first N to its last, curved on logarithmic axes. `None` if memory is not
/// linear or the fit is not above 0 throughout: then medians are joined.
fn fitted(plot: &Plot, line: &Curve) -> Option<Vec<(f64, f64)>> {
    const PIECES: u32 = 48;
    let growth = line.growth.filter(|growth| !growth.is_nonlinear())?;
    let (base, slope) = (growth.base_bytes?, growth.bytes_per_task?);
    let first = line.points.first()?.tasks.max(1) as f64;
    let last = line.points.last()?.tasks.max(1) as f64;
    (0..=PIECES)
        .map(|i| {
            let tasks = first * (last / first).powf(f64::from(i) / f64::from(PIECES));
            let bytes = base + slope * tasks;
            (bytes > 0.0).then(|| (place(tasks, plot.tasks, plot.left, plot.right), plot.y(bytes)))
        })
        .collect()
}

fn mark(svg: &mut Svg, entry: &EntryInfo, color: usize, x: f64, y: f64) {
    if entry.reference {
        svg.circle(x, y, 2.5, "m8");
    } else {
        mark_of(svg, entry.kind, &format!("mark m{color}"), x, y);
    }
}

/// A shape for each kind, all of about the same area.
fn mark_of(svg: &mut Svg, kind: Kind, class: &str, x: f64, y: f64) {
    let at = |points: &[(f64, f64)]| points.iter().map(|(dx, dy)| (x + dx, y + dy)).collect::<Vec<_>>();
    match kind {
        Kind::Stackful => svg.circle(x, y, 4.5, class),
        Kind::Thread => svg.rectangle(x - 4.0, y - 4.0, 8.0, 8.0, class, 0.0),
        Kind::Process => svg.shape(&at(&[(0.0, -5.5), (5.5, 0.0), (0.0, 5.5), (-5.5, 0.0)]), class),
        Kind::Stackless => svg.shape(&at(&[(0.0, -5.5), (5.2, 4.0), (-5.2, 4.0)]), class),
        Kind::Future => svg.shape(&at(&[(0.0, 5.5), (5.2, -4.0), (-5.2, -4.0)]), class),
        Kind::Program => {
            let points = [(0.0, -5.0), (5.0, -1.2), (3.1, 4.3), (-3.1, 4.3), (-5.0, -1.2)];
            svg.shape(&at(&points), class);
        }
        // A plus: its upper arm, turned to each side.
        Kind::Timer => {
            let up = [(-1.6, -5.0), (1.6, -5.0), (1.6, -1.6)];
            let right = up.map(|(dx, dy)| (-dy, dx));
            let opposite = |arm: [(f64, f64); 3]| arm.map(|(dx, dy)| (-dx, -dy));
            svg.shape(&at(&[up, right, opposite(up), opposite(right)].concat()), class);
        }
    }
}

/// Positions of names as near as possible to `wanted`: at least `pitch` apart, in the same order, between `top`
/// and `bottom`.
///
/// Neighbors that would overlap form a block around the mean of their wanted positions, and blocks that would
/// overlap are merged (pool adjacent violators; Barlow et al. 1972, Statistical inference under order
/// restrictions). This minimizes the sum of squared moves.
fn apart(wanted: &[f64], pitch: f64, top: f64, bottom: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|a, b| wanted[*a].total_cmp(&wanted[*b]));
    // After subtracting i * pitch, names are at least a pitch apart if the values do not decrease.
    let room = (bottom - top - pitch * wanted.len().saturating_sub(1) as f64).max(0.0);
    let mut blocks: Vec<(f64, usize)> = Vec::new();
    for (i, &at) in order.iter().enumerate() {
        let mut block = (wanted[at] - pitch * i as f64, 1);
        while let Some(&(mean, count)) = blocks.last().filter(|(mean, _)| *mean > block.0) {
            blocks.pop();
            let together = count + block.1;
            block = ((mean * count as f64 + block.0 * block.1 as f64) / together as f64, together);
        }
        blocks.push(block);
    }
    let shifted =
        blocks.iter().flat_map(|&(mean, count)| std::iter::repeat_n(mean.clamp(top, top + room), count));
    let mut places = vec![0.0; wanted.len()];
    for (i, (&at, place)) in order.iter().zip(shifted).enumerate() {
        places[at] = place + pitch * i as f64;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn labels_move_only_if_they_overlap() {
        assert_eq!(apart(&[10.0, 100.0], 17.0, 0.0, 200.0), [10.0, 100.0]);
        assert_eq!(apart(&[100.0, 100.0], 20.0, 0.0, 200.0), [90.0, 110.0]);
        assert_eq!(apart(&[200.0, 0.0], 20.0, 0.0, 200.0), [200.0, 0.0]);
    }

    proptest! {
        #[test]
        fn labels_do_not_overlap(wanted in proptest::collection::vec(0.0f64..380.0, 0..22)) {
            let places = apart(&wanted, 17.0, 0.0, 380.0);
            let mut sorted = places.clone();
            sorted.sort_by(f64::total_cmp);
            for pair in sorted.windows(2) {
                prop_assert!(pair[1] - pair[0] > 16.999);
            }
            prop_assert!(places.iter().all(|place| (-0.001..=380.001).contains(place)));
        }
    }
}
