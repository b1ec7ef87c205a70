//! What people read, as snapshots; what must never happen, as assertions.

use proptest::prelude::*;
use strum::VariantArray;

use super::fixture::{HOSTILE, campaign, everything, facts, fell, json_shape, request, sample};
use super::headline::held;
use super::sanitize::width;
use super::*;
use crate::catalog::Kind;
use crate::record::{Campaign, MemorySource, Sample, Status};

const WIDTH: usize = 100;

fn report() -> Report {
    let (campaign, samples) = everything();
    Report::build(&campaign, &samples)
}

/// The rows of one entry, by number of tasks.
fn rows<'a>(report: &'a Report, entry: &str) -> Vec<&'a Row> {
    report.rows_of(entry).collect()
}

fn shown(report: &Report, format: Format) -> String {
    render(std::slice::from_ref(report), format, Detail::Stats, RenderOptions::default())
}

#[test]
fn table() {
    insta::assert_snapshot!(shown(&report(), Format::Table));
}

#[test]
fn submitted_results_are_labeled() {
    use crate::record::{By, Origin};
    let (campaign, samples) = everything();
    let of = |by: By| {
        let origin = Some(Origin { by, checksum: String::new() });
        shown(&Report::build(&Campaign { origin, ..campaign.clone() }, &samples), Format::Table)
    };
    let community = "Submitted by the community.";
    assert_eq!([By::HandedIn, By::Project].map(|by| of(by).contains(community)), [true, false]);
}

#[test]
fn series_share_common_notes() {
    let mut parts = [report(), report()];
    parts[1].workload = "park".to_owned();
    parts[1].repetitions = 1;
    for format in [Format::Table, Format::Markdown] {
        let text = render(&parts, format, Detail::Stats, RenderOptions::default());
        let times = |said: &str| text.matches(said).count();
        assert_eq!(times("This machine: ") + times("AMD EPYC") + times("taskscale run go"), 3, "{text}");
        assert!(text.contains(" sleep: Values are medians") && text.contains(" park: Footprint: "), "{text}");
    }
}

#[test]
fn workloads_share_one_table() {
    let mut parts = [report(), report()];
    parts[1].workload = "park".to_owned();
    for group in &mut parts[1].groups {
        group.rows.retain(|row| row.entry.name != "go/goroutine");
    }
    let text = render(&parts, Format::Table, Detail::Stats, RenderOptions::default());
    let overview = text.split("\n\n").find(|block| block.contains("vs best of its kind")).unwrap();
    insta::assert_snapshot!(overview);
    let together = parts.clone().map(|report| report.ranked_by(Rank::All));
    let text = render(&together, Format::Table, Detail::Stats, RenderOptions::default());
    insta::assert_snapshot!(text.split("\n\n").find(|block| block.contains("vs best of all kinds")).unwrap());
    let one = render(&parts[..1], Format::Table, Detail::Stats, RenderOptions::default());
    assert!(!one.contains("vs best of its kind"), "{one}");
}

#[test]
fn plain_results_have_no_unrelated_notes() {
    let (mut campaign, mut samples) = everything();
    let plain = ["go/goroutine", "rust/thread", "rust/tokio-spawn"];
    let of =
        |campaign: &Campaign, samples: &[Sample]| shown(&Report::build(campaign, samples), Format::Table);
    let whole = of(&campaign, &samples);
    let warning = campaign.machine.warnings.remove(0);
    campaign.entries.retain(|facts| plain.contains(&facts.name.as_str()));
    samples.retain(|sample| plain.contains(&&*sample.entry));
    let table = of(&campaign, &samples);
    assert!(plain.iter().all(|name| table.contains(name)), "{table}");
    for note in [&*warning, "rust/floor", "kotlin/coroutine"] {
        assert!(whole.contains(note) && !table.contains(note), "{note}: {table}");
    }
}

#[test]
fn bars_are_drawn_as_blocks_on_request() {
    let of = |bars| {
        let options = RenderOptions { width: 120, bars, ..RenderOptions::default() };
        render(&[report()], Format::Table, Detail::Stats, options)
    };
    let (blocks, plain) = (of(Bars::Blocks), of(RenderOptions::default().bars));
    assert!(blocks.contains('█') && !plain.contains('█'), "{blocks}");
    assert_eq!(blocks.lines().count(), plain.lines().count());
}

