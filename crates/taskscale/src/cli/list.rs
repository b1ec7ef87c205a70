//! `taskscale list`.

use anyhow::{Result, ensure};
use serde_json::json;
use strum::VariantNames;

use super::args::{Global, ListArgs, formats};
use super::catalog_dir::{find_catalog, load, open_catalog};
use super::failure::{CliResult, OrUsage, succeed_with};
use super::output::{columns, eprint_status, for_standard_output, printable, width_of};
use crate::campaign::receipt;
use crate::catalog::{Entry, Workload, select};
use crate::document::{by_key, json, shortened, width, wrapped_whole};
use crate::metrics;
use crate::toolchain;
use crate::units;

/// Maximum width of a version, in columns. `--json` has it in full.
const VERSION: usize = 60;

/// What can be listed in place of entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::EnumString, strum::VariantNames)]
#[strum(serialize_all = "lowercase")]
enum Topic {
    Workloads,
    Metrics,
    Formats,
}

/// The words for `list` that are not entries.
pub(super) const TOPICS: &[&str] = Topic::VARIANTS;

/// The topic that is asked for; `None` for entries.
fn topic(args: &ListArgs) -> Result<Option<Topic>> {
    let topic = args.entries.iter().find_map(|word| Some((word, word.parse().ok()?)));
    let Some((word, topic)) = topic else { return Ok(None) };
    let alone = args.entries.len() == 1 && !args.installed && !args.missing && args.workload.is_empty();
    ensure!(alone, "`{word}`: list it alone, without entries and their options");
    Ok(Some(topic))
}

pub fn run(args: &ListArgs, global: &Global) -> CliResult {
    let lines = match topic(args).or_usage()? {
        None => return entries(args, global),
        Some(Topic::Workloads) => workloads(&open_catalog(global).or_usage()?.workloads, global.json),
        Some(Topic::Metrics) => metrics(global.json),
        Some(Topic::Formats) => output_formats(global.json),
    };
    succeed_with(&printable(&lines))
}

fn workloads(workloads: &[Workload], json: bool) -> String {
    if json {
        let all = workloads.iter().map(|workload| {
            let parameters = workload.parameters.iter().map(|(name, parameter)| {
                json!({
                    "name": name, "about": parameter.about, "default": parameter.default,
                    "least": parameter.least, "most": parameter.most,
                })
            });
            json!({
                "name": workload.name, "title": workload.title, "default": workload.default,
                "shape": workload.shape.name(), "about": workload.about, "answers": workload.answers,
                "operation": workload.operation, "tasks": workload.tasks,
                "parameters": parameters.collect::<Vec<_>>(),
            })
        });
        return json::pretty(&all.collect::<Vec<_>>());
    }
    let mut text = String::new();
    let columns = for_standard_output().width;
    for workload in workloads {
        let default = if workload.default { " (default)" } else { "" };
        text.push_str(&format!("{}{default}\n", workload.name));
        let tasks: Vec<String> = workload.tasks.iter().map(|tasks| units::count(*tasks)).collect();
        let own = [workload.answers.clone(), workload.about.clone(), format!("-n {}", tasks.join(","))];
        let parameters = workload.parameters.iter().map(|(name, parameter)| {
            let (default, least, most) = (parameter.default, parameter.least, parameter.most);
            format!("-p {name}={default} ({least} to {most}): {}", parameter.about)
        });
        own.into_iter().chain(parameters).for_each(|line| indent(&mut text, &line, columns));
    }
    text
}

fn metrics(json: bool) -> String {
    if json {
        let all = metrics::ALL.map(|metric| {
            let shapes: Vec<&str> = metric.shapes.iter().map(|shape| shape.name()).collect();
            json!({
                "name": metric.name, "field": metric.field, "heading": metric.heading, "about": metric.about,
                "unit": metric.shown_unit().0, "better": metric.better, "shapes": shapes,
            })
        });
        return json::pretty(&all);
    }
    let mut rows = vec![["metric", "unit", "better", "meaning"].map(str::to_owned)];
    rows.extend(metrics::ALL.map(|metric| {
        [metric.name, metric.shown_unit().0, metric.better.into(), metric.about].map(str::to_owned)
    }));
    columns(&rows)
}

fn output_formats(json: bool) -> String {
    if json {
        return json::pretty(&formats());
    }
    let mut rows = vec![["format", "meaning", "commands"].map(str::to_owned)];
    rows.extend(formats().into_iter().map(|format| [format.name, format.about, format.commands.join(", ")]));
    columns(&rows)
}

/// Appends a text below a name, in lines that fit this many columns.
fn indent(text: &mut String, line: &str, columns: usize) {
    for part in wrapped_whole(line, columns.saturating_sub(2)) {
        text.push_str(&format!("  {part}\n"));
    }
}

