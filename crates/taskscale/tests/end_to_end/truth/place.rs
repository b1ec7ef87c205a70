//! Where the suite runs: on this machine, or in a VM. The taskscale program measures in both.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use taskscale::record::{self, MemorySource, Sample, Warning};

use super::cases::{DATA_BYTES, DATA_FILE, TruthCase};
use crate::support::{copy_program, fake_entry};

/// Cases for places that differ from another only in how the cgroup is reached.
pub const FEW: &[&str] = &[
    "nothing",
    "anon-10",
    "anon-100",
    "memfd",
    "threads",
    "processes-0",
    "processes",
    "sockets",
    "peak-launch",
    "peak-drain",
    "given-back",
];

/// Number of cases, besides their references.
const IN_ONE_CAMPAIGN: usize = 3;

/// One way to measure.
pub struct Setup {
    pub title: &'static str,
    /// The required memory source. `None`: whichever this machine offers.
    pub source: Option<MemorySource>,
    /// The warning that every sample must have.
    pub warning: Option<Warning>,
    /// The names of the cases. Empty: all.
    pub only: &'static [&'static str],
    /// Environment of taskscale.
    pub env: &'static [(&'static str, &'static str)],
    /// The command that runs another in a VM, and the home of its user there.
    pub vm: Option<(&'static [&'static str], &'static str)>,
}

/// Why there are no samples.
pub enum NoSamples {
    Skipped(String),
    Failed(String),
}

pub fn here() -> Setup {
    Setup { title: "this machine", source: None, warning: None, only: &[], env: &[], vm: None }
}

pub fn here_by_proc() -> Setup {
    Setup {
        title: "this machine, forced",
        source: Some(MemorySource::Proc),
        warning: Some(Warning::NoControlGroup),
        only: &[],
        env: &[("TASKSCALE_CGROUP", "none")],
        vm: None,
    }
}

