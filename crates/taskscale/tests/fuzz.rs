//! Everything that is read from outside, with nonsense: nothing panics, and accepted input is valid.
//!
//! A few hundred cases each by default; `TASKSCALE_FUZZ_CASES=1000000 cargo test --release -p taskscale --test fuzz`
//! runs a million. A failure prints the case and the seed that repeats it.

use std::fs;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::Config;
use serde_json::Value;
use strum::VariantArray;
use taskscale::catalog::Catalog;
use taskscale::compare;
use taskscale::record::{Campaign, RejectedLine, Sample, read_samples};
use taskscale::report::{self, RenderOptions, Report};
use taskscale::units;
use taskscale_measure::{LineKind, Lines, Printed, Status, analyze, read_trace};

const CASES: u32 = 300;

fn config() -> Config {
    let cases =
        std::env::var("TASKSCALE_FUZZ_CASES").ok().map(|cases| cases.parse().expect("a number of cases"));
    Config { cases: cases.unwrap_or(CASES), failure_persistence: None, ..Config::default() }
}

/// A change to a text, at a place given as a share of its length.
#[derive(Clone, Debug)]
enum TextEdit {
    Cut(f64, usize),
    Put(f64, String),
    Double(f64, usize),
    Swap(f64, u8),
}

fn change(words: &'static [&'static str]) -> impl Strategy<Value = TextEdit> {
    let place = 0.0..1.0;
    prop_oneof![
        (place.clone(), 1usize..40).prop_map(|(at, length)| TextEdit::Cut(at, length)),
        (place.clone(), select(words)).prop_map(|(at, word)| TextEdit::Put(at, word.to_owned())),
        (place.clone(), "\\PC{0,6}").prop_map(|(at, word)| TextEdit::Put(at, word)),
        (place.clone(), 1usize..200).prop_map(|(at, length)| TextEdit::Double(at, length)),
        (place, any::<u8>()).prop_map(|(at, byte)| TextEdit::Swap(at, byte)),
    ]
}

fn changed(text: &[u8], changes: &[TextEdit]) -> Vec<u8> {
    let mut bytes = text.to_vec();
    for change in changes {
        let place = |at: &f64| (*at * bytes.len() as f64) as usize;
        match change {
            TextEdit::Cut(at, length) => {
                let (from, to) = (place(at), (place(at) + length).min(bytes.len()));
                bytes.drain(from..to);
            }
            TextEdit::Put(at, word) => {
                let at = place(at);
                bytes.splice(at..at, word.bytes());
            }
            TextEdit::Double(at, length) => {
                let (from, to) = (place(at), (place(at) + length).min(bytes.len()));
                let piece = bytes[from..to].to_vec();
                bytes.splice(to..to, piece);
            }
            TextEdit::Swap(at, byte) => {
                let at = place(at);
                if let Some(place) = bytes.get_mut(at) {
                    *place = *byte;
                }
            }
        }
    }
    bytes
}

const MANIFEST: &str = r#"name = "fake"
title = "Fake"
url = "https://example.org"
version = ["true", "--version"]
minimum = "1.24"
install = { debian = "fake", other = "nowhere" }

[[entry]]
name = "one"
title = "One"
kind = "stackless"
parallel = true
style = "idiomatic"
why = "because"
notes = ["a note"]
env = { A = "b" }
workloads.sleep = { build = [["make", "{out}"], ["x", "{shared}/y"]], run = ["{out}/sleep", "{src}"] }

[[entry]]
name = "two"
title = "Two"
kind = "thread"
parallel = false
style = "tuned"
reference = true
why = "because"
workloads.sleep = { run = ["true"] }
"#;

const TOML_WORDS: &[&str] = &[
    "\"",
    "'",
    "\"\"\"",
    "[[entry]]\n",
    "[",
    "]",
    "{",
    "}",
    "{src}",
    "{home",
    "\n",
    "=",
    ".",
    ",",
    "name = \"one\"\n",
    "\\u001b",
    "\\u202e",
    "../",
    "\0",
    "true",
    "-1",
    "1e999",
    "99999999999999999999",
    "locate = { program = \"x\" }\n",
    "#",
    "run",
    "é",
];

