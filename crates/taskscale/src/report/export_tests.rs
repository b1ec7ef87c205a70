//! Formats for other tools.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::{Value, json};
use strum::VariantArray;

use super::fixture::{HOSTILE, elsewhere, everything, facts, fell, of_parts, request, sample};
use super::sanitize::acts;
use super::*;
use crate::catalog::Kind;
use crate::metrics;
use crate::record::{LimitHit, Loaded, Metric, Sample, Status};

fn one() -> Vec<Report> {
    let (campaign, samples) = everything();
    vec![Report::build(&campaign, &samples).named("20260301-bench")]
}

fn two() -> Vec<Report> {
    let (campaign, samples) = elsewhere();
    let mut reports = one();
    reports.push(Report::build(&campaign, &samples).named("20260302-laptop"));
    reports
}

fn text(reports: &[Report], target: ExportTarget) -> String {
    export(reports, &request(target)).unwrap().text
}

/// Validates against a schema of `schemas/`, whose `$comment` names its source.
#[track_caller]
fn assert_valid(schema: &str, text: &str) -> Value {
    let path = format!("{}/src/report/schemas/{schema}.schema.json", env!("CARGO_MANIFEST_DIR"));
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let value: Value = serde_json::from_str(text).unwrap();
    let errors: Vec<String> = validator.iter_errors(&value).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    value
}

#[test]
fn github_export_is_valid_and_lists_omitted_cases() {
    let export = export(&one(), &request(ExportTarget::Github)).unwrap();
    let value = assert_valid("github-action-benchmark", &export.text);
    let names: Vec<&str> =
        value.as_array().unwrap().iter().map(|value| value["name"].as_str().unwrap()).collect();
    let mut unique = names.clone();
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(unique.len(), names.len(), "one value a name");
    let of = |name: &str| value.as_array().unwrap().iter().find(|value| value["name"] == name);
    let goroutine = of("go/goroutine sleep 1M footprint").unwrap();
    assert_eq!((goroutine["value"].as_f64().unwrap() * 10.0).round(), 25_305.0);
    assert_eq!(goroutine["unit"], "MiB");
    assert_eq!(of("go/goroutine sleep bytes-per-task").unwrap()["range"], "2524 to 2782");
    // Failed cases have no value and are reported: fewer tasks would look like progress.
    assert!(of("rust/thread sleep 1M footprint").is_none());
    assert!(export.left_out.contains(&"rust/thread sleep 1M (limit)".to_owned()), "{:?}", export.left_out);
    assert!(export.left_out.iter().any(|cell| cell.ends_with("(partial)")));
    assert!(export.left_out.contains(&"kotlin/coroutine sleep (unavailable)".to_owned()));
}

#[test]
fn bencher_export_matches_its_format() {
    let export = export(&one(), &request(ExportTarget::Bencher)).unwrap();
    let value = assert_valid("bencher-metric-format", &export.text);
    let footprint = &value["rust/tokio-spawn sleep 10k"]["footprint-bytes"];
    assert!(footprint["lower_value"].as_f64() < footprint["value"].as_f64());
    assert!(footprint["value"].as_f64() < footprint["upper_value"].as_f64());
    assert!(value["go/goroutine sleep"]["bytes-per-task"]["value"].is_number());
    for (benchmark, measures) in value.as_object().unwrap() {
        // https://bencher.dev/docs/reference/bencher-metric-format/: at most 1024 and 64 characters.
        assert!(benchmark.chars().count() <= 1024);
        assert!(measures.as_object().unwrap().keys().all(|measure| measure.len() <= 64));
    }
}

#[test]
fn service_schemas_refuse_invalid_documents() {
    let check = |schema: &str, value: &Value| {
        let path = format!("{}/src/report/schemas/{schema}.schema.json", env!("CARGO_MANIFEST_DIR"));
        let schema: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        jsonschema::is_valid(&schema, value)
    };
    assert!(!check("github-action-benchmark", &json!([])));
    assert!(!check("github-action-benchmark", &json!([{"name": "a", "unit": "MiB", "value": "1"}])));
    assert!(!check("bencher-metric-format", &json!({"a": {"b": {"upper_value": 1}}})));
    assert!(!check("bencher-metric-format", &json!([])));
}

#[test]
fn exports_have_the_requested_metrics() {
    let asked = ExportRequest { metrics: vec![&metrics::PEAK], ..request(ExportTarget::Bencher) };
    let value: Value = serde_json::from_str(&export(&one(), &asked).unwrap().text).unwrap();
    let measures: Vec<&String> =
        value.as_object().unwrap().values().flat_map(|value| value.as_object().unwrap().keys()).collect();
    assert!(!measures.is_empty() && measures.iter().all(|measure| *measure == "peak-bytes"));
}

