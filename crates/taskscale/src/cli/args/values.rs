//! Values of several commands' options: formats, kinds, metrics.

use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use serde::Serialize;

use crate::metrics::{self, MetricDef};
use crate::report::Format;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// Tables for the terminal
    Table,
    /// Tables for an issue, a README or a post
    Markdown,
    /// Everything, for programs
    Json,
    /// One line per entry and number of tasks
    Csv,
    /// JSON for github-action-benchmark (customSmallerIsBetter)
    Github,
    /// Bencher Metric Format
    Bencher,
    /// A chart for a README or a post
    Svg,
    /// One self-contained page: charts, tables, sources, samples
    Html,
}

impl ReportFormat {
    /// The format of a document; `None` for what only results have.
    pub fn document(self) -> Option<Format> {
        match self {
            ReportFormat::Table => Some(Format::Table),
            ReportFormat::Markdown => Some(Format::Markdown),
            ReportFormat::Json => Some(Format::Json),
            ReportFormat::Csv => Some(Format::Csv),
            _ => None,
        }
    }
}

/// Formats of commands that print a document.
pub const DOCUMENT_FORMATS: [ReportFormat; 4] =
    [ReportFormat::Table, ReportFormat::Markdown, ReportFormat::Json, ReportFormat::Csv];
/// The formats of a table.
pub const TABLE_FORMATS: [ReportFormat; 2] = [ReportFormat::Table, ReportFormat::Markdown];

/// An output format, and the commands that take it.
#[derive(Serialize)]
pub struct FormatFacts {
    pub name: String,
    pub about: String,
    pub commands: Vec<&'static str>,
}

/// Every output format.
pub fn formats() -> Vec<FormatFacts> {
    let all = ReportFormat::value_variants();
    let takers = [
        ("run", all),
        ("measure", all),
        ("report", all),
        ("compare", &DOCUMENT_FORMATS),
        ("limit", &DOCUMENT_FORMATS),
        ("explain", &DOCUMENT_FORMATS),
        ("fleet gather", &TABLE_FORMATS),
    ];
    let facts = |format: &ReportFormat| {
        let value = format.to_possible_value()?;
        let takes = takers.iter().filter(|(_, formats)| formats.contains(format));
        Some(FormatFacts {
            name: value.get_name().to_owned(),
            about: value.get_help().map(ToString::to_string).unwrap_or_default(),
            commands: takes.map(|(command, _)| *command).collect(),
        })
    };
    all.iter().filter_map(facts).collect()
}

/// Parses one of these by its name.
pub fn one_of<T: Copy + Send + Sync + 'static>(
    all: Vec<(PossibleValue, T)>,
) -> impl TypedValueParser<Value = T> {
    let names: Vec<PossibleValue> = all.iter().map(|(name, _)| name.clone()).collect();
    // The parser takes no other names.
    let named =
        move |text: String| all.iter().find(|(name, _)| *name.get_name() == text).unwrap_or(&all[0]).1;
    PossibleValuesParser::new(names).map(named)
}

/// A parser that accepts these formats.
pub fn some_formats(formats: &'static [ReportFormat]) -> impl TypedValueParser<Value = Format> {
    let named = formats.iter().filter_map(|format| Some((format.to_possible_value()?, format.document()?)));
    one_of(named.collect())
}

/// Parses a metric by its name.
pub fn figure() -> impl TypedValueParser<Value = &'static MetricDef> {
    one_of(metrics::ALL.map(|figure| (PossibleValue::new(figure.name).help(figure.about), figure)).into())
}
