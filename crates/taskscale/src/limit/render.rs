//! What a search for limits found: as tables for the terminal and for Markdown, as CSV and as JSON.

use anstyle::{AnsiColor, Style};

use super::words::{below, held, limited_by, no_answer};
use super::{Answer, CurvePoint, Find, LimitReport, Purpose, Question, Shown, Tally};
use crate::catalog::Shape;
use crate::figures::{per_task, time_text};
use crate::report::bar::{Bars, bar};
use crate::report::markdown::{Table, code, prose};
use crate::report::phrases::{NONE, REASON};
use crate::report::sanitize::{brief, command_line, safe, wrapped};
use crate::report::terminal_table::{Align, Cell, Column, Grid, painted};
use crate::report::{Format, RenderOptions, csv, json};
use crate::units::{self, mib};

const QUIET: Style = Style::new().dimmed();
const STRONG: Style = Style::new().bold();
const BAD: Style = AnsiColor::Red.on_default();
const SHORT: Style = AnsiColor::Yellow.on_default();
/// Columns of the longest bar.
const BAR: usize = 24;

/// The report as text that ends in a line end.
pub fn render(report: &LimitReport, format: Format, options: RenderOptions) -> String {
    match format {
        Format::Table => terminal(report, options),
        Format::Markdown => markdown(report),
        Format::Csv => as_csv(report),
        Format::Json => json::pretty(report),
    }
}

/// A table, whatever it becomes.
struct Sheet {
    heading: String,
    /// Name, and whether to align to the right.
    columns: Vec<(&'static str, bool)>,
    rows: Vec<Row>,
}

struct Row {
    cells: Vec<String>,
    /// Instead of the cells that are missing.
    instead: Option<String>,
    /// Each on a line of its own below.
    below: Vec<String>,
}

impl Row {
    fn of(cells: Vec<String>) -> Row {
        Row { cells, instead: None, below: Vec::new() }
    }
}

fn title(report: &LimitReport) -> String {
    let what = match report.question.find {
        Find::MostTasks { memory_bytes } => format!("The most tasks that hold in {}", size(memory_bytes)),
        Find::LeastMemory { tasks } => {
            format!("The least memory in which {} tasks hold", units::count(tasks))
        }
    };
    format!("{what} · {}", safe(&report.workload))
}

/// A size as it was asked for: exact where it is whole MiB.
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
    format!(
        "{}, {} CPUs · {} · Linux {} · memory by {}, kernel memory and files included, swap off",
        safe(&machine.cpu),
        machine.cpus,
        units::bytes(machine.memory_bytes),
        safe(&machine.kernel),
        sources.join(", ")
    )
}

/// What a pass is, in a sentence.
fn rule(report: &LimitReport) -> String {
    let again = match report.question.repetitions {
        0 | 1 => "when it was run again".to_owned(),
        times => format!("{times} times out of {times} when it was run again"),
    };
    let what = match report.shape {
        Shape::Hold => "all tasks alive at once and all done, launch and drain",
        Shape::Work => "one operation for each task, all at once: done and right, launch, work and drain",
    };
    format!(
        "Holds: {what} within {} times what they take with memory to spare. An answer held {again}, and is within {} % of what failed.",
        report.question.slowdown,
        units::decimal(report.question.precision * 100.0, 1).trim_end_matches(".0"),
    )
}

fn sheets(report: &LimitReport, bars: Bars) -> Vec<Sheet> {
    let answers: Vec<&Answer> =
        report.answers.iter().filter(|answer| answer.unavailable.is_none() || answer.runs > 0).collect();
    let mut sheets = match report.question.find {
        Find::MostTasks { memory_bytes } => vec![most_tasks(&answers, &report.question, memory_bytes)],
        Find::LeastMemory { tasks } => vec![least_memory(&answers, &report.question, tasks)],
    };
    sheets.extend(
        answers
            .iter()
            .filter(|answer| answer.curve.len() > 1)
            .map(|answer| curve(answer, &report.question.find, bars)),
    );
    let missing: Vec<&Answer> = report.answers.iter().filter(|answer| answer.unavailable.is_some()).collect();
    if !missing.is_empty() {
        let rows = missing.iter().map(|answer| Row {
            cells: vec![answer.entry.clone()],
            instead: answer.unavailable.clone(),
            below: Vec::new(),
        });
        sheets.push(Sheet {
            heading: "not available here".into(),
            columns: vec![("entry", false), ("why", false)],
            rows: rows.collect(),
        });
    }
    sheets
}

