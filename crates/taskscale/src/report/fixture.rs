//! A hand-made campaign for tests, with one of everything that can happen.

use std::collections::BTreeSet;

use serde_json::Value;

use taskscale_measure::Measurement;

use super::{Detail, ExportRequest, ExportTarget};
use crate::catalog::{Kind, Shape, Style};
use crate::document::RenderOptions;
use crate::record::{
    Campaign, Cpu, EntryFacts, Hold, LimitHit, Machine, Memory, MemorySource, Plan, Plateau, Sample, Status,
    Time, Timestamp, Warning, Work, test_campaign, test_facts, test_sample,
};

pub const HOSTILE: &str = "evil/\u{1b}[2J|<b>x</b>\n=`@you`\u{202e}";

fn at() -> Timestamp {
    "2026-03-01T12:00:00Z".parse().unwrap()
}

/// A request for everything.
pub fn request(target: ExportTarget) -> ExportRequest {
    ExportRequest {
        target,
        metrics: Vec::new(),
        tasks: None,
        detail: Detail::Stats,
        options: RenderOptions::default(),
    }
}

pub fn facts(name: &str, kind: Kind) -> EntryFacts {
    EntryFacts { kind, ..test_facts(name) }
}

/// A campaign of these entries at 1, 10k and 1M tasks, three times each.
pub fn campaign(entries: Vec<EntryFacts>) -> Campaign {
    Campaign {
        taskscale: "0.1.0".to_owned(),
        created_at: at(),
        command: ["taskscale", "run", "go", "rust/*", "-n", "1,10k,1M"].map(str::to_owned).to_vec(),
        machine: Machine {
            hostname: "bench".to_owned(),
            os: "Debian GNU/Linux 13 (trixie)".to_owned(),
            kernel: "6.18.5".to_owned(),
            architecture: "x86_64".to_owned(),
            cpu: "AMD EPYC 7B13".to_owned(),
            cpus: 2,
            memory_bytes: 8_384_000_000,
            page_bytes: 4096,
            transparent_huge_pages: Some("madvise".to_owned()),
            ..Machine::default()
        },
        plan: Plan::of_holds(
            "sleep",
            entries.iter().map(|facts| facts.name.clone()).collect(),
            vec![1, 10_000, 1_000_000],
            3,
            Hold::Chosen { plateau_s: 2.0 },
        ),
        plan_digest: "5a1e0c39d7b24f6689aa00ff".to_owned(),
        seed: 42,
        entries,
        ..test_campaign()
    }
}

/// A sample that is ok and has every value, of a program with `base` bytes and `per_task` bytes per task.
pub fn sample(entry: &str, tasks: u64, repetition: u32, base: u64, per_task: u64) -> Sample {
    // Repetitions differ by 2%.
    let footprint = (base + per_task * tasks) * (98 + 2 * u64::from(repetition)) / 102;
    let launch = tasks as f64 * 0.8e-6 * (1.0 + 0.1 * f64::from(repetition));
    let plain = test_sample(entry, tasks);
    Sample {
        hold_s: 3.0,
        repetition,
        measurement: Measurement {
            started_at: at(),
            threads: Some(3),
            time: Time {
                launch_s: Some(launch),
                plateau_s: Some(2.1),
                drain_s: Some(launch / 2.0),
                wall_s: Some(3.0 + 1.5 * launch),
                plateau_read_at_s: Some(2.5),
                reading_s: None,
            },
            cpu: Cpu { user_s: Some(2.0 * launch), system_s: Some(launch), ..Cpu::default() },
            memory: Memory {
                source: MemorySource::CgroupV2,
                plateau: Some(Plateau {
                    footprint_bytes: footprint,
                    anon_bytes: footprint / 4 * 3,
                    kernel_bytes: footprint / 8,
                    ..Plateau::default()
                }),
                peak_bytes: Some(footprint / 100 * 105),
                rss_peak_bytes: Some(footprint / 100 * 85),
                ..Memory::default()
            },
            ..plain.measurement
        },
        command: [entry.to_owned(), tasks.to_string(), "3".to_owned()].into(),
        version: None,
        ..plain
    }
}

