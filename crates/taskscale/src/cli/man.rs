//! `taskscale man`: the manual, made from the definition of the command line.

use std::fs;
use std::io;

use anyhow::Context;
use clap::builder::{Resettable, StyledStr};
use clap::{Command, CommandFactory};
use clap_mangen::Man as Page;

use super::args::{Args, ManArgs};
use super::failure::{CliResult, SUCCESS, succeed_with};
use super::output::eprint_status;

pub fn run(args: &ManArgs) -> CliResult {
    let mut command = Args::command();
    // Adds the global options to each command.
    command.build();
    let Some(folder) = &args.output else {
        return succeed_with(&page(&command).context("cannot write the manual")?.1);
    };
    let shown = folder.display();
    fs::create_dir_all(folder).with_context(|| format!("cannot create {shown}"))?;
    let subcommands = command.get_subcommands().filter(|sub| sub.get_name() != "help");
    for command in std::iter::once(&command).chain(subcommands) {
        let (name, text) = page(command).context("cannot write the manual")?;
        fs::write(folder.join(&name), text).with_context(|| format!("cannot write {name} in {shown}"))?;
    }
    eprint_status(&format!("written: one page per command, in {shown}"));
    Ok(SUCCESS)
}

/// Start of the help line that becomes a section of the manual.
const EXIT_STATUS: &str = "Exit status:";

/// The name of a command's page, and the page.
fn page(command: &Command) -> io::Result<(String, String)> {
    let help = command.get_after_long_help().or(command.get_after_help()).map(StyledStr::to_string);
    let page = Page::new(command.clone().after_help(Resettable::Reset).after_long_help(Resettable::Reset));
    let mut text = Vec::new();
    page.render(&mut text)?;
    let mut text = String::from_utf8_lossy(&text).into_owned();
    let help = help.unwrap_or_default();
    let (statuses, others): (Vec<&str>, Vec<&str>) =
        help.lines().filter(|line| *line != "Examples:").partition(|line| line.starts_with(EXIT_STATUS));
    let (notes, examples): (Vec<&str>, Vec<&str>) =
        others.into_iter().filter(|line| !line.is_empty()).partition(|line| !line.starts_with(' '));
    let escaped = |lines: Vec<&str>| lines.into_iter().map(|line| roff(line) + "\n").collect::<String>();
    if !examples.is_empty() {
        // Verbatim: groff would fill the lines.
        text.push_str(&format!(".SH EXAMPLES\n.nf\n{}.fi\n", escaped(examples)));
    }
    if !notes.is_empty() {
        text.push_str(&format!(".SH NOTES\n{}", escaped(notes)));
    }
    for status in statuses {
        let status = status.trim_start_matches(EXIT_STATUS).trim();
        text.push_str(&format!(".SH EXIT STATUS\n{}\n", roff(status)));
    }
    Ok((page.get_filename(), text))
}

/// Escapes a line so that groff interprets nothing in it: groff(7), "Escape Sequences" and "Control
/// characters".
fn roff(line: &str) -> String {
    let escaped = line.replace('\\', r"\e").replace('-', r"\-").replace('\'', r"\(aq");
    if escaped.starts_with('.') { format!(r"\&{escaped}") } else { escaped }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn man_pages_keep_examples_verbatim() {
        assert_eq!(roff(r"  run 'rust/*' -n 1 \x"), r"  run \(aqrust/*\(aq \-n 1 \ex");
        assert_eq!(roff(".x"), r"\&.x");
        let mut command = Args::command();
        command.build();
        let run = command.find_subcommand("run").unwrap();
        let (name, text) = page(run).unwrap();
        assert_eq!(name, "taskscale-run.1");
        assert!(text.contains(r"taskscale run @all \-\-dry\-run"), "{text}");
        assert!(!text.contains(".SH EXTRA"), "{text}");
        let status = text.split(".SH \"EXIT STATUS\"\n").nth(1).or(text.split(".SH EXIT STATUS\n").nth(1));
        assert!(status.is_some_and(|status| status.starts_with('0') && status.contains("130")), "{text}");
        // Global options are listed, too.
        assert!(text.contains(r"\-\-verbose"), "{text}");
    }
}
