//! Wrong arguments: a message on standard error, nothing on standard output, exit code 2.

use std::time::Duration;

use super::runs::Runs;
use super::{CheckError, Findings, Rule};
use crate::record::Status;
use crate::report::command_line;

/// No number of tasks, or no wait: what a program must not take.
const WRONG: [&[&str]; 10] = [
    &[],
    &["1"],
    &["0", "1"],
    &["-1", "1"],
    &["ten", "1"],
    &["1.5", "1"],
    &["", "1"],
    &["1", "-1"],
    &["1", "soon"],
    &["1", "1", "1"],
];
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
    for wrong in WRONG {
        let words: Vec<String> = wrong.iter().map(|word| (*word).to_owned()).collect();
        let (seen, trace) = runs.run(&words, 1, 0.0, None, PATIENCE)?;
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
    if !taken.is_empty() {
        findings.error(
            Rule::Arguments,
            format!("wrong arguments are not refused: {}", say(&taken)),
            "take exactly two whole numbers, at least one task; refuse all else with a message on standard error and exit code 2",
        );
    }
    if !silent.is_empty() {
        findings.error(
            Rule::Arguments,
            format!("wrong arguments are refused without a word: {}", say(&silent)),
            "say on standard error how it is used: `usage: PROGRAM <tasks> <seconds>`",
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
