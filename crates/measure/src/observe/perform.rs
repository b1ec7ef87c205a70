//! What `decide::next_action` asks for, done to a run; each leaves its event.

use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use super::load;
use super::run::Run;
use crate::PlateauFrom;
use crate::black_box::Ready;
use crate::cgroup::Group;
use crate::decide::{Action, fills_cap};
use crate::event::{Kill, LastLook, MemoryReading, PlateauStart, RunEvent};
use crate::launcher::STOP;
use crate::limit_detection::OwnFiles;
use crate::listeners::lack_sockets;
use crate::observed::EndedBy;
use crate::sampler::{MemoryStanding, TICK_S, UsageSample};
use crate::{MeasureError, plateau, procfs};
use taskscale_load::{Begin, Queue};

/// A connection to a program that listens is made at once, or the network is far.
const CONNECT_PATIENCE: Duration = Duration::from_millis(100);
/// Where there are more processes, they are tasks, and alike.
const PROCESSES_LOOKED_AT: usize = 32;
/// Of a server of more processes each has few of the connections.
const SERVERS_LOOKED_AT: usize = 32;

impl Run<'_> {
    pub fn perform(&mut self, action: Action) -> Result<(), MeasureError> {
        match action {
            Action::Wait(_) | Action::Sample => {}
            Action::Look => {
                let begun = self.state().plateau.is_some();
                self.timeline.usage.note_doing(doing(self.group.as_ref(), self.load.as_ref(), begun));
            }
            Action::BecomeReady(from) => self.become_ready(from)?,
            Action::BeginPlateau { since_ns, from } => self.begin_plateau(since_ns, from),
            Action::ReadMemory => self.read_memory(),
            Action::Compare => {
                let standing = self.standing(&self.group.processes());
                self.push(RunEvent::Standing(standing));
            }
            Action::Drop(why) => self.push(RunEvent::Dropped(why)),
            Action::Doubt(quiescence) => self.push(RunEvent::Doubt(quiescence)),
            Action::LastLook => {
                self.look_last();
                self.count_connections();
                // The program may end before it is looked at again.
                self.switches.end(self.group.as_ref());
            }
            Action::EndPlateau => {
                let cpu = self.group.cpu();
                self.push(RunEvent::PlateauEnd { cpu });
                if self.state().program.done_ns.is_none() {
                    self.switches.end(self.group.as_ref());
                }
            }
            Action::Begin(begin) => self.begin_stage(begin)?,
            Action::EndStages => {
                let cpu = self.group.cpu();
                let is_over = || self.interrupt.signal().is_some();
                let reading = plateau::read(self.group.as_ref(), &self.group.processes(), &is_over);
                let memory = reading.map(|reading| Box::new(reading.memory));
                self.push(RunEvent::StagesOver { cpu, memory });
            }
            Action::Stop => self.stop(),
            Action::Ask => {
                self.push(RunEvent::Asked);
                self.launched.send(STOP);
            }
            Action::KillLoad => {
                if let Some(load) = &mut self.load {
                    load.kill();
                }
                self.push(RunEvent::LoadKilled);
            }
            Action::Kill(why) => self.kill(why),
        }
        Ok(())
    }

    /// Takes a cheap usage sample of the run, and looks for what the user named.
    pub fn sample(&mut self, now: u64) {
        let load_cpu = self.load.as_ref().and_then(|load| load.group.cpu());
        let sample = UsageSample {
            at_ns: now,
            cpu_s: self.group.cpu().map(|cpu| cpu.total_s),
            load_cpu_s: load_cpu.map(|cpu| cpu.total_s),
            memory: self.group.memory_in_use(),
            output_bytes: self.lines.bytes + self.launched.stderr_bytes,
        };
        let begun = self.state().plateau.is_some();
        self.timeline.usage.add(sample, || doing(self.group.as_ref(), self.load.as_ref(), begun));
        let Some(black_box) = self.spec.scenario.black_box() else { return };
        if let Ready::Tcp(address) = &black_box.ready
            && self.state().ready_ns.is_none()
            && TcpStream::connect_timeout(address, CONNECT_PATIENCE).is_ok()
        {
            self.push(RunEvent::Accepted);
        }
        self.note_files_used_up();
    }

    /// Detects whether a server that did not accept all connections has exhausted its files, as some programs do not
    /// print it.
    fn note_files_used_up(&mut self) {
        let state = self.state();
        let few = state.load_alive().is_some_and(|alive| alive < self.spec.tasks);
        let doubtful = few || state.load_has_ended();
        if self.spec.scenario.serve().is_none() || state.files.is_some() || !doubtful {
            return;
        }
        let mut pids = self.group.processes().into_iter().take(SERVERS_LOOKED_AT);
        if let Some(own) = pids.find_map(OwnFiles::used_up) {
            self.push(RunEvent::Files { own, used_up: true });
        }
    }

    fn become_ready(&mut self, from: PlateauFrom) -> Result<(), MeasureError> {
        self.push(RunEvent::Ready);
        let Some(mut prepared) = self.prepared.take() else {
            self.begin_plateau(self.clock.now_ns(), from);
            return Ok(());
        };
        if let Some((serve, port)) = self.spec.scenario.serve().zip(self.state().program.said.port) {
            prepared.request.command = serve.order.command(port);
        }
        self.load = Some(load::Running::start(self.launchers, prepared)?);
        self.push(RunEvent::LoadStarted);
        Ok(())
    }

    fn begin_plateau(&mut self, since_ns: u64, from: PlateauFrom) {
        let cpu = self.group.cpu();
        let starved_s = self.timeline.usage().starved_until_s(since_ns);
        if from == PlateauFrom::Outside && self.state().ready_ns.is_none() {
            self.push(RunEvent::Ready);
        }
        self.push(RunEvent::Plateau(PlateauStart { since_ns, from, cpu, starved_s }));
        self.switches.begin(self.group.as_ref());
    }

    /// Reads memory page by page: once, as it is not free, or once more if it changed.
    fn read_memory(&mut self) {
        let (clock, begun_ns, due) = (self.clock, self.clock.now_ns(), self.state().due_ns(self.spec));
        let is_over = || {
            self.interrupt.signal().is_some()
                || due.is_some_and(|due| begun_ns < due && clock.now_ns() >= due)
        };
        let processes = self.group.processes();
        // From before the reading: what grows while it goes on, or before taskscale is scheduled again, has grown since.
        let mut stood = self.standing(&processes);
        let reading = plateau::read(self.group.as_ref(), &processes, &is_over).unwrap_or_default();
        // The instant that counts is the end: reading many processes or threads takes its time.
        let (end_ns, cpu, escaped) = (clock.now_ns(), self.group.cpu(), self.escapees(&processes));
        if let Some(hook) = &mut self.on_reading {
            hook(&processes);
            // What a hook makes the program take is no growth of its own.
            stood = self.standing(&processes);
        }
        let reading = MemoryReading { end_ns, reading, stood, cpu, escaped };
        self.timeline.push(begun_ns, RunEvent::Reading(Box::new(reading)));
        self.look_for_other_server(&processes);
        self.seen.extend(&processes);
        if let Some(files) = &mut self.files {
            files.extend(processes.into_iter().flat_map(procfs::mapped_paths));
        }
        self.count_connections();
        // What starts clients elsewhere is none of them.
        if let Some(load) = self.load.as_ref().filter(|_| self.spec.scenario.elsewhere().is_none()) {
            let (bytes, kernel_bytes) = (load.group.memory_now(), load.group.kernel_account().kernel);
            self.push(RunEvent::LoadMemory { bytes, kernel_bytes });
        }
    }

    /// The plateau is nearly over: looks whether memory has grown and all processes are still there. What one takes
    /// that left since the reading would be in no account.
    pub fn look_last(&mut self) {
        let processes = self.group.processes();
        let standing = Some(self.standing(&processes));
        let left = self.escapees(&processes) > 0;
        // The end of the look counts: taskscale may not have been scheduled in the middle of it.
        let now = self.clock.now_ns();
        self.timeline.push(now, RunEvent::LastLook(Box::new(LastLook { standing, left })));
    }

    fn begin_stage(&mut self, begin: Begin) -> Result<(), MeasureError> {
        let cpu = self.group.cpu();
        self.push(RunEvent::Begin { begin, cpu });
        let control_pipe = self.load.as_mut().and_then(|load| load.control_pipe.as_mut());
        control_pipe.map_or(Ok(()), |control_pipe| control_pipe.send(begin))
    }

    fn stop(&mut self) {
        let now = self.clock.now_ns();
        let rested = self.spec.scenario.serve().is_some() && self.state().plateau_end.is_some();
        if !rested {
            let cpu = self.group.cpu();
            self.timeline.push(now, RunEvent::PlateauEnd { cpu });
        }
        self.timeline.push(now, RunEvent::Stop);
        if let Some(load) = &mut self.load {
            load.stop();
        }
    }

    fn kill(&mut self, why: EndedBy) {
        // Asked before the run is ended: afterwards nothing of it wants memory any more.
        let at_cap = self.group.memory_now().is_some_and(|now| fills_cap(self.spec, now));
        let out_of_memory = self.group.memory_want().out_of_memory;
        self.push(RunEvent::Kill(Kill { why, at_cap, out_of_memory }));
        self.send_end();
        self.kill_load();
    }

    /// Has the kernel count the connections that the server has accepted and not closed. No new ones may arrive.
    fn count_connections(&mut self) {
        let server = self.server().filter(|_| self.load.is_some());
        if let Some(now) = server.and_then(|server| Queue::of(server).connections()) {
            self.push(RunEvent::Connections(now.accepted));
        }
    }

    /// A program may have a service start its server, or share the address with one that was there before.
    fn look_for_other_server(&mut self, processes: &[u32]) {
        let named = match self.spec.scenario.black_box().map(|black_box| &black_box.ready) {
            Some(Ready::Tcp(address)) => Some(*address),
            _ => None,
        };
        let Some(server) = self.server().or(named) else { return };
        let listeners = Queue::of(server).listeners();
        if listeners.and_then(|listeners| lack_sockets(processes, listeners)) == Some(true) {
            self.push(RunEvent::OtherServer(server));
        }
    }

    /// Where clients are connected.
    fn server(&self) -> Option<SocketAddr> {
        let state = self.state();
        let own = self.spec.scenario.serve().zip(state.program.said.port);
        let own = own.map(|(serve, port)| SocketAddr::new(serve.order.address.ip(), port));
        own.or(state.load.connected().and_then(|connected| connected.server))
    }

    /// How many processes of the run are not in its cgroup.
    fn escapees(&self, processes: &[u32]) -> usize {
        if self.group.folders().is_empty() {
            return 0;
        }
        let mut escaped = procfs::descendants_besides(processes, self.launched.pid);
        escaped.retain(|pid| !self.is_in_group(*pid));
        if !escaped.is_empty() {
            // One that is ending is in no group either, for a moment. And while all processes are listed one may end, and
            // its number be given to another's: it is asked again whether it is one of the run's.
            std::thread::sleep(Duration::from_secs_f64(TICK_S));
            escaped.retain(|pid| !self.is_in_group(*pid) && procfs::is_below(*pid, self.launched.pid));
        }
        escaped.len()
    }

    fn is_in_group(&self, pid: u32) -> bool {
        let folders = self.group.folders();
        let name = folders.first().and_then(|folder| folder.file_name()).and_then(|name| name.to_str());
        name.is_none_or(|name| procfs::is_in_group(pid, name, folders.len()))
    }

    /// Memory now, for a later comparison.
    fn standing(&self, processes: &[u32]) -> MemoryStanding {
        let shown = plateau::standing(self.group.as_ref(), processes);
        MemoryStanding { in_use: self.group.memory_in_use(), shown }
    }
}

/// What the threads of a run are doing. Before the plateau has begun also those of its load: one that waits for a CPU has
/// not brought all its tasks about.
fn doing(group: &dyn Group, load: Option<&load::Running>, begun: bool) -> procfs::Doing {
    let load = match load.filter(|_| !begun) {
        // Where CPUs are short its launcher comes late, and no process of its group is seen to wait.
        Some(load) if !load.executed => procfs::Doing { wants_cpu: true, ..Default::default() },
        Some(load) => doing_of(load.group.as_ref()),
        None => procfs::Doing::default(),
    };
    doing_of(group).and(load)
}

/// What the threads of a group are doing.
fn doing_of(group: &dyn Group) -> procfs::Doing {
    let mut pids = group.processes();
    // The first and the last: a family that is starting is at work at its end.
    if pids.len() > PROCESSES_LOOKED_AT {
        let half = PROCESSES_LOOKED_AT / 2;
        pids.drain(half..pids.len() - half);
    }
    pids.into_iter().map(procfs::doing).fold(procfs::Doing::default(), procfs::Doing::and)
}
