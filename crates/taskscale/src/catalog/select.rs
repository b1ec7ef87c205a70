//! From what a user types to entries: names, globs, runtimes and sets.

use glob::Pattern;

use super::{Catalog, Entry, Runtime, Style};

/// What is wrong with a selection.
#[derive(Debug, thiserror::Error)]
pub enum SelectError {
    #[error("no entry `{name}`{}; `taskscale list` shows all", suggestion(.nearest))]
    Unknown { name: String, nearest: Option<String> },
    #[error("no entry of this catalogue is in the set `{set}`: name some, or take @all")]
    EmptySet { set: String },
    #[error("no entry does the workload `{workload}`{}", suggestion(.nearest))]
    NoWorkload { workload: String, nearest: Option<String> },
    #[error("{name} does not do the workload `{workload}`; it does {does}")]
    EntryWithoutWorkload { name: String, workload: String, does: String },
}

fn suggestion(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|nearest| format!(": did you mean `{nearest}`?")).unwrap_or_default()
}

/// The candidate most like `word`, if any is like it at all.
pub fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(word, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= candidate.len().max(word.len()).div_ceil(3))
        .min()
        .map(|(_, candidate)| candidate)
}

/// The entries that `words` name and that do `workload`, in the catalogue's order, each once. A word is an entry's
/// name, a glob over names, a runtime's name, or one of the sets `@posts`, `@idiomatic`, `@all`. Each word must name
/// at least one.
pub fn select<'a>(
    catalog: &'a Catalog,
    words: &[String],
    workload: &str,
) -> Result<Vec<(&'a Runtime, &'a Entry)>, SelectError> {
    if !catalog.entries().any(|(_, entry)| entry.workloads.contains_key(workload)) {
        let all = catalog.entries().flat_map(|(_, entry)| entry.workloads.keys());
        let nearest = closest(workload, all.map(String::as_str)).map(str::to_owned);
        return Err(SelectError::NoWorkload { workload: workload.to_owned(), nearest });
    }
    let mut chosen = vec![false; catalog.entries().count()];
    for word in words {
        let matcher = Matcher::of(word);
        let mut named: Option<&Entry> = None;
        let mut selected = false;
        for (index, (runtime, entry)) in catalog.entries().enumerate() {
            if matcher.matches(runtime, entry) {
                named = Some(entry);
                if entry.workloads.contains_key(workload) {
                    chosen[index] = true;
                    selected = true;
                }
            }
        }
        match named {
            None if SETS.contains(&word.as_str()) => return Err(SelectError::EmptySet { set: word.clone() }),
            None => {
                let names = catalog.entries().flat_map(|(r, e)| [e.full_name.as_str(), r.name.as_str()]);
                // A bare entry name, such as `goroutine`, is meant more often than a runtime spelled like it.
                let by_entry =
                    catalog.entries().find(|(_, e)| e.name == *word).map(|(_, e)| e.full_name.as_str());
                let nearest = by_entry.or_else(|| closest(word, names.chain(SETS))).map(str::to_owned);
                return Err(SelectError::Unknown { name: word.clone(), nearest });
            }
            Some(entry) if !selected => {
                return Err(SelectError::EntryWithoutWorkload {
                    name: entry.full_name.clone(),
                    workload: workload.to_owned(),
                    does: entry.workloads.keys().cloned().collect::<Vec<_>>().join(", "),
                });
            }
            Some(_) => {}
        }
    }
    Ok(catalog.entries().zip(chosen).filter(|(_, chosen)| *chosen).map(|(pair, _)| pair).collect())
}

/// What is meant where nothing is named: the posts' entries, or all of a catalogue that has none of them.
pub fn default_selection(catalog: &Catalog) -> Vec<String> {
    let posts = catalog.entries().any(|(_, entry)| entry.posts);
    vec![if posts { "@posts" } else { "@all" }.to_owned()]
}

const SETS: [&str; 3] = ["@posts", "@idiomatic", "@all"];

enum Matcher {
    Posts,
    Idiomatic,
    All,
    Glob(Pattern),
    Name(String),
}

impl Matcher {
    fn of(word: &str) -> Matcher {
        match word {
            "@posts" => Matcher::Posts,
            "@idiomatic" => Matcher::Idiomatic,
            "@all" => Matcher::All,
            _ if word.contains(['*', '?', '[']) => match Pattern::new(word) {
                Ok(pattern) => Matcher::Glob(pattern),
                Err(_) => Matcher::Name(word.to_owned()),
            },
            _ => Matcher::Name(word.to_owned()),
        }
    }

    fn matches(&self, runtime: &Runtime, entry: &Entry) -> bool {
        match self {
            Matcher::Posts => entry.posts,
            Matcher::Idiomatic => entry.style == Style::Idiomatic,
            Matcher::All => true,
            Matcher::Glob(pattern) => pattern.matches(&entry.full_name),
            Matcher::Name(name) => entry.full_name == *name || runtime.name == *name,
        }
    }
}