#[test]
fn markdown() {
    insta::assert_snapshot!(shown(&report(), Format::Markdown));
}

#[test]
fn csv() {
    insta::assert_snapshot!(shown(&report(), Format::Csv));
}

#[test]
fn json() {
    insta::assert_snapshot!(json_shape(&shown(&report(), Format::Json)));
}

#[test]
fn json_is_valid_and_keeps_texts_as_recorded() {
    let json = shown(&report(), Format::Json);
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(value["schema"], REPORT_SCHEMA);
    let groups = value["groups"].as_array().unwrap();
    let names =
        groups[0]["rows"].as_array().unwrap().iter().map(|row| row["entry"]["name"].as_str().unwrap());
    assert!(names.into_iter().any(|name| name == HOSTILE));
}

#[test]
fn every_format_escapes_text() {
    for &format in Format::VARIANTS {
        let text = shown(&report(), format);
        let acting = text.chars().find(|c| *c != '\n' && super::sanitize::acts(*c));
        assert_eq!(acting, None, "{format:?}");
    }
    // One row per line: no name or reason makes lines of its own.
    let csv = shown(&report(), Format::Csv);
    assert_eq!(csv.lines().count(), 1 + 3 * 8 + 1);
    assert!(
        csv.lines()
            .all(|line| line.starts_with(",2026-03-01T12:00:00Z,bench,sleep,")
                || line.starts_with("campaign,"))
    );
    let markdown = shown(&report(), Format::Markdown);
    assert!(!markdown.contains("<b>") && !markdown.contains(" @you") && !markdown.contains("</table>"));
}

#[test]
fn lines_fit_the_requested_width() {
    for limit in [80, WIDTH, 140] {
        let table = render(
            &[report()],
            Format::Table,
            Detail::Stats,
            RenderOptions { width: limit, ..RenderOptions::default() },
        );
        for line in table.lines() {
            assert!(width(line) <= limit, "{} of {limit} columns: {line}", width(line));
            assert_eq!(line.trim_end(), line, "spaces at the end");
        }
    }
}

#[test]
fn color_changes_only_color() {
    let colored = render(
        &[report()],
        Format::Table,
        Detail::Stats,
        RenderOptions { color: true, ..RenderOptions::default() },
    );
    let mut plain = String::new();
    let mut rest = colored.as_str();
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        plain.push_str(before);
        rest = after.split_once('m').unwrap().1;
    }
    plain.push_str(rest);
    assert_ne!(plain, colored);
    assert_eq!(plain, shown(&report(), Format::Table));
}

#[test]
fn only_the_last_attempt_counts() {
    let campaign = campaign(vec![facts("go/goroutine", Kind::Stackful)]);
    let first = fell(sample("go/goroutine", 1, 1, 9 << 20, 0), Status::Partial, "the hold was too short");
    let mut second = sample("go/goroutine", 1, 1, 3 << 20, 0);
    second.attempt = 2;
    // Whatever order they come in.
    for samples in [[first.clone(), second.clone()], [second, first]] {
        let report = Report::build(&campaign, &samples);
        let row = rows(&report, "go/goroutine")[0];
        assert_eq!((row.runs, row.ok_runs, row.status.as_str()), (1, 1, "ok"));
        assert_eq!(report.runs, 2);
        assert_eq!(report.unmeasured_runs, 8);
    }
}

/// A partial run whose tasks were all alive, such as one with ticks missed, has reached N.
#[test]
fn partial_rows_say_whether_all_tasks_were_alive() {
    let campaign = campaign(vec![facts("go/goroutine", Kind::Stackful)]);
    let mut partial = fell(sample("go/goroutine", 1, 1, 9 << 20, 0), Status::Partial, "its tasks woke late");
    for (alive, note, reached) in [
        (1, "Rows without an ok run are not ranked.", "The only entry reached 1."),
        (0, "Rows with fewer than N tasks alive are not ranked", "0 of 1 entry reached 1."),
    ] {
        partial.alive = Some(alive);
        let report = Report::build(&campaign, std::slice::from_ref(&partial));
        assert!(shown(&report, Format::Table).contains(note), "{note}");
        assert!(held(&report, &report.groups[0], false).starts_with(reached.trim_end_matches('.')));
        let headline = headline::Headline::of(&report, &report.groups[0], Rank::Kind, false);
        assert_eq!(headline.detail, "No entry is ranked by footprint at this number of tasks.");
    }
}

