//! The open and the closed loop of the clients.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::engine::{Engine, TIMEOUT};
use super::error::LoadError;
use super::latency::Latencies;

/// The rate is measured until this share of the messages has arrived.
pub(super) const MOST: f64 = 0.99;
/// Messages due at the same time are sent in batches of this size, and answers are read in between.
const BATCH: u64 = 64;
/// Messages due within this time are sent together, and answers that arrive within it are read together: a
/// thread that wakes for each uses a whole CPU at 70,000 messages per second. A sleep is no more precise.
const TOGETHER_NS: u64 = 20_000;

/// The results of a loop in one process; those of several add up.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct LoopResult {
    pub messages: u64,
    pub deliveries: u64,
    /// Messages that reached all receivers before the time was over.
    pub in_time: u64,
    /// From when the first message reached all receivers until 99% had. The last 1% may be late for other
    /// reasons.
    pub span_ns: u64,
    /// Histograms of latency in nanoseconds, from the scheduled and from the actual send time.
    pub late_ns: Vec<(u64, u64)>,
    pub late_from_send_ns: Vec<(u64, u64)>,
    /// CPU time ÷ duration, of the busiest process.
    pub cpu_share: f64,
}

impl LoopResult {
    pub fn and(mut self, other: LoopResult) -> LoopResult {
        self.cpu_share = self.cpu_share.max(other.cpu_share);
        self.messages += other.messages;
        self.deliveries += other.deliveries;
        self.in_time += other.in_time;
        self.span_ns = self.span_ns.max(other.span_ns);
        self.late_ns.extend(other.late_ns);
        self.late_from_send_ns.extend(other.late_from_send_ns);
        self
    }
}

/// Visits all clients in turn, successive ones far from each other.
struct ClientRotation {
    clients: usize,
    stride: usize,
    at: usize,
}

impl ClientRotation {
    fn new(clients: usize) -> ClientRotation {
        let golden = (clients as f64 * 0.618) as usize;
        let stride = (golden.max(1)..).find(|stride| gcd(*stride, clients) == 1).unwrap_or(1);
        ClientRotation { clients, stride, at: 0 }
    }

    fn next(&mut self) -> usize {
        let now = self.at;
        self.at = (self.at + self.stride) % self.clients;
        now
    }
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// A loop in progress.
struct LoopRun {
    start_ns: u64,
    end_ns: u64,
    deliveries: u64,
    seen: LoopResult,
    late: Latencies,
    late_from_send: Latencies,
    on_their_way: u64,
    /// When the first message had reached all receivers.
    first_ns: Option<u64>,
    /// Scheduled messages, `u64::MAX` without a schedule.
    all: u64,
    progress_ns: u64,
    cpu_s: f64,
}

impl LoopRun {
    fn begin(engine: &Engine, seconds: f64) -> LoopRun {
        let start_ns = engine.now_ns();
        LoopRun {
            start_ns,
            end_ns: start_ns + (seconds * 1e9) as u64,
            deliveries: engine.deliveries,
            seen: LoopResult::default(),
            late: Latencies::new(),
            late_from_send: Latencies::new(),
            on_their_way: 0,
            first_ns: None,
            all: u64::MAX,
            progress_ns: start_ns,
            cpu_s: own_cpu_s(),
        }
    }

    fn send(&mut self, engine: &mut Engine, client: usize, due_ns: u64) -> Result<(), LoadError> {
        if self.on_their_way == 0 {
            self.progress_ns = engine.now_ns();
        }
        self.on_their_way += 1;
        self.seen.messages += 1;
        engine.send_message(client, due_ns)
    }

    /// Processes input. `senders`: clients whose messages have now reached all receivers.
    fn take(&mut self, engine: &mut Engine, senders: &mut Vec<usize>) -> Result<(), LoadError> {
        senders.clear();
        let heard = engine.deliveries - self.deliveries - self.seen.deliveries;
        self.seen.deliveries += heard;
        if heard > 0 {
            self.progress_ns = engine.now_ns();
        }
        for (sender, when, at_ns) in engine.complete.drain(..) {
            self.on_their_way -= 1;
            self.seen.in_time += u64::from(at_ns <= self.end_ns);
            let first_ns = *self.first_ns.get_or_insert(at_ns);
            let came = self.seen.messages - self.on_their_way;
            if came as f64 <= (self.all as f64 * MOST).ceil() {
                self.seen.span_ns = at_ns - first_ns;
            }
            self.late.add(at_ns - when.due_ns, 1);
            self.late_from_send.add(at_ns - when.sent_ns, 1);
            senders.push(sender);
        }
        if engine.lost > 0 {
            engine.check_open()?;
        }
        let silent = Duration::from_nanos(engine.now_ns().saturating_sub(self.progress_ns));
        if self.on_their_way > 0 && silent > TIMEOUT {
            return Err(LoadError::Lost { messages: self.on_their_way, seconds: TIMEOUT.as_secs() });
        }
        Ok(())
    }

