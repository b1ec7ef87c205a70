//! The load on a program: a command in its own cgroup, so that it is not part of the program's results.

use super::launched::Launched;
use super::serve::{Orders, Phases};
use crate::load::Begin;
use crate::measure::MeasureError;
use crate::measure::cgroup::{CpuReading, Group};
use crate::measure::launcher::{END, Order, STOP, Word, now_ns};
use crate::measure::launchers::Launchers;
use crate::measure::protocol::{Event, Listener};

/// Where a load will run: made before it is known when.
pub(super) struct Place {
    pub group: Box<dyn Group>,
    pub order: Order,
    /// Of the clients of a server.
    pub orders: Option<Orders>,
}

/// A load at work.
pub(super) struct Running {
    launched: Launched,
    group: Box<dyn Group>,
    pub listener: Listener,
    orders: Option<Orders>,
    /// Of taskscale's own clients: the phases that are over.
    pub phases: Phases,
    pub started_ns: u64,
    /// When it printed `alive`.
    pub alive_ns: Option<u64>,
    /// When it printed `done`.
    pub done_ns: Option<u64>,
    /// `Refused` or `Ended`.
    pub end: Option<Word>,
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
    pub fn start(launchers: &Launchers, place: Place) -> Result<Running, MeasureError> {
        let launched = Launched::start(launchers, place.order)?;
        let mut group = place.group;
        group.set_launcher(launched.child.id());
        Ok(Running {
            launched,
            group,
            listener: Listener::default(),
            orders: place.orders,
            phases: Phases::default(),
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
    pub fn order(&mut self, begin: Begin) -> Result<(), MeasureError> {
        self.orders.as_mut().map_or(Ok(()), |orders| orders.say(begin))
    }

    /// Memory of all its processes now, and kernel memory as a part of it, in bytes.
    pub fn memory(&self) -> (Option<u64>, Option<u64>) {
        (self.group.memory_now(), self.group.kernel_account().kernel)
    }

    pub fn cpu(&self) -> Option<CpuReading> {
        self.group.cpu()
    }

    /// Receives its output and its launcher's events.
    pub fn hear(&mut self) -> Result<(), MeasureError> {
        self.hear_output();
        for word in self.launched.hear()? {
            match word {
                Word::Refused { .. } | Word::Ended { .. } => {
                    while self.launched.pending_output() {
                        self.hear_output();
                    }
                    self.listener.finish();
                    self.end = Some(word);
                    self.tell_to_end();
                }
                Word::Empty | Word::Broken { .. } => self.empty = true,
                Word::Exec { .. } | Word::Started { .. } => {}
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
    fn hear_output(&mut self) {
        let mut buffer = [0u8; 64 * 1024];
        let length = self.launched.read_stdout(&mut buffer);
        for event in self.listener.hear(&buffer[..length]) {
            match event {
                Event::Alive => self.alive_ns = Some(now_ns()),
                Event::Done => self.done_ns = Some(now_ns()),
                Event::Ready | Event::Listening(_) => {}
            }
        }
        self.phases.hear(&buffer[..length]);
        self.launched.read_stderr(&mut buffer);
    }

    /// Asks it to end.
    pub fn stop(&mut self) {
        if !self.stopping && self.end.is_none() {
            self.stopping = true;
            self.launched.tell(STOP);
        }
    }

    /// Ends it.
    pub fn kill(&mut self) {
        if self.end.is_none() {
            self.stopping = true;
            self.tell_to_end();
        }
    }

    fn tell_to_end(&mut self) {
        if !self.ending {
            self.ending = true;
            self.launched.tell(END);
        }
    }

    /// Waits for the launcher, after its last event.
    pub fn conclude(&mut self) -> std::io::Result<()> {
        self.launched.child.wait()
    }
}
