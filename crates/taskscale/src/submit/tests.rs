//! Each refusal, on good campaigns of results/ that are then changed.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use strum::VariantArray;

use super::folder::place;
use super::*;
use crate::catalog::{Catalog, sources};
use crate::document::RenderOptions;
use crate::record::{
    self, By, Campaign, EntryFacts, Loaded, MemorySource, Origin, PlateauFrom, RejectedLine, Sample, Source,
    Status, Warning, test_facts,
};
use crate::report::Report;
use taskscale_load::Load;

pub(super) fn repository(inside: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(inside)
}

/// A campaign of 195 cases and 202 runs, one of them on a busy machine.
pub(super) fn posts() -> Loaded {
    record::load(&repository("results/2026-11-22-posts")).unwrap()
}

pub(super) fn reports(loaded: &Loaded) -> Vec<Report> {
    Report::of_parts(&loaded.campaign, &loaded.samples)
}

/// The violations of a campaign.
pub(super) fn examined(loaded: &Loaded, handed_in: bool) -> Vec<Violation> {
    examine(loaded, &reports(loaded), handed_in)
}

/// The badges of campaigns.
fn badges_of(campaigns: &[&Loaded]) -> Vec<Badge> {
    let reports: Vec<Vec<Report>> = campaigns.iter().map(|loaded| reports(loaded)).collect();
    let candidate = |(loaded, reports)| {
        let loaded: &&Loaded = loaded;
        let reports: &Vec<Report> = reports;
        Candidate { id: loaded.campaign.id.as_deref(), reports, verified: false }
    };
    badges(&campaigns.iter().zip(&reports).map(candidate).collect::<Vec<_>>())
}

fn rooms() -> Loaded {
    record::load(&repository("results/2026-11-23-rooms-10")).unwrap()
}

/// The rules that a campaign breaks after `change`.
#[track_caller]
fn broken(change: impl FnOnce(&mut Loaded)) -> Vec<&'static str> {
    let mut loaded = posts();
    assert_eq!(examined(&loaded, true), [], "good before");
    change(&mut loaded);
    let mut rules: Vec<&str> = examined(&loaded, true).iter().map(|finding| finding.rule.name()).collect();
    rules.dedup();
    rules
}

/// The rules that a campaign breaks after `change` of a sample of 10,000 tasks that was ok.
#[track_caller]
fn broken_sample(change: impl FnOnce(&mut Sample)) -> Vec<&'static str> {
    broken(|loaded| {
        let good = |sample: &&mut Sample| sample.status == Status::Ok && sample.tasks == 10_000;
        change(loaded.samples.iter_mut().find(good).unwrap());
    })
}

#[test]
fn repository_results_pass_submission_checks() {
    for folder in campaigns_below(&repository("results")).unwrap() {
        let loaded = record::load(&folder).unwrap();
        let handed_in = loaded.campaign.origin.is_some();
        assert_eq!(examined(&loaded, handed_in), [], "{}", folder.display());
    }
}

#[test]
fn contradictory_values_are_refused() {
    let changes: [fn(&mut Sample); 22] = [
        |sample| sample.time.wall_s = Some(0.0),
        |sample| sample.memory.plateau.as_mut().unwrap().footprint_bytes -= 4096,
        |sample| sample.memory.plateau.as_mut().unwrap().anon_bytes = u64::MAX,
        |sample| {
            let plateau = sample.memory.plateau.as_mut().unwrap();
            plateau.footprint_bytes += 1 << 40;
            plateau.anon_bytes += 1 << 40;
        },
        |sample| sample.memory.peak_bytes = Some(1_000),
        |sample| sample.memory.plateau.as_mut().unwrap().page_tables_bytes = Some(u64::MAX),
        |sample| sample.plateau_from = Some(PlateauFrom::Outside),
        |sample| sample.alive = None,
        |sample| sample.alive = Some(9_999),
        |sample| sample.alive = Some(10_001),
        |sample| sample.done = None,
        |sample| sample.done = Some(9_999),
        |sample| sample.failed = Some(1),
        |sample| sample.reason = Some("it rained".to_owned()),
        |sample| sample.status = Status::Partial,
        |sample| sample.exit_code = Some(1),
        |sample| (sample.stopped, sample.exit_code) = (true, None),
        |sample| sample.hold_s = 1_000.0,
        |sample| *sample.time.launch_s.as_mut().unwrap() /= 2.0,
        |sample| sample.time.reading_s = Some(-1.0),
        |sample| sample.cpu.user_s = Some(0.0),
        |sample| sample.cpu.user_s = Some(1e6),
    ];
    for (nth, change) in changes.into_iter().enumerate() {
        assert_eq!(broken_sample(change), ["figures"], "change {nth}");
    }
}