#[test]
fn exports_have_work_cost_or_name_cases_without_value() {
    let (campaign, samples) = of_parts();
    let parts = Report::of_parts(&campaign, &samples);
    let export_of = |metrics: Vec<&'static metrics::MetricDef>| {
        export(&parts, &ExportRequest { metrics, ..request(ExportTarget::Github) })
    };
    let exported = export_of(Vec::new()).unwrap();
    let value = assert_valid("github-action-benchmark", &exported.text);
    let kept: BTreeSet<&str> =
        value.as_array().unwrap().iter().filter_map(|one| one["name"].as_str()).collect();
    for name in ["go/goroutine sleep 10k footprint", "go/goroutine spawn, 1 CPU 1k wall-ns-per-op"] {
        assert!(kept.contains(name), "{kept:?}");
    }
    // The CPU of a run of work depends on the number of operations.
    assert!(!kept.iter().any(|name| name.contains(" spawn,") && name.ends_with(" cpu")), "{kept:?}");
    let short = "rust/thread spawn, 1 CPU 1k wall-ns-per-op (no value)";
    assert!(exported.left_out.iter().any(|cell| cell == short), "{:?}", exported.left_out);
    let error = export_of(vec![&metrics::OPS_PER_S]).unwrap_err().to_string();
    assert!(error.contains("ops-per-s"), "{error}");
}

#[test]
fn colliding_export_names_and_empty_exports_are_refused() {
    for target in [ExportTarget::Github, ExportTarget::Bencher] {
        let error = export(&two(), &request(target)).unwrap_err().to_string();
        assert!(error.contains("in 20260301-bench and in 20260302-laptop"), "{error}");
    }
    // Other workloads have other names, so results of one commit fit into one file.
    let mut reports = two();
    reports[1].workload = "park".to_owned();
    assert_valid("bencher-metric-format", &text(&reports, ExportTarget::Bencher));
    let (campaign, _) = everything();
    let nothing = [Report::build::<crate::record::Sample>(&campaign, &[])];
    assert!(export(&nothing, &request(ExportTarget::Github)).is_err(), "the action refuses an empty list");
}

#[test]
fn exports_are_escaped() {
    let targets = [
        ExportTarget::Github,
        ExportTarget::Bencher,
        ExportTarget::Svg(Chart::Ranking),
        ExportTarget::Svg(Chart::Scaling),
    ];
    let formats = Format::VARIANTS.iter().map(|format| ExportTarget::Report(*format));
    let one = targets.iter().map(|target| text(&one(), *target));
    for text in one.chain(formats.map(|target| text(&two(), target))) {
        let acting = text.chars().find(|c| *c != '\n' && acts(*c));
        assert_eq!(acting, None, "{text}");
        assert!(text.ends_with('\n'));
    }
}

#[test]
fn csv_and_json_combine_several_results() {
    let csv = text(&two(), ExportTarget::Report(Format::Csv));
    let lines = |name: &str| csv.lines().filter(|line| line.starts_with(name)).count();
    assert_eq!(lines("campaign,"), 1);
    assert_eq!((lines("20260301-bench,"), lines("20260302-laptop,")), (25, 25));
    let json: Value = serde_json::from_str(&text(&two(), ExportTarget::Report(Format::Json))).unwrap();
    assert_eq!(json["campaigns"][1]["campaign"], "20260302-laptop");
    assert_eq!(json["schema"], REPORT_SCHEMA);
}

#[test]
fn chart_of_several_series_is_refused() {
    let error = export(&two(), &request(ExportTarget::Svg(Chart::Ranking))).unwrap_err().to_string();
    assert_eq!(error, "a chart shows one series: 2 given (select one with --part)");
}

