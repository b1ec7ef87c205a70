//! `taskscale doctor`: what this machine can measure, what limits it, and how to fix that.

use std::collections::BTreeMap;

use serde::Serialize;

use super::args::Global;
use super::catalog_dir::load;
use super::failure::{CliResult, OrUsage, succeed_with};
use super::output::{for_standard_output, json_or, printable};
use crate::campaign::memory_cap_bytes;
use crate::catalog::{Catalog, Entry, Month, Runtime, find_catalog, newer_series};
use crate::document::{width, wrapped_whole};
use crate::record::{LimitHit, Machine, MemorySource, Timestamp};
use crate::report::processor;
use crate::toolchain::{self, Cache};
use crate::units;
use taskscale_measure::{
    GroupRoot, available_memory_bytes, machine_facts, read_connection_limits, read_limits,
};

/// Connections of the classic server benchmark.
const MANY_CONNECTIONS: u64 = 1_000_000;

/// Names up to this length are aligned.
const NAMES: usize = 20;

/// One line, for people and, with `--json`, for programs.
#[derive(Debug, Default, Serialize)]
struct DoctorLine {
    /// Whether it is suitable for measurements. Absent for plain facts.
    good: Option<bool>,
    #[serde(skip_serializing_if = "String::is_empty")]
    name: String,
    value: Option<u64>,
    says: String,
    remedy: Option<String>,
}

impl DoctorLine {
    fn of(says: impl Into<String>) -> DoctorLine {
        DoctorLine { says: says.into(), ..DoctorLine::default() }
    }

    fn named(name: impl Into<String>, says: impl Into<String>) -> DoctorLine {
        DoctorLine { name: name.into(), ..DoctorLine::of(says) }
    }
}

pub fn run(global: &Global) -> CliResult {
    // Do not leave an unpacked catalog in HOME.
    let kept = Cache::of_user().catalogs();
    let temporary = if kept.is_dir() { None } else { Some(tempfile::tempdir()?) };
    let parent = temporary.as_ref().map_or(&*kept, |folder| folder.path());
    let place = find_catalog(&global.catalog, parent).or_usage()?;
    let catalog = load(&place).or_usage()?;
    let home = GroupRoot::find();
    let machine = machine_facts();
    // Titles, names in JSON, and lines.
    let mut sections = vec![
        ("Machine", "machine", about(&machine)),
        ("Cgroups", "control_groups", control_groups(&home)),
        ("Limits", "limits", limits()),
        ("Before a million connections, in order", "connections", connections()),
        ("Disturbances", "disturbances", disturbances(&machine)),
    ];
    drop(home);
    let builds = Cache::of_user().root().display().to_string();
    let place = place.to_string().replace(&*parent.to_string_lossy(), &kept.to_string_lossy());
    let folders = vec![DoctorLine::named("catalog", place), DoctorLine::named("builds", builds)];
    sections.push(("Folders", "folders", folders));
    sections.push(("Toolchains", "toolchains", toolchains(&catalog)));

    let named: BTreeMap<_, _> = sections.iter().map(|(_, name, lines)| (name, lines)).collect();
    let width = for_standard_output().width;
    let shown = sections.iter().map(|(title, _, lines)| text(title, lines, width));
    succeed_with(&json_or(global.json, &named, || printable(&shown.collect::<Vec<_>>().join("\n"))))
}

/// A section in this many columns. Longer commands and addresses are not broken.
fn text(title: &str, lines: &[DoctorLine], columns: usize) -> String {
    let names = lines.iter().map(|line| width(&line.name)).filter(|width| *width <= NAMES);
    let names = names.max().unwrap_or(0);
    let value = |line: &DoctorLine| line.value.map(|value| value.to_string()).unwrap_or_default();
    let values: Vec<String> = lines.iter().map(value).collect();
    let widest = values.iter().map(String::len).max().unwrap_or(0);
    let mut text = format!("{title}\n");
    for (line, value) in lines.iter().zip(values) {
        let mut head = line.good.map_or("", |good| if good { "✓ " } else { "! " }).to_owned();
        if !line.name.is_empty() {
            let padding = " ".repeat(names.saturating_sub(width(&line.name)) + 2);
            head.push_str(&format!("{}{padding}", line.name));
        }
        if widest > 0 {
            head.push_str(&format!("{value:>widest$}  "));
        }
        let remedy = line.remedy.as_ref().map(|remedy| format!("; {remedy}")).unwrap_or_default();
        let says = line.says.clone() + &remedy;
        let first = columns.saturating_sub(2 + width(&head));
        // After a long head, the text starts on the next line.
        let (beside, rest) = first_line(&says, first);
        text.push_str(format!("  {head}{beside}").trim_end());
        text.push('\n');
        for more in rest.map(|rest| wrapped_whole(rest, columns.saturating_sub(6))).unwrap_or_default() {
            text.push_str(&format!("      {more}\n"));
        }
    }
    text
}

/// As much of a text as fits in this many columns, and the rest.
fn first_line(text: &str, columns: usize) -> (String, Option<&str>) {
    let first = wrapped_whole(text, columns).into_iter().next().unwrap_or_default();
    if width(&first) > columns {
        return (String::new(), Some(text));
    }
    let rest = text[first.len()..].trim_start();
    (first, Some(rest).filter(|rest| !rest.is_empty()))
}

fn about(machine: &Machine) -> Vec<DoctorLine> {
    let memory = units::bytes(machine.memory_bytes);
    vec![
        DoctorLine::of(format!("{}, {memory} of memory", processor(machine))),
        DoctorLine::of(format!("{}, Linux {} ({})", machine.os, machine.kernel, machine.architecture)),
    ]
}