#[test]
fn contradictory_loads_are_refused() {
    let changes: [fn(&mut Load); 5] = [
        |load| load.connected -= 1,
        |load| load.open.as_mut().unwrap().achieved_per_s *= 1.1,
        |load| load.open.as_mut().unwrap().latency_from_send_us.as_mut().unwrap().p50 = 1e9,
        |load| load.open.as_mut().unwrap().latency_from_send_us.as_mut().unwrap().p50 = -1.0,
        |load| load.closed.as_mut().unwrap().per_s = 1e9,
    ];
    for (nth, change) in changes.into_iter().enumerate() {
        let mut loaded = record::load(&repository("results/2026-11-23-servers")).unwrap();
        assert_eq!(examined(&loaded, false), [], "good before");
        change(loaded.samples[0].load.as_mut().unwrap());
        let found = examined(&loaded, false);
        assert!(matches!(&found[..], [of] if of.rule == SubmissionRule::Figures), "change {nth}: {found:?}");
    }
}

#[test]
fn contradictory_operations_are_refused() {
    let catalog = Catalog::load(&repository("runtimes")).unwrap();
    for series in ["spawn", "ring", "map", "skynet"] {
        let mut loaded = record::load(&repository(&format!("results/2026-11-23-{series}"))).unwrap();
        assert_eq!((examined(&loaded, false), wrong_checks(&loaded.samples, &catalog)), (vec![], None));
        let doubled = |sample: &&mut Sample| sample.status == Status::Ok && sample.is_double();
        let sample = loaded.samples.iter_mut().find(doubled).unwrap();
        sample.work.as_mut().unwrap().operations += 1_000_001;
        sample.done = sample.done.map(|done| done + 1_000_001);
        let found =
            [examined(&loaded, false), Vec::from_iter(wrong_checks(&loaded.samples, &catalog))].concat();
        let found: Vec<&str> = found.iter().map(|of| of.what.split(" (").next().unwrap()).collect();
        assert_eq!(found, ["not twice the operations of its first run", "wrong `check`"], "{series}");
    }
}

#[test]
fn samples_that_differ_from_the_plan_are_refused() {
    assert_eq!(broken(|loaded| drop(loaded.samples.remove(0))), ["whole"]);
    assert!(broken(|loaded| loaded.samples.push(loaded.samples[0].clone())).contains(&"plan"), "twice");
    assert_eq!(broken_sample(|sample| sample.tasks = 20_000)[..2], ["plan", "whole"]);
    assert_eq!(broken(|loaded| loaded.campaign.plan.repetitions = 2)[0], "plan");
    let first_of_two = |sample: &Sample, all: &[Sample]| {
        let second = |other: &Sample| {
            (&other.entry, other.tasks, other.repetition, other.attempt)
                == (&sample.entry, sample.tasks, sample.repetition, 2)
        };
        sample.attempt == 1 && all.iter().any(second)
    };
    let dropped = broken(|loaded| {
        let at = loaded.samples.iter().position(|sample| first_of_two(sample, &loaded.samples)).unwrap();
        loaded.samples.remove(at);
    });
    assert_eq!(dropped, ["plan"], "the attempt before another");
    let never_ok = broken(|loaded| loaded.samples.retain(|sample| sample.status != Status::Ok));
    assert!(never_ok.contains(&"whole"));
}

#[test]
fn mixed_results_are_refused() {
    assert_eq!(broken_sample(|sample| sample.memory.source = MemorySource::Proc), ["alike"]);
    assert_eq!(broken_sample(|sample| sample.memory.cap_bytes = Some(1 << 30)), ["alike"]);
    assert_eq!(broken_sample(|sample| sample.memory.cap_bytes = None), ["alike"]);
    assert_eq!(broken_sample(|sample| sample.version = Some("x 2.0".into())), ["alike"]);
    let line = RejectedLine { number: 7, why: "it is of another".to_owned() };
    assert_eq!(broken(|loaded| loaded.rejected.push(line)), ["lines"]);
    // The order of runs contradicts their start times.
    assert!(broken(|loaded| loaded.samples.swap(3, 60)).contains(&"times"));
    // The clock was set back an hour before the campaign was resumed.
    let set_back = broken(|loaded| {
        for sample in &mut loaded.samples[100..] {
            let earlier = Duration::from_secs(sample.started_at.unix_s() - 3_600);
            let text = humantime::format_rfc3339(SystemTime::UNIX_EPOCH + earlier).to_string();
            sample.started_at = text.parse().unwrap();
        }
    });
    assert_eq!(set_back, Vec::<&str>::new());
}

