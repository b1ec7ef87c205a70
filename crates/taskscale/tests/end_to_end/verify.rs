//! `taskscale verify`, and results that are withdrawn.

use std::fs;

use serde_json::Value;

use crate::support::{FakeEntry, Finished, World, skipped_as_starved};

/// The folder of results that were submitted, with 1 MB of memory for each of 100 tasks.
const RESULTS: &str = "results/machine/day";

/// `None` if it was CPU-starved: incomplete results cannot be submitted.
fn world() -> Option<World> {
    let mut world = World::new(&[entry(1_000_000)]);
    world.env.insert("PATH".to_owned(), path(&world));
    if !measure(&world, "measured") {
        skipped_as_starved();
        return None;
    }
    taskscale(&world, "submit measured --to handed-in").expect_code(0);
    let place = &taskscale::submit::campaigns_below(&world.path("handed-in")).expect("results")[0];
    fs::create_dir_all(world.path("results/machine")).expect("a folder");
    fs::rename(place, world.path(RESULTS)).expect("results");
    Some(world)
}

/// Measures, and returns whether all runs were good, as they are unless they were CPU-starved.
fn measure(world: &World, folder: &str) -> bool {
    let finished = world.run(world.campaign(folder, "-n 1,100"));
    finished.expect_good(&world.runs(folder));
    // Other tests run in parallel, and the machine is not tested here.
    let file = world.path(folder).join("samples.jsonl");
    let text = fs::read_to_string(&file).expect("samples");
    let text = text
        .replace(",\"machine-busy\"", "")
        .replace("\"machine-busy\",", "")
        .replace("\"machine-busy\"", "");
    fs::write(file, text).expect("samples");
    finished.code() == 0
}

fn entry(bytes_per_task: u32) -> FakeEntry {
    FakeEntry::new("well", &format!("--anon-bytes-per-task {bytes_per_task}")).program("fake-entry")
}

fn path(world: &World) -> String {
    let own = std::iter::once(world.path("bin"));
    let inherited = std::env::var_os("PATH").unwrap_or_default();
    let joined = std::env::join_paths(own.chain(std::env::split_paths(&inherited))).expect("a path");
    joined.into_string().expect("text")
}

fn taskscale(world: &World, args: &str) -> Finished {
    let mut command = world.command(&args.split_whitespace().collect::<Vec<_>>());
    command.current_dir(world.path(""));
    world.run(command)
}

fn verification(world: &World) -> Value {
    let text = fs::read_to_string(world.path(RESULTS).join("verification.json")).expect("a record");
    serde_json::from_str(&text).expect("JSON")
}

#[test]
fn verification_agrees_only_for_the_submitted_program() {
    let Some(world) = world() else { return };
    let dry = taskscale(&world, &format!("verify {RESULTS} --seed 7 --dry-run"));
    dry.expect_code(0);
    assert!(dry.stdout.contains("-w sleep -n 1,100 -r 3"), "{}", dry.stdout);

    let verified = taskscale(&world, &format!("verify {RESULTS} --seed 7"));
    if world.any_starved("") {
        return skipped_as_starved();
    }
    verified.expect_code(0);
    let record = verification(&world);
    assert_eq!(record["cases"][0]["agrees"], true, "{record}");
    let checked = taskscale(&world, "submit --check results");
    assert!(checked.stdout.contains("submitted, verified"), "{}", checked.stdout);
    taskscale(&world, "site results -o site").expect_code(0);
    assert!(
        fs::read_to_string(world.path("site/index.html")).expect("a page").contains("submitted, verified")
    );
    // A submission cannot include a record.
    let new = taskscale(&world, &format!("submit --check {RESULTS} --new --to elsewhere"));
    new.expect_code(1);
    assert!(new.stdout.contains("only curators add it"), "{}", new.stdout);

    // Twice the memory: a program other than the submitted one.
    fs::write(world.manifest(), world.manifest_of(&[entry(2_000_000)])).expect("a manifest");
    let verified = taskscale(&world, &format!("verify {RESULTS} --seed 8"));
    if world.any_starved("") {
        return skipped_as_starved();
    }
    verified.expect_code(1);
    assert_eq!(verification(&world)["cases"][0]["agrees"], false);

    // Results that changed after they were submitted are not verified.
    let file = world.path(RESULTS).join("samples.jsonl");
    let text = fs::read_to_string(&file).expect("samples");
    fs::write(&file, text.replacen("\"repetition\":1", "\"repetition\": 1", 1)).expect("samples");
    taskscale(&world, &format!("verify {RESULTS} --seed 7")).expect_code(2);
}

#[test]
fn withdrawn_results_keep_a_page_with_the_reason() {
    let Some(world) = world() else { return };
    if !measure(&world, "other") {
        return skipped_as_starved();
    }
    taskscale(&world, "submit other").expect_code(0);
    taskscale(&world, &format!("submit --withdraw {RESULTS}")).expect_code(2);
    let mut command = world.command(&["submit", "--withdraw", RESULTS, "--reason", "It was <invented>."]);
    command.current_dir(world.path(""));
    world.run(command).expect_code(0);
    let left: Vec<_> = fs::read_dir(world.path(RESULTS)).expect("a folder").flatten().collect();
    assert_eq!(left.len(), 1, "{left:?}");

    taskscale(&world, "site results -o site").expect_code(0);
    let page = fs::read_to_string(world.path("site/campaigns/machine/day.html")).expect("a page");
    assert!(page.contains("It was &lt;invented&gt;."), "{page}");
    let start = fs::read_to_string(world.path("site/index.html")).expect("a page");
    assert!(start.contains("Withdrawn:") && start.contains("campaigns/machine/day.html"), "{start}");
}
