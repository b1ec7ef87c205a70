//! The command line: flags and two positionals in any order, turned into plain `Options`.
//!
//! Knows nothing of how an option is carried out. The table of flags is in README.md, which a
//! test below holds to what is parsed here.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use crate::faults::Fault;
use crate::values::{MetricLine, metric, number, size};

/// No wait that is asked for may be longer, so that nothing is left behind a broken test for long.
pub const LONGEST_MS: u64 = 300_000;

#[derive(Debug, Default, PartialEq)]
pub struct Options {
    pub tasks: u64,
    pub seconds: u64,
    /// What is done instead of a wait.
    pub work: Option<WorkOptions>,
    /// What is served instead of a wait.
    pub serve: Option<ServeOptions>,
    pub launch: Duration,
    /// CPU time that all tasks take to start.
    pub start_cpu: Duration,
    pub drain: Duration,
    pub memory: MemoryOptions,
    pub threads: u64,
    pub processes: u64,
    pub grandchildren: u64,
    pub anon_bytes_per_process: u64,
    pub tcp_sockets: u64,
    pub unix_sockets: u64,
    pub listen: Option<SocketAddr>,
    pub accept_most: u64,
    pub burn_percent: u64,
    pub burn: Duration,
    pub faults: Vec<Fault>,
    pub oom_max: u64,
    pub metrics: Vec<MetricLine>,
    /// How often each task pretends to wake.
    pub tick: Duration,
    /// Lines of its own.
    pub lines: Vec<String>,
    pub no_protocol: bool,
    pub pidfile: Option<PathBuf>,
}

/// Memory of the first process, in bytes as asked for (rounded up to pages where it is mapped).
#[derive(Debug, Default, PartialEq)]
pub struct MemoryOptions {
    /// Both `--anon-bytes` and all tasks' shares.
    pub anon: u64,
    pub shmem: u64,
    pub memfd: u64,
    pub file: Option<(PathBuf, u64)>,
    pub peak_launch: u64,
    pub peak_drain: u64,
    pub give_back: u64,
}

/// Operations, and what they take.
#[derive(Debug, Default, PartialEq)]
pub struct WorkOptions {
    pub operations: u64,
    /// CPU time of all of them.
    pub cpu: Duration,
    /// Time in which all of them wait.
    pub sleep: Duration,
    /// Whether each makes a thread, and joins it.
    pub threads: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Service {
    Echo,
    Chat,
}

/// A server, and what it takes.
#[derive(Debug, PartialEq)]
pub struct ServeOptions {
    pub service: Service,
    pub address: SocketAddr,
    /// CPU time of a message.
    pub cpu: Duration,
    /// How much later than it could be an answer is sent.
    pub delay: Duration,
    /// Memory that is held for a connection as long as it lives.
    pub bytes_per_connection: u64,
}

#[derive(Debug, PartialEq)]
pub enum Invocation {
    Run(Box<Options>),
    Help,
    Version,
}

pub fn parse(args: impl IntoIterator<Item = String>) -> Result<Invocation, String> {
    let mut options = Options { oom_max: 8 << 30, accept_most: u64::MAX, ..Options::default() };
    let mut raw = Raw::default();
    let mut positionals = Vec::new();
    let mut args = args.into_iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--help" => return Ok(Invocation::Help),
            "--version" => return Ok(Invocation::Version),
            "--no-protocol" => options.no_protocol = true,
            "--work" => raw.work = true,
            "--op-threads" => raw.op_threads = true,
            flag if flag.starts_with('-') => {
                let (name, value) = match flag.split_once('=') {
                    Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
                    None => (arg, None),
                };
                // The name is checked before a value is asked for: the better message of the two.
                if !VALUED.contains(&name.as_str()) {
                    return Err(format!("unknown flag {name}"));
                }
                let value = value.or_else(|| args.next()).ok_or_else(|| format!("{name} needs a value"))?;
                set(&mut options, &mut raw, &name, &value).map_err(|why| format!("{name} {value}: {why}"))?;
            }
            _ => positionals.push(arg),
        }
    }
    if let Some(service) = raw.serve {
        let [tasks] = positionals.as_slice() else {
            return Err(format!("expected <tasks> alone, got {} positional arguments", positionals.len()));
        };
        options.tasks = at_least_one(tasks)?;
        options.serve = Some(raw.serve(service, options.listen.take())?);
        raw.scale(&mut options)?;
        return Ok(Invocation::Run(Box::new(options)));
    }
    let second = if raw.work { "operations" } else { "seconds" };
    let [tasks, many] = positionals.as_slice() else {
        return Err(format!("expected <tasks> <{second}>, got {} positional arguments", positionals.len()));
    };
    options.tasks = at_least_one(tasks)?;
    let many = number(many).map_err(|why| format!("{second} {many}: {why}"))?;
    if raw.work {
        options.work = Some(raw.work(many)?);
    } else {
        options.seconds = many;
    }
    raw.scale(&mut options)?;
    Ok(Invocation::Run(Box::new(options)))
}

