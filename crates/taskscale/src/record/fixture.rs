//! Samples, campaigns and facts for tests.

use super::*;

/// A sample that is ok, for tests that use samples.
pub(crate) fn test_sample(entry: &str, tasks: u64) -> Sample {
    Sample {
        schema: SCHEMA_VERSION,
        entry: entry.into(),
        workload: "sleep".into(),
        tasks,
        hold_s: 2.0,
        repetition: 1,
        attempt: 1,
        measurement: taskscale_measure::Measurement {
            alive: Some(tasks),
            done: Some(tasks),
            plateau_from: Some(PlateauFrom::Protocol),
            exit_code: Some(0),
            threads: Some(1),
            processes: Some(1),
            ..test_measurement(Status::Ok)
        },
        versions: Default::default(),
        load_command: None,
        command: ["/x".to_owned(), tasks.to_string(), "2".to_owned()].into(),
        version: Some("x 1.0".into()),
        campaign: None,
        params: std::collections::BTreeMap::new(),
        cpus: None,
    }
}

/// A measurement of which only the status is known.
pub(crate) fn test_measurement(status: Status) -> taskscale_measure::Measurement {
    let memory = Memory::default();
    serde_json::from_value(serde_json::json!({
        "started_at": Timestamp::UNIX_EPOCH, "status": status, "time": {}, "cpu": {}, "memory": memory,
    }))
    .unwrap()
}

/// A campaign of one run, for tests that read campaigns.
pub(crate) fn test_campaign() -> Campaign {
    Campaign {
        schema: SCHEMA_VERSION,
        taskscale: "0".into(),
        created_at: Timestamp::UNIX_EPOCH,
        command: Vec::new(),
        machine: Machine::default(),
        plan_digest: String::new(),
        further_plans: Vec::new(),
        plan: Plan::of_holds("sleep", vec!["x/a".into()], vec![1], 1, Hold::Fixed { seconds: 10 }),
        seed: 1,
        entries: Vec::new(),
        id: None,
        conditions: None,
        origin: None,
    }
}

/// The facts of an entry of no particular runtime, for the same tests.
pub(crate) fn test_facts(name: &str) -> EntryFacts {
    let runtime = name.split('/').next().unwrap_or_default();
    EntryFacts {
        name: name.to_owned(),
        title: name.to_owned(),
        runtime: runtime.to_owned(),
        runtime_title: runtime.to_owned(),
        url: "https://example.org".to_owned(),
        kind: crate::catalog::Kind::Stackless,
        parallel: true,
        posts: true,
        why: "for tests".to_owned(),
        version: Some(format!("{runtime} 1.0")),
        ..EntryFacts::default()
    }
}