fn most_tasks(answers: &[&Answer], question: &Question, memory_bytes: u64) -> Sheet {
    let columns = vec![
        ("entry", false),
        ("kind", false),
        ("most tasks", true),
        ("held", true),
        ("fails at", true),
        ("B/task", true),
        ("memory ÷ N", true),
        ("runs", true),
        ("limited by", false),
    ];
    let rows = answers.iter().map(|answer| {
        let names = vec![answer.entry.clone(), answer.kind.name().to_owned()];
        if let Some(instead) = no_answer(answer, "not even one task holds") {
            return Row { cells: names, instead: Some(instead), below: Vec::new() };
        }
        let figures = [
            answer.tasks.map_or(NONE.to_owned(), units::grouped),
            held(answer),
            answer.fails.as_ref().map_or(NONE.to_owned(), |failed| units::grouped(failed.tasks)),
            answer.bytes_per_task.map_or(NONE.to_owned(), per_task),
            answer.memory_per_task.map_or(NONE.to_owned(), |bytes| format!("{} B", per_task(bytes))),
            answer.runs.to_string(),
            limited_by(answer),
        ];
        Row {
            cells: names.into_iter().chain(figures).collect(),
            instead: None,
            below: below(answer, question),
        }
    });
    Sheet { heading: size(memory_bytes), columns, rows: rows.collect() }
}

fn least_memory(answers: &[&Answer], question: &Question, tasks: u64) -> Sheet {
    let columns = vec![
        ("entry", false),
        ("kind", false),
        ("least MiB", true),
        ("held", true),
        ("fails at", true),
        ("memory ÷ N", true),
        ("CPU s", true),
        ("× roomy", true),
        ("runs", true),
        ("limited by", false),
    ];
    let rows = answers.iter().map(|answer| {
        let names = vec![answer.entry.clone(), answer.kind.name().to_owned()];
        if let Some(instead) = no_answer(answer, "holds in no memory that this machine has") {
            return Row { cells: names, instead: Some(instead), below: Vec::new() };
        }
        let point = answer.curve.iter().find(|point| Some(point.memory_bytes) == answer.memory_bytes);
        let mib_text = |bytes: u64| units::decimal(mib(bytes as f64), 1);
        let figures = [
            answer.memory_bytes.map_or(NONE.to_owned(), mib_text),
            held(answer),
            answer.fails.as_ref().map_or(NONE.to_owned(), |failed| mib_text(failed.memory_bytes)),
            answer.memory_per_task.map_or(NONE.to_owned(), |bytes| format!("{} B", per_task(bytes))),
            time(point.and_then(|point| point.cpu_s)),
            times(point.and_then(|point| point.times_roomy)),
            answer.runs.to_string(),
            limited_by(answer),
        ];
        Row {
            cells: names.into_iter().chain(figures).collect(),
            instead: None,
            below: below(answer, question),
        }
    });
    Sheet { heading: format!("{} tasks", units::count(tasks)), columns, rows: rows.collect() }
}

/// Memory against CPU: the table, with the chart in its last column.
fn curve(answer: &Answer, find: &Find, bars: Bars) -> Sheet {
    let Find::LeastMemory { tasks } = find else { unreachable!("only searches for memory have a curve") };
    let most = answer.curve.iter().filter_map(|point| point.cpu_s).fold(0.0, f64::max);
    let least = answer.memory_bytes;
    let rows = answer.curve.iter().map(|point| curve_row(point, least, most, bars));
    Sheet {
        heading: format!("{}: {} tasks with little memory", answer.entry, units::count(*tasks)),
        columns: vec![
            ("memory MiB", true),
            ("× least", true),
            ("CPU s", true),
            ("× roomy", true),
            ("from–to", true),
            ("launch s", true),
            ("drain s", true),
            ("peak MiB", true),
            ("CPU time", false),
        ],
        rows: rows.collect(),
    }
}

