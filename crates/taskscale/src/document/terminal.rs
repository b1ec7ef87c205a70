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
        let mut out = String::new();
        let mut left_out: Vec<String> = Vec::new();
        let mut before: Option<&Block> = None;
        for block in &self.blocks {
            let new = before.is_some() && matches!(block, Block::Title(_));
            if new || matches!(block, Block::Table(_)) || matches!(before, Some(Block::Table(_))) {
                out.push('\n');
            }
            match block {
                Block::Title(text) => out.push_str(&paragraph("", text, Emphasis::Strong, options)),
                Block::Text(text, emphasis) => out.push_str(&paragraph("", text, *emphasis, options)),
                Block::Table(table) => {
                    let mut columns = grid::put(&mut out, table, options);
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
            out.push('\n');
        }
        let quiet = |lead: &str, text: &str| paragraph(lead, text, Emphasis::Quiet, options);
        out.extend(notes.iter().map(|note| quiet("· ", note)));
        out.extend(self.provenance.iter().map(|provenance| format!("\n{}", quiet("", provenance))));
        if !self.command.is_empty() {
            out.push_str(&quiet("", &command_line(&self.command)));
        }
        out
    }
}

/// Wrapped text. Lines after the first are indented by the width of `lead`.
fn paragraph(lead: &str, text: &str, emphasis: Emphasis, options: RenderOptions) -> String {
    let indent = width(lead);
    let columns = options.width.min(TEXT_WIDTH).saturating_sub(indent);
    let line = |(i, line): (usize, &String)| {
        let line = if i == 0 { format!("{lead}{line}") } else { format!("{:indent$}{line}", "") };
        painted(&line, style(emphasis), options.color) + "\n"
    };
    wrapped(&safe(text), columns).iter().enumerate().map(line).collect()
}
