//! The client processes: one, or several if one may not open enough files.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use super::backlog::{Connections, Queue};
use super::chat::ChatProtocol;
use super::connect::{room_for, wait_for_accepts};
use super::control::{Begin, Connected, StageResult, print_alive};
use super::engine::{ACCEPT_TIMEOUT, Engine};
use super::error::LoadError;
use super::latency::Latencies;
use super::order::{Client, LoadOrder, PROGRAM};
use super::protocol::{EchoProtocol, Protocol, SilentProtocol};
use super::results::{ClosedLoad, OpenLoad};
use super::stages::{self, LoopResult};

/// The longest wait for events between phases.
const REST: Duration = Duration::from_millis(500);

/// All clients of a server.
pub struct ClientPool {
    order: LoadOrder,
    placement: Placement,
}

enum Placement {
    Local(Box<Engine>),
    Sharded(Vec<Shard>),
}

struct Shard {
    /// Its part of all connections.
    share: f64,
    child: Child,
    answers: BufReader<ChildStdout>,
}

impl ClientPool {
    pub fn new(order: &LoadOrder) -> Result<ClientPool, LoadError> {
        let most = room_for(order.connections);
        if order.connections <= most {
            return ClientPool::of_shard(order, 0);
        }
        // A room stays in one process, which sees when a message has reached all members.
        let room = if order.client == Some(Client::Chat) { order.room } else { 1 };
        if room > most {
            return Err(LoadError::Room { room, most });
        }
        let each = most / room * room;
        let firsts = (0..order.connections).step_by(each);
        let processes = firsts.map(|first| Shard::start(order, first, each.min(order.connections - first)));
        Ok(ClientPool {
            order: order.clone(),
            placement: Placement::Sharded(processes.collect::<Result<_, _>>()?),
        })
    }

    /// The clients of one process; `first` is the number of the first of them.
    pub fn of_shard(order: &LoadOrder, first: usize) -> Result<ClientPool, LoadError> {
        room_for(order.connections);
        let engine = Engine::new(protocol(order, first, order.connections), order.address, first)?;
        Ok(ClientPool { order: order.clone(), placement: Placement::Local(Box::new(engine)) })
    }

    /// Connects all clients, and waits until the server has accepted them, as long as it makes progress.
    pub fn connect(&mut self) -> Result<Connected, LoadError> {
        let (since, address) = (Instant::now(), self.order.address);
        let (ready, waiting) = match &mut self.placement {
            Placement::Local(engine) => {
                engine.connect(self.order.connections)?;
                let waiting = engine.wait_for_accepts()?;
                (engine.ready as u64, waiting)
            }
            Placement::Sharded(processes) => {
                let mut all = 0;
                for process in processes {
                    let line = process.answer()?;
                    let Some(Ok(StageResult::Connected(share))) =
                        line.strip_prefix("phase ").map(serde_json::from_str)
                    else {
                        return Err(LoadError::Share(line));
                    };
                    all += share.connected;
                }
                // Each shard would count the waiting connections of the others as its own.
                let pause = || -> Result<(), LoadError> {
                    std::thread::sleep(Duration::from_millis(5));
                    Ok(())
                };
                (all, wait_for_accepts(&Queue::of(address), ACCEPT_TIMEOUT, pause)?)
            }
        };
        let connect_s = since.elapsed().as_secs_f64();
        let unready = if protocol(&self.order, 0, 0).greeting().is_none() { waiting } else { 0 };
        let connected = ready.saturating_sub(unready);
        // A client is connected before its server accepts it, and with TCP_DEFER_ACCEPT even before the
        // server's kernel counts the connection. If no connection is seen, addresses are translated in between.
        let seen = Queue::of(address).connections().filter(|seen| *seen != Connections::default());
        Ok(Connected {
            connected: seen.map_or(connected, |seen| connected.min(seen.accepted)),
            connect_s,
            server: seen.map(|_| address),
        })
    }

    /// The view of one process of several: it includes connections that the server has not accepted yet.
    pub(super) fn connect_shard(&mut self) -> Result<Connected, LoadError> {
        let Placement::Local(engine) = &mut self.placement else { return self.connect() };
        let since = Instant::now();
        engine.connect(self.order.connections)?;
        engine.settle()?;
        let connect_s = since.elapsed().as_secs_f64();
        Ok(Connected { connected: engine.ready as u64, connect_s, server: None })
    }

    /// Sends the first message of every client. Returns the number of messages.
    pub fn first_messages(&mut self) -> Result<u64, LoadError> {
        Ok(self.run_loop(Begin::First)?.messages)
    }

    /// Runs an open loop.
    pub fn open(&mut self, per_s: f64) -> Result<OpenLoad, LoadError> {
        let seen = self.run_loop(Begin::Open(per_s))?;
        let scheduled = quantiles(&seen.late_ns);
        let from_send = quantiles(&seen.late_from_send_ns);
        let mut open = OpenLoad {
            share: None,
            offered_per_s: per_s,
            // The span begins with the first arrival, so that a constant delay does not lower the rate.
            achieved_per_s: seen.messages as f64
                / self.order.open_s.max(seen.span_ns as f64 / 1e9 / stages::MOST),
            messages: seen.messages,
            deliveries: seen.deliveries,
            server_cpu_s: None,
            latency_us: scheduled,
            latency_from_send_us: from_send,
            client_cpu_share: Some(seen.cpu_share),
            client_late_us: scheduled
                .zip(from_send)
                .map(|(from_due, from_send)| from_due.p99 - from_send.p99),
        };
        open.latency_us = open.latency().copied();
        Ok(open)
    }

