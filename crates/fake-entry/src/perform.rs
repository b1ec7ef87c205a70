//! Carries out the faults: those of the start, and those that strike in a phase.

use std::io;
use std::os::unix::ffi::OsStrExt;
use std::time::Duration;

use crate::args::{LONGEST, Options};
use crate::faults::{Fault, FaultArg, FaultPhase};
use crate::processes::{self, PidFile};
use crate::{groups, memory, output};

/// Carries out the faults of the start, in the order of the command line. The dumps come first, to see the
/// process as it was started.
pub fn at_start(options: &Options, pids: &PidFile) -> io::Result<()> {
    if options.has(Fault::FdDump) {
        dump_descriptors()?;
    }
    if options.has(Fault::EnvDump) {
        dump_environment();
    }
    // The first line of the pid file. After the dumps, and before any other process.
    pids.note_self()?;
    if options.has(Fault::Setsid) {
        leave_session(pids)?;
    }
    for given in &options.faults {
        match given.fault {
            Fault::ChdirWrite => std::fs::write("fake-entry-was-here.txt", "fake-entry\n")?,
            Fault::EscapeText => output::err(
                b"\x1b[2J\x1b[31mred\x1b[0m \x1b]0;title\x07 <script>alert('stderr')</script> \
                  </pre> | `x` | \xff\xfe\n",
            ),
            Fault::IgnoreTerm => {
                for signal in [libc::SIGTERM, libc::SIGINT, libc::SIGHUP] {
                    // SAFETY: installs no handler.
                    unsafe { libc::signal(signal, libc::SIG_IGN) };
                }
            }
            Fault::Subgroups => groups::enter()?,
            Fault::OomChild => {
                let child = pids.child(|| {
                    memory::until_killed(options);
                })?;
                processes::wait_for(child);
            }
            Fault::Orphan => sleeper(pids, &[0, 1, 2])?,
            Fault::OrphanHoldsStdout => sleeper(pids, &[0, 2])?,
            Fault::Daemon => daemon(pids)?,
            Fault::Stop => guard(pids)?,
            Fault::Escape => leave_groups(),
            Fault::ForkBomb => processes::fork_bomb(pids, given.number)?,
            _ => {}
        }
    }
    Ok(())
}

/// Carries out the faults of a phase, in the order of the command line. Most do not return.
pub fn strike(options: &Options, phase: FaultPhase) {
    for FaultArg { fault, phase: when, number } in options.faults.iter().copied() {
        match fault {
            Fault::IgnoreTerm if phase == FaultPhase::Plateau => hang(),
            _ if when != phase => {}
            Fault::Flood | Fault::FloodStderr | Fault::LongLine | Fault::Binary => {
                output::noise(fault, number)
            }
            Fault::Crash => crash(number as libc::c_int),
            Fault::Exit => std::process::exit(number as i32),
            Fault::Hang => hang(),
            Fault::FileLimit => run_out_of_files(),
            Fault::SignalParent => {
                // SAFETY: a plain system call.
                unsafe { libc::kill(libc::getppid(), number as libc::c_int) };
            }
            Fault::Oom => {
                output::complain(memory::until_killed(options));
                std::process::exit(1);
            }
            _ => {}
        }
    }
}

/// Opens files until one is refused, then prints 1 GiB of that error.
fn run_out_of_files() {
    let most = libc::rlimit { rlim_cur: 64, rlim_max: 64 };
    // SAFETY: reads the struct.
    unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &most) };
    let mut open = Vec::new();
    let error = loop {
        match std::fs::File::open("/dev/null") {
            Ok(file) => open.push(file),
            Err(error) => break error,
        }
    };
    let line = format!("fake-entry: cannot open file {}: {error}\n", open.len() + 1);
    for _ in 0..(1 << 30) / line.len() {
        output::err(line.as_bytes());
    }
}