#[test]
fn memory_parts_sum_to_the_median_footprint() {
    let report = &one()[0];
    for row in report.rows() {
        assert_eq!(row.parts.is_some(), row.footprint_bytes.is_some(), "{}", row.entry.name);
    }
    let campaign = super::fixture::campaign(vec![facts("go/goroutine", Kind::Stackful)]);
    let mut samples: Vec<Sample> =
        (1..=2).map(|repetition| sample("go/goroutine", 1, repetition, 1 << 20, 0)).collect();
    for (sample, bytes) in samples.iter_mut().zip([100, 300]) {
        sample.memory.plateau = Some(crate::record::Plateau {
            footprint_bytes: 10 * bytes,
            anon_bytes: 6 * bytes,
            file_bytes: bytes,
            kernel_bytes: 3 * bytes,
            kernel_stack_bytes: Some(2 * bytes),
            ..Default::default()
        });
    }
    let report = Report::build(&campaign, &samples);
    let row = &report.groups[0].rows[0];
    let parts = row.parts.unwrap();
    assert_eq!(row.footprint_bytes.unwrap().median, 2_000.0);
    assert_eq!((parts.anon_bytes, parts.file_bytes, parts.kernel_stack_bytes), (1_200.0, 200.0, Some(400.0)));
    assert_eq!((parts.kernel_other_bytes, parts.slab_bytes), (200.0, None));
}

#[test]
fn samples_csv_has_one_line_per_attempt() {
    let (campaign, mut samples) = everything();
    let mut first = samples[0].clone();
    first.status = Status::Partial;
    samples[0].attempt = 2;
    samples.insert(0, first);
    samples[1].metrics.insert("rate".to_owned(), Metric { value: 2.5, unit: "tasks/s".to_owned() });
    let mut stray = fell(sample("go/unknown", 5, 1, 0, 0), Status::Limit, "too many");
    stray.limit = Some(Box::new(LimitHit { name: "kernel.pid_max".to_owned(), value: 32_768, lift: None }));
    samples.push(stray);
    let lines = 1 + samples.len();
    let csv = samples_csv(&[("here".to_owned(), Loaded { campaign, samples, rejected: Vec::new() })]);
    insta::assert_snapshot!(
        "samples",
        csv.lines()
            .enumerate()
            .filter(|(i, line)| *i < 4 || line.contains("unknown") || line.contains("evil"))
            .map(|(_, line)| format!("{line}\n"))
            .collect::<String>()
    );
    assert_eq!(csv.lines().count(), lines);
    let columns = |line: &str| line.split(',').count();
    let header = csv.lines().next().unwrap();
    assert!(header.ends_with(",metric_rate_tasks/s"), "{header}");
    assert_eq!(columns(header), columns(csv.lines().nth(2).unwrap()));
    let counts: Vec<&str> = csv.lines().skip(1).take(2).map(|line| line.split(',').nth(8).unwrap()).collect();
    assert_eq!(counts, ["false", "true"]);
    assert!(!csv.contains(HOSTILE) && !csv.chars().any(|c| c != '\n' && acts(c)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn exports_of_any_name_and_value_are_valid(
        name in any::<String>(),
        reason in any::<String>(),
        footprints in proptest::collection::vec(any::<u64>(), 4),
        tasks in proptest::collection::btree_set(1u64.., 2..5),
    ) {
        let name = format!("x{name}");
        let mut campaign =
            super::fixture::campaign(vec![facts("go/goroutine", Kind::Stackful), facts(&name, Kind::Timer)]);
        campaign.plan.tasks = tasks.iter().copied().collect();
        let mut samples = Vec::new();
        for (tasks, bytes) in tasks.iter().zip(&footprints) {
            let mut found = sample("go/goroutine", *tasks, 1, 0, 0);
            if let Some(plateau) = &mut found.memory.plateau {
                plateau.footprint_bytes = *bytes;
            }
            samples.push(found);
            samples.push(fell(sample(&name, *tasks, 1, 0, 0), Status::Failed, &reason));
        }
        let report = Report::build(&campaign, &samples);
        let svgs = [ExportTarget::Svg(Chart::Ranking), ExportTarget::Svg(Chart::Scaling)];
        for target in svgs.into_iter().chain([ExportTarget::Github, ExportTarget::Bencher]) {
            let one = [report.clone().named("a")];
            // A logarithmic axis cannot show footprints that are all 0: that is an error.
            let Ok(export) = export(&one, &request(target)) else { continue };
            prop_assert!(!export.text.chars().any(|c| c != '\n' && acts(c)));
            match target {
                ExportTarget::Svg(_) => prop_assert!(roxmltree::Document::parse(&export.text).is_ok()),
                _ => prop_assert!(serde_json::from_str::<Value>(&export.text).is_ok()),
            }
        }
        let two = [report.clone().named("a"), report.named(&name)];
        for format in [Format::Table, Format::Markdown] {
            let text = export(&two, &request(ExportTarget::Report(format))).unwrap().text;
            prop_assert!(!text.chars().any(|c| c != '\n' && acts(c)), "{}", text);
        }
    }
}
