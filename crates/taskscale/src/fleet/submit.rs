//! The jobs for Slurm: batch scripts, their order, and what is submitted again.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::folder::{Submission, check_trust, program_in};
use super::status::numbers;
use super::{Fleet, FleetError, FleetPlan, FleetResult, Machines, NodeSelector, Target, at, slurm};
use crate::catalog::trust::{Others, distrust};
use crate::document::quoted;
use crate::files::if_there;
use crate::record::Timestamp;

/// The most elements of an array: Slurm's own default (MaxArraySize) is one more.
const LONGEST_ARRAY: usize = 1_000;
/// Seconds from SIGTERM to the end of a job's time, in which a campaign stores its last sample.
const GRACE_PERIOD_S: u32 = 60;
/// Folders that build tools leave beside sources.
const MADE: [&str; 5] = ["target", "node_modules", "__pycache__", "obj", "_build"];

/// A batch script and its targets.
#[derive(Debug, Clone, PartialEq)]
pub struct BatchScript {
    pub name: String,
    pub text: String,
    /// In the order of the array's elements, from 1. Without an array one target, or none.
    pub targets: Vec<String>,
    pub is_array: bool,
}

/// The scripts of a plan.
#[derive(Debug)]
pub struct Scripts {
    pub build: Vec<BatchScript>,
    pub measure: Vec<BatchScript>,
    pub gather: BatchScript,
}

/// The targets of a plan: each node that it lists, or the given number of a kind.
pub fn targets(
    plan: &FleetPlan,
    expand: &dyn Fn(&str) -> FleetResult<Vec<String>>,
) -> FleetResult<Vec<Target>> {
    let mut targets = Vec::new();
    for machines in &plan.machines {
        let target = |suffix: &str, node: Option<String>| Target {
            name: format!("{}-{suffix}", machines.name),
            machines: machines.name.clone(),
            node,
        };
        match &machines.at().nodelist {
            Some(list) => targets.extend(expand(list)?.iter().map(|node| target(node, Some(node.clone())))),
            None => {
                targets.extend((1..=machines.count.unwrap_or(1)).map(|nth| target(&nth.to_string(), None)));
            }
        }
    }
    let names: BTreeSet<&String> = targets.iter().map(|target| &target.name).collect();
    if names.len() < targets.len() {
        return Err(FleetError::ListedTwice);
    }
    Ok(targets)
}

/// The batch scripts of a plan. Each can be run by hand, on the machine that it is for.
pub fn scripts(plan: &FleetPlan, fleet: &Fleet, architectures: &[BTreeSet<String>]) -> Scripts {
    let mut build = Vec::new();
    let mut built = BTreeSet::new();
    let mut measure = Vec::new();
    for (machines, architectures) in plan.machines.iter().zip(architectures) {
        let writer = ScriptWriter { fleet, machines };
        // Once for each architecture, or for each kind of machine whose architecture Slurm does not report.
        let known: Vec<&String> = architectures.iter().filter(|name| !built.contains(*name)).collect();
        if !known.is_empty() || architectures.is_empty() {
            let words: String =
                plan.build_arguments.iter().map(|word| format!(" {}", quoted(word))).collect();
            let catalogs: String =
                fleet.catalogs().map(|place| format!("--catalog \"$folder/{place}\" ")).collect();
            let command = format!("{catalogs}build{words}");
            let what = "Builds the entries once for machines of this architecture.";
            build.push(writer.beside(&format!("build-{}", machines.name), what, &command));
            built.extend(architectures.iter().cloned());
        }
        let own: Vec<&Target> =
            fleet.targets.iter().filter(|target| target.machines == machines.name).collect();
        if own.iter().any(|target| target.node.is_some()) || machines.clients.is_some() {
            measure.extend(own.iter().map(|target| writer.measure(&[target], None)));
            continue;
        }
        let arrays = own.chunks(LONGEST_ARRAY).enumerate();
        measure.extend(arrays.map(|(nth, targets)| writer.measure(targets, Some(nth))));
    }
    let what = "Gathers the results of all machines.";
    let writer = ScriptWriter { fleet, machines: &plan.machines[0] };
    let gather = writer.beside("gather", what, "fleet gather \"$folder\"");
    Scripts { build, measure, gather }
}

/// Writes the scripts of some machines.
struct ScriptWriter<'a> {
    fleet: &'a Fleet,
    machines: &'a Machines,
}

