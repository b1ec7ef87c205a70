//! The answer of a report in a sentence: what N tasks take, or what an operation takes with N tasks.

use serde::Serialize;

use super::model::{Rank, Report, Row, RowGroup};
use crate::catalog::{Kind, Shape};
use crate::document::joined;
use crate::units::{self, counted};

/// The answer at one N, with its caveats.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Headline {
    pub tasks: u64,
    pub rank: Rank,
    /// The sentence in pieces. Every second piece is bold.
    pub answer: Vec<String>,
    pub detail: String,
}

impl Headline {
    /// `slowed`: whether other work shared the CPUs with a ranked run.
    pub fn of(report: &Report, group: &RowGroup, rank: Rank, slowed: bool) -> Headline {
        let better = report.headline().better;
        let scope = |row: &Row| rank.scope(row.entry.kind);
        let mut ranked: Vec<&Row> = group.rows.iter().filter(|row| row.ranked).collect();
        ranked.sort_by(|a, b| scope(a).cmp(&scope(b)).then(better.order(a.median(), b.median())));
        let bests: Vec<&Row> = ranked.chunk_by(|a, b| scope(a) == scope(b)).map(|set| set[0]).collect();
        let (answer, detail) = match (&ranked[..], &bests[..]) {
            ([], _) => nothing(report, group),
            (&[best, .., worst], [_]) => (between(report, best, worst), compared(report, best, worst)),
            (&[only], _) => (alone(report, only), String::new()),
            (_, bests) => (of_kinds(report, bests), timers(report, bests)),
        };
        let held = if ranked.is_empty() { String::new() } else { held(report, group, slowed) };
        let operation = report.operation.as_ref().map(|what| format!("An operation: {what}."));
        let sentences = [operation.unwrap_or_default(), detail, held];
        let detail = joined(sentences.into_iter().filter(|text| !text.is_empty()), " ");
        Headline { tasks: group.tasks, rank, answer, detail }
    }
}

/// `10k tasks`, or `10k connections` for servers. Never broken over two lines.
fn many(report: &Report, n: u64) -> String {
    report.shape.many(n).replace(' ', "\u{a0}")
}

/// `1M tasks take`.
fn lead(report: &Report, n: u64) -> String {
    match (report.shape, n) {
        (Shape::Work, _) => format!("With {} an operation takes", many(report, n)),
        (_, 1) => format!("{} takes", many(report, n)),
        _ => format!("{} take", many(report, n)),
    }
}

fn value(report: &Report, row: &Row) -> String {
    row.median().map(|median| report.headline().text(median)).unwrap_or_default()
}

fn nothing(report: &Report, group: &RowGroup) -> (Vec<String>, String) {
    let n = many(report, group.tasks);
    let question = match (report.shape, group.tasks) {
        (Shape::Work, _) => format!("What an operation costs with {n}"),
        (_, 1) => format!("What {n} costs"),
        _ => format!("What {n} cost"),
    };
    let title = report.headline().title.to_lowercase();
    let what = match group.rows.iter().any(|row| row.headline.is_some()) {
        true => "is ranked by",
        false => "has a value for",
    };
    (vec![question], format!("No entry {what} {title} at this number of tasks."))
}

fn alone(report: &Report, row: &Row) -> Vec<String> {
    let lead = lead(report, row.tasks);
    vec![format!("{lead} "), value(report, row), format!(" in {}.", row.entry.title_in_version())]
}

fn between(report: &Report, best: &Row, worst: &Row) -> Vec<String> {
    vec![
        format!("{} from ", lead(report, best.tasks)),
        value(report, best),
        format!(" in {} to ", best.entry.title_in_version()),
        value(report, worst),
        format!(" in {}.", worst.entry.title_in_version()),
    ]
}

/// The best of each kind, without a factor, as kinds do different things. Without timers.
fn of_kinds(report: &Report, bests: &[&Row]) -> Vec<String> {
    let tasks: Vec<&&Row> = bests.iter().filter(|row| row.entry.kind != Kind::Timer).collect();
    let mut pieces = Vec::new();
    let mut text = format!("{} at least ", lead(report, bests[0].tasks));
    for (at, row) in tasks.iter().enumerate() {
        pieces.extend([text, value(report, row)]);
        let end = match tasks.len() - at {
            1 => ".",
            2 => " or ",
            _ => ", ",
        };
        text = format!(" as {}{end}", row.entry.kind.in_sentence());
    }
    pieces.push(text);
    pieces
}

fn timers(report: &Report, bests: &[&Row]) -> String {
    let timer = bests.iter().find(|row| row.entry.kind == Kind::Timer);
    timer.map(|row| format!("Timers without tasks take {}.", value(report, row))).unwrap_or_default()
}

fn compared(report: &Report, best: &Row, worst: &Row) -> String {
    let medians = worst.median().zip(best.median());
    let times = medians.and_then(|(worst, best)| report.headline().better.times(worst, best));
    let mut text = String::new();
    if let Some(times) = times.filter(|times| *times > 1.005) {
        text = format!("A factor of {}.", units::significant(times, 3));
    }
    if best.entry.kind != worst.entry.kind {
        let kinds = [best, worst].map(|row| row.entry.kind.in_sentence());
        text +=
            &format!(" The first uses {}, the last {}: different concurrency models.", kinds[0], kinds[1]);
    }
    text.trim_start().to_owned()
}

/// How many entries reached N.
pub(super) fn held(report: &Report, group: &RowGroup, slowed: bool) -> String {
    let ran = || group.rows.iter().filter(|row| !row.entry.reference);
    let all_alive = |row: &Row| row.headline.is_some() && row.short_alive.is_none();
    let held = |row: &&Row| match report.shape {
        Shape::Work => row.ok_runs > 0 && row.headline.is_some(),
        Shape::Hold | Shape::Serve => row.ok_runs > 0 || all_alive(row),
    };
    let (all, held) = (ran().count(), ran().filter(held).count());
    let entries = counted(all, "entry");
    let who = match (all, held == all) {
        (1, true) => "The only entry".to_owned(),
        (_, true) => format!("All {entries}"),
        _ => format!("{held} of {entries}"),
    };
    let what = match report.shape {
        Shape::Work => "completed the work".to_owned(),
        Shape::Hold | Shape::Serve => format!("reached {}", units::count(group.tasks)),
    };
    let others = match all - held {
        0 => "",
        1 => ". The reason of the other is below",
        _ => ". The reasons of the others are below",
    };
    let inflated = match slowed && report.shape == Shape::Work {
        true => " Other work shared the CPUs: times are inflated.",
        false => "",
    };
    format!("{who} {what}{others}.{inflated}")
}
