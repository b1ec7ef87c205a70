//! Performs the actions of `decide::next_action` and records each as an event.

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
use crate::listeners::{lack_connections, lack_sockets};
use crate::observed::EndedBy;
use crate::sampler::{MemorySnapshot, TICK_S, UsageSample};
use crate::{MeasureError, mapped, plateau, procfs};
use taskscale_load::{Begin, Queue};

/// Timeout of a connection. A program that listens on this machine accepts at once.
const CONNECT_TIMEOUT: Duration = Duration::from_millis(100);
/// Number of processes whose threads are read. If there are more, they are tasks, and alike.
const MAX_PROCESSES_READ: usize = 32;
/// Number of server processes whose open files are counted. If there are more, each has few of the connections.
const MAX_SERVERS_READ: usize = 32;

impl Run<'_> {
    pub fn perform(&mut self, action: Action) -> Result<(), MeasureError> {
        match action {
            Action::Wait(_) | Action::Sample => {}
            Action::Look => {
                let begun = self.state().plateau.is_some();
                self.timeline.usage.set_activity(doing(self.group.as_ref(), self.load.as_ref(), begun));
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
                self.take_last_look();
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

    /// Takes a usage sample, and checks the user's ready address and whether a server exhausted its files.
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
            && TcpStream::connect_timeout(address, CONNECT_TIMEOUT).is_ok()
        {
            self.push(RunEvent::Accepted);
        }
        self.note_files_used_up();
    }

    /// Detects whether a server that did not accept all connections has exhausted its files, because some
    /// programs do not print that.
    fn note_files_used_up(&mut self) {
        let state = self.state();
        let few = state.load_alive().is_some_and(|alive| alive < self.spec.tasks);
        let doubtful = few || state.load_has_ended();
        if self.spec.scenario.serve().is_none() || state.files.is_some() || !doubtful {
            return;
        }
        let mut pids = self.group.processes().into_iter().take(MAX_SERVERS_READ);
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
        if let Some((serve, port)) = self.spec.scenario.serve().zip(self.state().program.printed.port) {
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

    /// Reads memory page by page. That is slow, so it is done once, and again only if memory has changed.
    fn read_memory(&mut self) {
        let (clock, begun_ns, due) = (self.clock, self.clock.now_ns(), self.state().due_ns(self.spec));
        let is_over = || {
            self.interrupt.signal().is_some()
                || due.is_some_and(|due| begun_ns < due && clock.now_ns() >= due)
        };
        let processes = self.group.processes();
        // Taken before the reading, so that growth during it, or while taskscale is not scheduled, is detected.
        let mut stood = self.standing(&processes);
        let reading = plateau::read(self.group.as_ref(), &processes, &is_over).unwrap_or_default();
        // The end of the reading counts, because many processes or threads take time.
        let (end_ns, cpu, escaped) = (clock.now_ns(), self.group.cpu(), self.escapees(&processes));
        if let Some(hook) = &mut self.on_reading {
            hook(&processes);
            // Memory that the hook makes the program use is not the program's own growth.
            stood = self.standing(&processes);
        }
        let reading = MemoryReading { end_ns, reading, stood, cpu, escaped };
        self.timeline.push(begun_ns, RunEvent::Reading(Box::new(reading)));
        self.find_other_server(&processes);
        if let Some(accepted) = self.count_connections()
            && lack_connections(&processes, accepted) == Some(true)
            && let Some(server) = self.server()
        {
            self.push(RunEvent::OtherServer(server));
        }
        self.seen.extend(&processes);
        if let Some(files) = &mut self.files {
            files.extend(processes.into_iter().flat_map(mapped::mapped_paths));
        }
        // The command that starts clients on another machine is not a client.
        if let Some(load) = self.load.as_ref().filter(|_| self.spec.scenario.elsewhere().is_none()) {
            let (bytes, kernel_bytes) = (load.group.memory_now(), load.group.kernel_account().kernel);
            self.push(RunEvent::LoadMemory { bytes, kernel_bytes });
        }
    }

    /// Near the end of the plateau, checks whether memory has grown and whether processes have left the cgroup,
    /// because their memory would be missing.
    pub fn take_last_look(&mut self) {
        let processes = self.group.processes();
        // First, because reading memory may take until tasks are due.
        let doing = activity_of(self.group.as_ref());
        let standing = Some(self.standing(&processes));
        let left = self.escapees(&processes) > 0;
        let cpu = self.group.cpu();
        // The end of the look counts, because taskscale may not have been scheduled in between.
        let now = self.clock.now_ns();
        self.timeline.push(now, RunEvent::LastLook(Box::new(LastLook { standing, left, doing, cpu })));
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
        // Read before the kill: afterwards the cgroup is no longer short of memory.
        let at_cap = self.group.memory_now().is_some_and(|now| fills_cap(self.spec, now));
        let out_of_memory = self.group.memory_want().out_of_memory;
        self.push(RunEvent::Kill(Kill { why, at_cap, out_of_memory }));
        self.launched.send_end();
        self.kill_load();
    }

    /// Records and returns how many connections the server has accepted and not closed, as the kernel counts them. No new
    /// ones may arrive.
    fn count_connections(&mut self) -> Option<u64> {
        let server = self.server().filter(|_| self.load.is_some());
        let accepted = Queue::of(server?).connections()?.accepted;
        self.push(RunEvent::Connections(accepted));
        Some(accepted)
    }

    /// Detects a listener outside the run: a service may have started the server, or an earlier server may
    /// share the address.
    fn find_other_server(&mut self, processes: &[u32]) {
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

    /// The address that clients are connected to.
    fn server(&self) -> Option<SocketAddr> {
        let state = self.state();
        let own = self.spec.scenario.serve().zip(state.program.printed.port);
        let own = own.map(|(serve, port)| SocketAddr::new(serve.order.address.ip(), port));
        own.or(state.load.connected().and_then(|connected| connected.server))
    }

    /// Number of processes of the run outside its cgroup.
    fn escapees(&self, processes: &[u32]) -> usize {
        if self.group.folders().is_empty() {
            return 0;
        }
        let mut escaped = procfs::descendants_besides(processes, self.launched.pid);
        escaped.retain(|pid| !self.is_in_group(*pid));
        if !escaped.is_empty() {
            // Check again: a process that is ending is briefly in no cgroup, and a pid may have been reused
            // while processes were listed.
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
    fn standing(&self, processes: &[u32]) -> MemorySnapshot {
        let shown = plateau::standing(self.group.as_ref(), processes);
        let in_use = self.group.memory_in_use();
        let sampled = Some(self.state().sampled_peak).filter(|bytes| *bytes > 0);
        let peak = self.group.memory_peak().or(sampled).zip(self.group.memory_now());
        MemorySnapshot { in_use, shown, peak }
    }
}

/// What the threads of a run are doing. Before the plateau, that includes its load: while it waits for a CPU,
/// it has not started all its tasks.
fn doing(group: &dyn Group, load: Option<&load::Running>, begun: bool) -> procfs::ThreadActivity {
    let load = match load.filter(|_| !begun) {
        // If CPUs are short, the launcher is late, and the load's cgroup is still empty.
        Some(load) if !load.executed => procfs::ThreadActivity { wants_cpu: true, ..Default::default() },
        Some(load) => activity_of(load.group.as_ref()),
        None => procfs::ThreadActivity::default(),
    };
    activity_of(group).and(load)
}

/// What the threads in a cgroup are doing.
fn activity_of(group: &dyn Group) -> procfs::ThreadActivity {
    let mut pids = group.processes();
    // Keep the first and the last: while a program starts processes, the last ones are working.
    if pids.len() > MAX_PROCESSES_READ {
        let half = MAX_PROCESSES_READ / 2;
        pids.drain(half..pids.len() - half);
    }
    pids.into_iter().map(procfs::doing).fold(procfs::ThreadActivity::default(), procfs::ThreadActivity::and)
}
