//! The question before the whole job: `taskscale` alone, typed into a terminal, says first what it would do.

use std::env;
use std::io::{self, BufRead, IsTerminal, Write};

use super::dry_run::Outlook;
use super::printable;
use super::progress::time_left;
use crate::units::{self, counted};

/// Whether somebody is there who can be asked: a terminal on both sides, and no CI behind it.
pub(super) fn can_answer() -> bool {
    let ci = env::var_os("CI").is_some_and(|value| !value.is_empty() && value != "false");
    !ci && io::stdin().is_terminal() && io::stdout().is_terminal() && io::stderr().is_terminal()
}

/// Says what would be done, and asks whether to do it. No answer at all is a no.
pub(super) fn whether_to_start(outlook: &Outlook) -> bool {
    let mut out = io::stderr().lock();
    let asked = printable(&question(outlook));
    if out.write_all(asked.as_bytes()).and_then(|()| out.flush()).is_err() {
        return false;
    }
    let mut answer = String::new();
    let read = io::stdin().lock().read_line(&mut answer);
    let yes = read.is_ok_and(|bytes| bytes > 0) && is_yes(&answer);
    if !yes {
        // Where the terminal has no line of its own for the answer's end.
        let said = "Nothing was started. `taskscale --help` shows what else there is.\n";
        let _ = out.write_all(said.as_bytes());
    }
    yes
}

fn is_yes(answer: &str) -> bool {
    ["", "y", "yes"].contains(&answer.trim().to_lowercase().as_str())
}

fn question(outlook: &Outlook) -> String {
    let Some(plan) = outlook.plans.first() else { return String::new() };
    let counts: Vec<String> = plan.tasks.iter().map(|tasks| units::count(*tasks)).collect();
    let mut text = format!(
        "taskscale measures {} at N = {}, each {}.\n\n  {}, about {}; builds come first, and are not counted\n  \
         the largest run takes about {} of memory\n",
        counted(plan.entries.len(), "entry"),
        counts.join(", "),
        times(plan.repetitions),
        counted(outlook.estimate.runs, "run"),
        time_left(outlook.estimate.seconds),
        units::bytes(outlook.largest_bytes()),
    );
    if !outlook.missing.is_empty() {
        text.push_str(&format!(
            "  not installed, and left out: {}\n",
            counted(outlook.missing.len(), "entry")
        ));
    }
    if !outlook.ending.is_empty() {
        text.push_str(&format!(
            "  {} will meet a limit of this machine: `taskscale run --dry-run` says which\n",
            counted(outlook.ending.len(), "cell")
        ));
    }
    text.push_str(
        "\nA first table in less: `taskscale --quick`. Not asked again: `taskscale --yes`.\nStart? [Y/n] ",
    );
    text
}

fn times(repetitions: u32) -> String {
    match repetitions {
        1 => "once".to_owned(),
        repetitions => format!("{repetitions} times"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_yes_starts_nothing() {
        assert!(["\n", "y\n", "Y\n", "yes\n", " Yes \n"].into_iter().all(is_yes));
        assert!(!["n\n", "no\n", "q\n", "yess\n", "taskscale --quick\n"].into_iter().any(is_yes));
    }
}
