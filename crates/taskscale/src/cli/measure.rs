//! `taskscale measure`: any program, without a manifest.

use std::collections::BTreeMap;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpStream, ToSocketAddrs};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail, ensure};

use super::args::{Global, MeasureArgs};
use super::failure::{CliResult, OrUsage, catch_signals, exit_code};
use super::output::for_standard_output;
use super::output_dir::{FolderPurpose, OutputDir};
use super::replay::values;
use super::session::{Session, USUAL_HOLD};
use super::workload_args::{resume_options, task_counts};
use crate::campaign::{BlackBoxTemplate, Prepared, RunSettings, SECONDS, TASKS, black_box_digest};
use crate::catalog::Kind;
use crate::document::acts;
use crate::files::if_there;
use crate::record::{EntryFacts, Loaded, OWN_WORKLOAD, Plan, Sample, Status, last_attempts};
use crate::report::{self, Report};
use crate::toolchain::path_lookup;
use crate::units;
use taskscale_measure::{BlackBoxCommand, LinePattern, LoadAliveWhen, LoadCommand, Ready};

/// Default numbers of tasks of a program that takes one.
const USUAL_TASKS: &str = "1,10k,100k";
/// Maximum wait for a stable state, with and without a readiness option.
const SETTLE_READY: Duration = Duration::from_secs(10);
const SETTLE_UNKNOWN: Duration = Duration::from_secs(60);
/// Maximum length of a name: tables show it.
const LONGEST_NAME: usize = 64;

pub fn run(args: &MeasureArgs, global: &Global) -> CliResult {
    let options = validate(args).or_usage()?;
    let output = OutputDir::checked(args.results.output.as_deref(), FolderPurpose::Campaign).or_usage()?;
    let prepared = std::slice::from_ref(&options.prepared);
    let plans = vec![options.plan.clone()];
    output.check_kept(&plans, &options.resume).or_usage()?;

    let interrupt = catch_signals()?;
    let mut session = Session::begin(&output.path, global, &interrupt)?;
    session.runner.traces = args.results.trace.clone();
    let results = session.measure(plans, prepared, &output, &options.resume)?;
    let samples = session.show(results, args.results.format, |results| more(&options, results))?;
    Ok(exit_code(last_attempts(&samples).iter().any(|sample| {
        // The user named this program: not being able to start it is a failure.
        sample.status.is_failure() || sample.status == Status::Unavailable
    })))
}

/// Text below the table: a chart, or for a single number of tasks the peaks, with or without a plateau.
fn more(options: &MeasureOptions, Loaded { campaign, samples, .. }: &Loaded) -> String {
    let report = Report::build(campaign, samples);
    let chart = report::chart(&report, for_standard_output());
    if !chart.is_empty() {
        return format!("\n{chart}");
    }
    let mut text = String::new();
    let size = |bytes: Option<f64>| bytes.map_or("unknown".to_owned(), |bytes| units::bytes(bytes as u64));
    for row in report.rows().filter(|row| row.footprint_bytes.is_some()) {
        let threads = row.threads.map(|threads| units::counted(threads.round() as u64, "thread"));
        let threads = threads.unwrap_or_else(|| "unknown threads".to_owned());
        let of = row.memory_sources.last().copied().unwrap_or_default().peak_of();
        let (peak, rss) = (size(row.peak_bytes), size(row.rss_peak_bytes));
        text.push_str(&format!("\nPeak {of} {peak}, peak RSS {rss}, {threads} at the plateau.\n"));
    }
    let lacks_plateau =
        |sample: &&Sample| sample.memory.plateau.is_none() && sample.memory.peak_bytes.is_some();
    if let Some(sample) = last_attempts(samples).into_iter().find(lacks_plateau) {
        text.push_str(&format!("\nNo plateau. The first such run: {}.\n", values(sample)));
    }
    if !options.takes_tasks {
        text.push_str(
            "\nMeasured as it is. To learn the cost per task, use {tasks} in the command, or --connect.\n",
        );
    }
    text
}

/// The validated options.
pub(super) struct MeasureOptions {
    pub prepared: Prepared,
    pub plan: Plan,
    /// Whether the program takes the number of tasks.
    pub takes_tasks: bool,
    pub resume: RunSettings,
}