impl ScriptWriter<'_> {
    /// Options of sbatch, each a line of the script. `node` replaces the machines' own list of nodes, `array` is the
    /// number of elements of a job array, and with `alone` the job has its node to itself.
    fn header(&self, job: &str, node: Option<&str>, array: Option<usize>, alone: bool) -> String {
        let (folder, machines) = (self.fleet.folder.display(), self.machines);
        let at = NodeSelector { nodelist: node.map(str::to_owned), ..machines.at() };
        let mut options = vec![format!("--job-name=taskscale-{job}")];
        options.extend(at.options());
        options.extend(array.map(|last| format!("--array=1-{last}")));
        options.extend(machines.time.as_ref().map(|time| format!("--time={time}")));
        options.push("--nodes=1".to_owned());
        if alone {
            options.extend(["--exclusive", "--requeue"].map(str::to_owned));
            options.push(format!("--signal=B:TERM@{GRACE_PERIOD_S}"));
        }
        options.push("--open-mode=append".to_owned());
        options.push(format!("--chdir={folder}"));
        let element = if array.is_some() { ".%a" } else { "" };
        options.push(format!("--output={folder}/log/{job}{element}.log"));
        options.extend(machines.sbatch.iter().cloned());
        if let Some(clients) = machines.clients.as_ref().filter(|_| alone) {
            options.push("hetjob".to_owned());
            options.extend(clients.options());
            options.extend(["--nodes=1", "--exclusive"].map(str::to_owned));
        }
        options.iter().map(|option| format!("#SBATCH {option}\n")).collect()
    }

    /// The beginning of every script.
    fn preamble(&self) -> String {
        let setup: String = self.machines.setup.iter().map(|line| format!("{line}\n")).collect();
        let (folder, kind) = (self.fleet.folder.display(), &self.machines.name);
        // Without -u, which environment modules and the like may not support.
        format!(
            "set -eo pipefail\n{setup}umask go-w\nfolder='{folder}'\nprogram=$folder/bin/$(uname -m)/taskscale\n\
             if [ ! -x \"$program\" ]; then\n  \
             echo \"no taskscale for $(uname -m) in $folder/bin; set it in the plan: [machines.{kind}] taskscale = ...\" >&2\n  \
             exit 2\nfi\n\
             export TASKSCALE_CACHE=$folder/cache/$(uname -m)\n"
        )
    }

    /// A job that does not measure, and shares its node with others.
    fn beside(&self, job: &str, what: &str, command: &str) -> BatchScript {
        // If machines are listed, the first one.
        let own = self.fleet.targets.iter().find(|target| target.machines == self.machines.name);
        let header = self.header(job, own.and_then(|target| target.node.as_deref()), None, false);
        let preamble = self.preamble();
        let text = format!("#!/bin/bash\n{header}# {what}\n{preamble}exec \"$program\" {command}\n");
        BatchScript { name: format!("{job}.sh"), text, targets: Vec::new(), is_array: false }
    }

    /// The script that measures an array of targets, or a single one.
    fn measure(&self, targets: &[&Target], array: Option<usize>) -> BatchScript {
        let (begin, end, kind) = (&targets[0].name, &targets[targets.len() - 1].name, &self.machines.name);
        let name = match array {
            Some(0) => kind.clone(),
            Some(nth) => format!("{kind}.{}", nth + 1),
            None => begin.clone(),
        };
        let target = match array {
            None => format!("# Measures {begin}. By hand: bash {name}.sh, on that machine\nslot={begin}\n"),
            Some(nth) => {
                let number = match nth * LONGEST_ARRAY {
                    0 => "$number".to_owned(),
                    first => format!("$((number + {first}))"),
                };
                let count = targets.len();
                format!(
                    "# Measures {begin} to {end}, each on a machine of its own. By hand: bash {name}.sh NUMBER\n\
                     number=${{SLURM_ARRAY_TASK_ID:-${{1:?which of them, from 1 to {count}}}}}\n\
                     slot={kind}-{number}\n"
                )
            }
        };
        let node = targets[0].node.as_deref().filter(|_| array.is_none());
        let header = self.header(&name, node, array.map(|_| targets.len()), true);
        let preamble = self.preamble();
        let (find, more) = if self.machines.clients.is_some() { APART } else { ("", "") };
        let text = format!(
            "#!/bin/bash\n{header}{target}{preamble}{find}exec \"$program\" fleet work \"$folder\" \"$slot\"{more}\n"
        );
        let targets = targets.iter().map(|target| target.name.clone()).collect();
        BatchScript { name: format!("{name}.sh"), text, targets, is_array: array.is_some() }
    }
}

