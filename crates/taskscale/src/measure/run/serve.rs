//! The course of a server: its clients connect, rest, talk at a rate, talk as fast as they can, and go.

use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, mknodat};
use taskscale_load::{Begin, CLOSED_LOOPS, Connected, Queue, StageResult, rates, usual};

use super::black_box::BlackBoxRun;
use super::{Run, now_ns, seconds};
use crate::measure::cgroup::CpuReading;
use crate::measure::limit_detection::OwnFiles;
use crate::measure::{MeasureError, ServeParams, at, plateau};
use crate::record::{ClosedLoad, IdleLoad, Load, OpenLoad, Plateau, PlateauFrom, Warning};

/// A line that says more of a phase than this is none.
const LONGEST_LINE: usize = 4_096;

/// An accepted connection takes 3.7 kB of the kernel at least, in bytes; less than this is none of it.
const LEAST_BYTES: u64 = 3_000;
const MANY: u64 = 100;
/// Of a server of more processes each has few of the connections.
const MOST_LOOKED_AT: usize = 32;

/// Orders that begin each phase: lines on the clients' standard input. Clients exit when it ends, even if taskscale is
/// killed.
pub(super) struct ControlPipe {
    path: PathBuf,
    pipe: File,
}

impl ControlPipe {
    /// A named pipe in this folder.
    pub fn new(folder: &Path) -> Result<ControlPipe, MeasureError> {
        let path = folder.join("orders");
        let made = mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0);
        at("make", &path, made.map_err(Into::into))?;
        // For both, so that neither waits for the other to open it.
        let pipe = at("open", &path, OpenOptions::new().read(true).write(true).open(&path))?;
        Ok(ControlPipe { path, pipe })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn send(&mut self, begin: Begin) -> Result<(), MeasureError> {
        at("write to", &self.path, writeln!(self.pipe, "{begin}"))
    }
}

/// Parses the lines `phase …` of the clients' output.
#[derive(Default)]
pub(super) struct StageReader {
    line: Vec<u8>,
    heard: Vec<StageResult>,
    /// The server that they are connected to, where this machine has its side of the connections.
    pub server: Option<SocketAddr>,
}

impl StageReader {
    pub fn feed(&mut self, chunk: &[u8]) {
        for byte in chunk {
            if *byte == b'\n' {
                let line = std::mem::take(&mut self.line);
                let stage = line.strip_prefix(b"phase ").map(serde_json::from_slice);
                let Some(Ok(stage)) = stage else { continue };
                if let StageResult::Connected(connected) = stage {
                    self.server = connected.server;
                }
                self.heard.push(stage);
            } else if self.line.len() < LONGEST_LINE {
                self.line.push(*byte);
            }
        }
    }

    pub fn take(&mut self) -> Vec<StageResult> {
        std::mem::take(&mut self.heard)
    }
}

/// How far the clients have come.
#[derive(Default)]
pub(super) struct ClientProgress {
    pub load: Load,
    /// Memory with all connected, before the first message.
    pub connected: Option<Plateau>,
    first: FirstMessages,
    /// When they ceased to rest.
    pub idle_end_ns: Option<u64>,
    /// What the server had used when the phase began.
    cpu: Option<CpuReading>,
    closed_loops: usize,
    /// Rates of the open loops that are still to come, in messages per second.
    rates: VecDeque<f64>,
    /// Memory after the last open loop.
    pub loaded: Option<Plateau>,
    pub over: bool,
}

#[derive(Default, PartialEq)]
enum FirstMessages {
    #[default]
    ToCome,
    UnderWay,
    Sent,
}

impl ClientProgress {
    fn note(&mut self, Connected { connected, connect_s, .. }: Connected) {
        (self.load.connected, self.load.connect_s) = (connected, connect_s);
    }
}

impl BlackBoxRun<'_> {
    /// Connections or other tasks of the load that are alive: by its word, and no more than the kernel counts.
    pub fn alive(&self) -> Option<u64> {
        let said = &self.load.as_ref()?.listener.said;
        let alive = said.fewer.or(said.alive)?;
        Some(self.established.map_or(alive, |established| alive.min(established)))
    }

    /// Has the kernel count the connections that the server has accepted and not closed. No new ones may arrive.
    pub fn count_connections(&mut self, serve: Option<&ServeParams>) {
        let Some(load) = &self.load else { return };
        let own = serve.zip(self.port).map(|(serve, port)| SocketAddr::new(serve.order.address.ip(), port));
        let Some(server) = own.or(load.stages.server) else { return };
        if let Some(now) = Queue::of(server).connections() {
            self.established = Some(self.established.map_or(now.accepted, |then| then.min(now.accepted)));
        }
    }
}

