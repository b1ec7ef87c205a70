//! The command line: flags and positionals in any order. README.md explains each flag, which a test compares with what is
//! parsed here.
//!
//! Knows nothing of how an option is carried out.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, ValueEnum, value_parser};

use crate::faults::{Fault, FaultArg};

/// The longest wait, so that nothing is left behind a broken test for long.
pub const LONGEST: Duration = Duration::from_secs(300);

#[derive(Debug, Clone, PartialEq, Parser)]
#[command(version, args_override_self = true, override_help = include_str!("../README.md"))]
pub struct Options {
    #[arg(value_parser = value_parser!(u64).range(1..))]
    pub tasks: u64,
    /// Seconds, or operations with `--work`.
    #[arg(required_unless_present = "serve", conflicts_with = "serve")]
    amount: Option<u64>,
    #[arg(long = "launch-ms", value_parser = ms, default_value = "0")]
    pub launch: Duration,
    #[arg(long = "drain-ms", value_parser = ms, default_value = "0")]
    pub drain: Duration,
    #[arg(long, value_parser = size, default_value = "0")]
    anon_bytes: u64,
    #[arg(long, value_parser = size, default_value = "0")]
    anon_bytes_per_task: u64,
    #[arg(long, value_parser = size, default_value = "0")]
    pub shmem_bytes: u64,
    #[arg(long, value_parser = size, default_value = "0")]
    pub memfd_bytes: u64,
    #[arg(long, value_parser = size, requires = "file")]
    pub file_bytes: Option<u64>,
    #[arg(long, requires = "file_bytes")]
    pub file: Option<PathBuf>,
    #[arg(long, default_value_t)]
    threads: u64,
    #[arg(long, default_value_t)]
    threads_per_task: u64,
    #[arg(long, default_value_t)]
    pub processes: u64,
    #[arg(long, default_value_t)]
    pub grandchildren: u64,
    #[arg(long, value_parser = size, default_value = "0")]
    pub anon_bytes_per_process: u64,
    #[arg(long, default_value_t)]
    pub sockets: u64,
    #[arg(long, default_value_t)]
    pub unix_sockets: u64,
    #[arg(long, value_parser = address)]
    pub listen: Option<SocketAddr>,
    #[arg(long, default_value_t = usize::MAX)]
    pub accept_most: usize,
    #[arg(long, requires = "listen", conflicts_with = "work")]
    pub serve: Option<Service>,
    #[arg(long, value_parser = size, default_value = "0")]
    pub bytes_per_connection: u64,
    #[arg(long, value_parser = size, default_value = "0")]
    pub peak_launch_bytes: u64,
    #[arg(long, value_parser = size, default_value = "0")]
    pub peak_drain_bytes: u64,
    #[arg(long, value_parser = size, default_value = "0")]
    pub give_back_bytes: u64,
    #[arg(long, value_parser = value_parser!(u64).range(..=100), default_value_t)]
    pub burn_percent: u64,
    #[arg(long = "burn-ms", value_parser = ms, default_value = "0")]
    pub burn: Duration,
    #[arg(long)]
    pub work: bool,
    #[arg(long, default_value_t)]
    op_cpu_us: u64,
    #[arg(long, default_value_t)]
    op_sleep_us: u64,
    #[arg(long)]
    pub op_threads: bool,
    #[arg(long = "work-cpu-ms", value_parser = ms, default_value = "0")]
    work_cpu: Duration,
    #[arg(long = "fault")]
    pub faults: Vec<FaultArg>,
    #[arg(long, default_value_t)]
    faults_from: u64,
    #[arg(long, value_parser = size, default_value = "8GiB")]
    pub oom_max: u64,
    /// Lines before `done`: a test may want a broken one.
    #[arg(long = "metric", value_parser = metric)]
    pub metrics: Vec<String>,
    #[arg(long = "say", value_parser = said)]
    pub lines: Vec<String>,
    /// How often each task pretends to wake.
    #[arg(long = "tick-ms", value_parser = ms, default_value = "0")]
    pub tick: Duration,
    #[arg(long)]
    period_ms: Option<u64>,
    #[arg(long)]
    pub no_protocol: bool,
    #[arg(long)]
    pub pidfile: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub enum Service {
    Echo,
    Chat,
}

impl Options {
    /// Ends the program where it is used wrongly, or where only the version or help is wanted.
    pub fn of_command_line() -> Options {
        let args = std::env::args_os().map(|arg| arg.to_string_lossy().into_owned());
        Options::parsed(args).unwrap_or_else(|error| error.exit())
    }

