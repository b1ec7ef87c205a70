//! Checks the documents of the repository: every link leads somewhere, README.md is short and correct, tables
//! and pictures are the output of the commands next to them, and numbers in sentences match their results.
//!
//! `TASKSCALE_BLESS=1 cargo test -p taskscale --test docs` updates those tables, pictures and numbers.

mod facts;
mod generated;
mod rules;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::Range;
use std::path::{Component, Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use regex_lite::Regex;
use taskscale::catalog::Catalog;
use taskscale::record::{self, Sample, Status, Warning};
use taskscale::units;

/// Maximum lines of README.md: a minute's reading. rules.rs limits its words.
const README_LINES: usize = 110;
/// Maximum rows of its table, including the two of the head: it is an excerpt.
const README_ROWS: usize = 14;

/// The command that makes a table is between the first two. The table follows, up to the third.
const BEGIN: &str = "<!-- result: ";
const BEGIN_END: &str = " -->\n";
const END: &str = "<!-- result:end -->";
/// Precedes the command that draws a picture, whose last word is the file.
const PICTURE: &str = "<!-- picture: ";

/// Folders with files that are built, downloaded or not written for this repository.
const SKIPPED: [&str; 5] = ["target", "node_modules", "templates", "results", "taskscale-results"];

/// Locked while a test updates documents, from reading to writing.
static WRITES: Mutex<()> = Mutex::new(());

fn repository() -> PathBuf {
    let above = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    fs::canonicalize(above).expect("the repository")
}

fn read(path: &str) -> String {
    fs::read_to_string(repository().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Paths of the repository's files with these endings, without skipped folders. Links are not followed.
fn files(endings: &[&str]) -> Vec<String> {
    let root = repository();
    let (mut folders, mut found) = (vec![root.clone()], Vec::new());
    while let Some(folder) = folders.pop() {
        for file in fs::read_dir(&folder).expect("a folder of the repository") {
            let file = file.expect("a file of the repository");
            let name = file.file_name().to_string_lossy().into_owned();
            let kind = file.file_type().expect("its type");
            let hidden = name.starts_with('.') && name != ".github";
            if kind.is_dir() && !hidden && !SKIPPED.contains(&&*name) {
                folders.push(file.path());
            } else if kind.is_file() && endings.iter().any(|ending| name.ends_with(ending)) {
                let path = file.path();
                found.push(path.strip_prefix(&root).expect("inside").to_string_lossy().into_owned());
            }
        }
    }
    found.sort();
    found
}

/// The anchors of a document, and its links.
#[derive(Default)]
struct DocSource {
    anchors: BTreeSet<String>,
    links: Vec<String>,
}

impl DocSource {
    fn of(text: &str) -> DocSource {
        let mut document = DocSource::default();
        let mut heading: Option<String> = None;
        for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
            match event {
                Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
                Event::End(TagEnd::Heading(_)) => document.anchor(&heading.take().unwrap_or_default()),
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    document.links.push(dest_url.into_string());
                }
                Event::Text(text) | Event::Code(text) => {
                    heading.iter_mut().for_each(|heading| heading.push_str(&text));
                }
                _ => {}
            }
        }
        document
    }

    /// Adds the anchor that GitHub gives to a heading.
    fn anchor(&mut self, heading: &str) {
        let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        let name: String = kept.flat_map(char::to_lowercase).collect::<String>().replace(' ', "-");
        let mut names = std::iter::once(name.clone()).chain((1..).map(|nth| format!("{name}-{nth}")));
        names.find(|name| self.anchors.insert(name.clone()));
    }
}

/// The path inside the repository that a link of the document at `from` leads to. `None` if it leads out.
fn resolved(from: &str, to: &str) -> Option<String> {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in Path::new(to).components() {
        match part {
            Component::ParentDir => drop(parts.pop()?),
            Component::Normal(name) => parts.push(name.to_str()?),
            _ => {}
        }
    }
    Some(parts.join("/"))
}

/// Why a link of the document at `from` leads nowhere.
fn fault(documents: &BTreeMap<String, DocSource>, from: &str, link: &str) -> Option<String> {
    let own = format!("{}/blob/main/", env!("CARGO_PKG_REPOSITORY"));
    let published = link.strip_prefix(&own);
    if published.is_none() && (link.contains("://") || link.starts_with("mailto:")) {
        return None;
    }
    let (path, anchor) = published.unwrap_or(link).split_once('#').unwrap_or((published.unwrap_or(link), ""));
    let path = match (published, path) {
        (Some(_), path) => path.to_owned(),
        (None, "") => from.to_owned(),
        (None, path) => match resolved(from, path) {
            Some(path) => path,
            None => return Some(format!("{from}: {link} leads out of the repository")),
        },
    };
    if !repository().join(&path).exists() {
        return Some(format!("{from}: {link}: there is no {path}"));
    }
    let known = documents.get(&path).is_some_and(|document| document.anchors.contains(anchor));
    (!anchor.is_empty() && !known).then(|| format!("{from}: {link}: {path} has no heading of that name"))
}

fn documents() -> BTreeMap<String, DocSource> {
    let of = |path: String| {
        let document = DocSource::of(&read(&path));
        (path, document)
    };
    files(&[".md"]).into_iter().map(of).collect()
}

#[test]
fn links_and_anchors_resolve() {
    let documents = documents();
    for path in
        ["README.md", "docs/methodology/memory-sources.md", "runtimes/go/README.md", "benches/README.md"]
    {
        assert!(
            documents.get(path).is_some_and(|document| !document.anchors.is_empty()),
            "{path} is not read"
        );
    }
    let faults: Vec<String> = documents
        .iter()
        .flat_map(|(from, document)| document.links.iter().map(move |link| (from, link)))
        .filter_map(|(from, link)| fault(&documents, from, link))
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Help texts, hints, comments and manifests name documents by their paths, some with a heading.
#[test]
fn documents_named_by_code_exist() {
    let documents = documents();
    let named = Regex::new(r"\bdocs/[\w/-]+\.md(#[\w-]+)?").expect("a pattern");
    let mut found = 0;
    let mut faults = Vec::new();
    for path in files(&[".rs", ".ts", ".toml", ".sh", ".json", ".yml"]) {
        let text = read(&path);
        // Unit tests may name invented documents.
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        for name in named.find_iter(code) {
            found += 1;
            // Relative to the repository's root.
            faults.extend(fault(&documents, "", name.as_str()).map(|fault| format!("{path}{fault}")));
        }
    }
    assert!(found > 20, "only {found} were found");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// A checker that finds nothing would prove nothing.
#[test]
fn dead_links_are_detected() {
    let text = "# One `--two`\n\n## One\n## One\n\n[a](#one) [b](x.md) `[c](y.md)` ![d](docs/report.svg)\n";
    let document = DocSource::of(text);
    assert_eq!(document.links, ["#one", "x.md", "docs/report.svg"]);
    assert!(["one---two", "one", "one-1"].iter().all(|anchor| document.anchors.contains(*anchor)));
    let documents = BTreeMap::from([("README.md".to_owned(), document)]);
    let of = |link| fault(&documents, "README.md", link).is_some();
    let links =
        ["#one", "#two", "README.md#one-1", "none.md", "../x", "docs/report.svg", "https://example.org"];
    assert_eq!(links.map(of), [false, true, false, true, true, false, false]);
}

#[test]
fn readme_is_short() {
    let lines = read("README.md").lines().count();
    assert!(lines <= README_LINES, "README.md has {lines} lines, and may have {README_LINES}");
}

#[test]
fn readme_does_not_overstate_the_catalog() {
    let catalog = Catalog::load(&repository().join("runtimes")).expect("the catalog is sound");
    let readme = read("README.md");
    let counts = Regex::new(r"over (\d+) entries of over (\d+) runtimes").expect("a pattern");
    let said = counts.captures(&readme).expect("README.md says: over N entries of over M runtimes");
    let number = |nth: usize| said[nth].parse::<usize>().expect("a number");
    let (entries, runtimes) = (catalog.entries().count(), catalog.runtimes.len());
    assert!(
        number(1) < entries && number(2) < runtimes,
        "README.md says {:?}; the catalog has {entries} entries of {runtimes} runtimes",
        &said[0]
    );
}

/// A table of a document, and the command in the mark above it that makes it.
struct DocTable<'a> {
    command: Vec<&'a str>,
    table: &'a str,
    /// The byte range of the table.
    place: Range<usize>,
}

impl<'a> DocTable<'a> {
    fn part(&self) -> Option<&'a str> {
        self.command.iter().skip_while(|word| **word != "--part").nth(1).copied()
    }
}

fn shown(text: &str) -> Vec<DocTable<'_>> {
    let mut shown = Vec::new();
    for (mark, _) in text.match_indices(BEGIN) {
        let begin = mark + BEGIN.len();
        let command_end = begin + text[begin..].find(BEGIN_END).expect("the end of its mark");
        let table = command_end + BEGIN_END.len();
        let end = table + text[table..].find(END).expect("the mark where the result ends");
        shown.push(DocTable {
            command: text[begin..command_end].split_whitespace().collect(),
            table: &text[table..end],
            place: table..end,
        });
    }
    shown
}

