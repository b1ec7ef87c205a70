//! The page of a report: made by `taskscale` from campaigns on the disk, and looked at in a real browser.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use taskscale_measure::Measurement;

use crate::support::{FakeEntry, World, skipped};
use taskscale::catalog::{Kind, Shape, Style};
use taskscale::record::{
    self, Campaign, Cpu, EntryFacts, Hold, LimitHit, Machine, Memory, MemorySource, Plan, Plateau, Sample,
    Source, Status, Time, Warning, Work,
};

const HOSTILE: &str = "evil/\u{1b}[2J<b>x</b></script><img src=x onerror=window.harm=1>\u{202e}";

fn facts(name: &str, kind: Kind) -> EntryFacts {
    let runtime = name.split('/').next().unwrap_or_default().to_owned();
    EntryFacts {
        name: name.to_owned(),
        workload: None,
        title: name.to_owned(),
        runtime_title: runtime.clone(),
        version: Some(format!("{runtime} 1.0")),
        runtime,
        url: "https://example.org".to_owned(),
        kind,
        parallel: true,
        style: Style::Idiomatic,
        fan_out: None,
        reference: false,
        posts: true,
        unverified: None,
        why: "for tests".to_owned(),
        notes: vec![],
        unavailable: None,
        build: vec![vec!["make".into(), "all the rest".into()]],
        run: vec!["{out}/sleep".into()],
        env: BTreeMap::new(),
        digest: Some("5a1e0c39d7b24f66".into()),
        sources: vec![],
        program_digest: None,
    }
}

fn campaign(entries: Vec<EntryFacts>, tasks: &[u64], repetitions: u32) -> Campaign {
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

/// A run that was ok, of a program of `base` bytes and `per_task` bytes for each task.
fn sample(entry: &str, tasks: u64, repetition: u32, base: u64, per_task: u64) -> Sample {
    let footprint = (base + per_task * tasks) * (98 + 2 * u64::from(repetition % 3)) / 100;
    let launch = 0.001 + tasks as f64 * 0.8e-6 * (1.0 + 0.1 * f64::from(repetition));
    let kernel = footprint / 4;
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
            ..Measurement::of_status("2026-03-01T12:00:01Z".parse().unwrap(), Status::Ok)
        },
        command: [entry.to_owned(), tasks.to_string(), "3".to_owned()].into(),
        version: Some("x 1.0".into()),
        load_command: None,
        campaign: None,
        params: BTreeMap::new(),
        cpus: None,
    }
}

