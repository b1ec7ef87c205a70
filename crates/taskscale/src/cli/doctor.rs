//! `taskscale doctor`: what this machine can measure, what will limit it, and how to fix that.

use std::collections::BTreeSet;
use std::process::ExitCode;

use serde::Serialize;
use serde_json::json;

use super::args::Global;
use super::catalog_dir::{find_catalog_unpacked_in, load, unpacked_catalogs};
use super::report::for_standard_output;
use super::{Failure, OrUsage, print_result, printable};
use crate::catalog::Catalog;
use crate::measure::{GroupRoot, available_memory_bytes, machine_facts, read_connection_limits, read_limits};
use crate::record::{LimitHit, Machine, MemorySource};
use crate::sheet::{width, wrapped_whole};
use crate::toolchain::{self, Cache};
use crate::units;

/// What servers are asked for by those who boast.
const MANY_CONNECTIONS: u64 = 1_000_000;

/// Names above this length push what follows aside; others stand in a column.
const NAMES: usize = 20;

/// What is said of one thing, for people and, by `--json`, for programs.
#[derive(Debug, Default, Serialize)]
struct Line {
    /// Whether it is as figures want it; absent where that is not the question.
    #[serde(skip_serializing_if = "Option::is_none")]
    good: Option<bool>,
    #[serde(skip_serializing_if = "String::is_empty")]
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<u64>,
    says: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<String>,
}

impl Line {
    fn of(says: impl Into<String>) -> Line {
        Line { says: says.into(), ..Line::default() }
    }

    fn named(name: impl Into<String>, says: impl Into<String>) -> Line {
        Line { name: name.into(), ..Line::of(says) }
    }
}

struct Section {
    title: &'static str,
    /// Its name in JSON.
    key: &'static str,
    lines: Vec<Line>,
}

pub fn run(global: &Global) -> Result<ExitCode, Failure> {
    // Who asks what this machine offers finds no catalog in HOME that was not there.
    let kept = unpacked_catalogs(&Cache::of_user());
    let temporary = if kept.is_dir() { None } else { Some(tempfile::tempdir()?) };
    let parent = temporary.as_ref().map_or(&*kept, |folder| folder.path());
    let place = find_catalog_unpacked_in(global, parent).or_usage()?;
    let catalog = load(&place).or_usage()?;
    let home = GroupRoot::find();
    let machine = machine_facts();
    let mut sections = vec![
        section("Machine", "machine", about(&machine)),
        section("Control groups", "control_groups", control_groups(&home)),
        section("Limits, and where they end a run", "limits", limits()),
        section("Between this machine and a million connections, in order", "connections", connections()),
        section("What disturbs figures", "disturbances", disturbances(&machine)),
    ];
    drop(home);
    let builds = Cache::of_user().root().display().to_string();
    let place = place.to_string().replace(&*parent.to_string_lossy(), &kept.to_string_lossy());
    let folders = vec![Line::named("catalogue", place), Line::named("builds", builds)];
    sections.push(section("Folders", "folders", folders));
    sections.push(section("Toolchains", "toolchains", toolchains(&catalog)));

    if global.json {
        let told: serde_json::Map<_, _> =
            sections.iter().map(|section| (section.key.to_owned(), json!(section.lines))).collect();
        print_result(&format!("{:#}\n", json!(told)))?;
        return Ok(ExitCode::SUCCESS);
    }
    let width = for_standard_output().width;
    let told: Vec<String> = sections.iter().map(|section| text(section, width)).collect();
    print_result(&printable(&told.join("\n")))?;
    Ok(ExitCode::SUCCESS)
}

fn section(title: &'static str, key: &'static str, lines: Vec<Line>) -> Section {
    Section { title, key, lines }
}

/// A section in so many columns, or a little more where a command or an address is longer: those stay whole.
fn text(section: &Section, columns: usize) -> String {
    let names = section.lines.iter().map(|line| width(&line.name)).filter(|width| *width <= NAMES).max();
    let values: Vec<String> = section
        .lines
        .iter()
        .map(|line| line.value.map(|value| value.to_string()).unwrap_or_default())
        .collect();
    let widest = values.iter().map(String::len).max().unwrap_or(0);
    let mut text = format!("{}\n", section.title);
    for (line, value) in section.lines.iter().zip(values) {
        let mut said = String::new();
        said.push_str(match line.good {
            Some(true) => "✓ ",
            Some(false) => "! ",
            None => "",
        });
        if !line.name.is_empty() {
            said.push_str(&line.name);
            said.push_str(&" ".repeat(names.unwrap_or(0).saturating_sub(width(&line.name)) + 2));
        }
        if widest > 0 {
            said.push_str(&format!("{value:>widest$}  "));
        }
        let head = said.clone();
        let says =
            line.says.clone() + &line.remedy.iter().map(|remedy| format!("; {remedy}")).collect::<String>();
        let first = columns.saturating_sub(2 + width(&head));
        // Where the head takes most of the line, what is said begins below it.
        let (beside, rest) = first_line(&says, first);
        text.push_str(format!("  {head}{beside}").trim_end());
        text.push('\n');
        for more in rest.map(|rest| wrapped_whole(rest, columns.saturating_sub(6))).unwrap_or_default() {
            text.push_str(&format!("      {more}\n"));
        }
    }
    text
}

