//! The document of a limit search.

use super::answer::{Answer, AtRate, CurvePoint, LimitReport};
use super::numbers::{connections, milliseconds};
use super::rate::OPEN_S;
use super::search_spec::{Find, SearchSpec};
use super::trial_point::TrialPoint;
use super::words::{below, held, limited_by, no_answer};
use crate::catalog::Shape;
use crate::document::{Column, Document, DocumentRow, Emphasis, Table, TableCell};
use crate::metrics::{CPU_PER_MESSAGE, LATENCY_P50, LATENCY_P99, MetricDef, per_task, time_text};
use crate::units::{self, mib};

pub fn document(report: &LimitReport) -> Document {
    let mut document = Document::new(title(report));
    document.text(machine(report), Emphasis::Quiet);
    document.text(rule(report), Emphasis::Quiet);
    let (tried, missing): (Vec<_>, Vec<_>) =
        report.answers.iter().partition(|answer| answer.unavailable.is_none() || answer.runs > 0);
    match report.search_spec.find {
        Find::MostTasks { memory_bytes } => {
            document.table(answers(size(memory_bytes), &tried, &report.search_spec, most_tasks()));
        }
        Find::LeastMemory { tasks } => {
            document.table(answers(units::tasks(tasks), &tried, &report.search_spec, least_memory()));
            let curves = tried.iter().filter(|answer| answer.curve.len() > 1);
            curves.for_each(|answer| document.table(curve(answer, tasks)));
        }
        Find::HighestRate { tasks, .. } => {
            document.table(answers(connections(tasks), &tried, &report.search_spec, highest_rate()));
        }
    }
    let mut table = Table::new(vec![Column::words("entry"), Column::prose("")]);
    let row = |answer: &&Answer| {
        let why = answer.unavailable.as_deref().unwrap_or_default();
        DocumentRow::of(vec![TableCell::Name(answer.entry.clone(), Emphasis::Plain)]).note(
            "",
            why,
            Emphasis::Bad,
        )
    };
    table.section("not available here").rows = missing.iter().map(row).collect();
    document.table(table);
    document.notes = report.notes.clone();
    document.provenance = Some(provenance(report));
    document.command = report.command.clone();
    document
}

fn title(report: &LimitReport) -> String {
    let what = match report.search_spec.find {
        Find::MostTasks { memory_bytes } => format!("Most tasks in {}", size(memory_bytes)),
        Find::LeastMemory { tasks } => format!("Least memory for {}", units::tasks(tasks)),
        Find::HighestRate { p99_us, .. } => {
            format!("Highest message rate with p99 below {}", milliseconds(p99_us as f64))
        }
    };
    format!("{what} · {}", report.workload)
}

/// A size as requested: exact where it is whole MiB.
fn size(bytes: u64) -> String {
    if bytes.is_multiple_of(1 << 20) {
        format!("{} MiB", units::grouped(bytes >> 20))
    } else {
        units::bytes(bytes)
    }
}

