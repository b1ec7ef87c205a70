//! The contents of documents: titles, sentences, tables, notes.

use std::borrow::Cow;

use super::bar::Bars;

/// The output format of a command.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum Format {
    /// A table for the terminal.
    #[default]
    Table,
    /// For an issue, a README or a chat.
    Markdown,
    /// For a spreadsheet: one line per entry and number of tasks.
    Csv,
    /// The whole model.
    Json,
}

impl Format {
    /// An answer in this format: its document for people, or the answer itself for programs.
    pub fn render(
        self,
        options: RenderOptions,
        document: impl FnOnce() -> Document,
        csv: impl FnOnce() -> String,
        json: impl FnOnce() -> String,
    ) -> String {
        match self {
            Format::Table => document().terminal(options),
            Format::Markdown => document().markdown(),
            Format::Csv => csv(),
            Format::Json => json(),
        }
    }
}

/// Options of [`Format::Table`]; the other formats have no color and no width.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RenderOptions {
    /// Whether to use color. The caller checks the terminal and `NO_COLOR`.
    pub color: bool,
    /// Maximum width of a line, in columns. Below about 60, lines may be longer, so that names and values stay
    /// readable.
    pub width: usize,
    /// How bars are drawn.
    pub bars: Bars,
}

impl Default for RenderOptions {
    /// No color, 100 columns, plain bars.
    fn default() -> RenderOptions {
        RenderOptions { color: false, width: 100, bars: Bars::Plain }
    }
}

/// Shown in place of a missing value.
pub const NONE: &str = "-";

/// Maximum number of characters shown of a note. The results contain it in full.
pub(super) const NOTE_LENGTH: usize = 400;

/// How a text is emphasized.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Emphasis {
    #[default]
    Plain,
    Strong,
    Quiet,
    Good,
    Doubtful,
    Bad,
}

/// A whole answer.
#[derive(Debug, Clone, Default)]
pub struct Document {
    pub blocks: Vec<Block>,
    /// Notes below the tables, a sentence or two each.
    pub notes: Vec<String>,
    /// Provenance in detail, for formats with room for it.
    pub details: Vec<String>,
    /// Provenance.
    pub provenance: Option<String>,
    /// The command line that made it; may be empty.
    pub command: Vec<String>,
}

#[derive(Debug, Clone)]
pub enum Block {
    Title(String),
    Text(String, Emphasis),
    Table(Table),
}

impl Document {
    pub fn new(title: impl Into<String>) -> Document {
        Document { blocks: vec![Block::Title(title.into())], ..Document::default() }
    }

    pub fn text(&mut self, text: impl Into<String>, emphasis: Emphasis) {
        self.blocks.push(Block::Text(text.into(), emphasis));
    }

    /// Begins a part with a title of its own.
    pub fn title(&mut self, title: impl Into<String>) {
        self.blocks.push(Block::Title(title.into()));
    }

    /// Adds a table, unless it has no rows.
    pub fn table(&mut self, mut table: Table) {
        table.sections.retain(|section| !section.rows.is_empty());
        if !table.sections.is_empty() {
            self.blocks.push(Block::Table(table));
        }
    }

    /// Named documents, one below the other. Notes that all have in common appear once.
    pub fn together(documents: Vec<(String, Document)>) -> Document {
        let of_all = |texts: fn(&Document) -> &Vec<String>| {
            let named = documents
                .iter()
                .flat_map(|(name, document)| texts(document).iter().map(move |text| (text, name.as_str())));
            let text = |(text, names): (&String, Vec<&str>)| match names.len() == documents.len() {
                true => text.clone(),
                false => format!("{}: {text}", names.join("; ")),
            };
            by_key(named).into_iter().map(text).collect()
        };
        let (notes, details) = (of_all(|document| &document.notes), of_all(|document| &document.details));
        let blocks = documents.into_iter().flat_map(|(_, document)| document.blocks).collect();
        Document { blocks, notes, details, ..Document::default() }
    }
}

/// Values by their keys, in the order in which keys appear first.
pub fn by_key<K: PartialEq, V>(pairs: impl Iterator<Item = (K, V)>) -> Vec<(K, Vec<V>)> {
    let mut groups: Vec<(K, Vec<V>)> = Vec::new();
    for (key, value) in pairs {
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, values)) => values.push(value),
            None => groups.push((key, vec![value])),
        }
    }
    groups
}

