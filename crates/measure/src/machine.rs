//! Facts about the machine that matter for results, and reasons not to measure on it now.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::cgroup::{online_processors, own_folders};
use super::limits::read_limits;
use super::procfs::{self, number};

/// Facts about the machine that matter for results.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Machine {
    /// Host name. In submitted results the class of the machine, such as `xeon-2-5ghz-2cpu`.
    pub hostname: String,
    /// PRETTY_NAME of /etc/os-release.
    pub os: String,
    /// Release of the kernel.
    pub kernel: String,
    /// Such as `x86_64`.
    pub architecture: String,
    /// Model of the processor.
    pub cpu: String,
    /// CPUs that taskscale may use.
    pub cpus: u64,
    /// Memory of the machine.
    pub memory_bytes: u64,
    /// Size of swap.
    pub swap_bytes: u64,
    /// Size of a page.
    pub page_bytes: u64,
    /// `always`, `madvise` or `never`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transparent_huge_pages: Option<String>,
    /// CPU frequency governor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_governor: Option<String>,
    /// System limits that bound tasks, by name.
    #[serde(default)]
    pub limits: BTreeMap<String, u64>,
    /// Findings of `taskscale doctor` at the start.
    #[serde(default)]
    pub warnings: Vec<String>,
}

fn text(path: &str) -> Option<String> {
    fs::read_to_string(path).ok().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// The rest of the first line that begins with `name`.
fn after(path: &str, name: &str) -> Option<String> {
    text(path)?.lines().find_map(|line| line.strip_prefix(name)).map(str::to_owned)
}

fn meminfo_bytes(name: &str) -> Option<u64> {
    procfs::named_values(&text("/proc/meminfo")?)
        .find(|(of, _)| *of == name)
        .and_then(|(_, value)| procfs::kib(value))
}

/// Memory that a program could use now without swapping, in bytes: the kernel's estimate (MemAvailable), or the
/// room in the tightest cgroup of this process if that is less.
pub fn available_memory_bytes() -> Option<u64> {
    // The limit of a container may be below the machine's memory. "max" and v1's near-2^63 mean no limit.
    let room = |folder: PathBuf, limit: &str, usage: &str| {
        let limit = number(folder.join(limit))?;
        Some(limit.saturating_sub(number(folder.join(usage))?))
    };
    let v2 = own_folders("").into_iter().filter_map(|folder| room(folder, "memory.max", "memory.current"));
    let v1 = own_folders("memory")
        .into_iter()
        .filter_map(|folder| room(folder, "memory.limit_in_bytes", "memory.usage_in_bytes"));
    meminfo_bytes("MemAvailable").into_iter().chain(v2).chain(v1).min()
}

/// The word in brackets, as in `always [madvise] never`.
fn chosen(path: &str) -> Option<String> {
    let text = text(path)?;
    let start = text.find('[')? + 1;
    Some(text[start..].split(']').next()?.to_owned())
}

/// Reads the facts. Takes 0.2 s, to measure busy CPUs.
pub fn machine_facts() -> Machine {
    let uname = rustix::system::uname();
    let os = after("/etc/os-release", "PRETTY_NAME=").map(|name| name.trim_matches('"').to_owned());
    let cpu = after("/proc/cpuinfo", "model name");
    let cpu = cpu.and_then(|rest| Some(rest.split_once(':')?.1.trim().to_owned()));
    let limits = read_limits();
    let named = [
        ("kernel.pid_max", limits.pid_max),
        ("kernel.threads-max", limits.threads_max),
        ("vm.max_map_count", limits.max_map_count),
        ("ulimit -n", limits.open_files),
        ("ulimit -u", limits.user_processes),
        ("pids.max", limits.group_threads),
    ];
    Machine {
        hostname: uname.nodename().to_string_lossy().into_owned(),
        os: os.unwrap_or_else(|| "unknown".into()),
        kernel: uname.release().to_string_lossy().into_owned(),
        architecture: uname.machine().to_string_lossy().into_owned(),
        cpu: cpu.unwrap_or_else(|| "unknown".into()),
        cpus: std::thread::available_parallelism().map_or(1, |cpus| cpus.get() as u64),
        memory_bytes: meminfo_bytes("MemTotal").unwrap_or(0),
        swap_bytes: meminfo_bytes("SwapTotal").unwrap_or(0),
        page_bytes: rustix::param::page_size() as u64,
        transparent_huge_pages: chosen("/sys/kernel/mm/transparent_hugepage/enabled"),
        cpu_governor: text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        limits: named.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect(),
        warnings: machine_warnings(),
    }
}

/// Reasons not to measure on this machine as it is now, each with its effect and its remedy.
pub fn machine_warnings() -> Vec<String> {
    let mut warnings = Vec::new();
    if meminfo_bytes("SwapTotal").unwrap_or(0) > 0 {
        let used = meminfo_bytes("SwapTotal").unwrap_or(0) - meminfo_bytes("SwapFree").unwrap_or(0);
        warnings.push(format!(
            "swap is on ({} MiB used): the footprint counts swapped memory, but times are distorted, and peaks without a cgroup lack it; turn it off: `swapoff -a`",
            used >> 20
        ));
    }
    if chosen("/sys/kernel/mm/transparent_hugepage/enabled").as_deref() == Some("always") {
        warnings.push(
            "transparent huge pages are `always`: heaps grow in steps of 2 MiB and look larger; use the default of distributions: `echo madvise > /sys/kernel/mm/transparent_hugepage/enabled`".into(),
        );
    }
    if let Some(governor) = text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
        && governor != "performance"
    {
        warnings.push(format!(
            "the CPU governor is `{governor}`: times vary with the clock rate; fix it: `cpupower frequency-set -g performance`"
        ));
    }
    let turbo = text("/sys/devices/system/cpu/intel_pstate/no_turbo").as_deref() == Some("0")
        || text("/sys/devices/system/cpu/cpufreq/boost").as_deref() == Some("1");
    if turbo {
        warnings.push("CPU turbo is on: times depend on temperature and on other cores; turn it off: `echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo` (or 0 to cpufreq/boost)".into());
    }
    if let Some(mode) = text("/sys/module/damon_reclaim/parameters/enabled").filter(|mode| mode == "Y") {
        warnings.push(format!("DAMON reclaims idle memory (damon_reclaim = {mode}): waiting tasks look smaller than they are; turn it off: `echo N > /sys/module/damon_reclaim/parameters/enabled`"));
    }
    if text("/sys/kernel/mm/ksm/run").as_deref() == Some("1") {
        warnings.push("kernel same-page merging is on: equal pages count once; turn it off: `echo 0 > /sys/kernel/mm/ksm/run`".into());
    }
    if let Some(busy) = busy_cpus()
        && busy > 0.25 * online_processors() as f64
    {
        warnings.push(format!(
            "the machine is busy: other work uses {busy:.1} CPUs, so times will be inflated and runs may become CPU-starved (they get a warning)"
        ));
    }
    warnings
}

/// Number of busy CPUs, measured over 0.2 s. The load average would still include the builds of a minute ago.
fn busy_cpus() -> Option<f64> {
    let (begun, before) = (Instant::now(), procfs::system_cpu_s()?);
    std::thread::sleep(Duration::from_millis(200));
    Some((procfs::system_cpu_s()? - before) / begun.elapsed().as_secs_f64())
}
