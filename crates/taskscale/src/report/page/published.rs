//! Values from other publications, as files of the repository's `published/` folder.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::model::{Published, PublishedFigure};
use crate::metrics::{FOOTPRINT, PEAK, RSS_PEAK};

/// Short name, values, and the workload and entries here that correspond to them.
const FILES: [(&str, &str, &str); 2] = [
    (
        "2024-take2",
        include_str!("../../../packaged/published/2024-take2.json"),
        include_str!("../../../packaged/published/2024-take2.entries.json"),
    ),
    (
        "2023",
        include_str!("../../../packaged/published/2023.json"),
        include_str!("../../../packaged/published/2023.entries.json"),
    ),
];

#[derive(Deserialize)]
struct PublishedFile {
    source: String,
    workload: String,
    hardware: String,
    os: String,
    rows: Vec<FileRow>,
}

#[derive(Deserialize)]
struct FileRow {
    runtime: String,
    version: String,
    tasks: u64,
    memory_mib: f64,
    wall_s: Option<f64>,
}

/// The workload and entries that correspond here.
#[derive(Deserialize)]
struct StandsFor {
    workload: String,
    /// By the row's `runtime`.
    entries: BTreeMap<String, String>,
}

/// The published values of known workloads and entries. Publications without any are left out.
pub fn published(is_known: impl Fn(&str, &str) -> bool) -> Vec<Published> {
    // The files are embedded and covered by a test, so those that cannot be read are skipped.
    let read = |(id, file, here): &(&str, &str, &str)| {
        let PublishedFile { source, workload, hardware, os, rows } = serde_json::from_str(file).ok()?;
        let here: StandsFor = serde_json::from_str(here).ok()?;
        let figure = |FileRow { runtime, version, tasks, memory_mib, wall_s }| {
            let entry = here.entries.get(&runtime).filter(|entry| is_known(&here.workload, entry))?.clone();
            let memory_bytes = (memory_mib * 1_048_576.0).round();
            Some(PublishedFigure { entry, runtime, version, tasks, memory_bytes, wall_s })
        };
        let figures: Vec<PublishedFigure> = rows.into_iter().filter_map(figure).collect();
        let note = format!(
            "Published values: {source}; {workload}; on {hardware}, {os}. They are peak memory as measured by the authors, \
             with other versions and on another machine: compare by eye only."
        );
        (!figures.is_empty()).then(|| Published {
            id: (*id).to_owned(),
            note,
            source,
            workload,
            our_workload: here.workload,
            metrics: [&FOOTPRINT, &PEAK, &RSS_PEAK].map(|metric| metric.name).into(),
            hardware,
            os,
            figures,
        })
    };
    FILES.iter().filter_map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Catalog;

    #[test]
    fn published_tables_parse_and_name_existing_entries() {
        let all = published(|_, _| true);
        let sizes: Vec<(&str, usize)> = all.iter().map(|one| (&*one.id, one.figures.len())).collect();
        assert_eq!(sizes, [("2024-take2", 11 * 4), ("2023", 5 * 4 + 2)]);
        let tokio = all[0].figures.iter().find(|figure| figure.tasks == 1_000_000).unwrap();
        assert_eq!((tokio.entry.as_str(), tokio.memory_bytes), ("rust/tokio-spawn", 460_419_072.0));
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../runtimes");
        let catalog = Catalog::load(&folder).unwrap();
        for ((_, _, here), all) in FILES.iter().zip(&all) {
            let here: StandsFor = serde_json::from_str(here).unwrap();
            assert_eq!(all.our_workload, here.workload);
            assert_eq!(published(|workload, _| workload != here.workload), []);
            for (row, entry) in &here.entries {
                let plain = entry.split('@').next().unwrap();
                let (_, of_catalog) =
                    catalog.entry(plain).unwrap_or_else(|| panic!("{row}: no entry {entry}"));
                assert!(
                    of_catalog.workloads.contains_key(&here.workload),
                    "{entry} has no {}",
                    here.workload
                );
                assert!(all.figures.iter().any(|figure| figure.runtime == *row), "no row {row}");
            }
        }
        assert_eq!(published(|_, name| name == "go/goroutine")[0].figures.len(), 4);
        assert_eq!(published(|_, _| false), []);
    }
}