fn curve_row(point: &CurvePoint, least: Option<u64>, most_cpu_s: f64, bars: Bars) -> Row {
    let memory = units::decimal(mib(point.memory_bytes as f64), 1);
    let share = least.map(|least| point.memory_bytes as f64 / least as f64);
    if point.held == 0 {
        let reason = point.reason.as_deref().unwrap_or("failed");
        return Row {
            cells: vec![memory, times(share)],
            instead: Some(format!("✗ {}", brief(reason, REASON))),
            below: Vec::new(),
        };
    }
    let mut chart = point.cpu_s.map_or(String::new(), |cpu| bar(cpu / most_cpu_s, BAR, bars));
    if point.roomy {
        chart.push_str(" (memory to spare)");
    }
    if point.held < point.runs {
        chart.push_str(&format!(" ({} of {} held)", point.held, point.runs));
    }
    Row::of(vec![
        memory,
        times(share),
        time(point.cpu_s),
        times(point.times_roomy),
        point.times_roomy_range.map_or(NONE.to_owned(), |[least, most]| {
            format!("{}–{}", units::decimal(least, 2), units::decimal(most, 2))
        }),
        time(point.launch_s),
        time(point.drain_s),
        point.peak_bytes.map_or(NONE.to_owned(), |bytes| units::decimal(mib(bytes), 1)),
        chart,
    ])
}

fn time(seconds: Option<f64>) -> String {
    seconds.map_or(NONE.to_owned(), time_text)
}

fn times(ratio: Option<f64>) -> String {
    ratio.map_or(NONE.to_owned(), |ratio| units::decimal(ratio, 2))
}

fn terminal(report: &LimitReport, options: RenderOptions) -> String {
    let mut out = String::new();
    let paragraph = |out: &mut String, text: &str, style: Style| {
        for line in wrapped(&safe(text), options.width) {
            out.push_str(&painted(&line, style, options.color));
            out.push('\n');
        }
    };
    paragraph(&mut out, &title(report), STRONG);
    paragraph(&mut out, &machine(report), QUIET);
    paragraph(&mut out, &rule(report), QUIET);
    for sheet in sheets(report, options.bars) {
        let columns = sheet.columns.iter().map(|(name, right)| Column {
            name: (*name).into(),
            align: if *right { Align::Right } else { Align::Left },
            spare: None,
        });
        let mut grid = Grid::new(columns.collect());
        // The first column's own name stands where the heading of a table of entries does.
        let first = if sheet.columns[0].1 { sheet.columns[0].0.to_owned() } else { sheet.heading.clone() };
        grid.heading(Cell::new(safe(&first), STRONG), QUIET);
        for row in &sheet.rows {
            let cells: Vec<Cell> = row.cells.iter().map(|cell| Cell::new(safe(cell), Style::new())).collect();
            match &row.instead {
                Some(text) => grid.over(cells, brief(text, REASON), BAD),
                None => grid.row(cells),
            }
            for text in &row.below {
                grid.over(vec![], format!("└ {}", brief(text, REASON)), SHORT);
            }
        }
        out.push('\n');
        if sheet.columns[0].1 {
            paragraph(&mut out, &sheet.heading, STRONG);
        }
        out.push_str(&grid.render(options.width, options.color, options.bars).0);
    }
    out.push('\n');
    for note in &report.notes {
        paragraph(&mut out, &format!("· {note}"), QUIET);
    }
    paragraph(&mut out, &provenance(report), QUIET);
    paragraph(&mut out, &command_line(&report.command), QUIET);
    out
}

fn provenance(report: &LimitReport) -> String {
    let runs: usize = report.answers.iter().map(|answer| answer.runs).sum();
    let runs = if runs == 1 { "1 run".to_owned() } else { format!("{} runs", units::grouped(runs as u64)) };
    format!(
        "taskscale {} · {} · {runs}, and one to warm up each entry",
        safe(&report.taskscale),
        report.created_at
    )
}