#[test]
fn busy_machines_are_refused_in_submissions() {
    let busy = |loaded: &mut Loaded, runs: usize| {
        for sample in loaded.samples.iter_mut().filter(|sample| sample.attempt == 1).take(runs) {
            sample.warnings.push(Warning::MachineBusy);
        }
    };
    assert_eq!(broken(|loaded| busy(loaded, 30)), ["quiet"]);
    assert_eq!(broken(|loaded| busy(loaded, 3)), Vec::<&str>::new());
    let mut project = posts();
    busy(&mut project, 30);
    assert_eq!(examined(&project, false), [], "of the project, from before there was handing in");
}

#[test]
fn results_of_older_versions_cannot_be_submitted() {
    assert_eq!(broken(|loaded| loaded.campaign.conditions = None), ["lines"]);
    assert!(!examined(&record::load(&repository("results/2026-11-21-posts")).unwrap(), true).is_empty());
}

#[test]
fn submissions_are_anonymous() {
    let mut loaded = posts();
    loaded.campaign.machine.hostname = "ann-laptop".to_owned();
    loaded.campaign.command =
        ["/home/ann/bin/taskscale", "-o", "results/2026-11-24-ann-laptop"].map(str::to_owned).to_vec();
    loaded.campaign.machine.warnings = vec!["load on ann-laptop.local by ann".to_owned()];
    loaded.samples[0].stderr_tail = Some("ann@ann-laptop: /home/ann/x.py: no annex".to_owned());
    let left = names_left(&loaded.campaign, &loaded.samples).expect("a finding");
    assert_eq!(left.rule, SubmissionRule::Names);
    let identity = Identity { users: vec!["ann".to_owned(), "root".to_owned()], hosts: Vec::new() };
    let anonymized = anonymize(&loaded.campaign, &loaded.samples, &identity).unwrap();
    assert_eq!(names_left(&anonymized.campaign, &anonymized.samples), None);
    assert_eq!(anonymized.campaign.machine.hostname, "xeon-2-5ghz-2cpu");
    assert_eq!(anonymized.campaign.command, ["…/taskscale", "-o", "results/2026-11-24-xeon-2-5ghz-2cpu"]);
    assert_eq!(anonymized.campaign.machine.warnings, ["load on xeon-2-5ghz-2cpu.local by somebody"]);
    assert_eq!(
        anonymized.samples[0].stderr_tail.as_deref(),
        Some("somebody@xeon-2-5ghz-2cpu: …/x.py: no annex")
    );
    assert_eq!(anonymized.samples[1..], loaded.samples[1..], "all else is as it was");
    assert_eq!(
        anonymized.what,
        [
            "the host name (replaced by the class of the machine)",
            "paths of the machine in 2 records",
            "names of host and users in 3 texts"
        ]
    );
}