    fn end(mut self, engine: &Engine) -> LoopResult {
        let elapsed_s = engine.now_ns().saturating_sub(self.start_ns).max(1) as f64 / 1e9;
        self.seen.cpu_share = (own_cpu_s() - self.cpu_s) / elapsed_s;
        self.seen.late_ns = self.late.counts();
        self.seen.late_from_send_ns = self.late_from_send.counts();
        self.seen
    }
}

/// CPU time of this process so far, in seconds.
fn own_cpu_s() -> f64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}

/// Sends the first message of each client, a few at a time. After it a connection has allocated its buffers.
pub(super) fn first_messages(engine: &mut Engine) -> Result<LoopResult, LoadError> {
    let mut run = LoopRun::begin(engine, 0.0);
    let mut senders = Vec::new();
    let mut next = 0;
    while next < engine.len() || run.on_their_way > 0 {
        while next < engine.len() && run.on_their_way < BATCH {
            let now_ns = engine.now_ns();
            run.send(engine, next, now_ns)?;
            next += 1;
        }
        engine.turn(Duration::from_millis(100))?;
        run.take(engine, &mut senders)?;
    }
    Ok(run.end(engine))
}

/// Sends messages at a rate, each at its scheduled send time, whether or not earlier ones were answered.
pub(super) fn open(engine: &mut Engine, per_s: f64, seconds: f64) -> Result<LoopResult, LoadError> {
    set_realtime(true);
    let seen = open_loop(engine, per_s, seconds);
    set_realtime(false);
    seen
}

/// Turns real-time priority on or off, where permitted (root or CAP_SYS_NICE). Without it, a server that uses
/// all CPUs delays its own clients, and their lateness counts as the server's. The clients of an open loop use
/// little CPU, as they set the rate.
fn set_realtime(on: bool) {
    let (policy, sched_priority) = if on { (libc::SCHED_FIFO, 1) } else { (libc::SCHED_OTHER, 0) };
    let param = libc::sched_param { sched_priority };
    // SAFETY: a plain system call with a valid structure.
    if unsafe { libc::sched_setscheduler(0, policy, &raw const param) } != 0 {
        log::debug!("no real-time priority: {}", std::io::Error::last_os_error());
    }
}

fn open_loop(engine: &mut Engine, per_s: f64, seconds: f64) -> Result<LoopResult, LoadError> {
    let mut run = LoopRun::begin(engine, seconds);
    let all = (per_s * seconds).round() as u64;
    run.all = all;
    let start_ns = run.start_ns;
    // Scheduled send time of a message.
    let due_ns = |nth: u64| start_ns + (nth as f64 / per_s * 1e9) as u64;
    let mut rotation = ClientRotation::new(engine.len());
    let mut senders = Vec::new();
    let mut nth = 0;
    while nth < all || run.on_their_way > 0 {
        let mut now_ns = engine.now_ns();
        let batch = nth + BATCH;
        while nth < all.min(batch) && due_ns(nth) <= now_ns {
            run.send(engine, rotation.next(), due_ns(nth))?;
            nth += 1;
            now_ns = engine.now_ns();
        }
        let wait_ns = if nth < all { due_ns(nth).saturating_sub(now_ns) } else { 100_000_000 };
        if wait_ns < TOGETHER_NS {
            std::thread::sleep(Duration::from_nanos(TOGETHER_NS));
            engine.turn(Duration::ZERO)?;
        } else {
            engine.turn(Duration::from_nanos(wait_ns.min(100_000_000)))?;
        }
        run.take(engine, &mut senders)?;
    }
    Ok(run.end(engine))
}

/// One message in flight on each of this many connections: once it has reached all receivers, its sender sends the
/// next.
pub(super) fn closed(engine: &mut Engine, active: usize, seconds: f64) -> Result<LoopResult, LoadError> {
    let mut run = LoopRun::begin(engine, seconds);
    let mut rotation = ClientRotation::new(engine.len());
    for _ in 0..active {
        let now_ns = engine.now_ns();
        run.send(engine, rotation.next(), now_ns)?;
    }
    let mut senders = Vec::new();
    while run.on_their_way > 0 {
        engine.turn(Duration::from_millis(100))?;
        run.take(engine, &mut senders)?;
        for &sender in &senders {
            let now_ns = engine.now_ns();
            if now_ns < run.end_ns {
                run.send(engine, sender, now_ns)?;
            }
        }
    }
    Ok(run.end(engine))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rotation_visits_each_client_once_per_round() {
        for clients in [1, 2, 3, 10, 64, 1_000, 12_345] {
            let mut rotation = ClientRotation::new(clients);
            let mut seen: Vec<usize> = (0..clients).map(|_| rotation.next()).collect();
            seen.sort_unstable();
            assert!(seen.into_iter().eq(0..clients), "{clients}");
        }
    }
}
