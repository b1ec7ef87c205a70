//! The document of a limit search.

use super::rate::{OPEN_S, connections, milliseconds};
use super::words::{below, held, limited_by, no_answer};
use super::{Answer, AtRate, CurvePoint, Find, LimitReport, SearchSpec, ShownRun};
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
            document.table(most_tasks(&tried, &report.search_spec, memory_bytes))
        }
        Find::LeastMemory { tasks } => {
            document.table(least_memory(&tried, &report.search_spec, tasks));
            let curves = tried.iter().filter(|answer| answer.curve.len() > 1);
            curves.for_each(|answer| document.table(curve(answer, tasks)));
        }
        Find::HighestRate { tasks, .. } => document.table(highest_rate(&tried, &report.search_spec, tasks)),
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

fn most_tasks(answers: &[&Answer], search_spec: &SearchSpec, memory_bytes: u64) -> Table {
    let mut table = Table::new(vec![
        Column::words("entry"),
        Column::words("kind"),
        Column::figures("most tasks"),
        Column::figures("passed"),
        Column::figures("fails at"),
        Column::figures("B/task"),
        Column::figures("memory ÷ N"),
        Column::figures("runs").drop_priority(0),
        Column::prose("limited by"),
    ]);
    let row = |answer: &&Answer| {
        let fails = answer.fails.as_ref().map(|failed| units::grouped(failed.tasks));
        row(
            answer,
            search_spec,
            [
                figure(answer.tasks.map(units::grouped)),
                TableCell::plain(held(answer)),
                figure(fails),
                figure(answer.bytes_per_task.map(per_task)),
                figure(answer.memory_per_task.map(|bytes| format!("{} B", per_task(bytes)))),
                TableCell::plain(answer.runs.to_string()),
            ],
        )
    };
    table.section(size(memory_bytes)).rows = answers.iter().map(row).collect();
    table
}

fn least_memory(answers: &[&Answer], search_spec: &SearchSpec, tasks: u64) -> Table {
    let mut table = Table::new(vec![
        Column::words("entry"),
        Column::words("kind"),
        Column::figures("least MiB"),
        Column::figures("passed"),
        Column::figures("fails at"),
        Column::figures("memory ÷ N"),
        Column::figures("CPU s").drop_priority(2),
        Column::figures("vs unlimited").drop_priority(1),
        Column::figures("runs").drop_priority(0),
        Column::prose("limited by"),
    ]);
    let row = |answer: &&Answer| {
        let point = answer.curve.iter().find(|point| Some(point.memory_bytes) == answer.memory_bytes);
        let fails = answer.fails.as_ref().map(|failed| size_mib(failed.memory_bytes as f64));
        row(
            answer,
            search_spec,
            [
                figure(answer.memory_bytes.map(|bytes| size_mib(bytes as f64))),
                TableCell::plain(held(answer)),
                figure(fails),
                figure(answer.memory_per_task.map(|bytes| format!("{} B", per_task(bytes)))),
                figure(point.and_then(|point| point.cpu_s).map(time_text)),
                figure(point.and_then(|point| point.times_roomy).map(times)),
                TableCell::plain(answer.runs.to_string()),
            ],
        )
    };
    table.section(format!("{} tasks", units::count(tasks))).rows = answers.iter().map(row).collect();
    table
}

fn highest_rate(answers: &[&Answer], search_spec: &SearchSpec, tasks: u64) -> Table {
    let mut table = Table::new(vec![
        Column::words("entry"),
        Column::words("kind"),
        Column::figures("messages/s"),
        Column::figures("passed"),
        Column::figures("fails at"),
        Column::figures("p50 µs").drop_priority(0),
        Column::figures("p99 µs"),
        Column::figures("CPU µs/msg").drop_priority(2),
        Column::figures("runs").drop_priority(1),
        Column::prose("limited by"),
    ]);
    let row = |answer: &&Answer| {
        let of = |run: &ShownRun| run.rate_per_s.map(units::grouped);
        let at = |of: fn(&AtRate) -> Option<f64>, figure: &MetricDef| {
            TableCell::figure(
                answer.at_rate.as_ref().and_then(of).map(|value| figure.show(value)),
                Emphasis::Plain,
            )
        };
        row(
            answer,
            search_spec,
            [
                figure(answer.rate_per_s.map(units::grouped)),
                TableCell::plain(held(answer)),
                figure(answer.fails.as_ref().and_then(of)),
                at(|at| at.latency_p50_us, &LATENCY_P50),
                at(|at| at.latency_p99_us, &LATENCY_P99),
                at(|at| at.cpu_us_per_message, &CPU_PER_MESSAGE),
                TableCell::plain(answer.runs.to_string()),
            ],
        )
    };
    table.section(connections(tasks)).rows = answers.iter().map(row).collect();
    table
}

/// One entry's answer, or why there is none.
fn row<const N: usize>(answer: &Answer, search_spec: &SearchSpec, figures: [TableCell; N]) -> DocumentRow {
    let mut row = DocumentRow::of(vec![
        TableCell::Name(answer.entry.clone(), Emphasis::Plain),
        TableCell::plain(answer.kind.name()),
    ]);
    if let Some(instead) = no_answer(answer, &search_spec.find) {
        return row.note("", instead, Emphasis::Bad);
    }
    row.cells.extend(figures);
    row.cells.push(TableCell::plain(limited_by(answer)));
    below(answer, search_spec).into_iter().fold(row, |row, text| row.note("", text, Emphasis::Doubtful))
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
    let mut row = DocumentRow::of(vec![TableCell::plain(size_mib(point.memory_bytes as f64)), figure(share)]);
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
        figure(point.peak_bytes.map(size_mib)),
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

fn size_mib(bytes: f64) -> String {
    units::decimal(mib(bytes), 1)
}

fn times(ratio: f64) -> String {
    units::decimal(ratio, 2)
}

fn provenance(report: &LimitReport) -> String {
    let runs: usize = report.answers.iter().map(|answer| answer.runs).sum();
    let runs = units::counted(runs, "run");
    format!("taskscale {} · {} · {runs}, plus one warm-up per entry", report.taskscale, report.created_at)
}
