//! The prompt of a bare `taskscale` on a terminal: what it would measure, and whether to start.

use std::env;
use std::io::{self, BufRead, IsTerminal, Write};

use super::progress::time_left;
use super::terminal::printable;
use crate::campaign::RunPreview;
use crate::units::{self, counted};

/// Whether the user can answer: input and output are terminals, and this is not CI.
pub(super) fn can_answer() -> bool {
    let ci = env::var_os("CI").is_some_and(|value| !value.is_empty() && value != "false");
    !ci && io::stdin().is_terminal() && io::stdout().is_terminal() && io::stderr().is_terminal()
}

/// Shows the plan and asks whether to start. End of input means no.
pub(super) fn whether_to_start(preview: &RunPreview) -> bool {
    let mut out = io::stderr().lock();
    let asked = printable(&question(preview));
    if out.write_all(asked.as_bytes()).and_then(|()| out.flush()).is_err() {
        return false;
    }
    let mut answer = String::new();
    let read = io::stdin().lock().read_line(&mut answer);
    let yes = read.is_ok_and(|bytes| bytes > 0) && is_yes(&answer);
    if !yes {
        let said = "Nothing was started. `taskscale -h` lists all commands.\n";
        let _ = out.write_all(said.as_bytes());
    }
    yes
}

fn is_yes(answer: &str) -> bool {
    ["", "y", "yes"].contains(&answer.trim().to_lowercase().as_str())
}

fn question(preview: &RunPreview) -> String {
    let Some(plan) = preview.plans.first() else { return String::new() };
    let times = match plan.repetitions {
        1 => "once".to_owned(),
        repetitions => format!("{repetitions} times"),
    };
    let counts: Vec<String> = plan.tasks.iter().map(|tasks| units::count(*tasks)).collect();
    let mut text = format!(
        "taskscale measures {} at N = {}, {times} each.\n\n  {}, about {}, plus builds\n  \
         memory of the largest run: about {}\n",
        counted(plan.entries.len(), "entry"),
        counts.join(", "),
        counted(preview.estimate.runs, "run"),
        time_left(preview.estimate.seconds),
        units::bytes(preview.largest_bytes()),
    );
    if !preview.missing.is_empty() {
        text.push_str(&format!(
            "  not installed: {} (`taskscale list --missing`)\n",
            counted(preview.missing.len(), "entry")
        ));
    }
    if !preview.ending.is_empty() {
        text.push_str(&format!(
            "  {} will hit a limit of this machine (`taskscale run --dry-run`)\n",
            counted(preview.ending.len(), "case")
        ));
    }
    text.push_str(
        "\nQuick first table: `taskscale --quick`. To skip this question: `taskscale --yes`.\nStart? [Y/n] ",
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_yes_starts() {
        assert!(["\n", "y\n", "Y\n", "yes\n", " Yes \n"].into_iter().all(is_yes));
        assert!(!["n\n", "no\n", "q\n", "yess\n", "taskscale --quick\n"].into_iter().any(is_yes));
    }
}
