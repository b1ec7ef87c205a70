//! Several results side by side, as snapshots.

use std::path::Path;

use super::several::{CampaignValue, tables};
use super::{CompareSettings, ComparedMetric, Comparison, Input, side_by_side};
use crate::document::RenderOptions;
use crate::metrics::{self, MetricDef};
use crate::record;
use crate::report::fixture::{elsewhere, everything};
use crate::report::{Report, acts};

fn two() -> Vec<Report> {
    let named = |(campaign, samples), name: &str| {
        let (campaign, samples): (crate::record::Campaign, Vec<crate::record::Sample>) = (campaign, samples);
        Report::build(&campaign, &samples).named(name)
    };
    vec![named(everything(), "20260301-bench"), named(elsewhere(), "20260302-laptop")]
}

fn table(reports: &[Report], width: usize) -> String {
    let options = RenderOptions { width, ..RenderOptions::default() };
    side_by_side(reports, &[]).terminal(options)
}

fn markdown(reports: &[Report], metrics: &[&'static MetricDef]) -> String {
    side_by_side(reports, metrics).markdown()
}

#[test]
fn several_campaigns() {
    insta::assert_snapshot!("several_table", table(&two(), RenderOptions::default().width));
    let asked = markdown(&two(), &[&metrics::LAUNCH, &metrics::CPU]);
    assert!(asked.contains("#### 1M tasks: launch s") && !asked.contains("footprint"), "{asked}");
}

#[test]
fn the_best_of_a_rate_is_the_highest() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results/epyc-2cpu/2026-11-24-2");
    let loaded = record::load(&folder).unwrap();
    let echo = || {
        let parts = Report::of_parts(&loaded.campaign, &loaded.samples).into_iter();
        parts.filter(|report| report.workload == "echo")
    };
    let text = markdown(&echo().chain(echo()).collect::<Vec<_>>(), &[&metrics::MESSAGES_PER_S]);
    // Tables of fewer tasks follow, folded.
    let table = text.split("<details>").next().unwrap();
    let rate = |line: &str| line.split('|').nth(3)?.trim().replace(',', "").parse::<f64>().ok();
    let rates: Vec<f64> = table.lines().filter_map(rate).collect();
    assert!(rates.len() > 3 && rates.is_sorted_by(|a, b| a >= b) && rates[0] > rates[2], "{table}");
}

/// Both show the geometric means of the same repetitions, and fit lines through the numbers of tasks of both sides.
#[test]
fn values_are_those_of_compare() {
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results/epyc-2cpu");
    let names = ["2026-11-26", "2026-11-26-2"];
    let sides = names.map(|name| record::load(&results.join(name)).unwrap());
    let reports = names.iter().zip(&sides).flat_map(|(name, side)| {
        let parts = Report::of_parts(&side.campaign, &side.samples);
        parts.into_iter().map(|report| report.named(*name))
    });
    let reports: Vec<Report> = reports.collect();
    let metrics = [&metrics::FOOTPRINT, &metrics::BYTES_PER_TASK, &metrics::BASE, &metrics::CPU];
    let tables = tables(&reports, &metrics);
    let settings = CompareSettings::ungated(metrics.map(ComparedMetric::from).into());
    let [base, new] = sides.each_ref().map(|side| Input {
        folder: "",
        campaign: &side.campaign,
        samples: &side.samples,
        entry: None,
    });
    let comparison = Comparison::build(base, new, &settings).unwrap();
    assert!(comparison.cells.len() >= 4 * metrics.len(), "{}", comparison.cells.len());
    for judged in &comparison.cells {
        let mut tables = tables.iter().filter(|of| (of.metric, of.tasks) == (judged.metric, judged.tasks));
        let mut lines = tables.next().unwrap().lines.iter();
        let line = lines.find(|line| line.entry.name == judged.base_entry).unwrap();
        let value = |at: usize| match line.found[at].as_ref().unwrap() {
            CampaignValue::Spread(spread, _) => Some(spread.geometric_mean()),
            CampaignValue::Fell(_) => None,
        };
        assert_eq!([value(0), value(1)], [judged.base.value, judged.new.value], "{judged:?}");
        let shift = line.shift(judged.metric, 1).unwrap();
        assert!(judged.ratio.is_none_or(|ratio| (shift.ratio - ratio).abs() < 1e-9), "{judged:?}");
    }
}

#[test]
fn what_is_of_one_campaign_alone_is_named_and_not_shown() {
    let text = markdown(&two(), &[]);
    assert!(text.contains("- Only in A, so not shown: rust/tokio-current-thread."), "{text}");
    assert!(text.contains("- Only in B, so not shown: ruby/fiber."), "{text}");
    let mut reports = two();
    reports[1].groups.retain(|group| group.tasks == 10_000);
    let text = markdown(&reports, &[]);
    assert!(text.contains("Only in A, so not shown: rust/tokio-current-thread; N = 1, 1M."), "{text}");
    assert!(text.contains("#### 10k tasks: memory MiB") && !text.contains("1M tasks"), "{text}");
    // If campaigns have nothing in common, everything is shown.
    for group in &mut reports[1].groups {
        group.tasks = 77;
    }
    reports[1].growth.clear();
    let text = markdown(&reports, &[]);
    assert!(text.contains("77 tasks") && text.contains("1M tasks") && !text.contains("Only in"), "{text}");
}

#[test]
fn campaigns_of_other_workloads_are_not_mixed() {
    let mut reports = two();
    reports[1].workload = "park".to_owned();
    let text = markdown(&reports, &[]);
    assert!(text.contains("#### sleep, 1M tasks: memory MiB"), "{text}");
    assert!(text.contains("#### park, 1M tasks: memory MiB") && !text.contains("% |"), "{text}");
}

#[test]
fn several_campaigns_fit_and_act_on_nothing() {
    for limit in [80, 100, 140] {
        let text = table(&two(), limit);
        assert_eq!(text.chars().find(|c| *c != '\n' && acts(*c)), None, "{text}");
        for line in text.lines() {
            assert!(unicode_width::UnicodeWidthStr::width(line) <= limit, "{limit} columns: {line}");
        }
    }
}
