//! Decisions and verdicts are functions of a timeline: their code reads no clock, no file and no process.

use std::fs;
use std::path::Path;

const PURE: [&str; 14] = [
    "analyze.rs",
    "analyze",
    "causes.rs",
    "classify.rs",
    "classify_black_box.rs",
    "decide.rs",
    "decide",
    "evidence.rs",
    "limit_prediction.rs",
    "protocol.rs",
    "run_state.rs",
    "sampler.rs",
    "stderr_summary.rs",
    "timeline.rs",
];
const IMPURE: [&str; 9] = [
    "std::fs",
    "std::time::Instant",
    "SystemTime",
    "now_ns()",
    "procfs::status",
    "rustix",
    "libc::open",
    "env::",
    "thread::",
];

fn files(path: &Path) -> Vec<std::path::PathBuf> {
    match path.is_dir() {
        true => fs::read_dir(path).unwrap().flat_map(|child| files(&child.unwrap().path())).collect(),
        false => vec![path.to_owned()],
    }
}

#[test]
fn decisions_and_verdicts_are_pure() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for path in PURE.iter().flat_map(|name| files(&source.join(name))) {
        let text = fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        let found = IMPURE.iter().find(|word| code.contains(*word));
        assert_eq!(found, None, "{}", path.display());
    }
}
