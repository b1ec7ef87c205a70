//! The run of a case: command line, environment and bounds. The only place that makes runs of prepared entries.

use std::time::Duration;

use super::prepare::Prepared;
use crate::catalog::{expected_check, with_tasks};
use crate::record::Cell;
use taskscale_measure::{Bounds, RunSpec, Scenario};

/// Timeout of a warm-up.
pub const WARM_UP_TIME: Duration = Duration::from_secs(20);
/// Output cap of a program of the protocol, in bytes: it prints a few hundred.
const OUTPUT_CAP_BYTES: u64 = 16 << 20;

impl Prepared {
    /// The run of a case of this program, which must be ready.
    pub fn spec(
        &self,
        cell: &Cell,
        scenario: Scenario,
        memory_bytes: Option<u64>,
        time: Duration,
    ) -> RunSpec {
        let command = self.command.as_deref().unwrap_or_default();
        let (kind, tasks, cpus) = (self.facts.kind, cell.tasks, cell.part.cpus);
        let bounds = |output_bytes| Bounds { memory_bytes, time, output_bytes };
        if let Some(template) = &self.black_box {
            // A program that takes no wait runs until taskscale stops it.
            let mut wait = scenario.wait().copied().unwrap_or_default();
            wait.hold_s = if template.black_box.told_hold { wait.hold_s } else { 0.0 };
            let (command, env, black_box) = template.fill(command, tasks, wait.hold_s);
            let scenario = Scenario::BlackBox(Box::new(black_box), wait);
            let bounds = bounds(Bounds::BLACK_BOX_OUTPUT_BYTES);
            return RunSpec { command, env, kind, tasks, scenario, check: None, cpus, bounds };
        }
        let params = &cell.part.params;
        let check = |workload| expected_check(workload, tasks, scenario.operations(), params);
        RunSpec {
            command: [with_tasks(command, tasks), scenario.arguments(tasks, params)].concat(),
            env: self.facts.env.clone(),
            kind,
            tasks,
            check: self.workload.as_ref().and_then(check),
            scenario,
            cpus,
            bounds: bounds(OUTPUT_CAP_BYTES),
        }
    }
}
