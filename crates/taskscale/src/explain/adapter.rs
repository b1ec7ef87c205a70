//! Asks a runtime or an allocator how it uses its memory.
//!
//! An adapter loads a hook into the program through environment variables, in separate runs. The hook writes
//! `PID.ready` into the probe's folder, waits for SIGUSR2, and then writes `PID.parts`: a line for each part,
//! `live BYTES NAME` or `unused BYTES NAME`. The JVM needs only `jcmd`. malloc's hook keeps its counts in a
//! file, as a signal would interrupt a C program's waits.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process};

use super::mappings::{MappingClass, Mappings};
use super::sheet::{AdapterAnswer, PartBytes, PartName, PartSource, add_bytes};
use super::{jvm, malloc};
use crate::catalog::Adapter;

/// The variable that names a folder to the hooks.
const PROBE: &str = "TASKSCALE_PROBE";
/// Timeout for a hook's answer: it may collect garbage and walk over all objects.
const TIMEOUT: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(5);

/// Names of mapped files and the adapter that each selects, the most specific first. No adapter supports
/// allocators that replace glibc's.
const TELLING: [(&str, Adapter); 10] = [
    ("libjvm.so", Adapter::Jvm),
    ("libcoreclr.so", Adapter::Dotnet),
    ("beam.smp", Adapter::Beam),
    ("libpython3", Adapter::Cpython),
    ("python3", Adapter::Cpython),
    ("node", Adapter::V8),
    ("libjemalloc", Adapter::None),
    ("libmimalloc", Adapter::None),
    ("libtcmalloc", Adapter::None),
    ("libc.so.6", Adapter::Malloc),
];

/// Magic bytes of programs and libraries.
const ELF: &[u8] = b"\x7fELF";
/// Magic bytes before the build info in a Go program.
const GO_BUILD: &[u8] = b"\xff Go buildinf:";

/// The adapter for a program with these mapped files, and why it was selected.
pub fn adapter_for(mappings: &Mappings) -> Option<(Adapter, String)> {
    let named = |start: &str| {
        mappings.files.iter().find(|path| {
            let name = path.rsplit('/').next().unwrap_or(path);
            name.strip_prefix(start).is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphabetic()))
        })
    };
    let is_go = |path: &&String| is_go(Path::new(path));
    if let Some(program) = mappings.files.iter().find(is_go) {
        return Some((Adapter::Go, format!("{program} was built by Go")));
    }
    TELLING.into_iter().find_map(|(start, adapter)| Some((adapter, format!("{} is mapped", named(start)?))))
}

/// The test whether an adapter explains mappings of a class.
pub fn covers(adapter: Adapter) -> fn(&MappingClass) -> bool {
    use MappingClass::{Anonymous, Arena, Heap, Named, ThreadStack};
    match adapter {
        Adapter::None => |_| false,
        // Their heaps are anonymous mappings. The brk heap belongs to native libraries.
        Adapter::V8 | Adapter::Dotnet => |class| matches!(class, Anonymous(_) | Arena | Named(_)),
        // Go's heap contains the stacks of its threads and goroutines, so part of it may look like thread
        // stacks.
        Adapter::Go => |class| matches!(class, Anonymous(_) | Arena | Named(_) | ThreadStack),
        Adapter::Malloc => |class| matches!(class, Heap | Arena),
        Adapter::Beam | Adapter::Cpython | Adapter::Jvm => {
            |class| matches!(class, Anonymous(_) | Arena | Named(_) | Heap)
        }
    }
}

fn is_go(program: &Path) -> bool {
    let Ok(mut file) = fs::File::open(program) else { return false };
    let mut text = vec![0; ELF.len()];
    // Mapped files may be large, so only programs and libraries are read completely.
    let is_elf = file.read_exact(&mut text).is_ok() && text == ELF;
    is_elf
        && file.read_to_end(&mut text).is_ok()
        && text.windows(GO_BUILD.len()).any(|bytes| bytes == GO_BUILD)
}

/// The name and text of a hook's file.
type HookFile = (&'static str, &'static str);

pub const GO: HookFile = ("probe.go", include_str!("hooks/probe.go"));

