//! The document of a limit search.

use super::answer::{Answer, AtRate, CurvePoint, LimitReport};
use super::rate::OPEN_S;
use super::search_spec::{Find, TrialPoint, size};
use super::words::{below, held, limited_by, no_answer};
use crate::catalog::Shape;
use crate::document::{Column, Document, DocumentRow, Emphasis, Table, TableCell, capitalized, joined};
use crate::metrics::{
    BYTES_PER_TASK, CPU, CPU_PER_MESSAGE, DRAIN, LATENCY_P50, LATENCY_P99, LAUNCH, MetricDef, PEAK, per_task,
    time_text,
};
use crate::report::footnotes;
use crate::units;

pub fn document(report: &LimitReport) -> Document {
    let mut document =
        Document::new(format!("{} · {}", capitalized(&report.search_spec.find.words()), report.workload));
    document.text(machine(report), Emphasis::Quiet);
    document.text(rule(report), Emphasis::Quiet);
    let (tried, missing): (Vec<_>, Vec<_>) =
        report.answers.iter().partition(|answer| answer.unavailable.is_none() || answer.runs > 0);
    let (heading, columns) = match report.search_spec.find {
        Find::MostTasks { memory_bytes } => (size(memory_bytes), most_tasks()),
        Find::LeastMemory { tasks } => (units::tasks(tasks), least_memory()),
        Find::HighestRate { tasks, .. } => (Shape::Serve.many(tasks), highest_rate()),
    };
    // Only searches for the least memory have curves.
    let curves = tried.iter().filter(|answer| answer.curve.len() > 1);
    let curves: Vec<Table> = curves.map(|answer| curve(answer, &heading)).collect();
    document.table(answers(report, heading, &tried, columns));
    curves.into_iter().for_each(|table| document.table(table));
    let row = |answer: &&Answer| {
        let why = answer.unavailable.as_deref().unwrap_or_default();
        DocumentRow::text(TableCell::name(&answer.entry), why, Emphasis::Bad)
    };
    document.table(Table::of(Column::of_texts(), "not available here", missing.iter().map(row)));
    document.notes = report.notes.clone();
    document.provenance = Some(provenance(report));
    document.command = report.command.clone();
    document
}

fn machine(report: &LimitReport) -> String {
    let sources = joined(report.memory_sources.iter().map(|source| source.name()), ", ");
    let bounded = match report.search_spec.find {
        Find::HighestRate { .. } => "",
        _ => ", kernel memory and files included, swap off",
    };
    format!("{} · memory by {sources}{bounded}", footnotes::machine(&report.machine))
}

/// When a run passes, and what an answer is.
fn rule(report: &LimitReport) -> String {
    let again = match report.search_spec.repetitions {
        0 | 1 => "a confirming run".to_owned(),
        times => format!("{times} of {times} confirming runs"),
    };
    let precision = units::decimal(report.search_spec.precision * 100.0, 1);
    let answer = format!(
        "An answer passed {again} and is within {}% of a value that failed.",
        precision.trim_end_matches(".0")
    );
    if let Find::HighestRate { p99_us, .. } = report.search_spec.find {
        return format!(
            "A run passes if messages arrive at the requested rate for {OPEN_S} s, all of them unchanged, with a p99 \
             latency below {} (from the scheduled send time). {answer}",
            units::milliseconds(p99_us as f64)
        );
    }
    let what = match report.shape {
        Shape::Hold => "all tasks are alive at once and all finish, with launch and drain",
        Shape::Serve => "all clients are connected and idle and all messages verify, with launch and drain",
        Shape::Work => "each task finishes one operation correctly, all at once, with launch, work and drain",
    };
    format!(
        "A run passes if {what} within {} times their duration under unlimited memory. {answer}",
        report.search_spec.slowdown,
    )
}

type CellOf = fn(&Answer) -> TableCell;
/// A column of answers, and how it is filled.
type AnswerColumn = (Column, CellOf);

/// Answers in the given columns, between the entries and what limits them.
fn answers(report: &LimitReport, heading: String, answers: &[&Answer], columns: Vec<AnswerColumn>) -> Table {
    let search_spec = &report.search_spec;
    let (heads, cells): (Vec<Column>, Vec<CellOf>) = columns.into_iter().unzip();
    let names = [Column::words("entry"), Column::words("kind")].into_iter();
    let columns = names.chain(heads).chain([Column::prose("limited by")]).collect();
    let row = |answer: &&Answer| {
        let mut row =
            DocumentRow::of(vec![TableCell::name(&answer.entry), TableCell::plain(answer.kind.title())]);
        if let Some(instead) = no_answer(answer, &search_spec.find) {
            return row.note("", instead, Emphasis::Bad);
        }
        row.cells.extend(cells.iter().map(|cell| cell(answer)));
        row.cells.push(TableCell::plain(limited_by(answer)));
        below(answer, search_spec).into_iter().fold(row, |row, text| row.note("", text, Emphasis::Doubtful))
    };
    Table::of(columns, heading, answers.iter().map(row))
}

const PASSED: CellOf = |answer| TableCell::plain(held(answer));
const RUNS: CellOf = |answer| TableCell::plain(answer.runs.to_string());
const PER_TASK: CellOf =
    |answer| figure(answer.memory_per_task.map(|bytes| format!("{} B", per_task(bytes))));

