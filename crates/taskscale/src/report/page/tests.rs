//! Golden files of the data behind the page: the ranking, groups and flags, as data rather than markup.
//!
//! The page's own tests start from `report/test/everything.json` too, so both sides agree on the data.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use schemars::generate::SchemaSettings;
use serde_json::Value;

use super::super::fixture::{HOSTILE, campaign as fixture_campaign, everything, facts, of_parts, sample};
use super::super::write_html;
use super::model::{PageCampaign, PageEntry, Samples};
use super::*;
use crate::catalog::{Kind, Shape};
use crate::metrics;
use crate::record::{Campaign, Sample, Source, Status, Warning};

fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// Everything that can happen, with what only the page shows.
fn bench() -> (Campaign, Vec<Sample>) {
    let (mut campaign, mut samples) = everything();
    for facts in &mut campaign.entries {
        facts.run = vec!["{out}/sleep".into()];
        facts.build = vec![vec!["make".into(), "all the rest".into()]];
    }
    campaign.entries[0].unverified = Some("nobody has run it".into());
    campaign.entries[0].notes = vec!["a note".into()];
    campaign.entries[0].env.insert("GOGC".into(), "50".into());
    let text = "package main\n\nfunc main() { println(\"</script>\") }\n".to_owned();
    campaign.entries[0].sources = vec![Source { path: "goroutine/main.go".into(), text }];
    for sample in &mut samples {
        itemise(sample);
        let total = sample.cpu.total_s();
        sample.cpu.launch_s = total.map(|total| total * 0.75);
        sample.cpu.plateau_s = total.map(|_| 0.0);
        sample.cpu.drain_s = total.map(|total| total * 0.25);
    }
    (campaign, samples)
}

/// Makes a footprint the sum of its parts.
fn itemise(sample: &mut Sample) {
    if let Some(plateau) = &mut sample.memory.plateau {
        plateau.kernel_stack_bytes = Some(plateau.kernel_bytes / 2);
        plateau.page_tables_bytes = Some(plateau.kernel_bytes / 4);
        plateau.file_bytes = plateau.footprint_bytes - plateau.anon_bytes - plateau.kernel_bytes;
    }
}

fn of_three_parts() -> (Campaign, Vec<Sample>) {
    let (campaign, mut samples) = of_parts();
    samples.iter_mut().for_each(itemise);
    (campaign, samples)
}

/// The page of campaigns, as it is written.
fn page_of(campaigns: &[(Campaign, Vec<Sample>)]) -> PageData {
    // A fixed version, as the golden files outlive a release.
    let mut page = PageData { taskscale: "0.1.0".to_owned(), ..PageData::default() };
    for (campaign, samples) in campaigns {
        page.add(campaign, samples, None, |_, _| Vec::new());
    }
    page
}

fn page(campaigns: &[(Campaign, Vec<Sample>)]) -> String {
    let mut written = Vec::new();
    write_html(page_of(campaigns), &mut written).unwrap();
    String::from_utf8(written).unwrap()
}

/// A block of data, as a reader finds it in a page.
fn block(page: &str, id: &str) -> Value {
    // As in a browser, the first `</script>` ends the block.
    let block = page.split_once(&format!("<script type=\"application/json\" id=\"{id}\">")).unwrap().1;
    serde_json::from_str(block.split("</script>").next().unwrap()).unwrap()
}