#[test]
fn runs_whose_end_was_not_recorded_count_up_to_their_plateau() {
    let campaign = campaign(vec![facts("go/goroutine", Kind::Stackful)]);
    let mut endless = sample("go/goroutine", 1_000_000, 1, 9 << 20, 100);
    endless.time.wall_s = None;
    let known_s = endless.time.launch_s.unwrap_or(0.0) + endless.time.plateau_s.unwrap_or(0.0);
    let report = Report::build(&campaign, std::slice::from_ref(&endless));
    assert_eq!(report.measured_s, known_s);
    assert!(shown(&report, Format::Table).contains("1 run in at least "));
}

#[test]
fn reference_other_source_and_partial_rows_are_not_ranked() {
    let report = report();
    for entry in ["rust/floor", "go/time-after-func", "go/goroutine-in-a-name-of-which-no-end-is-to-be-seen"]
    {
        let row = rows(&report, entry)[2];
        assert!(row.has_figures() && !row.ranked && row.times_best.is_none(), "{entry}");
    }
    // The smallest that is ranked is the best, though others are smaller.
    assert_eq!(rows(&report, "rust/tokio-current-thread")[2].times_best, Some(1.0));
    assert_eq!(report.memory_sources.len(), 2);
    assert_eq!(report.memory_sources[0].source, MemorySource::CgroupV2);
}

#[test]
fn failed_rows_come_last_and_keep_their_reason() {
    let report = report();
    let last: Vec<&Row> = report.groups[2].rows.iter().rev().take(2).collect();
    assert_eq!(last[1].status, "limit");
    assert_eq!(last[1].short_alive, Some(32_751));
    assert!(last[1].shortfalls[0].reason().ends_with("raise it: sysctl -w kernel.threads-max=2000000"));
    let mixed = rows(&report, "rust/tokio-spawn")[2];
    assert_eq!((mixed.status.as_str(), mixed.ranked), ("2/3 ok", true));
    assert_eq!(mixed.footprint_bytes.unwrap().readings, 2);
}

#[test]
fn growth_is_fitted_to_ok_runs_of_one_source() {
    let campaign = campaign(vec![facts("go/goroutine", Kind::Stackful)]);
    let mut samples = Vec::new();
    for tasks in [1, 10_000, 1_000_000] {
        for repetition in 1..=4 {
            let exact = sample("go/goroutine", tasks, 2, 3_000_000, 2_600);
            samples.push(Sample { repetition, ..exact });
        }
    }
    samples[5].memory.source = MemorySource::Proc;
    samples[11] = fell(samples[11].clone(), Status::Partial, "short");
    let report = Report::build(&campaign, &samples);
    let growth = &report.growth[0];
    assert_eq!((growth.base_bytes, growth.bytes_per_task), (Some(3e6), Some(2_600.0)));
    assert_eq!(growth.points, 10);
    // The other two repetitions have all numbers of tasks.
    assert_eq!(crate::stats::lines_of_repetitions(growth.readings.clone()).len(), 2);
    assert_eq!(growth.tasks, [1, 10_000, 1_000_000]);
    assert_eq!(growth.bytes_per_task_interval.map(|interval| interval.low), Some(2_600.0));
}

/// Each row's entry and its multiple of the best, in their order.
fn placed(report: &Report, group: usize) -> Vec<(&str, Option<f64>)> {
    let rows = report.groups[group].rows.iter();
    rows.map(|row| (row.entry.name.as_str(), row.times_best.map(|times| (times * 100.0).round() / 100.0)))
        .collect()
}

/// Timers do less than tasks, so a cheap timer must not make a goroutine look expensive.
#[test]
fn best_value_is_of_the_same_kind_by_default() {
    let names = [
        ("go/timer", Kind::Timer),
        ("go/goroutine", Kind::Stackful),
        ("java/virtual-thread", Kind::Stackful),
    ];
    let mut campaign = campaign(names.map(|(name, kind)| facts(name, kind)).to_vec());
    campaign.plan.tasks = vec![10_000];
    let per_task = [190, 2_600, 1_300];
    let samples: Vec<_> = names
        .iter()
        .zip(per_task)
        .flat_map(|((name, _), bytes)| (1..=3).map(move |r| sample(name, 10_000, r, 0, bytes)))
        .collect();
    let report = Report::build(&campaign, &samples);
    let of_kind = [("java/virtual-thread", Some(1.0)), ("go/goroutine", Some(2.0)), ("go/timer", Some(1.0))];
    assert_eq!(placed(&report, 0), of_kind);
    let all = report.clone().ranked_by(Rank::All);
    assert_eq!(
        placed(&all, 0),
        [("go/timer", Some(1.0)), ("java/virtual-thread", Some(6.84)), ("go/goroutine", Some(13.68))]
    );
    assert_eq!(placed(&all.clone().ranked_by(Rank::Kind), 0), of_kind);
    for (report, said) in [(&report, "compares within a kind"), (&all, "compares across kinds")] {
        let table = shown(report, Format::Table).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(table.contains(said), "{table}");
        assert!(shown(report, Format::Csv).contains(&format!(",{},", report.rank.name())));
    }
}