    /// Runs the closed loop.
    pub fn closed(&mut self) -> Result<ClosedLoad, LoadError> {
        let active = self.order.active.min(self.order.connections);
        let seen = self.run_loop(Begin::Closed)?;
        Ok(ClosedLoad {
            active: active as u64,
            messages: seen.messages,
            deliveries: seen.deliveries,
            per_s: seen.in_time as f64 / self.order.closed_s,
            server_cpu_s: None,
            client_cpu_share: Some(seen.cpu_share),
        })
    }

    /// Runs a phase on all clients.
    pub(super) fn run_loop(&mut self, begin: Begin) -> Result<LoopResult, LoadError> {
        let LoadOrder { active, connections, open_s, closed_s, .. } = self.order;
        match &mut self.placement {
            Placement::Local(engine) => {
                engine.check_open()?;
                match begin {
                    Begin::First => stages::first_messages(engine),
                    Begin::Open(per_s) => stages::open(engine, per_s, open_s),
                    Begin::Closed => stages::closed(engine, active.min(connections), closed_s),
                }
            }
            Placement::Sharded(processes) => {
                for process in processes.iter_mut() {
                    process.send(match begin {
                        Begin::Open(per_s) => Begin::Open(per_s * process.share),
                        same => same,
                    })?;
                }
                processes.iter_mut().try_fold(LoopResult::default(), |sum, process| {
                    let line = process.answer()?;
                    let seen = serde_json::from_str(&line).map_err(|_| LoadError::Share(line))?;
                    Ok(sum.and(seen))
                })
            }
        }
    }

    /// Serves the connections until standard input is readable.
    pub(super) fn serve_until_input(&mut self) -> Result<(), LoadError> {
        match &mut self.placement {
            Placement::Local(engine) => engine.serve_until_input(REST),
            Placement::Sharded(_) => Ok(()),
        }
    }

    /// Keeps the connections until a signal ends the process. With one process, prints their number whenever it falls.
    pub(super) fn hold(&mut self, mut connected: u64) -> Result<(), LoadError> {
        loop {
            let Placement::Local(engine) = &mut self.placement else {
                std::thread::sleep(REST);
                continue;
            };
            engine.turn(REST)?;
            if (engine.ready as u64) < connected {
                connected = engine.ready as u64;
                print_alive(connected)?;
            }
        }
    }
}

fn protocol(order: &LoadOrder, first: usize, clients: usize) -> Box<dyn Protocol> {
    match order.client {
        Some(Client::Echo) => Box::new(EchoProtocol::new(order.size, first, clients)),
        Some(Client::Chat) => Box::new(ChatProtocol::new(order.size, order.room, first, clients)),
        None => Box::new(SilentProtocol),
    }
}

impl Shard {
    fn start(order: &LoadOrder, first: usize, count: usize) -> Result<Shard, LoadError> {
        let share = count as f64 / order.connections as f64;
        // Rounded so that the shares of all add up.
        let active = |upto: usize| order.active.min(order.connections) * upto / order.connections;
        let order =
            LoadOrder { connections: count, active: active(first + count) - active(first), ..order.clone() };
        let io = |error| LoadError::Io("start clients of", error);
        let mut child = Command::new(PROGRAM)
            .arg("load")
            .args(order.words())
            .args(["--share", &first.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(io)?;
        let answers = child.stdout.take().ok_or_else(|| io(std::io::ErrorKind::BrokenPipe.into()))?;
        Ok(Shard { share, child, answers: BufReader::new(answers) })
    }

    fn send(&mut self, begin: Begin) -> Result<(), LoadError> {
        let Some(stdin) = &mut self.child.stdin else { return Ok(()) };
        writeln!(stdin, "{}", serde_json::json!(begin))
            .map_err(|error| LoadError::Io("control clients of", error))
    }

    /// Its next line. If it has exited, its error is on standard error, which it shares with this process.
    fn answer(&mut self) -> Result<String, LoadError> {
        let mut line = String::new();
        match self.answers.read_line(&mut line) {
            Ok(length) if length > 0 => Ok(line.trim().to_owned()),
            Ok(_) => Err(LoadError::Share("its error is above".into())),
            Err(error) => Err(LoadError::Io("read from clients of", error)),
        }
    }
}

impl Drop for Shard {
    fn drop(&mut self) {
        // Without standard input it ends, but only between phases.
        self.child.stdin = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// `None` if there were no messages.
fn quantiles(counts: &[(u64, u64)]) -> Option<super::Latency> {
    let mut all = Latencies::new();
    counts.iter().for_each(|(ns, times)| all.add(*ns, *times));
    (!counts.is_empty()).then(|| all.quantiles())
}
