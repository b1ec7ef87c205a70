//! The comparison as tables for the terminal.

use anstyle::Style;

use super::model::{Change, Comparison, Gate, Verdict};
use super::words;
use crate::report::RenderOptions;
use crate::report::phrases::REASON;
use crate::report::sanitize::brief;
use crate::report::terminal::{BAD, GOOD, PLAIN, Page, QUIET, SHORT, STRONG, left, right};
use crate::report::terminal_table::{Cell, Grid};

pub fn render(comparison: &Comparison, options: RenderOptions) -> String {
    let page = Page::new(options);
    let mut out = String::new();
    page.paragraph(&mut out, &words::title(comparison, page.quote), STRONG);
    page.paragraph(&mut out, &words::summary(comparison), PLAIN);
    if let Some(gate) = words::gate(comparison) {
        let style = if comparison.gate() == Some(Gate::Open) { GOOD } else { BAD };
        page.paragraph(&mut out, &gate, style);
    }
    differences(&page, &mut out, comparison);
    outcomes(&page, &mut out, comparison);
    let mut left_out = Vec::new();
    for &metric in &comparison.metrics {
        if comparison.of_metric(metric).next().is_none() {
            continue;
        }
        let mut grid = Grid::new(vec![
            left("entry"),
            right("N", None),
            right("base", Some(1)),
            right("new", Some(2)),
            right("ratio", None),
            right("95 % interval", Some(0)),
            left("verdict"),
        ]);
        grid.heading(Cell::new(words::heading(metric), STRONG), QUIET);
        for cell in words::ordered(comparison, metric) {
            let style = if words::is_change(cell.verdict) { PLAIN } else { QUIET };
            grid.row(vec![
                Cell::new((page.quote)(&cell.entries()), PLAIN),
                Cell::new(words::tasks(cell), PLAIN),
                Cell::new(words::figure(metric, cell.base.value), QUIET),
                Cell::new(words::figure(metric, cell.new.value), QUIET),
                Cell::new(words::ratio(cell), style),
                Cell::new(words::interval(cell.ratio_interval), QUIET),
                Cell::new(cell.verdict.name(), of_verdict(cell.verdict)),
            ]);
            if let Some(reason) = &cell.reason {
                grid.over(vec![], format!("└ {}", (page.quote)(reason)), SHORT);
            }
        }
        for name in page.put(&mut out, &grid) {
            if !left_out.contains(&name) {
                left_out.push(name);
            }
        }
    }
    out.push('\n');
    for note in words::notes(comparison, page.quote) {
        page.bullet(&mut out, &note);
    }
    page.left_out(&mut out, &left_out);
    out
}

fn of_verdict(verdict: Verdict) -> Style {
    match verdict {
        verdict if verdict.worse() => BAD,
        verdict if verdict.better() => GOOD,
        Verdict::Unclear => SHORT,
        _ => QUIET,
    }
}

fn differences(page: &Page, out: &mut String, comparison: &Comparison) {
    if comparison.differences.is_empty() {
        page.paragraph(out, "Machine, versions and programs are the same.", QUIET);
        return;
    }
    let mut grid = Grid::new(vec![left("what"), left("base"), left("new")]);
    grid.heading(Cell::new("what differs", STRONG), QUIET);
    for difference in &comparison.differences {
        let cell = |text: &str| Cell::new(brief(text, REASON), SHORT);
        grid.row(vec![
            Cell::new((page.quote)(&difference.what), PLAIN),
            cell(&difference.base),
            cell(&difference.new),
        ]);
    }
    page.put(out, &grid);
}

fn outcomes(page: &Page, out: &mut String, comparison: &Comparison) {
    for change in [Change::Fails, Change::OkLessOften, Change::Works, Change::StillFails] {
        let mut of_change = comparison.outcomes.iter().filter(|outcome| outcome.change == change).peekable();
        if of_change.peek().is_none() {
            continue;
        }
        let style = match change {
            Change::Fails => BAD,
            Change::OkLessOften => SHORT,
            Change::Works => GOOD,
            Change::StillFails => QUIET,
        };
        out.push('\n');
        page.paragraph(out, change.name(), style);
        for outcome in of_change {
            page.bullet(out, &words::outcome(outcome, page.quote, |text| brief(text, REASON)));
        }
    }
}
