//! Selects entries by what a user types: names, globs, runtimes and sets.

use std::collections::{BTreeMap, BTreeSet};

use glob::Pattern;

use super::kind::Style;
use super::load::Catalog;
use super::model::{Entry, Runtime};
use super::names::closest;
use super::workload::Workload;
use crate::hint::hints;

/// Why a selection is invalid.
#[derive(Debug, thiserror::Error, strum::EnumMessage)]
pub enum SelectError {
    #[error("no entry `{name}`{}", suggestion(.nearest))]
    #[strum(
        message = "`taskscale list` shows all entries; globs ('rust/*'), runtimes (go) and sets (@posts, @idiomatic, @all) work, too"
    )]
    Unknown { name: String, nearest: Option<String> },
    #[error("empty set: `{set}` (this catalog has no entry in it)")]
    #[strum(message = "`taskscale list` shows the entries of this catalog; @all means all")]
    EmptySet { set: String },
    #[error("no workload `{workload}`{}; available: {all}", suggestion(.nearest))]
    #[strum(message = "`taskscale list workloads` describes each")]
    NoWorkload { workload: String, nearest: Option<String>, all: String },
    #[error("{who} has no workload `{workload}` (available: {does})")]
    LacksWorkload { who: String, workload: String, does: String },
    #[error("no selected entry has the workload `{workload}` (available: {does})")]
    NobodyDoes { workload: String, does: String },
}

hints!(SelectError {
    SelectError::LacksWorkload { workload, .. } | SelectError::NobodyDoes { workload, .. } => {
        Some(format!("`taskscale list -w {workload}` shows the entries that have it"))
    },
});

fn suggestion(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|nearest| format!(" (did you mean `{nearest}`?)")).unwrap_or_default()
}

/// An entry's program for one workload.
#[derive(Debug, Clone, Copy)]
pub struct Program<'a> {
    pub runtime: &'a Runtime,
    pub entry: &'a Entry,
    pub workload: &'a Workload,
}

impl Program<'_> {
    /// The entry's name, and the workload's unless it is the default one.
    pub fn name(&self) -> String {
        match self.workload.default {
            true => self.entry.full_name.clone(),
            false => format!("{} {}", self.entry.full_name, self.workload.name),
        }
    }
}

/// The selected programs.
#[derive(Debug, Default)]
pub struct Selection<'a> {
    /// In the catalog's order, and for each entry by workload.
    pub programs: Vec<Program<'a>>,
    /// For each named workload, the selected entries that lack it.
    pub lacking: Vec<(&'a Workload, Vec<&'a Entry>)>,
}

impl<'a> Selection<'a> {
    /// The workloads of the selected programs, sorted by name.
    pub fn workloads(&self) -> Vec<&'a Workload> {
        let workloads = self.programs.iter().map(|program| program.workload);
        let by_name: BTreeMap<_, _> = workloads.map(|workload| (&workload.name, workload)).collect();
        by_name.into_values().collect()
    }

    /// The entries of the selected programs, each once.
    pub fn entries(&self) -> Vec<(&'a Runtime, &'a Entry)> {
        let mut entries: Vec<_> =
            self.programs.iter().map(|program| (program.runtime, program.entry)).collect();
        entries.dedup_by_key(|(_, entry)| &entry.full_name);
        entries
    }
}

/// Selects every workload.
const EVERY: &str = "all";

