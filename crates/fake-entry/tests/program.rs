//! The built program from outside: what it prints, how it ends, what memory it holds.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Output, Stdio};
use std::time::Instant;

fn command(line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fake-entry"));
    command.args(line.split_whitespace()).stdin(Stdio::null());
    command
}

fn run(line: &str) -> Output {
    command(line).output().expect("fake-entry runs")
}

fn printed(line: &str) -> String {
    String::from_utf8(run(line).stdout).expect("text")
}

/// A program that runs longer than any test. It is a child that was not waited for, so its pid is not reused.
struct HeldProcess(Child);

impl Drop for HeldProcess {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts the program, and reads its `alive` line.
fn alive(line: &str) -> HeldProcess {
    let mut child = HeldProcess(
        command(&format!("{line} 300")).stdout(Stdio::piped()).spawn().expect("fake-entry starts"),
    );
    let mut first = String::new();
    BufReader::new(child.0.stdout.as_mut().expect("a pipe")).read_line(&mut first).expect("a line");
    assert!(first.starts_with("alive "), "{first}");
    child
}

/// A field of a file in /proc/<pid> that is given in kB, in bytes.
fn proc_bytes(child: &HeldProcess, file: &str, field: &str) -> u64 {
    let path = format!("/proc/{}/{file}", child.0.id());
    let text = std::fs::read_to_string(path).expect("a process that is alive");
    let line = text.lines().find(|line| line.starts_with(field)).expect("the field");
    let kb: u64 = line.split_whitespace().nth(1).expect("a value").parse().expect("a number");
    kb * 1024
}

#[test]
fn protocol_lines_and_times_follow_the_flags() {
    let start = Instant::now();
    let output = run("--launch-ms 100 --drain-ms 200 --say metric,a,1.5,ns 7 1");
    assert_eq!(output.stdout, b"alive 7\nmetric a 1.5 ns\ndone 7\n");
    assert!(output.stderr.is_empty() && output.status.success());
    // No upper bound: a busy machine may take longer.
    let seconds = start.elapsed().as_secs_f64();
    assert!(seconds >= 1.2, "{seconds}");
}

#[test]
fn faults_change_the_printed_lines() {
    assert_eq!(printed("--fault partial:3 7 0"), "alive 3\ndone 7\n");
    assert_eq!(printed("--fault failed:2 7 0"), "alive 7\ndone 5\nfailed 2\n");
    assert_eq!(printed("--fault no-newline 7 0"), "alive 7\ndone 7");
    assert_eq!(printed("--fault close-stdout 7 0"), "");
    assert_eq!(printed("--no-protocol --say metric,a,1,b 7 0"), "");
    assert_eq!(printed("--fault flood:1000 7 0").len(), 1000 + 15);
    assert_eq!(run("--fault binary:70000 7 0").stdout.len(), 70_000 + 1 + 15);
    assert_eq!(printed("--fault long-line:70000 7 0").lines().count(), 3);
}

/// Output of work without its metrics, which depend on the machine.
fn worked(line: &str) -> String {
    printed(line).lines().filter(|line| !line.starts_with("metric ")).collect::<Vec<_>>().join(" ")
}

#[test]
fn work_prints_ready_done_and_check() {
    assert_eq!(worked("--work 7 10"), "ready done 10 check 45");
    assert_eq!(worked("--work --fault no-ready 7 10"), "done 10 check 45");
    assert_eq!(worked("--work --fault done-short:3 7 10"), "ready done 7 check 45");
    assert_eq!(worked("--work --fault wrong-check 7 10"), "ready done 10 check 46");
    assert_eq!(worked("--work --fault failed:2 7 10"), "ready done 8 failed 2 check 45");
    assert_eq!(run("--work --fault failed:2 7 10").status.code(), Some(1));
}

#[test]
fn work_uses_the_requested_cpu_time() {
    let text = printed("--work --op-cpu-us 100 --work-cpu-ms 20 --op-threads 7 1000");
    let value = |name: &str| {
        let rest = text.split(&format!("metric {name} ")).nth(1).expect("a metric");
        rest.split(' ').next().and_then(|value| value.parse::<f64>().ok()).expect("a number")
    };
    // No upper bound: it includes the cost of a thousand threads.
    assert!(value("work_cpu") >= 0.12, "{text}");
    assert!(value("affinity") >= 1.0, "{text}");
}

#[test]
fn faults_set_the_exit_code_or_signal() {
    assert_eq!(run("--fault failed:1 7 0").status.code(), Some(1));
    assert_eq!(run("--fault exit:drain:9 7 0").status.code(), Some(9));
    assert_eq!(run("--fault crash:plateau 7 0").status.signal(), Some(libc::SIGSEGV));
    assert_eq!(run("--fault crash:launch:KILL 7 0").status.signal(), Some(libc::SIGKILL));
    assert_eq!(run("--fault oom --oom-max 1MiB 7 0").status.code(), Some(1));
    let wrong = run("--nonsense 7 0");
    assert_eq!(wrong.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("--nonsense: unknown flag"));
}

/// The difference from a run without memory flags is the requested size. The stack and the allocator vary by a
/// few pages with the random layout of the address space.
#[test]
fn memory_flags_allocate_the_requested_size() {
    const ASKED: u64 = 32 << 20;
    const SLACK: u64 = 64 << 10;
    let cases = [
        ("", "RssAnon", 0),
        ("--anon-bytes 32MiB", "RssAnon", ASKED),
        ("--anon-bytes-per-task 4MiB", "RssAnon", ASKED),
        ("--shmem-bytes 32MiB", "RssShmem", ASKED),
        ("--peak-launch-bytes 32MiB", "VmHWM", ASKED),
        ("--peak-launch-bytes 32MiB", "RssAnon", 0),
        ("--give-back-bytes 32MiB", "VmHWM", ASKED),
        ("--give-back-bytes 32MiB", "RssAnon", 0),
        ("--memfd-bytes 32MiB", "VmRSS", 0),
    ];
    let base = alive("8");
    // All at once; each `alive` returns when the memory is there.
    let running: Vec<_> = cases.iter().map(|(flags, ..)| alive(&format!("{flags} 8"))).collect();
    for ((flags, field, asked), child) in cases.iter().zip(&running) {
        let more = proc_bytes(child, "status", field).abs_diff(proc_bytes(&base, "status", field));
        // RSS includes file pages of the program, which vary with what the kernel mapped around them.
        let slack = if field.starts_with("Vm") { 16 * SLACK } else { SLACK };
        assert!(more.abs_diff(*asked) <= slack, "{flags} {field}: {more}");
    }
}

#[test]
fn thread_flags_start_real_threads() {
    let child = alive("--threads 3 --threads-per-task 2 5");
    let tasks = std::fs::read_dir(format!("/proc/{}/task", child.0.id())).expect("alive");
    assert_eq!(tasks.count(), 1 + 3 + 10);
    assert_eq!(printed("--threads 3 --threads-per-task 2 5 0"), "alive 5\ndone 5\n");
}

/// Every process ends before `done`, so the pipe that all of them inherit is closed with the program.
#[test]
fn pids_are_written_and_processes_end() {
    let pidfile = std::env::temp_dir().join(format!("fake-entry-test-{}", std::process::id()));
    let line = format!("--processes 2 --grandchildren 3 --pidfile {} 5 0", pidfile.display());
    assert_eq!(printed(&line), "alive 5\ndone 5\n");
    let noted = pidfile.with_extension("5");
    let text = std::fs::read_to_string(&noted).expect("the pid file");
    std::fs::remove_file(&noted).expect("the pid file");
    assert_eq!(text.lines().count(), 6);
    assert!(text.lines().all(|line| line.parse::<u32>().is_ok()));
}

/// A server, and a connection to it.
fn served(line: &str) -> (HeldProcess, TcpStream) {
    let mut command = command(&format!("--serve {line} 100 --listen 127.0.0.1:0"));
    let mut child = HeldProcess(command.stdout(Stdio::piped()).spawn().expect("fake-entry starts"));
    let mut first = String::new();
    BufReader::new(child.0.stdout.as_mut().expect("a pipe")).read_line(&mut first).expect("a line");
    let port = first.trim().strip_prefix("listening ").and_then(|port| port.parse().ok()).expect("a port");
    let client = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
    client.set_nodelay(true).expect("a socket");
    (child, client)
}

/// Sends a message, and returns what comes back.
fn echoed(client: &mut TcpStream, message: &[u8]) -> Vec<u8> {
    client.write_all(message).expect("it takes it");
    let mut back = vec![0; message.len()];
    client.read_exact(&mut back).expect("it comes back");
    back
}

#[test]
fn a_server_uses_the_requested_cpu_time_and_latency() {
    let (server, mut client) =
        served("echo --op-cpu-us 2000 --op-sleep-us 10000 --bytes-per-connection 5MiB");
    let start = Instant::now();
    for _ in 0..50 {
        assert_eq!(echoed(&mut client, b"word"), b"word");
    }
    assert!(start.elapsed().as_millis() >= 50 * 12, "{:?}", start.elapsed());
    assert!(proc_bytes(&server, "status", "VmRSS:") > 5 << 20);
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", server.0.id())).expect("it is alive");
    let fields: Vec<&str> = stat.rsplit(") ").next().expect("fields").split(' ').collect();
    // User and system time, in hundredths of a second. No upper bound: it includes the kernel's work.
    let ticks: u64 = [11, 12].iter().map(|at| fields[*at].parse::<u64>().expect("a number")).sum();
    assert!(ticks >= 9, "{ticks}");
    client.shutdown(Shutdown::Write).expect("a socket");
    assert_eq!(client.read(&mut [0]).expect("its end"), 0);
}

#[test]
fn server_faults_damage_reorder_or_close() {
    let (_server, mut client) = served("echo --fault flip:2");
    let back: Vec<bool> = (0..4).map(|_| echoed(&mut client, b"word") == b"word").collect();
    assert_eq!(back, [true, true, false, true]);

    let (_server, mut client) = served("echo --fault swap");
    // More than the server reads at once.
    client.write_all(&[&[b'a'; 4096][..], b"b"].concat()).expect("it takes it");
    let mut back = [0; 4097];
    client.read_exact(&mut back).expect("it comes back");
    assert_eq!((back[0], back[1]), (b'b', b'a'));

    let (_server, mut client) = served("echo --fault close-every:1");
    assert!(!matches!(client.read(&mut [0]), Ok(1..)));
}
