//! `taskscale explain` against programs whose objects are known (`attacks/known.c`).

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::support::{World, skipped, skipped_as_starved};

/// Builds the program. `None`, reported as skipped, without a compiler.
fn known(world: &World, flags: &[&str]) -> Option<PathBuf> {
    let program = world.path("bin/known");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/end_to_end/attacks/known.c");
    let built =
        Command::new("cc").args(["-O1", "-pthread"]).args(flags).args([source, "-o"]).arg(&program).status();
    if !built.is_ok_and(|status| status.success()) {
        skipped("cc does not compile attacks/known.c here");
        return None;
    }
    Some(program)
}

/// The document that `taskscale explain` prints. Other tests add or remove a few pages, so small tasks must be
/// many. `None`, reported as skipped, if a run was CPU-starved.
fn explained(world: &World, program: &PathBuf, what: &str, adapter: &str, code: i32) -> Option<Value> {
    let folder = world.path(&format!("out/{what}-{adapter}"));
    let tasks = if what == "blocks" { "20k,80k" } else { "1k,4k" };
    let words = ["explain", "-n", tasks, "-r", "2", "--format", "json", "--adapter", adapter, "-o"];
    let mut command = world.command(&words);
    command.arg(&folder).arg("--").arg(program).args([what, "{tasks}"]);
    let finished = world.run(command);
    if world.any_starved("out") {
        skipped_as_starved();
        return None;
    }
    finished.expect_code(code);
    let sheets: Value =
        serde_json::from_str(&finished.stdout).unwrap_or_else(|error| panic!("{error}: {finished:?}"));
    Some(sheets[0].clone())
}

fn bytes(sheet: &Value, name: &str) -> f64 {
    let rows = sheet["rows"].as_array().unwrap_or_else(|| panic!("no rows: {sheet:#}"));
    let row = rows.iter().find(|row| row["name"] == name);
    row.and_then(|row| row["bytes"].as_f64()).unwrap_or_else(|| panic!("no row {name}: {sheet:#}"))
}

/// Bytes of all kernel rows, as cgroup v2 has more of them than v1.
fn kernel_bytes(sheet: &Value) -> f64 {
    let rows = sheet["rows"].as_array().into_iter().flatten().filter(|row| row["group"] == "kernel");
    rows.filter_map(|row| row["bytes"].as_f64()).sum()
}

fn assert_near(sheet: &Value, name: &str, expected: f64, share: f64) {
    let found = bytes(sheet, name);
    assert!((found - expected).abs() <= share * expected, "{name}: {found}, expected {expected}: {sheet:#}");
}

#[test]
fn blocks_of_malloc_are_explained_to_the_byte() {
    let world = World::new(&[]);
    let Some(program) = known(&world, &[]) else { return };
    let Some(sheet) = explained(&world, &program, "blocks", "malloc", 0) else { return };
    // Blocks of 100 and 1,000 bytes have 104 and 1,000 usable ones.
    assert_near(&sheet, "blocks of 104 B", 100.0, 0.0001);
    assert_near(&sheet, "blocks of 1000 B", 1000.0, 0.0001);
    assert_near(&sheet, "headers of malloc", 16.0, 0.01);
    let unexplained = sheet["unexplained"]["bytes"].as_f64().unwrap();
    let slope = sheet["slope"]["bytes"].as_f64().unwrap();
    assert!(unexplained.abs() < 0.02 * slope, "{sheet:#}");
    world.assert_nothing_left();
}

#[test]
fn mappings_stacks_and_pipes_are_explained() {
    let world = World::new(&[]);
    let Some(program) = known(&world, &[]) else { return };
    let Some(sheet) = explained(&world, &program, "mapped", "none", 0) else { return };
    assert_near(&sheet, "anonymous mappings of 8 KiB", 8192.0, 0.02);
    let Some(sheet) = explained(&world, &program, "threads", "none", 0) else { return };
    // The part of its stack that a waiting thread has touched.
    assert_near(&sheet, "thread stacks", 8192.0, 0.02);
    // A pipe has a page for its content, and objects for its ends: 2,439 bytes by /proc/slabinfo of Linux 6.18.
    let Some(sheet) = explained(&world, &program, "pipes", "none", 0) else { return };
    let kernel = kernel_bytes(&sheet);
    assert!((4096.0..2.0 * 4096.0).contains(&kernel), "{kernel}: {sheet:#}");
    let [unexplained, slope] = ["unexplained", "slope"].map(|of| sheet[of]["bytes"].as_f64().unwrap());
    assert!(unexplained.abs() < 0.02 * slope, "{sheet:#}");
    world.assert_nothing_left();
}

#[test]
fn static_programs_are_explained_without_malloc_hooks() {
    let world = World::new(&[]);
    let Some(program) = known(&world, &["-static"]) else { return };
    let Some(sheet) = explained(&world, &program, "blocks", "malloc", 1) else { return };
    assert_near(&sheet, "heap (brk)", 1128.0, 0.02);
    assert!(sheet["notes"].to_string().contains("a static program"), "{sheet:#}");
    world.assert_nothing_left();
}
