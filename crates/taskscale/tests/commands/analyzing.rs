//! Runs every command of docs/analyzing.md on stored results.
//!
//! `sh` blocks need what they call (jq, sqlite3, duckdb), `sql` blocks the duckdb command, `python` blocks
//! pandas and duckdb. TASKSCALE_DOCS_PATH names folders that are searched first for these programs, so that a
//! virtual environment does not hide the machine's Python from everything else.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use taskscale::catalog::Kind;

use crate::support::stored::{results, store};
use crate::support::{World, skipped};

/// A fenced block of the page.
#[derive(Debug)]
struct ResultBlock {
    /// Line of its opening fence, from 1.
    line: usize,
    language: String,
    text: String,
    /// What its output must contain: `<!-- prints: ... -->` above it.
    prints: Option<String>,
}

/// Languages of blocks that are not run here.
const SHOWN: [&str; 3] = ["markdown", "yaml", "console"];

fn blocks(page: &str) -> Vec<ResultBlock> {
    let mut blocks: Vec<ResultBlock> = Vec::new();
    let mut open: Option<ResultBlock> = None;
    let mut prints = None;
    for (i, line) in page.lines().enumerate() {
        if let Some(language) = line.strip_prefix("```") {
            match open.take() {
                Some(block) => blocks.push(block),
                None => {
                    let (language, text) = (language.to_owned(), String::new());
                    open = Some(ResultBlock { line: i + 1, language, text, prints: prints.take() });
                }
            }
        } else if let Some(block) = &mut open {
            block.text.push_str(line);
            block.text.push('\n');
        } else if let Some(said) = line.strip_prefix("<!-- prints: ") {
            prints = Some(said.trim_end_matches(" -->").to_owned());
        }
    }
    assert!(open.is_none(), "a block is not closed");
    blocks
}

/// Why a block cannot be run here.
fn missing(block: &ResultBlock, path: &str) -> Option<String> {
    let works = |program: &str, args: &[&str]| {
        let tried = Command::new(program).args(args).env("PATH", path).stdin(Stdio::null()).output();
        tried.is_ok_and(|output| output.status.success())
    };
    let needed: Vec<&str> = match block.language.as_str() {
        "sql" => vec!["duckdb"],
        "python" => vec!["python3"],
        _ => ["jq", "sqlite3", "duckdb"].into_iter().filter(|program| block.text.contains(program)).collect(),
    };
    needed.into_iter().find_map(|program| {
        let there = match program {
            "python3" => works(program, &["-c", "import duckdb, pandas"]),
            program => works(program, &["--version"]),
        };
        (!there).then(|| match program {
            "python3" => "python3 with duckdb and pandas".to_owned(),
            program => program.to_owned(),
        })
    })
}

#[test]
fn every_command_of_analyzing_md_works() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/analyzing.md");
    let blocks = blocks(&fs::read_to_string(&page).expect("docs/analyzing.md"));
    let world = World::new(&[]);
    let entries = [
        ("fake/lean", Kind::Stackless, Some(200)),
        ("fake/hungry", Kind::Stackless, Some(2 << 10)),
        ("fake/broken", Kind::Stackless, None),
    ];
    for (folder, repetitions) in [("BASE", 2), ("NEW", 1)] {
        store(&world.path(folder), &results(&entries, &[1, 1000], repetitions));
    }
    std::os::unix::fs::symlink(world.path("BASE"), world.path("DIR")).expect("a link");

    let path: Vec<String> = std::env::var("TASKSCALE_DOCS_PATH")
        .into_iter()
        .chain([world.path("bin").display().to_string()])
        .chain(std::env::var("PATH"))
        .collect();
    let path = path.join(":");
    let (mut run, mut without) = (0, Vec::new());
    for block in blocks.iter().filter(|block| !SHOWN.contains(&block.language.as_str())) {
        if let Some(program) = missing(block, &path) {
            without.push(format!("line {} ({program})", block.line));
            continue;
        }
        let mut command = match block.language.as_str() {
            "sh" => Command::new("bash"),
            "sql" => Command::new("duckdb"),
            "python" => Command::new("python3"),
            other => panic!("analyzing.md:{}: nobody knows how to run `{other}`", block.line),
        };
        match block.language.as_str() {
            "sh" => command.args(["-euo", "pipefail", "-c", &block.text]),
            "sql" => command.args(["-bail", "-c", &block.text]),
            _ => command.args(["-c", &block.text]),
        };
        command.current_dir(world.path("")).env("PATH", &path).env("HOME", world.path(""));
        let finished = world.run_plain(command);
        let place = format!("analyzing.md:{}", block.line);
        assert_eq!(finished.code(), 0, "{place}:\n{}\n{}\n{}", block.text, finished.stderr, finished.stdout);
        if let Some(said) = &block.prints {
            assert!(finished.stdout.contains(said), "{place}: no {said:?} in\n{}", finished.stdout);
        }
        run += 1;
    }
    assert!(run > 3, "only {run} blocks were run");
    for chart in ["ranking.svg", "scaling.svg"] {
        let chart = fs::read_to_string(world.path(chart)).expect("the page's charts");
        assert!(chart.starts_with("<svg ") && chart.contains("fake/hungry"));
    }
    if !without.is_empty() {
        skipped(&format!(
            "commands of docs/analyzing.md need programs that are not here: {}",
            without.join(", ")
        ));
    }
}

/// A page without blocks would prove nothing.
#[test]
fn code_blocks_are_parsed() {
    let page = "a\n<!-- prints: x -->\n```sh\none\ntwo\n```\n```sql\nthree\n```\n";
    let found = blocks(page);
    assert_eq!(found.len(), 2);
    assert_eq!(
        (found[0].line, found[0].text.as_str(), found[0].prints.as_deref()),
        (3, "one\ntwo\n", Some("x"))
    );
    assert_eq!((found[1].language.as_str(), found[1].prints.as_deref()), ("sql", None));
}
