//! Charts as static SVG, for READMEs and articles.
//!
//! Drawn without a plotting crate. plotters and charming write colors and sizes into every element, so that a chart
//! cannot follow a light or dark page, and charming includes a JavaScript engine. poloto follows the page by CSS, but
//! has no stacked bars, no logarithmic axes and no labels at the ends of lines. taskscale needs only rectangles, lines,
//! texts and one logarithm, and the same text for the same report.
//!
//! Every text goes through [`Svg`], which escapes it. Must not read files or know the command line's types.

mod document;
mod ranking;
mod scaling;
mod style;
mod versions;

#[cfg(test)]
mod tests;

pub use ranking::ranking;
pub use scaling::scaling;
pub use versions::versions;

use super::error::ExportError;
use super::footnotes::qualities;
use super::model::{EntryInfo, Report};
use super::phrases::platform;
use super::sanitize::safe;
use crate::document::joined;
use crate::units;

use document::{Anchor, Svg};

/// Width of a chart in pixels: what the column of a README has.
const WIDTH: f64 = 830.0;
/// Distance of everything from the edge, in pixels.
const MARGIN: f64 = 24.0;

fn plain(text: &str) -> String {
    safe(text).into_owned()
}

/// Draws the title and subtitle at the top. Returns the y below them.
fn head(svg: &mut Svg, title: &str, subtitle: &str) -> f64 {
    svg.text(MARGIN, 38.0, "title", Anchor::Start, title);
    svg.text(MARGIN, 59.0, "muted", Anchor::Start, subtitle);
    76.0
}

/// Height in pixels of the two lines at the bottom, on the source of the results.
const FOOT: f64 = 54.0;

fn foot(svg: &mut Svg, report: &Report, y: f64, left_out: Option<String>) {
    let mut first = platform(&report.machine);
    if let Some(source) = report.usual_source() {
        first.push_str(&format!(", memory by {}", source.name()));
    }
    let mut second = format!(
        "taskscale {}, {}, {}",
        plain(&report.taskscale),
        report.created_at.date(),
        units::counted(report.repetitions, "repetition"),
    );
    if let Some(left_out) = left_out {
        second.push_str(&format!(". {left_out}"));
    }
    let room = WIDTH - 2.0 * MARGIN;
    svg.text(MARGIN, y + 18.0, "small muted", Anchor::Start, &style::fitted(&first, 11.0, room));
    svg.text(MARGIN, y + 34.0, "small muted", Anchor::Start, &style::fitted(&second, 11.0, room));
}

/// Kind and what else must be known to compare: `stackless, tuned, one CPU`.
fn kind(entry: &EntryInfo) -> String {
    let words = qualities(entry.style, entry.reference, entry.parallel, entry.unverified.is_some());
    joined(std::iter::once(entry.kind.name()).chain(words), ", ")
}

/// The title of a chart, without the number of tasks, and a sentence on its values.
fn heads(report: &Report) -> (&'static str, String) {
    let part = plain(&report.series().to_string());
    let (what, sentence) = match &report.operation {
        None => ("Memory", "All memory while all tasks wait, including kernel memory".to_owned()),
        Some(operation) => ("Time per operation", format!("An operation: {}", plain(operation))),
    };
    (what, format!("Workload {part}. {sentence}"))
}
