//! Several results side by side, as snapshots.

use std::path::Path;

use super::several::{CampaignValue, tables};
use super::{CompareSettings, ComparedMetric, Comparison, Input, side_by_side};
use crate::document::RenderOptions;
use crate::metrics::{self, MetricDef};
use crate::record::{self, Sample, Warning};
use crate::report::fixture::{elsewhere, everything};
use crate::report::{Report, acts};

fn two() -> Vec<Report> {
    let named = |(campaign, samples), name: &str| {
        let (campaign, samples): (record::Campaign, Vec<Sample>) = (campaign, samples);
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
fn tables_of_several_results_show_requested_metrics() {
    insta::assert_snapshot!("several_table", table(&two(), RenderOptions::default().width));
    let asked = markdown(&two(), &[&metrics::LAUNCH, &metrics::CPU]);
    assert!(asked.contains("#### 1M tasks: launch s") && !asked.contains("footprint"), "{asked}");
}

#[test]
fn rates_are_sorted_highest_first() {
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
fn values_match_compare() {
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
        match line.shift(judged.metric, 1).unwrap() {
            Ok(shift) => assert!((shift.ratio - judged.ratio.unwrap()).abs() < 1e-9, "{judged:?}"),
            Err(_) => assert_eq!(judged.ratio, None, "{judged:?}"),
        }
    }
}

#[test]
fn growth_omitted_by_a_report_is_not_shown() {
    let mut reports = two();
    let shows = |reports: &[Report]| {
        let tables = tables(reports, &[&metrics::BYTES_PER_TASK]);
        tables.iter().flat_map(|table| &table.lines).any(|line| line.found[0].is_some())
    };
    assert!(shows(&reports));
    for growth in &mut reports[0].growth {
        growth.bytes_per_task = None;
    }
    assert!(!shows(&reports));
}

#[test]
fn cases_in_only_one_result_are_named_but_not_shown() {
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
fn different_workloads_get_separate_tables() {
    let mut reports = two();
    reports[1].workload = "park".to_owned();
    let text = markdown(&reports, &[]);
    assert!(text.contains("#### sleep, 1M tasks: memory MiB"), "{text}");
    assert!(text.contains("#### park, 1M tasks: memory MiB") && !text.contains("% |"), "{text}");
}

#[test]
fn several_results_fit_the_width_and_are_escaped() {
    for limit in [80, 100, 140] {
        let text = table(&two(), limit);
        assert_eq!(text.chars().find(|c| *c != '\n' && acts(*c)), None, "{text}");
        for line in text.lines() {
            assert!(unicode_width::UnicodeWidthStr::width(line) <= limit, "{limit} columns: {line}");
        }
    }
}

/// For the reasons for which `compare` refuses a verdict.
#[test]
fn cpu_time_of_busy_machines_is_not_compared() {
    let (campaign, samples) = everything();
    let mut busy = samples.clone();
    busy.iter_mut().for_each(|run| run.warnings.push(Warning::MachineBusy));
    let report = |samples: &[Sample], name: &str| Report::build(&campaign, samples).named(name);
    let reports = [report(&samples, "a"), report(&busy, "b")];
    let tables = tables(&reports, &[&metrics::CPU, &metrics::FOOTPRINT]);
    let mut shifts = [&metrics::CPU, &metrics::FOOTPRINT].map(|metric| {
        let of_metric = tables.iter().filter(move |table| table.metric == metric);
        let lines = of_metric.flat_map(|table| &table.lines);
        lines.filter_map(|line| line.shift(metric, 1)).collect::<Vec<_>>().into_iter()
    });
    assert!(shifts.iter().all(|shifts| shifts.len() > 3));
    assert!(shifts[0].all(|shift| shift == Err("most runs of B were on a busy machine".to_owned())));
    assert!(shifts[1].all(|shift| shift.is_ok()));
    let text = markdown(&reports, &[&metrics::CPU]);
    assert!(text.contains("Not compared: most runs of B were on a busy machine ("), "{text}");
}