fn entries(args: &ListArgs, global: &Global) -> CliResult {
    let place = find_catalog(global).or_usage()?;
    // The listed entries depend on it.
    eprint_status(&format!("catalog: {place}"));
    let catalog = load(&place).or_usage()?;
    let words = if args.entries.is_empty() { vec!["@all".to_owned()] } else { args.entries.clone() };
    let selection = select(&catalog, &words, &args.workload).or_usage()?;
    let mut entries = selection.entries();

    let toolchains = toolchain::find_all(entries.iter().map(|(_, entry)| &entry.toolchain));
    let is_installed = |entry: &Entry| toolchains[&entry.toolchain].is_ok();
    entries.retain(|(_, entry)| if is_installed(entry) { !args.missing } else { !args.installed });
    if global.json {
        let list = entries.iter().map(|(runtime, entry)| {
            let toolchain = &toolchains[&entry.toolchain];
            json!({
                "entry": entry.full_name, "title": entry.title, "kind": entry.kind,
                "stackful": entry.kind.stackful(), "parallel": entry.parallel, "style": entry.style,
                "reference": entry.reference, "posts": !entry.posts.is_empty(), "unverified": entry.unverified,
                "why": entry.why, "notes": entry.notes, "omitted": entry.omitted, "url": runtime.url,
                "workloads": entry.workloads.keys().collect::<Vec<_>>(),
                "version": toolchain.as_ref().ok().map(|found| receipt(found, entry)),
                "install": entry.toolchain.install,
                "unavailable": toolchain.as_ref().err().map(ToString::to_string),
            })
        });
        return succeed_with(&json::pretty(&list.collect::<Vec<_>>()));
    }

    let names: Vec<String> = selection.workloads().iter().map(|workload| workload.name.clone()).collect();
    let mut rows = vec![["entry", "kind", "style", "runs on", "workloads", "version"].map(str::to_owned)];
    for (_, entry) in &entries {
        let version = match &toolchains[&entry.toolchain] {
            Ok(toolchain) => shortened(&receipt(toolchain, entry), VERSION).into_owned(),
            Err(why) => format!("{} {}", entry.toolchain.title, why.in_short(&entry.toolchain)),
        };
        let style = if entry.reference { "reference" } else { entry.style.name() };
        let unverified = if entry.unverified.is_some() { ", unverified" } else { "" };
        let cores = if entry.parallel { "all cores" } else { "one core" };
        let does: Vec<&str> =
            names.iter().filter(|name| entry.workloads.contains_key(*name)).map(String::as_str).collect();
        // With a single workload, `all` would be no shorter.
        let all = does.len() == catalog.workloads.len() && does.len() > 1;
        let does = if all { "all".to_owned() } else { does.join(",") };
        let (kind, style) = (entry.kind.name().to_owned(), format!("{style}{unverified}"));
        rows.push([entry.full_name.clone(), kind, style, cores.to_owned(), does, version]);
    }
    let table = columns(&rows);
    let widest = table.lines().map(width).max().unwrap_or(0);
    let text = match width_of(&std::io::stdout()) {
        Some(columns) if widest > columns => blocks(&rows, columns),
        _ => table,
    };
    succeed_with(&printable(&(text + &omissions(entries.iter().map(|(_, entry)| *entry)))))
}

/// Why entries lack workloads: each reason once, with its entries.
fn omissions<'a>(entries: impl Iterator<Item = &'a Entry>) -> String {
    let reasons = entries.filter_map(|entry| Some((entry.omitted.as_deref()?, entry.full_name.as_str())));
    let mut text = String::new();
    for (why, names) in by_key(reasons) {
        let heading = if text.is_empty() { "\nOther workloads are omitted:\n" } else { "" };
        text.push_str(heading);
        indent(&mut text, &format!("{}: {why}", names.join(", ")), for_standard_output().width);
    }
    text
}

/// The same rows for a narrow terminal: the name of an entry, and its columns below it.
fn blocks(rows: &[[String; 6]], columns: usize) -> String {
    let mut text = String::new();
    for [name, kind, style, cores, workloads, version] in rows.iter().skip(1) {
        text.push_str(&format!("{name}\n"));
        for line in [format!("{kind}, {style}, {cores}; {version}"), workloads.replace(',', " ")] {
            indent(&mut text, &line, columns);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::tests::carried_workloads;

    #[test]
    fn entry_blocks_wrap_at_the_given_width() {
        let row = |words: [&str; 6]| words.map(str::to_owned);
        let rows = [
            row(["entry", "kind", "style", "runs on", "workloads", "version"]),
            row([
                "go/goroutine",
                "stackful",
                "idiomatic",
                "all cores",
                "all",
                "go version go1.26.8 linux/amd64",
            ]),
            row([
                "x/y",
                "timer",
                "reference",
                "one core",
                "sleep,spawn",
                "X not installed: https://example.org/install",
            ]),
        ];
        insta::assert_snapshot!(blocks(&rows, 60), @"
        go/goroutine
          stackful, idiomatic, all cores; go version go1.26.8
          linux/amd64
          all
        x/y
          timer, reference, one core; X not installed:
          https://example.org/install
          sleep spawn
        ");
    }

    #[test]
    fn every_topic_is_listed_as_text_and_json() {
        assert_eq!(TOPICS, ["workloads", "metrics", "formats"]);
        assert!(TOPICS.iter().all(|word| word.parse::<Topic>().is_ok()));
        let all = carried_workloads();
        let of_workloads = workloads(&all, false);
        assert!(all.iter().all(|workload| of_workloads.contains(&*workload.name)), "{of_workloads}");
        assert!(
            metrics(false).contains("\nbytes-per-task ") && output_formats(false).contains("\nmarkdown ")
        );
        for json in [workloads(&all, true), metrics(true), output_formats(true)] {
            let list: Vec<serde_json::Value> = serde_json::from_str(&json).unwrap();
            assert!(list.len() > 5 && list.iter().all(|item| item["name"].is_string()), "{json}");
        }
    }
}
