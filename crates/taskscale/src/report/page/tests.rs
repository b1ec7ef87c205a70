//! The data behind the page, golden: what is ranked, grouped and flagged, as data and not as markup.
//!
//! `report/test/everything.json` is also what the page's own tests start from: both sides mean the same data.

use std::path::{Path, PathBuf};

use super::super::fixture::{HOSTILE, campaign as fixture_campaign, everything, facts, sample};
use super::super::write_html;
use super::*;
use serde_json::Value;

use crate::catalog::{Kind, Shape};
use crate::record::schema_of;
use crate::record::{Campaign, Plan, Sample, Source, Status, Warning, Work};

fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// Everything that can happen, with what only the page shows.
fn campaign() -> PageCampaign {
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
        if let Some(plateau) = &mut sample.memory.plateau {
            plateau.kernel_stack_bytes = Some(plateau.kernel_bytes / 2);
            plateau.page_tables_bytes = Some(plateau.kernel_bytes / 4);
            plateau.file_bytes = plateau.footprint_bytes - plateau.anon_bytes - plateau.kernel_bytes;
        }
        let total = sample.cpu.total_s();
        sample.cpu.launch_s = total.map(|total| total * 0.75);
        sample.cpu.plateau_s = total.map(|_| 0.0);
        sample.cpu.drain_s = total.map(|total| total * 0.25);
    }
    PageCampaign::build(&campaign, &samples)
}

/// One campaign of three parts: tasks that wait, and work on one CPU and on two.
fn of_three_parts() -> (Campaign, Vec<Sample>) {
    let entries = [
        ("go/goroutine", Kind::Stackful),
        ("go/time-after-func", Kind::Timer),
        ("rust/tokio-spawn", Kind::Stackless),
        ("rust/tokio-current-thread", Kind::Stackless),
        ("rust/thread", Kind::Thread),
    ];
    let mut campaign = fixture_campaign(entries.iter().map(|(name, kind)| facts(name, *kind)).collect());
    // Timers do no work.
    let workers: Vec<String> =
        campaign.plan.entries.iter().filter(|name| *name != "go/time-after-func").cloned().collect();
    let of_cpus = |cpus| Plan {
        workload: "spawn".into(),
        cpus: Some(cpus),
        shape: Shape::Work,
        operation: Some("a task started, ended and joined".into()),
        entries: workers.clone(),
        tasks: vec![1, 1_000],
        ..campaign.plan.clone()
    };
    campaign.further_plans = vec![of_cpus(1), of_cpus(2)];
    let mut samples = Vec::new();
    for repetition in 1..=3 {
        for (entry, _) in entries {
            samples.extend([1, 10_000].map(|tasks| sample(entry, tasks, repetition, 2_000_000, 400)));
        }
        for cpus in [1, 2] {
            for tasks in [1, 1_000] {
                for (place, entry) in workers.iter().enumerate() {
                    let ns = (place + 1) as f64 * 250.0 / f64::from(cpus) + f64::from(repetition);
                    let run =
                        |double| worked(sample(entry, tasks, repetition, 2_000_000, 0), cpus, ns, double);
                    let [mut once, twice] = [false, true].map(run);
                    if entry == "rust/thread" {
                        once.warnings.push(Warning::WorkShort);
                    }
                    samples.extend([once, twice]);
                }
            }
        }
    }
    (campaign, samples)
}

/// A run of work of so many nanoseconds for an operation, after 20 ms that are in each run.
fn worked(mut sample: Sample, cpus: u32, ns: f64, double: bool) -> Sample {
    let operations = if double { 2_000_000 } else { 1_000_000 };
    let wall_s = Some(0.02 + operations as f64 * ns / 1e9);
    sample.workload = "spawn".into();
    (sample.cpus, sample.alive, sample.hold_s) = (Some(cpus), None, 0.0);
    sample.time.plateau_s = None;
    sample.work = Some(Work { operations, double, wall_s, cpu_s: wall_s.map(|s| s * 1.5), check: None });
    sample
}

fn pages_of((campaign, samples): &(Campaign, Vec<Sample>)) -> Vec<PageCampaign> {
    let parts = campaign.parts(samples);
    parts.iter().map(|(part, samples)| PageCampaign::build(part, samples)).collect()
}

