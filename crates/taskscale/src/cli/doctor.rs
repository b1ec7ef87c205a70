//! `taskscale doctor`: what this machine can measure, what will limit it, and how to fix that.

use std::collections::BTreeSet;
use std::process::ExitCode;

use super::args::Global;
use super::catalog_dir::find_catalog;
use super::{Failure, OrUsage, print_result, printable};
use crate::catalog::Catalog;
use crate::measure::{GroupRoot, available_memory_bytes, machine_facts, read_connection_limits, read_limits};
use crate::record::{LimitHit, MemorySource};
use crate::toolchain::{self, Cache};
use crate::units;

/// What servers are asked for by those who boast.
const MANY_CONNECTIONS: u64 = 1_000_000;

pub fn run(global: &Global) -> Result<ExitCode, Failure> {
    let place = find_catalog(global).or_usage()?;
    let catalog = Catalog::load(&place.folder).or_usage()?;
    let mut text = String::new();
    let mut section = |title: &str, lines: Vec<String>| {
        text.push_str(title);
        text.push('\n');
        for line in lines {
            text.push_str("  ");
            text.push_str(&line);
            text.push('\n');
        }
        text.push('\n');
    };

    let home = GroupRoot::find();
    let machine = machine_facts();
    section(
        "Machine",
        vec![
            format!(
                "{}, {} CPUs, {} of memory",
                machine.cpu,
                machine.cpus,
                units::bytes(machine.memory_bytes)
            ),
            format!("{}, Linux {} ({})", machine.os, machine.kernel, machine.architecture),
        ],
    );
    section("Control groups", control_groups(&home));
    drop(home);
    section("Limits, and where they end a run", limits());
    let mut obstacles = read_connection_limits().obstacles(MANY_CONNECTIONS);
    if obstacles.is_empty() {
        obstacles.push("nothing: `taskscale run -w echo -n 1M` may hold them".to_owned());
    }
    section("Between this machine and a million connections, in order", obstacles);
    let disturbances = if machine.warnings.is_empty() {
        vec!["nothing found: no swap, no reclaim, no merging of pages, little load".to_owned()]
    } else {
        machine.warnings.iter().map(|warning| format!("! {warning}")).collect()
    };
    section("What disturbs figures", disturbances);
    let cache = Cache::of_user();
    section("Folders", vec![format!("catalogue  {place}"), format!("builds     {}", cache.root().display())]);
    let mut seen = BTreeSet::new();
    let toolchains = catalog
        .entries()
        .filter(|(_, entry)| seen.insert(entry.toolchain.clone()))
        .map(|(_, entry)| match toolchain::find(&entry.toolchain) {
            Ok(found) => {
                let home = found.home.map(|home| format!(" in {}", home.display())).unwrap_or_default();
                format!("✓ {:<14} {}{home}", entry.toolchain.title, found.version)
            }
            Err(why) => format!("- {:<14} {why}", entry.toolchain.title),
        })
        .collect();
    section("Toolchains", toolchains);
    print_result(printable(&text).trim_end())?;
    print_result("\n")?;
    Ok(ExitCode::SUCCESS)
}

fn control_groups(home: &GroupRoot) -> Vec<String> {
    match home.source() {
        MemorySource::CgroupV2 => {
            vec!["✓ version 2: memory with the kernel's share and its peak, CPU, thread bounds".into()]
        }
        MemorySource::CgroupV1 => {
            vec!["✓ version 1: memory with the kernel's share and its peak, CPU, thread bounds".into()]
        }
        MemorySource::Proc => {
            let mut lines = vec!["! none: kernel memory and peaks will be only what /proc tells".to_owned()];
            lines.extend(home.why_none().iter().map(|why| format!("  tried: {why}")));
            lines.push(
                "  remedy: log in where systemd keeps a user session (`systemctl --user` answers), or run"
                    .into(),
            );
            lines.push("  `sudo systemd-run --scope -p Delegate=yes --uid=$UID taskscale …`, or run taskscale as root".into());
            lines
        }
    }
}

fn limits() -> Vec<String> {
    let limits = read_limits();
    let mut lines = Vec::new();
    let mut line = |limit: &LimitHit, bites: String, remedy: Option<String>| {
        let remedy = remedy.map(|remedy| format!("; {remedy}")).unwrap_or_default();
        lines.push(format!("{:<20} {:>10}  {bites}{remedy}", limit.name, limit.value));
    };
    for room in limits.thread_rooms() {
        let bites = format!("OS threads end near {}", units::grouped(room.room));
        line(&room.limit, bites, room.remedy);
    }
    if let Some((rooms, (limit, remedy))) = limits.map_rooms() {
        let bites = format!(
            "OS threads and fibers with mapped stacks end between {} (four areas each, as in Rust) and {} (two)",
            units::grouped(*rooms.start()),
            units::grouped(*rooms.end())
        );
        line(&limit, bites, remedy);
    }
    if let Some((limit, remedy)) = limits.files_met() {
        line(&limit, format!("connections end near {}", units::count(limit.value)), remedy);
    }
    if let Some(available) = available_memory_bytes() {
        lines.push(format!(
            "{:<20} {:>10}  a run is capped at {}; at 2 KiB a task that is {} tasks",
            "memory available",
            units::bytes(available),
            units::bytes(available / 5 * 4),
            units::count((available / 5 * 4 / 2048 / 100_000 * 100_000).max(1))
        ));
    }
    lines
}
