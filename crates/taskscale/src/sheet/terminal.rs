//! A sheet in a terminal.
//!
//! Must not detect the terminal: the caller sets width and color.

use anstyle::{AnsiColor, Style};

use super::sanitize::{safe, width, wrapped};
use super::{Block, RenderOptions, Sheet, Tone, command_line, grid};

/// Sentences are not broken later than this, however wide the terminal: longer lines are hard to read.
const TEXT_WIDTH: usize = 100;

pub(super) fn style(tone: Tone) -> Style {
    match tone {
        Tone::Plain => Style::new(),
        Tone::Strong => Style::new().bold(),
        Tone::Quiet => Style::new().dimmed(),
        Tone::Good => AnsiColor::Green.on_default().bold(),
        Tone::Doubtful => AnsiColor::Yellow.on_default(),
        Tone::Bad => AnsiColor::Red.on_default(),
    }
}

/// The text in the style, if color is on.
pub fn painted(text: &str, style: Style, color: bool) -> String {
    if color { format!("{style}{text}{style:#}") } else { text.to_owned() }
}

pub(super) fn render(sheet: &Sheet, options: RenderOptions) -> String {
    let mut page = Page { options, out: String::new() };
    let mut left_out: Vec<String> = Vec::new();
    let mut before: Option<&Block> = None;
    for block in &sheet.blocks {
        let new = before.is_some() && matches!(block, Block::Title(_));
        if new || matches!(block, Block::Table(_)) || matches!(before, Some(Block::Table(_))) {
            page.out.push('\n');
        }
        match block {
            Block::Title(text) => page.paragraph("", text, Tone::Strong),
            Block::Text(text, tone) => page.paragraph("", text, *tone),
            Block::Table(table) => {
                let mut columns = grid::put(&mut page.out, table, options);
                columns.retain(|name| !left_out.contains(name));
                left_out.extend(columns);
            }
        }
        before = Some(block);
    }
    if !sheet.notes.is_empty() || !left_out.is_empty() {
        page.out.push('\n');
    }
    sheet.notes.iter().for_each(|note| page.paragraph("· ", note, Tone::Quiet));
    if !left_out.is_empty() {
        page.paragraph("· ", &format!("Hidden (terminal too narrow): {}.", left_out.join(", ")), Tone::Quiet);
    }
    if let Some(provenance) = &sheet.provenance {
        page.out.push('\n');
        page.paragraph("", provenance, Tone::Quiet);
    }
    if !sheet.command.is_empty() {
        page.paragraph("", &command_line(&sheet.command), Tone::Quiet);
    }
    page.out
}

struct Page {
    options: RenderOptions,
    out: String,
}

impl Page {
    /// The lines after the first are as far in as its `lead`.
    fn paragraph(&mut self, lead: &str, text: &str, tone: Tone) {
        let indent = width(lead);
        let columns = self.options.width.min(TEXT_WIDTH).saturating_sub(indent);
        for (i, line) in wrapped(&safe(text), columns).iter().enumerate() {
            let line = if i == 0 { format!("{lead}{line}") } else { format!("{:indent$}{line}", "") };
            self.out.push_str(&painted(&line, style(tone), self.options.color));
            self.out.push('\n');
        }
    }
}
