//! Checks real output against the published schemas.

use std::fs;
use std::path::Path;

use crate::support::{FakeEntry, World};

fn schema(name: &str) -> jsonschema::Validator {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schema").join(format!("{name}.schema.json"));
    let text = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let schema = serde_json::from_slice(&text).expect("the schema is JSON");
    jsonschema::validator_for(&schema).expect("the schema is one")
}

#[test]
fn results_match_their_schema() {
    let world = World::new(&[
        FakeEntry::new("well", "--say metric,rate,2.5,tasks/s"),
        FakeEntry::new("family", "--processes 1 --sockets 1"),
        FakeEntry::new("failed", "--fault failed:1 --fault escape-text"),
        FakeEntry::new("crash", "--fault crash:plateau"),
        FakeEntry::new("silent", "--fault close-stdout --fault exit:end:7"),
        FakeEntry::new("hang", "--fault hang:end --faults-from 1001"),
        FakeEntry::new("oom", "--fault oom --faults-from 1001"),
        FakeEntry::new("missing", "").program("/nowhere/at/all"),
    ]);
    world.run(world.campaign("out", "-n 1001 --memory-cap 64MiB --timeout 6s --format json")).expect_code(1);
    world.assert_nothing_left();
    let sample_schema = schema("sample");
    let lines = fs::read_to_string(world.path("out/samples.jsonl")).unwrap();
    assert!(lines.lines().count() >= 7, "{lines}");
    for line in lines.lines() {
        let sample: serde_json::Value = serde_json::from_str(line).unwrap();
        let errors: Vec<String> = sample_schema.iter_errors(&sample).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}\n{line}");
        // Unknown is absent or null, never 0 or -1.
        assert!(!line.contains(":-1,") && !line.contains(":-1}"), "{line}");
    }
    let campaign = fs::read(world.path("out/campaign.json")).unwrap();
    let campaign: serde_json::Value = serde_json::from_slice(&campaign).unwrap();
    let errors: Vec<String> =
        schema("campaign").iter_errors(&campaign).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");

    // A schema that accepts anything would prove nothing.
    let mut wrong: serde_json::Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    wrong["tasks"] = "many".into();
    assert!(!sample_schema.is_valid(&wrong));
}

#[test]
fn results_of_other_programs_match_the_schema() {
    let world = World::new(&[]);
    let fake = world.fake().display().to_string();
    let folder = world.path("out").display().to_string();
    let args = ["measure", "-n", "2", "-r", "1", "-o", &folder, "--with", "echo alive {tasks}; sleep 100"];
    world
        .run(world.command(&[&args[..], &["--", &fake, "1", "100"]].concat()))
        .expect_good(&world.runs("out"));
    world.assert_nothing_left();
    let samples = fs::read_to_string(world.path("out/samples.jsonl")).unwrap();
    let campaign = fs::read_to_string(world.path("out/campaign.json")).unwrap();
    for (name, text) in [("sample", samples.lines().next().unwrap()), ("campaign", &campaign)] {
        let value: serde_json::Value = serde_json::from_str(text).unwrap();
        let errors: Vec<String> = schema(name).iter_errors(&value).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}");
        if name == "sample" {
            assert_eq!((&value["plateau_from"], &value["stopped"]), (&"load-line".into(), &true.into()));
        }
    }
}