/// As much of a text as fits in so many columns, and what is left.
fn first_line(text: &str, columns: usize) -> (String, Option<&str>) {
    let first = wrapped_whole(text, columns).into_iter().next().unwrap_or_default();
    if width(&first) > columns {
        return (String::new(), Some(text));
    }
    let rest = text[first.len()..].trim_start();
    (first, Some(rest).filter(|rest| !rest.is_empty()))
}

fn about(machine: &Machine) -> Vec<Line> {
    let memory = units::bytes(machine.memory_bytes);
    vec![
        Line::of(format!("{}, {}, {memory} of memory", machine.cpu, units::counted(machine.cpus, "CPU"))),
        Line::of(format!("{}, Linux {} ({})", machine.os, machine.kernel, machine.architecture)),
    ]
}

fn connections() -> Vec<Line> {
    let obstacles = read_connection_limits().obstacles(MANY_CONNECTIONS);
    match obstacles.is_empty() {
        true => vec![Line::of("nothing: `taskscale run -w echo -n 1M` may hold them")],
        false => obstacles.into_iter().map(Line::of).collect(),
    }
}

fn disturbances(machine: &Machine) -> Vec<Line> {
    if machine.warnings.is_empty() {
        return vec![Line::of("nothing found: no swap, no reclaim, no merging of pages, little load")];
    }
    machine.warnings.iter().map(|warning| Line { good: Some(false), ..Line::of(warning) }).collect()
}

fn toolchains(catalog: &Catalog) -> Vec<Line> {
    let mut seen = BTreeSet::new();
    let specs = catalog.entries().map(|(_, entry)| &entry.toolchain).filter(|spec| seen.insert(*spec));
    specs
        .map(|spec| match toolchain::find_without_trace(spec) {
            Ok(found) => {
                let home = found.home.map(|home| format!(" in {}", home.display())).unwrap_or_default();
                Line { good: Some(true), ..Line::named(&spec.title, found.version + &home) }
            }
            Err(why) => Line::named(&spec.title, why.to_string()),
        })
        .collect()
}

fn control_groups(home: &GroupRoot) -> Vec<Line> {
    let version = match home.source() {
        MemorySource::CgroupV2 => 2,
        MemorySource::CgroupV1 => 1,
        MemorySource::Proc => {
            let tried = home.why_none().iter().map(|why| Line::named("tried", why));
            let none = Line {
                good: Some(false),
                remedy: Some(
                    "log in where systemd keeps a user session (`systemctl --user` answers), or run \
                     `sudo systemd-run --scope -p Delegate=yes --uid=$UID taskscale …`, or run taskscale as root"
                        .to_owned(),
                ),
                ..Line::of("none: kernel memory and peaks will be only what /proc tells")
            };
            return std::iter::once(none).chain(tried).collect();
        }
    };
    let says = format!("version {version}: memory with the kernel's share and its peak, CPU, thread bounds");
    vec![Line { good: Some(true), ..Line::of(says) }]
}

fn limits() -> Vec<Line> {
    let limits = read_limits();
    let line = |limit: &LimitHit, says: String, remedy: Option<String>| Line {
        value: Some(limit.value),
        remedy,
        ..Line::named(&limit.name, says)
    };
    let mut lines = Vec::new();
    for room in limits.thread_rooms() {
        let says = format!("OS threads end near {}", units::grouped(room.room));
        lines.push(line(&room.limit, says, room.remedy));
    }
    if let Some((rooms, (limit, remedy))) = limits.map_rooms() {
        let says = format!(
            "OS threads and fibers with mapped stacks end between {} (four areas each, as in Rust) and {} (two)",
            units::grouped(*rooms.start()),
            units::grouped(*rooms.end())
        );
        lines.push(line(&limit, says, remedy));
    }
    if let Some((limit, remedy)) = limits.files_met() {
        lines.push(line(&limit, format!("connections end near {}", units::count(limit.value)), remedy));
    }
    if let Some(available) = available_memory_bytes() {
        let cap = available / 5 * 4;
        let says = format!(
            "{}: a run is capped at {}; at 2 KiB a task that is {} tasks",
            units::bytes(available),
            units::bytes(cap),
            units::count((cap / 2048 / 100_000 * 100_000).max(1))
        );
        lines.push(Line::named("memory available", says));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_wrapped_and_what_is_copied_stays_whole() {
        let lines = vec![
            Line {
                value: Some(32_768),
                remedy: Some("`sysctl -w kernel.pid_max=4194304` lifts it".into()),
                ..Line::named("kernel.pid_max", "OS threads end near 31,613")
            },
            Line::named("memory available", "a run is capped"),
        ];
        let about = section("Limits", "limits", lines);
        insta::assert_snapshot!(text(&about, 60), @"
        Limits
          kernel.pid_max    32768  OS threads end near 31,613;
              `sysctl -w kernel.pid_max=4194304` lifts it
          memory available         a run is capped
        ");
        insta::assert_snapshot!(text(&about, 140), @"
        Limits
          kernel.pid_max    32768  OS threads end near 31,613; `sysctl -w kernel.pid_max=4194304` lifts it
          memory available         a run is capped
        ");
        let far = "GraalVM native-image is not installed: https://www.graalvm.org/downloads";
        let lines = vec![Line::named("GraalVM native-image, of the community", far)];
        insta::assert_snapshot!(text(&section("Toolchains", "toolchains", lines), 60), @"
        Toolchains
          GraalVM native-image, of the community  GraalVM
              native-image is not installed:
              https://www.graalvm.org/downloads
        ");
    }
}
