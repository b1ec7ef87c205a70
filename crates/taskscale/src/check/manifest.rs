//! What a manifest that loads may still lack.

use std::path::Path;

use super::{Findings, Rule, Subject};

/// A `why` below this says nothing.
const LEAST_WHY: usize = 20;
/// What scaffolds leave to be written.
const UNFINISHED: [&str; 3] = ["TODO", "FIXME", "XXX"];
/// Programs that start the real one and stay, so that their memory is counted, with the word that makes them do so.
const WRAPPERS: [(&str, &[&str]); 14] = [
    ("sh", &["-c"]),
    ("bash", &["-c"]),
    ("npm", &[]),
    ("npx", &[]),
    ("yarn", &[]),
    ("pnpm", &[]),
    ("go", &["run"]),
    ("cargo", &["run"]),
    ("dotnet", &["run"]),
    ("mvn", &[]),
    ("gradle", &[]),
    ("mix", &["run"]),
    ("bundle", &["exec"]),
    ("sbt", &[]),
];

pub(super) fn look(subject: &Subject, findings: &mut Findings) {
    let (runtime, entry) = (subject.runtime, subject.entry);
    let why = entry.why.trim();
    if UNFINISHED.iter().any(|word| why.contains(word) || entry.title.contains(word)) {
        findings.warning(
            Rule::Manifest,
            "`why` is not written yet",
            "say in a sentence why this is the way to do it in this language",
        );
    } else if why.chars().count() < LEAST_WHY {
        findings.warning(
            Rule::Manifest,
            format!("`why` is {why:?}"),
            "say in a sentence why this is the way to do it in this language",
        );
    }
    if !is_url(&runtime.url) {
        findings.warning(
            Rule::Manifest,
            format!("`url` is {:?}", runtime.url),
            "give the runtime's home page, with https://",
        );
    }
    let readme = runtime.folder.join("README.md");
    match std::fs::read_to_string(&readme) {
        Err(_) => findings.error(
            Rule::Manifest,
            "there is no README.md in the runtime's folder",
            "write one: how to install the toolchain, a line on each decision, known limits",
        ),
        Ok(text) if !text.contains(&entry.name) => findings.note(
            Rule::Manifest,
            format!("README.md does not name `{}`", entry.name),
            "add a line to it: what was decided for this entry, and why",
        ),
        Ok(text) if UNFINISHED.iter().any(|word| text.contains(word)) => findings.warning(
            Rule::Manifest,
            "README.md is not finished: it has a TODO",
            "write what is left to be written in it",
        ),
        Ok(_) => {}
    }
    if entry.toolchain.minimum.is_none() && entry.library.is_none() && entry.unverified.is_none() {
        findings.note(
            Rule::Manifest,
            format!("no `minimum` version of {}", entry.toolchain.title),
            "give the lowest version that you have tried as `minimum`",
        );
    }
    let run = &entry.workloads[&subject.workload.name].run;
    if let Some(wrapper) = wrapper(run) {
        findings.warning(
            Rule::Manifest,
            format!("`run` starts `{wrapper}`, which starts the program and stays"),
            "build in `build`, and name the program itself in `run`: a wrapper's memory would be counted",
        );
    }
}

/// The beginning of a command that starts the program and stays beside it. A shell that is told to `exec` does not.
fn wrapper(run: &[String]) -> Option<String> {
    let (program, rest) = run.split_first()?;
    let name = Path::new(program).file_name()?.to_string_lossy();
    let second = rest.first().map(String::as_str).unwrap_or_default();
    let is_wrapper = |(wrapper, words): &(&str, &[&str])| {
        name == *wrapper && (words.is_empty() || words.contains(&second))
    };
    let becomes_it = second == "-c" && rest.get(1).is_some_and(|line| line.contains("exec "));
    (WRAPPERS.iter().any(is_wrapper) && !becomes_it).then(|| format!("{name} {second}").trim().to_owned())
}

/// Good enough to be a link: a scheme, a host with a dot, and no blank.
fn is_url(url: &str) -> bool {
    let host = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    host.is_some_and(|rest| {
        let host = rest.split('/').next().unwrap_or_default();
        host.contains('.')
            && !host.starts_with('.')
            && !host.ends_with('.')
            && !rest.contains(char::is_whitespace)
    })
}

#[cfg(test)]
mod tests {
    use super::{is_url, wrapper};

    #[test]
    fn wrappers_are_told_from_programs() {
        let wrapper =
            |words: &[&str]| wrapper(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        assert_eq!(wrapper(&["/bin/sh", "-c", "./sleep \"$@\""]).as_deref(), Some("sh -c"));
        assert_eq!(wrapper(&["sh", "-c", "THREADS=$(nproc) exec \"$0\" \"$@\"", "./sleep"]), None);
        assert_eq!(wrapper(&["cargo", "run", "--release"]).as_deref(), Some("cargo run"));
        assert_eq!(wrapper(&["{out}/sleep"]), None);
        assert_eq!(wrapper(&[]), None);
    }

    #[test]
    fn urls_are_told_from_other_words() {
        assert!(is_url("https://go.dev") && is_url("http://www.erlang.org/downloads"));
        for wrong in ["go.dev", "https://", "https://localhost", "https://a b.c", "https://go.", "TODO", ""] {
            assert!(!is_url(wrong), "{wrong}");
        }
    }
}