fn fell(mut sample: Sample, status: Status, reason: &str) -> Sample {
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

/// Of everything that can happen, one; and an entry whose every text means harm.
fn everything() -> (Campaign, Vec<Sample>) {
    let entries = vec![
        facts("go/goroutine", Kind::Stackful),
        facts("rust/floor", Kind::Timer),
        facts("rust/thread", Kind::Thread),
        facts("rust/tokio-spawn", Kind::Stackless),
        facts("rust/tokio-current-thread", Kind::Stackless),
        facts("go/time-after-func", Kind::Timer),
        facts("go/goroutine-in-a-name-of-which-no-end-is-to-be-seen", Kind::Stackful),
        facts("kotlin/coroutine", Kind::Stackless),
        facts(HOSTILE, Kind::Process),
    ];
    let mut campaign = campaign(entries, &[1, 10_000, 1_000_000], 3);
    let go = &mut campaign.entries[0];
    go.unverified = Some("nobody has run it".into());
    go.notes = vec!["a note".into()];
    go.env.insert("GOGC".into(), "50".into());
    let text = "package main\n\nfunc main() { println(\"</script>\") }\n".to_owned();
    go.sources = vec![Source { path: "goroutine/main.go".into(), text }];
    campaign.entries[1].reference = true;
    campaign.entries[4].style = Style::Tuned;
    campaign.entries[4].parallel = false;
    campaign.entries[7].version = None;
    campaign.entries[7].unavailable = Some("kotlinc is not installed: https://kotlinlang.org".to_owned());
    let harm = "<img src=x onerror=window.harm=1>";
    let evil = &mut campaign.entries[8];
    (evil.why, evil.runtime_title) = (harm.into(), harm.into());
    evil.url = "javascript:window.harm=1".into();
    evil.notes = vec![harm.into(), "\u{202e}</script><script>window.harm=1</script>".into()];
    evil.version = Some(harm.into());
    evil.sources = vec![Source { path: "x/main.rs".into(), text: format!("// {harm}</script>\n{HOSTILE}") }];
    evil.env.insert("<b>x</b>".into(), harm.into());
    campaign.machine.cpu = format!("AMD EPYC {harm}");

    let mut samples = Vec::new();
    for tasks in [1, 10_000, 1_000_000] {
        for repetition in 1..=3 {
            let ok = |entry: &str, base, per_task| sample(entry, tasks, repetition, base, per_task);
            samples.push(ok("go/goroutine", 3_400_000, 2_650));
            samples.push(ok("rust/floor", 900_000, 16));
            samples.push(match tasks {
                1_000_000 => {
                    let why = "32,751 of 1,000,000 threads could be started: kernel.threads-max is 62,000";
                    let mut hit = fell(ok("rust/thread", 0, 0), Status::Limit, why);
                    let lift = Some("sysctl -w kernel.threads-max=2000000".to_owned());
                    hit.limit = Some(Box::new(LimitHit {
                        name: "kernel.threads-max".to_owned(),
                        value: 62_000,
                        lift,
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
            let mut evil = fell(ok(HOSTILE, 0, 0), Status::Crashed, &format!("\u{1b}]0;owned\u{7}{harm}"));
            evil.stderr_tail = Some(format!("{harm}</script>\u{2028}"));
            evil.command = [harm.into()].into();
            samples.push(evil);
        }
    }
    (campaign, samples)
}

/// One campaign of three parts: tasks that sleep, and work on one CPU and on two.
fn of_three_parts() -> (Campaign, Vec<Sample>) {
    let entries = [facts("go/goroutine", Kind::Stackful), facts("rust/tokio-spawn", Kind::Stackless)];
    let names = entries.clone().map(|facts| facts.name);
    let mut campaign = campaign(entries.to_vec(), &[1, 10_000], 3);
    let on = |cpus| Plan {
        workload: "spawn".into(),
        cpus: Some(cpus),
        shape: Shape::Work,
        operation: Some("a task started, ended and joined".into()),
        tasks: vec![1, 1_000],
        ..campaign.plan.clone()
    };
    campaign.further_plans = vec![on(1), on(2)];
    let mut samples = Vec::new();
    for repetition in 1..=3 {
        for (place, entry) in (1_u32..).zip(&names) {
            samples.extend([1, 10_000].map(|tasks| sample(entry, tasks, repetition, 2_000_000, 400)));
            for (cpus, tasks) in [(1, 1), (1, 1_000), (2, 1), (2, 1_000)] {
                let ns = f64::from(place * 250 / cpus + repetition);
                let run = |double| worked(sample(entry, tasks, repetition, 2_000_000, 0), cpus, ns, double);
                samples.extend([false, true].map(run));
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
    (sample.time.plateau_s, sample.cpu.plateau_s) = (None, None);
    sample.work =
        Some(Box::new(Work { operations, double, wall_s, cpu_s: wall_s.map(|s| s * 1.5), check: None }));
    sample
}

/// A hundred entries at five numbers of tasks, ten times each.
fn large() -> (Campaign, Vec<Sample>) {
    let kinds = [Kind::Stackless, Kind::Stackful, Kind::Thread, Kind::Future];
    let name = |at: usize| format!("language{}/entry-{at}", at % 12);
    let entries = (0..100)
        .map(|at| {
            let mut facts = facts(&name(at), kinds[at % kinds.len()]);
            let text = "fn main() {\n    println!(\"a program of the usual length\");\n}\n".repeat(25);
            facts.sources = vec![Source { path: format!("entry-{at}/main.rs"), text }];
            facts
        })
        .collect();
    let tasks = [1, 1_000, 10_000, 100_000, 1_000_000];
    let mut samples = Vec::new();
    for repetition in 1..=10 {
        for tasks in tasks {
            for at in 0..100 {
                let (base, per_task) = (1_000_000 + 400_000 * at as u64, 100 + 37 * (at as u64 % 29));
                samples.push(sample(&name(at), tasks, repetition, base, per_task));
            }
        }
    }
    (campaign(entries, &tasks, 10), samples)
}

/// A campaign's folder, as a run would have left it.
fn store(folder: &Path, (campaign, samples): &(Campaign, Vec<Sample>)) {
    let mut store = record::Store::create(folder, campaign).expect("a folder");
    // Not one by one: each is synced to the disk.
    drop(store.append(&samples[0]));
    let lines: Vec<String> = samples.iter().map(|sample| serde_json::to_string(sample).unwrap()).collect();
    fs::write(folder.join("samples.jsonl"), lines.join("\n") + "\n").expect("samples");
}

/// The page that `taskscale report` makes of campaigns.
fn reported(world: &World, name: &str, campaigns: &[(&str, &(Campaign, Vec<Sample>))]) -> PathBuf {
    let page = world.path(&format!("{name}.html"));
    let mut args = vec!["report".to_owned()];
    for (folder, campaign) in campaigns {
        store(&world.path(folder), campaign);
        args.push(world.path(folder).display().to_string());
    }
    args.extend(["--format", "html", "-o"].map(str::to_owned));
    args.push(page.display().to_string());
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let finished = world.run(world.command(&args));
    finished.expect_code(0);
    assert!(finished.stdout.is_empty(), "{}", finished.stdout);
    page
}

/// A site of two campaigns on two machines, with the catalogue and the documents of the repository.
fn site(world: &World, all: &(Campaign, Vec<Sample>)) {
    store(&world.path("results/my machine #1/everything"), all);
    let mut parts = of_three_parts();
    parts.0.machine.cpu = "Another".into();
    store(&world.path("results/parts"), &parts);
    let [results, out, catalog] = [world.path("results"), world.path("site"), project().join("../runtimes")]
        .map(|path| path.display().to_string());
    world.run(world.command(&["site", &results, "-o", &out, "--catalog", &catalog])).expect_code(0);
}

fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../report")
}

/// Whether the page's own tests can run here; says what is missing where not.
fn can_run(browser: bool) -> bool {
    let node = Command::new("node").arg("--version").output().is_ok_and(|output| output.status.success());
    let chromium = ["chromium", "chromium-browser", "google-chrome"]
        .iter()
        .any(|program| Path::new("/usr/bin").join(program).exists());
    let missing = if !node {
        "node is not installed"
    } else if !project().join("node_modules/esbuild").exists() {
        "the page's tools are not installed: npm ci in report/"
    } else if browser && !chromium && std::env::var_os("CHROMIUM").is_none() {
        "Chromium is not installed: apt install chromium"
    } else {
        return true;
    };
    skipped(missing);
    false
}

#[track_caller]
fn node(args: &[&str], pages: Option<&Path>) {
    let mut command = Command::new("node");
    command.args(args).current_dir(project());
    command.envs(pages.map(|pages| ("TASKSCALE_PAGES", pages)));
    let output = command.output().expect("node starts");
    let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(output.status.success(), "node {args:?}:\n{}\n{}", said[0], said[1]);
    println!("{}", said[0]);
}

#[test]
fn a_run_ends_with_a_page() {
    let world = World::new(&[FakeEntry::new("goroutine", ""), FakeEntry::new("thread", "--fault failed:1")]);
    let finished = world.run(world.campaign("out", "-n 2"));
    let page = world.path("out/report.html");
    finished.expect_code(1).expect_said(&format!("report: {}", page.display()));
    let text = fs::read_to_string(&page).unwrap();
    assert!(text.starts_with("<!doctype html>") && text.contains("fake/goroutine"), "{}", text.len());
    assert!(!text.contains("@@TASKSCALE"));
    assert!(!world.path("out/report.html.new").exists());
    // The same from the stored campaign, on standard output.
    let folder = world.path("out").display().to_string();
    let again = world.run(world.command(&["report", &folder, "--format", "html"]));
    again.expect_code(0);
    assert_eq!(again.stdout, text);
    world.assert_nothing_left();
}

#[test]
fn a_page_that_cannot_be_written_costs_nothing_else() {
    let world = World::new(&[FakeEntry::new("goroutine", "")]);
    world.run(world.campaign("out", "-n 2 -r 1")).expect_code(0);
    let page = world.path("out/report.html");
    fs::remove_file(&page).unwrap();
    fs::create_dir(&page).unwrap();
    let finished = world.run(world.campaign("out", "-n 2 -r 1"));
    finished.expect_code(0).expect_said("warning: no page (").expect_said("--format html -o FILE");
    assert!(finished.stdout.contains("fake/goroutine"), "{}", finished.stdout);
    assert_eq!(world.runs("out").len(), 1);
    let folder = world.path("out").display().to_string();
    let file = world.path("none/page.html").display().to_string();
    let refused = world.run(world.command(&["report", &folder, "--format", "html", "-o", &file]));
    refused.expect_code(1).expect_said("-o: cannot create").expect_said("none/page.html.new");
    world.assert_nothing_left();
}

#[test]
#[ignore = "needs `npm ci` in report/"]
fn the_model_of_the_page() {
    if can_run(false) {
        node(&["test.mjs", "data"], None);
    }
}

#[test]
#[ignore = "needs `npm ci` in report/"]
fn the_page_in_a_browser() {
    if !can_run(true) {
        return;
    }
    let world = World::new(&[]);
    let all = everything();
    let page = reported(&world, "everything", &[("bench", &all)]);
    let text = fs::read_to_string(&page).unwrap();
    assert!(!text.contains("<img") && !text.contains("<b>x</b>"));

    let large = large();
    assert_eq!(large.1.len(), 5_000);
    reported(&world, "large", &[("large", &large)]);

    let mut other = all.clone();
    other.0.machine.hostname = "elsewhere".into();
    for sample in &mut other.1 {
        if let Some(plateau) = &mut sample.memory.plateau {
            plateau.anon_bytes += plateau.footprint_bytes / 10;
            plateau.footprint_bytes += plateau.footprint_bytes / 10;
        }
    }
    let several = reported(&world, "several", &[("first", &all), ("second", &other), ("third", &all)]);
    assert!(fs::read_to_string(several).unwrap().contains(r#""campaign":"second""#));

    reported(&world, "parts", &[("of-parts", &of_three_parts())]);
    site(&world, &all);

    if let Some(kept) = std::env::var_os("TASKSCALE_KEEP_PAGES").map(PathBuf::from) {
        // To be looked at, or to work on the page with: see report/README.md.
        fs::create_dir_all(&kept).unwrap();
        for name in ["everything.html", "large.html", "several.html", "parts.html", "site"] {
            let copied = Command::new("cp").arg("-r").args([&world.path(name), &kept]).status();
            assert!(copied.expect("cp starts").success());
        }
    }
    node(&["test.mjs", "browser"], Some(&world.path("")));
}
