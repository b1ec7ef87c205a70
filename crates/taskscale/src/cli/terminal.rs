//! Writes results to standard output, in the color and width of the stream.

use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;
use std::sync::OnceLock;

use clap::ColorChoice;
use serde::Serialize;

use crate::document::{Bars, RenderOptions, joined, json};

/// The widest table, also without a terminal: longer lines are hard to follow.
pub(super) const WIDEST: usize = 120;

/// The value of `--color`.
static COLOR: OnceLock<ColorChoice> = OnceLock::new();

/// Sets the value of `--color`; only the first call has an effect.
pub(super) fn set_color(when: ColorChoice) {
    let _ = COLOR.set(when);
}

/// Whether to color a stream: by `--color`, else not with NO_COLOR (no-color.org), always with CLICOLOR_FORCE
/// (bixense.com/clicolors), else on a terminal.
pub(super) fn color(stream: &impl IsTerminal) -> bool {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    match COLOR.get().copied().unwrap_or_default() {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto if set("NO_COLOR").is_some() => false,
        ColorChoice::Auto if set("CLICOLOR_FORCE").is_some_and(|value| value != "0") => true,
        ColorChoice::Auto => {
            stream.is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
        }
    }
}

/// Text from outside made safe for a terminal: control characters but line ends and tabs are replaced.
pub(super) fn printable(text: &str) -> String {
    text.chars()
        .map(|c| if crate::report::acts(c) && c != '\n' && c != '\t' { '\u{fffd}' } else { c })
        .collect()
}

/// Writes a result to standard output.
pub(super) fn print_result(text: &str) -> io::Result<()> {
    print_through(|out| out.write_all(text.as_bytes()))
}

/// A result as JSON, or as a text.
pub(super) fn json_or(json: bool, result: &impl Serialize, text: impl FnOnce() -> String) -> String {
    if json { json::pretty(result) } else { text() }
}

/// Writes a result to standard output with `write`. Ignores a closed pipe (`| head`).
pub(super) fn print_through(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
        _ => Ok(()),
    }
}

/// Options for standard output: a terminal, a pipe or a file.
pub(super) fn for_standard_output() -> RenderOptions {
    let color = color(&std::io::stdout());
    RenderOptions {
        color,
        width: width_of(&std::io::stdout()).unwrap_or(WIDEST).min(WIDEST),
        bars: match (color, std::io::stdout().is_terminal()) {
            (true, _) => Bars::Blocks,
            (false, true) => Bars::Plain,
            (false, false) => Bars::Hidden,
        },
    }
}

/// COLUMNS, or the width of the terminal that a stream is.
pub(super) fn width_of(stream: &impl AsFd) -> Option<usize> {
    let said = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    if let Some(columns) = said.filter(|columns| *columns > 0) {
        return Some(columns);
    }
    let size = rustix::termios::tcgetwinsize(stream).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

/// Rows as aligned columns; the last column is not padded.
pub(super) fn columns<const N: usize>(rows: &[[String; N]]) -> String {
    let width = |i: usize| rows.iter().map(|row| row[i].chars().count()).max().unwrap_or(0);
    let widths: [usize; N] = std::array::from_fn(width);
    let line = |row: &[String; N]| {
        let padded = row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
        format!("{}\n", joined(padded, "  ").trim_end())
    };
    rows.iter().map(line).collect()
}