fn crash(signal: libc::c_int) {
    // SAFETY: plain system calls. Not dumpable: no core file is left behind, whatever the limits.
    unsafe {
        libc::prctl(libc::PR_SET_DUMPABLE, 0);
        libc::signal(signal, libc::SIG_DFL);
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        libc::sigaddset(&mut set, signal);
        libc::sigprocmask(libc::SIG_UNBLOCK, &set, std::ptr::null_mut());
        libc::raise(signal);
    }
}

fn hang() {
    std::thread::sleep(LONGEST);
    output::complain("nobody ended this hanging program");
    std::process::exit(3);
}

/// Starts a child that kills this process near `LONGEST`: a stopped process cannot end itself.
fn guard(pids: &PidFile) -> io::Result<()> {
    let guarded = std::process::id() as libc::pid_t;
    pids.child(|| {
        processes::detach_output(&[0, 1, 2]);
        // SAFETY: plain system calls, here and below. The guard dies with its parent, if that still lives.
        unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
        if unsafe { libc::getppid() } == guarded {
            std::thread::sleep(LONGEST - Duration::from_secs(5));
            unsafe { libc::kill(guarded, libc::SIGKILL) };
        }
    })?;
    Ok(())
}

/// Starts a child that outlives this process, with `released` on /dev/null.
fn sleeper(pids: &PidFile, released: &[libc::c_int]) -> io::Result<()> {
    pids.child(|| {
        processes::detach_output(released);
        processes::sleep_out();
    })?;
    Ok(())
}

fn daemon(pids: &PidFile) -> io::Result<()> {
    let middle = pids.child(|| {
        // SAFETY: plain system calls.
        unsafe {
            libc::setsid();
            libc::chdir(c"/".as_ptr());
        }
        if let Err(error) = sleeper(pids, &[0, 1, 2]) {
            output::complain(format_args!("daemon: {error}"));
        }
    })?;
    processes::wait_for(middle);
    Ok(())
}

/// Leaves session and process group. A group leader may not leave: a child continues in its place, and this
/// process waits for it and ends the same way.
fn leave_session(pids: &PidFile) -> io::Result<()> {
    // SAFETY: plain system calls, here and below.
    if unsafe { libc::setsid() } >= 0 {
        return Ok(());
    }
    let Some(child) = pids.fork()? else {
        unsafe {
            // The alarm is for helpers; this is the program itself now.
            libc::alarm(0);
            libc::setsid();
        }
        return Ok(());
    };
    let status = processes::wait_for(child);
    if libc::WIFSIGNALED(status) {
        crash(libc::WTERMSIG(status));
    }
    std::process::exit(libc::WEXITSTATUS(status));
}

/// Moves this process into the root of every cgroup hierarchy that it may write to.
fn leave_groups() {
    let roots = std::fs::read_dir("/sys/fs/cgroup").into_iter().flatten().flatten().map(|entry| entry.path());
    for root in roots.chain(["/sys/fs/cgroup".into()]) {
        let _ = std::fs::write(root.join("cgroup.procs"), "0");
    }
}

fn dump_environment() {
    let mut lines: Vec<Vec<u8>> = std::env::vars_os()
        .map(|(name, value)| [name.as_bytes(), b"=", value.as_bytes(), b"\n"].concat())
        .collect();
    lines.sort_unstable();
    output::err(&lines.concat());
}

/// Prints `fds 0 1 2`.
fn dump_descriptors() -> io::Result<()> {
    let entries = std::fs::read_dir("/proc/self/fd")?.flatten();
    let mut numbers: Vec<libc::c_int> =
        entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    // The one of the directory just read is closed by now.
    // SAFETY: asks for flags only.
    numbers.retain(|number| unsafe { libc::fcntl(*number, libc::F_GETFD) } >= 0);
    numbers.sort_unstable();
    let list: String = numbers.iter().map(|number| format!(" {number}")).collect();
    output::err(format!("fds{list}\n").as_bytes());
    Ok(())
}