/// Footprints of `java/virtual-thread` in bytes, by N (results/2026-11-21-posts).
const JAVA: [(u64, u64); 4] =
    [(1, 47_000_000), (10_000, 77_000_000), (100_000, 237_000_000), (1_000_000, 992_600_000)];

fn collected_heap() -> (Campaign, Vec<Sample>) {
    let mut campaign =
        campaign(vec![facts("java/virtual-thread", Kind::Stackful), facts("go/goroutine", Kind::Stackful)]);
    campaign.plan.tasks = JAVA.map(|(tasks, _)| tasks).to_vec();
    let mut samples = Vec::new();
    for (tasks, bytes) in JAVA {
        for repetition in 1..=3 {
            let mut run = sample("java/virtual-thread", tasks, repetition, 0, 0);
            if let Some(plateau) = &mut run.memory.plateau {
                plateau.footprint_bytes = bytes * (99 + u64::from(repetition)) / 101;
            }
            samples.push(run);
            samples.push(sample("go/goroutine", tasks, repetition, 3_400_000, 2_650));
        }
    }
    (campaign, samples)
}

#[test]
fn nonlinear_memory_has_no_interval_in_any_format() {
    let (campaign, samples) = collected_heap();
    let report = Report::build(&campaign, &samples);
    let java = report.growth_of("java/virtual-thread").unwrap();
    let worst = java.worst.unwrap();
    assert_eq!((java.linear, worst.tasks), (Some(false), 100_000));
    assert!((0.65..0.75).contains(&worst.off.unwrap()), "{worst:?}");
    assert_eq!((java.bytes_per_task_interval, java.base_bytes_interval), (None, None));
    let go = report.growth_of("go/goroutine").unwrap();
    assert!(go.linear == Some(true) && go.bytes_per_task_interval.is_some());
    for format in [Format::Table, Format::Markdown] {
        assert!(shown(&report, format).contains("not linear"), "{format:?}");
    }
    insta::assert_snapshot!("collected_heap-csv", shown(&report, Format::Csv));
    for chart in [super::svg::scaling(&report).unwrap(), super::svg::ranking(&report, None).unwrap()] {
        assert!(chart.contains("~"), "{chart}");
    }
    for target in [ExportTarget::Github, ExportTarget::Bencher] {
        let kept = export(std::slice::from_ref(&report), &request(target)).unwrap();
        assert_eq!(kept.left_out.len(), 1, "{:?}", kept.left_out);
        assert!(
            kept.left_out[0].starts_with("java/virtual-thread sleep bytes-per-task (not linear: +"),
            "{:?}",
            kept.left_out
        );
    }
}

#[test]
fn growth_is_fitted_to_runs_with_all_tasks_alive() {
    use crate::record::PlateauFrom;
    let campaign = campaign(vec![facts("go/goroutine", Kind::Stackful)]);
    let ok: Vec<Sample> = [1, 10_000, 1_000_000]
        .into_iter()
        .flat_map(|tasks| (1..=3).map(move |r| sample("go/goroutine", tasks, r, 3_000_000, 2_600)))
        .collect();
    let points = |change: fn(&mut Sample)| {
        let mut samples = ok.clone();
        samples.iter_mut().filter(|run| run.tasks == 10_000).for_each(change);
        Report::build(&campaign, &samples).growth[0].points
    };
    assert_eq!(points(|_| {}), 9);
    assert_eq!(points(|run| run.alive = Some(9_000)), 6);
    assert_eq!(points(|run| run.alive = None), 6);
    // A program that prints nothing about its tasks, and whose plateau was found.
    let outside = |run: &mut Sample| (run.alive, run.plateau_from) = (None, Some(PlateauFrom::Outside));
    assert_eq!(points(outside), 9);
}