#[test]
fn programs_that_differ_from_the_catalog_are_refused() {
    let catalog = Catalog::load(&repository("runtimes")).unwrap();
    let (runtime, entry) = catalog.entry("rust/thread").unwrap();
    let recipe = &entry.workloads["sleep"];
    let facts = EntryFacts {
        title: entry.title.clone(),
        runtime_title: runtime.title.clone(),
        url: runtime.url.clone(),
        why: entry.why.clone(),
        notes: entry.notes.clone(),
        omitted: entry.omitted.clone(),
        kind: entry.kind,
        parallel: entry.parallel,
        style: entry.style,
        posts: !entry.posts.is_empty(),
        build: recipe.build.clone(),
        run: recipe.run.clone(),
        program_digest: Some("1".to_owned()),
        sources: sources(runtime, entry, "sleep")
            .into_iter()
            .map(|file| Source { path: file.path, text: file.text })
            .collect(),
        ..test_facts("rust/thread")
    };
    let samples = [record::test_sample("rust/thread", 1)];
    let said = |facts: EntryFacts, digest: Option<&str>| {
        let campaign = Campaign { entries: vec![facts], ..posts().campaign };
        let digest = digest.map(str::to_owned);
        changed_programs(&campaign, &samples, &catalog, |_, _, _, _| digest.clone())
            .map(|finding| finding.what)
            .unwrap_or_default()
    };
    assert_eq!(said(facts.clone(), None), "");
    assert_eq!(said(facts.clone(), Some("1")), "");
    assert!(said(facts.clone(), Some("2")).contains("a lock file, shared code"));
    let mut other = facts.clone();
    other.sources[0].text.push(' ');
    assert_eq!(said(other, None), "rust/thread (sleep): thread/src/bin/thread-sleep.rs differs");
    let mut other = facts.clone();
    other.run.push("--fast".to_owned());
    assert_eq!(said(other, None), "rust/thread (sleep): its `run` in runtime.toml differs");
    let other = EntryFacts { kind: crate::catalog::Kind::Timer, ..facts.clone() };
    assert!(said(other, None).contains("`kind`"));
    type Rewrite = (&'static str, fn(&mut EntryFacts));
    let rewritten: [Rewrite; 6] = [
        ("title", |facts| facts.title = "The best".to_owned()),
        ("title", |facts| facts.runtime_title = "The best".to_owned()),
        ("url", |facts| facts.url = "https://example.com".to_owned()),
        ("why", |facts| facts.why = "because".to_owned()),
        ("notes", |facts| facts.notes.push("see https://example.com".to_owned())),
        ("unverified", |facts| facts.unverified = Some("no".to_owned())),
    ];
    for (key, rewrite) in rewritten {
        let mut other = facts.clone();
        rewrite(&mut other);
        assert_eq!(said(other, None), format!("rust/thread (sleep): its `{key}` in runtime.toml differs"));
    }
    let other = EntryFacts { program_digest: None, ..facts.clone() };
    assert!(said(other, None).contains("digest"));
    let other = EntryFacts { workload: Some("sleep".to_owned()), ..facts.clone() };
    assert_eq!(said(other, None), "");
    // Entries that were not measured are not checked.
    let other = EntryFacts { name: "own/thing".to_owned(), ..facts };
    assert_eq!(said(other, None), "");
}

#[test]
fn entries_outside_the_catalog_are_refused() {
    let catalog = Catalog::load(&repository("runtimes")).unwrap();
    let campaign = Campaign { entries: vec![test_facts("own/thing")], ..posts().campaign };
    let samples = [record::test_sample("own/thing", 1)];
    let found = changed_programs(&campaign, &samples, &catalog, |_, _, _, _| None).expect("a finding");
    assert_eq!(found.what, "own/thing (sleep): not in the catalog");
}

#[test]
fn submissions_never_overwrite_and_edits_are_detected() {
    let results = tempfile::tempdir().unwrap();
    let Loaded { campaign, samples, .. } = rooms();
    let folder = write_submission(results.path(), &campaign, &samples, By::HandedIn).unwrap();
    assert_eq!(folder, results.path().join("xeon-2cpu/2026-11-23"));
    assert_eq!(folder, place(results.path(), &campaign));
    let again = write_submission(results.path(), &campaign, &samples, By::Project).unwrap();
    assert_eq!(again, results.path().join("xeon-2cpu/2026-11-23-2"), "never over another");
    assert_eq!(campaigns_below(results.path()).unwrap(), [folder.clone(), again]);
    let orphans = results.path().join("orphans");
    fs::create_dir(&orphans).unwrap();
    fs::write(orphans.join("samples.jsonl"), "").unwrap();
    assert!(campaigns_below(results.path()).unwrap().contains(&orphans), "none is overlooked");
    let there = read(&folder).unwrap();
    assert_eq!(there.checksum_ok, Some(true));
    assert_eq!(there.loaded.samples, samples);
    assert_eq!(Campaign { origin: None, ..there.loaded.campaign }, campaign);

    for (file, from, to) in [
        ("samples.jsonl", "\"repetition\":1", "\"repetition\":2"),
        ("samples.jsonl", "\n", "\n\n"),
        ("campaign.json", "\"cpus\": 2", "\"cpus\": 3"),
        ("campaign.json", "handed-in", "project"),
    ] {
        let path = folder.join(file);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{from}");
        fs::write(&path, text.replacen(from, to, 1)).unwrap();
        assert_eq!(read(&folder).unwrap().checksum_ok, Some(false), "{from} became {to}");
        fs::write(&path, text).unwrap();
    }
    assert_eq!(read(&folder).unwrap().checksum_ok, Some(true));
}

#[test]
fn badges_need_reproduction_and_consistency() {
    let of = |by: Option<By>, id: &str, change: &dyn Fn(&mut Loaded)| {
        let mut loaded = rooms();
        loaded.campaign.origin = by.map(|by| Origin { by, checksum: String::new() });
        loaded.campaign.id = Some(id.to_owned());
        change(&mut loaded);
        loaded
    };
    let handed_in = of(Some(By::HandedIn), "1", &|_| ());
    let badge = |other: &Loaded| badges_of(&[&handed_in, other])[0];
    assert_eq!(badges_of(&[&handed_in]), [Badge::HandedIn]);
    assert_eq!(badges_of(&[&rooms()]), [Badge::Project]);
    assert_eq!(badge(&of(None, "2", &|_| ())), Badge::Reproduced);
    assert_eq!(badge(&of(Some(By::Project), "2", &|_| ())), Badge::Reproduced);
    let another = of(Some(By::HandedIn), "2", &|_| ());
    assert_eq!(badge(&another), Badge::Consistent, "who handed in the other nobody knows");
    let project = of(None, "3", &|_| ());
    assert_eq!(badges_of(&[&handed_in, &another, &project])[..2], [Badge::Reproduced; 2]);
    assert_eq!(badge(&of(Some(By::HandedIn), "1", &|_| ())), Badge::HandedIn, "the same campaign");
    assert_eq!(badge(&of(None, "2", &|loaded| loaded.campaign.machine.cpus = 8)), Badge::HandedIn);
    let other_versions = |entries: usize, version: &dyn Fn(&str) -> String| {
        of(None, "2", &|loaded| {
            for entry in loaded.campaign.entries.iter_mut().take(entries) {
                entry.version = entry.version.as_deref().map(version);
            }
        })
    };
    let newer = |entries| badge(&other_versions(entries, &|_| "x 2.0".to_owned()));
    // Five cases: four of them are 80%.
    assert_eq!(
        [newer(1), newer(2)],
        [Badge::Reproduced, Badge::HandedIn],
        "other versions are other programs"
    );
    let spaced = other_versions(5, &|version| format!(" {} ", version.replace(' ', "  ")));
    assert_eq!(badge(&spaced), Badge::Reproduced, "a space is no version");
    let doubled = |runs: usize| {
        badge(&of(None, "2", &|loaded| {
            for sample in loaded.samples.iter_mut().take(runs) {
                sample.memory.plateau.as_mut().unwrap().footprint_bytes *= 2;
            }
        }))
    };
    assert_eq!([doubled(1), doubled(2)], [Badge::Reproduced, Badge::HandedIn]);
    let few = of(None, "2", &|loaded| loaded.samples.truncate(3));
    assert_eq!(badge(&few), Badge::HandedIn, "three of five cases are not 80% of all");
}

#[test]
fn pull_request_lists_entries_folder_and_outliers() {
    let Loaded { campaign, samples, .. } = rooms();
    let anonymized = anonymize(&campaign, &samples, &Identity::default()).unwrap();
    let place = place(Path::new("results"), &campaign);
    let sheet = pull_request(
        &anonymized.campaign,
        &anonymized.samples,
        &place,
        &anonymized.what,
        &["rust/thread, sleep, N = 1: 3 MiB, elsewhere 2 MiB (1 other result)".to_owned()],
    );
    let text = sheet.markdown();
    for entry in &anonymized.campaign.entries {
        assert!(text.contains(&format!("`{}`", entry.name)), "{}: {text}", entry.name);
    }
    for said in [&*place.display().to_string(), "elsewhere 2 MiB"] {
        assert!(text.contains(said), "{said}: {text}");
    }
}

#[test]
fn refusals_name_the_rule_and_the_finding() {
    let good = CheckedFolder {
        folder: "results/a".to_owned(),
        badge: Some(Badge::Reproduced),
        runs: 12,
        ..CheckedFolder::default()
    };
    let findings =
        SubmissionRule::VARIANTS.iter().map(|rule| Violation::new(*rule, "what was seen")).collect();
    let bad = CheckedFolder {
        folder: "results/b".to_owned(),
        badge: Some(Badge::HandedIn),
        findings,
        ..good.clone()
    };
    let text = checked(&[good, bad]).terminal(RenderOptions::default());
    for rule in SubmissionRule::VARIANTS {
        assert!(text.contains(&format!("└ {}: what was seen", rule.name())), "{}: {text}", rule.name());
    }
}
