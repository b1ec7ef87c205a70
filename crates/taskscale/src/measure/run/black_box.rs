//! The run of a black-box program. Its ready signal is observed from outside or named by the user; a load may start;
//! and a program that does not end by itself is stopped after its plateau.

use std::net::TcpStream;
use std::time::Duration;

use rustix::event::PollFd;

use super::phases::last_look;
use super::serve::ClientProgress;
use super::{Run, load, seconds};
use crate::measure::MeasureError;
use crate::measure::black_box::{BlackBoxCommand, LineWatch, LoadStands, Ready};
use crate::measure::classify::EndedBy;
use crate::measure::evidence::Quiescence;
use crate::measure::launcher::{LauncherEvent, STOP};
use crate::measure::launchers::Launchers;
use crate::measure::sampler::{QUIET_SHARE, TICK_S};
use crate::record::{PlateauFrom, Warning};

/// From outside, a program stands when its CPU was quiet and its memory the same for so long, in seconds: longer than
/// where it said so, as a program that starts may pause.
const STANDS_S: f64 = 0.5;
/// How long a load, and then a program, may take to end after SIGTERM, in seconds.
const LOAD_GRACE_S: f64 = 2.0;
const GRACE_S: f64 = 5.0;
/// A connection to a program that listens is made at once, or the network is far.
const CONNECT_PATIENCE: Duration = Duration::from_millis(100);

/// The state of such a run.
pub(super) struct BlackBoxRun<'a> {
    pub command: &'a BlackBoxCommand,
    launchers: Launchers,
    stdout: LineWatch,
    stderr: LineWatch,
    /// The line that the user named was there.
    line_seen: bool,
    /// When the program itself was ready.
    pub ready_ns: Option<u64>,
    prepared: Option<load::PreparedLoad>,
    pub load: Option<load::Running>,
    /// When the run was last looked at.
    looked_ns: u64,
    /// When the program began to be stopped.
    pub stop_ns: Option<u64>,
    /// When the program itself was asked to, after its load had ended.
    asked_ns: Option<u64>,
    /// Processes that were there when the first had ended by itself.
    pub left_processes: usize,
    /// Where a server listens.
    pub port: Option<u16>,
    /// The state of a server's clients.
    pub clients: ClientProgress,
    /// Connections that the kernel counted on the server's side while all were at rest: the fewest.
    pub established: Option<u64>,
}