fn markdown(report: &LimitReport) -> String {
    let mut out = format!("### taskscale: {}\n\n", prose(&title(report)));
    out.push_str(&format!("{}\n\n{}\n\n", prose(&machine(report)), prose(&rule(report))));
    for sheet in sheets(report, Bars::Blocks) {
        out.push_str(&format!("#### {}\n\n", prose(&sheet.heading)));
        let mut table = Table::new();
        sheet.columns.iter().for_each(|(name, right)| table.column(*name, *right));
        let more = sheet.rows.iter().any(|row| !row.below.is_empty());
        if more {
            table.column("beyond it", false);
        }
        for row in &sheet.rows {
            let mut cells: Vec<String> = row.cells.iter().map(|cell| prose(cell)).collect();
            if let (Some(first), false) = (cells.first_mut(), sheet.columns[0].1) {
                *first = code(&row.cells[0]);
            }
            if let Some(text) = &row.instead {
                cells.resize(sheet.columns.len() - 1, String::new());
                cells.push(prose(&brief(text, REASON)));
            }
            if more {
                let below: Vec<String> = row.below.iter().map(|text| prose(&brief(text, REASON))).collect();
                cells.push(below.join("; "));
            }
            table.row(cells);
        }
        table.put(&mut out);
    }
    for note in &report.notes {
        out.push_str(&format!("- {}\n", prose(note)));
    }
    out.push_str(&format!("- {}\n- {}\n", prose(&provenance(report)), code(&command_line(&report.command))));
    out
}

const HEADER: [&str; 21] = [
    "entry",
    "kind",
    "find",
    "state",
    "role",
    "tasks",
    "memory_bytes",
    "purpose",
    "holds",
    "cause",
    "status",
    "footprint_bytes",
    "peak_bytes",
    "launch_s",
    "drain_s",
    "wall_s",
    "cpu_s",
    "reason",
    "confirming_held",
    "confirming_runs",
    "edge",
];

/// One line for each run. `role` marks those that confirm the answer, the nearest that failed, and the farthest that
/// held at or beyond that. The last columns are the same for all runs of an entry.
fn as_csv(report: &LimitReport) -> String {
    let mut out = HEADER.join(",");
    out.push('\n');
    let find = match report.question.find {
        Find::MostTasks { .. } => "most-tasks",
        Find::LeastMemory { .. } => "least-memory",
    };
    for answer in &report.answers {
        let start = || {
            vec![
                csv::text(&answer.entry),
                answer.kind.name().to_owned(),
                find.to_owned(),
                answer.state.name().to_owned(),
            ]
        };
        if answer.trials.is_empty() {
            let mut fields = start();
            fields.resize(HEADER.len() - 4, String::new());
            fields.push(csv::text(answer.unavailable.as_deref().unwrap_or("not run yet")));
            fields.resize(HEADER.len(), String::new());
            csv::line(&mut out, fields);
        }
        for run in &answer.trials {
            let mut fields = start();
            fields.extend(run_fields(answer, run));
            csv::line(&mut out, fields);
        }
    }
    out
}

fn run_fields(answer: &Answer, run: &Shown) -> Vec<String> {
    let is = |other: &Option<Shown>| other.as_ref() == Some(run);
    let at = |value: Option<u64>, of: u64| value == Some(of);
    let confirms = run.purpose == Purpose::Confirm && run.holds;
    let role = match run {
        _ if confirms && at(answer.tasks, run.tasks) && at(answer.memory_bytes, run.memory_bytes) => "answer",
        _ if is(&answer.fails) => "beyond",
        _ if is(&answer.sometimes) => "sometimes",
        _ => "",
    };
    let tried =
        |of: fn(&Tally) -> usize| answer.tried.map(|tried| of(&tried).to_string()).unwrap_or_default();
    let edge = if answer.sometimes.is_some() { "not-sharp" } else { "" };
    let bytes = |bytes: Option<u64>| bytes.map(|bytes| bytes.to_string()).unwrap_or_default();
    vec![
        role.to_owned(),
        run.tasks.to_string(),
        run.memory_bytes.to_string(),
        run.purpose.name().to_owned(),
        run.holds.to_string(),
        run.cause.map(|cause| cause.name().to_owned()).unwrap_or_default(),
        run.status.name().to_owned(),
        bytes(run.footprint_bytes),
        bytes(run.peak_bytes),
        csv::figure(run.launch_s),
        csv::figure(run.drain_s),
        csv::figure(run.wall_s),
        csv::figure(run.cpu_s),
        csv::text(run.reason.as_deref().unwrap_or_default()),
        tried(|tried| tried.held),
        tried(|tried| tried.runs),
        edge.to_owned(),
    ]
}