/// For servers and clients on two machines: Slurm starts the clients and forwards their output.
const APART: (&str, &str) = (
    "# Clients run on the second machine of the job and connect to the address of this one.\n\
     address=$(scontrol show node \"${SLURMD_NODENAME:?a job of Slurm has it}\" --oneliner | tr ' ' '\\n' | sed -n 's/^NodeAddr=//p')\n",
    " \\\n  -- --clients 'srun --het-group=1 --ntasks=1 --unbuffered --quiet' --listen \"$address\"",
);

/// Releases the jobs that Slurm holds because it failed to start them, and returns their numbers.
pub fn release(fleet: &Fleet) -> FleetResult<Vec<String>> {
    let queue = slurm::queue(&numbers(&fleet.submissions()?))?;
    let held: Vec<String> = queue.into_iter().filter(|(_, job)| job.is_held()).map(|(id, _)| id).collect();
    if !held.is_empty() {
        slurm::release(&held)?;
    }
    Ok(held)
}

/// Submits targets that are neither published nor in an active job. In a new fleet, submits the builds first.
pub fn submit(fleet: &Fleet, scripts: &Scripts, anew: bool) -> FleetResult<Vec<Submission>> {
    let _lock = fleet.lock()?;
    let before = fleet.submissions()?;
    let mut wanted: BTreeSet<&String> = BTreeSet::new();
    for target in &fleet.targets {
        if fleet.published(target)?.is_none() {
            wanted.insert(&target.name);
        }
    }
    let queue = slurm::queue(&numbers(&before))?;
    for (job, target) in before.iter().flat_map(|one| &one.targets) {
        if queue.get(job).is_some_and(super::Job::is_active) {
            wanted.remove(target);
        }
    }
    let mut jobs = Vec::new();
    if wanted.is_empty() {
        return Ok(jobs);
    }
    for script in scripts.build.iter().filter(|_| anew) {
        jobs.push(put_in(fleet, script, &[], Vec::new())?);
    }
    let builds = jobs.len();
    // Even after a failed build: the job builds again on its node, and reports the error there.
    let dependency = |jobs: &[Submission]| match &numbers(jobs)[..] {
        [] => Vec::new(),
        jobs => vec![format!("--dependency=afterany:{}", jobs.join(":"))],
    };
    for script in &scripts.measure {
        let elements: Vec<(usize, &String)> =
            (1..).zip(&script.targets).filter(|(_, target)| wanted.contains(*target)).collect();
        if elements.is_empty() {
            continue;
        }
        let mut options = dependency(&jobs[..builds]);
        if script.is_array && elements.len() < script.targets.len() {
            let list: Vec<String> = elements.iter().map(|(nth, _)| nth.to_string()).collect();
            options.push(format!("--array={}", list.join(",")));
        }
        jobs.push(put_in(fleet, script, &options, elements)?);
    }
    let gather = put_in(fleet, &scripts.gather, &dependency(&jobs[builds..]), Vec::new())?;
    jobs.push(gather);
    Ok(jobs)
}

fn put_in(
    fleet: &Fleet,
    script: &BatchScript,
    options: &[String],
    elements: Vec<(usize, &String)>,
) -> FleetResult<Submission> {
    let job = slurm::submit(&fleet.folder.join("jobs").join(&script.name), options)?;
    let id = |nth: usize| if script.is_array { format!("{job}_{nth}") } else { job.clone() };
    let targets: BTreeMap<String, String> =
        elements.into_iter().map(|(nth, target)| (id(nth), target.clone())).collect();
    let submission = Submission { at: Timestamp::now(), job, script: script.name.clone(), targets };
    fleet.add_submission(&submission)?;
    Ok(submission)
}

/// Writes the scripts to `jobs`, and creates `log`.
pub fn write_scripts(folder: &Path, scripts: &Scripts) -> FleetResult<()> {
    for name in ["jobs", "log"] {
        at("make", &folder.join(name), fs::create_dir_all(folder.join(name)))?;
    }
    for script in scripts.build.iter().chain(&scripts.measure).chain([&scripts.gather]) {
        let path = folder.join("jobs").join(&script.name);
        at("write", &path, fs::write(&path, &script.text))?;
    }
    Ok(())
}

