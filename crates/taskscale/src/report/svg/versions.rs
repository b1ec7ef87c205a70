//! A panel for each entry: its cost by version, with bars for the spread and the changes beyond chance.

use super::super::model::Report;
use super::super::versions::{VersionLine, VersionPoint};
use super::document::{Anchor, Svg};
use super::style::{fitted_name, text_width};
use super::{ExportError, FOOT, MARGIN, WIDTH, foot, head, plain};
use crate::catalog::Month;
use crate::document::joined;
use crate::stats::Interval;

/// Height in pixels of a panel, of its title and of the versions below.
const PANEL: f64 = 150.0;
const ABOVE: f64 = 46.0;
const BELOW: f64 = 40.0;
/// Half the width of a bar's ends.
const CAP: f64 = 4.0;
/// Pixels between the ends of a panel and its first and last version, if versions are spaced by date.
const ASIDE: f64 = 46.0;
/// Versions nearer than this have no room for a value with its percentage.
const MIN_GAP: f64 = 80.0;

/// The chart of one metric over versions, and what it shows in words.
pub fn versions(report: &Report, lines: &[VersionLine]) -> Result<(String, String), ExportError> {
    let lines: Vec<&VersionLine> =
        lines.iter().filter(|line| line.points.iter().any(|point| point.value.is_some())).collect();
    if lines.is_empty() {
        return Err(ExportError::NothingToDraw);
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

fn percent(ratio: f64) -> String {
    format!("{:+.0}%", (ratio - 1.0) * 100.0)
}

/// Positions in pixels, and whether they are by date: all dates are known and none too near to another.
/// Otherwise even.
fn places(points: &[VersionPoint]) -> (Vec<f64>, bool) {
    let months = points.iter().map(|point| Some(Month::of(point.released.as_ref()?)?.count()));
    let by_date = months.collect::<Option<Vec<u32>>>().and_then(|months| {
        let (first, last) = (*months.first()?, *months.last()?);
        let width = WIDTH - 2.0 * (MARGIN + ASIDE);
        let each = width / f64::from(last.checked_sub(first).filter(|months| *months > 0)?);
        let x = |month: &u32| MARGIN + ASIDE + each * (f64::from(*month) - f64::from(first));
        let places: Vec<f64> = months.iter().map(x).collect();
        places.windows(2).all(|pair| pair[1] - pair[0] >= MIN_GAP).then_some(places)
    });
    let step = (WIDTH - 2.0 * MARGIN) / points.len() as f64;
    match by_date {
        Some(places) => (places, true),
        None => ((0..points.len()).map(|nth| MARGIN + step * (nth as f64 + 0.5)).collect(), false),
    }
}

/// Pixels for text that is centered at a place.
fn room_at(places: &[f64], nth: usize) -> f64 {
    let x = places[nth];
    let to_edge = 2.0 * (x - MARGIN).min(WIDTH - MARGIN - x);
    let others = places.iter().enumerate().filter(|(other, _)| *other != nth);
    others.map(|(_, other)| (other - x).abs()).fold(to_edge, f64::min)
}

fn panel(svg: &mut Svg, line: &VersionLine, top: f64) {
    let (floor, ceiling) = (top + PANEL - BELOW, top + ABOVE);
    let highest = |point: &VersionPoint| point.range.map_or(point.value, |range| Some(range.high));
    let most = line.points.iter().filter_map(highest).fold(0.0, f64::max);
    let y = |value: f64| floor - (floor - ceiling) * if most > 0.0 { value / most } else { 0.0 };
    let (places, by_date) = places(&line.points);
    let spaced = if by_date { ", spaced by release date" } else { "" };
    svg.text(MARGIN, top + 18.0, "strong", Anchor::Start, &format!("{}{spaced}", plain(&line.title)));
    svg.path(&[(MARGIN, floor), (WIDTH - MARGIN, floor)], "axis");
    let with_value = line.points.iter().zip(&places);
    let path: Vec<(f64, f64)> = with_value.filter_map(|(point, x)| Some((*x, y(point.value?)))).collect();
    svg.path(&path, "line c0");
    for (nth, (point, x)) in line.points.iter().zip(places.iter().copied()).enumerate() {
        let room = room_at(&places, nth);
        let name = fitted_name(&plain(&point.version), 11.0, room - 4.0);
        svg.text(x, floor + 15.0, "small", Anchor::Middle, &name);
        if let Some(released) = point.released.as_ref().filter(|month| text_width(month, 11.0) < room) {
            svg.text(x, floor + 29.0, "small muted", Anchor::Middle, &plain(released));
        }
        let Some(value) = point.value else {
            svg.text(x, floor - 8.0, "small muted", Anchor::Middle, "-");
            continue;
        };
        svg.group(&format!("{}: {}", plain(&point.version), line.metric.with_unit(value)), |svg| {
            if let Some(Interval { low, high }) = point.range.filter(|range| range.high > range.low) {
                svg.path(&[(x, y(low)), (x, y(high))], "whisker");
                for end in [low, high] {
                    svg.path(&[(x - CAP, y(end)), (x + CAP, y(end))], "whisker");
                }
            }
            svg.circle(x, y(value), 4.0, "m0 mark");
        });
        let above = y(highest(point).unwrap_or(value)) - 9.0;
        let change = point.costs_more.and(point.ratio).map(percent);
        let figure = line.metric.show(value);
        let text = change.map_or(figure.clone(), |change| format!("{figure} ({change})"));
        let text = if text_width(&text, 11.0) < room { text } else { figure };
        let class = if point.costs_more == Some(true) { "small bad" } else { "small" };
        svg.text(x, above, class, Anchor::Middle, &text);
    }
}

fn description(lines: &[&VersionLine]) -> String {
    let said = lines.iter().map(|line| {
        let points = line.points.iter().filter_map(|point| {
            let verdict = point.verdict.as_ref().map(|verdict| format!(" ({verdict})")).unwrap_or_default();
            Some(format!("{} at {}{verdict}", line.metric.with_unit(point.value?), plain(&point.version)))
        });
        format!("{}: {}", plain(&line.title), joined(points, ", "))
    });
    format!("Line charts. {}.", joined(said, "; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(released: &[Option<&str>]) -> (Vec<f64>, bool) {
        let point = |released: &Option<&str>| VersionPoint {
            version: "1".to_owned(),
            released: released.map(str::to_owned),
            value: Some(1.0),
            range: None,
            ratio: None,
            ratio_range: None,
            verdict: None,
            costs_more: None,
        };
        places(&released.iter().map(point).collect::<Vec<_>>())
    }

    #[test]
    fn versions_are_spaced_by_date_if_all_dates_are_known_and_fit() {
        let (of, by_date) = at(&[Some("2021-04"), Some("2022-04"), Some("2026-04")]);
        assert!(by_date);
        assert!(((of[2] - of[1]) / (of[1] - of[0]) - 4.0).abs() < 1e-9, "{of:?}");
        let evenly = |(places, by_date): (Vec<f64>, bool)| {
            let gaps: Vec<f64> = places.windows(2).map(|pair| pair[1] - pair[0]).collect();
            !by_date && gaps.iter().all(|gap| (gap - gaps[0]).abs() < 1e-9)
        };
        assert!(evenly(at(&[Some("2021-04"), None, Some("2026-04")])), "one is not known");
        assert!(evenly(at(&[Some("2021-04"), Some("2021-05"), Some("2026-04")])), "two are too near");
        assert!(evenly(at(&[Some("2021-04"), Some("2021-04")])) && at(&[None]).0.len() == 1);
        let (of, _) = at(&[Some("2021-04"), Some("2026-04")]);
        assert!(room_at(&of, 0) >= MIN_GAP && room_at(&of, 1) >= MIN_GAP, "{of:?}");
    }
}
