//! Output from a results folder: the tables and exports of `run` and `report`, and the page.

use std::cell::LazyCell;
use std::path::Path;

use super::args::ReportFormat;
use super::catalog_dir::any_catalog;
use super::failure::CliResult;
use super::output::{eprint_status, for_standard_output, print_result, print_through};
use super::output_dir::PAGE_FILE;
use crate::catalog::sources;
use crate::compare;
use crate::document::{Document, RenderOptions, first_of, quoted};
use crate::explain::{self, Explanation};
use crate::record::{self, Loaded};
use crate::report::{
    self, Chart, Detail, ExportError, ExportRequest, ExportTarget, Format, PageData, Report, VersionsChart,
};

/// How many cases a message names before "and N more".
const NAMED: usize = 4;

/// Prints results as `run` does. Only warns if there is nothing to print: the samples are kept.
pub(super) fn show(folder: &Path, results: &Loaded, format: ReportFormat) -> CliResult<()> {
    let Some(target) = target(format) else {
        return Ok(print_through(|out| report::write_html(page(results), out))?);
    };
    let parts = Report::of_parts(&results.campaign, &results.samples).into_iter();
    let reports: Vec<_> = parts.map(|part| part.named(name(folder))).collect();
    let options = for_standard_output();
    let request = ExportRequest { target, metrics: Vec::new(), tasks: None, detail: Detail::Brief, options };
    match text(&reports, &request) {
        Ok(text) => Ok(print_result(&text)?),
        Err(error) => {
            eprint_status(&format!("warning: nothing to print: {error}"));
            Ok(())
        }
    }
}

/// Writes the page into the results folder. A failure is only a warning, as the result is printed and the samples are
/// kept.
pub(super) fn write_page(folder: &Path, results: &Loaded) {
    let path = folder.join(PAGE_FILE);
    let mut page = page(results);
    page.anatomy = anatomy(folder);
    match record::write_whole(&path, |out| report::write_html(page, out)) {
        Ok(()) => eprint_status(&format!("report: {}", path.display())),
        Err(error) => {
            let folder = quoted(&folder.display().to_string());
            let command = format!("taskscale report {folder} --format html -o FILE");
            eprint_status(&format!("warning: no page ({error}); to write it elsewhere: `{command}`"));
        }
    }
}

/// The reports as a text: several results side by side in tables and Markdown. Reports what has no value.
pub(super) fn text(reports: &[Report], request: &ExportRequest) -> Result<String, ExportError> {
    if compare::campaigns(reports) > 1 {
        let document = || compare::side_by_side(reports, &request.metrics);
        if let Some(text) = for_people(request.target, request.options, document) {
            return Ok(text);
        }
    }
    let export = report::export(reports, request)?;
    if !export.left_out.is_empty() {
        eprint_status(&format!("left out (no value): {}", first_of(&export.left_out, NAMED)));
    }
    Ok(export.text)
}

/// A document in the formats that people read.
pub(super) fn for_people(
    target: ExportTarget,
    options: RenderOptions,
    document: impl FnOnce() -> Document,
) -> Option<String> {
    match target {
        ExportTarget::Report(Format::Table) => Some(document().terminal(options)),
        ExportTarget::Report(Format::Markdown) => Some(document().markdown()),
        _ => None,
    }
}

/// The changes from version to version, for below a table. Empty if no entry has several versions.
pub(super) fn what_changed(results: &Loaded, target: ExportTarget, options: RenderOptions) -> String {
    let changed = compare::what_changed(&compare::over_versions(&results.campaign, &results.samples));
    let is_empty = changed.blocks.is_empty();
    let text = for_people(target, options, || changed).filter(|_| !is_empty);
    text.map(|text| format!("\n{text}")).unwrap_or_default()
}

/// The page of results. Several results are shown by name, a single one by its machine and day.
pub(super) fn page_of(campaigns: Vec<(String, Loaded)>) -> PageData {
    let several = campaigns.len() > 1;
    let mut page = PageData::default();
    // Each iteration frees the samples of one folder.
    let added = |(name, results): (String, Loaded)| add(&mut page, &results, several.then_some(&*name));
    let reports: Vec<Report> = campaigns.into_iter().flat_map(added).collect();
    compare::show_changes(&mut page, &reports);
    page
}

/// The sheets of a results folder, if it has any. Warns if they cannot be read.
pub(super) fn anatomy(folder: &Path) -> Vec<Explanation> {
    explain::load(folder).map(Option::unwrap_or_default).unwrap_or_else(|error| {
        eprint_status(&format!("warning: {}: cannot read explain.json: {error}", folder.display()));
        Vec::new()
    })
}

/// The page of one results folder.
pub(super) fn page(results: &Loaded) -> PageData {
    let mut page = PageData::default();
    add(&mut page, results, None);
    page
}

/// Adds results to a page. Sources that were not recorded come from the catalog, if there is one.
fn add(page: &mut PageData, Loaded { campaign, samples, .. }: &Loaded, name: Option<&str>) -> Vec<Report> {
    let charts = compare::over_versions(campaign, samples).into_iter();
    let charts = charts.filter_map(|(report, lines)| report::versions_chart(&report, &lines).ok());
    page.versions.extend(charts.map(|(svg, text)| VersionsChart { svg, text }));
    let catalog = LazyCell::new(any_catalog);
    page.add(campaign, samples, name, |workload, name| {
        let found = catalog.as_ref().and_then(|catalog| catalog.entry(name));
        let found = found.filter(|(_, entry)| entry.workloads.contains_key(workload));
        found.map(|(runtime, entry)| sources(runtime, entry, workload)).unwrap_or_default()
    })
}

/// The export target of a format. `None` for the page.
pub(super) fn target(format: ReportFormat) -> Option<ExportTarget> {
    match format {
        ReportFormat::Github => Some(ExportTarget::Github),
        ReportFormat::Bencher => Some(ExportTarget::Bencher),
        ReportFormat::Svg => Some(ExportTarget::Svg(Chart::Ranking)),
        _ => format.document().map(ExportTarget::Report),
    }
}

/// The name of a folder, also of `.`.
pub(super) fn name(folder: &Path) -> String {
    let real = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    real.file_name().unwrap_or(real.as_os_str()).to_string_lossy().into_owned()
}