fn machine(report: &LimitReport) -> String {
    let machine = &report.machine;
    let sources: Vec<&str> = report.memory_sources.iter().map(|source| source.name()).collect();
    let bounded = match report.search_spec.find {
        Find::HighestRate { .. } => "",
        _ => ", kernel memory and files included, swap off",
    };
    format!(
        "{}, {} · {} · Linux {} · memory by {}{bounded}",
        machine.cpu,
        units::counted(machine.cpus, "CPU"),
        units::bytes(machine.memory_bytes),
        machine.kernel,
        sources.join(", ")
    )
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
            milliseconds(p99_us as f64)
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
fn answers<const N: usize>(
    heading: String,
    answers: &[&Answer],
    search_spec: &SearchSpec,
    columns: [AnswerColumn; N],
) -> Table {
    let (heads, cells): (Vec<Column>, Vec<CellOf>) = columns.into_iter().unzip();
    let names = [Column::words("entry"), Column::words("kind")].into_iter();
    let mut table = Table::new(names.chain(heads).chain([Column::prose("limited by")]).collect());
    let row = |answer: &&Answer| {
        let mut row = DocumentRow::of(vec![
            TableCell::Name(answer.entry.clone(), Emphasis::Plain),
            TableCell::plain(answer.kind.name()),
        ]);
        if let Some(instead) = no_answer(answer, &search_spec.find) {
            return row.note("", instead, Emphasis::Bad);
        }
        row.cells.extend(cells.iter().map(|cell| cell(answer)));
        row.cells.push(TableCell::plain(limited_by(answer)));
        below(answer, search_spec).into_iter().fold(row, |row, text| row.note("", text, Emphasis::Doubtful))
    };
    table.section(heading).rows = answers.iter().map(row).collect();
    table
}

const PASSED: CellOf = |answer| TableCell::plain(held(answer));
const RUNS: CellOf = |answer| TableCell::plain(answer.runs.to_string());
const PER_TASK: CellOf =
    |answer| figure(answer.memory_per_task.map(|bytes| format!("{} B", per_task(bytes))));

fn most_tasks() -> [AnswerColumn; 6] {
    [
        (Column::figures("most tasks"), |answer| figure(answer.tasks.map(units::grouped))),
        (Column::figures("passed"), PASSED),
        (Column::figures("fails at"), |answer| fails_at(answer, |run| Some(units::grouped(run.tasks)))),
        (Column::figures("B/task"), |answer| figure(answer.bytes_per_task.map(per_task))),
        (Column::figures("memory ÷ N"), PER_TASK),
        (Column::figures("runs").drop_priority(0), RUNS),
    ]
}

fn least_memory() -> [AnswerColumn; 7] {
    fn point(answer: &Answer) -> Option<&CurvePoint> {
        answer.curve.iter().find(|point| Some(point.memory_bytes) == answer.memory_bytes)
    }
    [
        (Column::figures("least MiB"), |answer| figure(answer.memory_bytes.map(size_mib))),
        (Column::figures("passed"), PASSED),
        (Column::figures("fails at"), |answer| fails_at(answer, |run| Some(size_mib(run.cap_bytes)))),
        (Column::figures("memory ÷ N"), PER_TASK),
        (Column::figures("CPU s").drop_priority(2), |answer| {
            figure(point(answer).and_then(|point| point.cpu_s).map(time_text))
        }),
        (Column::figures("vs unlimited").drop_priority(1), |answer| {
            figure(point(answer).and_then(|point| point.times_roomy).map(times))
        }),
        (Column::figures("runs").drop_priority(0), RUNS),
    ]
}

fn highest_rate() -> [AnswerColumn; 7] {
    fn at(answer: &Answer, of: fn(&AtRate) -> Option<f64>, metric: &MetricDef) -> TableCell {
        figure(answer.at_rate.as_ref().and_then(of).map(|value| metric.show(value)))
    }
    [
        (Column::figures("messages/s"), |answer| figure(answer.rate_per_s.map(units::grouped))),
        (Column::figures("passed"), PASSED),
        (Column::figures("fails at"), |answer| fails_at(answer, |run| run.rate_per_s.map(units::grouped))),
        (Column::figures("p50 µs").drop_priority(0), |answer| {
            at(answer, |at| at.latency_p50_us, &LATENCY_P50)
        }),
        (Column::figures("p99 µs"), |answer| at(answer, |at| at.latency_p99_us, &LATENCY_P99)),
        (Column::figures("CPU µs/msg").drop_priority(2), |answer| {
            at(answer, |at| at.cpu_us_per_message, &CPU_PER_MESSAGE)
        }),
        (Column::figures("runs").drop_priority(1), RUNS),
    ]
}

fn fails_at(answer: &Answer, shown: fn(&TrialPoint) -> Option<String>) -> TableCell {
    figure(answer.fails.as_ref().and_then(|run| shown(&run.trial_point)))
}

/// Memory against CPU.
fn curve(answer: &Answer, tasks: u64) -> Table {
    let mut table = Table::new(vec![
        Column::figures("memory MiB"),
        Column::figures("vs least"),
        Column::figures("CPU s"),
        Column::figures("vs unlimited"),
        Column::figures("from–to").drop_priority(2),
        Column::figures("launch s").drop_priority(1),
        Column::figures("drain s").drop_priority(0),
        Column::figures("peak MiB").drop_priority(3),
        Column::bars("CPU time").drop_priority(4),
    ]);
    let most = answer.curve.iter().filter_map(|point| point.cpu_s).fold(0.0, f64::max);
    let rows = answer.curve.iter().map(|point| of_point(point, answer.memory_bytes, most));
    let heading = format!("{}: CPU time of {} by memory", answer.entry, units::tasks(tasks));
    table.section(heading).rows = rows.collect();
    table
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
        figure(point.peak_bytes.map(|bytes| units::decimal(mib(bytes), 1))),
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
    units::decimal(mib(bytes as f64), 1)
}

fn times(ratio: f64) -> String {
    units::decimal(ratio, 2)
}

fn provenance(report: &LimitReport) -> String {
    let runs: usize = report.answers.iter().map(|answer| answer.runs).sum();
    let runs = units::counted(runs, "run");
    format!("taskscale {} · {} · {runs}, plus one warm-up per entry", report.taskscale, report.created_at)
}
