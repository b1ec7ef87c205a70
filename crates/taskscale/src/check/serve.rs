//! Runs servers as they are measured, at several numbers of connections, and tests their answers.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde::Serialize;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use super::conformance::{CONNECTIONS, CaseCount, ConformanceResult, run_conformance};
use super::judge::{CRASHED, NO_PROGRAM, linger};
use super::runs::{RunRequest, Runs, TracedRun, may_be_caused_by_machine, trial};
use super::{CheckResult, CheckRule, Findings, Severity};
use crate::campaign::{Prepared, serving_in_a_moment};
use crate::catalog::{Program, with_tasks};
use crate::record::Status;
use crate::units;

/// The numbers of connections of every server. 25 leave one room half full.
const COUNTS: [u64; 3] = [1, 25, 1_000];
const TIMEOUT: Duration = Duration::from_secs(120);
/// Attempts of a run on a busy machine.
const ATTEMPTS: u32 = 3;

/// The time to exit after SIGTERM, on a busy machine.
const EXIT_TIMEOUT: Duration = Duration::from_secs(15);

const LISTENING: &str =
    "print `listening PORT` once, when the server accepts connections, and flush standard output";

impl Runs<'_, '_> {
    /// Runs every N, then tests answers.
    pub fn serve_all(&mut self) -> CheckResult<()> {
        self.run_at_an_empty_home(&self.serves(COUNTS[0]))?;
        for tasks in COUNTS {
            let request = self.serves(tasks);
            let mut run = self.run(&request)?;
            for _ in 1..ATTEMPTS {
                if run.0.status == Status::Ok || !may_be_caused_by_machine(&run.0) {
                    break;
                }
                run = self.run(&request)?;
            }
            judge(tasks, &run, &mut self.findings);
            let status = run.0.status;
            self.trials.push(trial(&request, run.0));
            match status {
                Status::Ok => {}
                // The answers are still tested.
                Status::Limit | Status::NoPlateau => break,
                // A failure with few connections would repeat with many.
                _ => return Ok(()),
            }
        }
        self.check_conformance();
        Ok(())
    }

    /// Tests how the server answers misbehaving clients, which the runs above do not have.
    fn check_conformance(&mut self) {
        let Some(client) = self.workload.client else { return };
        let mut server = match RunningServer::start(self.command, &self.prepared.facts.env) {
            Ok(server) => server,
            Err(why) => {
                let what = format!("for the test of answers: {why}");
                return self.findings.error(CheckRule::Protocol, what, LISTENING);
            }
        };
        let known = self.library_faults;
        let ConformanceResult { faults, .. } = run_conformance(client, server.address, &|| server.memory());
        for case in known.keys().filter(|case| faults.iter().all(|fault| fault.case != **case)) {
            let what = format!("{case}: listed in `library_faults`, but the test passed");
            self.findings.warning(CheckRule::Protocol, what, "remove it if the library fixed it");
        }
        for fault in faults {
            let what = format!("{}: {}", fault.case, fault.what);
            let (severity, fix) = match fault.grave {
                _ if known.contains_key(fault.case) => {
                    (Severity::Note, "none in the entry: its manifest lists it in `library_faults`")
                }
                true => (Severity::Error, fault.fix),
                // Most are faults of a library, documented with the entry.
                false => (Severity::Warning, fault.fix),
            };
            self.findings.add(severity, CheckRule::Protocol, what, fix);
        }
        if let Err(why) = server.end() {
            self.findings.error(CheckRule::Exit, why, "exit on SIGTERM (its default action is enough)");
        }
    }

    fn serves(&self, tasks: u64) -> RunRequest<'static> {
        let scenario = serving_in_a_moment(self.workload, &self.params, tasks);
        RunRequest { tasks, scenario, arguments: None, time: TIMEOUT }
    }
}

/// How a server answers misbehaving clients.
#[derive(Debug, Clone, Serialize)]
pub struct Conformance {
    pub entry: String,
    pub workload: String,
    /// In the order of the tests.
    pub cases: Vec<CaseCount>,
    /// Each as `CASE: FAULT`.
    pub faults: Vec<String>,
}

