//! What people read, independent of a format: titles, sentences, tables and notes.
//!
//! Each question's answer becomes one [`Document`], shown in a terminal or as Markdown. Documents contain texts as recorded:
//! each format neutralizes them for its readers. [`csv`] and [`json`] are for programs, and take the answer itself.
//! Knows nothing of the contents of documents.

mod bar;
pub(crate) mod csv;
mod grid;
pub(crate) mod json;
mod markdown;
mod model;
pub(crate) mod sanitize;
mod style;
mod terminal;

pub use bar::{Bars, bar};
pub use model::{
    Block, Column, Document, DocumentRow, Emphasis, Format, NONE, RenderOptions, RowNote, Table, TableCell,
    TableSection, by_key,
};
pub use sanitize::{
    acts, capitalized, command_line, escaped, escaped_lines, first_few, first_of, from_to, joined, quoted,
    safe, shortened, width, wrapped_whole,
};
pub(crate) use style::painted;