/// The files of an adapter's hook.
fn files(adapter: Adapter) -> &'static [HookFile] {
    match adapter {
        Adapter::None | Adapter::Jvm => &[],
        Adapter::Go => &[GO],
        Adapter::Malloc => &[("malloc.c", include_str!("hooks/malloc.c"))],
        Adapter::Cpython => &[("sitecustomize.py", include_str!("hooks/sitecustomize.py"))],
        Adapter::V8 => &[("hook.cjs", include_str!("hooks/hook.cjs"))],
        Adapter::Beam => &[("taskscale_probe.erl", include_str!("hooks/taskscale_probe.erl"))],
        Adapter::Dotnet => &[
            ("StartupHook.cs", include_str!("hooks/StartupHook.cs")),
            ("probe.csproj", include_str!("hooks/probe.csproj")),
        ],
    }
}

/// The command that builds the hook, `{hook}` being its folder; empty if nothing is built.
fn build_command(adapter: Adapter) -> &'static str {
    match adapter {
        Adapter::Malloc => "cc -O2 -shared -fPIC -o {hook}/malloc.so {hook}/malloc.c -lpthread",
        Adapter::Beam => "erlc taskscale_probe.erl",
        Adapter::Dotnet => "dotnet build probe.csproj --nologo --disable-build-servers -c Release -o hook",
        // Go's hook is compiled into the program: see `with_go_hook`.
        Adapter::None | Adapter::Go | Adapter::Cpython | Adapter::V8 | Adapter::Jvm => "",
    }
}

/// The variable that loads the hook, `{hook}` being its folder.
fn variable(adapter: Adapter) -> Option<(&'static str, &'static str)> {
    Some(match adapter {
        Adapter::None | Adapter::Go => return None,
        Adapter::Malloc => ("LD_PRELOAD", "{hook}/malloc.so"),
        Adapter::Cpython => ("PYTHONPATH", "{hook}"),
        Adapter::V8 => ("NODE_OPTIONS", "--require={hook}/hook.cjs"),
        Adapter::Beam => ("ERL_AFLAGS", "-pa {hook} -run taskscale_probe start"),
        Adapter::Dotnet => ("DOTNET_STARTUP_HOOKS", "{hook}/hook/probe.dll"),
        Adapter::Jvm => ("JAVA_TOOL_OPTIONS", "-XX:NativeMemoryTracking=summary"),
    })
}

/// An adapter ready to be used: its hook is built.
#[derive(Debug, Clone)]
pub struct AdapterHook {
    pub adapter: Adapter,
    /// Where hooks write; TASKSCALE_PROBE names it to the program.
    folder: PathBuf,
    env: BTreeMap<String, String>,
}