fn at_least_one(tasks: &str) -> Result<u64, String> {
    match number(tasks) {
        Ok(0) => Err("tasks 0: at least one".to_owned()),
        Ok(tasks) => Ok(tasks),
        Err(why) => Err(format!("tasks {tasks}: {why}")),
    }
}

/// A port of 127.0.0.1, or an address with one.
fn address(text: &str) -> Result<SocketAddr, String> {
    if text.contains(':') {
        return text.parse().map_err(|_| "not an address with a port".to_owned());
    }
    let port = u16::try_from(number(text)?).map_err(|_| "a port is at most 65535")?;
    Ok((Ipv4Addr::LOCALHOST, port).into())
}

const VALUED: &[&str] = &[
    "--launch-ms",
    "--launch-ms-per-1k",
    "--drain-ms",
    "--anon-bytes",
    "--anon-bytes-per-task",
    "--shmem-bytes",
    "--memfd-bytes",
    "--file-bytes",
    "--file",
    "--threads",
    "--threads-per-task",
    "--processes",
    "--grandchildren",
    "--anon-bytes-per-process",
    "--sockets",
    "--unix-sockets",
    "--listen",
    "--accept-most",
    "--serve",
    "--bytes-per-connection",
    "--peak-launch-bytes",
    "--peak-drain-bytes",
    "--give-back-bytes",
    "--burn-percent",
    "--burn-ms",
    "--op-cpu-us",
    "--op-sleep-us",
    "--work-cpu-ms",
    "--fault",
    "--faults-from",
    "--oom-max",
    "--metric",
    "--say",
    "--tick-ms",
    "--period-ms",
    "--pidfile",
];

/// What has a meaning only together with another flag or with the number of tasks.
#[derive(Default)]
struct Raw {
    launch_ms: u64,
    launch_ms_per_1k: u64,
    anon_bytes: u64,
    anon_bytes_per_task: u64,
    file: Option<PathBuf>,
    file_bytes: u64,
    threads: u64,
    threads_per_task: u64,
    work: bool,
    serve: Option<Service>,
    bytes_per_connection: u64,
    op_threads: bool,
    op_cpu_us: u64,
    op_sleep_us: u64,
    work_cpu_ms: u64,
    faults_from: u64,
}

fn set(options: &mut Options, raw: &mut Raw, name: &str, value: &str) -> Result<(), String> {
    let memory = &mut options.memory;
    match name {
        "--launch-ms" => raw.launch_ms = number(value)?,
        "--launch-ms-per-1k" => raw.launch_ms_per_1k = number(value)?,
        "--drain-ms" => options.drain = wait(number(value)?)?,
        "--anon-bytes" => raw.anon_bytes = size(value)?,
        "--anon-bytes-per-task" => raw.anon_bytes_per_task = size(value)?,
        "--shmem-bytes" => memory.shmem = size(value)?,
        "--memfd-bytes" => memory.memfd = size(value)?,
        "--file-bytes" => raw.file_bytes = size(value)?,
        "--file" => raw.file = Some(value.into()),
        "--threads" => raw.threads = number(value)?,
        "--threads-per-task" => raw.threads_per_task = number(value)?,
        "--processes" => options.processes = number(value)?,
        "--grandchildren" => options.grandchildren = number(value)?,
        "--anon-bytes-per-process" => options.anon_bytes_per_process = size(value)?,
        "--sockets" => options.tcp_sockets = number(value)?,
        "--unix-sockets" => options.unix_sockets = number(value)?,
        "--listen" => options.listen = Some(address(value)?),
        "--serve" => {
            raw.serve = Some(match value {
                "echo" => Service::Echo,
                "chat" => Service::Chat,
                _ => return Err("echo or chat".to_owned()),
            });
        }
        "--bytes-per-connection" => raw.bytes_per_connection = size(value)?,
        "--accept-most" => options.accept_most = number(value)?,
        "--peak-launch-bytes" => memory.peak_launch = size(value)?,
        "--peak-drain-bytes" => memory.peak_drain = size(value)?,
        "--give-back-bytes" => memory.give_back = size(value)?,
        "--burn-percent" => {
            options.burn_percent =
                Some(number(value)?).filter(|percent| *percent <= 100).ok_or("at most 100")?;
        }
        "--burn-ms" => options.burn = wait(number(value)?)?,
        "--op-cpu-us" => raw.op_cpu_us = number(value)?,
        "--op-sleep-us" => raw.op_sleep_us = number(value)?,
        "--work-cpu-ms" => raw.work_cpu_ms = number(value)?,
        "--fault" => options.faults.push(value.parse()?),
        "--faults-from" => raw.faults_from = number(value)?,
        "--oom-max" => options.oom_max = size(value)?,
        "--metric" => options.metrics.push(metric(value)?),
        "--tick-ms" => options.tick = wait(number(value)?)?,
        // What the workload `tick` tells its programs: it is up to the script what comes of it.
        "--period-ms" => drop(number(value)?),
        "--say" => options.lines.push(value.replace(',', " ")),
        "--pidfile" => options.pidfile = Some(value.into()),
        _ => return Err("unknown flag".to_owned()),
    }
    Ok(())
}