#[derive(Debug, Clone)]
pub struct Table {
    pub columns: Vec<Column>,
    pub sections: Vec<TableSection>,
}

impl Table {
    pub fn new(columns: Vec<Column>) -> Table {
        Table { columns, sections: Vec::new() }
    }

    /// A table of one section.
    pub fn of(
        columns: Vec<Column>,
        heading: impl Into<String>,
        rows: impl IntoIterator<Item = DocumentRow>,
    ) -> Table {
        let mut table = Table::new(columns);
        table.section(heading).rows = rows.into_iter().collect();
        table
    }

    /// Whether the heading of each section is the head of the first column.
    pub(super) fn begins_with_names(&self) -> bool {
        self.columns.first().is_some_and(|column| column.content == ColumnContent::Words)
    }

    /// A table of differences: each fact with its values and their owners.
    pub fn of_facts<'a>(facts: impl Iterator<Item = (&'a str, Vec<(String, &'a str)>)>) -> Table {
        let columns = vec![Column::words("what"), Column::words("in"), Column::prose("value")];
        let rows = facts.flat_map(|(name, values)| {
            values.into_iter().enumerate().map(move |(nth, (whose, value))| {
                let name = if nth == 0 { name } else { "" };
                DocumentRow::of(vec![
                    TableCell::plain(name),
                    TableCell::quiet(whose),
                    TableCell::plain(value),
                ])
            })
        });
        Table::of(columns, "differences", rows)
    }

    /// Begins a section with this heading.
    pub fn section(&mut self, heading: impl Into<String>) -> &mut TableSection {
        self.sections.push(TableSection {
            heading: heading.into(),
            emphasis: Emphasis::Strong,
            folded: false,
            rows: Vec::new(),
        });
        let last = self.sections.len() - 1;
        &mut self.sections[last]
    }
}

/// Rows under one heading.
#[derive(Debug, Clone)]
pub struct TableSection {
    pub heading: String,
    pub emphasis: Emphasis,
    /// Less interesting than its neighbors: folded where possible.
    pub folded: bool,
    pub rows: Vec<DocumentRow>,
}

/// The content of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnContent {
    /// Aligned to the left.
    Words,
    /// Aligned to the right.
    Figures,
    /// Wrapped text in the remaining width. Only for the last column.
    Prose,
    /// Drawn in a terminal only: the values are elsewhere in the row.
    Bars,
}

#[derive(Debug, Clone)]
pub struct Column {
    pub name: Cow<'static, str>,
    /// Name in narrow columns.
    pub short: Cow<'static, str>,
    pub content: ColumnContent,
    /// The order in which columns are hidden where the table is too wide, lowest first.
    pub drop_priority: Option<u8>,
}

impl Column {
    fn of(content: ColumnContent, name: impl Into<Cow<'static, str>>) -> Column {
        let name = name.into();
        Column { short: name.clone(), name, content, drop_priority: None }
    }

    pub fn words(name: impl Into<Cow<'static, str>>) -> Column {
        Column::of(ColumnContent::Words, name)
    }

    pub fn figures(name: impl Into<Cow<'static, str>>) -> Column {
        Column::of(ColumnContent::Figures, name)
    }

    pub fn prose(name: impl Into<Cow<'static, str>>) -> Column {
        Column::of(ColumnContent::Prose, name)
    }

    pub fn bars(name: impl Into<Cow<'static, str>>) -> Column {
        Column::of(ColumnContent::Bars, name)
    }

    /// The columns of a table of cases with texts in place of values.
    pub fn of_texts() -> Vec<Column> {
        vec![Column::words("entry"), Column::prose("")]
    }

    #[must_use]
    pub fn drop_priority(self, order: impl Into<Option<u8>>) -> Column {
        Column { drop_priority: order.into(), ..self }
    }
}

/// A row with fewer cells than its table has columns has its notes in their place. Otherwise they are below the
/// row.
#[derive(Debug, Clone, Default)]
pub struct DocumentRow {
    pub cells: Vec<TableCell>,
    /// A problem in a word, next to the name, where the notes are below the table.
    pub flag: Option<String>,
    pub notes: Vec<RowNote>,
    /// Whether the only cell is the heading of the rows below it.
    pub heading: bool,
}