/// Compares with a file of the repository; `TASKSCALE_BLESS=1` rewrites it.
fn golden(path: &str, text: &str) {
    let path = repository(path);
    if std::env::var_os("TASKSCALE_BLESS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == text, "{} is not up to date: TASKSCALE_BLESS=1 writes it anew", path.display());
}

#[test]
fn page_data_matches_golden_files() {
    for (name, campaign) in [("everything", bench()), ("parts", of_three_parts())] {
        // Plain ASCII: characters that reorder text would be hostile in a file of the repository too.
        let data = block(&page(&[campaign]), "data");
        let text: String = (serde_json::to_string_pretty(&data).unwrap() + "\n")
            .chars()
            .map(|c| if c.is_ascii() { c.to_string() } else { format!("\\u{:04x}", c as u32) })
            .collect();
        golden(&format!("report/test/{name}.json"), &text);
    }
}

#[test]
fn each_series_has_its_own_section() {
    let of_parts = of_three_parts();
    let data = page_of(std::slice::from_ref(&of_parts));
    let parts: Vec<(&str, Shape)> =
        data.campaigns.iter().map(|campaign| (campaign.part.as_str(), campaign.report.shape)).collect();
    assert_eq!(
        parts,
        [("sleep", Shape::Hold), ("spawn, 1 CPU", Shape::Work), ("spawn, 2 CPUs", Shape::Work)]
    );
    let names: BTreeSet<&str> =
        data.campaigns.iter().map(|campaign| campaign.report.campaign.as_str()).collect();
    assert_eq!(names.len(), 1, "parts of one campaign are not told apart by its name: {names:?}");
    let counts: usize = data.campaigns.iter().map(|campaign| campaign.samples.count).sum();
    assert_eq!(counts, of_parts.1.len());

    let [sleep, one, two] = &data.campaigns[..] else { panic!("{parts:?}") };
    assert!(sleep.report.operation.is_none() && one.report.operation.is_some());
    let name = |of: &PageEntry| data.entries[of.entry].name.as_str();
    let row = |campaign: &PageCampaign, wanted: &str| {
        let entry = campaign.entries.iter().position(|entry| name(entry) == wanted);
        campaign.rows.iter().find(|row| Some(row.entry) == entry && row.tasks == 1_000).cloned().unwrap()
    };
    let figure = |campaign: &PageCampaign, entry: &str, figure: &metrics::MetricDef| {
        let at = campaign.metrics.iter().position(|name| *name == figure.name).unwrap();
        row(campaign, entry).figures[at]
    };
    let wall = figure(one, "go/goroutine", &metrics::WALL_PER_OP).unwrap();
    assert!((wall.0 - 252.0).abs() < 1e-6 && wall.4 == 3, "one figure for each pair: {wall:?}");
    let cpu = figure(one, "go/goroutine", &metrics::CPU_PER_OP).unwrap();
    assert!((cpu.0 - 378.0).abs() < 1e-6, "{cpu:?}");
    let of_two = figure(two, "go/goroutine", &metrics::WALL_PER_OP).unwrap();
    assert!((of_two.0 - 127.0).abs() < 1e-6, "{of_two:?}");
    assert!(figure(one, "rust/thread", &metrics::WALL_PER_OP).is_none());
    assert!(one.report.warnings.iter().any(|warning| warning.warning == Warning::WorkShort));
    assert!(one.samples.numbers.contains_key("work.operations"));
    assert!(!sleep.samples.numbers.contains_key("work.operations"));
    // The published values are of tasks that wait, so they need a series of such tasks.
    assert_eq!(data.published.len(), 1);
    assert_eq!(data.published[0].our_workload, sleep.report.workload);
    let mut work = of_parts.clone();
    work.0.plan = work.0.further_plans.remove(0);
    assert_eq!(page_of(&[work]).published, []);
}

#[test]
fn best_of_languages_and_original_entries_precede_the_smallest() {
    let (mut campaign, samples) = bench();
    campaign.entries.iter_mut().for_each(|facts| facts.posts = facts.name == "rust/thread");
    assert_eq!(
        page_of(&[(campaign, samples)]).campaigns[0].lines,
        [
            "rust/floor",
            "rust/tokio-spawn",
            "go/goroutine",
            // Languages without a value.
            "kotlin/coroutine",
            HOSTILE,
            "rust/thread",
            "go/time-after-func",
            "rust/tokio-current-thread",
            "go/goroutine-in-a-name-of-which-no-end-is-to-be-seen",
        ]
    );
}

#[test]
fn shared_data_is_stored_once() {
    let (mut campaign, samples) = of_three_parts();
    let source = |path: &str, text: &str| Source { path: path.into(), text: text.into() };
    // As a campaign records it: the facts of an entry for each workload.
    let mut of_spawn = campaign.entries.clone();
    of_spawn.retain(|facts| facts.kind != Kind::Timer);
    for (workload, facts) in [("sleep", &mut campaign.entries), ("spawn", &mut of_spawn)] {
        for facts in facts {
            facts.workload = Some(workload.into());
            facts.run = vec![format!("{{out}}/{workload}")];
            facts.sources = vec![
                source("lock", "the same for all"),
                source("main", &format!("{workload} {}", facts.name)),
            ];
        }
    }
    let entries = campaign.entries.len();
    let programs = entries + of_spawn.len();
    campaign.entries.append(&mut of_spawn);
    let data = page_of(&[(campaign.clone(), samples.clone()), (campaign, samples)]);
    assert_eq!(data.campaigns.len(), 6);
    assert_eq!(data.entries.len(), entries);
    assert_eq!(data.sources.len(), 1 + programs);
    for campaign in &data.campaigns {
        for of in &campaign.entries {
            let [lock, main] = &of.sources[..] else { panic!("{of:?}") };
            assert_eq!(data.sources[lock.text], "the same for all");
            let own = format!("{} {}", campaign.report.workload, data.entries[of.entry].name);
            assert_eq!(data.sources[main.text], own);
            assert_eq!(of.run, [format!("{{out}}/{}", campaign.report.workload)]);
        }
    }
}

#[test]
fn the_page_schema_is_current_and_satisfied() {
    let page = page(&[bench(), bench(), of_three_parts()]);
    let settings = || SchemaSettings::draft2020_12().for_serialize().into_generator();
    for (name, schema, id, figure) in [
        ("page", settings().into_root_schema_for::<PageData>(), "data", "/campaigns/0/rows/0/tasks"),
        ("page-samples", settings().into_root_schema_for::<Samples>(), "samples-1", "/tasks/0"),
    ] {
        let mut data = block(&page, id);
        let schema = serde_json::to_value(schema).unwrap();
        let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        golden(&format!("schema/{name}.schema.json"), &text);
        let validator = jsonschema::validator_for(&schema).unwrap();
        let errors: Vec<String> = validator.iter_errors(&data).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}");
        *data.pointer_mut(figure).unwrap() = "many".into();
        assert!(!validator.is_valid(&data));
    }
}