/// The output of `taskscale …` in the repository.
fn output(command: &[&str]) -> String {
    let [program, arguments @ ..] = command else { panic!("a mark without a command") };
    assert_eq!(*program, "taskscale", "what documents show is made by taskscale alone");
    let mut taskscale = Command::new(env!("CARGO_BIN_EXE_taskscale"));
    let output = taskscale.args(arguments).current_dir(repository()).output().expect("taskscale");
    let command = command.join(" ");
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("a text")
}

/// Begins the sentence below every table of several runtimes.
const RELEASES: &str = "Releases compared: ";
/// How the lines of a table begin, and those below it that belong to it.
const BELOW: [&str; 3] = ["|", "- ", RELEASES];

/// The first table of the output, with the reasons of rows without values and the releases that it compares.
/// The document describes the rest.
fn printed(command: &[&str]) -> String {
    let text = output(command);
    let table = text.lines().skip_while(|line| !line.starts_with('|'));
    let lines: Vec<&str> = table
        .take_while(|line| line.is_empty() || BELOW.iter().any(|start| line.starts_with(start)))
        .collect();
    format!("\n{}\n\n", lines.join("\n").trim_end())
}

#[test]
fn tables_match_their_commands() {
    let bless = std::env::var_os("TASKSCALE_BLESS").is_some();
    let _alone = WRITES.lock().unwrap_or_else(PoisonError::into_inner);
    let mut tables = 0;
    for path in files(&[".md"]) {
        let text = read(&path);
        let mut written = text.clone();
        // From the end, so that earlier ranges stay valid.
        for DocTable { command, table, place } in shown(&text).into_iter().rev() {
            tables += 1;
            let due = printed(&command);
            assert!(
                bless || table == due,
                "{path}: a table is not up to date: TASKSCALE_BLESS=1 writes it anew\n{due}"
            );
            written.replace_range(place, &due);
        }
        if written != text {
            fs::write(repository().join(&path), written).expect("a document");
        }
    }
    assert!(tables > 0, "no document has a table with its command");
}

