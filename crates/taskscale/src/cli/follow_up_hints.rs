//! The next steps after a run, on a terminal.

use std::collections::{BTreeMap, BTreeSet};
use std::io::IsTerminal;
use std::path::Path;

use super::output::{columns, eprint_status, mode};
use crate::document::{first_of, quoted};
use crate::record::{Sample, Status, last_attempts};
use crate::units;

/// How many cases a line names before "and N more".
const NAMED: usize = 3;

/// Shows the next steps, on a terminal only.
pub(super) fn eprint_follow_up_hints(folder: &Path, samples: &[Sample]) {
    if mode().json || !std::io::stderr().is_terminal() || samples.is_empty() {
        return;
    }
    let root = rustix::process::geteuid().is_root();
    eprint_status(&format!("\nNext:\n{}", next(folder, samples, root).trim_end()));
}

fn next(folder: &Path, samples: &[Sample], root: bool) -> String {
    let shown = quoted(&folder.display().to_string());
    let last = last_attempts(samples);
    let mut rows = vec![
        ["  page".to_owned(), format!("taskscale report {shown} --open")],
        ["  for an issue".to_owned(), format!("taskscale report {shown} --format markdown")],
    ];
    let good: BTreeSet<&str> =
        last.iter().filter(|sample| sample.status == Status::Ok).map(|sample| &*sample.entry).collect();
    let mut good = good.into_iter();
    if let Some((one, other)) = good.next().zip(good.next_back()) {
        let (one, other) = (quoted(one), quoted(other));
        let command = format!("taskscale compare {shown} --base-entry {one} --new-entry {other}");
        rows.push(["  compare two".to_owned(), command]);
    }
    let mut text = columns(&rows);
    // The commands that raise the limits that cases hit, and these cases.
    let mut lifts: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for sample in last.iter().filter(|sample| sample.status == Status::Limit) {
        let Some(lift) = sample.limit.as_ref().and_then(|limit| limit.lift.as_deref()) else { continue };
        let cell = format!("{} × {}", sample.entry, units::count(sample.tasks));
        lifts.entry(lift).or_default().insert(cell);
    }
    for (command, cells) in lifts {
        let sudo = if command.starts_with("sysctl") && !root { "sudo " } else { "" };
        let cells: Vec<String> = cells.into_iter().collect();
        text.push_str(&format!("Hit a limit: {}. Raise it and measure again:\n", first_of(&cells, NAMED)));
        text.push_str(&format!("  {sudo}{command}\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{LimitHit, test_sample};

    #[test]
    fn follow_up_commands_can_be_pasted() {
        let limited = |tasks| {
            let mut sample = test_sample("rust/thread", tasks);
            let lift = Some("sysctl -w kernel.pid_max=4194304".to_owned());
            sample.status = Status::Limit;
            sample.limit = Some(Box::new(LimitHit { name: "kernel.pid_max".into(), value: 32_768, lift }));
            sample
        };
        let samples = [
            test_sample("go/goroutine", 10),
            test_sample("rust/tokio-spawn", 10),
            limited(100_000),
            limited(1_000_000),
        ];
        insta::assert_snapshot!(next(Path::new("my results/it's"), &samples, false));
        let alone = next(Path::new("results/x"), &samples[..1], true);
        assert!(!alone.contains("compare") && !alone.contains("sysctl"), "{alone}");
    }
}
