//! The load on a program: a command in its own cgroup, so that it is not part of the program's results.

use super::clock::Clock;
use super::control_pipe::ControlPipe;
use super::launched::Launched;
use super::orphan_cleanup::ProgressDeadline;
use crate::MeasureError;
use crate::cgroup::Group;
use crate::event::RunEvent;
use crate::launcher::{END, LaunchRequest, LauncherEvent, STOP};
use crate::launchers::Launchers;
use crate::protocol::Lines;
use crate::timeline::Timeline;

/// The result of a stage is longer than lines of the protocol, in bytes.
const LONGEST_LINE: usize = 4_096;

/// Where a load will run: made before it is known when.
pub(super) struct PreparedLoad {
    pub group: Box<dyn Group>,
    pub request: LaunchRequest,
    /// Of the clients of a server.
    pub control_pipe: Option<ControlPipe>,
}

/// A load at work.
pub(super) struct Running {
    pub launched: Launched,
    pub group: Box<dyn Group>,
    pub control_pipe: Option<ControlPipe>,
    lines: Lines,
    /// Whether its launcher has become its command.
    pub executed: bool,
    /// Whether it was asked to stop: its end is then no fault of its.
    stopping: bool,
    /// Of the launcher that was told to end everything, as the load ended or is to end: nothing reads a second word.
    deadline: Option<ProgressDeadline>,
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
            deadline: None,
        })
    }

    /// Receives its output, line by line, and its launcher's events.
    pub fn recv(&mut self, timeline: &mut Timeline, clock: Clock) -> Result<(), MeasureError> {
        self.read_output(timeline, clock);
        for event in self.launched.recv()? {
            match event {
                LauncherEvent::Ended { end, .. } => {
                    while self.launched.pending_output() {
                        self.read_output(timeline, clock);
                    }
                    self.lines.finish(|line| timeline.hear_load(clock.now_ns(), line));
                    timeline.push(clock.now_ns(), RunEvent::LoadEnded { end, stopping: self.stopping });
                    self.send_end();
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
        self.launched.end_what_is_left(&*self.group)?;
        timeline.push(clock.now_ns(), RunEvent::LoadLost { stopping: self.stopping });
        timeline.push(clock.now_ns(), RunEvent::LoadEmpty);
        Ok(())
    }

    /// Ends it if its launcher, stopped perhaps by the load, does not.
    pub fn end_if_stuck(&mut self, timeline: &mut Timeline, clock: Clock) -> Result<(), MeasureError> {
        if self.deadline.as_mut().is_some_and(|deadline| deadline.is_over(self.group.memory_now())) {
            self.launched.give_up()?;
            self.end_without_launcher(timeline, clock)?;
        }
        Ok(())
    }

    /// Heard and let go: a load that writes much costs no memory and is no reason to end.
    fn read_output(&mut self, timeline: &mut Timeline, clock: Clock) {
        let mut buffer = [0u8; 64 * 1024];
        let length = self.launched.read_stdout(&mut buffer);
        self.lines.feed(&buffer[..length], |line| timeline.hear_load(clock.now_ns(), line));
        self.launched.read_stderr(&mut buffer);
    }

    /// Asks it to end.
    pub fn stop(&mut self) {
        if !self.stopping && self.deadline.is_none() {
            self.stopping = true;
            self.launched.send(STOP);
        }
    }

    /// Ends it. Returns whether that was still to do.
    pub fn kill(&mut self) -> bool {
        if self.deadline.is_some() {
            return false;
        }
        self.stopping = true;
        self.send_end();
        true
    }

    fn send_end(&mut self) {
        if self.deadline.is_none() {
            self.deadline = Some(ProgressDeadline::new());
            self.launched.send(END);
        }
    }
}