impl<'a> BlackBoxRun<'a> {
    pub fn new(
        command: &'a BlackBoxCommand,
        prepared: Option<load::PreparedLoad>,
        launchers: &Launchers,
    ) -> BlackBoxRun<'a> {
        BlackBoxRun {
            command,
            launchers: launchers.clone(),
            stdout: LineWatch::default(),
            stderr: LineWatch::default(),
            line_seen: false,
            ready_ns: None,
            prepared,
            load: None,
            looked_ns: 0,
            stop_ns: None,
            asked_ns: None,
            left_processes: 0,
            port: None,
            clients: ClientProgress::default(),
            established: None,
        }
    }

    pub fn waited(&self) -> impl Iterator<Item = PollFd<'_>> {
        let load = self.load.iter().filter(|load| !load.empty);
        load.flat_map(|load| load.launched().waited())
    }

    /// Takes a piece of the program's output.
    pub fn feed(&mut self, chunk: &[u8], stdout: bool) {
        if let Ready::Line(pattern) = &self.command.ready
            && !self.line_seen
        {
            let watch = if stdout { &mut self.stdout } else { &mut self.stderr };
            self.line_seen = watch.feed(chunk, pattern);
        }
    }

    pub fn recv_load(&mut self) -> Result<(), MeasureError> {
        match &mut self.load {
            Some(load) if !load.empty => load.recv(),
            _ => Ok(()),
        }
    }

    pub fn kill_load(&mut self) {
        if let Some(load) = &mut self.load {
            load.kill();
        }
    }

    /// Whether it ended because it was asked to, and not just before, unheard.
    pub fn was_stopped(&self, end: &LauncherEvent) -> bool {
        self.stop_ns.is_some() && !matches!(end, LauncherEvent::Ended { asked: false, .. })
    }

    /// Whether nothing of the load runs any more.
    pub fn is_over(&self) -> bool {
        self.load.as_ref().is_none_or(|load| load.empty)
    }

    /// Whether what the user named has come. Not asked of a program that is to be found out from outside.
    fn is_ready(&self, exec_ns: u64, now: u64) -> Option<PlateauFrom> {
        let (ready, from) = match &self.command.ready {
            Ready::Itself => (false, PlateauFrom::Outside),
            Ready::Line(_) => (self.line_seen, PlateauFrom::ReadyLine),
            Ready::Tcp(address) => {
                (TcpStream::connect_timeout(address, CONNECT_PATIENCE).is_ok(), PlateauFrom::ReadyTcp)
            }
            Ready::After(time) => (seconds(exec_ns, now) >= time.as_secs_f64(), PlateauFrom::ReadyAfter),
            Ready::Listening => (self.port.is_some(), PlateauFrom::Protocol),
        };
        ready.then_some(from)
    }

    /// Whether the load stands, where that is known: since when, and how.
    fn load_stands(&self, now: u64) -> Option<(u64, PlateauFrom)> {
        let load = self.load.as_ref()?;
        match self.command.load.as_ref()?.stands {
            LoadStands::After(time) => {
                (seconds(load.started_ns, now) >= time.as_secs_f64()).then_some((now, PlateauFrom::LoadAfter))
            }
            LoadStands::Alive | LoadStands::AliveOrQuiet => Some((load.alive_ns?, PlateauFrom::LoadLine)),
        }
    }

    /// Since when the plateau may be inferred from quiet; `None` where something else is waited for.
    fn may_infer_since(&self, exec_ns: u64) -> Option<u64> {
        match (&self.load, &self.command.load) {
            (Some(load), Some(wanted)) => {
                (wanted.stands == LoadStands::AliveOrQuiet).then_some(load.started_ns)
            }
            _ => matches!(self.command.ready, Ready::Itself).then_some(exec_ns),
        }
    }
}

