//! The sheet of a limit search.

use super::rate::{OPEN_S, connections, milliseconds};
use super::words::{below, held, limited_by, no_answer};
use super::{Answer, AtRate, CurvePoint, Find, LimitReport, Question, ShownRun};
use crate::catalog::Shape;
use crate::figures::{CPU_PER_MESSAGE, Figure, LATENCY_P50, LATENCY_P99, per_task, time_text};
use crate::sheet::{Column, Field, Sheet, SheetRow, Table, Tone};
use crate::units::{self, mib};

pub fn sheet(report: &LimitReport) -> Sheet {
    let mut sheet = Sheet::new(title(report));
    sheet.text(machine(report), Tone::Quiet);
    sheet.text(rule(report), Tone::Quiet);
    let (tried, missing): (Vec<_>, Vec<_>) =
        report.answers.iter().partition(|answer| answer.unavailable.is_none() || answer.runs > 0);
    match report.question.find {
        Find::MostTasks { memory_bytes } => sheet.table(most_tasks(&tried, &report.question, memory_bytes)),
        Find::LeastMemory { tasks } => {
            sheet.table(least_memory(&tried, &report.question, tasks));
            let curves = tried.iter().filter(|answer| answer.curve.len() > 1);
            curves.for_each(|answer| sheet.table(curve(answer, tasks)));
        }
        Find::HighestRate { tasks, .. } => sheet.table(highest_rate(&tried, &report.question, tasks)),
    }
    let mut table = Table::new(vec![Column::words("entry"), Column::prose("")]);
    let row = |answer: &&Answer| {
        let why = answer.unavailable.as_deref().unwrap_or_default();
        SheetRow::of(vec![Field::Name(answer.entry.clone(), Tone::Plain)]).remark("", why, Tone::Bad)
    };
    table.section("not available here").rows = missing.iter().map(row).collect();
    sheet.table(table);
    sheet.notes = report.notes.clone();
    sheet.provenance = Some(provenance(report));
    sheet.command = report.command.clone();
    sheet
}

