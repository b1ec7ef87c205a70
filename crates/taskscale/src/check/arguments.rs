//! Wrong arguments must end with a nonzero exit code: a program that accepts them may measure something else.

use std::time::Duration;

use super::runs::{RunRequest, Runs};
use super::{CheckResult, CheckRule, Severity};
use crate::campaign::serving_briefly;
use crate::catalog::{Shape, Workload};
use crate::record::Status;
use crate::report::command_line;
use taskscale_measure::{HoldParams, Scenario, WorkParams};

/// Arguments to reject: too few, or words in place of numbers.
fn wrong(workload: &Workload) -> Vec<Vec<String>> {
    let fewest = workload.tasks.first().copied().unwrap_or(1).to_string();
    let n = fewest.as_str();
    let mut wrong = match workload.shape {
        Shape::Hold | Shape::Work => vec![vec![], vec![n], vec!["ten", "1"], vec![n, "soon"]],
        Shape::Serve => {
            vec![vec![], vec!["1"], vec!["ten", "--listen", "127.0.0.1:0"], vec!["1", "--listen", "nowhere"]]
        }
    };
    let parameter = workload.parameters.keys().next().map(|name| format!("--{name}"));
    if let Some(parameter) = parameter.as_ref().filter(|_| workload.shape != Shape::Serve) {
        wrong.push(vec![n, n, parameter, "many"]);
    }
    wrong.into_iter().map(|words| words.into_iter().map(str::to_owned).collect()).collect()
}

/// The time limit of a run, on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

pub(super) fn check(runs: &mut Runs) -> CheckResult<()> {
    let mut taken = Vec::new();
    let workload = runs.workload;
    let scenario = match workload.shape {
        Shape::Hold => Scenario::Hold(HoldParams::default()),
        Shape::Work => Scenario::Work(WorkParams::default()),
        Shape::Serve => serving_briefly(workload, 1),
    };
    for words in wrong(workload) {
        let request =
            RunRequest { tasks: 1, scenario: scenario.clone(), arguments: Some(&words), time: TIMEOUT };
        let (seen, _) = runs.run(&request)?;
        let shown =
            if words.is_empty() { "no arguments".to_owned() } else { format!("`{}`", command_line(&words)) };
        match (seen.status, seen.exit_code) {
            // The first run already failed.
            (Status::Unavailable, _) => return Ok(()),
            (_, Some(0)) => taken.push(format!("{shown}: exit code 0")),
            // A signal ends a server.
            (Status::Ok | Status::Partial | Status::NoPlateau, _) => taken.push(format!("{shown}: runs")),
            (Status::TimedOut, _) => {
                taken.push(format!("{shown}: keeps running"));
                // The other arguments would take as long, with the same result.
                break;
            }
            // An exception or `abort` is a refusal, too.
            _ => {}
        }
    }
    let takes = match workload.shape {
        Shape::Serve => "accept only `<tasks> --listen HOST:PORT`",
        _ if workload.parameters.is_empty() => "accept only two whole numbers",
        _ => "accept only two whole numbers and the workload's parameters",
    };
    let fix = format!("{takes}; otherwise exit with a nonzero code");
    runs.findings.list(Severity::Error, CheckRule::Arguments, "accepts wrong arguments", &taken, &fix);
    Ok(())
}
