//! Results as a run would have stored them, without a run.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use taskscale::catalog::Kind;
use taskscale::record::{
    self, Campaign, Cpu, EntryFacts, Hold, Machine, Memory, MemorySource, Plan, Plateau, Sample, Status, Time,
};
use taskscale_measure::Measurement;

pub fn facts(name: &str, kind: Kind) -> EntryFacts {
    let runtime = name.split('/').next().unwrap_or_default().to_owned();
    EntryFacts {
        name: name.to_owned(),
        title: name.to_owned(),
        runtime_title: runtime.clone(),
        version: Some(format!("{runtime} 1.0")),
        runtime,
        url: "https://example.org".to_owned(),
        kind,
        parallel: true,
        posts: true,
        why: "for tests".to_owned(),
        build: vec![vec!["make".into(), "all the rest".into()]],
        run: vec!["{out}/sleep".into()],
        digest: Some("5a1e0c39d7b24f66".into()),
        ..EntryFacts::default()
    }
}

pub fn campaign(entries: Vec<EntryFacts>, tasks: &[u64], repetitions: u32) -> Campaign {
    Campaign {
        schema: 1,
        taskscale: "0.1.0".to_owned(),
        created_at: "2026-03-01T12:00:00Z".parse().unwrap(),
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
            limits: BTreeMap::from([("kernel.threads-max".to_owned(), 62_000)]),
            warnings: vec!["swap is on: memory figures may be too low".to_owned()],
            ..Machine::default()
        },
        further_plans: Vec::new(),
        plan: Plan::of_holds(
            "sleep",
            entries.iter().map(|facts| facts.name.clone()).collect(),
            tasks.to_vec(),
            repetitions,
            Hold::Chosen { plateau_s: 1.0 },
        ),
        plan_digest: "5a1e0c39d7b24f6689aa00ff".to_owned(),
        seed: 42,
        entries,
        id: None,
        conditions: None,
        origin: None,
    }
}

/// A campaign and its samples.
pub type Results = (Campaign, Vec<Sample>);

/// A run that was ok, of a program of `base` bytes and `per_task` bytes for each task.
pub fn sample(entry: &str, tasks: u64, repetition: u32, base: u64, per_task: u64) -> Sample {
    let footprint = (base + per_task * tasks) * (98 + 2 * u64::from(repetition % 3)) / 100;
    let launch = 0.001 + tasks as f64 * 0.8e-6 * (1.0 + 0.1 * f64::from(repetition));
    let kernel = footprint / 4;
    let known: Measurement = serde_json::from_value(serde_json::json!({
        "started_at": "2026-03-01T12:00:01Z", "status": Status::Ok, "time": {}, "cpu": {}, "memory": Memory::default(),
    }))
    .unwrap();
    Sample {
        schema: 1,
        entry: entry.into(),
        workload: "sleep".into(),
        tasks,
        hold_s: 3.0,
        repetition,
        attempt: 1,
        measurement: Measurement {
            alive: Some(tasks),
            done: Some(tasks),
            exit_code: Some(0),
            threads: Some(3),
            processes: Some(1),
            time: Time {
                launch_s: Some(launch),
                plateau_s: Some(2.123456),
                drain_s: Some(launch / 2.0),
                wall_s: Some(2.123456 + 1.5 * launch),
                plateau_read_at_s: Some(2.5),
                reading_s: None,
            },
            cpu: Cpu {
                user_s: Some(2.0 * launch),
                system_s: Some(launch),
                launch_s: Some(2.2 * launch),
                plateau_s: Some(0.0),
                drain_s: Some(0.8 * launch),
            },
            memory: Memory {
                connected: None,
                loaded: None,
                source: MemorySource::CgroupV2,
                plateau: Some(Plateau {
                    footprint_bytes: footprint,
                    anon_bytes: footprint / 2,
                    file_bytes: footprint - footprint / 2 - kernel,
                    kernel_bytes: kernel,
                    kernel_stack_bytes: Some(kernel / 2),
                    page_tables_bytes: Some(kernel / 4),
                    slab_bytes: Some(kernel / 8),
                    sock_bytes: Some(0),
                    rss_bytes: Some(footprint - kernel),
                    ..Plateau::default()
                }),
                peak_bytes: Some(footprint / 100 * 105),
                rss_peak_bytes: Some(footprint / 100 * 75),
                cap_bytes: None,
            },
            ..known
        },
        command: [entry.to_owned(), tasks.to_string(), "3".to_owned()].into(),
        version: Some("x 1.0".into()),
        versions: Default::default(),
        load_command: None,
        campaign: None,
        params: BTreeMap::new(),
        cpus: None,
    }
}

/// The same run with this status and reason.
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

/// Results of entries with these bytes per task. `None` crashes.
pub fn results(entries: &[(&str, Kind, Option<u64>)], tasks: &[u64], repetitions: u32) -> Results {
    let facts = entries.iter().map(|(name, kind, _)| facts(name, *kind)).collect();
    let mut samples = Vec::new();
    for repetition in 1..=repetitions {
        for &tasks in tasks {
            samples.extend(entries.iter().map(|(name, _, per_task)| {
                let ok = sample(name, tasks, repetition, 1_000_000, per_task.unwrap_or_default());
                match per_task {
                    Some(_) => ok,
                    None => fell(ok, Status::Crashed, "killed by SIGSEGV"),
                }
            }));
        }
    }
    (campaign(facts, tasks, repetitions), samples)
}

/// Stores results in a folder, as a run would have left it.
pub fn store(folder: &Path, (campaign, samples): &Results) {
    let mut store = record::Store::claim(folder).expect("a folder");
    store.write_campaign(campaign).expect("campaign.json");
    // Not one by one, as each is synced to the disk.
    drop(store.append(&samples[0]));
    let lines: Vec<String> = samples.iter().map(|sample| serde_json::to_string(sample).unwrap()).collect();
    fs::write(folder.join("samples.jsonl"), lines.join("\n") + "\n").expect("samples");
}