proptest! {
    #![proptest_config(config())]

    /// A catalog is loaded, or the error names a line that the file has.
    #[test]
    fn random_manifest_loads_or_names_an_existing_line(changes in vec(change(TOML_WORDS), 0..6)) {
        thread_local! {
            // In memory if possible: a disk is slow with a million small files.
            static FOLDER: tempfile::TempDir = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a folder");
        }
        FOLDER.with(|folder| {
            let path = folder.path().join("fake/runtime.toml");
            fs::create_dir_all(folder.path().join("fake")).expect("a folder");
            let bytes = changed(MANIFEST.as_bytes(), &changes);
            fs::write(&path, &bytes).expect("a manifest");
            match Catalog::load(folder.path()) {
                Ok(catalog) => {
                    for (runtime, entry) in catalog.entries() {
                        prop_assert_eq!(&runtime.name, "fake");
                        // Names become paths.
                        let plain = |c: char| c.is_ascii_alphanumeric() || "-_+.".contains(c);
                        prop_assert!(entry.name.chars().all(plain) && !entry.name.starts_with('.'));
                        prop_assert!(entry.workloads.values().all(|workload| !workload.run.is_empty()));
                    }
                }
                Err(error) => {
                    let told = error.to_string();
                    let line = told.split("runtime.toml:").nth(1).and_then(|rest| rest.split(':').next()?.parse::<usize>().ok());
                    let lines = bytes.iter().filter(|byte| **byte == b'\n').count() + 1;
                    prop_assert!(line.is_none_or(|line| (1..=lines).contains(&line)), "{}", told);
                }
            }
            Ok(())
        })?;
    }
}

const PROTOCOL_WORDS: &[&str] = &[
    "alive 5\n",
    "done 5\n",
    "failed 1\n",
    "metric a 1 s\n",
    "metric a NaN s\n",
    "alive",
    "\n",
    "\r\n",
    " ",
    "-1",
    "18446744073709551616",
    "1e3",
    "\u{1b}[31m",
    "\0",
    "é",
];

proptest! {
    #![proptest_config(config())]

    /// Output is understood the same in pieces of any size, and no `alive` counts twice.
    #[test]
    fn random_output_parses_alike_in_pieces_of_any_size(changes in vec(change(PROTOCOL_WORDS), 0..12), noise in vec(any::<u8>(), 0..40), piece in 1usize..64) {
        let mut bytes = changed(b"alive 5\nmetric rate 2.5 tasks/s\ndone 5\n", &changes);
        bytes.extend(noise);
        let heard = |length: usize| {
            let (mut lines, mut printed, mut kinds) = (Lines::default(), Printed::default(), Vec::new());
            let mut take = |line: &str| {
                kinds.push(printed.take(line));
                kinds.last() != Some(&LineKind::Stray)
            };
            bytes.chunks(length).for_each(|piece| lines.feed(piece, &mut take));
            lines.finish(&mut take);
            (printed, kinds, lines.bytes)
        };
        let whole = heard(usize::MAX);
        prop_assert_eq!(&whole, &heard(piece));
        let (printed, kinds, received) = whole;
        let alive = kinds.iter().filter(|kind| **kind == LineKind::Alive).count();
        prop_assert_eq!(alive, usize::from(printed.alive.is_some()));
        prop_assert!(printed.metrics.values().all(|metric| metric.value.is_finite()));
        prop_assert_eq!(received, bytes.len() as u64);
    }
}

/// Recorded runs of all shapes and outcomes.
const TRACES: [&str; 7] = [
    "how-it-ends-well",
    "real-load-done-early",
    "real-pause-then-work",
    "servers-flips",
    "tasks-that-wake-well",
    "work-well",
    "wrong-output-lie-thread",
];

/// The numbers in a value, in its order.
fn numbers(value: &mut Value) -> Vec<&mut Value> {
    match value {
        Value::Number(_) => vec![value],
        Value::Array(list) => list.iter_mut().flat_map(numbers).collect(),
        Value::Object(fields) => fields.values_mut().flat_map(numbers).collect(),
        _ => Vec::new(),
    }
}

