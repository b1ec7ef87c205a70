//! A world of its own for each test: a catalog of entries that run the scripted program, folders for everything
//! that taskscale writes, and checks of what it leaves behind.
//!
//! Both programs are linked into the world under paths that no other test uses. So processes of this world are
//! known by their `/proc/PID/exe`, whatever their number, parent, session or cgroup. Signals go only through a
//! pidfd whose program was compared after it was opened.

#![allow(dead_code, unused_imports, reason = "two test programs share this, and each uses a part")]

mod gate;
pub mod installed;
mod left;
mod port;
mod running;
mod scripted;
pub mod stored;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use taskscale::record::{self, Loaded, Sample};
use tempfile::TempDir;

pub use left::{LeftProcess, start_ticks};
pub use port::ReservedPort;
use running::collect;
pub use running::{Finished, RunningProcess, assert_good, was_starved};
pub use scripted::fake_entry;

/// Nothing takes longer than this, even on a busy machine.
pub const TIMEOUT: Duration = Duration::from_secs(600);

/// One entry of a world's catalog.
#[derive(Clone, Debug)]
pub struct FakeEntry {
    pub name: String,
    pub kind: &'static str,
    /// Flags of the scripted program, or all arguments of `program` if that is given.
    pub flags: Vec<String>,
    /// The workload of its program with waiting tasks, if it has one.
    pub waits: Option<&'static str>,
    /// Flags of its program of the workload `spawn`, if it has one.
    pub spawn: Option<Vec<String>>,
    pub program: Option<String>,
    /// More lines of the manifest.
    pub more: String,
}

impl FakeEntry {
    /// An entry of kind `stackless` with flags as they are typed.
    pub fn new(name: &str, flags: &str) -> FakeEntry {
        FakeEntry {
            name: name.into(),
            kind: "stackless",
            flags: words(flags),
            waits: Some("sleep"),
            spawn: None,
            program: None,
            more: String::new(),
        }
    }

    /// An entry of the workload `spawn` alone.
    pub fn of_work(name: &str, flags: &str) -> FakeEntry {
        FakeEntry { waits: None, ..FakeEntry::new(name, "") }.and_work(flags)
    }

    /// Has a program of the workload `spawn` as well, with flags as they are typed.
    pub fn and_work(self, flags: &str) -> FakeEntry {
        FakeEntry { spawn: Some(words(flags)), ..self }
    }

    pub fn kind(self, kind: &'static str) -> FakeEntry {
        FakeEntry { kind, ..self }
    }

    /// Another program than the scripted one.
    pub fn program(self, program: &str) -> FakeEntry {
        FakeEntry { program: Some(program.into()), ..self }
    }

    pub fn more(self, more: &str) -> FakeEntry {
        FakeEntry { more: more.into(), ..self }
    }

    fn toml(&self, fake: &Path) -> String {
        let (build, more): (Vec<&str>, Vec<&str>) =
            self.more.lines().partition(|line| line.starts_with("build"));
        let mut text = format!(
            "[[entry]]\nname = {:?}\ntitle = \"Scripted: {}\"\nkind = {:?}\nparallel = true\nstyle = \"idiomatic\"\n\
             posts = true\nwhy = \"a test\"\n{}\n",
            self.name,
            self.name,
            self.kind,
            more.join("\n"),
        );
        let program = self.program.clone().unwrap_or_else(|| fake.display().to_string());
        let build: String = build.iter().map(|line| format!("{line}, ")).collect();
        let mut add = |workload: &str, flags: &[String]| {
            let run = [std::slice::from_ref(&program), flags].concat();
            text.push_str(&format!("workloads.{workload} = {{ {build}run = {run:?} }}\n"));
        };
        if let Some(workload) = self.waits {
            add(workload, &self.flags);
        }
        if let Some(flags) = &self.spawn {
            let work = self.program.is_none().then(|| "--work".to_owned());
            add("spawn", &work.into_iter().chain(flags.iter().cloned()).collect::<Vec<_>>());
        }
        text.push('\n');
        text
    }
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// Folders, programs and settings of one test.
pub struct World {
    root: TempDir,
    pub env: BTreeMap<String, String>,
    /// Names of the cgroups that the taskscales of this world create.
    groups: Mutex<Vec<String>>,
}

impl World {
    pub fn new(entries: &[FakeEntry]) -> World {
        let root = tempfile::Builder::new().prefix("taskscale-test-").tempdir().expect("a temporary folder");
        let world = World { root, env: BTreeMap::new(), groups: Mutex::new(Vec::new()) };
        for folder in ["bin", "catalog/fake", "tmp", "run", "pids"] {
            fs::create_dir_all(world.path(folder)).expect("a folder");
        }
        link(Path::new(env!("CARGO_BIN_EXE_taskscale")), &world.path("bin/taskscale"));
        link(fake_entry(), &world.fake());
        fs::write(world.manifest(), world.manifest_of(entries)).expect("a manifest");
        world
    }