pub(super) fn validate(args: &MeasureArgs) -> Result<MeasureOptions> {
    let load = load(args)?;
    let ready = ready(args)?;
    let (recorded_env, env) = environment(args)?;
    let words = || args.command.iter().chain(env.values());
    let told_hold = words().any(|word| word.contains(SECONDS));
    let load_words = load.iter().flat_map(|load| &load.command);
    let takes_tasks = words().chain(load_words).any(|word| word.contains(TASKS));
    let tasks = match &args.tasks {
        Some(_) if !takes_tasks => bail!(
            "-n needs {TASKS} in the command, --env or --with, where the program takes the number of tasks (or \
             --connect ADDRESS, which opens as many connections)"
        ),
        Some(counts) => task_counts(counts)?,
        None if takes_tasks => task_counts(USUAL_TASKS)?,
        None => vec![1],
    };
    let program = find_program(&args.command[0])?;
    let folder = match &args.cwd {
        Some(folder) => std::path::absolute(folder).context("--cwd")?,
        None => std::env::current_dir().context("this folder")?,
    };
    ensure!(folder.is_dir(), "--cwd: no such folder: {}", folder.display());
    let stdin = args.stdin.as_ref().map(std::path::absolute).transpose().context("--stdin")?;
    if let Some(path) = &stdin {
        let unreadable = || format!("--stdin: cannot read {}", path.display());
        let kind = fs::metadata(path).with_context(unreadable)?.file_type();
        if !kind.is_file() && !kind.is_char_device() {
            bail!("--stdin: {} is not a regular file (each run reads it from its start)", path.display());
        }
        fs::File::open(path).with_context(unreadable)?;
    }
    let known = match &load {
        Some(load) => load.stands != LoadAliveWhen::AliveOrQuiet,
        None => !matches!(ready, Ready::Itself),
    };
    let usual = if known { SETTLE_READY } else { SETTLE_UNKNOWN };
    let settle = args.settle.as_deref().map(units::parse_duration).transpose();
    let settle = settle.context("--settle")?.unwrap_or(usual);
    let (folder, full_environment) = (Some(folder), args.keep_env);
    let black_box = BlackBoxCommand { ready, load, told_hold, folder, stdin, full_environment, settle };
    let name = name(args, &program)?;
    let mut command = args.command.clone();
    command[0] = program.to_str().ok_or_else(|| anyhow!("{}: not UTF-8", program.display()))?.to_owned();
    let notes = settings(args).into_iter().filter(|(option, _)| *option != "--settle");
    let notes = notes.filter_map(|(option, value)| Some(format!("{option} {}", value.as_ref()?))).collect();
    let plan = Plan::of_holds(OWN_WORKLOAD, vec![name.clone()], tasks, args.repetitions, USUAL_HOLD);
    let facts = EntryFacts {
        title: name.clone(),
        runtime: name.split('/').next().unwrap_or(&name).to_owned(),
        runtime_title: name.clone(),
        name,
        kind: Kind::Program,
        // Unknown.
        parallel: true,
        why: "measured by `taskscale measure`".to_owned(),
        notes,
        run: args.command.clone(),
        env: recorded_env,
        digest: Some(digest(&program, args, &black_box)?),
        ..EntryFacts::default()
    };
    let resume = resume_options(&args.results)?;
    let black_box = Some(BlackBoxTemplate { black_box, env });
    let prepared = Prepared { facts, command: Ok(command), workload: None, black_box };
    Ok(MeasureOptions { prepared, plan, takes_tasks, resume })
}

fn load(args: &MeasureArgs) -> Result<Option<LoadCommand>> {
    if let Some(address) = &args.connect {
        let address = address_of(address).context("--connect")?.to_string();
        // taskscale itself: the process that executes the command resolves this path.
        let command = [taskscale_load::PROGRAM, "load", "hold", "--connect", &address, "-n", TASKS];
        let command = command.map(str::to_owned).into();
        return Ok(Some(LoadCommand { command, stands: LoadAliveWhen::Alive }));
    }
    let Some(with) = &args.with else { return Ok(None) };
    ensure!(!with.trim().is_empty(), "--with: the command is empty");
    let after = args.with_ready_after.as_deref().map(units::parse_duration).transpose();
    let stands =
        after.context("--with-ready-after")?.map_or(LoadAliveWhen::AliveOrQuiet, LoadAliveWhen::After);
    let command = ["/bin/sh", "-c", with].map(str::to_owned).to_vec();
    Ok(Some(LoadCommand { command, stands }))
}

fn ready(args: &MeasureArgs) -> Result<Ready> {
    if let Some(text) = &args.ready_when {
        ensure!(!text.is_empty(), "--ready-when: the text is empty, which every line contains");
        let wrong = || format!("--ready-when {text}: not a regular expression");
        return Ok(Ready::Line(LinePattern::parse(text).with_context(wrong)?));
    }
    if let Some(time) = &args.ready_after {
        return Ok(Ready::After(units::parse_duration(time).context("--ready-after")?));
    }
    // Clients need a listening server.
    let (address, option) = match (&args.ready_tcp, &args.connect) {
        (Some(address), _) => (address, "--ready-tcp"),
        (None, Some(address)) => (address, "--connect"),
        (None, None) => return Ok(Ready::Itself),
    };
    let address = address_of(address).context(option)?;
    if TcpStream::connect_timeout(&address, Duration::from_millis(500)).is_ok() {
        bail!("{option} {address}: another program already listens there (stop it, or use another port)");
    }
    Ok(Ready::Tcp(address))
}

