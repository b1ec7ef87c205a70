//! Processes besides the first. Each writes its pid into `--pidfile` before its parent continues, and ends by
//! itself after `LIFE_S`.
//!
//! Must be used before any thread is started: only then may a forked child run ordinary code.

use std::fs::OpenOptions;
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::path::PathBuf;

use rustix::mm::MapFlags;

use crate::args::LONGEST;
use crate::memory::{self, Region};
use crate::output;

/// Lifetime of every process made here, in seconds, by alarm(2).
const LIFE_S: u32 = 300;

/// Where pids are noted, if anywhere.
pub struct PidFile(pub Option<PathBuf>);

impl PidFile {
    /// Appends this process's pid. Opens the file each time, so that no descriptor stays open.
    pub fn note_self(&self) -> io::Result<()> {
        let Some(path) = &self.0 else { return Ok(()) };
        let mut file = OpenOptions::new().append(true).create(true).open(path)?;
        // One write, so that lines of several processes do not mix.
        file.write_all(format!("{}\n", std::process::id()).as_bytes())
    }

    /// Returns `None` in the child.
    pub fn fork(&self) -> io::Result<Option<libc::pid_t>> {
        // Only with a pid file: the kernel frees a pipe late, which would count in the measured cost of a
        // process.
        let mut pipe = self.0.as_ref().map(|_| io::pipe()).transpose()?;
        // SAFETY: no other thread runs yet, see above.
        match unsafe { libc::fork() } {
            -1 => Err(io::Error::last_os_error()),
            0 => {
                // SAFETY: no handler is installed; the default action ends the process.
                unsafe {
                    libc::signal(libc::SIGALRM, libc::SIG_DFL);
                    libc::alarm(LIFE_S);
                }
                // Fork does not copy the page tables of file mappings: each process faults the pages in again.
                memory::map_own_files();
                if let Err(error) = self.note_self() {
                    output::complain(format_args!("pidfile: {error}"));
                }
                drop(pipe);
                Ok(None)
            }
            pid => {
                if let Some((mut noted, note)) = pipe.take() {
                    drop(note);
                    // At the end of the pipe, the child has noted its pid or has ended.
                    noted.read_to_end(&mut Vec::new())?;
                }
                Ok(Some(pid))
            }
        }
    }

    /// Forks a child that does `work` and ends.
    pub fn child(&self, work: impl FnOnce()) -> io::Result<libc::pid_t> {
        match self.fork()? {
            Some(pid) => Ok(pid),
            None => {
                work();
                // SAFETY: ends the process without running what belongs to its parent.
                unsafe { libc::_exit(0) }
            }
        }
    }
}

/// Sleeps until the alarm or another signal.
pub fn sleep_out() -> ! {
    loop {
        // SAFETY: waits for a signal; there are no handlers.
        unsafe { libc::pause() };
    }
}

pub fn wait_for(pid: libc::pid_t) -> libc::c_int {
    let mut status = 0;
    // SAFETY: writes to `status` only.
    while unsafe { libc::waitpid(pid, &mut status, 0) } < 0
        && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
    {}
    status
}

/// Points descriptors at /dev/null, so that the process keeps no pipe open.
pub fn detach_output(descriptors: &[libc::c_int]) {
    let Ok(null) = OpenOptions::new().read(true).write(true).open("/dev/null") else { return };
    for descriptor in descriptors {
        // SAFETY: descriptors are plain numbers; a failure leaves them as they were.
        unsafe { libc::dup2(null.as_raw_fd(), *descriptor) };
    }
}

/// Children and grandchildren with memory, blocked until this is dropped. They do not notice when the first
/// process is killed, and must then be killed as well.
pub struct Family {
    orders: io::PipeWriter,
    members: u64,
    children: Vec<libc::pid_t>,
}

impl Family {
    /// Returns once each process has its memory. Grandchildren are distributed evenly over the children.
    /// Without children they get one parent without memory of its own.
    pub fn start(pids: &PidFile, children: u64, grandchildren: u64, bytes: u64) -> io::Result<Self> {
        let (orders_in, orders) = io::pipe()?;
        let (mut ready_in, ready) = io::pipe()?;
        let parents = children.max(u64::from(grandchildren > 0));
        let mut family = Family { orders, members: parents + grandchildren, children: Vec::new() };
        for index in 0..parents {
            let own = if children == 0 { 0 } else { bytes };
            let below = grandchildren / parents + u64::from(index < grandchildren % parents);
            let work = || {
                let made: Vec<_> =
                    (0..below).map(|_| pids.child(|| member(bytes, &ready, &orders_in, &[]))).collect();
                match made.into_iter().collect::<io::Result<Vec<_>>>() {
                    Ok(made) => member(own, &ready, &orders_in, &made),
                    Err(error) => output::complain(format_args!("grandchild: {error}")),
                }
            };
            family.children.push(pids.child(work)?);
        }
        drop(ready);
        let mut seen = Vec::new();
        ready_in.read_to_end(&mut seen)?;
        if seen.len() as u64 != family.members {
            return Err(io::Error::other("a child ended before it held its memory"));
        }
        Ok(family)
    }
}

/// Not run when a fault ends this process: then the members stay, as they would in real life.
impl Drop for Family {
    /// Sends each member an order. Children wait for their own.
    fn drop(&mut self) {
        for _ in 0..self.members {
            // An error means that none is left to read it.
            let _ = self.orders.write_all(b"q");
        }
        for child in &self.children {
            wait_for(*child);
        }
    }
}

/// Takes memory, reports on `ready` and ends on an order. Closes the inherited `ready` by its descriptor.
fn member(bytes: u64, ready: &io::PipeWriter, mut orders: &io::PipeReader, below: &[libc::pid_t]) {
    let _held = match Region::anon(bytes) {
        Ok(held) => held,
        Err(error) => return output::complain(format_args!("child: {error}")),
    };
    if { ready }.write_all(b"r").is_err() {
        return;
    }
    // SAFETY: this process uses it no more, and leaves by `_exit`.
    unsafe { libc::close(ready.as_raw_fd()) };
    if orders.read_exact(&mut [0]).is_err() {
        sleep_out();
    }
    for pid in below {
        wait_for(*pid);
    }
}

/// Forks recursively until `most` processes exist, this one included, or forking fails. The others sleep, and
/// this one continues once all exist.
pub fn fork_bomb(pids: &PidFile, most: u64) -> io::Result<()> {
    use std::sync::atomic::{AtomicU64, Ordering};
    /// Shared by all of them.
    struct Counts {
        begun: AtomicU64,
        /// Processes forked so far, or `most` once a fork was refused.
        over: AtomicU64,
    }
    fn spread(pids: &PidFile, counts: &Counts, most: u64) {
        while counts.begun.fetch_add(1, Ordering::Relaxed) < most {
            let forked = pids.child(|| {
                spread(pids, counts, most);
                sleep_out();
            });
            if forked.is_err() {
                counts.over.store(most, Ordering::Relaxed);
                break;
            }
            counts.over.fetch_add(1, Ordering::Relaxed);
        }
    }
    let page = Region::map(16, MapFlags::SHARED, None)?;
    // SAFETY: zeroed, aligned to a page, and mapped for as long as the reference lives.
    let counts = unsafe { &*page.start.cast::<Counts>() };
    counts.begun.store(1, Ordering::Relaxed);
    counts.over.store(1, Ordering::Relaxed);
    spread(pids, counts, most);
    // A fork in progress may have been killed, so the wait is bounded.
    let begin = std::time::Instant::now();
    while counts.over.load(Ordering::Relaxed) < most && begin.elapsed() < LONGEST {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    Ok(())
}