/// Seen with connections that the server never accepted: only noise of the program is left.
#[test]
fn negative_slopes_have_no_value_and_are_listed_last() {
    let entries = ["shrinks", "noise"].map(|name| facts(name, Kind::Stackless)).to_vec();
    let campaign = campaign(entries);
    let mut samples = Vec::new();
    for (entry, per_task) in [("shrinks", -82), ("noise", 0)] {
        for (tasks, repetition) in [1, 10_000].into_iter().flat_map(|n| [1, 2, 3].map(|r| (n, r))) {
            let mut sample = sample(entry, tasks, repetition, 30_000_000, 0);
            let plateau = sample.memory.plateau.as_mut().unwrap();
            let bytes = 30_000_000 + per_task * tasks as i64 + 1_000 * i64::from(repetition);
            plateau.footprint_bytes = bytes as u64;
            samples.push(sample);
        }
    }
    let report = Report::build(&campaign, &samples);
    assert_eq!(
        report.growth.iter().map(|growth| growth.entry.name.as_str()).collect::<Vec<_>>(),
        ["noise", "shrinks"]
    );
    let shrinks = report.growth_of("shrinks").unwrap();
    assert_eq!(
        (shrinks.bytes_per_task, shrinks.base_bytes, shrinks.bytes_per_task_interval),
        (None, None, None)
    );
    assert!(report.growth_of("noise").unwrap().bytes_per_task.is_some());
}

#[test]
fn single_run_has_no_spread_and_no_slope() {
    let mut campaign = campaign(vec![facts("go/goroutine", Kind::Stackful)]);
    campaign.plan.tasks = vec![10];
    campaign.plan.repetitions = 1;
    let report = Report::build(&campaign, &[sample("go/goroutine", 10, 1, 3 << 20, 2_600)]);
    assert_eq!(report.growth[0].bytes_per_task, None);
    let table = shown(&report, Format::Table);
    assert!(!table.contains('±') && !table.contains("95% interval "), "{table}");
    assert!(!shown(&report, Format::Markdown).contains("95% interval "));
}

#[test]
fn empty_results_yield_a_report() {
    let mut campaign = campaign(vec![facts("go/goroutine", Kind::Stackful)]);
    let mut stray = sample("go/other", 1, 1, 1, 1);
    let report = Report::build(&campaign, std::slice::from_ref(&stray));
    assert_eq!((report.stray_samples, report.unmeasured_runs), (1, 9));
    for &format in Format::VARIANTS {
        assert!(shown(&report, format).ends_with('\n'));
    }
    // A toolchain that turns out to be missing as the entry is built.
    stray = fell(sample("go/goroutine", 1, 1, 1, 1), Status::Unavailable, "go build: exit code 2");
    let report = Report::build(&campaign, std::slice::from_ref(&stray));
    assert_eq!(report.unavailable[0].reason, "go build: exit code 2");
    assert_eq!((report.unmeasured_runs, report.groups[0].rows.len()), (0, 0));
    // A toolchain that was missing when the runs were planned, and installed when they were resumed.
    campaign.entries[0].unavailable = Some("go is not installed".to_owned());
    let report = Report::build(&campaign, &[sample("go/goroutine", 1, 1, 1, 1)]);
    assert!(report.unavailable.is_empty() && report.groups[0].rows.len() == 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_text_fits_and_is_escaped(name in any::<String>(), reason in any::<String>(), limit in 60usize..160) {
        let campaign = campaign(vec![facts("go/goroutine", Kind::Stackful), facts(&format!("x{name}"), Kind::Timer)]);
        let samples = [
            sample("go/goroutine", 1, 1, 1 << 20, 1),
            fell(sample(&format!("x{name}"), 1, 1, 0, 0), Status::Failed, &reason),
        ];
        let report = Report::build(&campaign, &samples);
        for &format in Format::VARIANTS {
            let text = render(std::slice::from_ref(&report), format, Detail::Stats, RenderOptions { width: limit, ..RenderOptions::default() });
            prop_assert!(!text.chars().any(|c| c != '\n' && super::sanitize::acts(c)), "{}", text);
            if format == Format::Table {
                for line in text.lines() {
                    prop_assert!(width(line) <= limit, "{:?}", line);
                }
            }
        }
    }
}
