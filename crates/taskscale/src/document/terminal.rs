//! A document in a terminal.
//!
//! Must not detect the terminal: the caller sets width and color.

use super::grid;
use super::model::{Block, Document, Emphasis, RenderOptions};
use super::sanitize::{command_line, safe, width, wrapped};
use super::style::{painted, style};

/// Maximum width of sentences, however wide the terminal: longer lines are hard to read.
const TEXT_WIDTH: usize = 100;

impl Document {
    /// For a terminal, as text that ends in a line end.
    pub fn terminal(&self, options: RenderOptions) -> String {
        let mut page = TerminalPage { options, out: String::new() };
        let mut left_out: Vec<String> = Vec::new();
        let mut before: Option<&Block> = None;
        for block in &self.blocks {
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
        let hidden = format!("Hidden (terminal too narrow): {}.", left_out.join(", "));
        let notes: Vec<&String> =
            self.notes.iter().chain(Some(&hidden).filter(|_| !left_out.is_empty())).collect();
        if !notes.is_empty() {
            page.out.push('\n');
        }
        notes.iter().for_each(|note| page.paragraph("· ", note, Emphasis::Quiet));
        if let Some(provenance) = &self.provenance {
            page.out.push('\n');
            page.paragraph("", provenance, Emphasis::Quiet);
        }
        if !self.command.is_empty() {
            page.paragraph("", &command_line(&self.command), Emphasis::Quiet);
        }
        page.out
    }
}

struct TerminalPage {
    options: RenderOptions,
    out: String,
}

impl TerminalPage {
    /// Writes wrapped text. Lines after the first are indented by the width of `lead`.
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