/// The same sample with another status, and without values unless it is partial.
pub fn fell(mut sample: Sample, status: Status, reason: &str) -> Sample {
    sample.status = status;
    sample.reason = Some(reason.to_owned());
    if status != Status::Partial {
        sample.memory = Memory::default();
        sample.time = Time::default();
        sample.cpu = Cpu::default();
        sample.alive = None;
    }
    sample
}

/// Two runtimes with a reference, a timer, a limit, a partial row, a mixed one, another source, a missing entry and a
/// hostile one.
pub fn everything() -> (Campaign, Vec<Sample>) {
    let entries = vec![
        facts("go/goroutine", Kind::Stackful),
        facts("rust/floor", Kind::Future),
        facts("rust/thread", Kind::Thread),
        facts("rust/tokio-spawn", Kind::Stackless),
        facts("rust/tokio-current-thread", Kind::Stackless),
        facts("go/time-after-func", Kind::Timer),
        facts("go/goroutine-in-a-name-of-which-no-end-is-to-be-seen", Kind::Stackful),
        facts("kotlin/coroutine", Kind::Stackless),
        facts(HOSTILE, Kind::Process),
    ];
    let mut campaign = campaign(entries);
    campaign.entries[1].reference = true;
    campaign.entries[4].style = Style::Tuned;
    campaign.entries[4].parallel = false;
    campaign.entries[7].version = None;
    campaign.entries[7].unverified = Some("written without a compiler at hand".to_owned());
    campaign.entries[7].unavailable = Some("kotlinc is not installed: https://kotlinlang.org".to_owned());
    campaign.machine.warnings = vec!["swap is on: memory figures may be too low".to_owned()];

    let mut samples = Vec::new();
    for tasks in [1, 10_000, 1_000_000] {
        for repetition in 1..=3 {
            let ok = |entry: &str, base, per_task| sample(entry, tasks, repetition, base, per_task);
            samples.push(ok("go/goroutine", 3_400_000, 2_650));
            samples.push(ok("rust/floor", 900_000, 16));
            samples.push(match tasks {
                1_000_000 => {
                    let mut hit = fell(
                        ok("rust/thread", 0, 0),
                        Status::Limit,
                        "32,751 of 1,000,000 threads could be \
                        started: kernel.threads-max is 62,000 and half of it was taken by others",
                    );
                    hit.alive = Some(32_751);
                    hit.limit = Some(Box::new(LimitHit {
                        name: "kernel.threads-max".to_owned(),
                        value: 62_000,
                        lift: Some("sysctl -w kernel.threads-max=2000000".to_owned()),
                    }));
                    hit
                }
                _ => ok("rust/thread", 1_100_000, 36_500),
            });
            samples.push(match (tasks, repetition) {
                (1_000_000, 2) => fell(ok("rust/tokio-spawn", 0, 0), Status::TimedOut, "not done after 60 s"),
                _ => ok("rust/tokio-spawn", 2_000_000, 412),
            });
            samples.push(ok("rust/tokio-current-thread", 1_900_000, 396));
            let mut timer = ok("go/time-after-func", 3_300_000, 190);
            timer.warnings = vec![Warning::PlateauShort];
            timer.memory.source = MemorySource::Proc;
            samples.push(timer);
            let mut long = ok("go/goroutine-in-a-name-of-which-no-end-is-to-be-seen", 3_500_000, 2_900);
            if tasks == 1_000_000 {
                long.alive = Some(998_112 + u64::from(repetition));
                long = fell(long, Status::Partial, "tasks were due before the last had started");
            }
            samples.push(long);
            samples.push(fell(
                ok(HOSTILE, 0, 0),
                Status::Crashed,
                "\u{1b}]0;owned\u{7}|</table>\n@you https://x.y",
            ));
        }
    }
    (campaign, samples)
}