impl Run<'_> {
    /// Has every client send its first message after memory was read with all connected, so that connections allocate
    /// their buffers.
    pub(super) fn begin_first_messages(&mut self, black_box: &mut BlackBoxRun) -> Result<(), MeasureError> {
        let talking = self.spec.scenario.serve().is_some_and(|serve| serve.order.client.is_some());
        let all = black_box.alive().is_some_and(|alive| alive >= self.spec.tasks);
        let clients = &mut black_box.clients;
        let (FirstMessages::ToCome, true, true, Some(load)) =
            (&clients.first, talking, all, &mut black_box.load)
        else {
            return Ok(());
        };
        clients.first = FirstMessages::UnderWay;
        clients.connected = self.reading.take().map(|reading| reading.memory);
        self.read_ns = None;
        self.launch_end = self.plateau_ns.map(|at_ns| (at_ns, self.cpu_at_plateau));
        load.begin_stage(Begin::First)
    }

    /// Whether first messages are under way; when they have arrived, the plateau begins.
    pub(super) fn awaits_first_messages(&mut self, black_box: &mut BlackBoxRun, now: u64) -> bool {
        let clients = &mut black_box.clients;
        let (FirstMessages::UnderWay, Some(load)) = (&clients.first, &mut black_box.load) else {
            return false;
        };
        for stage in load.stages.take() {
            match stage {
                StageResult::Connected(connected) => clients.note(connected),
                StageResult::First(messages) => {
                    clients.load.first_message = messages > 0;
                    clients.first = FirstMessages::Sent;
                }
                StageResult::Open(_) | StageResult::Closed(_) => {}
            }
        }
        if clients.first == FirstMessages::Sent {
            self.begin_plateau(PlateauFrom::LoadLine, now);
            self.usage.clear();
        }
        true
    }

    /// Processes the results of the clients, once all were idle, and begins the next phase.
    pub(super) fn advance_clients(
        &mut self,
        black_box: &mut BlackBoxRun,
        now: u64,
    ) -> Result<(), MeasureError> {
        let alive = black_box.alive();
        let clients = &mut black_box.clients;
        let Some(load) = &mut black_box.load else { return Ok(()) };
        if clients.idle_end_ns.is_none() {
            if alive.is_some_and(|alive| alive < self.spec.tasks) {
                // That is the verdict: what those few would say is no figure of so many.
                self.stop(black_box, now);
                return Ok(());
            }
            clients.idle_end_ns = Some(now);
            self.cpu_at_due = self.group.cpu();
            let used = self.cpu_at_plateau.zip(self.cpu_at_due);
            clients.load.idle = used.zip(self.plateau_ns).map(|((from, to), since)| IdleLoad {
                cpu_s: (to.total_s - from.total_s).max(0.0),
                seconds: seconds(since, now),
            });
            clients.cpu = self.group.cpu();
            clients.closed_loops = CLOSED_LOOPS;
            return load.begin_stage(Begin::Closed);
        }
        for stage in load.stages.take() {
            let cpu = self.group.cpu().zip(clients.cpu);
            let server_cpu_s = cpu.map(|(now, then)| (now.total_s - then.total_s).max(0.0));
            match stage {
                StageResult::Connected(connected) => clients.note(connected),
                StageResult::First(_) => {}
                StageResult::Closed(closed) => {
                    clients.closed_loops -= 1;
                    let wanted = self.spec.scenario.serve().and_then(|serve| serve.order.rate);
                    clients.rates = rates(wanted, closed.per_s).into();
                    clients.load.closed = Some(ClosedLoad { server_cpu_s, ..closed });
                }
                StageResult::Open(open) => {
                    let capacity = clients.load.closed.as_ref().map(|closed| closed.per_s);
                    let share = capacity.filter(|per_s| *per_s > 0.0).map(|per_s| open.offered_per_s / per_s);
                    clients.load.curve.push(OpenLoad { share, server_cpu_s, ..open });
                }
            }
            if clients.rates.is_empty() {
                clients.load.open = usual(&clients.load.curve).cloned();
                let is_over = || self.interrupt.signal().is_some();
                let processes = self.group.processes();
                let reading = plateau::read(self.group.as_ref(), &processes, &is_over);
                clients.loaded = reading.map(|reading| reading.memory);
                clients.over = true;
                break;
            }
            clients.cpu = self.group.cpu();
            load.begin_stage(match clients.closed_loops {
                0 => clients.rates.pop_front().map_or(Begin::Closed, Begin::Open),
                _ => Begin::Closed,
            })?;
        }
        if black_box.clients.over {
            self.stop(black_box, now_ns());
        }
        Ok(())
    }

    /// Detects whether a server that did not accept all connections has exhausted its files, as some programs do not
    /// print it.
    pub(super) fn note_files_used_up(&mut self, black_box: &BlackBoxRun) {
        let Some(load) = black_box.load.as_ref().filter(|_| self.spec.scenario.serve().is_some()) else {
            return;
        };
        let few = black_box.alive().is_some_and(|alive| alive < self.spec.tasks);
        if self.open_files.is_none() && (few || load.has_ended()) {
            self.open_files =
                self.group.processes().into_iter().take(MOST_LOOKED_AT).find_map(OwnFiles::used_up);
            self.files_used_up = self.open_files.is_some();
        }
    }

    /// The clients' results so far.
    pub(super) fn load_seen(&mut self) -> Option<Load> {
        self.spec.scenario.serve()?;
        let black_box = self.black_box.as_mut()?;
        let running = black_box.load.as_mut()?;
        let clients = &mut black_box.clients;
        for stage in running.stages.take() {
            if let StageResult::Connected(connected) = stage {
                clients.note(connected);
            }
        }
        let open = clients.load.open.as_ref();
        if open.is_some_and(|open| !open.is_reached()) {
            self.warnings.push(Warning::RateNotReached);
        }
        if open.is_some_and(OpenLoad::is_client_limited) {
            self.warnings.push(Warning::ClientLimited);
        }
        let reading = self.reading.as_ref().filter(|_| !self.group.folders().is_empty());
        if reading.is_some_and(|reading| is_uncharged(&reading.memory, clients.load.connected)) {
            self.warnings.push(Warning::SocketsUncharged);
        }
        let beside = self.spec.scenario.elsewhere().is_none();
        clients.load.client_cpu_s = running.cpu().filter(|_| beside).map(|cpu| cpu.total_s);
        // Before anybody was connected there is nothing to tell.
        (clients.load.connect_s > 0.0).then(|| clients.load.clone())
    }
}