/// The table and picture of README.md and the tables of docs/results.md show the same results. Workloads that
/// those lack, such as servers, may have others.
#[test]
fn readme_and_results_show_the_same_results() {
    let (readme, results) = (read("README.md"), read("docs/results.md"));
    let folder = |text: &str, mark: &str| {
        let from = text.find(mark).unwrap_or_else(|| panic!("{mark}")) + mark.len();
        text[from..].split_whitespace().next().expect("a folder").to_owned()
    };
    let report = "taskscale report ";
    let own = folder(&readme, &format!("{BEGIN}{report}"));
    assert_eq!(own, folder(&readme, &format!("{PICTURE}{report}")));
    let campaign = record::load(&repository().join(&own)).expect("the results");
    let workloads: BTreeSet<&str> = campaign.samples.iter().map(|sample| &*sample.workload).collect();
    for table in shown(&results) {
        let is_missing = table.part().is_some_and(|part| !workloads.contains(part));
        assert!(is_missing || table.command.contains(&&*own), "{:?}", table.command);
    }
    let missing: Vec<&&str> =
        workloads.iter().filter(|workload| !results.contains(&format!("`{workload}`"))).collect();
    assert!(missing.is_empty(), "docs/results.md has nothing of {missing:?}");
}

#[test]
fn charts_match_their_commands() {
    let bless = std::env::var_os("TASKSCALE_BLESS").is_some();
    let mut pictures = 0;
    for path in files(&[".md"]) {
        let text = read(&path);
        for (mark, _) in text.match_indices(PICTURE) {
            pictures += 1;
            let begin = mark + PICTURE.len();
            let end = begin + text[begin..].find(BEGIN_END).expect("the end of its mark");
            let command: Vec<&str> = text[begin..end].split_whitespace().collect();
            let [command @ .., "-o", file] = &*command else {
                panic!("{path}: a picture's command ends in -o FILE")
            };
            let folder = path.rsplit_once('/').map(|(folder, _)| format!("{folder}/")).unwrap_or_default();
            let link = file.strip_prefix(&folder).unwrap_or(file);
            let shown = text[end..].contains(&format!("]({link})"));
            assert!(shown, "{path}: {file} is not shown below its command");
            let due = output(command);
            if bless {
                fs::write(repository().join(file), due).expect("a picture");
            } else {
                assert!(read(file) == due, "{file} is not up to date: TASKSCALE_BLESS=1 draws it anew");
            }
        }
    }
    assert!(pictures > 0, "no document has a picture with its command");
}

