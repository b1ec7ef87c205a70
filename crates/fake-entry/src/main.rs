//! A scripted program for tests of taskscale: speaks the protocol, takes exactly the memory that its flags
//! request, and misbehaves on demand. README.md has the table of flags and faults.

mod args;
mod chat;
mod faults;
mod groups;
mod memory;
mod output;
mod perform;
mod processes;
mod serve;
mod sizes;
mod sockets;
mod threads;
mod work;

use std::io;
use std::process::ExitCode;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use args::Options;
use faults::{Fault, FaultPhase};
use memory::Region;
use processes::{Family, PidFile};
use threads::{ALL_THREADS, burn, start_burning};

fn main() -> ExitCode {
    let start = Instant::now();
    let args: Vec<String> =
        std::env::args_os().skip(1).map(|arg| arg.to_string_lossy().into_owned()).collect();
    let shown = args.iter().find_map(|arg| match arg.as_str() {
        "--help" => Some(include_str!("../README.md")),
        "--version" => Some(concat!("fake-entry ", env!("CARGO_PKG_VERSION"), "\n")),
        _ => None,
    });
    if let Some(text) = shown {
        output::out(text.as_bytes());
        return ExitCode::SUCCESS;
    }
    let (code, message) = match Options::parse(args) {
        Err(message) => (2, format!("{message} (see fake-entry --help)")),
        Ok(options) => match (Script { options, start }).run() {
            Ok(code) => return ExitCode::from(code),
            Err(error) => (1, error.to_string()),
        },
    };
    output::complain(message);
    ExitCode::from(code)
}

struct Script {
    options: Options,
    start: Instant,
}

impl Script {
    fn has(&self, fault: Fault) -> bool {
        self.options.has(fault)
    }

    /// Prints one or more lines of the protocol.
    fn print(&self, text: &str) {
        if !self.options.no_protocol {
            output::out(text.as_bytes());
        }
    }

    fn print_alive(&self) {
        self.print(&format!("alive {}\n", self.options.alive_count()));
    }

    /// Runs the script from start to end. Memory stays mapped until this function returns.
    fn run(&self) -> io::Result<u8> {
        let options = &self.options;
        let named = |what: &'static str| move |error| io::Error::other(format!("{what}: {error}"));

        // Absolute, because a daemon changes its directory.
        let pidfile = options.pidfile.as_ref().map(|path| format!("{path}.{}", options.tasks));
        let pidfile = pidfile.map(std::path::absolute);
        let pids = PidFile(pidfile.transpose().map_err(named("pidfile"))?);
        perform::at_start(options, &pids).map_err(named("start"))?;
        memory::map_own_files();
        if self.has(Fault::AliveEarly) {
            self.print_alive();
        }
        let peak = Region::anon(options.peak_launch_bytes).map_err(named("peak of the launch"))?;
        sleep_until(self.start + options.launch);
        drop(peak);
        // Fork before there is memory that a child would share, and before there are threads.
        let (children, grandchildren) = (options.processes, options.grandchildren);
        let family = (children + grandchildren > 0)
            .then(|| Family::start(&pids, children, grandchildren, options.anon_bytes_per_process));
        let family = family.transpose().map_err(named("processes"))?;
        let held = memory::hold(options).map_err(named("memory"))?;
        let filled = sockets::fill(options.sockets, options.unix_sockets);
        let (sockets, queued_bytes) = filled.map_err(named("sockets"))?;
        if let Some(address) = options.listen.filter(|_| options.serve.is_none()) {
            sockets::listen(address, options.accept_most).map_err(named("listening"))?;
        }
        if let Some(code) = self.threads() {
            return Ok(code);
        }
        burn(ALL_THREADS, options.start_cpu());
        perform::strike(options, FaultPhase::Launch);
        if self.has(Fault::CloseStdout) {
            output::close_stdout();
        }
        if let Some((service, address)) = options.serve.zip(options.listen) {
            self.serve(service, address).map_err(named("serving"))?;
        }
        if options.work {
            let code = self.work().map_err(named("work"))?;
            perform::strike(options, FaultPhase::End);
            drop((held, sockets, family));
            return Ok(code);
        }
        if !self.has(Fault::AliveEarly) && !self.has(Fault::NoAlive) {
            self.print_alive();
        }
        if self.has(Fault::AliveTwice) {
            self.print_alive();
        }

        self.plateau().map_err(named("burning"))?;

        let peak = Region::anon(options.peak_drain_bytes).map_err(named("peak of the drain"))?;
        thread::sleep(options.drain);
        drop(peak);
        perform::strike(options, FaultPhase::Drain);
        drop(family);
        let code = self.print_done(queued_bytes);
        perform::strike(options, FaultPhase::End);
        drop((held, sockets));
        Ok(code)
    }