impl Run<'_> {
    pub(super) fn tick_black_box(&mut self, now: u64) -> Result<(), MeasureError> {
        let (Some(exec), Some(_)) = (self.exec_ns, self.main_pid) else { return Ok(()) };
        let Some(mut black_box) = self.black_box.take() else { return Ok(()) };
        // A program that writes without end wakes us all the time: looking as often would slow down the reading, and
        // so the program, until it seemed quiet.
        if seconds(black_box.looked_ns, now) < TICK_S / 2.0 {
            self.black_box = Some(black_box);
            return Ok(());
        }
        black_box.looked_ns = now;
        let done = self.advance(&mut black_box, exec, now);
        self.black_box = Some(black_box);
        done
    }

    fn advance(&mut self, black_box: &mut BlackBoxRun, exec: u64, now: u64) -> Result<(), MeasureError> {
        if black_box.stop_ns.is_some() {
            self.go_on_stopping(black_box, now);
            return Ok(());
        }
        self.sample_threads();
        self.sample_usage(now, black_box.load.as_ref().and_then(load::Running::cpu));
        self.note_files_used_up(black_box);
        // A load that ended takes its tasks with it.
        if black_box.load.as_ref().is_some_and(load::Running::has_ended) {
            self.stop(black_box, now);
            return Ok(());
        }
        if black_box.ready_ns.is_none()
            && let Some(from) = black_box.is_ready(exec, now)
        {
            self.become_ready(black_box, from, now)?;
        }
        let inferred = matches!(self.plateau_from, None | Some(PlateauFrom::Outside));
        if inferred && let Some((at_ns, from)) = black_box.load_stands(now) {
            self.begin_plateau(from, at_ns);
        }
        if self.awaits_first_messages(black_box, now) {
            return Ok(());
        }
        match self.read_ns {
            None => self.settle(black_box, exec, now),
            Some(read_ns) => self.stand(black_box, read_ns, now),
        }
    }

    fn become_ready(
        &mut self,
        black_box: &mut BlackBoxRun,
        from: PlateauFrom,
        now: u64,
    ) -> Result<(), MeasureError> {
        black_box.ready_ns = Some(now);
        match black_box.prepared.take() {
            None => self.begin_plateau(from, now),
            Some(mut prepared) => {
                if let Some((serve, port)) = self.spec.scenario.serve().zip(black_box.port) {
                    prepared.request.command = serve.order.command(port);
                }
                black_box.load = Some(load::Running::start(&black_box.launchers, prepared)?);
                self.usage.clear();
            }
        }
        Ok(())
    }

    /// Waits for quiet, and reads.
    fn settle(&mut self, black_box: &mut BlackBoxRun, exec: u64, now: u64) -> Result<(), MeasureError> {
        let known = self.plateau_ns;
        let Some(since) = known.or(black_box.may_infer_since(exec)) else { return Ok(()) };
        let quiet_since = match known {
            Some(since) => self.is_quiet_since(since).then_some(since),
            // A load that works at something has not brought all its tasks about yet.
            None => self.usage.quiet_since(since, STANDS_S),
        };
        // Quiet for lack of a CPU, on a machine that has other work, is not quiet.
        let quiet_since = quiet_since.filter(|_| !self.doing().anything());
        let settle_s = black_box.command.settle.as_secs_f64();
        let due = self.due_ns();
        let last_moment = seconds(since, now) >= settle_s
            || due.is_some_and(|due| now + (TICK_S * 1e9) as u64 >= self.last_moment_ns(due));
        if quiet_since.is_none() && !last_moment {
            return Ok(());
        }
        if black_box.prepared.is_some() && known.is_none() {
            // The program stands: now for its load.
            return self.become_ready(black_box, PlateauFrom::Outside, now);
        }
        if known.is_none() {
            self.begin_plateau(PlateauFrom::Outside, quiet_since.unwrap_or(now));
            black_box.ready_ns.get_or_insert(now);
        }
        self.quiescence =
            if quiet_since.is_some() { Quiescence::Quiet } else { self.quiescence_since(since, now) };
        self.read_plateau(now);
        black_box.count_connections(self.spec.scenario.serve());
        // What starts clients elsewhere is none of them.
        if let Some(load) = black_box.load.as_ref().filter(|_| self.spec.scenario.elsewhere().is_none()) {
            (black_box.clients.load.client_bytes, black_box.clients.load.client_kernel_bytes) = load.memory();
        }
        self.begin_first_messages(black_box)
    }

    /// Memory was read: the program is let stand for the rest of its plateau, and looked at once more.
    fn stand(&mut self, black_box: &mut BlackBoxRun, read_ns: u64, now: u64) -> Result<(), MeasureError> {
        let inferred = self.plateau_from == Some(PlateauFrom::Outside);
        let plateau_ns = (self.plateau_wanted_s() * 1e9) as u64;
        let end_ns = match self.due_ns() {
            Some(due) => last_look(due),
            // What was inferred is watched for a whole plateau more: a pause in a launch is no plateau.
            None if inferred || self.read_again => read_ns + plateau_ns,
            None => self.plateau_ns.unwrap_or(read_ns) + plateau_ns,
        };
        if inferred && !self.looked_again && self.quiescence == Quiescence::Quiet {
            let over = now >= end_ns;
            let moved = self.stood.is_some_and(|stood| match over {
                true => !self.stands(&self.group.processes()).is_same_as(&stood),
                false => !stood.in_use_is_about(self.group.memory_in_use()),
            });
            let doubt = match (moved, over && self.was_at_work_since(read_ns, now)) {
                (true, _) => Some(Quiescence::Changing),
                (_, true) => Some(Quiescence::AtWork),
                _ => None,
            };
            let since = black_box.may_infer_since(self.exec_ns.unwrap_or(read_ns)).unwrap_or(read_ns);
            let has_time = seconds(since, now) < black_box.command.settle.as_secs_f64();
            if let Some(quiescence) = doubt {
                if has_time {
                    // It was a pause.
                    self.reading = None;
                    self.read_ns = None;
                    self.plateau_ns = None;
                    self.plateau_from = None;
                    self.usage.clear();
                    return Ok(());
                }
                self.quiescence = quiescence;
            } else if over && self.doing().anything() {
                // Its pause may just be over, and it waits for a CPU to go on: it is let.
                if has_time {
                    return Ok(());
                }
                self.quiescence = self.quiescence_since(read_ns, now);
            }
        }
        if now >= end_ns && !self.looked_again {
            if self.due_ns().is_none() && self.reads_again(black_box, now) {
                return Ok(());
            }
            self.looked_again = true;
            self.look_for_growth(now);
            black_box.count_connections(self.spec.scenario.serve());
        }
        match self.due_ns() {
            None if now >= end_ns && self.spec.scenario.serve().is_some() => {
                return self.advance_clients(black_box, now);
            }
            None if now >= end_ns => self.stop(black_box, now),
            Some(due) if now >= due && self.cpu_at_due.is_none() => self.cpu_at_due = self.group.cpu(),
            _ => {}
        }
        Ok(())
    }

    /// Memory grew since it was read, and nothing ends soon: what stands at last is what counts.
    fn reads_again(&mut self, black_box: &BlackBoxRun, now: u64) -> bool {
        let has_time =
            self.plateau_ns.is_some_and(|since| seconds(since, now) < black_box.command.settle.as_secs_f64());
        let Some(stood) = self.stood.filter(|_| has_time) else { return false };
        let stands = self.stands(&self.group.processes());
        if stands.grown_since(&stood).is_none() {
            return false;
        }
        if stands.is_growth_of(&stood) {
            self.warnings.push(Warning::PlateauGrew);
        }
        self.read_again = true;
        (self.reading, self.read_ns) = (None, None);
        self.usage.clear();
        true
    }

    /// Whether the CPU was at work between the reading and now: tasks that wait have nothing to do.
    fn was_at_work_since(&self, read_ns: u64, now: u64) -> bool {
        let used_s = self.group.cpu().zip(self.cpu_at_reading).map(|(now, then)| now.total_s - then.total_s);
        used_s.is_some_and(|used_s| used_s >= QUIET_SHARE * seconds(read_ns, now))
    }

    /// The plateau is over: the load is ended first, so that its connections are closed by the client, whose side
    /// then keeps the ports, and not the server's.
    pub(super) fn stop(&mut self, black_box: &mut BlackBoxRun, now: u64) {
        black_box.stop_ns = Some(now);
        if black_box.clients.idle_end_ns.is_none() {
            self.cpu_at_due = self.group.cpu();
        }
        if let Some(load) = &mut black_box.load {
            load.stop();
        }
        self.go_on_stopping(black_box, now);
    }

    fn go_on_stopping(&mut self, black_box: &mut BlackBoxRun, now: u64) {
        if let Some(load) = black_box.load.as_mut().filter(|load| !load.empty) {
            if black_box.stop_ns.is_some_and(|since| seconds(since, now) > LOAD_GRACE_S) {
                load.kill();
            }
            return;
        }
        match black_box.asked_ns {
            None => {
                black_box.asked_ns = Some(now);
                self.launched.send(STOP);
            }
            Some(since) if seconds(since, now) > GRACE_S => self.end_run(EndedBy::Stopped),
            Some(_) => {}
        }
    }
}