pub fn vms() -> Vec<Setup> {
    let v2 = |title, command, home| Setup {
        title,
        source: Some(MemorySource::CgroupV2),
        warning: None,
        only: &[],
        env: &[],
        vm: Some((command, home)),
    };
    vec![
        v2("VM, root", &["run", "--as", "root"], "/root"),
        v2("VM, delegated", &["run", "--as", "delegated"], "/home/user"),
        Setup { only: FEW, ..v2("VM, systemd user", &["systemd"], "/home/alice") },
        Setup {
            only: FEW,
            warning: Some(Warning::PeakSampled),
            env: &[("TASKSCALE_CGROUP", "no-peak")],
            ..v2("VM, no memory.peak", &["run", "--as", "root"], "/root")
        },
        Setup {
            source: Some(MemorySource::Proc),
            warning: Some(Warning::NoControlGroup),
            ..v2("VM, no delegation", &["run", "--as", "plain"], "/home/user")
        },
    ]
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// taskscale and the scripted program, built for here, or static for a VM (tests/vm/truth names their folder).
fn programs(vm: bool) -> Result<(PathBuf, PathBuf), NoSamples> {
    if vm {
        let Some(folder) = std::env::var_os("TASKSCALE_TRUTH_STATIC").map(PathBuf::from) else {
            return Err(NoSamples::Failed("TASKSCALE_TRUTH_STATIC is not set: run tests/vm/truth".into()));
        };
        return Ok((folder.join("taskscale"), folder.join("fake-entry")));
    }
    Ok((PathBuf::from(env!("CARGO_BIN_EXE_taskscale")), fake_entry().to_owned()))
}

/// Fills the folder `host`, which taskscale sees as `guest`: the program, the file that it maps, and a catalog
/// with an entry for each case. Both files are outside the catalog, whose files taskscale digests.
fn write_files(host: &Path, guest: &Path, cases: &[&TruthCase], fake: &Path) {
    let runtime = host.join("catalog/fake");
    fs::create_dir_all(&runtime).unwrap();
    copy_program(fake, &host.join("fake-entry"));
    fs::write(host.join(DATA_FILE), vec![7; DATA_BYTES as usize]).unwrap();
    let mut manifest = String::from(
        "name = \"fake\"\ntitle = \"Scripted\"\nurl = \"https://example.org\"\nversion = [\"echo\", \"scripted 1.0\"]\n\
         install = { other = \"nothing\" }\n",
    );
    for case in cases {
        // The program waits from its start. If touching its memory takes longer than the wait (on an emulated
        // processor), `alive` comes last. A pause before its end lets taskscale see a wait that was too short,
        // not a lie, and try a longer one.
        let words = ["DIR/fake-entry", "--drain-ms", "500"].iter().chain(case.args);
        let run: Vec<_> =
            words.map(|word| format!("{:?}", word.replace("DIR", &guest.to_string_lossy()))).collect();
        manifest.push_str(&format!(
            "[[entry]]\nname = \"{}\"\ntitle = \"{0}\"\nkind = \"stackless\"\nparallel = false\nstyle = \"idiomatic\"\n\
             why = \"its memory is known\"\nworkloads.sleep = {{ run = [{}] }}\n",
            case.name,
            run.join(", "),
        ));
    }
    fs::write(runtime.join("runtime.toml"), manifest).unwrap();
}

impl Setup {
    /// Measures every case of this place once, and references once per campaign. All share one VM. On this
    /// machine they are a few parallel campaigns, as their programs mostly wait.
    pub fn measure_all(&self, cases: &[TruthCase]) -> Result<Vec<Sample>, NoSamples> {
        let wanted = |case: &&TruthCase| self.only.is_empty() || self.only.contains(&case.name);
        let wanted: Vec<&TruthCase> = cases.iter().filter(wanted).collect();
        if self.vm.is_some() {
            return self.measure(&wanted, 1, 1);
        }
        let looked_at: Vec<&TruthCase> =
            wanted.iter().filter(|case| !case.expects.is_empty()).copied().collect();
        let parts = looked_at.chunks(IN_ONE_CAMPAIGN).map(|part| {
            let in_part =
                |case: &&TruthCase| part.iter().any(|one| [one.name, one.reference].contains(&case.name));
            wanted.iter().copied().filter(in_part).collect::<Vec<_>>()
        });
        let samples: Vec<Result<_, _>> = std::thread::scope(|scope| {
            let parts: Vec<_> = parts.map(|part| scope.spawn(move || self.measure(&part, 1, 1))).collect();
            parts.into_iter().map(|part| part.join().unwrap()).collect()
        });
        Ok(samples.into_iter().collect::<Result<Vec<_>, _>>()?.concat())
    }

    /// Measures one campaign, and returns the last attempt of each repetition.
    pub fn measure(
        &self,
        cases: &[&TruthCase],
        repetitions: u32,
        seed: u64,
    ) -> Result<Vec<Sample>, NoSamples> {
        let (taskscale, fake) = programs(self.vm.is_some())?;
        let work = tempfile::Builder::new().prefix("truth-").tempdir().unwrap();
        let (host, results) = (work.path().join("truth"), work.path().join("results"));
        let guest = if self.vm.is_some() { PathBuf::from("/truth") } else { host.clone() };
        write_files(&host, &guest, cases, &fake);

        let mut command = match self.vm {
            None => {
                let mut command = Command::new(&taskscale);
                // Separate from the user's taskscale, and from other tests.
                command
                    .env("TASKSCALE_CACHE", work.path().join("cache"))
                    .env("TASKSCALE_LOCK", work.path().join("lock"))
                    .env("TMPDIR", work.path());
                command.envs(self.env.iter().copied());
                // Fixed addresses, as the start of a stack in its page decides whether each process has one
                // more page. SAFETY: one system call between fork and exec. Inherited by what taskscale starts.
                unsafe {
                    command.pre_exec(|| match libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong) {
                        -1 => Err(std::io::Error::last_os_error()),
                        _ => Ok(()),
                    });
                }
                command
            }
            Some((vm, home)) => {
                let mut command = Command::new(repository().join("tests/vm").join(vm[0]));
                command.args(&vm[1..]).args(["--memory", "2048M", "--timeout", "480"]);
                copy_program(&taskscale, &host.join("taskscale"));
                command.arg("--file").arg(format!("{}:{}", host.display(), guest.display()));
                command.arg("--out").arg(format!("{home}/results:{}", results.display())).arg("--");
                if !self.env.is_empty() {
                    command.arg("env").args(self.env.iter().map(|(name, value)| format!("{name}={value}")));
                }
                command.arg("/truth/taskscale");
                command
            }
        };
        let output = self.vm.map_or_else(|| results.clone(), |(_, home)| Path::new(home).join("results"));
        command
            .args(["run", "fake", "-n", "1", "--quiet", "--format", "json"])
            .args(["-r", &repetitions.to_string(), "--seed", &seed.to_string()])
            .arg("--catalog")
            .arg(guest.join("catalog"))
            .arg("-o")
            .arg(output);
        let run = command.output().map_err(|error| NoSamples::Failed(format!("{command:?}: {error}")))?;
        let stderr = String::from_utf8_lossy(&run.stderr);
        if self.vm.is_some() && run.status.code() == Some(77) {
            return Err(NoSamples::Skipped(stderr.into_owned()));
        }
        let loaded = record::load(&results)
            .map_err(|error| NoSamples::Failed(format!("{command:?}: {}: {error}\n{stderr}", run.status)))?;
        Ok(record::last_attempts(&loaded.samples).into_iter().cloned().collect())
    }

    /// Whether files, including programs, are in memory (tmpfs), where a mapped file's pages are shared memory.
    pub fn files_in_memory(&self) -> bool {
        self.vm.is_some()
    }
}