impl DocumentRow {
    pub fn of(cells: Vec<TableCell>) -> DocumentRow {
        DocumentRow { cells, ..DocumentRow::default() }
    }

    /// A case with a text in place of values.
    pub fn text(case: TableCell, text: impl Into<String>, emphasis: Emphasis) -> DocumentRow {
        DocumentRow::of(vec![case]).note("", text, emphasis)
    }

    /// A heading between rows.
    pub fn heading(title: &str) -> DocumentRow {
        let cells = vec![TableCell::Text(title.to_owned(), Emphasis::Strong)];
        DocumentRow { cells, heading: true, ..DocumentRow::default() }
    }

    #[must_use]
    pub fn note(
        mut self,
        head: impl Into<String>,
        text: impl Into<String>,
        emphasis: Emphasis,
    ) -> DocumentRow {
        self.notes.push(RowNote { head: head.into(), text: text.into(), emphasis });
        self
    }

    pub(super) fn is_complete(&self, table: &Table) -> bool {
        self.cells.len() >= table.columns.len()
    }
}

/// A note on a row.
#[derive(Debug, Clone)]
pub struct RowNote {
    /// In a few words; may be empty.
    pub head: String,
    /// May be long, and is shortened.
    pub text: String,
    pub emphasis: Emphasis,
}

#[derive(Debug, Clone)]
pub enum TableCell {
    /// The name of an entry.
    Name(String, Emphasis),
    /// The name of an entry, and its marks and version.
    Entry(String, String, Emphasis),
    Text(String, Emphasis),
    /// A value, and what follows it in some rows, such as `±2.0%`.
    Marked(String, Emphasis, Option<String>),
    /// A share of the column's width, 0 to 1.
    Bar(f64, Emphasis),
}

impl TableCell {
    pub fn name(text: impl Into<String>) -> TableCell {
        TableCell::Name(text.into(), Emphasis::Plain)
    }

    pub fn plain(text: impl Into<String>) -> TableCell {
        TableCell::Text(text.into(), Emphasis::Plain)
    }

    pub fn quiet(text: impl Into<String>) -> TableCell {
        TableCell::Text(text.into(), Emphasis::Quiet)
    }

    /// A value that may be missing.
    pub fn figure(text: Option<String>, emphasis: Emphasis) -> TableCell {
        text.map_or_else(|| TableCell::quiet(NONE), |text| TableCell::Text(text, emphasis))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A note of its own, one that all have, and a table.
    fn part(name: &str) -> (String, Document) {
        let mut document = Document::new(name);
        let mut table = Table::new(vec![Column::words("entry"), Column::figures("cost")]);
        for (heading, folded) in [("1 task", true), ("2 tasks", false)] {
            let section = table.section(heading);
            section.folded = folded;
            let names = ["a/b", "c|d"].map(|name| TableCell::Name(name.to_owned(), Emphasis::Plain));
            let [first, second] = names;
            let figure = TableCell::Marked("12".to_owned(), Emphasis::Good, Some("±1%".to_owned()));
            section.rows.push(DocumentRow::of(vec![first, figure]).note(
                "2/3 ok",
                "a | long <story>",
                Emphasis::Bad,
            ));
            section.rows.push(DocumentRow::of(vec![second]).note("", "it crashed", Emphasis::Bad));
        }
        document.table(table);
        document.table(Table::new(vec![Column::words("nothing")]));
        document.notes = vec![format!("Of {name}."), "Of all.".to_owned()];
        (name.to_owned(), document)
    }

    #[test]
    fn repeated_notes_are_shown_once() {
        let whole = Document::together(vec![part("sleep"), part("spawn")]);
        assert_eq!(whole.notes, ["sleep: Of sleep.", "Of all.", "spawn: Of spawn."]);
        assert_eq!(Document::together(vec![part("sleep")]).notes, ["Of sleep.", "Of all."]);
    }

    #[test]
    fn a_document_renders_for_terminal_and_markdown() {
        let document = Document::together(vec![part("sleep"), part("spawn")]);
        insta::assert_snapshot!(
            "terminal",
            document.terminal(RenderOptions { width: 40, ..Default::default() })
        );
        insta::assert_snapshot!("markdown", document.markdown());
    }
}