proptest! {
    #![proptest_config(config())]

    /// A trace with changed numbers and missing lines is refused or judged.
    #[test]
    fn altered_trace_is_refused_or_classified(
        name in select(&TRACES[..]),
        changes in vec((0.0..1.0, 0.0..1.0, select(&[0_u64, 1, 1 << 40, u64::MAX][..])), 1..6),
        left_out in prop::option::of(0.0..1.0),
    ) {
        let path = format!("{}/../measure/tests/traces/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
        let kept = fs::read_to_string(path).unwrap();
        let mut lines: Vec<Value> = kept.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let at = |share: f64, length: usize| (share * length as f64) as usize;
        for (line, place, new) in changes {
            let line = at(line, lines.len());
            let mut found = numbers(&mut lines[line]);
            let place = at(place, found.len());
            if let Some(number) = found.get_mut(place) {
                **number = new.into();
            }
        }
        if let Some(left_out) = left_out {
            lines.remove(at(left_out, lines.len()));
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace.jsonl");
        let text: Vec<String> = lines.iter().map(Value::to_string).collect();
        fs::write(&path, text.join("\n")).unwrap();
        if let Ok((spec, timeline)) = read_trace(&path) {
            let verdict = analyze(&timeline, &spec);
            prop_assert_eq!(verdict.reason.is_none(), verdict.status == Status::Ok);
        }
    }
}

const SAMPLE: &str = r#"{"schema":1,"entry":"fake/one","workload":"sleep","tasks":1000,"hold_s":2.0,"repetition":1,"attempt":1,"started_at":"2026-01-02T03:04:05Z","status":"ok","reason":"why","alive":1000,"done":1000,"failed":0,"exit_code":0,"command":["/x","1000","2"],"version":"x 1.0","threads":3,"processes":1,"time":{"launch_s":0.1,"plateau_s":1.9,"drain_s":0.1,"wall_s":2.1},"cpu":{"user_s":0.5,"system_s":0.1,"launch_s":0.5,"plateau_s":0.0,"drain_s":0.1},"memory":{"source":"cgroup-v2","plateau":{"footprint_bytes":5000000,"anon_bytes":4000000,"shmem_bytes":0,"file_bytes":500000,"kernel_bytes":500000,"rss_bytes":4500000},"peak_bytes":6000000,"rss_peak_bytes":5000000},"metrics":{"rate":{"value":2.5,"unit":"tasks/s"}},"warnings":["plateau-short"],"stderr_tail":"bye"}"#;

const CAMPAIGN: &str = r#"{"schema":1,"taskscale":"0.1.0","created_at":"2026-01-02T03:04:05Z","command":["taskscale"],"machine":{"hostname":"h","os":"o","kernel":"k","architecture":"a","cpu":"c","cpus":2,"memory_bytes":1000,"swap_bytes":0,"page_bytes":4096,"limits":{"pid_max":1},"warnings":["w"]},"plan":{"workload":"sleep","entries":["fake/one"],"tasks":[1000],"repetitions":3,"hold":{"rule":"chosen","plateau_s":1.0}},"plan_digest":"d","seed":1,"entries":[{"name":"fake/one","title":"One","runtime":"fake","runtime_title":"Fake","url":"u","kind":"stackless","parallel":true,"style":"idiomatic","why":"y","build":[["b"]],"run":["r"]}]}"#;

const JSON_WORDS: &[&str] = &[
    "0",
    "-1",
    "1e308",
    "18446744073709551615",
    "4.9e-324",
    "null",
    "\"\\u001b[31m\"",
    "\\u202e",
    "\"",
    ",",
    "{",
    "}",
    "[",
    "]",
    "partial",
    "killed-oom",
    "\\u0000",
    "\n",
    "fake/two",
    "|",
    "<script>",
    "=cmd()",
    "9",
    "99999999",
];

/// A few samples, each with its own changes: invalid JSON, and valid JSON with foreign values.
fn samples() -> impl Strategy<Value = Vec<u8>> {
    vec(vec(change(JSON_WORDS), 0..4), 1..6).prop_map(|all| {
        let lines: Vec<Vec<u8>> = all.iter().map(|changes| changed(SAMPLE.as_bytes(), changes)).collect();
        lines.join(&b'\n')
    })
}

/// Valid samples with values that no machine would give.
fn figures() -> impl Strategy<Value = Vec<Sample>> {
    let number = || prop_oneof![Just(0u64), Just(1), Just(u64::MAX), any::<u64>(), 1u64..1_000_000];
    let real = || {
        prop_oneof![Just(0.0), Just(f64::MAX), Just(-1.0), Just(f64::MIN_POSITIVE), any::<f64>(), 0.0..1e3]
    };
    let text = || {
        prop_oneof![
            Just("fake/one".to_owned()),
            Just("fake/two".to_owned()),
            "\\PC{0,8}",
            "[\\x00-\\x7f]{0,8}"
        ]
    };
    let one =
        (text(), text(), [number(), number(), number(), number()], [real(), real(), real()], 0u32..5, 0u8..8);
    vec(one, 0..12).prop_map(|all| {
        let sample: Sample = serde_json::from_str(SAMPLE).expect("a sample");
        all.into_iter()
            .map(|(entry, reason, [tasks, bytes, kernel, alive], [launch, wall, cpu], repetition, status)| {
                let mut sample = sample.clone();
                (sample.entry, sample.tasks, sample.repetition) = (entry.into(), tasks, repetition);
                (sample.alive, sample.done, sample.reason) = (Some(alive), Some(tasks), Some(reason));
                sample.status = serde_json::from_value(
                    ["ok", "partial", "failed", "crashed", "killed-oom", "timed-out", "limit", "ok"]
                        [status as usize]
                        .into(),
                )
                .expect("a status");
                (sample.time.launch_s, sample.time.wall_s, sample.cpu.user_s) =
                    (Some(launch), Some(wall), Some(cpu));
                if let Some(plateau) = &mut sample.memory.plateau {
                    (plateau.footprint_bytes, plateau.kernel_bytes) = (bytes, kernel);
                }
                sample
            })
            .collect()
    })
}

/// Shows a campaign in every format: no panic, and no characters that act on a terminal.
fn show(campaign: &Campaign, samples: &[Sample]) -> Result<(), TestCaseError> {
    let built = Report::build(campaign, samples);
    for format in [report::Format::Table, report::Format::Markdown, report::Format::Csv, report::Format::Json]
    {
        let text = report::render(
            std::slice::from_ref(&built),
            format,
            report::Detail::Stats,
            RenderOptions { color: false, ..RenderOptions::default() },
        );
        if format == report::Format::Json {
            prop_assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{}", text);
        } else {
            let acting = text.chars().find(|c| report::acts(*c) && *c != '\n');
            prop_assert!(acting.is_none(), "{:?} in {:?}", acting, text);
        }
    }
    Ok(())
}

/// The samples without a campaign id, and the invalid lines.
fn parse_samples(bytes: &[u8]) -> (Vec<Sample>, Vec<RejectedLine>) {
    // Reading from memory cannot fail.
    read_samples(bytes, bytes.len() as u64, None).unwrap_or_default()
}

proptest! {
    #![proptest_config(config())]

    /// Every line is a sample or is rejected, and an accepted sample is written as it was read.
    #[test]
    fn random_line_is_a_sample_or_rejected(bytes in samples()) {
        let (samples, rejected) = parse_samples(&bytes);
        let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).count();
        prop_assert_eq!(samples.len() + rejected.len(), lines);
        for sample in &samples {
            let written = serde_json::to_vec(sample).expect("a sample can be written");
            let (read, _) = parse_samples(&written);
            prop_assert_eq!(read.first(), Some(sample));
        }
    }

    /// A results folder from a stranger can be shown.
    #[test]
    fn random_results_folder_is_shown_safely(samples in figures(), changes in vec(change(JSON_WORDS), 0..3)) {
        let bytes = changed(CAMPAIGN.as_bytes(), &changes);
        let campaign = serde_json::from_slice(&bytes);
        let campaign = campaign.or_else(|_| serde_json::from_str::<Campaign>(CAMPAIGN)).expect("a campaign");
        show(&campaign, &samples)?;
    }

    /// Two of them can be compared.
    #[test]
    fn random_results_folders_are_compared_safely(base in figures(), new in figures(), changes in vec(change(JSON_WORDS), 0..3)) {
        let bytes = changed(CAMPAIGN.as_bytes(), &changes);
        let sound = || serde_json::from_str::<Campaign>(CAMPAIGN).expect("a campaign");
        let campaign = serde_json::from_slice(&bytes).unwrap_or_else(|_| sound());
        let old = sound();
        let input = |folder, campaign, samples| compare::Input { folder, campaign, samples, entry: None };
        let settings =
            compare::CompareSettings {
                series: 1,
                metrics: taskscale::metrics::ALL.into_iter().map(compare::ComparedMetric::from).collect(),
                fail_above: Some(0.05),
                allow_missing: false,
                across: true,
            };
        let sides = (input("\u{1b}[2J", &old, &base[..]), input("b", &campaign, &new[..]));
        if let Ok(comparison) = compare::Comparison::build(sides.0, sides.1, &settings) {
            for &format in report::Format::VARIANTS {
                let text = compare::render(std::slice::from_ref(&comparison), format, RenderOptions::default());
                let acting = text.chars().find(|c| report::acts(*c) && *c != '\n');
                prop_assert!(acting.is_none(), "{:?} in {:?}", acting, text);
            }
        }
    }

    /// Counts, sizes and durations.
    #[test]
    fn parsed_quantities_are_positive_and_printable(text in prop_oneof!["\\PC{0,20}", "[0-9._kKMmGiBshnu -]{0,30}", "[0-9]{1,40}[kMG]?(i?B)?", "([0-9.]{1,9} ?(ms|s|m|h)){1,4}"]) {
        if let Ok(count) = units::parse_count(&text) {
            prop_assert!(count > 0);
            prop_assert_eq!(units::parse_count(&units::count(count).replace(',', "")), Ok(count));
        }
        if let Ok(bytes) = units::parse_bytes(&text) {
            prop_assert!(bytes > 0 && !units::bytes(bytes).is_empty());
        }
        if let Ok(time) = units::parse_duration(&text) {
            prop_assert!(!time.is_zero() && !units::seconds(time.as_secs_f64()).is_empty());
        }
    }
}
