//! The reports of the repository's results must not change.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::{Detail, Format, PageData, Rank, RenderOptions, Report, overview, render};
use crate::document;
use crate::record::{self, holds_campaign};
use crate::units;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All results folders below a folder, sorted.
fn results(below: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for child in fs::read_dir(below).unwrap().map(|child| child.unwrap().path()) {
        if child.is_dir() {
            found.extend(holds_campaign(&child).then(|| child.clone()));
            found.extend(results(&child));
        }
    }
    found.sort();
    found
}

fn reports(folder: &Path) -> Vec<Report> {
    let loaded = record::load(folder).unwrap();
    let name = folder.file_name().unwrap().to_string_lossy().into_owned();
    let all = Report::of_parts(&loaded.campaign, &loaded.samples).into_iter();
    all.map(|report| report.named(&*name)).collect()
}

/// Every value with its path. Numbers to nine digits: how the last ones are read depends on serde_json's features.
fn flatten(value: &Value, path: String, leaves: &mut Vec<String>) {
    match value {
        Value::Array(all) => {
            all.iter().enumerate().for_each(|(at, of)| flatten(of, format!("{path}/{at:06}"), leaves));
        }
        Value::Object(all) => {
            all.iter().for_each(|(name, of)| flatten(of, format!("{path}/{name}"), leaves));
        }
        Value::Number(number) if number.is_f64() => {
            leaves.push(format!("{path} {:.8e}\n", number.as_f64().unwrap()));
        }
        leaf => leaves.push(format!("{path} {leaf}\n")),
    }
}

#[test]
fn stored_results_render_to_unchanged_json() {
    let root = repository().join("results");
    let mut digests = String::new();
    for folder in results(&root) {
        let json = render(&reports(&folder), Format::Json, Detail::Brief, RenderOptions::default());
        let mut leaves = Vec::new();
        flatten(&serde_json::from_str(&json).unwrap(), String::new(), &mut leaves);
        leaves.sort();
        let digest: String =
            Sha256::digest(leaves.concat()).iter().map(|byte| format!("{byte:02x}")).collect();
        digests += &format!("{digest}  {}\n", folder.strip_prefix(&root).unwrap().display());
    }
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/report/results.sha256");
    if std::env::var_os("TASKSCALE_BLESS").is_some() {
        fs::write(&kept, &digests).unwrap();
    }
    let kept = fs::read_to_string(kept).unwrap_or_default();
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<BTreeSet<_>>();
    let changed: Vec<String> = lines(&digests).symmetric_difference(&lines(&kept)).cloned().collect();
    assert!(changed.is_empty(), "TASKSCALE_BLESS=1 keeps these: {changed:?}");
}

/// Also with every entry of the catalog in `sleep`, beside other workloads.
#[test]
fn default_report_of_many_workloads_fits_120_lines() {
    let text = |reports: &[Report], detail| render(reports, Format::Table, detail, RenderOptions::default());
    for folder in results(&repository().join("results")) {
        let mut reports = reports(&folder);
        if overview(&reports).is_none() {
            continue;
        }
        let plain = text(&reports, Detail::Brief);
        assert!(plain.lines().count() <= 120, "{}: {}", folder.display(), plain.lines().count());
        reports[0] = self::reports(&repository().join("results/epyc-2cpu/2026-11-24")).remove(0);
        let many = text(&reports, Detail::Brief);
        assert!(many.lines().count() <= 120, "{}: {}", folder.display(), many.lines().count());
        assert!(text(&reports, Detail::Stats).lines().count() > 120);
        let entries = reports[0].rows().filter(|row| Some(row.tasks) == reports[0].representative_tasks());
        assert!(entries.count() > 90 && many.contains(" rows not shown. More: --part"), "{many}");
    }
}

#[test]
fn reports_fit_the_width_of_the_terminal() {
    for folder in results(&repository().join("results")) {
        let reports = reports(&folder);
        for width in [60, 80, 100] {
            let options = RenderOptions { width, ..RenderOptions::default() };
            let text = render(&reports, Format::Table, Detail::Brief, options);
            let long = text.lines().find(|line| document::width(line) > width);
            assert_eq!(long, None, "{} at {width}", folder.display());
        }
    }
}

fn page(folder: &Path) -> PageData {
    let loaded = record::load(folder).unwrap();
    let mut page = PageData::default();
    page.add(&loaded.campaign, &loaded.samples, None, |_, _| Vec::new());
    page
}

#[test]
fn page_overview_has_the_rows_of_the_terminal_overview() {
    for folder in
        ["2026-11-24-2", "2026-11-25-2"].map(|name| repository().join("results/epyc-2cpu").join(name))
    {
        let page = page(&folder);
        for rank in [Rank::Kind, Rank::All] {
            let reports: Vec<Report> =
                reports(&folder).into_iter().map(|report| report.ranked_by(rank)).collect();
            let rows = page.overviews[0].iter().find(|rows| rows.rank == rank && rows.tasks.is_none());
            let lines = overview(&reports).unwrap().lines;
            let shown: Vec<&str> = lines.iter().map(|line| &*line.entry.name).collect();
            assert_eq!(rows.unwrap().order, shown, "{} {rank:?}", folder.display());
            assert!(shown.len() > 5, "{shown:?}");
        }
    }
}

#[test]
fn overviews_show_task_counts_despite_failed_entries() {
    let folder = repository().join("results/epyc-2cpu/2026-11-24-2");
    let reports = reports(&folder);
    let overview = overview(&reports).unwrap();
    let shown: Vec<String> =
        overview.columns.iter().map(|(series, tasks)| format!("{series} {}", units::count(*tasks))).collect();
    for series in ["sleep 1M", "state 1M", "ring 1M"] {
        assert!(shown.iter().any(|column| column == series), "{shown:?}");
    }
    let page = page(&folder);
    for campaign in &page.campaigns {
        let column = overview.columns.iter().find(|(series, _)| *series == campaign.part);
        assert_eq!(column.map(|(_, tasks)| *tasks), campaign.overview_tasks, "{}", campaign.part);
    }
}