    fn parsed(args: impl IntoIterator<Item = String>) -> Result<Options, clap::Error> {
        let mut options = Options::try_parse_from(args)?;
        let times = [options.wait(), options.start_cpu(), options.work_cpu(), options.work_sleep()];
        if times.iter().any(|time| *time > LONGEST) {
            let what = format!("all times must be at most {} s", LONGEST.as_secs());
            return Err(Options::command().error(ErrorKind::ValueValidation, what));
        }
        if options.tasks < options.faults_from {
            options.faults.clear();
        }
        Ok(options)
    }

    pub fn has(&self, fault: Fault) -> bool {
        self.number(fault).is_some()
    }

    /// The number that a fault was given.
    pub fn number(&self, fault: Fault) -> Option<u64> {
        self.faults.iter().find(|given| given.fault == fault).map(|given| given.number)
    }

    /// The wait of each task.
    pub fn wait(&self) -> Duration {
        Duration::from_secs(self.amount.filter(|_| !self.work).unwrap_or(0))
    }

    /// Operations in the place of a wait.
    pub fn operations(&self) -> u64 {
        self.amount.filter(|_| self.work).unwrap_or(0)
    }

    /// CPU time that all tasks take to start.
    pub fn start_cpu(&self) -> Duration {
        let starting = if self.work || self.serve.is_some() { 0 } else { self.tasks };
        Duration::from_micros(self.op_cpu_us.saturating_mul(starting))
    }

    /// CPU time of all operations.
    pub fn work_cpu(&self) -> Duration {
        self.work_cpu + Duration::from_micros(self.op_cpu_us.saturating_mul(self.operations()))
    }

    /// Time in which all operations wait.
    pub fn work_sleep(&self) -> Duration {
        Duration::from_micros(self.op_sleep_us.saturating_mul(self.operations()))
    }

    /// CPU time of a message to a server.
    pub fn message_cpu(&self) -> Duration {
        Duration::from_micros(self.op_cpu_us)
    }

    /// How much later than it could be an answer of a server is sent.
    pub fn message_delay(&self) -> Duration {
        Duration::from_micros(self.op_sleep_us)
    }

    /// Memory of the first process.
    pub fn anon_bytes(&self) -> u64 {
        self.anon_bytes_per_task.saturating_mul(self.tasks).saturating_add(self.anon_bytes)
    }

    pub fn threads(&self) -> u64 {
        self.threads_per_task.saturating_mul(self.tasks).saturating_add(self.threads)
    }
}

fn ms(text: &str) -> Result<Duration, String> {
    let ms = text.parse().map_err(|_| "not a whole number")?;
    Some(Duration::from_millis(ms)).filter(|time| *time <= LONGEST).ok_or("at most 300000 ms".to_owned())
}

/// `4096`, `4KiB`, `4MiB`, `4GiB`.
pub fn size(text: &str) -> Result<u64, String> {
    let units = [("KiB", 10), ("MiB", 20), ("GiB", 30), ("", 0)];
    let split = units.iter().find_map(|(unit, shift)| Some((text.strip_suffix(unit)?, shift)));
    let (digits, shift) = split.unwrap_or((text, &0));
    let count: u64 = digits.parse().map_err(|_| "not a whole number (of bytes, KiB, MiB or GiB)")?;
    let bytes = count.checked_mul(1 << shift).filter(|bytes| *bytes <= i64::MAX as u64);
    bytes.ok_or_else(|| "too large a size".to_owned())
}

/// A port of 127.0.0.1, or an address with one.
fn address(text: &str) -> Result<SocketAddr, String> {
    match text.parse() {
        Ok(port) => Ok((Ipv4Addr::LOCALHOST, port).into()),
        Err(_) => text.parse().map_err(|_| "not a port, and not an address with a port".to_owned()),
    }
}

/// The line of `NAME=VALUE:UNIT`. The name may hold `:`, the value may not hold `=`, and the unit holds neither.
fn metric(text: &str) -> Result<String, String> {
    let parts = text.split_once('=').and_then(|(name, rest)| Some((name, rest.rsplit_once(':')?)));
    let (name, (value, unit)) = parts.ok_or("expected NAME=VALUE:UNIT")?;
    Ok(format!("metric {name} {value} {unit}\n"))
}

fn said(words: &str) -> Result<String, String> {
    Ok(format!("{}\n", words.replace(',', " ")))
}

#[cfg(test)]
#[path = "args_tests.rs"]
mod tests;