/// `127.0.0.1:8080`, `localhost:8080`, `[::1]:8080`, `:8080` or `8080`.
fn address_of(text: &str) -> Result<SocketAddr> {
    if let Ok(port) = text.strip_prefix(':').unwrap_or(text).parse::<u16>() {
        return Ok((Ipv4Addr::LOCALHOST, port).into());
    }
    let unknown = || format!("{text:?} is not an address; write 127.0.0.1:8080, [::1]:8080 or 8080");
    let addresses: Vec<SocketAddr> = text.to_socket_addrs().with_context(unknown)?.collect();
    // Servers that listen on one family mostly choose IPv4.
    let preferred = addresses.iter().find(|address| address.is_ipv4()).or(addresses.first());
    preferred.copied().ok_or_else(|| anyhow!("unknown address: {text:?}"))
}

/// The variables to record, and those to set. Inherited values may be secrets, and are not recorded.
fn environment(args: &MeasureArgs) -> Result<(BTreeMap<String, String>, BTreeMap<String, String>)> {
    let (mut recorded, mut given) = (BTreeMap::new(), BTreeMap::new());
    for word in &args.env {
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => {
                recorded.insert(name.to_owned(), value.to_owned());
                (name, value.to_owned())
            }
            None => {
                let value = std::env::var(word)
                    .map_err(|_| anyhow!("--env {word}: not set here; write {word}=VALUE"))?;
                (word.as_str(), value)
            }
        };
        ensure!(!name.is_empty() && !word.contains('\0'), "--env {word}: is not NAME=VALUE");
        given.insert(name.to_owned(), value);
    }
    Ok((recorded, given))
}

/// The file of a program, given as a path or as a name in PATH.
pub(super) fn find_program(word: &str) -> Result<PathBuf> {
    ensure!(!word.is_empty(), "the command is empty (write it after `--`)");
    let found = path_lookup(word);
    if !word.contains('/') {
        return found.ok_or_else(|| {
            let here =
                if Path::new(word).is_file() { format!("; did you mean ./{word}?") } else { String::new() };
            anyhow!("program not found in PATH: {word}{here}")
        });
    }
    let path = std::path::absolute(word).with_context(|| word.to_owned())?;
    match if_there(fs::metadata(&path)).with_context(|| word.to_owned())? {
        Some(_) if found.is_some() => Ok(path),
        Some(facts) if facts.is_dir() => bail!("not a program: {word} (a folder)"),
        Some(_) => bail!("not executable: {word} (`chmod +x {word}`, or put its interpreter first)"),
        None => bail!("program not found: {word}"),
    }
}

fn name(args: &MeasureArgs, program: &Path) -> Result<String> {
    let Some(name) = &args.name else {
        let name = program.file_name().unwrap_or_default().to_string_lossy();
        let visible = name.chars().map(|c| if acts(c) { '_' } else { c });
        return Ok(visible.take(LONGEST_NAME).collect());
    };
    let is_visible = name.trim() == name && !name.is_empty() && !name.chars().any(acts);
    ensure!(
        is_visible && name.len() <= LONGEST_NAME,
        "--name {name:?}: must have 1 to {LONGEST_NAME} visible characters, such as my-server or mine/server"
    );
    Ok(name.clone())
}

/// The options that define when the program is ready and loaded.
fn settings(args: &MeasureArgs) -> [(&'static str, &Option<String>); 7] {
    [
        ("--ready-when", &args.ready_when),
        ("--ready-tcp", &args.ready_tcp),
        ("--ready-after", &args.ready_after),
        ("--settle", &args.settle),
        ("--connect", &args.connect),
        ("--with", &args.with),
        ("--with-ready-after", &args.with_ready_after),
    ]
}

fn digest(program: &Path, args: &MeasureArgs, black_box: &BlackBoxCommand) -> Result<String> {
    let options = settings(args).map(|(_, value)| value);
    let words = (&args.command, &args.env, options, &black_box.folder, &black_box.stdin, args.keep_env);
    let settings = serde_json::to_vec(&words).context("the options as JSON")?;
    Ok(black_box_digest(program, &args.command[1..], black_box, &settings))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_parse_in_common_forms() {
        for (text, address) in [
            ("8080", "127.0.0.1:8080"),
            (":8080", "127.0.0.1:8080"),
            ("127.0.0.1:80", "127.0.0.1:80"),
            ("[::1]:80", "[::1]:80"),
            ("localhost:80", "127.0.0.1:80"),
        ] {
            assert_eq!(address_of(text).unwrap().to_string(), address, "{text}");
        }
        for text in ["", "70000", "127.0.0.1", "nowhere:port"] {
            assert!(address_of(text).is_err(), "{text}");
        }
    }

    #[test]
    fn programs_are_resolved_or_refused_with_the_reason() {
        assert!(find_program("sh").unwrap().is_absolute());
        assert_eq!(find_program("/bin/sh").unwrap(), Path::new("/bin/sh"));
        for (word, said) in [
            ("no-such-program-at-all", "PATH: no-such-program-at-all"),
            ("./nothing/here", "not found: ./nothing/here"),
            ("/tmp", "a folder"),
            ("/etc/passwd", "not executable"),
            ("", "empty"),
        ] {
            let error = find_program(word).unwrap_err().to_string();
            assert!(error.contains(said), "{word}: {error}");
        }
    }
}