/// The programs of the entries that `words` name for `workloads`, or for all of their workloads if none or
/// `all` is named. A word is an entry's name, a glob over names, a runtime's name, or one of the sets `@posts`,
/// `@idiomatic`, `@all`. Each word must match at least one entry, and at least one entry must have each
/// workload.
pub fn select<'a>(
    catalog: &'a Catalog,
    words: &[String],
    workloads: &[String],
) -> Result<Selection<'a>, SelectError> {
    let wanted = wanted(catalog, workloads)?;
    // Per entry: `None` if not selected, `Some(false)` if only `@posts` selects it (with the workloads in which
    // it represents its runtime), `Some(true)` if selected with all workloads. In this order, so that `max`
    // keeps the larger selection.
    let mut chosen: Vec<Option<bool>> = vec![None; catalog.entries().count()];
    for word in words {
        let matcher = Matcher::of(word);
        let mut named = false;
        for (index, (runtime, entry)) in catalog.entries().enumerate() {
            if matcher.matches(&Selectable::of(runtime, entry)) {
                (named, chosen[index]) = (true, chosen[index].max(Some(word != "@posts")));
            }
        }
        if named {
            continue;
        }
        if SETS.contains(&word.as_str()) {
            return Err(SelectError::EmptySet { set: word.clone() });
        }
        let names = catalog.entries().flat_map(|(r, e)| [e.full_name.as_str(), r.name.as_str()]);
        // A bare entry name, such as `goroutine`, is more likely meant than a runtime spelled like it.
        let by_entry = catalog.entries().find(|(_, e)| e.name == *word).map(|(_, e)| e.full_name.as_str());
        let nearest = by_entry.or_else(|| closest(word, names.chain(SETS))).map(str::to_owned);
        return Err(SelectError::Unknown { name: word.clone(), nearest });
    }
    let reached = catalog.entries().zip(chosen).filter_map(|(pair, whole)| Some((pair, whole?)));
    let (entries, whole): (Vec<(&Runtime, &Entry)>, Vec<bool>) = reached.unzip();
    let every: Vec<&Workload> = catalog.workloads.iter().collect();
    let mut selection = Selection::default();
    for ((runtime, entry), whole) in entries.iter().zip(whole) {
        let does = |workload: &&&Workload| {
            (whole || entry.posts.contains(&workload.name)) && entry.does(&workload.name)
        };
        let workloads = wanted.as_ref().unwrap_or(&every).iter().filter(does);
        selection.programs.extend(workloads.map(|workload| Program { runtime, entry, workload }));
    }
    for workload in wanted.unwrap_or_default() {
        let lacking: Vec<&Entry> =
            entries.iter().map(|(_, entry)| *entry).filter(|entry| !entry.does(&workload.name)).collect();
        if lacking.len() == entries.len() {
            let own = |entry: &'a Entry| entry.workloads.keys().filter(move |name| entry.does(name));
            let does: BTreeSet<&str> = lacking.iter().copied().flat_map(own).map(String::as_str).collect();
            let (workload, does) = (workload.name.clone(), Vec::from_iter(does).join(", "));
            return Err(match lacking.as_slice() {
                [one] => SelectError::LacksWorkload { who: one.full_name.clone(), workload, does },
                _ => SelectError::NobodyDoes { workload, does },
            });
        }
        if !lacking.is_empty() {
            selection.lacking.push((workload, lacking));
        }
    }
    Ok(selection)
}

/// The workloads of these names. `None` for all.
fn wanted<'a>(catalog: &'a Catalog, names: &[String]) -> Result<Option<Vec<&'a Workload>>, SelectError> {
    let mut wanted: BTreeMap<&str, &Workload> = BTreeMap::new();
    for name in names {
        if name == EVERY {
            return Ok(None);
        }
        let Some(workload) = catalog.workload(name) else {
            let all = catalog.workloads.iter().map(|workload| workload.name.as_str());
            let nearest = closest(name, all.clone().chain([EVERY])).map(str::to_owned);
            let all = all.collect::<Vec<_>>().join(", ");
            return Err(SelectError::NoWorkload { workload: name.clone(), nearest, all });
        };
        wanted.insert(&workload.name, workload);
    }
    Ok((!wanted.is_empty()).then(|| wanted.into_values().collect()))
}

/// The default selection: the entries of the original blog posts, or all of a catalog without any of them.
pub fn default_selection(catalog: &Catalog) -> Vec<String> {
    let posts = catalog.entries().any(|(_, entry)| !entry.posts.is_empty());
    vec![if posts { "@posts" } else { "@all" }.to_owned()]
}

const SETS: [&str; 3] = ["@posts", "@idiomatic", "@all"];

/// The properties of an entry that words can match, from a catalog or from results.
#[derive(Debug, Clone, Copy)]
pub struct Selectable<'a> {
    pub full_name: &'a str,
    pub runtime: &'a str,
    pub posts: bool,
    pub style: Style,
}

impl<'a> Selectable<'a> {
    pub fn of(runtime: &'a Runtime, entry: &'a Entry) -> Selectable<'a> {
        Selectable {
            full_name: &entry.full_name,
            runtime: &runtime.name,
            posts: !entry.posts.is_empty(),
            style: entry.style,
        }
    }
}

/// A word that names entries: a name, a glob over names, a runtime's name, or a set.
#[derive(Debug, Clone)]
pub struct Matcher {
    /// As it was typed.
    pub word: String,
    glob: Option<Pattern>,
}

impl Matcher {
    pub fn of(word: &str) -> Matcher {
        let glob = word.contains(['*', '?', '[']).then(|| Pattern::new(word).ok()).flatten();
        Matcher { word: word.to_owned(), glob }
    }

    pub fn matches(&self, entry: &Selectable) -> bool {
        match (self.word.as_str(), &self.glob) {
            ("@posts", _) => entry.posts,
            ("@idiomatic", _) => entry.style == Style::Idiomatic,
            ("@all", _) => true,
            (_, Some(glob)) => glob.matches(entry.full_name),
            // Any version matches.
            (word, None) => {
                let base = entry.full_name.split('@').next();
                entry.full_name == word || base == Some(word) || entry.runtime == word
            }
        }
    }
}