/// A taskscale for nodes of one architecture.
#[derive(Debug)]
pub struct ArchBinary {
    bytes: Vec<u8>,
    /// As `uname -m` has it.
    machine: &'static str,
}

impl ArchBinary {
    pub fn read(path: &Path) -> FleetResult<ArchBinary> {
        let bytes = at("read", path, fs::read(path))?;
        let machine = machine_of(&bytes).ok_or_else(|| FleetError::Io {
            what: "use",
            path: path.to_owned(),
            error: io::Error::new(io::ErrorKind::InvalidData, "not a program for Linux on x86-64 or arm64"),
        })?;
        Ok(ArchBinary { bytes, machine })
    }

    /// Whether this program is at `path`, and other users cannot write to it.
    fn is_at(&self, path: &Path) -> bool {
        let facts = fs::symlink_metadata(path);
        facts.is_ok_and(|facts| facts.is_file() && facts.len() == self.bytes.len() as u64)
            && matches!(distrust(path, Others::All), Ok(None))
            && fs::read(path).is_ok_and(|bytes| bytes == self.bytes)
    }
}

/// Installs a program for nodes of its architecture. If a fleet next to this one has the same, it is linked, as each
/// copy takes tens of megabytes.
pub fn install(fleet: &Fleet, program: &ArchBinary) -> FleetResult<()> {
    let path = program_in(&fleet.folder, program.machine);
    let folder = path.parent().unwrap_or(&path);
    at("make", folder, fs::create_dir_all(folder))?;
    // The file of an earlier attempt may be linked elsewhere, so it is not overwritten.
    at("remove", &path, if_there(fs::remove_file(&path)))?;
    let others = fleet.folder.parent().and_then(|parent| fs::read_dir(parent).ok()).into_iter().flatten();
    let mut others = others.flatten().map(|other| program_in(&other.path(), program.machine));
    if others.any(|other| program.is_at(&other) && fs::hard_link(&other, &path).is_ok()) {
        return Ok(());
    }
    let written = fs::write(&path, &program.bytes)
        .and_then(|()| fs::set_permissions(&path, fs::Permissions::from_mode(0o755)));
    at("write", &path, written)
}

/// The machine that a program is for, as `uname -m` prints it, by its header (elf(5): e_machine).
fn machine_of(program: &[u8]) -> Option<&'static str> {
    let is_elf = program.starts_with(b"\x7fELF");
    match (is_elf, program.get(18..20)?) {
        (true, [0x3e, 0]) => Some("x86_64"),
        (true, [0xb7, 0]) => Some("aarch64"),
        _ => None,
    }
}

/// Copies the catalogs, and the workloads next to them, so that all nodes read the same even if the originals change.
pub fn copy_catalogs(fleet: &Fleet, catalogs: &[PathBuf]) -> FleetResult<()> {
    for (catalog, place) in catalogs.iter().zip(fleet.catalogs()) {
        let into = fleet.folder.join(place);
        copy(catalog, &into)?;
        let workloads = catalog.with_file_name("workloads");
        if workloads.is_dir() {
            copy(&workloads, &into.with_file_name("workloads"))?;
        }
    }
    Ok(())
}

fn copy(from: &Path, to: &Path) -> FleetResult<()> {
    at("make", to, fs::create_dir_all(to))?;
    for child in at("read", from, fs::read_dir(from))? {
        let child = at("read", from, child)?;
        let name = child.file_name().to_string_lossy().into_owned();
        let (path, into) = (child.path(), to.join(&name));
        // Links are followed to files only.
        if path.is_file() {
            at("copy", &path, fs::copy(&path, &into))?;
        } else if at("examine", &path, child.file_type())?.is_dir()
            && !name.starts_with('.')
            && !MADE.contains(&&*name)
        {
            copy(&path, &into)?;
        }
    }
    Ok(())
}

