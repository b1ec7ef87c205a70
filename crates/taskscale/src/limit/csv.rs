//! The answers of limit searches as CSV: one line per run, and one for each entry without runs.

use super::answer::{Answer, LimitReport, ShownRun};
use super::outcome::Purpose;
use super::search_spec::Find;
use crate::document::csv::{CsvColumn, figure, table, text, whole};
use crate::record::OpenLoad;

struct LimitCsvLine<'a> {
    find: Find,
    answer: &'a Answer,
    run: Option<&'a ShownRun>,
}

impl LimitCsvLine<'_> {
    /// The role of a run: confirms the answer, failed nearest to it, or passed farthest at or beyond that.
    fn role(&self) -> &'static str {
        let (answer, Some(run)) = (self.answer, self.run) else { return "" };
        let at_the_answer = answer.trial_point() == Some(run.trial_point);
        match self.run {
            _ if run.purpose == Purpose::Confirm && run.holds && at_the_answer => "answer",
            run if run == answer.fails.as_ref() => "beyond",
            run if run == answer.sometimes.as_ref() => "sometimes",
            _ => "",
        }
    }

    fn open(&self) -> Option<&OpenLoad> {
        self.run?.open.as_ref()
    }

    fn reason(&self) -> &str {
        match self.run {
            Some(run) => run.reason.as_deref().unwrap_or_default(),
            None => self.answer.unavailable.as_deref().unwrap_or("not run yet"),
        }
    }
}

/// The columns of confirming runs and `edge` are the same for all runs of an entry.
fn columns<'a>() -> [CsvColumn<LimitCsvLine<'a>>; 26] {
    [
        ("entry", |line| text(&line.answer.entry)),
        ("kind", |line| line.answer.kind.name().to_owned()),
        ("find", |line| <&str>::from(line.find).to_owned()),
        ("state", |line| line.answer.state.name().to_owned()),
        ("role", |line| line.role().to_owned()),
        ("tasks", |line| whole(line.run.map(|run| run.trial_point.tasks))),
        ("memory_bytes", |line| whole(line.run.map(|run| run.trial_point.cap_bytes))),
        ("purpose", |line| whole(line.run.map(|run| run.purpose.name()))),
        ("holds", |line| whole(line.run.map(|run| run.holds))),
        ("cause", |line| whole(line.run.and_then(|run| Some(run.cause?.name())))),
        ("status", |line| whole(line.run.map(|run| run.status.name()))),
        ("footprint_bytes", |line| whole(line.run.and_then(|run| run.footprint_bytes))),
        ("peak_bytes", |line| whole(line.run.and_then(|run| run.peak_bytes))),
        ("launch_s", |line| figure(line.run.and_then(|run| run.launch_s))),
        ("drain_s", |line| figure(line.run.and_then(|run| run.drain_s))),
        ("wall_s", |line| figure(line.run.and_then(|run| run.wall_s))),
        ("cpu_s", |line| figure(line.run.and_then(|run| run.cpu_s))),
        ("reason", |line| text(line.reason())),
        ("confirming_held", |line| whole(line.run.and(line.answer.tried).map(|tried| tried.held))),
        ("confirming_runs", |line| whole(line.run.and(line.answer.tried).map(|tried| tried.runs))),
        ("edge", |line| whole(line.run.and(line.answer.sometimes.as_ref()).map(|_| "not-sharp"))),
        ("rate_per_s", |line| whole(line.run.and_then(|run| run.trial_point.rate_per_s))),
        ("achieved_per_s", |line| figure(line.open().map(|open| open.achieved_per_s))),
        ("latency_p50_us", |line| figure(line.open().and_then(|open| Some(open.latency()?.p50)))),
        ("latency_p99_us", |line| figure(line.open().and_then(|open| Some(open.latency()?.p99)))),
        ("server_cpu_s", |line| figure(line.open().and_then(|open| open.server_cpu_s))),
    ]
}

pub fn render(report: &LimitReport) -> String {
    let find = report.search_spec.find;
    let lines = report.answers.iter().flat_map(|answer| {
        let none = answer.probes.is_empty().then_some(None);
        let runs = none.into_iter().chain(answer.probes.iter().map(Some));
        runs.map(move |run| LimitCsvLine { find, answer, run })
    });
    table(&columns(), lines)
}