#[test]
fn memory_parts_add_up_to_the_footprint() {
    let mut compared = 0;
    let data = page_of(&[bench(), of_three_parts()]);
    let rows = data.campaigns.iter().flat_map(|campaign| {
        let at = campaign.metrics.iter().position(|name| *name == "footprint").unwrap();
        campaign.rows.iter().map(move |row| (row, row.figures[at]))
    });
    for (row, footprint) in rows {
        if let (Some(footprint), Some(parts)) = (footprint, row.parts) {
            let items =
                [parts.kernel_stack_bytes, parts.page_tables_bytes, parts.slab_bytes, parts.sock_bytes];
            let sum = parts.anon_bytes
                + parts.shmem_bytes
                + parts.file_bytes
                + parts.kernel_other_bytes
                + items.into_iter().flatten().sum::<f64>();
            assert!((sum - footprint.0).abs() < 4.0, "{row:?}: {sum}");
            compared += 1;
        }
    }
    assert!(compared > 30, "{compared}");
}

#[test]
fn sample_columns_have_equal_length() {
    let all = bench();
    let columns = &page_of(std::slice::from_ref(&all)).campaigns[0].samples;
    assert_eq!(columns.count, all.1.len());
    assert_eq!(columns.status.len(), columns.count);
    assert!(columns.numbers.values().all(|column| column.len() == columns.count));
    let crashed = columns.status.iter().position(|status| *status == Status::Crashed).unwrap();
    assert!(columns.numbers["time.wall_s"][crashed].is_nan());
    assert!(columns.reason[crashed].is_some());
    // A field that was never measured has no column, so it cannot pass for 0.
    assert!(!columns.numbers.contains_key("memory.plateau.slab_bytes"));
}

#[test]
fn hostile_text_is_escaped_and_preserved() {
    let page = page(&[bench()]);
    assert!(!page.contains(HOSTILE) && !page.contains("<b>x</b>"));
    assert!(!page.chars().any(|c| c == '\u{202e}' || c == '\u{1b}'));
    let text = "package main\n\nfunc main() { println(\"</script>\") }\n";
    assert_eq!(block(&page, "sources")[0], text);
    let data = block(&page, "data");
    let names: Vec<&str> =
        data["entries"].as_array().unwrap().iter().map(|e| e["name"].as_str().unwrap()).collect();
    assert!(names.iter().any(|name| name.starts_with("evil/") && name.contains("<b>x</b>")), "{names:?}");
}

#[test]
fn a_thousand_samples_fit_the_size_budget() {
    // 84 entries at 4 numbers of tasks, three times each, every one with a program of its own.
    let name = |at: usize| format!("language{}/entry-{at}", at % 20);
    let mut entries: Vec<_> = (0..84).map(|at| facts(&name(at), Kind::Stackless)).collect();
    for (at, facts) in entries.iter_mut().enumerate() {
        let text = format!("// {at}\n{}", "    count = count + 1;\n".repeat(90));
        facts.sources = vec![Source { path: "a/main.rs".into(), text }];
        facts.why =
            "a reason of the usual length, which is that of one or two lines of text in a manifest".into();
        facts.build = vec![vec!["cargo".into(), "build".into(), "--release".into(), "--locked".into()]];
    }
    let mut samples = Vec::new();
    for repetition in 1..=3 {
        for tasks in [1, 10_000, 100_000, 1_000_000] {
            for at in 0..84 {
                let mut sample = sample(&name(at), tasks, repetition, 1_000_003 + 7_919 * at as u64, 417);
                let path =
                    format!("/home/somebody/.cache/taskscale/builds/language/af4de23be0186b1c/{at}/sleep");
                sample.command = [path, tasks.to_string(), "3".into()].into();
                sample.time.launch_s = Some(at as f64 / 7.0);
                sample.cpu.launch_s = Some(at as f64 / 70.0);
                samples.push(sample);
            }
        }
    }
    assert_eq!(samples.len(), 1_008);
    let page = page(&[(fixture_campaign(entries), samples)]);
    assert!(page.len() < 1_500_000, "{} bytes", page.len());
}
