//! The run of a black-box program. Its ready signal is observed from outside or named by the user; a load may start;
//! and a program that does not end by itself is stopped after its plateau.

use std::net::TcpStream;
use std::time::Duration;

use rustix::event::PollFd;

use super::phases::last_look;
use super::serve::Talks;
use super::{Run, load, seconds};
use crate::measure::MeasureError;
use crate::measure::evidence::Rest;
use crate::measure::external::{ExternalCommand, LineWatch, LoadStands, Ready};
use crate::measure::launcher::{STOP, Word};
use crate::measure::launchers::Launchers;
use crate::measure::looks::{QUIET_SHARE, TICK_S};
use crate::measure::verdict::EndedBy;
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
pub(super) struct ExternalCourse<'a> {
    pub command: &'a ExternalCommand,
    launchers: Launchers,
    stdout: LineWatch,
    stderr: LineWatch,
    /// The line that the user named was there.
    line_seen: bool,
    /// When the program itself was ready.
    pub ready_ns: Option<u64>,
    place: Option<load::Place>,
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
    pub talks: Talks,
    /// Connections that the kernel counted on the server's side while all were at rest: the fewest.
    pub established: Option<u64>,
}

impl<'a> ExternalCourse<'a> {
    pub fn new(
        command: &'a ExternalCommand,
        place: Option<load::Place>,
        launchers: &Launchers,
    ) -> ExternalCourse<'a> {
        ExternalCourse {
            command,
            launchers: launchers.clone(),
            stdout: LineWatch::default(),
            stderr: LineWatch::default(),
            line_seen: false,
            ready_ns: None,
            place,
            load: None,
            looked_ns: 0,
            stop_ns: None,
            asked_ns: None,
            left_processes: 0,
            port: None,
            talks: Talks::default(),
            established: None,
        }
    }

    pub fn waited(&self) -> impl Iterator<Item = PollFd<'_>> {
        let load = self.load.iter().filter(|load| !load.empty);
        load.flat_map(|load| load.launched().waited())
    }

    /// Takes a piece of the program's output.
    pub fn hear(&mut self, chunk: &[u8], stdout: bool) {
        if let Ready::Line(pattern) = &self.command.ready
            && !self.line_seen
        {
            let watch = if stdout { &mut self.stdout } else { &mut self.stderr };
            self.line_seen = watch.hear(chunk, pattern);
        }
    }

    pub fn hear_load(&mut self) -> Result<(), MeasureError> {
        match &mut self.load {
            Some(load) if !load.empty => load.hear(),
            _ => Ok(()),
        }
    }

    pub fn kill_load(&mut self) {
        if let Some(load) = &mut self.load {
            load.kill();
        }
    }

    /// Whether it ended because it was asked to, and not just before, unheard.
    pub fn was_stopped(&self, end: &Word) -> bool {
        self.stop_ns.is_some() && !matches!(end, Word::Ended { asked: false, .. })
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
    pub(super) fn tick_outside(&mut self, now: u64) -> Result<(), MeasureError> {
        let (Some(exec), Some(_)) = (self.exec_ns, self.main_pid) else { return Ok(()) };
        let Some(mut external) = self.external.take() else { return Ok(()) };
        // A program that writes without end wakes us all the time: looking as often would slow down the reading, and
        // so the program, until it seemed quiet.
        if seconds(external.looked_ns, now) < TICK_S / 2.0 {
            self.external = Some(external);
            return Ok(());
        }
        external.looked_ns = now;
        let done = self.course(&mut external, exec, now);
        self.external = Some(external);
        done
    }

    fn course(&mut self, external: &mut ExternalCourse, exec: u64, now: u64) -> Result<(), MeasureError> {
        if external.stop_ns.is_some() {
            self.go_on_stopping(external, now);
            return Ok(());
        }
        self.sample_threads();
        self.look(now, external.load.as_ref().and_then(load::Running::cpu));
        self.note_files_used_up(external);
        // A load that ended takes its tasks with it.
        if external.load.as_ref().is_some_and(load::Running::has_ended) {
            self.stop(external, now);
            return Ok(());
        }
        if external.ready_ns.is_none()
            && let Some(from) = external.is_ready(exec, now)
        {
            self.become_ready(external, from, now)?;
        }
        let inferred = matches!(self.plateau_from, None | Some(PlateauFrom::Outside));
        if inferred && let Some((at_ns, from)) = external.load_stands(now) {
            self.begin_plateau(from, at_ns);
        }
        if self.awaits_first_messages(external, now) {
            return Ok(());
        }
        match self.read_ns {
            None => self.settle(external, exec, now),
            Some(read_ns) => self.stand(external, read_ns, now),
        }
    }

    fn become_ready(
        &mut self,
        external: &mut ExternalCourse,
        from: PlateauFrom,
        now: u64,
    ) -> Result<(), MeasureError> {
        external.ready_ns = Some(now);
        match external.place.take() {
            None => self.begin_plateau(from, now),
            Some(mut place) => {
                if let Some((serve, port)) = self.spec.course.serve().zip(external.port) {
                    place.order.command = serve.order.command(port);
                }
                external.load = Some(load::Running::start(&external.launchers, place)?);
                self.looks.clear();
            }
        }
        Ok(())
    }

    /// Waits for quiet, and reads.
    fn settle(&mut self, external: &mut ExternalCourse, exec: u64, now: u64) -> Result<(), MeasureError> {
        let known = self.plateau_ns;
        let Some(since) = known.or(external.may_infer_since(exec)) else { return Ok(()) };
        let quiet_since = match known {
            Some(since) => self.is_quiet_since(since).then_some(since),
            // A load that works at something has not brought all its tasks about yet.
            None => self.looks.quiet_since(since, STANDS_S),
        };
        // Quiet for lack of a CPU, on a machine that has other work, is not quiet.
        let quiet_since = quiet_since.filter(|_| !self.doing().anything());
        let settle_s = external.command.settle.as_secs_f64();
        let due = self.due_ns();
        let last_moment = seconds(since, now) >= settle_s
            || due.is_some_and(|due| now + (TICK_S * 1e9) as u64 >= self.last_moment_ns(due));
        if quiet_since.is_none() && !last_moment {
            return Ok(());
        }
        if external.place.is_some() && known.is_none() {
            // The program stands: now for its load.
            return self.become_ready(external, PlateauFrom::Outside, now);
        }
        if known.is_none() {
            self.begin_plateau(PlateauFrom::Outside, quiet_since.unwrap_or(now));
            external.ready_ns.get_or_insert(now);
        }
        self.rest = if quiet_since.is_some() { Rest::Quiet } else { self.rest_since(since, now) };
        self.read_plateau(now);
        external.count_connections(self.spec.course.serve());
        // What starts clients elsewhere is none of them.
        if let Some(load) = external.load.as_ref().filter(|_| self.spec.course.elsewhere().is_none()) {
            (external.talks.load.client_bytes, external.talks.load.client_kernel_bytes) = load.memory();
        }
        self.begin_first_messages(external)
    }

    /// Memory was read: the program is let stand for the rest of its plateau, and looked at once more.
    fn stand(&mut self, external: &mut ExternalCourse, read_ns: u64, now: u64) -> Result<(), MeasureError> {
        let inferred = self.plateau_from == Some(PlateauFrom::Outside);
        let plateau_ns = (self.plateau_wanted_s() * 1e9) as u64;
        let end_ns = match self.due_ns() {
            Some(due) => last_look(due),
            // What was inferred is watched for a whole plateau more: a pause in a launch is no plateau.
            None if inferred || self.read_again => read_ns + plateau_ns,
            None => self.plateau_ns.unwrap_or(read_ns) + plateau_ns,
        };
        if inferred && !self.looked_again && self.rest == Rest::Quiet {
            let over = now >= end_ns;
            let moved = self.stood.is_some_and(|stood| match over {
                true => !self.stands(&self.group.processes()).is_same_as(&stood),
                false => !stood.in_use_is_about(self.group.memory_in_use()),
            });
            let doubt = match (moved, over && self.was_at_work_since(read_ns, now)) {
                (true, _) => Some(Rest::Changing),
                (_, true) => Some(Rest::AtWork),
                _ => None,
            };
            let since = external.may_infer_since(self.exec_ns.unwrap_or(read_ns)).unwrap_or(read_ns);
            let patience = seconds(since, now) < external.command.settle.as_secs_f64();
            if let Some(rest) = doubt {
                if patience {
                    // It was a pause.
                    self.reading = None;
                    self.read_ns = None;
                    self.plateau_ns = None;
                    self.plateau_from = None;
                    self.looks.clear();
                    return Ok(());
                }
                self.rest = rest;
            } else if over && self.doing().anything() {
                // Its pause may just be over, and it waits for a CPU to go on: it is let.
                if patience {
                    return Ok(());
                }
                self.rest = self.rest_since(read_ns, now);
            }
        }
        if now >= end_ns && !self.looked_again {
            if self.due_ns().is_none() && self.reads_again(external, now) {
                return Ok(());
            }
            self.looked_again = true;
            self.look_for_growth(now);
            external.count_connections(self.spec.course.serve());
        }
        match self.due_ns() {
            None if now >= end_ns && self.spec.course.serve().is_some() => return self.talk(external, now),
            None if now >= end_ns => self.stop(external, now),
            Some(due) if now >= due && self.cpu_at_due.is_none() => self.cpu_at_due = self.group.cpu(),
            _ => {}
        }
        Ok(())
    }

    /// Memory grew since it was read, and nothing ends soon: what stands at last is what counts.
    fn reads_again(&mut self, external: &ExternalCourse, now: u64) -> bool {
        let patience =
            self.plateau_ns.is_some_and(|since| seconds(since, now) < external.command.settle.as_secs_f64());
        let Some(stood) = self.stood.filter(|_| patience) else { return false };
        let stands = self.stands(&self.group.processes());
        if stands.grown_since(&stood).is_none() {
            return false;
        }
        if stands.is_growth_of(&stood) {
            self.warnings.push(Warning::PlateauGrew);
        }
        self.read_again = true;
        (self.reading, self.read_ns) = (None, None);
        self.looks.clear();
        true
    }

    /// Whether the CPU was at work between the reading and now: tasks that wait have nothing to do.
    fn was_at_work_since(&self, read_ns: u64, now: u64) -> bool {
        let used_s = self.group.cpu().zip(self.cpu_at_reading).map(|(now, then)| now.total_s - then.total_s);
        used_s.is_some_and(|used_s| used_s >= QUIET_SHARE * seconds(read_ns, now))
    }

    /// The plateau is over: the load is ended first, so that its connections are closed by the client, whose side
    /// then keeps the ports, and not the server's.
    pub(super) fn stop(&mut self, external: &mut ExternalCourse, now: u64) {
        external.stop_ns = Some(now);
        if external.talks.rest_end_ns.is_none() {
            self.cpu_at_due = self.group.cpu();
        }
        if let Some(load) = &mut external.load {
            load.stop();
        }
        self.go_on_stopping(external, now);
    }

    fn go_on_stopping(&mut self, external: &mut ExternalCourse, now: u64) {
        if let Some(load) = external.load.as_mut().filter(|load| !load.empty) {
            if external.stop_ns.is_some_and(|since| seconds(since, now) > LOAD_GRACE_S) {
                load.kill();
            }
            return;
        }
        match external.asked_ns {
            None => {
                external.asked_ns = Some(now);
                self.launched.tell(STOP);
            }
            Some(since) if seconds(since, now) > GRACE_S => self.end_run(EndedBy::Stopped),
            Some(_) => {}
        }
    }
}