fn connections() -> Vec<DoctorLine> {
    let obstacles = read_connection_limits().obstacles(MANY_CONNECTIONS);
    match obstacles.is_empty() {
        true => vec![DoctorLine::of("no limit is in the way: try `taskscale run -w echo -n 1M`")],
        false => obstacles.into_iter().map(DoctorLine::of).collect(),
    }
}

fn disturbances(machine: &Machine) -> Vec<DoctorLine> {
    if machine.warnings.is_empty() {
        let none = "none found: swap, reclaim and page merging are off, and the load is low";
        return vec![DoctorLine::of(none)];
    }
    let line = |warning| DoctorLine { good: Some(false), ..DoctorLine::of(warning) };
    machine.warnings.iter().map(line).collect()
}

fn toolchains(catalog: &Catalog) -> Vec<DoctorLine> {
    let mut found = toolchain::find_all(catalog.entries().map(|(_, entry)| &entry.toolchain));
    let now = Month::of(&Timestamp::now().date());
    let line = |(runtime, entry): (&Runtime, &Entry)| {
        let spec = &entry.toolchain;
        Some(match found.remove(spec)? {
            Ok(found) => {
                let home = found.home.map(|home| format!(" in {}", home.display())).unwrap_or_default();
                let newer = now.filter(|_| *spec == runtime.toolchain);
                let newer = newer.and_then(|now| newer_series(runtime.versioned_name(), &found.version, now));
                let newer = newer.map(|newer| format!("; newer: {newer} ({})", newer.released));
                let says = found.version + &home + &newer.unwrap_or_default();
                DoctorLine { good: Some(true), ..DoctorLine::named(&spec.title, says) }
            }
            Err(why) => DoctorLine::named(&spec.title, why.in_short(spec)),
        })
    };
    catalog.entries().filter_map(line).collect()
}

fn control_groups(home: &GroupRoot) -> Vec<DoctorLine> {
    let version = match home.source() {
        MemorySource::CgroupV2 => 2,
        MemorySource::CgroupV1 => 1,
        MemorySource::Proc => {
            let tried = home.why_none().iter().map(|why| DoctorLine::named("tried", why));
            let remedy = "log in to a systemd user session (`systemctl --user` works), use \
                          `sudo systemd-run --scope -p Delegate=yes --uid=$UID taskscale …`, or run taskscale as root";
            let says = "no cgroup: memory comes from /proc, which lacks most kernel memory and peaks";
            let (good, remedy) = (Some(false), Some(remedy.to_owned()));
            let none = DoctorLine { good, remedy, ..DoctorLine::of(says) };
            return std::iter::once(none).chain(tried).collect();
        }
    };
    let says = format!("v{version}: memory with kernel memory and peaks, CPU, limits of threads");
    vec![DoctorLine { good: Some(true), ..DoctorLine::of(says) }]
}

fn limits() -> Vec<DoctorLine> {
    let limits = read_limits();
    let line = |limit: &LimitHit, says: String, remedy: Option<String>| DoctorLine {
        value: Some(limit.value),
        remedy,
        ..DoctorLine::named(&limit.name, says)
    };
    let mut lines = Vec::new();
    for room in limits.thread_headroom() {
        let says = format!("room for about {} OS threads", units::grouped(room.room));
        lines.push(line(&room.limit, says, room.remedy));
    }
    if let Some((rooms, (limit, remedy))) = limits.mapping_headroom() {
        let (of_four, of_two) = (units::grouped(*rooms.start()), units::grouped(*rooms.end()));
        let each = "OS threads or fibers with 4 mappings each (as in Rust)";
        let says = format!("room for {of_four} {each}, {of_two} with 2");
        lines.push(line(&limit, says, remedy));
    }
    if let Some((limit, remedy)) = limits.open_files_limit() {
        lines.push(line(&limit, format!("room for about {} connections", units::count(limit.value)), remedy));
    }
    if let Some((available, cap)) = available_memory_bytes().zip(memory_cap_bytes()) {
        let tasks = units::count((cap / 2048 / 100_000 * 100_000).max(1));
        let (available, cap) = (units::bytes(available), units::bytes(cap));
        let says = format!("{available}; a run is capped at {cap}, which is {tasks} tasks of 2 KiB");
        lines.push(DoctorLine::named("memory available", says));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_wrap_without_splitting_commands() {
        let lines = [
            DoctorLine {
                value: Some(32_768),
                remedy: Some("raise it: `sysctl -w kernel.pid_max=4194304`".into()),
                ..DoctorLine::named("kernel.pid_max", "room for about 31,613 OS threads")
            },
            DoctorLine::named("memory available", "a run is capped"),
        ];
        insta::assert_snapshot!(text("Limits", &lines, 60), @"
        Limits
          kernel.pid_max    32768  room for about 31,613 OS threads;
              raise it: `sysctl -w kernel.pid_max=4194304`
          memory available         a run is capped
        ");
        insta::assert_snapshot!(text("Limits", &lines, 140), @"
        Limits
          kernel.pid_max    32768  room for about 31,613 OS threads; raise it: `sysctl -w kernel.pid_max=4194304`
          memory available         a run is capped
        ");
        let far = "not installed: https://www.graalvm.org/downloads";
        let lines = [DoctorLine::named("GraalVM native-image, of the community", far)];
        insta::assert_snapshot!(text("Toolchains", &lines, 60), @"
        Toolchains
          GraalVM native-image, of the community  not installed:
              https://www.graalvm.org/downloads
        ");
    }
}
