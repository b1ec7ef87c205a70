//! The command line: flags and positionals in any order. README.md explains each flag, which a test compares with what is
//! parsed here.
//!
//! Knows nothing of how an option is carried out. Not by clap: 0.4 MiB of its heap and 1.3 MiB of its text would be in the
//! memory that tests compare.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use strum::EnumString;

use crate::faults::{Fault, FaultArg};
use crate::sizes::{number, size};

/// The longest wait, so that nothing is left behind a broken test for long.
pub const LONGEST: Duration = Duration::from_secs(300);

#[derive(Debug, Default, Clone, PartialEq)]
pub struct Options {
    pub tasks: u64,
    /// Seconds, or operations with `--work`.
    amount: u64,
    pub launch: Duration,
    pub drain: Duration,
    /// With those of all tasks.
    pub anon_bytes: u64,
    anon_bytes_per_task: u64,
    pub shmem_bytes: u64,
    pub memfd_bytes: u64,
    pub file_bytes: u64,
    pub file: Option<PathBuf>,
    /// With those of all tasks.
    pub threads: u64,
    threads_per_task: u64,
    pub processes: u64,
    pub grandchildren: u64,
    pub anon_bytes_per_process: u64,
    pub sockets: u64,
    pub unix_sockets: u64,
    pub listen: Option<SocketAddr>,
    pub accept_most: Option<u64>,
    pub serve: Option<Service>,
    pub bytes_per_connection: u64,
    pub peak_launch_bytes: u64,
    pub peak_drain_bytes: u64,
    pub give_back_bytes: u64,
    pub burn_percent: u64,
    pub work: bool,
    /// CPU time of an operation.
    pub op_cpu: Duration,
    /// Wait of an operation.
    pub op_sleep: Duration,
    pub op_threads: bool,
    work_cpu: Duration,
    pub faults: Vec<FaultArg>,
    faults_from: u64,
    pub oom_max: Option<u64>,
    /// Before `done`.
    pub lines: String,
    pub no_protocol: bool,
    /// Without the number of tasks, which is added to the name.
    pub pidfile: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, EnumString)]
#[strum(serialize_all = "kebab-case")]
pub enum Service {
    Echo,
    Chat,
}

impl Options {
    pub fn parse(args: impl IntoIterator<Item = String>) -> Result<Options, String> {
        let mut options = Options::default();
        let mut positionals = Vec::new();
        let mut args = args.into_iter();
        while let Some(arg) = args.next() {
            let Some(flag) = arg.strip_prefix("--") else {
                positionals.push(number(&arg).map_err(|why| format!("{arg}: {why}"))?);
                continue;
            };
            let (name, mut value) =
                flag.split_once('=').map_or((flag, None), |(name, value)| (name, Some(value.into())));
            let value = || value.take().or_else(|| args.next()).ok_or("needs a value".to_owned());
            options.set(name, value).map_err(|why| format!("--{name}: {why}"))?;
        }
        (options.tasks, options.amount) = match (options.serve, &positionals[..]) {
            (Some(_), [tasks]) => (*tasks, 0),
            (None, [tasks, amount]) => (*tasks, *amount),
            _ => return Err(format!("expected <tasks> <seconds>, got {} numbers", positionals.len())),
        };
        options.check()?;
        Ok(options)
    }

    fn check(&mut self) -> Result<(), String> {
        let times = [self.wait(), self.work_sleep(), self.start_cpu(), self.work_cpu()];
        for (wrong, what) in [
            (self.tasks == 0, "tasks: at least one"),
            (times.iter().any(|time| *time > LONGEST), "all times must be at most 300 s"),
            (self.burn_percent > 100, "--burn-percent: at most 100"),
            (self.file.is_some() != (self.file_bytes > 0), "--file and --file-bytes need each other"),
            (self.serve.is_some() && self.listen.is_none(), "--serve needs --listen"),
            (self.serve.is_some() && self.work, "--serve and --work exclude each other"),
        ] {
            if wrong {
                return Err(what.to_owned());
            }
        }
        let add = |sum: &mut u64, each: u64| *sum = each.saturating_mul(self.tasks).saturating_add(*sum);
        add(&mut self.anon_bytes, self.anon_bytes_per_task);
        add(&mut self.threads, self.threads_per_task);
        if self.tasks < self.faults_from {
            self.faults.clear();
        }
        Ok(())
    }

