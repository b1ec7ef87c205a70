//! The data behind the page, golden: what is ranked, grouped and flagged, as data and not as markup.
//!
//! `report/test/everything.json` is also what the page's own tests start from: both sides mean the same data.

use std::path::{Path, PathBuf};

use super::super::fixture::{HOSTILE, campaign as fixture_campaign, everything, facts, sample};
use super::super::write_html;
use super::*;
use serde_json::Value;

use crate::catalog::Kind;
use crate::record::schema_of;
use crate::record::{Source, Status};

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
    let data = PageData::of(vec![campaign()]);
    // Plain ASCII: what acts on a reader's screen is hostile in a file of the repository as well.
    let text: String = (serde_json::to_string_pretty(&data).unwrap() + "\n")
        .chars()
        .map(|c| if c.is_ascii() { c.to_string() } else { format!("\\u{:04x}", c as u32) })
        .collect();
    golden("report/test/everything.json", &text);
}

#[test]
fn the_published_schema_is_up_to_date_and_met() {
    let (mut data, mut details) = blocks(&page(vec![campaign(), campaign()]));
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
