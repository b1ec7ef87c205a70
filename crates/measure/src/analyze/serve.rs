//! The results of a server's clients, with the server's CPU time in each phase.

use super::Analysis;
use crate::sampler::seconds;
use crate::{Plateau, Warning};
use taskscale_load::{Begin, ClosedLoad, IdleLoad, Load, OpenLoad, StageResult, usual};

/// Connections with less kernel memory than this, in bytes, were not charged: each takes at least 3.7 kB.
const MIN_BYTES: u64 = 3_000;
const MANY: u64 = 100;

impl Analysis<'_> {
    /// The clients' results, for the phases that ended.
    pub(super) fn load(&self) -> Option<Load> {
        let state = self.state;
        self.spec.scenario.serve().filter(|_| state.load_started_ns.is_some())?;
        // Before clients have connected, there is nothing to report.
        let connected = state.load.connected().filter(|connected| connected.connect_s > 0.0)?;
        let (client_bytes, client_kernel_bytes) = state.load_memory;
        let beside = self.spec.scenario.elsewhere().is_none();
        let mut load = Load {
            connected: connected.connected,
            connect_s: connected.connect_s,
            client_cpu_s: state.account.load_cpu.filter(|_| beside).map(|cpu| cpu.total_s),
            client_bytes,
            client_kernel_bytes,
            first_message: state.load.stages.iter().any(|stage| matches!(stage, StageResult::First(1..))),
            idle: self.idle(),
            ..Load::default()
        };
        self.add_loops(&mut load);
        if state.stages_over.is_some() {
            load.open = usual(&load.curve).cloned();
        }
        Some(load)
    }

    fn idle(&self) -> Option<IdleLoad> {
        let (plateau, (end_ns, cpu)) = self.state.plateau.zip(self.state.plateau_end)?;
        // A server that was stopped before its clients had been idle has no idle phase.
        (self.state.stop_ns != Some(end_ns)).then_some(())?;
        let cpu_s = (cpu?.total_s - plateau.cpu?.total_s).max(0.0);
        Some(IdleLoad { cpu_s, seconds: seconds(plateau.since_ns, end_ns) })
    }

    /// Adds each loop that has ended, with the server's CPU time from its start to the start of the next.
    fn add_loops(&self, load: &mut Load) {
        let state = self.state;
        let loops = state.begun.iter().filter(|(begin, _)| *begin != Begin::First).map(|(_, cpu)| *cpu);
        let cpus: Vec<_> = loops.chain(state.stages_over.iter().map(|(cpu, _)| *cpu)).collect();
        // The last loop is left out if the run ended before its CPU time was read.
        for (stage, ends) in state.load.loops().zip(cpus.windows(2)) {
            let server_cpu_s = ends[0].zip(ends[1]).map(|(a, b)| (b.total_s - a.total_s).max(0.0));
            match stage {
                StageResult::Closed(closed) => {
                    load.closed = Some(ClosedLoad { server_cpu_s, ..closed.clone() });
                }
                StageResult::Open(open) => {
                    let capacity = load.closed.as_ref().map(|closed| closed.per_s);
                    let share = capacity.filter(|per_s| *per_s > 0.0).map(|per_s| open.offered_per_s / per_s);
                    load.curve.push(OpenLoad { share, server_cpu_s, ..open.clone() });
                }
                StageResult::Connected(_) | StageResult::First(_) => {}
            }
        }
    }

    pub(super) fn load_warnings(&self, load: &Load) -> impl Iterator<Item = Warning> {
        let open = load.open.as_ref();
        let reading = self.reading().filter(|_| self.timeline.host.has_group());
        Warning::applying([
            (open.is_some_and(|open| !open.is_reached()), Warning::RateNotReached),
            (open.is_some_and(OpenLoad::is_client_limited), Warning::ClientLimited),
            (
                reading.is_some_and(|reading| is_uncharged(&reading.memory, load.connected)),
                Warning::SocketsUncharged,
            ),
        ])
    }
}

/// Whether the kernel charged less than the connections need. With few, other kernel memory hides the
/// difference.
fn is_uncharged(memory: &Plateau, connected: u64) -> bool {
    let others = memory.kernel_stack_bytes.unwrap_or(0).saturating_add(memory.page_tables_bytes.unwrap_or(0));
    connected >= MANY && memory.kernel_bytes.saturating_sub(others) < MIN_BYTES.saturating_mul(connected)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Per connection, 3,926 bytes on Linux 6.12 and 1,545 on 6.1, partly for epoll and open files.
    #[test]
    fn uncharged_kernel_memory_is_detected() {
        let memory =
            |kernel_bytes| Plateau { kernel_bytes, kernel_stack_bytes: Some(100_000), ..Plateau::default() };
        assert!(is_uncharged(&memory(100_000 + 1_545 * 20_000), 20_000));
        assert!(!is_uncharged(&memory(100_000 + 3_926 * 20_000), 20_000));
        assert!(!is_uncharged(&memory(0), 1));
    }
}