fn most_tasks() -> Vec<AnswerColumn> {
    vec![
        (Column::figures("most tasks"), |answer| figure(answer.tasks.map(units::grouped))),
        (Column::figures("passed"), PASSED),
        (Column::figures("fails at"), |answer| fails_at(answer, |run| Some(units::grouped(run.tasks)))),
        (Column::figures(BYTES_PER_TASK.heading), |answer| figure(answer.bytes_per_task.map(per_task))),
        (Column::figures("memory ÷ N"), PER_TASK),
        (Column::figures("runs").drop_priority(0), RUNS),
    ]
}

fn least_memory() -> Vec<AnswerColumn> {
    fn point(answer: &Answer) -> Option<&CurvePoint> {
        answer.curve.iter().find(|point| Some(point.memory_bytes) == answer.memory_bytes)
    }
    vec![
        (Column::figures("least MiB"), |answer| figure(answer.memory_bytes.map(size_mib))),
        (Column::figures("passed"), PASSED),
        (Column::figures("fails at"), |answer| fails_at(answer, |run| Some(size_mib(run.cap_bytes)))),
        (Column::figures("memory ÷ N"), PER_TASK),
        (Column::figures(CPU.heading).drop_priority(2), |answer| {
            figure(point(answer).and_then(|point| point.cpu_s).map(time_text))
        }),
        (Column::figures("vs unlimited").drop_priority(1), |answer| {
            figure(point(answer).and_then(|point| point.times_roomy).map(times))
        }),
        (Column::figures("runs").drop_priority(0), RUNS),
    ]
}

fn highest_rate() -> Vec<AnswerColumn> {
    fn at(answer: &Answer, of: fn(&AtRate) -> Option<f64>, metric: &MetricDef) -> TableCell {
        figure(answer.at_rate.as_ref().and_then(of).map(|value| metric.show(value)))
    }
    vec![
        (Column::figures("messages/s"), |answer| figure(answer.rate_per_s.map(units::grouped))),
        (Column::figures("passed"), PASSED),
        (Column::figures("fails at"), |answer| fails_at(answer, |run| run.rate_per_s.map(units::grouped))),
        (Column::figures(LATENCY_P50.heading).drop_priority(0), |answer| {
            at(answer, |at| at.latency_p50_us, &LATENCY_P50)
        }),
        (Column::figures(LATENCY_P99.heading), |answer| at(answer, |at| at.latency_p99_us, &LATENCY_P99)),
        (Column::figures(CPU_PER_MESSAGE.heading).drop_priority(2), |answer| {
            at(answer, |at| at.cpu_us_per_message, &CPU_PER_MESSAGE)
        }),
        (Column::figures("runs").drop_priority(1), RUNS),
    ]
}

fn fails_at(answer: &Answer, shown: fn(&TrialPoint) -> Option<String>) -> TableCell {
    figure(answer.fails.as_ref().and_then(|run| shown(&run.trial_point)))
}

/// CPU time by memory.
fn curve(answer: &Answer, tasks: &str) -> Table {
    let columns = vec![
        Column::figures("memory MiB"),
        Column::figures("vs least"),
        Column::figures(CPU.heading),
        Column::figures("vs unlimited"),
        Column::figures("from–to").drop_priority(2),
        Column::figures(LAUNCH.heading).drop_priority(1),
        Column::figures(DRAIN.heading).drop_priority(0),
        Column::figures(PEAK.heading).drop_priority(3),
        Column::bars("CPU time").drop_priority(4),
    ];
    let most = answer.curve.iter().filter_map(|point| point.cpu_s).fold(0.0, f64::max);
    let rows = answer.curve.iter().map(|point| of_point(point, answer.memory_bytes, most));
    let heading = format!("{}: CPU time of {tasks} by memory", answer.entry);
    Table::of(columns, heading, rows)
}

fn of_point(point: &CurvePoint, least: Option<u64>, most_cpu_s: f64) -> DocumentRow {
    let share = least.map(|least| times(point.memory_bytes as f64 / least as f64));
    let mut row = DocumentRow::of(vec![TableCell::plain(size_mib(point.memory_bytes)), figure(share)]);
    let reason = point.reason.as_deref();
    if point.held == 0 {
        row.flag = Some("✗".to_owned());
        return row.note("", format!("✗ {}", reason.unwrap_or("failed")), Emphasis::Bad);
    }
    let range = point.times_roomy_range.map(|[least, most]| format!("{}–{}", times(least), times(most)));
    row.cells.extend([
        figure(point.cpu_s.map(time_text)),
        figure(point.times_roomy.map(times)),
        figure(range),
        figure(point.launch_s.map(time_text)),
        figure(point.drain_s.map(time_text)),
        figure(point.peak_bytes.map(|bytes| PEAK.show(bytes))),
        TableCell::Bar(point.cpu_s.map_or(0.0, |cpu| cpu / most_cpu_s), Emphasis::Plain),
    ]);
    if point.held < point.runs {
        let held = format!("{} of {} passed", point.held, point.runs);
        row = row.note(held, reason.unwrap_or("others failed"), Emphasis::Doubtful);
    }
    if point.roomy { row.note("", "unlimited", Emphasis::Quiet) } else { row }
}

fn figure(text: Option<String>) -> TableCell {
    TableCell::figure(text, Emphasis::Plain)
}

fn size_mib(bytes: u64) -> String {
    PEAK.show(bytes as f64)
}

fn times(ratio: f64) -> String {
    units::decimal(ratio, 2)
}

fn provenance(report: &LimitReport) -> String {
    let runs: usize = report.answers.iter().map(|answer| answer.runs).sum();
    let runs = units::counted(runs, "run");
    format!("taskscale {} · {} · {runs}, plus one warm-up per entry", report.taskscale, report.created_at)
}
