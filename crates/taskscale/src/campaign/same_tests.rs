//! Which changes keep a campaign from being resumed.

use std::path::Path;

use super::plan_digest;
use crate::record::{
    Campaign, Conditions, EntryFacts, Hold, Machine, MemorySource, Plan, Sample, Source, test_campaign,
    test_facts, test_sample,
};

fn entry(name: &str) -> EntryFacts {
    EntryFacts {
        version: Some("x 1".into()),
        digest: Some("1".into()),
        program_digest: Some("11".into()),
        sources: vec![Source { path: "a/main.x".into(), text: "1".into() }],
        ..test_facts(name)
    }
}

fn campaign() -> Campaign {
    let plan = Plan::of_holds(
        "sleep",
        vec!["x/a".into(), "x/b".into()],
        vec![1, 1_000_000],
        2,
        Hold::Chosen { plateau_s: 1.0 },
    );
    Campaign {
        taskscale: "1.0".into(),
        machine: Machine {
            hostname: "here".into(),
            kernel: "6.1".into(),
            cpus: 2,
            memory_bytes: 8 << 30,
            transparent_huge_pages: Some("madvise".into()),
            ..Machine::default()
        },
        plan_digest: plan_digest(&plan, &[]),
        plan,
        entries: vec![entry("x/a"), entry("x/b")],
        id: Some("1".into()),
        conditions: Some(Conditions {
            memory_source: Some(MemorySource::CgroupV1),
            memory_cap_bytes: Some(300 << 20),
            time_cap_s: None,
            clients_elsewhere: false,
        }),
        ..test_campaign()
    }
}

/// A change of the campaign that is to be resumed.
type CampaignEdit<'a> = &'a dyn Fn(&mut Campaign);

/// The error of resuming `then` after `change`, or an empty text.
fn said(then: &Campaign, samples: &[Sample], change: CampaignEdit) -> String {
    let mut now = campaign();
    // Only the conditions that the user set.
    let source = Some(MemorySource::CgroupV1);
    now.conditions = Some(Conditions { memory_source: source, ..Conditions::default() });
    change(&mut now);
    then.check_same(samples, &now, Path::new("DIR")).err().map(|error| error.to_string()).unwrap_or_default()
}

#[test]
fn a_changed_plan_machine_program_or_method_is_refused() {
    let then = campaign();
    assert_eq!(said(&then, &[], &|_| {}), "");
    fn conditions(now: &mut Campaign) -> &mut Conditions {
        now.conditions.get_or_insert_default()
    }
    let cases: [(CampaignEdit, &str); 21] = [
        (&|now| now.plan.tasks = vec![1], "tasks were 1,1000000, now 1"),
        (&|now| now.plan.entries = vec!["x/a".into()], "x/b"),
        (&|now| now.plan.repetitions = 5, "repetitions were 2, now 5"),
        (&|now| now.plan.hold = Hold::Fixed { seconds: 10 }, "chosen for a plateau of 1 s, now 10 s"),
        (
            &|now| now.plan.hold = Hold::Chosen { plateau_s: 0.5 },
            "plateau of 1 s, now chosen for a plateau of 0.5 s",
        ),
        (&|now| now.machine.hostname = "there".into(), "hostname was here, now there"),
        (&|now| now.machine.kernel = "6.2".into(), "kernel was 6.1, now 6.2"),
        (&|now| now.machine.cpus = 1, "CPUs was 2, now 1"),
        (&|now| now.machine.memory_bytes = 4 << 30, "memory was 8.00 GiB, now 4.00 GiB"),
        (&|now| now.machine.transparent_huge_pages = Some("always".into()), "was madvise, now always"),
        (&|now| now.taskscale = "1.1".into(), "taskscale was 1.0, now 1.1"),
        (&|now| conditions(now).memory_source = Some(MemorySource::Proc), "memory was cgroup-v1, now proc"),
        (
            &|now| conditions(now).memory_cap_bytes = Some(2 << 20),
            "was 300 MiB, now 2.00 MiB (leave out --memory-cap",
        ),
        (&|now| conditions(now).time_cap_s = Some(3.0), "was automatic, now 3.00 s (leave out --timeout"),
        (
            &|now| conditions(now).clients_elsewhere = true,
            "clients were on the same machine, now on another machine",
        ),
        (&|now| now.entries[0].version = Some("x 2".into()), "x/a was x 1, now x 2"),
        (
            &|now| {
                now.entries[0].program_digest = Some("2222".into());
                now.entries[0].sources[0].text = "2".into();
            },
            "the program of x/a has changed (a/main.x)",
        ),
        (
            &|now| {
                now.entries[0].program_digest = Some("2222".into());
                now.entries[0].run = vec!["y".into()];
            },
            "the program of x/a has changed (its commands)",
        ),
        (
            &|now| {
                now.entries[0].program_digest = Some("2222".into());
                now.entries[0].env = [("A".to_owned(), "1".to_owned())].into();
            },
            "the program of x/a has changed (its environment variables)",
        ),
        (&|now| now.entries[0].program_digest = Some("2222".into()), "(digest was 11, now 2222)"),
        (
            &|now| {
                now.entries[0].program_digest = None;
                now.entries[0].digest = Some("2".into());
            },
            "(digest was 1, now 2)",
        ),
    ];
    for (change, expected) in cases {
        let said = said(&then, &[], change);
        assert!(said.contains(expected), "{said:?} lacks {expected:?}");
    }
}