impl Raw {
    fn work(&self, operations: u64) -> Result<WorkOptions, String> {
        if operations == 0 {
            return Err("operations 0: at least one".to_owned());
        }
        let of_all = |each_us: u64, fixed_ms: u64| {
            let us = each_us.saturating_mul(operations).saturating_add(fixed_ms.saturating_mul(1000));
            wait(us.div_ceil(1000)).map_err(|why| format!("work: {why}"))?;
            Ok::<_, String>(Duration::from_micros(us))
        };
        Ok(WorkOptions {
            operations,
            cpu: of_all(self.op_cpu_us, self.work_cpu_ms)?,
            sleep: of_all(self.op_sleep_us, 0)?,
            threads: self.op_threads,
        })
    }

    fn serve(&self, service: Service, address: Option<SocketAddr>) -> Result<ServeOptions, String> {
        if self.work {
            return Err("--serve and --work exclude each other".to_owned());
        }
        let each = |us: u64| {
            wait(us.div_ceil(1000))?;
            Ok::<_, String>(Duration::from_micros(us))
        };
        Ok(ServeOptions {
            service,
            address: address.ok_or("--serve needs --listen")?,
            cpu: each(self.op_cpu_us)?,
            delay: each(self.op_sleep_us)?,
            bytes_per_connection: self.bytes_per_connection,
        })
    }

    fn scale(self, options: &mut Options) -> Result<(), String> {
        let tasks = options.tasks;
        let too_many = || "too large a number".to_owned();
        let per_tasks = |each: u64, fixed: u64| {
            let all = each.checked_mul(tasks)?;
            all.checked_add(fixed)
        };
        // Milliseconds per 1,000 tasks are microseconds per task.
        let launch_us =
            per_tasks(self.launch_ms_per_1k, self.launch_ms.checked_mul(1000).ok_or_else(too_many)?);
        let launch_us = launch_us.ok_or_else(too_many)?;
        wait(launch_us / 1000).map_err(|why| format!("launch: {why}"))?;
        wait(options.seconds.saturating_mul(1000)).map_err(|why| format!("seconds: {why}"))?;
        options.launch = Duration::from_micros(launch_us);
        if options.work.is_none() && options.serve.is_none() {
            let us = per_tasks(self.op_cpu_us, 0).ok_or_else(too_many)?;
            wait(us / 1000).map_err(|why| format!("CPU of all tasks: {why}"))?;
            options.start_cpu = Duration::from_micros(us);
        }
        options.memory.anon = per_tasks(self.anon_bytes_per_task, self.anon_bytes).ok_or_else(too_many)?;
        options.threads = per_tasks(self.threads_per_task, self.threads).ok_or_else(too_many)?;
        options.memory.file = match (self.file, self.file_bytes) {
            (None, 0) => None,
            (Some(_), 0) => return Err("--file needs --file-bytes".to_owned()),
            (None, _) => return Err("--file-bytes needs --file".to_owned()),
            (Some(path), bytes) => Some((path, bytes)),
        };
        if tasks < self.faults_from {
            options.faults.clear();
        }
        Ok(())
    }
}

fn wait(ms: u64) -> Result<Duration, String> {
    if ms > LONGEST_MS {
        return Err(format!("at most {LONGEST_MS} ms"));
    }
    Ok(Duration::from_millis(ms))
}

#[cfg(test)]
#[path = "args_tests.rs"]
mod tests;