/// Tests only the answers of a server. The error is why it could not run.
pub fn conform(program: &Program, prepared: &Prepared) -> Result<Conformance, String> {
    let client = program.workload.client.ok_or("not a server")?;
    let command = prepared.command.as_ref().map_err(|why| why.reason())?;
    let server = RunningServer::start(command, &program.entry.env)?;
    let ConformanceResult { faults, cases } = run_conformance(client, server.address, &|| server.memory());
    Ok(Conformance {
        entry: program.entry.full_name.clone(),
        workload: program.workload.name.clone(),
        cases,
        faults: faults.into_iter().map(|fault| format!("{}: {}", fault.case, fault.what)).collect(),
    })
}

fn judge(tasks: u64, run: &TracedRun, findings: &mut Findings) {
    let (seen, details) = run;
    let with = format!("with {} connections", units::count(tasks));
    let reason = seen.reason.clone().unwrap_or_else(|| "unknown reason".into());
    let printed = String::from_utf8_lossy(&details.output);
    let fix = match seen.status {
        Status::Ok => return linger(&with, run, findings),
        Status::Limit | Status::NoPlateau => {
            let fix = "none in the entry; raise the limit of the machine, or check again on an idle machine";
            return findings.note(CheckRule::Limit, format!("{with}: {reason}"), fix);
        }
        Status::Unavailable => NO_PROGRAM,
        _ if !printed.contains("listening ") => LISTENING,
        Status::Partial => {
            "accept every connection and keep it open: raise the backlog of `listen` to 1,024 or more"
        }
        Status::Crashed => CRASHED,
        Status::KilledOom => "free what a closed connection used: so few cannot need this much",
        _ => "do exactly what the workload describes (docs/workloads.md)",
    };
    findings.error(CheckRule::Protocol, format!("{with}: {reason}"), fix);
}

/// A running server, killed when dropped.
pub(super) struct RunningServer {
    child: Child,
    pub address: SocketAddr,
}

impl RunningServer {
    pub fn start(command: &[String], env: &BTreeMap<String, String>) -> Result<RunningServer, String> {
        // The server inherits this limit.
        taskscale_load::room_for(2 * CONNECTIONS as usize);
        let command = with_tasks(command, CONNECTIONS);
        let (program, words) = command.split_first().ok_or("the command is empty")?;
        let tasks = CONNECTIONS.to_string();
        let mut child = Command::new(program)
            .args(words)
            .args([&tasks, "--listen", "127.0.0.1:0"])
            .envs(env)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            // The server's children are in its group, and are killed with it.
            .process_group(0)
            .spawn()
            .map_err(|error| format!("cannot start {program}: {error}"))?;
        let output = child.stdout.take();
        let mut server = RunningServer { child, address: SocketAddr::new(Ipv4Addr::LOCALHOST.into(), 0) };
        let line = output.and_then(|output| BufReader::new(output).lines().next()?.ok()).unwrap_or_default();
        let port = line.strip_prefix("listening ").and_then(|port| port.trim().parse().ok());
        server.address.set_port(port.ok_or_else(|| format!("its first line is {line:?}"))?);
        Ok(server)
    }

    /// Resident memory of its first process, in bytes.
    pub fn memory(&self) -> Option<u64> {
        let statm = std::fs::read_to_string(format!("/proc/{}/statm", self.child.id())).ok()?;
        let pages: u64 = statm.split_whitespace().nth(1)?.parse().ok()?;
        Some(pages * rustix::param::page_size() as u64)
    }

    /// Sends SIGTERM and waits for the exit.
    fn end(&mut self) -> Result<(), String> {
        let sent = kill_process(Pid::from_child(&self.child), Signal::TERM);
        let deadline = Instant::now() + EXIT_TIMEOUT;
        loop {
            // Read before the look at the child: after a pause of the machine, it counts that the child has exited.
            let is_over = Instant::now() >= deadline;
            if !matches!(self.child.try_wait(), Ok(None)) {
                return Ok(());
            }
            if is_over {
                break;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let sent = if sent.is_ok() { "" } else { " (which could not be sent)" };
        Err(format!("did not exit within {} s of SIGTERM{sent}", EXIT_TIMEOUT.as_secs()))
    }
}

impl Drop for RunningServer {
    fn drop(&mut self) {
        // Kills the server's children, too.
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        let _ = self.child.wait();
    }
}
