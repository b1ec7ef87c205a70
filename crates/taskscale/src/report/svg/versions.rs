//! A panel for each entry: its cost over its versions, with a bar for the spread and the changes that are none of chance.

use super::super::model::Report;
use super::super::versions::{VersionLine, VersionPoint};
use super::document::{Anchor, Svg};
use super::style::{fitted_name, text_width};
use super::{ChartError, FOOT, MARGIN, WIDTH, foot, head, plain};
use crate::metrics::MetricDef;

/// Of a panel, with its title above and the versions below.
const PANEL: f64 = 150.0;
const ABOVE: f64 = 46.0;
const BELOW: f64 = 40.0;
/// Half of the width of a bar's ends.
const CAP: f64 = 4.0;

/// The chart of one metric over versions, and what it shows in words.
pub fn versions(report: &Report, lines: &[VersionLine]) -> Result<(String, String), ChartError> {
    let lines: Vec<&VersionLine> =
        lines.iter().filter(|line| line.points.iter().any(|point| point.value.is_some())).collect();
    if lines.is_empty() {
        return Err(ChartError::Nothing);
    }
    let title = "Cost by version";
    let subtitle = format!(
        "Workload {}. Percentages: beyond chance, against the version before. Bars: 95% interval or range of repetitions.",
        plain(&report.series().to_string())
    );
    let height = 84.0 + PANEL * lines.len() as f64 + FOOT;
    let text = description(&lines);
    let mut svg = Svg::new("taskscale-versions", WIDTH, height, title, &text);
    let mut top = head(&mut svg, title, &subtitle);
    for line in lines {
        panel(&mut svg, line, top);
        top += PANEL;
    }
    foot(&mut svg, report, top, None);
    Ok((svg.finish(), text))
}

fn shown(metric: &MetricDef, value: f64) -> String {
    format!("{} {}", metric.show(value), metric.unit.shown().0).trim_end().to_owned()
}

fn percent(ratio: f64) -> String {
    format!("{:+.0}%", (ratio - 1.0) * 100.0)
}

fn panel(svg: &mut Svg, line: &VersionLine, top: f64) {
    let (floor, ceiling) = (top + PANEL - BELOW, top + ABOVE);
    let highest = |point: &VersionPoint| point.range.map_or(point.value, |(_, high)| Some(high));
    let most = line.points.iter().filter_map(highest).fold(0.0, f64::max);
    let y = |value: f64| floor - (floor - ceiling) * if most > 0.0 { value / most } else { 0.0 };
    let step = (WIDTH - 2.0 * MARGIN) / line.points.len() as f64;
    let x = |nth: usize| MARGIN + step * (nth as f64 + 0.5);
    svg.text(MARGIN, top + 18.0, "strong", Anchor::Start, &plain(&line.title));
    svg.path(&[(MARGIN, floor), (WIDTH - MARGIN, floor)], "axis");
    let places: Vec<(f64, f64)> =
        line.points.iter().enumerate().filter_map(|(nth, point)| Some((x(nth), y(point.value?)))).collect();
    svg.path(&places, "line c0");
    for (nth, point) in line.points.iter().enumerate() {
        let (x, name) = (x(nth), fitted_name(&plain(&point.version), 11.0, step - 4.0));
        svg.text(x, floor + 15.0, "small", Anchor::Middle, &name);
        if let Some(released) = point.released.as_ref().filter(|month| text_width(month, 11.0) < step) {
            svg.text(x, floor + 29.0, "small muted", Anchor::Middle, &plain(released));
        }
        let Some(value) = point.value else {
            svg.text(x, floor - 8.0, "small muted", Anchor::Middle, "-");
            continue;
        };
        svg.group(&format!("{}: {}", plain(&point.version), shown(line.metric, value)));
        if let Some((low, high)) = point.range.filter(|(low, high)| high > low) {
            svg.path(&[(x, y(low)), (x, y(high))], "whisker");
            for end in [low, high] {
                svg.path(&[(x - CAP, y(end)), (x + CAP, y(end))], "whisker");
            }
        }
        svg.circle(x, y(value), 4.0, "m0 mark");
        svg.end_group();
        let above = y(highest(point).unwrap_or(value)) - 9.0;
        let change = point.costs_more.and(point.ratio).map(percent);
        let figure = line.metric.show(value);
        let text = change.map_or(figure.clone(), |change| format!("{figure} ({change})"));
        let text = if text_width(&text, 11.0) < step { text } else { figure };
        let class = if point.costs_more == Some(true) { "small bad" } else { "small" };
        svg.text(x, above, class, Anchor::Middle, &text);
    }
}

fn description(lines: &[&VersionLine]) -> String {
    let said = lines.iter().map(|line| {
        let points = line.points.iter().filter_map(|point| {
            let verdict = point.verdict.as_ref().map(|verdict| format!(" ({verdict})")).unwrap_or_default();
            Some(format!("{} at {}{verdict}", shown(line.metric, point.value?), plain(&point.version)))
        });
        format!("{}: {}", plain(&line.title), points.collect::<Vec<_>>().join(", "))
    });
    format!("Line charts. {}.", said.collect::<Vec<_>>().join("; "))
}
