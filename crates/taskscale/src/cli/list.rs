//! `taskscale list`.

use std::collections::BTreeMap;
use std::process::ExitCode;

use serde_json::json;

use super::args::{Global, List};
use super::catalog_dir::open_catalog_aloud;
use super::{Failure, OrUsage, print_result, printable};
use crate::campaign::receipt;
use crate::catalog::{ToolchainSpec, select};
use crate::toolchain::{self, Toolchain, Unavailable};

pub fn run(args: &List, global: &Global) -> Result<ExitCode, Failure> {
    let catalog = open_catalog_aloud(global).or_usage()?;
    let words = if args.entries.is_empty() { vec!["@all".to_owned()] } else { args.entries.clone() };
    let entries = select(&catalog, &words, &args.workload).or_usage()?;

    let mut toolchains: BTreeMap<&ToolchainSpec, Result<Toolchain, Unavailable>> = BTreeMap::new();
    for (_, entry) in &entries {
        toolchains.entry(&entry.toolchain).or_insert_with(|| toolchain::find(&entry.toolchain));
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
                    "unavailable": toolchain.as_ref().err().map(ToString::to_string),
                })
            })
            .collect();
        print_result(&format!("{:#}\n", json!(list)))?;
        return Ok(ExitCode::SUCCESS);
    }

    let mut rows = vec![["entry", "kind", "style", "runs on", "version"].map(str::to_owned)];
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
        rows.push([entry.full_name.clone(), entry.kind.name().into(), style, cores.into(), version]);
    }
    print_result(&printable(&columns(&rows)))?;
    Ok(ExitCode::SUCCESS)
}

/// Rows as aligned columns; the last one runs free.
pub(super) fn columns<const N: usize>(rows: &[[String; N]]) -> String {
    let widths: [usize; N] =
        std::array::from_fn(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0));
    let mut text = String::new();
    for row in rows {
        let padded = row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
        text.push_str(padded.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    text
}