/// Runs on a busy machine have inflated times, and the table of README.md has no notes.
#[test]
fn the_readme_table_is_short_and_from_an_idle_machine() {
    let readme = read("README.md");
    let tables = shown(&readme);
    let [DocTable { command, table, .. }] = &*tables else { panic!("README.md has {} tables", tables.len()) };
    let rows = table.lines().filter(|line| line.starts_with('|')).count();
    assert!(rows <= README_ROWS, "{rows} lines of a table, and README.md has room for {README_ROWS}");

    let folder = command.iter().find(|word| word.starts_with("results/")).expect("a campaign of results/");
    let after = |flag: &str| command.iter().skip_while(|word| **word != flag).nth(1).copied();
    let tasks = units::parse_count(after("-n").expect("-n COUNT")).expect("a count");
    let part = after("--part").expect("--part WORKLOAD");
    let loaded = record::load(&repository().join(folder)).expect("the campaign");
    let has_row = |entry: &str| table.contains(&format!("| `{entry}` "));
    let is_behind = |sample: &&Sample| {
        let cell = *sample.workload == *part && sample.tasks == tasks && has_row(&sample.entry);
        cell && sample.status == Status::Ok
    };
    let behind: Vec<_> = record::last_attempts(&loaded.samples).into_iter().filter(is_behind).collect();
    assert!(!behind.is_empty(), "{folder} has no run of {tasks} tasks of the entries shown");
    let busy: BTreeSet<&str> = behind
        .iter()
        .filter(|sample| sample.warnings.contains(&Warning::MachineBusy))
        .map(|sample| &*sample.entry)
        .collect();
    assert!(busy.is_empty(), "leave out, or measure again on a quiet machine: {busy:?}");
}