    pub fn path(&self, inside: &str) -> PathBuf {
        self.root.path().join(inside)
    }

    /// The scripted program of this world.
    pub fn fake(&self) -> PathBuf {
        self.path("bin/fake-entry")
    }

    pub fn manifest(&self) -> PathBuf {
        self.path("catalog/fake/runtime.toml")
    }

    pub fn manifest_of(&self, entries: &[FakeEntry]) -> String {
        let fake = self.fake();
        let mut text = format!(
            "name = \"fake\"\ntitle = \"Scripted\"\nurl = \"https://example.org\"\nversion = [{:?}, \"--version\"]\n\
             install = {{ other = \"it comes with taskscale\" }}\n\n",
            fake.display().to_string()
        );
        text.extend(entries.iter().map(|entry| entry.toml(&fake)));
        text
    }

    /// taskscale in this world, with only those variables of the tester's environment that locate programs.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(self.path("bin/taskscale"));
        // First, as it would be an argument of the measured program after `--`.
        command.args(["--catalog".as_ref(), self.path("catalog").as_os_str()]).args(args).env_clear();
        for name in ["PATH", "HOME", "LANG", "USER", "DBUS_SESSION_BUS_ADDRESS"] {
            command.envs(std::env::var_os(name).map(|value| (name, value)));
        }
        if let Some(runtime) = std::env::var_os("XDG_RUNTIME_DIR") {
            // An ordinary user's taskscale asks systemd for a cgroup, over the user's own bus.
            let bus = Path::new(&runtime).join("bus");
            if bus.exists() {
                command.env("DBUS_SESSION_BUS_ADDRESS", format!("unix:path={}", bus.display()));
            }
        }
        command
            .env("TASKSCALE_CACHE", self.path("cache"))
            .env("TASKSCALE_LOCK", self.path("lock"))
            .env("TMPDIR", self.path("tmp"))
            .env("XDG_RUNTIME_DIR", self.path("run"))
            .envs(std::env::var_os("TASKSCALE_CGROUP").map(|value| ("TASKSCALE_CGROUP", value)))
            .envs(&self.env)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        // SAFETY: plain system calls between fork and exec. A script's background job ignores SIGINT, and so would
        // taskscale: tests must not depend on how they were started.
        unsafe {
            command.pre_exec(|| {
                for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
                    libc::signal(signal, libc::SIG_DFL);
                }
                Ok(())
            });
        }
        command
    }

    /// taskscale on a terminal of `columns` columns with `typed` as input. All its output is on standard
    /// output. `None`, reported as skipped, without `script` (Debian: bsdutils) to make a terminal.
    pub fn on_terminal(&self, columns: u32, args: &[&str], typed: &str) -> Option<Command> {
        if !on_path("script") {
            skipped("no `script` (util-linux) is here to make a terminal");
            return None;
        }
        let own = self.command(args);
        let words = std::iter::once(own.get_program()).chain(own.get_args());
        let words: Vec<String> = words.map(|word| word.to_string_lossy().into_owned()).collect();
        let line = format!("stty cols {columns}; exec {}", taskscale::document::command_line(&words));
        let mut command = Command::new("sh");
        // The input does not wait for questions, and ends with `typed`.
        command.arg("-c").arg(r#"printf %s "$2" | script -qec "$1" /dev/null"#).args(["sh", &line, typed]);
        command.env_clear().envs(own.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.env("TERM", "xterm").env("SHELL", "/bin/sh").current_dir(self.path(""));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Some(command)
    }

    /// `taskscale run @all --quick -o DIR` with more arguments.
    pub fn campaign(&self, folder: &str, more: &str) -> Command {
        let folder = self.path(folder).display().to_string();
        let mut args = vec!["run", "@all", "--quick", "-o", &folder];
        args.extend(more.split_whitespace());
        self.command(&args)
    }

    pub fn start(&self, mut command: Command) -> RunningProcess<'_> {
        let begun = Instant::now();
        let mut child = command.spawn().expect("taskscale starts");
        let base = format!("taskscale-{}-{}", child.id(), start_ticks(child.id()).unwrap_or(0));
        self.groups.lock().unwrap().push(base);
        let (stdout, stderr) = (child.stdout.take().map(collect), child.stderr.take().map(collect));
        RunningProcess { _world: self, child, stdout, stderr, begun }
    }

    pub fn run(&self, command: Command) -> Finished {
        self.start(command).wait()
    }

    /// Runs any program, not only taskscale, with its output kept and with the same time limit.
    pub fn run_plain(&self, mut command: Command) -> Finished {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        self.run(command)
    }

    /// The campaign of a folder, as taskscale itself reads it.
    pub fn load(&self, folder: &str) -> Loaded {
        record::load(&self.path(folder)).expect("a campaign")
    }

    /// The last attempt of each run: a busy machine may cause several.
    pub fn runs(&self, folder: &str) -> Vec<Sample> {
        record::last_attempts(&self.load(folder).samples).into_iter().cloned().collect()
    }

    /// Whether a run in this folder or below it was CPU-starved in its last attempt.
    pub fn any_starved(&self, folder: &str) -> bool {
        let files = list(&self.path(folder)).into_iter().filter(|path| path.ends_with("samples.jsonl"));
        let mut campaigns = files.filter_map(|file| record::load(file.parent()?).ok());
        campaigns.any(|loaded| record::last_attempts(&loaded.samples).into_iter().any(|run| was_starved(run)))
    }

    /// These runs by entry, if each entry has one.
    pub fn samples(&self, folder: &str) -> BTreeMap<String, Sample> {
        let runs = self.runs(folder).into_iter();
        runs.map(|sample| (sample.entry.trim_start_matches("fake/").to_owned(), sample)).collect()
    }

    /// Samples on the disk now, while a campaign may be writing.
    pub fn sample_count(&self, folder: &str) -> usize {
        let text = fs::read_to_string(self.path(folder).join("samples.jsonl")).unwrap_or_default();
        text.matches('\n').count()
    }

    /// Waits until `so` returns true.
    pub fn until(&self, what: &str, mut so: impl FnMut() -> bool) {
        let deadline = Instant::now() + TIMEOUT;
        while !so() {
            assert!(Instant::now() < deadline, "waited in vain until {what}");
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// Living processes of a program of this world: `taskscale` or `fake-entry`.
    pub fn processes(&self, program: &str) -> Vec<LeftProcess> {
        left::processes(&self.path("bin").join(program))
    }

    /// Asserts that nothing that ran here is left: no process, no cgroup, no temporary file.
    pub fn assert_nothing_left(&self) {
        self.assert_no_processes();
        let groups = left::groups(&self.groups.lock().unwrap());
        assert!(groups.is_empty(), "control groups were left behind: {groups:?}");
        let files = [list(&self.path("tmp")), list(&self.path("run"))].concat();
        assert!(files.is_empty(), "temporary files were left behind: {files:?}");
    }

    pub fn assert_no_processes(&self) {
        let left = [self.processes("fake-entry"), self.processes("taskscale")].concat();
        assert!(left.is_empty(), "processes were left behind: {left:?}");
    }

    /// The files of the world's folder with their contents, to test that nothing was written.
    pub fn snapshot(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let files = list(self.root.path()).into_iter();
        files
            .filter(|path| !path.starts_with(self.path("bin")))
            .map(|path| (path.clone(), fs::read(&path).unwrap_or_default()))
            .collect()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        // Something is left only after a failed test. Kills by pidfds of processes that run this world's
        // programs.
        for program in ["taskscale", "fake-entry"] {
            for process in self.processes(program) {
                process.kill(libc::SIGKILL);
            }
        }
    }
}

/// The command with its standard error in a file, which can be read while it runs.
pub fn overheard(mut command: Command, path: &Path) -> Command {
    command.stderr(fs::File::create(path).unwrap());
    command
}

pub fn says(path: &Path, what: &str) -> bool {
    fs::read_to_string(path).unwrap().contains(what)
}

/// A hard link if possible, else a copy: only the path matters.
fn link(from: &Path, to: &Path) {
    if fs::hard_link(from, to).is_err() {
        copy_program(from, to);
    }
}

/// Copies a program so that it can be run at once. Another process copies: a concurrent test that forks would
/// keep the file open for writing for a moment, and such a file cannot be run.
pub fn copy_program(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg(from).arg(to).status();
    assert!(copied.is_ok_and(|status| status.success()), "{} cannot be copied", from.display());
}

/// Writes a script that can be run at once, also by another process.
pub fn write_script(path: &Path, text: &str) {
    let mut writer = Command::new("sh")
        .args(["-c", r#"cat >"$0" && chmod 755 "$0""#])
        .arg(path)
        .stdin(Stdio::piped())
        .spawn()
        .expect("sh starts");
    let mut into = writer.stdin.take().expect("its input");
    into.write_all(text.as_bytes()).expect("a script");
    drop(into);
    assert!(writer.wait().is_ok_and(|status| status.success()), "{} cannot be written", path.display());
}

/// Every file and folder below.
pub fn list(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for child in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = child.path();
        if child.file_type().is_ok_and(|kind| kind.is_dir()) {
            found.extend(list(&path));
        }
        found.push(path);
    }
    found.sort();
    found
}

pub fn on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).exists())
}

/// Reports that a test cannot run here. Not through `eprintln!`, which the test harness hides.
pub fn skipped(why: &str) {
    assert!(
        std::env::var("TASKSCALE_REQUIRE").as_deref() != Ok("all"),
        "TASKSCALE_REQUIRE=all, and yet: {why}"
    );
    not_possible_here(why);
}

/// Reports that a test cannot go on, as its runs were CPU-starved. That is no failure: nothing is missing here.
pub fn skipped_as_starved() {
    not_possible_here("a run was CPU-starved, so its values prove nothing");
}

/// Says that something is left out because this machine cannot do it, also where the test passes: libtest hides what
/// `println!` prints.
pub fn not_possible_here(why: &str) {
    let _ = std::io::stderr().write_all(format!("SKIPPED: {why}\n").as_bytes());
}

pub fn is_root() -> bool {
    // SAFETY: a plain system call.
    unsafe { libc::geteuid() == 0 }
}

/// Asserts that nothing in a text acts on a terminal: no control character but line ends.
#[track_caller]
pub fn assert_harmless(what: &str, text: &str) {
    let acting = text.chars().find(|c| taskscale::report::acts(*c) && *c != '\n');
    assert!(acting.is_none(), "{what} holds {acting:?}:\n{text:?}");
}
