//! Runs of servers: as measured, at several numbers of connections, and what the measuring itself shows.

use std::time::Duration;

use super::judge::linger;
use super::runs::{Order, Runs, Trial, may_be_the_machines, trial};
use super::{CheckError, Findings, Rule};
use crate::campaign::serving_in_a_moment;
use crate::measure::{Measurement, Trace};
use crate::record::Status;
use crate::units;

/// The numbers of connections that every server is tried with. In between the two rooms there is one that is not full.
const COUNTS: [u64; 3] = [1, 25, 1_000];
const PATIENCE: Duration = Duration::from_secs(120);
/// A run that seems to have been kept from its work by others is made again so often.
const ATTEMPTS: u32 = 3;

const LISTENING: &str = "print `listening PORT` once, when it takes connections, and flush standard output";

impl Runs<'_, '_> {
    /// Every N.
    pub fn serve_all(&mut self, findings: &mut Findings) -> Result<Vec<Trial>, CheckError> {
        let mut trials = Vec::new();
        self.run_at_an_empty_home(&self.serves(COUNTS[0]))?;
        for tasks in COUNTS {
            let order = self.serves(tasks);
            let mut attempt = 1;
            let (measured, trace) = loop {
                let ran = self.run(&order)?;
                if ran.0.status == Status::Ok || attempt >= ATTEMPTS || !may_be_the_machines(&ran.0) {
                    break ran;
                }
                attempt += 1;
            };
            let passed = measured.status == Status::Ok;
            judge(tasks, &measured, &trace, findings);
            trials.push(trial(&order, measured));
            if !passed {
                // What fails with few connections has nothing to say with many.
                break;
            }
        }
        Ok(trials)
    }

    fn serves(&self, tasks: u64) -> Order<'static> {
        let course = serving_in_a_moment(self.workload, &self.params, tasks);
        Order { tasks, course, arguments: None, time: PATIENCE }
    }
}

fn judge(tasks: u64, seen: &Measurement, trace: &Trace, findings: &mut Findings) {
    let with = format!("with {} connections", units::count(tasks));
    let reason = seen.reason.clone().unwrap_or_else(|| "no reason is known".into());
    let said = String::from_utf8_lossy(&trace.output);
    let fix = match seen.status {
        Status::Ok => {
            linger(&with, seen, trace, findings);
            return;
        }
        Status::Limit | Status::NoPlateau => {
            let fix =
                "nothing in the entry: lift the machine's limit, or check it again when the machine is quiet";
            findings.note(Rule::Limit, format!("{with}: {reason}"), fix);
            return;
        }
        Status::Unavailable => "`run` must name a program that its `build` makes, or that is in PATH",
        _ if !said.contains("listening ") => LISTENING,
        Status::Partial => {
            "accept every connection and keep it open: raise the backlog of `listen` to 1,024 or more"
        }
        Status::Crashed => "run the command by hand (`taskscale build ENTRY` prints it) and fix the crash",
        Status::KilledOom => "so few connections cannot need that much: keep nothing of one that is over",
        _ => "do what the workload says, to the byte: docs/workloads.md",
    };
    findings.error(Rule::Protocol, format!("{with}: {reason}"), fix);
}
