//! `taskscale list`.

use std::collections::BTreeMap;
use std::process::ExitCode;

use serde_json::json;

use super::args::{Global, List};
use super::catalog_dir::open_catalog_aloud;
use super::report::terminal_width;
use super::{Failure, OrUsage, print_result, printable};
use crate::campaign::receipt;
use crate::catalog::{ToolchainSpec, select};
use crate::sheet::{width, wrapped_whole};
use crate::toolchain::{self, Toolchain, Unavailable};

pub fn run(args: &List, global: &Global) -> Result<ExitCode, Failure> {
    let catalog = open_catalog_aloud(global).or_usage()?;
    let words = if args.entries.is_empty() { vec!["@all".to_owned()] } else { args.entries.clone() };
    let selection = select(&catalog, &words, &args.workload).or_usage()?;
    let entries = selection.entries();

    let mut toolchains: BTreeMap<&ToolchainSpec, Result<Toolchain, Unavailable>> = BTreeMap::new();
    for (_, entry) in &entries {
        toolchains.entry(&entry.toolchain).or_insert_with(|| toolchain::find_without_trace(&entry.toolchain));
    }
    if global.json {
        let list: Vec<_> = entries
            .iter()
            .map(|(runtime, entry)| {
                let toolchain = &toolchains[&entry.toolchain];
                json!({
                    "entry": entry.full_name, "title": entry.title, "kind": entry.kind,
                    "stackful": entry.kind.stackful(), "parallel": entry.parallel, "style": entry.style,
                    "reference": entry.reference, "posts": entry.posts, "unverified": entry.unverified,
                    "why": entry.why, "notes": entry.notes, "url": runtime.url,
                    "workloads": entry.workloads.keys().collect::<Vec<_>>(),
                    "version": toolchain.as_ref().ok().map(|found| receipt(found, entry)),
                    "install": { "debian": entry.toolchain.install_debian, "other": entry.toolchain.install_other },
                    "unavailable": toolchain.as_ref().err().map(ToString::to_string),
                })
            })
            .collect();
        print_result(&format!("{:#}\n", json!(list)))?;
        return Ok(ExitCode::SUCCESS);
    }

    let workloads = selection.workloads();
    let heads = ["entry", "kind", "style", "runs on"].into_iter().map(str::to_owned);
    let names = workloads.iter().map(|workload| workload.name.clone());
    let mut rows: Vec<Vec<String>> = vec![heads.chain(names).chain(["version".to_owned()]).collect()];
    for (_, entry) in &entries {
        let version = match &toolchains[&entry.toolchain] {
            Ok(toolchain) => receipt(toolchain, entry),
            Err(why) => format!("unavailable: {why}"),
        };
        let mut style = entry.style.name().to_owned();
        if entry.reference {
            style = "reference".into();
        }
        if entry.unverified.is_some() {
            style.push_str(", unverified");
        }
        let cores = if entry.parallel { "all cores" } else { "one core" };
        let mut row = vec![entry.full_name.clone(), entry.kind.name().into(), style, cores.into()];
        row.extend(workloads.iter().map(|workload| match entry.workloads.contains_key(&workload.name) {
            true => "yes".to_owned(),
            false => "-".to_owned(),
        }));
        row.push(version);
        rows.push(row);
    }
    let table = columns(&rows);
    let widest = table.lines().map(width).max().unwrap_or(0);
    // In a pipe lines are as long as they are.
    let text = match terminal_width() {
        Some(columns) if widest > columns => blocks(&rows, columns),
        _ => table,
    };
    print_result(&printable(&text))?;
    Ok(ExitCode::SUCCESS)
}

/// The same rows for a terminal that is too narrow for a table: an entry's name, and below it what is in its columns.
fn blocks(rows: &[Vec<String>], columns: usize) -> String {
    let Some((heads, rows)) = rows.split_first() else { return String::new() };
    let mut text = String::new();
    for row in rows {
        let ([name, kind, style, cores], [workloads @ .., version]) = row.split_at(4) else { continue };
        let does = heads[4..].iter().zip(workloads).filter(|(_, does)| *does == "yes");
        let does: Vec<&str> = does.map(|(head, _)| head.as_str()).collect();
        text.push_str(&format!("{name}\n"));
        for line in [format!("{kind}, {style}, {cores}; {version}"), does.join(" ")] {
            for part in wrapped_whole(&line, columns.saturating_sub(2)) {
                text.push_str(&format!("  {part}\n"));
            }
        }
    }
    text
}

/// Rows as aligned columns; the last one runs free.
pub(super) fn columns(rows: &[impl AsRef<[String]>]) -> String {
    let mut widths: Vec<usize> = Vec::new();
    for row in rows.iter().map(AsRef::as_ref) {
        widths.resize(widths.len().max(row.len()), 0);
        widths.iter_mut().zip(row).for_each(|(width, cell)| *width = (*width).max(cell.chars().count()));
    }
    let mut text = String::new();
    for row in rows.iter().map(AsRef::as_ref) {
        let padded = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        text.push_str(padded.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_narrow_terminal_has_blocks_in_place_of_rows() {
        let row = |words: &str| words.split('|').map(str::to_owned).collect::<Vec<_>>();
        let rows = [
            row("entry|kind|style|runs on|sleep|spawn|version"),
            row("go/goroutine|stackful|idiomatic|all cores|yes|yes|go version go1.26.8 linux/amd64"),
            row(
                "x/y|timer|reference|one core|yes|-|unavailable: X is not installed: https://example.org/install",
            ),
        ];
        insta::assert_snapshot!(blocks(&rows, 60), @"
        go/goroutine
          stackful, idiomatic, all cores; go version go1.26.8
          linux/amd64
          sleep spawn
        x/y
          timer, reference, one core; unavailable: X is not
          installed: https://example.org/install
          sleep
        ");
    }
}