fn title(report: &LimitReport) -> String {
    let what = match report.question.find {
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
    let bounded = match report.question.find {
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
    let again = match report.question.repetitions {
        0 | 1 => "a confirming run".to_owned(),
        times => format!("{times} of {times} confirming runs"),
    };
    let precision = units::decimal(report.question.precision * 100.0, 1);
    let answer = format!(
        "An answer passed {again} and is within {}% of a value that failed.",
        precision.trim_end_matches(".0")
    );
    if let Find::HighestRate { p99_us, .. } = report.question.find {
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
        report.question.slowdown,
    )
}

fn most_tasks(answers: &[&Answer], question: &Question, memory_bytes: u64) -> Table {
    let mut table = Table::new(vec![
        Column::words("entry"),
        Column::words("kind"),
        Column::figures("most tasks"),
        Column::figures("passed"),
        Column::figures("fails at"),
        Column::figures("B/task"),
        Column::figures("memory ÷ N"),
        Column::figures("runs").spare(0),
        Column::prose("limited by"),
    ]);
    let row = |answer: &&Answer| {
        let fails = answer.fails.as_ref().map(|failed| units::grouped(failed.tasks));
        row(
            answer,
            question,
            [
                figure(answer.tasks.map(units::grouped)),
                Field::plain(held(answer)),
                figure(fails),
                figure(answer.bytes_per_task.map(per_task)),
                figure(answer.memory_per_task.map(|bytes| format!("{} B", per_task(bytes)))),
                Field::plain(answer.runs.to_string()),
            ],
        )
    };
    table.section(size(memory_bytes)).rows = answers.iter().map(row).collect();
    table
}

fn least_memory(answers: &[&Answer], question: &Question, tasks: u64) -> Table {
    let mut table = Table::new(vec![
        Column::words("entry"),
        Column::words("kind"),
        Column::figures("least MiB"),
        Column::figures("passed"),
        Column::figures("fails at"),
        Column::figures("memory ÷ N"),
        Column::figures("CPU s").spare(2),
        Column::figures("vs unlimited").spare(1),
        Column::figures("runs").spare(0),
        Column::prose("limited by"),
    ]);
    let row = |answer: &&Answer| {
        let point = answer.curve.iter().find(|point| Some(point.memory_bytes) == answer.memory_bytes);
        let fails = answer.fails.as_ref().map(|failed| size_mib(failed.memory_bytes as f64));
        row(
            answer,
            question,
            [
                figure(answer.memory_bytes.map(|bytes| size_mib(bytes as f64))),
                Field::plain(held(answer)),
                figure(fails),
                figure(answer.memory_per_task.map(|bytes| format!("{} B", per_task(bytes)))),
                figure(point.and_then(|point| point.cpu_s).map(time_text)),
                figure(point.and_then(|point| point.times_roomy).map(times)),
                Field::plain(answer.runs.to_string()),
            ],
        )
    };
    table.section(format!("{} tasks", units::count(tasks))).rows = answers.iter().map(row).collect();
    table
}

fn highest_rate(answers: &[&Answer], question: &Question, tasks: u64) -> Table {
    let mut table = Table::new(vec![
        Column::words("entry"),
        Column::words("kind"),
        Column::figures("messages/s"),
        Column::figures("passed"),
        Column::figures("fails at"),
        Column::figures("p50 µs").spare(0),
        Column::figures("p99 µs"),
        Column::figures("CPU µs/msg").spare(2),
        Column::figures("runs").spare(1),
        Column::prose("limited by"),
    ]);
    let row = |answer: &&Answer| {
        let of = |run: &ShownRun| run.rate_per_s.map(units::grouped);
        let at = |of: fn(&AtRate) -> Option<f64>, figure: &Figure| {
            Field::figure(answer.at_rate.as_ref().and_then(of).map(|value| figure.show(value)), Tone::Plain)
        };
        row(
            answer,
            question,
            [
                figure(answer.rate_per_s.map(units::grouped)),
                Field::plain(held(answer)),
                figure(answer.fails.as_ref().and_then(of)),
                at(|at| at.latency_p50_us, &LATENCY_P50),
                at(|at| at.latency_p99_us, &LATENCY_P99),
                at(|at| at.cpu_us_per_message, &CPU_PER_MESSAGE),
                Field::plain(answer.runs.to_string()),
            ],
        )
    };
    table.section(connections(tasks)).rows = answers.iter().map(row).collect();
    table
}

/// One entry's answer, or why there is none.
fn row<const N: usize>(answer: &Answer, question: &Question, figures: [Field; N]) -> SheetRow {
    let mut row =
        SheetRow::of(vec![Field::Name(answer.entry.clone(), Tone::Plain), Field::plain(answer.kind.name())]);
    if let Some(instead) = no_answer(answer, &question.find) {
        return row.remark("", instead, Tone::Bad);
    }
    row.fields.extend(figures);
    row.fields.push(Field::plain(limited_by(answer)));
    below(answer, question).into_iter().fold(row, |row, text| row.remark("", text, Tone::Doubtful))
}

/// Memory against CPU.
fn curve(answer: &Answer, tasks: u64) -> Table {
    let mut table = Table::new(vec![
        Column::figures("memory MiB"),
        Column::figures("vs least"),
        Column::figures("CPU s"),
        Column::figures("vs unlimited"),
        Column::figures("from–to").spare(2),
        Column::figures("launch s").spare(1),
        Column::figures("drain s").spare(0),
        Column::figures("peak MiB").spare(3),
        Column::bars("CPU time").spare(4),
    ]);
    let most = answer.curve.iter().filter_map(|point| point.cpu_s).fold(0.0, f64::max);
    let rows = answer.curve.iter().map(|point| of_point(point, answer.memory_bytes, most));
    let heading = format!("{}: CPU time of {} by memory", answer.entry, units::tasks(tasks));
    table.section(heading).rows = rows.collect();
    table
}

fn of_point(point: &CurvePoint, least: Option<u64>, most_cpu_s: f64) -> SheetRow {
    let share = least.map(|least| times(point.memory_bytes as f64 / least as f64));
    let mut row = SheetRow::of(vec![Field::plain(size_mib(point.memory_bytes as f64)), figure(share)]);
    let reason = point.reason.as_deref();
    if point.held == 0 {
        row.flag = Some("✗".to_owned());
        return row.remark("", format!("✗ {}", reason.unwrap_or("failed")), Tone::Bad);
    }
    let range = point.times_roomy_range.map(|[least, most]| format!("{}–{}", times(least), times(most)));
    row.fields.extend([
        figure(point.cpu_s.map(time_text)),
        figure(point.times_roomy.map(times)),
        figure(range),
        figure(point.launch_s.map(time_text)),
        figure(point.drain_s.map(time_text)),
        figure(point.peak_bytes.map(size_mib)),
        Field::Bar(point.cpu_s.map_or(0.0, |cpu| cpu / most_cpu_s), Tone::Plain),
    ]);
    if point.held < point.runs {
        let held = format!("{} of {} passed", point.held, point.runs);
        row = row.remark(held, reason.unwrap_or("others failed"), Tone::Doubtful);
    }
    if point.roomy { row.remark("", "unlimited", Tone::Quiet) } else { row }
}

fn figure(text: Option<String>) -> Field {
    Field::figure(text, Tone::Plain)
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
