//! The command that measures a side again with the repetitions that a decision needs.

use super::model::Judged;
use super::side::Side;
use crate::document::{joined, quoted};
use crate::record::{Hold, OWN_WORKLOAD};
use crate::units;

/// `taskscale run java/virtual-thread -n 1,10k,1M -r 9`: as the side was measured, but only its entry.
pub(super) fn command(base: &Side, cell: &Judged, repetitions: u32) -> String {
    let campaign = base.input.campaign;
    let plan = &campaign.plan;
    // A program without a manifest: `taskscale measure … -- PROGRAM`.
    let program = || campaign.command.iter().position(|word| word == "--").map(|at| &campaign.command[at..]);
    let own = if plan.workload == OWN_WORKLOAD { program() } else { None };
    let mut words = vec!["taskscale measure".to_owned()];
    if own.is_none() {
        words[0] = format!("taskscale run {}", quoted(&cell.base_entry));
        words.extend((cell.new_entry != cell.base_entry).then(|| quoted(&cell.new_entry)));
        if plan.workload != "sleep" {
            words.push(format!("-w {}", quoted(&plan.workload)));
            for (name, value) in &plan.params {
                words.push(format!("-p {}", quoted(&format!("{name}={value}"))));
            }
        }
    }
    words.extend(plan.cpus.map(|cpus| format!("--cpus {cpus}")));
    words.extend(matches!(plan.hold, Hold::Fixed { .. }).then(|| "--classic".to_owned()));
    let tasks = joined(plan.tasks.iter().map(|tasks| units::count(*tasks).replace(',', "_")), ",");
    words.push(format!("-n {tasks} -r {repetitions}"));
    words.extend(own.into_iter().flatten().map(|word| quoted(word)));
    words.join(" ")
}
