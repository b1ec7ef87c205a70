//! taskscale without its repository measures from its built-in catalog, keeps builds and removes them.

use std::fs;
use std::path::Path;

use taskscale::campaign::{NotReady, prepare};
use taskscale::catalog::{Catalog, embedded_name, select};
use taskscale::record;
use taskscale::scaffold::LANGUAGES;
use taskscale::toolchain::{Attend, Cache};

use crate::support::installed::{Installed, said};
use crate::support::{skipped, was_starved};

fn builds(cache: &Path) -> usize {
    Cache::at(cache).kept_builds().unwrap().len()
}

/// Whether a run in a results folder was CPU-starved.
fn starved(folder: &Path) -> bool {
    let samples = record::load(folder).expect("a campaign").samples;
    record::last_attempts(&samples).into_iter().any(|run| was_starved(run))
}

#[test]
fn an_installed_binary_uses_its_embedded_catalog() {
    let installed = Installed::new();
    let unpacked = installed.path("home/.cache/taskscale/catalogs").join(embedded_name());
    let mut doctor = installed.command(&["doctor"]);
    // Without toolchains, so that no version command runs.
    doctor.env("PATH", installed.path("bin"));
    let (code, stdout, stderr) = said(doctor);
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains(" (embedded)"), "{stdout}");
    // Version commands of toolchains may leave other files.
    assert!(!installed.path("home/.cache/taskscale").exists(), "doctor unpacks the catalog");
    let (code, stdout, stderr) = installed.run(&["list", "rust/thread", "rust/floor"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains("rust/thread") && stdout.contains("rust/floor"), "{stdout}");
    assert_eq!(stderr, format!("catalog: {} (embedded)\n", unpacked.display()));

    let (code, stdout, stderr) =
        installed.run(&["run", "rust/floor", "-n", "10", "-r", "1", "-o", "out", "--format", "json"]);
    assert_eq!(code, i32::from(starved(&installed.path("here/out"))), "{stderr}");
    assert!(stdout.contains("rust/floor"), "{stdout}");
    assert!(installed.path("here/out/samples.jsonl").is_file());
    let cache = installed.path("home/.cache/taskscale");
    assert_eq!(builds(&cache), 1);

    // Nothing is old yet.
    let (code, stdout, stderr) = installed.run(&["clean"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.starts_with("freed 0 B (0 of 2) in "), "{stdout}");
    assert_eq!(builds(&cache), 1);

    // A build of other sources, and a catalog of another version.
    let old = cache.join("builds/rust/0123456789abcdef");
    fs::create_dir_all(&old).unwrap();
    fs::write(old.join("program"), vec![1; 3 << 20]).unwrap();
    fs::create_dir(cache.join("catalogs/0.0.1-abc")).unwrap();
    let (code, stdout, _) = installed.run(&["clean", "--dry-run"]);
    assert_eq!(code, 0);
    assert!(stdout.contains("would remove builds of rust (0123456789abcdef): 3.00 MiB\n"), "{stdout}");
    assert!(stdout.contains("would remove catalog 0.0.1-abc: "), "{stdout}");
    assert!(stdout.contains("\nwould free 3.") && stdout.contains(" MiB (2 of 4) in "), "{stdout}");
    assert!(old.exists(), "a dry run removes nothing");
    let (code, stdout, _) = installed.run(&["clean"]);
    assert_eq!(code, 0);
    assert!(stdout.contains("\nfreed 3.") && !old.exists(), "{stdout}");
    assert!(!cache.join("catalogs/0.0.1-abc").exists() && unpacked.is_dir());
    assert_eq!(builds(&cache), 1);

    let (code, stdout, _) = installed.run(&["clean", "--all"]);
    assert_eq!(code, 0);
    assert!(stdout.contains("(2 of 2)"), "{stdout}");
    assert!(builds(&cache) == 0 && !unpacked.exists());
    assert!(installed.path("here/out/samples.jsonl").is_file(), "campaigns are not touched");
}

/// The first and the last installed version of runtimes, and two versions of a library.
#[test]
fn installed_versions_are_measured_side_by_side() {
    let installed = Installed::new();
    let (code, stdout, stderr) = installed.run(&["versions", "--json", "node", "python"]);
    assert_eq!(code, 0, "{stderr}");
    let all: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    let mut words = vec!["rust/tokio-spawn@tokio=1.28,latest".to_owned()];
    for (of, entry) in
        all.as_array().unwrap().iter().zip(["node/promise-timeout", "python/asyncio-create-task"])
    {
        let versions = of["installed"].as_array().unwrap().iter().filter_map(|one| one["version"].as_str());
        match versions.collect::<Vec<_>>()[..] {
            [first, .., last] => words.push(format!("{entry}@{first},{last}")),
            _ => skipped(&format!("only one version of {} is installed: {of}", of["runtime"])),
        }
    }
    let words = words.iter().map(String::as_str);
    let words: Vec<&str> = ["run", "-o", "out", "-n", "1,100", "--quick"].into_iter().chain(words).collect();
    // Cached across test runs, as tokio takes most of a minute to build.
    let mut command = installed.command(&words);
    command.env("TASKSCALE_CACHE", concat!(env!("CARGO_TARGET_TMPDIR"), "/cache"));
    let (code, stdout, stderr) = said(command);
    let folder = installed.path("here/out");
    assert_eq!(code, i32::from(starved(&folder)), "{stdout}{stderr}");
    let loaded = record::load(&folder).unwrap();
    assert_eq!(loaded.campaign.entries.len(), 2 * (words.len() - 6), "{stderr}");
    for sample in loaded.samples {
        let (name, version) = sample.versions.first_key_value().expect("a version");
        let asked = sample.entry.rsplit(['@', '=']).next().unwrap_or_default();
        assert!(version.starts_with(asked), "{name} {version}: {}", sample.entry);
        assert!(sample.version.as_ref().is_some_and(|receipt| receipt.contains(&**version)), "{sample:?}");
    }
}

/// A runtime that is not installed is reported as skipped. With TASKSCALE_REQUIRE=all that is a failure.
#[test]
#[ignore = "nightly: builds and checks a program in each language"]
fn programs_created_by_new_pass_check() {
    let installed = Installed::new();
    let names: Vec<&str> =
        LANGUAGES.iter().map(|language| language.names.first().map_or("perl", String::as_str)).collect();
    for name in &names {
        // Only some workloads, as each takes seconds: one more if builds are quick, and the one with a library.
        let workloads = match *name {
            "c" | "go" | "node" | "python" => "sleep,spawn,ring",
            "rust" => "sleep,spawn,map",
            _ => "sleep,spawn",
        };
        let (code, _, stderr) =
            installed.run(&["new", &format!("{name}/my-tasks"), "-w", workloads, "--catalog", "mine"]);
        assert_eq!(code, 0, "{name}: {stderr}");
    }
    let catalog = Catalog::load(&installed.path("here/mine")).unwrap();
    let all = select(&catalog, &["@all".into()], &[]).unwrap();
    let unattended = Attend { stop: &|| false, waiting: &|_| () };
    for entry in prepare(&Cache::at(installed.path("probe")), &all.programs, &unattended, |_| {}) {
        match &entry.command {
            Ok(_) => {}
            Err(NotReady::NoToolchain(why)) => skipped(&format!("{}: {why}", entry.facts.name)),
            Err(why) => panic!("{}: {}", entry.facts.name, why.reason()),
        }
    }
    // In three parts in parallel, as programs mostly wait.
    std::thread::scope(|scope| {
        for (part, names) in names.chunks(names.len().div_ceil(3)).enumerate() {
            let installed = &installed;
            scope.spawn(move || {
                let mut command = installed.command(&["check", "--catalog", "mine", "--quiet"]);
                command.args(names).env("TASKSCALE_LOCK", installed.path(&format!("lock{part}")));
                // Package managers use their usual caches.
                command.envs(std::env::var_os("HOME").map(|home| ("HOME", home)));
                command.env("TASKSCALE_CACHE", installed.path("cache"));
                let (code, stdout, stderr) = said(command);
                let found = |severity| -> Vec<&str> {
                    stdout.lines().filter(|line| line.trim_start().starts_with(severity)).collect()
                };
                // On a busy machine, a check can remain undecided, which is an error.
                let errors = found("error");
                let by_the_machine =
                    |line: &&str| line.contains("[unconfirmed]") && line.ends_with("on a busy machine");
                assert!(errors.iter().all(by_the_machine), "{stdout}\n{stderr}");
                assert_eq!(code, i32::from(!errors.is_empty()), "{stdout}\n{stderr}");
                // The only warnings are about text that is still to be written.
                let is_asked = |line: &&str| line.contains("`why` is not written yet");
                assert!(found("warning").iter().all(is_asked), "{stdout}");
            });
        }
    });
}