/// A campaign of three series: tasks that wait, and work on one CPU and on two.
pub fn of_parts() -> (Campaign, Vec<Sample>) {
    let entries = [
        ("go/goroutine", Kind::Stackful),
        ("go/time-after-func", Kind::Timer),
        ("rust/tokio-spawn", Kind::Stackless),
        ("rust/tokio-current-thread", Kind::Stackless),
        ("rust/thread", Kind::Thread),
    ];
    let mut campaign = self::campaign(entries.iter().map(|(name, kind)| facts(name, *kind)).collect());
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

/// A run of work at `ns` nanoseconds per operation, after 20 ms of start-up.
fn worked(mut sample: Sample, cpus: u32, ns: f64, double: bool) -> Sample {
    if let Some(plateau) = sample.memory.plateau.as_mut().filter(|_| double) {
        // Memory counts only in the first run of a pair.
        plateau.anon_bytes += 1_000_000;
        plateau.footprint_bytes += 1_000_000;
    }
    let operations = if double { 2_000_000 } else { 1_000_000 };
    let wall_s = Some(0.02 + operations as f64 * ns / 1e9);
    sample.workload = "spawn".into();
    (sample.cpus, sample.alive, sample.hold_s) = (Some(cpus), None, 0.0);
    sample.time.plateau_s = None;
    let cpu_s = wall_s.map(|s| s * 1.5);
    sample.work = Some(Box::new(Work { operations, double, wall_s, cpu_s, check: None }));
    sample
}

/// The same entries on another machine, a day later, with another version of Go, one entry less and one more.
pub fn elsewhere() -> (Campaign, Vec<Sample>) {
    let (mut campaign, mut samples) = everything();
    campaign.created_at = "2026-03-02T09:30:00Z".parse().unwrap();
    campaign.machine.hostname = "laptop".to_owned();
    campaign.machine.cpu = "Intel Core Ultra 7".to_owned();
    campaign.machine.cpus = 16;
    campaign.entries.retain(|facts| facts.name != "rust/tokio-current-thread");
    campaign.entries.push(facts("ruby/fiber", Kind::Stackful));
    for facts in campaign.entries.iter_mut().filter(|facts| facts.runtime == "go") {
        facts.version = Some("go 2.0".to_owned());
    }
    samples.retain(|sample| &*sample.entry != "rust/tokio-current-thread");
    for sample in &mut samples {
        let (numerator, denominator) = match &*sample.entry {
            "go/goroutine" => (80, 100),
            "rust/tokio-spawn" => (101, 100),
            _ => continue,
        };
        if let Some(plateau) = &mut sample.memory.plateau {
            plateau.footprint_bytes = plateau.footprint_bytes * numerator / denominator;
        }
    }
    // This entry was measured without cgroups there.
    for found in samples.iter_mut().filter(|sample| &*sample.entry == "rust/floor") {
        found.memory.source = MemorySource::Proc;
    }
    for tasks in [1, 10_000, 1_000_000] {
        samples.extend((1..=3).map(|repetition| sample("ruby/fiber", tasks, repetition, 9_000_000, 13_000)));
    }
    (campaign, samples)
}

/// Paths and types of the values in a JSON text, which programs that read it rely on. Keys of maps are data, so
/// they become `*`.
pub fn json_shape(text: &str) -> String {
    fn walk(value: &Value, path: &str, into: &mut BTreeSet<String>) {
        let of_type = match value {
            Value::Object(fields) => {
                let is_map = fields
                    .keys()
                    .any(|key| !key.chars().all(|c| c.is_ascii_lowercase() || "_0123456789".contains(c)));
                for (key, value) in fields {
                    walk(value, &format!("{path}.{}", if is_map { "*" } else { key }), into);
                }
                return;
            }
            Value::Array(items) => {
                return items.iter().for_each(|item| walk(item, &format!("{path}[]"), into));
            }
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(_) => "number",
            Value::String(_) => "string",
        };
        into.insert(format!("{}: {of_type}", path.trim_start_matches('.')));
    }
    let mut shape = BTreeSet::new();
    walk(&serde_json::from_str(text).expect("JSON"), "", &mut shape);
    shape.into_iter().collect::<Vec<_>>().join("\n")
}