fn page(campaigns: Vec<PageCampaign>) -> String {
    let mut page = Vec::new();
    write_html(campaigns, &mut page).unwrap();
    String::from_utf8(page).unwrap()
}

/// The data of the first view, and the details of each campaign, as a reader finds them in a page.
fn blocks(page: &str) -> (Value, Vec<Value>) {
    let block = |id: &str| {
        // The page's own end of the block is the only one: what came after it would be markup.
        let block = page.split_once(&format!("<script type=\"application/json\" id=\"{id}\">"))?.1;
        Some(serde_json::from_str(block.split("</script>").next().unwrap()).unwrap())
    };
    let details = (0..).map_while(|position| block(&format!("details-{position}"))).collect();
    (block("data").unwrap(), details)
}

/// Compares with a file of the repository; `TASKSCALE_BLESS=1` writes it anew.
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
fn the_data_of_a_page() {
    for (name, campaigns) in [("everything", vec![campaign()]), ("parts", pages_of(&of_three_parts()))] {
        // Plain ASCII: what acts on a reader's screen is hostile in a file of the repository as well.
        let text: String = (serde_json::to_string_pretty(&PageData::of(campaigns)).unwrap() + "\n")
            .chars()
            .map(|c| if c.is_ascii() { c.to_string() } else { format!("\\u{:04x}", c as u32) })
            .collect();
        golden(&format!("report/test/{name}.json"), &text);
    }
}

#[test]
fn each_part_of_a_campaign_is_shown_with_what_is_its_own() {
    let of_parts = of_three_parts();
    let data = PageData::of(pages_of(&of_parts));
    let parts: Vec<(&str, Shape)> =
        data.campaigns.iter().map(|campaign| (campaign.part.as_str(), campaign.shape)).collect();
    assert_eq!(
        parts,
        [("sleep", Shape::Hold), ("spawn, 1 CPU", Shape::Work), ("spawn, 2 CPUs", Shape::Work)]
    );
    let labels: std::collections::BTreeSet<&str> =
        data.campaigns.iter().map(|campaign| campaign.label.as_str()).collect();
    assert_eq!(labels.len(), 1, "parts of one campaign are not told apart by its name: {labels:?}");
    let counts: usize = data.campaigns.iter().map(|campaign| campaign.details.samples.count).sum();
    assert_eq!(counts, of_parts.1.len());

    let [sleep, one, two] = &data.campaigns[..] else { panic!("{parts:?}") };
    assert!(sleep.operation.is_none() && one.operation.is_some());
    let row = |campaign: &PageCampaign, name: &str| {
        let entry = campaign.entries.iter().position(|entry| entry.name == name);
        campaign.rows.iter().find(|row| Some(row.entry) == entry && row.tasks == 1_000).cloned().unwrap()
    };
    let of_one = row(one, "go/goroutine").figures;
    let wall = of_one.wall_ns_per_op.unwrap();
    assert_eq!((wall.0, wall.4), (252.0, 3), "one figure for each pair");
    assert_eq!(of_one.cpu_ns_per_op.unwrap().0, 378.0);
    assert_eq!(of_one.threads.unwrap().4, 3, "the first of each pair");
    assert_eq!(row(two, "go/goroutine").figures.wall_ns_per_op.unwrap().0, 127.0);
    assert!(row(one, "rust/thread").figures.wall_ns_per_op.is_none());
    assert!(one.warnings.iter().any(|warning| warning.warning == Warning::WorkShort));
    assert!(one.details.samples.numbers.contains_key("work.operations"));
    assert!(!sleep.details.samples.numbers.contains_key("work.operations"));
    // What was published is of tasks that wait, and is known where such a part is.
    assert_eq!(data.published.len(), 1);
    assert_eq!(data.published[0].our_workload, sleep.workload);
    assert_eq!(PageData::of(vec![one.clone(), two.clone()]).published, []);
}

