//! The load on a program: a command in its own cgroup, so that it is not part of the program's results.

use super::clock::Clock;
use super::control_pipe::ControlPipe;
use super::launched::Launched;
use crate::MeasureError;
use crate::cgroup::Group;
use crate::event::RunEvent;
use crate::launcher::{LaunchRequest, LauncherEvent, STOP};
use crate::launchers::Launchers;
use crate::protocol::Lines;
use crate::timeline::Timeline;

/// The longest line of a load, in bytes: the result of a stage is longer than protocol lines.
const LONGEST_LINE: usize = 4_096;

/// A load that can be started at any time.
pub(super) struct PreparedLoad {
    pub group: Box<dyn Group>,
    pub request: LaunchRequest,
    /// Only for the clients of a server.
    pub control_pipe: Option<ControlPipe>,
}

/// A running load.
pub(super) struct Running {
    pub launched: Launched,
    pub group: Box<dyn Group>,
    pub control_pipe: Option<ControlPipe>,
    lines: Lines,
    /// Whether the load has reached its exec.
    pub executed: bool,
    /// Whether the load was asked to stop, so that its end is not a failure.
    stopping: bool,
}

impl Running {
    pub fn start(launchers: &Launchers, prepared: PreparedLoad) -> Result<Running, MeasureError> {
        let launched = Launched::start(launchers, prepared.request)?;
        let mut group = prepared.group;
        group.set_launcher(launched.pid);
        Ok(Running {
            launched,
            group,
            control_pipe: prepared.control_pipe,
            lines: Lines::of_at_most(LONGEST_LINE),
            executed: false,
            stopping: false,
        })
    }

    /// Receives the load's output, line by line, and its launcher's events.
    pub fn recv(&mut self, timeline: &mut Timeline, clock: Clock) -> Result<(), MeasureError> {
        self.read_output(timeline, clock);
        for event in self.launched.recv()? {
            match event {
                LauncherEvent::Ended { end, .. } => {
                    while self.launched.pending_output() {
                        self.read_output(timeline, clock);
                    }
                    self.lines.finish(|line| timeline.take_load_line(clock.now_ns(), line));
                    timeline.push(clock.now_ns(), RunEvent::LoadEnded { end, stopping: self.stopping });
                    self.launched.send_end();
                }
                LauncherEvent::Empty | LauncherEvent::Broken { .. } => {
                    timeline.push(clock.now_ns(), RunEvent::LoadEmpty);
                }
                LauncherEvent::Exec { .. } => self.executed = true,
                LauncherEvent::Started { .. } => {}
            }
        }
        if self.launched.lost && !timeline.state().load_empty {
            self.end_without_launcher(timeline, clock)?;
        }
        Ok(())
    }

    fn end_without_launcher(&mut self, timeline: &mut Timeline, clock: Clock) -> Result<(), MeasureError> {
        self.launched.kill_remaining(&*self.group)?;
        timeline.push(clock.now_ns(), RunEvent::LoadLost { stopping: self.stopping });
        timeline.push(clock.now_ns(), RunEvent::LoadEmpty);
        Ok(())
    }

    /// Kills the load if its launcher does not, perhaps because the load stopped it.
    pub fn end_if_stuck(&mut self, timeline: &mut Timeline, clock: Clock) -> Result<(), MeasureError> {
        if self.launched.give_up_if_stuck(&*self.group)? {
            self.end_without_launcher(timeline, clock)?;
        }
        Ok(())
    }

    /// Reads output in bounded memory: a load may write without limit.
    fn read_output(&mut self, timeline: &mut Timeline, clock: Clock) {
        let mut buffer = [0u8; 64 * 1024];
        let length = self.launched.read_stdout(&mut buffer);
        self.lines.feed(&buffer[..length], |line| timeline.take_load_line(clock.now_ns(), line));
        self.launched.read_stderr(&mut buffer);
    }

    /// Asks the load to end.
    pub fn stop(&mut self) {
        if !self.stopping && !self.launched.is_ending() {
            self.stopping = true;
            self.launched.send(STOP);
        }
    }

    /// Kills the load. Returns false if that was already done.
    pub fn kill(&mut self) -> bool {
        if self.launched.is_ending() {
            return false;
        }
        self.stopping = true;
        self.launched.send_end();
        true
    }
}
