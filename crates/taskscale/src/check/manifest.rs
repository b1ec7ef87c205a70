//! Checks what a valid manifest may still lack.

use std::path::Path;

use super::lockfiles::KNOWN;
use super::{CheckRule, Findings};
use crate::catalog::Program;

/// The shortest useful `why`, in characters.
const MIN_WHY_LENGTH: usize = 20;
/// Placeholders of scaffolds.
const UNFINISHED: [&str; 3] = ["TODO", "FIXME", "XXX"];
pub(super) fn check(program: &Program, findings: &mut Findings) {
    let (runtime, entry) = (program.runtime, program.entry);
    let why = entry.why.trim();
    let is_unfinished = UNFINISHED.iter().any(|word| why.contains(word) || entry.title.contains(word));
    if is_unfinished || why.chars().count() < MIN_WHY_LENGTH {
        let what = match is_unfinished {
            true => "`why` is not written yet".to_owned(),
            false => format!("`why` is too short: {why:?}"),
        };
        let fix = "explain in a sentence why this is the way to do it in this language";
        findings.warning(CheckRule::Manifest, what, fix);
    }
    if !is_url(&runtime.url) {
        let what = format!("`url` is not a URL: {:?}", runtime.url);
        let fix = "use the runtime's home page, with https://";
        findings.warning(CheckRule::Manifest, what, fix);
    }
    let readme = runtime.folder.join("README.md");
    match std::fs::read_to_string(&readme) {
        Err(_) => findings.error(
            CheckRule::Manifest,
            "no README.md in the runtime's folder",
            "write one: how to install the toolchain, a line for each decision, known limits",
        ),
        Ok(text) if !text.contains(&entry.name) => findings.note(
            CheckRule::Manifest,
            format!("README.md does not name `{}`", entry.name),
            "add a line: the decisions for this entry, and why",
        ),
        Ok(text) if UNFINISHED.iter().any(|word| text.contains(word)) => {
            findings.warning(CheckRule::Manifest, "README.md has a TODO", "finish it")
        }
        Ok(_) => {}
    }
    if entry.toolchain.minimum.is_none() && entry.library.is_none() && entry.unverified.is_none() {
        let what = format!("no `minimum` version of {}", entry.toolchain.title);
        let fix = "set `minimum` to the lowest version that you tested";
        findings.note(CheckRule::Manifest, what, fix);
    }
    let run = &entry.workloads[&program.workload.name].run;
    if let Some(wrapper) = wrapper(run) {
        findings.warning(
            CheckRule::Manifest,
            format!("`run` starts a wrapper that keeps running: `{wrapper}`"),
            "build in `build`, and name the program itself in `run`, as the wrapper's memory would count",
        );
    }
}

/// The first words of a wrapper, which runs the program as its child. A shell with `exec` does not.
fn wrapper(run: &[String]) -> Option<String> {
    let (program, rest) = run.split_first()?;
    let name = Path::new(program).file_name()?.to_string_lossy();
    let second = rest.first().map(String::as_str).unwrap_or_default();
    let words = KNOWN.wrappers.get(&*name)?;
    let is_wrapper = words.is_empty() || words.iter().any(|word| word == second);
    let becomes_it = second == "-c" && rest.get(1).is_some_and(|line| line.contains("exec "));
    (is_wrapper && !becomes_it).then(|| format!("{name} {second}").trim().to_owned())
}

/// Whether it looks like a link: a scheme, a host with a dot, and no spaces.
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
    use std::fs;

    use super::*;
    use crate::catalog::Catalog;

    /// The findings for the entry `x/a` with this manifest and README.
    fn found(manifest: &str, readme: Option<&str>) -> String {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("x")).unwrap();
        fs::write(folder.path().join("x/runtime.toml"), manifest).unwrap();
        if let Some(readme) = readme {
            fs::write(folder.path().join("x/README.md"), readme).unwrap();
        }
        let catalog = Catalog::load(folder.path()).unwrap();
        let (runtime, entry) = catalog.entry("x/a").unwrap();
        let workload = catalog.workloads.iter().find(|workload| workload.name == "sleep").unwrap();
        let mut findings = Findings::default();
        check(&Program { runtime, entry, workload }, &mut findings);
        findings.sorted().iter().map(|found| format!("{:?}: {}\n", found.severity, found.what)).collect()
    }

    const GOOD: &str = r#"name = "x"
title = "X"
url = "https://example.org"
version = ["x", "--version"]
minimum = "1.0"
install = { other = "it is there" }

[[entry]]
name = "a"
title = "A"
kind = "stackless"
parallel = true
style = "idiomatic"
why = "what this test reads, and no more"
workloads.sleep = { run = ["x", "a"] }
"#;

    #[test]
    fn manifest_and_readme_faults_are_reported() {
        assert_eq!(found(GOOD, Some("# X: a")), "");
        let why = "why = \"what this test reads, and no more\"";
        for (from, to, what) in [
            ("https://example.org", "example", "Warning: `url`"),
            (why, "why = \"TODO: say why this is so\"", "Warning: `why` is not written"),
            (why, "why = \"a test\"", "Warning: `why` is too short"),
            ("minimum = \"1.0\"\n", "", "Note: no `minimum`"),
            ("\"x\", \"a\"", "\"sh\", \"-c\", \"x a; exit $?\"", "Warning: `run` starts a wrapper"),
        ] {
            let found = found(&GOOD.replacen(from, to, 1), Some("# X: a"));
            assert!(found.starts_with(what) && found.lines().count() == 1, "{what}: {found}");
        }
        assert!(found(GOOD, None).starts_with("Error: no README.md"));
        assert!(found(GOOD, Some("# X: other")).starts_with("Note: README.md does not name `a`"));
        assert!(found(GOOD, Some("# X: a\n\nTODO")).starts_with("Warning: README.md has a TODO"));
    }

    #[test]
    fn wrappers_are_distinguished_from_programs() {
        let wrapper =
            |words: &[&str]| wrapper(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        assert_eq!(wrapper(&["/bin/sh", "-c", "./sleep \"$@\""]).as_deref(), Some("sh -c"));
        assert_eq!(wrapper(&["sh", "-c", "THREADS=$(nproc) exec \"$0\" \"$@\"", "./sleep"]), None);
        assert_eq!(wrapper(&["cargo", "run", "--release"]).as_deref(), Some("cargo run"));
        assert_eq!(wrapper(&["{out}/sleep"]), None);
        assert_eq!(wrapper(&[]), None);
    }

    #[test]
    fn urls_are_distinguished_from_other_words() {
        assert!(is_url("https://go.dev") && is_url("http://www.erlang.org/downloads"));
        for wrong in ["go.dev", "https://", "https://localhost", "https://a b.c", "https://go.", "TODO", ""] {
            assert!(!is_url(wrong), "{wrong}");
        }
    }
}
