//! A launcher that was killed, or that does not do its work: taskscale itself ends what the launcher should have.

use std::thread;
use std::time::{Duration, Instant};

use super::launched::Launched;
use super::{END_PATIENCE_S, Run};
use crate::measure::cgroup::{kill_all, processes_in};
use crate::measure::launcher::Order;
use crate::measure::verdict::EndedBy;
use crate::measure::{MeasureError, procfs};

impl Run<'_> {
    /// The run is over. It is a sample: whether its program killed the launcher or somebody else did cannot be told, and
    /// the next run has a launcher of its own.
    pub(super) fn end_without_launcher(&mut self) -> Result<(), MeasureError> {
        self.ended_by.get_or_insert(EndedBy::LauncherLost);
        self.launched.end_what_is_left()?;
        self.empty = true;
        if let Some(external) = &mut self.external {
            external.kill_load();
        }
        Ok(())
    }
}

impl Launched {
    /// Ends every process of the run, whose launcher is gone.
    pub(super) fn end_what_is_left(&self) -> Result<(), MeasureError> {
        let deadline = Instant::now() + Duration::from_secs_f64(END_PATIENCE_S);
        loop {
            kill_all(&self.order.group);
            let strays = strays(&self.order);
            procfs::kill(&strays);
            if strays.is_empty() && processes_in(&self.order.group).is_empty() {
                return Ok(());
            }
            if Instant::now() > deadline {
                return Err(MeasureError::Launcher("the program's processes could not be ended".into()));
            }
            thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Processes that may be in no group of the run. Those that the program left are no longer below anything that is ours;
/// but TMPDIR names a folder that no other run has, unless the user set it, and a process keeps the environment that it
/// was started with.
fn strays(order: &Order) -> Vec<u32> {
    procfs::started_with("TMPDIR", &order.scratch)
}