#[test]
fn irrelevant_changes_do_not_prevent_resuming() {
    let then = campaign();
    let cases: [CampaignEdit; 6] = [
        // The kernel reserved one more page at this boot.
        &|now| now.machine.memory_bytes -= 4096,
        // Some other program of the runtime's folder was changed.
        &|now| now.entries[0].digest = Some("2".into()),
        &|now| now.machine.limits = [("ulimit -n".to_owned(), 20_000)].into(),
        &|now| now.machine.cpu_governor = Some("performance".into()),
        &|now| {
            now.entries[0].version = None;
            now.entries[0].digest = None;
            now.entries[0].program_digest = None;
        },
        // The recorded cap, given again.
        &|now| now.conditions.get_or_insert_default().memory_cap_bytes = Some(300 << 20),
    ];
    for (index, change) in cases.into_iter().enumerate() {
        assert_eq!(said(&then, &[], change), "", "case {index}");
    }
}

#[test]
fn older_results_resume_unless_samples_contradict() {
    let mut then = campaign();
    then.conditions = None;
    then.id = None;
    then.taskscale = "0.9".into();
    for entry in &mut then.entries {
        entry.program_digest = None;
    }
    // Dropped by an older taskscale, as the toolchain was missing.
    then.entries[0].version = None;
    then.entries[0].digest = None;
    let mut sample = test_sample("x/a", 1);
    sample.version = Some("x 1".into());
    sample.memory.source = MemorySource::CgroupV1;
    sample.memory.cap_bytes = Some(300 << 20);
    let samples = [sample];
    assert_eq!(said(&then, &samples, &|_| {}), "");
    let time = |now: &mut Campaign| now.conditions.get_or_insert_default().time_cap_s = Some(3.0);
    assert_eq!(said(&then, &samples, &time), "", "it is not known what it was");
    let source =
        |now: &mut Campaign| now.conditions.get_or_insert_default().memory_source = Some(MemorySource::Proc);
    assert!(said(&then, &samples, &source).contains("cgroup-v1, now proc"));
    let cap = |now: &mut Campaign| now.conditions.get_or_insert_default().memory_cap_bytes = Some(1 << 20);
    assert!(said(&then, &samples, &cap).contains("300 MiB, now 1.00 MiB"));
    let version = |now: &mut Campaign| now.entries[0].version = Some("x 2".into());
    assert!(said(&then, &samples, &version).contains("x/a was x 1, now x 2"));
    // Without a program digest, only the digest of the whole folder can be compared.
    let digest = |now: &mut Campaign| now.entries[1].digest = Some("2".into());
    assert!(said(&then, &samples, &digest).contains("the program of x/b has changed"));
    // If samples have different caps, the recorded cap is unknown.
    let mut other = samples[0].clone();
    other.memory.cap_bytes = Some(1);
    assert_eq!(said(&then, &[samples[0].clone(), other], &cap), "");
}

/// The facts of a missing toolchain are kept: if it returns in another version, resuming fails.
#[test]
fn facts_of_an_entry_stay_while_its_toolchain_is_missing() {
    let mut then = campaign();
    let away = |version: Option<&str>| {
        let mut facts = entry("x/a");
        facts.version = version.map(str::to_owned);
        facts.digest = None;
        facts.program_digest = None;
        facts.unavailable = Some("X is not installed".into());
        facts
    };
    then.update_entries(vec![away(None), entry("x/b")]);
    let kept = EntryFacts { unavailable: Some("X is not installed".into()), ..entry("x/a") };
    assert_eq!(then.entries, [kept, entry("x/b")]);
    let newer = |now: &mut Campaign| {
        now.entries[0].version = Some("x 2".into());
        now.entries[0].digest = Some("2".into());
        now.entries[0].program_digest = Some("22".into());
    };
    assert!(said(&then, &[], &newer).contains("x/a was x 1, now x 2"));
    // It returns unchanged.
    then.update_entries(vec![entry("x/a"), entry("x/b")]);
    assert_eq!(then.entries[0], entry("x/a"));
    // A toolchain that was never there may appear in any version.
    then.entries[0] = away(None);
    assert_eq!(said(&then, &[], &newer), "");
}
