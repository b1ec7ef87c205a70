//! `taskscale help CODE`: what a status, warning, kind, column or metric means, its cause and its remedy.

use std::collections::BTreeMap;

use clap::CommandFactory;
use serde::Deserialize;

use super::args::{Args, HelpArgs};
use super::failure::{CliResult, Failure, advised, succeed_with};
use super::output::color;
use crate::catalog::closest;
use crate::metrics;

/// The text of each code. docs/troubleshooting.md is generated from it.
const CODES: &str = include_str!("codes.toml");

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Code {
    what: String,
    cause: Option<String>,
    remedy: Option<String>,
}

/// The texts of each group, by code.
type Codes = BTreeMap<String, BTreeMap<String, Code>>;

fn codes() -> Codes {
    #[allow(clippy::expect_used, reason = "a part of the program, which a test parses")]
    let mut codes: Codes = toml::from_str(CODES).expect("codes.toml");
    let metric = |about: &str| Code { what: format!("{about}."), cause: None, remedy: None };
    let metrics = metrics::ALL.map(|figure| (figure.name.to_owned(), metric(figure.about)));
    codes.insert("metric".to_owned(), metrics.into());
    codes
}

impl Code {
    fn text(&self) -> String {
        let more = |name: &str, text: &Option<String>| {
            text.as_ref().map(|text| format!("\n{name}: {text}")).unwrap_or_default()
        };
        format!("{}{}{}", self.what, more("Cause", &self.cause), more("Remedy", &self.remedy))
    }
}

pub(super) fn run(help: &HelpArgs) -> CliResult {
    if help.markdown {
        return succeed_with(&markdown());
    }
    let topic = help.topic.join(" ");
    let mut taskscale = Args::command();
    taskscale.build();
    if topic.is_empty() {
        return succeed_with(&long_help(&mut taskscale));
    }
    let groups = codes();
    let own = |(group, codes): (&String, &BTreeMap<String, Code>)| {
        let found = codes.iter().find(|(name, _)| name.eq_ignore_ascii_case(&topic));
        found.map(|(name, code)| format!("{name} ({group})\n{}\n", code.text()))
    };
    let mut command = Some(&mut taskscale);
    for word in &help.topic {
        command = command.and_then(|command| command.find_subcommand_mut(word));
    }
    // A command comes before codes of the same name.
    let command = command.map(long_help);
    let texts: Vec<String> = command.into_iter().chain(groups.iter().filter_map(own)).collect();
    if texts.is_empty() {
        return Err(Failure::Usage(unknown(&topic, &taskscale, &groups)));
    }
    succeed_with(&texts.join("\n"))
}

/// The long help of a command, in color where standard output has color.
fn long_help(command: &mut clap::Command) -> String {
    let help = command.render_long_help();
    if color(&std::io::stdout()) { help.ansi().to_string() } else { help.to_string() }
}

fn unknown(topic: &str, taskscale: &clap::Command, groups: &Codes) -> anyhow::Error {
    // Not this command itself, which no topic means.
    let commands = taskscale.get_subcommands().map(clap::Command::get_name).filter(|name| *name != "help");
    let codes = groups.values().flat_map(|codes| codes.keys().map(String::as_str));
    let hint = match closest(topic, commands.chain(codes)) {
        Some(name) => format!("taskscale help {name}"),
        None => "taskscale list metrics; statuses, warnings and kinds: docs/troubleshooting.md".to_owned(),
    };
    advised(format!("no help for: {topic}"), hint)
}

/// Statuses and warnings, for docs/troubleshooting.md.
fn markdown() -> String {
    let mut text = String::new();
    let groups = codes();
    for (title, group) in [("Statuses", "status"), ("Warnings", "warning")] {
        text.push_str(&format!("\n## {title}\n"));
        for (name, code) in &groups[group] {
            text.push_str(&format!("\n### `{name}`\n\n{}\n", code.text().replace('\n', "\n\n")));
        }
    }
    text + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use strum::VariantArray;

    use crate::catalog::Kind;
    use crate::record::{Status, Warning};

    /// The serialized names of the variants, from the schema of the type.
    fn names<T: schemars::JsonSchema>() -> Vec<String> {
        let schema = serde_json::to_value(schemars::schema_for!(T)).unwrap();
        let variants = schema["oneOf"].as_array().or(schema["enum"].as_array()).unwrap().clone();
        let name =
            |variant: &serde_json::Value| variant["const"].as_str().or(variant.as_str()).unwrap().to_owned();
        variants.iter().map(name).collect()
    }

    #[test]
    fn every_status_warning_and_kind_has_help_text() {
        let codes = codes();
        let kinds: Vec<String> = Kind::VARIANTS.iter().map(|kind| kind.name().to_owned()).collect();
        for (known, due) in [
            (&codes["status"], names::<Status>()),
            (&codes["warning"], names::<Warning>()),
            (&codes["kind"], kinds),
        ] {
            let known: Vec<&String> = known.keys().collect();
            let mut due: Vec<&String> = due.iter().collect();
            due.sort();
            assert_eq!(known, due);
        }
        let all = codes["status"].values().chain(codes["warning"].values());
        let bare = all.filter(|code| code.cause.is_none() || code.remedy.is_none());
        assert_eq!(bare.count(), 1, "`ok` alone needs no remedy");
    }
}