#[test]
fn the_published_schema_is_up_to_date_and_met() {
    let (mut data, mut details) =
        blocks(&page([vec![campaign(), campaign()], pages_of(&of_three_parts())].concat()));
    for (name, schema, data) in [
        ("page", schema_of::<PageData>(), &mut data),
        ("page-details", schema_of::<PageDetails>(), &mut details[1]),
    ] {
        let schema = serde_json::to_value(schema).unwrap();
        let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        golden(&format!("schema/{name}.schema.json"), &text);
        let validator = jsonschema::validator_for(&schema).unwrap();
        let errors: Vec<String> = validator.iter_errors(data).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}");
        let figure = if name == "page" { "/campaigns/0/rows/0/tasks" } else { "/samples/tasks/0" };
        *data.pointer_mut(figure).unwrap() = "many".into();
        assert!(!validator.is_valid(data));
    }
}

#[test]
fn parts_add_up_to_the_footprint_that_is_shown() {
    let campaign = campaign();
    let mut compared = 0;
    for row in &campaign.rows {
        if let (Some(footprint), Some(parts)) = (row.figures.footprint_bytes, row.parts) {
            let sum = parts.anon_bytes
                + parts.shmem_bytes
                + parts.file_bytes
                + parts.kernel_stack_bytes
                + parts.page_tables_bytes
                + parts.sock_bytes
                + parts.kernel_rest_bytes;
            assert!((sum - footprint.0).abs() < 4.0, "{row:?}: {sum}");
            compared += 1;
        }
    }
    assert!(compared > 15, "{compared}");
}

#[test]
fn columns_of_samples_are_equally_long_and_complete() {
    let (_, samples) = everything();
    let columns = campaign().details.samples;
    assert_eq!(columns.count, samples.len());
    assert_eq!(columns.status.len(), columns.count);
    assert!(columns.numbers.values().all(|column| column.len() == columns.count));
    let crashed = columns.status.iter().position(|status| *status == Status::Crashed).unwrap();
    assert!(columns.numbers["time.wall_s"][crashed].is_nan());
    assert!(columns.reason[crashed].is_some());
    // What nobody measured has no column, and so cannot pass for a 0.
    assert!(!columns.numbers.contains_key("memory.plateau.slab_bytes"));
}

#[test]
fn nothing_hostile_leaves_its_text() {
    let page = page(vec![campaign()]);
    assert!(!page.contains(HOSTILE) && !page.contains("<b>x</b>"));
    assert!(!page.chars().any(|c| c == '\u{202e}' || c == '\u{1b}'));
    let (data, details) = blocks(&page);
    assert_eq!(details[0]["source_texts"][0], "package main\n\nfunc main() { println(\"</script>\") }\n");
    let names: Vec<&str> = data["campaigns"][0]["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| e["name"].as_str().unwrap())
        .collect();
    assert!(names.iter().any(|name| name.starts_with("evil/") && name.contains("<b>x</b>")), "{names:?}");
}

#[test]
fn campaigns_of_one_day_are_told_apart() {
    let mut other = campaign();
    other.label = "elsewhere".into();
    let labels: Vec<String> = PageData::of(vec![campaign(), other, campaign()])
        .campaigns
        .into_iter()
        .map(|campaign| campaign.label)
        .collect();
    assert_eq!(labels, ["bench, 2026-03-01 12:00 (1)", "elsewhere", "bench, 2026-03-01 12:00 (3)"]);
    // Only those of one part stand side by side.
    let twice = || pages_of(&of_three_parts()).into_iter().take(2);
    let labels: Vec<String> =
        PageData::of(twice().chain(twice()).collect()).campaigns.into_iter().map(|page| page.label).collect();
    let [first, second] = ["bench, 2026-03-01 12:00 (1)", "bench, 2026-03-01 12:00 (2)"];
    assert_eq!(labels, [first, first, second, second]);
}

#[test]
fn a_thousand_samples_fit() {
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
                sample.command = vec![path, tasks.to_string(), "3".into()];
                sample.time.launch_s = Some(at as f64 / 7.0);
                sample.cpu.launch_s = Some(at as f64 / 70.0);
                samples.push(sample);
            }
        }
    }
    assert_eq!(samples.len(), 1_008);
    let page = page(vec![PageCampaign::build(&fixture_campaign(entries), &samples)]);
    assert!(page.len() < 1_500_000, "{} bytes", page.len());
}
