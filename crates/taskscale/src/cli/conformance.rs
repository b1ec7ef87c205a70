//! `taskscale check --conformance`: how servers answer misbehaving clients, as a Markdown table.

use std::process::ExitCode;

use serde_json::{Value, json};

use super::failure::{Failure, check_interrupt};
use super::progress::Progress;
use super::session::build_programs;
use super::terminal::{print_json_or, printable};
use crate::catalog::Program;
use crate::check::{self, CheckSubject, Conformance};
use taskscale_measure::Interrupt;

/// A program, and its answers or why it did not run.
type ConformanceRow = (String, Result<Conformance, String>);

pub fn run(
    programs: &[Program],
    interrupt: &Interrupt,
    progress: &Progress,
    json: bool,
) -> Result<ExitCode, Failure> {
    let servers: Vec<Program> =
        programs.iter().filter(|program| program.workload.client.is_some()).copied().collect();
    if servers.is_empty() {
        return Err(Failure::usage("no server among these programs (servers: -w chat,echo)"));
    }
    let mut rows: Vec<ConformanceRow> = Vec::new();
    let prepared = build_programs(&servers, interrupt, progress, 0, servers.len())?;
    for (Program { runtime, entry, workload }, prepared) in servers.iter().zip(&prepared) {
        check_interrupt(interrupt)?;
        let name = format!("{} {}", entry.full_name, workload.name);
        progress.checking(&name, rows.len() + 1, servers.len());
        rows.push((name, check::conform(&CheckSubject { runtime, entry, workload, prepared })));
    }
    progress.finish();
    let row = |(name, answered): &ConformanceRow| match answered {
        Ok(conformance) => json!(conformance),
        Err(why) => json!({ "program": name, "not_run": why }),
    };
    let all: Vec<Value> = rows.iter().map(row).collect();
    print_json_or(json, &all, || markdown(&rows))?;
    Ok(ExitCode::SUCCESS)
}

fn markdown(rows: &[ConformanceRow]) -> String {
    let cell = |text: &str| printable(text).trim().replace('|', "\\|").replace('\n', " ");
    let mut text = "| program | passed | failed of tried |\n| --- | ---: | --- |\n".to_owned();
    for (name, answered) in rows {
        match answered {
            Err(why) => {
                let first = why.lines().next().unwrap_or_default();
                text.push_str(&format!("| {name} | – | not run: {} |\n", cell(first)));
            }
            Ok(Conformance { cases, .. }) => {
                let of = |count: fn(&check::CaseCount) -> usize| cases.iter().map(count).sum::<usize>();
                let (tried, failed) = (of(|case| case.tried), of(|case| case.failed));
                let each: Vec<String> = cases
                    .iter()
                    .filter(|case| case.failed > 0)
                    .map(|case| format!("{} {} of {}", case.case, case.failed, case.tried))
                    .collect();
                text.push_str(&format!("| {name} | {} of {tried} | {} |\n", tried - failed, each.join(", ")));
            }
        }
    }
    for (name, answered) in rows {
        let Ok(Conformance { faults, .. }) = answered else { continue };
        if !faults.is_empty() {
            text.push_str(&format!("\n**{name}**\n\n"));
            text.extend(faults.iter().map(|fault| format!("- {}\n", cell(fault))));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::CaseCount;

    #[test]
    fn the_table_counts_cases_and_names_programs_that_did_not_run() {
        let cases = vec![
            CaseCount { case: "ping", tried: 4, failed: 0 },
            CaseCount { case: "closing", tried: 7, failed: 2 },
        ];
        let faults = vec!["closing: a | b".to_owned()];
        let seen = Conformance { entry: "a/b".into(), workload: "chat".into(), cases, faults };
        let rows = [
            ("a/b chat".to_owned(), Ok(seen)),
            ("c/d chat".to_owned(), Err("C is not installed".to_owned())),
        ];
        insta::assert_snapshot!(markdown(&rows), @r"
        | program | passed | failed of tried |
        | --- | ---: | --- |
        | a/b chat | 9 of 11 | closing 2 of 7 |
        | c/d chat | – | not run: C is not installed |

        **a/b chat**

        - closing: a \| b
        ");
    }
}
