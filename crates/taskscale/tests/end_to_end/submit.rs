//! `taskscale submit` as a stranger runs it: results are measured, submitted and checked, then changed in each
//! way and refused.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::{FakeEntry, Finished, World, skipped_as_starved};
use serde_json::Value;

/// A name that no text has by chance.
const USER: &str = "annaliese";

/// A world with a campaign `measured`, as an idle machine would have measured it. `None`, reported as skipped, if it
/// was CPU-starved.
fn world() -> Option<World> {
    let mut world = World::new(&[
        // By name, like entries of the catalog: a path would be one of this machine.
        FakeEntry::new("well", "").program("fake-entry"),
        FakeEntry::new("crash", "--fault crash:plateau").program("fake-entry"),
    ]);
    let path = std::env::join_paths(
        std::iter::once(world.path("bin"))
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
    );
    world.env.insert("PATH".to_owned(), path.expect("a path").into_string().expect("text"));
    world.env.insert("USER".to_owned(), USER.to_owned());
    measure(&world, "measured").then_some(world)
}

/// False, and reported as skipped, if it was CPU-starved.
fn measure(world: &World, folder: &str) -> bool {
    world.run(world.campaign(folder, "-n 1,100")).expect_code(1);
    if world.any_starved(folder) {
        skipped_as_starved();
        return false;
    }
    let mut samples = samples(&world.path(folder));
    for sample in &mut samples {
        // The machine is not tested here.
        let warnings = sample["warnings"].as_array_mut().expect("warnings");
        warnings.retain(|warning| warning != "machine-busy" && warning != "cpu-starved");
        if sample["status"] != "ok" {
            let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
            sample["stderr_tail"] = format!("{USER}@{host}: /home/{USER}/x: no such file").into();
        }
    }
    write_samples(&world.path(folder), &samples);
    true
}