/// Whether the kernel holds less for the connections than any takes. Fewer of them are lost in what it holds besides.
fn is_uncharged(memory: &Plateau, connected: u64) -> bool {
    let others = memory.kernel_stack_bytes.unwrap_or(0) + memory.page_tables_bytes.unwrap_or(0);
    connected >= MANY && memory.kernel_bytes.saturating_sub(others) < LEAST_BYTES * connected
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 3,926 bytes on Linux 6.12 and 1,545 on 6.1, of which some are of epoll and of the files.
    #[test]
    fn what_the_kernel_does_not_charge_is_told_from_what_it_does() {
        let memory =
            |kernel_bytes| Plateau { kernel_bytes, kernel_stack_bytes: Some(100_000), ..Plateau::default() };
        assert!(is_uncharged(&memory(100_000 + 1_545 * 20_000), 20_000));
        assert!(!is_uncharged(&memory(100_000 + 3_926 * 20_000), 20_000));
        assert!(!is_uncharged(&memory(0), 1));
    }

    #[test]
    fn phases_are_found_in_whatever_pieces_they_come() {
        let mut stages = StageReader::default();
        let text = "alive 3\nphase {\"connected\":{\"connected\":3,\"connect_s\":0.5}}\nphase nonsense\nphase {\"x\":1}\n";
        for piece in text.as_bytes().chunks(7) {
            stages.feed(piece);
        }
        stages.feed(&vec![b'x'; 2 * LONGEST_LINE]);
        assert_eq!(
            stages.take(),
            [StageResult::Connected(Connected { connected: 3, connect_s: 0.5, server: None })]
        );
        assert!(stages.line.len() <= LONGEST_LINE && stages.take().is_empty());
    }
}