    /// Starts the threads. Returns an exit code if too few could be started.
    fn threads(&self) -> Option<u8> {
        let tasks = self.options.tasks;
        let limited = self.has(Fault::ThreadLimit);
        let count = self.options.threads + if limited { tasks } else { 0 };
        let (started, error) = threads::start_blocked(count).err()?;
        output::complain(format_args!("cannot start thread {} of {count}: {error}", started + 1));
        if limited {
            self.print(&format!("done 0\nfailed {}\n", count - started));
        }
        Some(1)
    }

    fn plateau(&self) -> io::Result<()> {
        if self.has(Fault::Stop) {
            // The first process, stopped until something continues or kills it.
            // SAFETY: a plain system call.
            unsafe { libc::raise(libc::SIGSTOP) };
        }
        let options = &self.options;
        let now = Instant::now();
        let end = (self.start + options.wait()).max(now);
        let percent = options.burn_percent;
        let burner = (percent > 0).then(|| start_burning(percent, end)).transpose()?;
        let mut grown = Vec::new();
        while let Some(bytes) = options.number(Fault::Grow).filter(|_| Instant::now() + GROWS_EVERY < end) {
            grown.push(Region::anon(bytes)?);
            thread::sleep(GROWS_EVERY);
        }
        sleep_until(now + (end - now) / 2);
        perform::strike(options, FaultPhase::Plateau);
        sleep_until(end);
        // An error is a panic of the thread, which has already printed it on standard error.
        drop(burner.map(JoinHandle::join));
        Ok(())
    }

    /// Prints metrics, `done` and `failed` in one write. Returns the exit code.
    fn print_done(&self, queued_bytes: u64) -> u8 {
        let options = &self.options;
        let mut text = options.lines.clone();
        if queued_bytes > 0 {
            text += &format!("metric socket_queued {queued_bytes} bytes\n");
        }
        if self.has(Fault::Subgroups) {
            text += &format!("metric subgroups {} groups\n", groups::entered());
        }
        if self.has(Fault::EscapeText) {
            text += "metric \x1b[31m<script>alert(1)</script>\x1b[0m 1 <b>unit</b>\n\
                     metric </script><img/src=x/onerror=alert(2)>|`${x}` 2 \x1b]0;title\x07\n";
        }
        self.print_outcome(text, options.tasks, "tasks", "")
    }

    /// Prints a text, `done`, `failed` and `rest` in one write. Returns the exit code.
    fn print_outcome(&self, mut text: String, all: u64, noun: &str, rest: &str) -> u8 {
        let (done, failed) = self.options.outcome(all);
        if !self.has(Fault::NoDone) {
            text += &format!("done {done}\n");
        }
        if failed > 0 {
            text += &format!("failed {failed}\n");
            output::complain(format_args!("{failed} {noun} failed"));
        }
        text += rest;
        if self.has(Fault::NoNewline) {
            text.pop();
        }
        self.print(&text);
        u8::from(failed > 0)
    }
}

const GROWS_EVERY: Duration = Duration::from_millis(20);

fn sleep_until(when: Instant) {
    thread::sleep(when.saturating_duration_since(Instant::now()));
}