    fn set(&mut self, name: &str, mut value: impl FnMut() -> Result<String, String>) -> Result<(), String> {
        match name {
            "launch-ms" => self.launch = ms(value)?,
            "drain-ms" => self.drain = ms(value)?,
            "anon-bytes" => self.anon_bytes = size(&value()?)?,
            "anon-bytes-per-task" => self.anon_bytes_per_task = size(&value()?)?,
            "shmem-bytes" => self.shmem_bytes = size(&value()?)?,
            "memfd-bytes" => self.memfd_bytes = size(&value()?)?,
            "file-bytes" => self.file_bytes = size(&value()?)?,
            "file" => self.file = Some(value()?.into()),
            "threads" => self.threads = number(&value()?)?,
            "threads-per-task" => self.threads_per_task = number(&value()?)?,
            "processes" => self.processes = number(&value()?)?,
            "grandchildren" => self.grandchildren = number(&value()?)?,
            "anon-bytes-per-process" => self.anon_bytes_per_process = size(&value()?)?,
            "sockets" => self.sockets = number(&value()?)?,
            "unix-sockets" => self.unix_sockets = number(&value()?)?,
            "listen" => self.listen = Some(address(&value()?)?),
            "accept-most" => self.accept_most = Some(number(&value()?)?),
            "serve" => self.serve = Some(value()?.parse().map_err(|_| "echo or chat")?),
            "bytes-per-connection" => self.bytes_per_connection = size(&value()?)?,
            "peak-launch-bytes" => self.peak_launch_bytes = size(&value()?)?,
            "peak-drain-bytes" => self.peak_drain_bytes = size(&value()?)?,
            "give-back-bytes" => self.give_back_bytes = size(&value()?)?,
            "burn-percent" => self.burn_percent = number(&value()?)?,
            "work" => self.work = true,
            "op-cpu-us" => self.op_cpu = Duration::from_micros(number(&value()?)?),
            "op-sleep-us" => self.op_sleep = Duration::from_micros(number(&value()?)?),
            "op-threads" => self.op_threads = true,
            "work-cpu-ms" => self.work_cpu = ms(value)?,
            "fault" => self.faults.push(value()?.parse()?),
            "faults-from" => self.faults_from = number(&value()?)?,
            "oom-max" => self.oom_max = Some(size(&value()?)?),
            "say" => self.lines += &format!("{}\n", value()?.replace(',', " ")),
            "no-protocol" => self.no_protocol = true,
            "pidfile" => self.pidfile = Some(value()?),
            _ => return Err("unknown flag".to_owned()),
        }
        Ok(())
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
        Duration::from_secs(if self.work { 0 } else { self.amount })
    }

    /// Operations in the place of a wait.
    pub fn operations(&self) -> u64 {
        if self.work { self.amount } else { 0 }
    }

    /// CPU time that all tasks take to start.
    pub fn start_cpu(&self) -> Duration {
        times(self.op_cpu, if self.work || self.serve.is_some() { 0 } else { self.tasks })
    }

    /// CPU time of all operations.
    pub fn work_cpu(&self) -> Duration {
        self.work_cpu + times(self.op_cpu, self.operations())
    }

    /// Time in which all operations wait.
    pub fn work_sleep(&self) -> Duration {
        times(self.op_sleep, self.operations())
    }

    /// What stands after `alive`; of several faults that change it the first counts.
    pub fn alive_count(&self) -> u64 {
        let changed = self.faults.iter().find_map(|given| match given.fault {
            Fault::AliveTooMany => Some(self.tasks + 1),
            Fault::Partial => Some(self.tasks.min(given.number)),
            _ => None,
        });
        changed.unwrap_or(self.tasks)
    }

    /// The numbers of done and failed tasks or operations that the program prints, of `all`.
    pub fn outcome(&self, all: u64) -> (u64, u64) {
        let changed = self.faults.iter().find_map(|given| match given.fault {
            Fault::Failed => Some((all.saturating_sub(given.number), all.min(given.number))),
            Fault::DoneShort => Some((all.saturating_sub(given.number), 0)),
            _ => None,
        });
        changed.unwrap_or((all, 0))
    }
}

fn times(each: Duration, count: u64) -> Duration {
    each.saturating_mul(count.try_into().unwrap_or(u32::MAX))
}

fn ms(mut value: impl FnMut() -> Result<String, String>) -> Result<Duration, String> {
    let time = Duration::from_millis(number(&value()?)?);
    Some(time).filter(|time| *time <= LONGEST).ok_or("at most 300000 ms".to_owned())
}

/// A port of 127.0.0.1, or an address with one.
fn address(text: &str) -> Result<SocketAddr, String> {
    match text.parse() {
        Ok(port) => Ok((Ipv4Addr::LOCALHOST, port).into()),
        Err(_) => text.parse().map_err(|_| "not a port, and not an address with a port".to_owned()),
    }
}

#[cfg(test)]
#[path = "args_tests.rs"]
mod tests;
