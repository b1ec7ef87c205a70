//! Wrong arguments: a message on standard error, nothing on standard output, exit code 2.

use std::time::Duration;

use super::runs::{Order, Runs};
use super::{CheckError, Findings, Rule};
use crate::campaign::serving_briefly;
use crate::catalog::{Shape, Workload};
use crate::measure::{Course, Wait, WorkOrder};
use crate::record::Status;
use crate::report::command_line;

/// What a program must not take: no number of tasks, no wait or operations, a parameter without its number.
fn wrong(workload: &Workload) -> Vec<Vec<String>> {
    // The fewest that make sense: where one is too few, only what is meant to be wrong must be wrong.
    let (n, k) = match workload.shape {
        Shape::Hold => ("1".to_owned(), "1".to_owned()),
        Shape::Serve => return wrong_of_servers(),
        Shape::Work => {
            let fewest = workload.tasks.first().copied().unwrap_or(1).to_string();
            (fewest.clone(), fewest)
        }
    };
    let (n, k) = (n.as_str(), k.as_str());
    let mut wrong = vec![
        vec![],
        vec![n],
        vec!["0", k],
        vec!["-1", k],
        vec!["ten", k],
        vec!["1.5", k],
        vec!["", k],
        vec![n, "-1"],
        vec![n, "soon"],
        vec![n, k, "1"],
    ];
    if workload.shape == Shape::Work {
        wrong.push(vec![n, "0"]);
    }
    let parameter = workload.parameters.keys().next().map(|name| format!("--{name}"));
    if let Some(parameter) = &parameter {
        wrong.push(vec![n, k, parameter]);
        wrong.push(vec![n, k, parameter, "many"]);
    }
    wrong.into_iter().map(|words| words.into_iter().map(str::to_owned).collect()).collect()
}

fn wrong_of_servers() -> Vec<Vec<String>> {
    let address = "127.0.0.1:0";
    let wrong: [&[&str]; 8] = [
        &[],
        &["1"],
        &["1", "--listen"],
        &["0", "--listen", address],
        &["ten", "--listen", address],
        &["1", "--listen", "nowhere"],
        &["1", "--hear", address],
        &["1", "--listen", address, "1"],
    ];
    wrong.into_iter().map(|words| words.iter().map(|word| (*word).to_owned()).collect()).collect()
}

/// A program that takes wrong arguments may wait for as long as it likes. A busy machine may be slow to start a runtime.
const PATIENCE: Duration = Duration::from_secs(60);
/// A message is shorter than a stack trace.
const MESSAGE_LINES: usize = 3;

pub(super) fn look(runs: &mut Runs, findings: &mut Findings) -> Result<(), CheckError> {
    let mut taken = Vec::new();
    let mut silent = Vec::new();
    let mut talks = Vec::new();
    let mut traces = Vec::new();
    let mut codes = Vec::new();
    let workload = runs.workload;
    let course = match workload.shape {
        Shape::Hold => Course::Hold(Wait::default()),
        Shape::Work => Course::Work(WorkOrder::default()),
        Shape::Serve => serving_briefly(workload, 1),
    };
    for words in wrong(workload) {
        let order = Order { tasks: 1, course: course.clone(), arguments: Some(&words), time: PATIENCE };
        let (seen, trace) = runs.run(&order)?;
        let shown =
            if words.is_empty() { "no arguments".to_owned() } else { format!("`{}`", command_line(&words)) };
        match (seen.status, seen.exit_code, seen.signal) {
            // Where not even the first run could be made, this says nothing.
            (Status::Unavailable, ..) => return Ok(()),
            (_, Some(0), _) => taken.push(format!("{shown}: exit code 0")),
            (Status::TimedOut, ..) => {
                taken.push(format!("{shown}: runs on"));
                // The others would take as long, and say the same.
                break;
            }
            (_, None, _) => taken.push(format!("{shown}: {}", seen.reason.unwrap_or_default())),
            (_, Some(code), _) => {
                if code != 2 {
                    codes.push(format!("{shown}: {code}"));
                }
                if !trace.output.is_empty() {
                    talks.push(shown.clone());
                }
                let errors = String::from_utf8_lossy(&trace.errors);
                match errors.lines().filter(|line| !line.trim().is_empty()).count() {
                    0 => silent.push(shown),
                    lines if lines > MESSAGE_LINES => traces.push(format!("{shown}: {lines} lines")),
                    _ => {}
                }
            }
        }
    }
    let say = |list: &[String]| super::runs::listed(list);
    let (second, parameters) = match (workload.shape, workload.parameters.is_empty()) {
        (Shape::Serve, _) => ("--listen HOST:PORT", ""),
        (Shape::Hold, true) => ("<seconds>", ""),
        (Shape::Work, true) => ("<operations>", ""),
        (Shape::Hold, false) => ("<seconds>", " [--name value]…"),
        (Shape::Work, false) => ("<operations>", " [--name value]…"),
    };
    let least = if workload.shape == Shape::Work { "at least one of each" } else { "at least one task" };
    if !taken.is_empty() {
        findings.error(
            Rule::Arguments,
            format!("wrong arguments are not refused: {}", say(&taken)),
            match workload.shape {
                Shape::Serve => "take `<tasks> --listen HOST:PORT`; refuse all else with a message on standard error and exit code 2".to_owned(),
                _ => format!(
                    "take exactly two whole numbers, {least}{}; refuse all else with a message on standard error and exit code 2",
                    if parameters.is_empty() { "" } else { ", and the workload's parameters" }
                ),
            },
        );
    }
    if !silent.is_empty() {
        findings.error(
            Rule::Arguments,
            format!("wrong arguments are refused without a word: {}", say(&silent)),
            format!("say on standard error how it is used: `usage: PROGRAM <tasks> {second}{parameters}`"),
        );
    }
    if !talks.is_empty() {
        findings.error(
            Rule::Arguments,
            format!("wrong arguments are answered on standard output: {}", say(&talks)),
            "write the message to standard error",
        );
    }
    if !traces.is_empty() {
        findings.warning(
            Rule::Arguments,
            format!("wrong arguments are answered with a trace: {}", say(&traces)),
            "catch the error and say in one line how the program is used",
        );
    }
    if !codes.is_empty() {
        findings.warning(
            Rule::Arguments,
            format!("wrong arguments end with another exit code than 2: {}", say(&codes)),
            "exit with 2 for wrong arguments, as 1 means that tasks failed",
        );
    }
    Ok(())
}
