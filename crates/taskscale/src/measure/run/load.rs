//! The load on a program: a command in its own cgroup, so that it is not part of the program's results.

use taskscale_load::Begin;

use super::launched::Launched;
use super::serve::{ControlPipe, StageReader};
use crate::measure::MeasureError;
use crate::measure::cgroup::{CpuReading, Group};
use crate::measure::launcher::{END, LaunchRequest, LauncherEvent, STOP, now_ns};
use crate::measure::launchers::Launchers;
use crate::measure::protocol::{Listener, ProtocolEvent};

/// Where a load will run: made before it is known when.
pub(super) struct PreparedLoad {
    pub group: Box<dyn Group>,
    pub request: LaunchRequest,
    /// Of the clients of a server.
    pub control_pipe: Option<ControlPipe>,
}

/// A load at work.
pub(super) struct Running {
    launched: Launched,
    group: Box<dyn Group>,
    pub listener: Listener,
    control_pipe: Option<ControlPipe>,
    /// Of taskscale's own clients: the phases that are over.
    pub stages: StageReader,
    pub started_ns: u64,
    /// When it printed `alive`.
    pub alive_ns: Option<u64>,
    /// When it printed `done`.
    pub done_ns: Option<u64>,
    /// `Refused` or `Ended`.
    pub end: Option<LauncherEvent>,
    /// Whether it was asked to stop: its end is then no fault of its.
    pub stopping: bool,
    /// The launcher was told to end everything: a second word would find nobody to read it.
    ending: bool,
    /// Everything of it has ended.
    pub empty: bool,
    /// Its launcher was killed, and it with it, before it was asked to stop.
    pub lost: bool,
}

impl Running {
    pub fn start(launchers: &Launchers, prepared: PreparedLoad) -> Result<Running, MeasureError> {
        let launched = Launched::start(launchers, prepared.request)?;
        let mut group = prepared.group;
        group.set_launcher(launched.child.id());
        Ok(Running {
            launched,
            group,
            listener: Listener::default(),
            control_pipe: prepared.control_pipe,
            stages: StageReader::default(),
            started_ns: now_ns(),
            alive_ns: None,
            done_ns: None,
            end: None,
            stopping: false,
            ending: false,
            empty: false,
            lost: false,
        })
    }

    pub fn launched(&self) -> &Launched {
        &self.launched
    }

    pub fn has_ended(&self) -> bool {
        self.end.is_some() || self.empty
    }

    /// Has the clients begin a phase.
    pub fn begin_stage(&mut self, begin: Begin) -> Result<(), MeasureError> {
        self.control_pipe.as_mut().map_or(Ok(()), |control_pipe| control_pipe.send(begin))
    }

    /// Memory of all its processes now, and kernel memory as a part of it, in bytes.
    pub fn memory(&self) -> (Option<u64>, Option<u64>) {
        (self.group.memory_now(), self.group.kernel_account().kernel)
    }

    pub fn cpu(&self) -> Option<CpuReading> {
        self.group.cpu()
    }

    /// Receives its output and its launcher's events.
    pub fn recv(&mut self) -> Result<(), MeasureError> {
        self.read_output();
        for event in self.launched.recv()? {
            match event {
                LauncherEvent::Refused { .. } | LauncherEvent::Ended { .. } => {
                    while self.launched.pending_output() {
                        self.read_output();
                    }
                    self.listener.finish();
                    self.end = Some(event);
                    self.send_end();
                }
                LauncherEvent::Empty | LauncherEvent::Broken { .. } => self.empty = true,
                LauncherEvent::Exec { .. } | LauncherEvent::Started { .. } => {}
            }
        }
        if self.launched.lost && !self.empty {
            self.launched.end_what_is_left(&*self.group)?;
            self.empty = true;
            self.lost = !self.stopping;
        }
        Ok(())
    }

    /// Heard and let go: a load that writes much costs no memory and is no reason to end.
    fn read_output(&mut self) {
        let mut buffer = [0u8; 64 * 1024];
        let length = self.launched.read_stdout(&mut buffer);
        for event in self.listener.feed(&buffer[..length]) {
            match event {
                ProtocolEvent::Alive => self.alive_ns = Some(now_ns()),
                ProtocolEvent::Done => self.done_ns = Some(now_ns()),
                ProtocolEvent::Ready | ProtocolEvent::Listening(_) => {}
            }
        }
        self.stages.feed(&buffer[..length]);
        self.launched.read_stderr(&mut buffer);
    }

    /// Asks it to end.
    pub fn stop(&mut self) {
        if !self.stopping && self.end.is_none() {
            self.stopping = true;
            self.launched.send(STOP);
        }
    }

    /// Ends it.
    pub fn kill(&mut self) {
        if self.end.is_none() {
            self.stopping = true;
            self.send_end();
        }
    }

    fn send_end(&mut self) {
        if !self.ending {
            self.ending = true;
            self.launched.send(END);
        }
    }

    /// Waits for the launcher, after its last event.
    pub fn conclude(&mut self) -> std::io::Result<()> {
        self.launched.child.wait()
    }
}
