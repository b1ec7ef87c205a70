//! A document in a terminal.
//!
//! Must not detect the terminal: the caller sets width and color.

use anstyle::{AnsiColor, Style};

use super::sanitize::{safe, width, wrapped};
use super::{Block, Document, Emphasis, RenderOptions, command_line, grid};

/// Sentences are not broken later than this, however wide the terminal: longer lines are hard to read.
const TEXT_WIDTH: usize = 100;

pub(super) fn style(emphasis: Emphasis) -> Style {
    match emphasis {
        Emphasis::Plain => Style::new(),
        Emphasis::Strong => Style::new().bold(),
        Emphasis::Quiet => Style::new().dimmed(),
        Emphasis::Good => AnsiColor::Green.on_default().bold(),
        Emphasis::Doubtful => AnsiColor::Yellow.on_default(),
        Emphasis::Bad => AnsiColor::Red.on_default(),
    }
}

/// The text in the style, if color is on.
pub fn painted(text: &str, style: Style, color: bool) -> String {
    if color { format!("{style}{text}{style:#}") } else { text.to_owned() }
}

pub(super) fn render(document: &Document, options: RenderOptions) -> String {
    let mut page = TerminalPage { options, out: String::new() };
    let mut left_out: Vec<String> = Vec::new();
    let mut before: Option<&Block> = None;
    for block in &document.blocks {
        let new = before.is_some() && matches!(block, Block::Title(_));
        if new || matches!(block, Block::Table(_)) || matches!(before, Some(Block::Table(_))) {
            page.out.push('\n');
        }
        match block {
            Block::Title(text) => page.paragraph("", text, Emphasis::Strong),
            Block::Text(text, emphasis) => page.paragraph("", text, *emphasis),
            Block::Table(table) => {
                let mut columns = grid::put(&mut page.out, table, options);
                columns.retain(|name| !left_out.contains(name));
                left_out.extend(columns);
            }
        }
        before = Some(block);
    }
    if !document.notes.is_empty() || !left_out.is_empty() {
        page.out.push('\n');
    }
    document.notes.iter().for_each(|note| page.paragraph("· ", note, Emphasis::Quiet));
    if !left_out.is_empty() {
        page.paragraph(
            "· ",
            &format!("Hidden (terminal too narrow): {}.", left_out.join(", ")),
            Emphasis::Quiet,
        );
    }
    if let Some(provenance) = &document.provenance {
        page.out.push('\n');
        page.paragraph("", provenance, Emphasis::Quiet);
    }
    if !document.command.is_empty() {
        page.paragraph("", &command_line(&document.command), Emphasis::Quiet);
    }
    page.out
}

struct TerminalPage {
    options: RenderOptions,
    out: String,
}

impl TerminalPage {
    /// The lines after the first are as far in as its `lead`.
    fn paragraph(&mut self, lead: &str, text: &str, emphasis: Emphasis) {
        let indent = width(lead);
        let columns = self.options.width.min(TEXT_WIDTH).saturating_sub(indent);
        for (i, line) in wrapped(&safe(text), columns).iter().enumerate() {
            let line = if i == 0 { format!("{lead}{line}") } else { format!("{:indent$}{line}", "") };
            self.out.push_str(&painted(&line, style(emphasis), self.options.color));
            self.out.push('\n');
        }
    }
}