/// Creates the folder that a plan names, which only this user may write to. Returns the topmost created folder,
/// to be removed on failure.
pub fn make_folder(folder: &Path) -> FleetResult<Option<PathBuf>> {
    let made = folder.ancestors().take_while(|folder| !folder.exists()).last().map(Path::to_owned);
    at("make", folder, fs::create_dir_all(folder))?;
    check_trust(folder)?;
    Ok(made)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: &str = "folder = \"fleet\"\nentries = [\"rust/*\", \"it's\"]\ntasks = \"1,1k\"\n\
                        setup = [\"module load rust\"]\n[machines.arm]\nconstraint = \"arm\"\nnodelist = \"a1,a2\"\n\
                        taskscale = \"arm/taskscale\"\n[machines.big]\npartition = \"bench\"\ncount = 1200\n\
                        time = \"8:00:00\"\nsbatch = [\"--account=perf\"]\n[machines.pair]\nconstraint = \"server\"\n\
                        clients = { constraint = \"client\" }\n";

    fn written() -> (Fleet, Scripts) {
        let plan = FleetPlan::parse(PLAN, "plan.toml".as_ref(), "/shared".as_ref()).unwrap();
        let expand = |list: &str| Ok(list.split(',').map(str::to_owned).collect());
        let targets = targets(&plan, &expand).unwrap();
        assert_eq!(targets.len(), 2 + 1200 + 1);
        let fleet = Fleet::new(&plan.folder, PLAN, plan.arguments.clone(), targets);
        let of = |name: &str| BTreeSet::from([name.to_owned()]);
        let scripts = scripts(&plan, &fleet, &[of("aarch64"), of("x86_64"), of("x86_64")]);
        (fleet, scripts)
    }

    #[test]
    fn plan_yields_measure_scripts_and_one_build_per_architecture() {
        let (_, scripts) = written();
        let names: Vec<&str> = scripts.measure.iter().map(|script| script.name.as_str()).collect();
        assert_eq!(names, ["arm-a1.sh", "arm-a2.sh", "big.sh", "big.2.sh", "pair-1.sh"]);
        // Once for each architecture.
        let builds: Vec<&str> = scripts.build.iter().map(|script| script.name.as_str()).collect();
        assert_eq!(builds, ["build-arm.sh", "build-big.sh"]);
        let shown = [&scripts.build[1], &scripts.measure[0], &scripts.measure[3], &scripts.measure[4]];
        let texts: Vec<String> = shown.iter().map(|one| format!("== {}\n{}", one.name, one.text)).collect();
        insta::assert_snapshot!(texts.join("\n"));
    }

    #[test]
    fn jobs_read_copied_catalogs_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name);
        for name in ["mine", "carried"] {
            fs::create_dir_all(place(name).join("x")).unwrap();
            fs::write(place(name).join("x/runtime.toml"), name).unwrap();
        }
        let plan = FleetPlan::parse(PLAN, "plan.toml".as_ref(), folder.path()).unwrap();
        let fleet = Fleet { catalog_count: 2, ..Fleet::new(&plan.folder, PLAN, Vec::new(), Vec::new()) };
        copy_catalogs(&fleet, &[place("mine"), place("carried")]).unwrap();
        let copied: Vec<String> = fleet
            .catalogs()
            .map(|place| fs::read_to_string(fleet.folder.join(place).join("x/runtime.toml")).unwrap())
            .collect();
        assert_eq!(copied, ["mine", "carried"]);
        let scripts = scripts(&plan, &fleet, &vec![BTreeSet::new(); plan.machines.len()]);
        let words = "--catalog \"$folder/catalog/runtimes\" --catalog \"$folder/catalog-2/runtimes\" build ";
        assert!(scripts.build[0].text.contains(words), "{}", scripts.build[0].text);
    }

    #[test]
    fn second_job_array_continues_target_numbering() {
        let (_, scripts) = written();
        let [first, second] = [&scripts.measure[2], &scripts.measure[3]];
        assert_eq!((first.targets.len(), second.targets.len()), (1_000, 200));
        assert_eq!((first.targets[999].as_str(), second.targets[0].as_str()), ("big-1000", "big-1001"));
        // As the shell expands it.
        let begin = second.text.find("number=").unwrap();
        let end = second.text.find("set -eo").unwrap();
        let script = format!("{}echo $slot", &second.text[begin..end]);
        let said = std::process::Command::new("bash").args(["-c", &script, "x", "7"]).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&said.stdout).trim(), "big-1007");
    }

    #[test]
    fn program_architecture_is_read_from_its_elf_header() {
        let own = fs::read("/proc/self/exe").unwrap();
        assert_eq!(machine_of(&own).unwrap(), std::env::consts::ARCH);
        assert_eq!(machine_of(b"#!/bin/sh\necho no program\n"), None);
        assert_eq!(machine_of(b"\x7fELF"), None);
    }
}