impl AdapterHook {
    /// Writes and builds the hook in `folder`. The hook writes its answers into `answers`. The error is a
    /// sentence.
    pub fn prepare(adapter: Adapter, folder: &Path, answers: &Path) -> Result<AdapterHook, String> {
        for new in [folder, answers] {
            fs::create_dir_all(new).map_err(|error| format!("cannot create {}: {error}", new.display()))?;
        }
        let shown = |path: &Path| path.display().to_string();
        // LD_PRELOAD, PYTHONPATH and the like are separated by spaces or colons.
        if shown(folder).contains([' ', '\t', ':']) {
            let why = "a folder of adapters may have no space or colon in its name: set TMPDIR";
            return Err(format!("{}: {why}", folder.display()));
        }
        for (name, text) in files(adapter) {
            let path = folder.join(name);
            fs::write(&path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        }
        let filled = |text: &str| text.replace("{hook}", &shown(folder));
        let command: Vec<String> = build_command(adapter).split_whitespace().map(filled).collect();
        if let [program, words @ ..] = &command[..] {
            build(program, words, folder)?;
        }
        let mut env = BTreeMap::from([(PROBE.to_owned(), shown(answers))]);
        env.extend(variable(adapter).map(|(name, value)| (name.to_owned(), filled(value))));
        Ok(AdapterHook { adapter, folder: answers.to_owned(), env })
    }

    /// Adds the variables that load the hook to a program's environment. All but its own are lists, so existing values
    /// are kept.
    pub fn add_to(&self, env: &mut BTreeMap<String, String>) {
        for (name, value) in &self.env {
            let between = if name.ends_with("OPTIONS") || name.ends_with("FLAGS") { " " } else { ":" };
            let own = env.get(name).filter(|_| name != PROBE).map(|own| format!("{between}{own}"));
            env.insert(name.clone(), format!("{value}{}", own.unwrap_or_default()));
        }
    }

    /// Asks the processes of a run, whose memory was just read.
    pub fn ask(&self, pids: &[u32], mappings: &Mappings) -> Result<AdapterAnswer, String> {
        let resident = mappings.resident_of(covers(self.adapter));
        match self.adapter {
            Adapter::Jvm => jvm::ask(pids),
            Adapter::Malloc => malloc::ask(pids, &self.folder, resident).map(AdapterAnswer::of),
            Adapter::Beam => {
                let mut parts = self.ask_hooks(pids)?;
                leave_out_untouched(&mut parts, resident);
                Ok(AdapterAnswer::of(parts))
            }
            _ => self.ask_hooks(pids).map(AdapterAnswer::of),
        }
    }

    fn ask_hooks(&self, pids: &[u32]) -> Result<PartBytes, String> {
        let asked: Vec<u32> = pids.iter().copied().filter(|pid| self.file(*pid, "ready").exists()).collect();
        if asked.is_empty() {
            let name = self.adapter.name();
            return Err(format!(
                "the hook of the adapter `{name}` was not loaded (`--adapter none` leaves it out)"
            ));
        }
        let mut parts = PartBytes::new();
        for pid in asked {
            let Some(process) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { continue };
            // Remove the answer to an earlier reading.
            let _ = fs::remove_file(self.file(pid, "parts"));
            match kill_process(process, Signal::USR2) {
                // It has ended.
                Err(Errno::SRCH) => continue,
                sent => sent.map_err(|error| format!("cannot ask process {pid}: {error}"))?,
            }
            add(&mut parts, &self.answer(pid)?)?;
        }
        Ok(parts)
    }

    fn file(&self, pid: u32, ending: &str) -> PathBuf {
        self.folder.join(format!("{pid}.{ending}"))
    }

    fn answer(&self, pid: u32) -> Result<String, String> {
        let (path, asked) = (self.file(pid, "parts"), Instant::now());
        while asked.elapsed() < TIMEOUT {
            if let Ok(text) = fs::read_to_string(&path) {
                return Ok(text);
            }
            std::thread::sleep(POLL);
        }
        let (name, seconds) = (self.adapter.name(), TIMEOUT.as_secs());
        Err(format!("the hook of the adapter `{name}` did not answer within {seconds} s"))
    }
}

/// Reduces unused parts until all parts fit into the resident bytes. BEAM counts carriers as mapped, but only
/// free space can be untouched.
fn leave_out_untouched(parts: &mut PartBytes, resident_bytes: f64) {
    let untouched = (parts.values().sum::<f64>() - resident_bytes).max(0.0);
    let is_free = |name: &PartName| name.group == PartSource::Unused;
    let free: f64 = parts.iter().filter(|(name, _)| is_free(name)).map(|(_, bytes)| bytes).sum();
    let kept = if free > 0.0 { (1.0 - untouched / free).max(0.0) } else { 1.0 };
    parts.iter_mut().filter(|(name, _)| is_free(name)).for_each(|(_, bytes)| *bytes *= kept);
}

/// Adds the lines of a hook's answer.
fn add(parts: &mut PartBytes, text: &str) -> Result<(), String> {
    for line in text.lines() {
        let wrong = || format!("a hook wrote {line:?}, expected `live BYTES NAME`");
        let (group, name, bytes) = part(line).ok_or_else(wrong)?;
        add_bytes(parts, group, name, bytes);
    }
    Ok(())
}

fn part(line: &str) -> Option<(PartSource, &str, f64)> {
    let (group, rest) = line.split_once(' ')?;
    let (bytes, name) = rest.split_once(' ')?;
    let group = match group {
        "live" => PartSource::Live,
        "unused" => PartSource::Unused,
        _ => return None,
    };
    Some((group, name, bytes.parse().ok().filter(|bytes: &f64| bytes.is_finite())?))
}

/// Runs a compiler in `folder`.
fn build(program: &str, words: &[String], folder: &Path) -> Result<(), String> {
    let output = Command::new(program).args(words).current_dir(folder).stdin(Stdio::null()).output();
    let output = output
        .map_err(|error| format!("`{program}` builds the adapter's hook, and cannot be started: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    let why = said.lines().last().unwrap_or("it failed");
    Err(format!("`{program}` cannot build the adapter's hook: {why}"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn mapped(files: &[&str]) -> Mappings {
        Mappings {
            files: files.iter().map(|file| (*file).to_owned()).collect::<BTreeSet<_>>(),
            ..Mappings::default()
        }
    }

    #[test]
    fn the_most_specific_file_selects_the_adapter() {
        let of = |files: &[&str]| adapter_for(&mapped(files)).map(|(adapter, _)| adapter);
        assert_eq!(of(&["/usr/lib/libc.so.6", "/opt/jdk/lib/server/libjvm.so"]), Some(Adapter::Jvm));
        assert_eq!(of(&["/usr/bin/python3.11", "/usr/lib/libc.so.6"]), Some(Adapter::Cpython));
        assert_eq!(of(&["/usr/bin/node", "/usr/lib/libc.so.6"]), Some(Adapter::V8));
        assert_eq!(of(&["/usr/lib/libnodeless.so", "/usr/lib/libc.so.6"]), Some(Adapter::Malloc));
        assert_eq!(of(&["/usr/lib/libc.so.6", "/usr/lib/libjemalloc.so.2"]), Some(Adapter::None));
        assert_eq!(of(&["/home/me/static"]), None);
        let (_, why) = adapter_for(&mapped(&["/usr/lib/libc.so.6"])).unwrap();
        assert_eq!(why, "/usr/lib/libc.so.6 is mapped");
    }

    #[test]
    fn hooks_are_prepended_to_existing_variables() {
        let hook = |name: &str, value: &str| AdapterHook {
            adapter: Adapter::Malloc,
            folder: PathBuf::new(),
            env: BTreeMap::from([(name.to_owned(), value.to_owned())]),
        };
        let mut env = BTreeMap::from(
            [("NODE_OPTIONS", "--stack-size=100"), ("PYTHONPATH", "/lib")]
                .map(|(name, value)| (name.to_owned(), value.to_owned())),
        );
        hook("NODE_OPTIONS", "--require=/hook.cjs").add_to(&mut env);
        hook("PYTHONPATH", "/hook").add_to(&mut env);
        hook("LD_PRELOAD", "/malloc.so").add_to(&mut env);
        let values: Vec<&str> = env.values().map(String::as_str).collect();
        assert_eq!(values, ["/malloc.so", "--require=/hook.cjs --stack-size=100", "/hook:/lib"]);
    }

    #[test]
    fn only_unused_heap_is_reduced_to_the_resident_size() {
        let part = |group: PartSource, bytes: f64| (PartName { group, name: "x".to_owned() }, bytes);
        let left = |resident: f64| {
            let mut parts = PartBytes::from([part(PartSource::Live, 70.0), part(PartSource::Unused, 40.0)]);
            leave_out_untouched(&mut parts, resident);
            parts.into_values().collect::<Vec<_>>()
        };
        assert_eq!([left(200.0), left(100.0), left(60.0)], [[70.0, 40.0], [70.0, 30.0], [70.0, 0.0]]);
    }

    #[test]
    fn answers_sum_bytes_by_name_and_refuse_invalid_lines() {
        let mut parts = PartBytes::new();
        add(&mut parts, "live 2048 goroutine stacks\nunused 12.5 free spans\nlive 2 goroutine stacks\n")
            .unwrap();
        let bytes: Vec<f64> = parts.values().copied().collect();
        assert_eq!(bytes, [2050.0, 12.5]);
        assert!(add(&mut parts, "dead 1 x").unwrap_err().contains("dead 1 x"));
        assert!(add(&mut parts, "live NaN x").is_err() && add(&mut parts, "live 1").is_err());
    }
}
