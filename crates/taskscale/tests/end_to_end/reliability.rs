//! docs/reference/faults.md promises what the tests prove, and nothing else: its table of faults is generated
//! from the cases, and every test of a fault is named in it.
//!
//! `TASKSCALE_BLESS=1 cargo test -p taskscale --test end_to_end reliability` updates the table.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use regex_lite::Regex;

use crate::cases::{self, Batch, FaultCase};

const BEGIN: &str = "<!-- faults of programs: made by crates/taskscale/tests/end_to_end/reliability.rs -->\n";
const END: &str = "<!-- end of faults of programs -->\n";

fn document() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/faults.md")
}

fn table() -> String {
    let mut table = String::new();
    for batch in cases::ALL {
        table.push_str(&format!(
            "\n#### {}\n\n| a program that | status | reason, warnings |\n| --- | --- | --- |\n",
            batch.title
        ));
        table.extend(batch.cases.iter().map(|case| row(batch, case)));
    }
    table
}

fn row(batch: &Batch, case: &FaultCase) -> String {
    let mut told = Vec::new();
    if !case.reason.is_empty() {
        let tasks = Regex::new(&format!(r"\b{}\b", batch.tasks)).expect("a pattern");
        let reason = case.reason.replace('|', "\\|");
        let reason = tasks.replace_all(&reason, "N");
        told.push(format!("“{}”", reason.trim_end_matches("; stderr: ").trim_end_matches(": ")));
    }
    told.extend(case.warnings.iter().map(|warning| {
        let name = serde_json::to_value(warning).expect("a name");
        format!("warning `{}`", name.as_str().expect("a text"))
    }));
    format!("| {} | `{}` | {} |\n", case.what, case.status, told.join(", "))
}

#[test]
fn the_table_of_faults_matches_the_tests() {
    let text = fs::read_to_string(document()).expect("docs/reference/faults.md");
    let begin = text.find(BEGIN).expect("the mark where the table begins") + BEGIN.len();
    let end = text.find(END).expect("the mark where it ends");
    let due = format!("{}\n", table());
    if std::env::var_os("TASKSCALE_BLESS").is_some() {
        fs::write(document(), format!("{}{due}{}", &text[..begin], &text[end..]))
            .expect("docs/reference/faults.md");
    } else {
        assert!(text[begin..end] == due, "the table is not up to date: TASKSCALE_BLESS=1 writes it anew");
    }
}

/// The names of the tests in a module's source.
fn tests_of(module: &str, source: &str) -> BTreeSet<String> {
    let names =
        source.split("#[test]\n").skip(1).filter_map(|after| after.split_once("fn ")?.1.split_once('('));
    names.map(|(name, _)| format!("{module}::{name}")).collect()
}

#[test]
fn faults_document_lists_every_fault_test() {
    let text = fs::read_to_string(document()).expect("docs/reference/faults.md");
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let folders =
        ["", "commands", "end_to_end"].map(|folder| fs::read_dir(tests.join(folder)).expect("tests"));
    let (mut modules, mut known, mut promised) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for path in folders.into_iter().flatten().map(|file| file.expect("a file").path()) {
        let Ok(source) = fs::read_to_string(&path) else { continue };
        let module = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let of_module = tests_of(&module, &source);
        if ["faults", "containment", "campaigns", "fuzz"].contains(&&*module) {
            promised.extend(of_module.clone());
        }
        known.extend(of_module);
        modules.insert(module);
    }
    let is_test = |word: &&str| word.split_once("::").is_some_and(|(module, _)| modules.contains(module));
    let quoted: BTreeSet<String> =
        text.split('`').skip(1).step_by(2).filter(is_test).map(str::to_owned).collect();
    let missing: Vec<_> = promised.difference(&quoted).collect();
    let unknown: Vec<_> = quoted.difference(&known).collect();
    assert!(
        missing.is_empty() && unknown.is_empty(),
        "not in the document: {missing:?}; not a test: {unknown:?}"
    );
}
