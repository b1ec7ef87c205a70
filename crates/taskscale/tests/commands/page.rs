//! The page of a report: made by `taskscale` from stored campaigns, and tested in a real browser.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::stored::{Results, campaign, facts, fell, sample, store};
use crate::support::{World, skipped};
use taskscale::catalog::{Kind, Shape, Style};
use taskscale::record::{LimitHit, MemorySource, Plan, Sample, Source, Status, Warning, Work};

const HOSTILE: &str = "evil/\u{1b}[2J<b>x</b></script><img src=x onerror=window.harm=1>\u{202e}";

/// One of everything that can happen, and an entry with hostile texts only.
fn everything() -> Results {
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

/// One campaign of three series: tasks that sleep, and work on one CPU and on two.
fn of_three_parts() -> Results {
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

/// A run of work of `ns` nanoseconds per operation, plus 20 ms in each run.
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
fn large() -> Results {
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

/// The page that `taskscale report` makes of campaigns.
fn reported(world: &World, name: &str, campaigns: &[(&str, &Results)]) -> PathBuf {
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

/// A site of two campaigns on two machines, with the catalog and the documents of the repository.
fn site(world: &World, all: &Results) {
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

/// Whether the page's own tests can run here. If not, reports what is missing.
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
#[ignore = "needs `npm ci` in report/"]
fn page_model_passes_its_node_tests() {
    if can_run(false) {
        node(&["test.mjs", "data"], None);
    }
}

#[test]
#[ignore = "needs `npm ci` in report/"]
fn page_works_in_a_browser() {
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
        // To view them, or to work on the page: see report/README.md.
        fs::create_dir_all(&kept).unwrap();
        for name in ["everything.html", "large.html", "several.html", "parts.html", "site"] {
            let copied = Command::new("cp").arg("-r").args([&world.path(name), &kept]).status();
            assert!(copied.expect("cp starts").success());
        }
    }
    node(&["test.mjs", "browser"], Some(&world.path("")));
}