fn samples(folder: &Path) -> Vec<Value> {
    let text = fs::read_to_string(folder.join("samples.jsonl")).expect("samples");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn write_samples(folder: &Path, samples: &[Value]) {
    let lines: String = samples.iter().map(|sample| format!("{sample}\n")).collect();
    fs::write(folder.join("samples.jsonl"), lines).expect("samples");
}

/// `taskscale submit ARGS` in the world's folder.
fn submit(world: &World, args: &str) -> Finished {
    let args: Vec<&str> = std::iter::once("submit").chain(args.split_whitespace()).collect();
    let mut command = world.command(&args);
    command.current_dir(world.path(""));
    world.run(command)
}

/// The folders below results/.
fn handed_in(world: &World) -> Vec<PathBuf> {
    taskscale::submit::campaigns_below(&world.path("results")).unwrap_or_default()
}

#[test]
fn submitted_results_are_checked_and_edits_refused() {
    let Some(world) = world() else { return };
    let tried = submit(&world, "measured --dry-run");
    tried.expect_code(0);
    tried.expect_said("nothing was written");
    assert!(!world.path("results").exists());

    let done = submit(&world, "measured");
    done.expect_code(0);
    done.expect_said("git add results/");
    for said in ["### taskscale: sleep on ", "`fake/well`", "memory source", "Removed: "] {
        assert!(done.stdout.contains(said), "{said}: {}", done.stdout);
    }
    let folders = handed_in(&world);
    let [folder] = folders.as_slice() else { panic!("{folders:?}") };
    for args in ["--check results", "--check results --new"] {
        submit(&world, args).expect_code(0);
    }

    // Nothing identifies the machine, and both files match their schemas.
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let campaign: Value =
        serde_json::from_slice(&fs::read(folder.join("campaign.json")).unwrap()).expect("JSON");
    assert_ne!(campaign["machine"]["hostname"], host.as_str());
    assert_eq!(campaign["origin"]["by"], "handed-in");
    for file in ["campaign.json", "samples.jsonl"] {
        let text = fs::read_to_string(folder.join(file)).unwrap();
        let home = world.path("").display().to_string();
        for name in [USER, "/home/", &home] {
            assert!(!text.contains(name), "{name} in {file}: {text}");
        }
    }
    assert!(valid("campaign", &campaign) && samples(folder).iter().all(|sample| valid("sample", sample)));

    let refused = |args: &str, rules: &[&str]| {
        let finished = submit(&world, args);
        finished.expect_code(1);
        for rule in rules {
            assert!(finished.stdout.contains(&format!("└ {rule}: ")), "{rule}: {}", finished.stdout);
        }
    };
    refused("measured", &["once"]);
    let whole = samples(folder);
    let bytes = fs::read(folder.join("samples.jsonl")).unwrap();
    let spoilt = |rules: &[&str], change: &dyn Fn(&mut Vec<Value>)| {
        let mut samples = whole.clone();
        change(&mut samples);
        write_samples(folder, &samples);
        refused("--check results", rules);
        fs::write(folder.join("samples.jsonl"), &bytes).unwrap();
    };
    let ok = whole.iter().position(|sample| sample["status"] == "ok").expect("a good run");
    let less = |value: &mut Value| *value = (value.as_u64().expect("bytes") - 4096).into();
    spoilt(&["seal", "figures"], &|samples| {
        less(&mut samples[ok]["memory"]["plateau"]["footprint_bytes"]);
    });
    // A value that is edited with all its parts is consistent: only the checksum shows it.
    spoilt(&["seal"], &|samples| {
        less(&mut samples[ok]["memory"]["plateau"]["footprint_bytes"]);
        less(&mut samples[ok]["memory"]["plateau"]["anon_bytes"]);
    });
    // Removes every attempt, as a busy machine makes several.
    spoilt(&["seal", "whole"], &|samples| {
        let run = |sample: &Value| [sample["entry"].clone(), sample["tasks"].clone()];
        samples.retain(|sample| run(sample) != run(&whole[ok]));
    });
    if !measure(&world, "other") {
        return;
    }
    let others = samples(&world.path("other"));
    spoilt(&["seal", "lines"], &|samples| samples.push(others[0].clone()));
    submit(&world, "--check results").expect_code(0);

    // The second results of a day get their own folder. The same results twice are refused.
    submit(&world, "other --by project").expect_code(0);
    assert_eq!(handed_in(&world).len(), 2);
    submit(&world, "--check results").expect_code(0);
    fs::create_dir_all(world.path("results/copy")).unwrap();
    for file in ["campaign.json", "samples.jsonl"] {
        fs::copy(folder.join(file), world.path("results/copy").join(file)).unwrap();
    }
    refused("--check results", &["once"]);
    world.assert_nothing_left();
}

#[test]
fn incomplete_or_foreign_results_are_refused() {
    let Some(world) = world() else { return };
    let findings = |args: &str, code: i32| -> Vec<String> {
        let finished = submit(&world, args);
        finished.expect_code(code);
        let result: Value = serde_json::from_str(&finished.stdout).expect("JSON");
        let findings = result["campaigns"][0]["findings"].as_array().cloned().unwrap_or_default();
        findings.iter().map(|finding| finding["rule"].as_str().expect("a rule").to_owned()).collect()
    };
    // An entry's own lines of the manifest are part of its program.
    let manifest = fs::read_to_string(world.manifest()).unwrap();
    fs::write(world.manifest(), manifest.replace("kind = \"stackless\"", "kind = \"timer\"")).unwrap();
    assert_eq!(findings("measured --json", 1), ["programs"]);
    fs::write(world.manifest(), manifest).unwrap();

    // So are files that no command names: only the digest shows them, on the machine that measured.
    let shared = world.path("catalog/fake/shared.lock");
    fs::write(&shared, "newer").unwrap();
    assert_eq!(findings("measured --json", 1), ["programs"]);
    fs::remove_file(&shared).unwrap();

    let whole = samples(&world.path("measured"));
    // With all attempts of it.
    let run = |sample: &Value| ["entry", "tasks", "repetition"].map(|key| sample[key].clone());
    let rest: Vec<Value> = whole.iter().filter(|sample| run(sample) != run(&whole[0])).cloned().collect();
    write_samples(&world.path("measured"), &rest);
    assert_eq!(findings("measured --json", 1), ["whole"]);
    write_samples(&world.path("measured"), &whole);

    let done = submit(&world, &format!("measured --json --to {}", world.path("results").display()));
    done.expect_code(0);
    let result: Value = serde_json::from_str(&done.stdout).expect("JSON");
    assert_eq!(result["written"], true);
    let text = result["pull_request"].as_str().expect("text");
    assert!(text.contains("fake/well") && text.contains("| results/"), "{text}");
    assert!(!text.contains(&world.path("").display().to_string()), "the clone's place: {text}");

    // Results without a checksum are refused on submission.
    assert!(findings("--check measured --new --json", 1).contains(&"origin".to_owned()));
    for (args, said) in [
        ("nowhere", "nowhere"),
        ("--check bin", "no results in bin"),
        ("--check nowhere", "nowhere"),
        ("", "<DIR>"),
        ("measured --new", "--new"),
    ] {
        let finished = submit(&world, args);
        finished.expect_code(2);
        finished.expect_said(said);
    }
    world.assert_nothing_left();
}

/// Runs .ci/new-results, as CI does, on the branch `campaign` of a repository in this world.
fn checked_by_ci(repository: &Path, world: &World) -> Finished {
    let taskscale = world.command(&[]);
    let mut command = std::process::Command::new(repository.join(".ci/new-results"));
    command.arg("main").arg(taskscale.get_program()).args(taskscale.get_args()).env_clear();
    command.envs(taskscale.get_envs().filter_map(|(name, value)| Some((name, value?))));
    world.run_plain(command)
}

#[test]
fn ci_checks_results_added_by_a_branch() {
    if !crate::support::on_path("git") {
        return crate::support::skipped("no git");
    }
    let Some(world) = world() else { return };
    let repository = world.path("repository");
    fs::create_dir_all(repository.join(".ci")).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.ci/new-results");
    fs::copy(script, repository.join(".ci/new-results")).unwrap();
    let git = |args: &str| {
        let mut git = std::process::Command::new("git");
        git.arg("-C").arg(&repository).args(["-c", "user.name=x", "-c", "user.email=x@example.org"]);
        assert!(git.args(args.split(' ')).output().expect("git").status.success(), "git {args}");
    };
    let handed_in = |by: &str| {
        let results = repository.join("results");
        let _ = fs::remove_dir_all(&results);
        submit(&world, &format!("measured --by {by} --to {}", results.display())).expect_code(0);
        taskscale::submit::campaigns_below(&results).unwrap().remove(0)
    };
    git("init --quiet --initial-branch main");
    fs::create_dir(repository.join("results")).unwrap();
    fs::write(repository.join("results/README.md"), "results").unwrap();
    git("add .");
    git("commit --quiet -m base");
    git("switch --quiet -c campaign");
    let refused = |what: &str, rule: Option<&str>| {
        git("add --all");
        git(&format!("commit --quiet --allow-empty -m {what}"));
        let done = checked_by_ci(&repository, &world);
        done.expect_code(i32::from(rule.is_some()));
        let said = rule.map_or("passed".to_owned(), |rule| format!("└ {rule}: "));
        assert!(done.stdout.contains(&said), "{what}: {}", done.stdout);
    };
    handed_in("handed-in");
    refused("well", None);
    let folder = handed_in("project");
    refused("the-project's", Some("origin"));
    // A foreign program, and no origin.
    let path = folder.join("campaign.json");
    let mut campaign: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    campaign.as_object_mut().unwrap().remove("origin");
    campaign["entries"][0]["run"] = serde_json::json!(["/bin/cheat"]);
    fs::write(&path, campaign.to_string()).unwrap();
    refused("cheat", Some("origin"));
    refused("cheat-again", Some("programs"));
    fs::remove_dir_all(repository.join("results")).unwrap();
    git("add --all");
    git("commit --quiet -m none");
    let none = checked_by_ci(&repository, &world);
    none.expect_code(0);
    assert!(none.stdout.contains("no results are submitted"), "{}", none.stdout);
}

fn valid(name: &str, value: &Value) -> bool {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schema").join(format!("{name}.schema.json"));
    let schema = serde_json::from_slice(&fs::read(&path).expect("a schema")).expect("JSON");
    jsonschema::is_valid(&schema, value)
}
