//! Checks that dependencies are pinned, so that a build next month creates the same program. Reads the build commands and
//! their files, and runs nothing.
//!
//! Knows the package managers of `commands.toml`. Other builds have only the toolchain to pin, whose version is recorded
//! with each sample.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex_lite::Regex;
use serde::Deserialize;
use walkdir::{DirEntry, WalkDir};

use super::{CheckRule, Findings};
use crate::catalog::Program;

/// The tables of `commands.toml`, where each is explained.
#[derive(Deserialize)]
pub(super) struct KnownCommands {
    manager: Vec<Manager>,
    floating: Vec<FloatingVersions>,
    pub wrappers: BTreeMap<String, Vec<String>>,
}

#[derive(Deserialize)]
struct Manager {
    command: Vec<String>,
    declared: String,
    #[serde(default)]
    pattern: String,
    locks: Vec<String>,
    #[serde(default)]
    flags: Vec<String>,
    instead: Option<String>,
}

#[derive(Deserialize)]
struct FloatingVersions {
    tool: String,
    files: Vec<String>,
    pattern: String,
    fix: String,
}

pub(super) static KNOWN: LazyLock<KnownCommands> =
    LazyLock::new(|| toml::from_str(include_str!("commands.toml")).expect("a table that a test reads"));

pub(super) fn check(program: &Program, findings: &mut Findings) {
    let folder = &program.runtime.folder;
    let commands: Vec<Vec<String>> =
        program.entry.workloads[&program.workload.name].build.iter().map(|command| bare(command)).collect();
    for command in &commands {
        check_command_line(folder, command, findings);
    }
    for FloatingVersions { tool, files, pattern, fix } in &KNOWN.floating {
        let wrapper = format!("{tool}w");
        let used =
            |command: &Vec<String>| command.first().is_some_and(|word| word == tool || *word == wrapper);
        if !commands.iter().any(used) {
            continue;
        }
        for (path, text) in files.iter().flat_map(|name| texts(folder, name)) {
            if let Some(version) = first_match(pattern, &text) {
                let what = format!("{} has an unpinned version: `{version}`", shown(folder, &path));
                findings.error(CheckRule::Pinned, what, fix);
            }
        }
    }
}

fn check_command_line(folder: &Path, command: &[String], findings: &mut Findings) {
    if let Some(arguments) = pip_install(command) {
        check_pip(arguments, findings);
        return;
    }
    for manager in KNOWN.manager.iter().filter(|manager| command.starts_with(&manager.command)) {
        let declared = texts(folder, &manager.declared);
        let mut declared = declared.iter().filter(|(_, text)| first_match(&manager.pattern, text).is_some());
        let Some((declaration, _)) = declared.next() else { continue };
        let tool = manager.command.join(" ");
        if let Some(instead) = &manager.instead {
            let what = format!("`{tool}` may ignore the lock file");
            findings.error(CheckRule::Pinned, what, format!("build with `{instead}`"));
        }
        if !manager.locks.iter().any(|lock| !texts(folder, lock).is_empty()) {
            let what = format!("no {} beside {}", manager.locks.join(" or "), shown(folder, declaration));
            let fix = format!("create it with `{}`, and keep it with the sources", manager.command[0]);
            findings.error(CheckRule::Pinned, what, fix);
        }
        if let Some(flag) = manager.flags.first()
            && !command.iter().any(|word| manager.flags.contains(word))
        {
            let what = format!("`{tool}` may change the lock file without `{flag}`");
            findings.error(CheckRule::Pinned, what, format!("add `{flag}` to the build"));
        }
    }
    if command.first().is_some_and(|word| word == "go") && command.iter().any(|word| word == "-mod=mod") {
        let what = "`go -mod=mod` may change go.mod and go.sum";
        findings.error(CheckRule::Pinned, what, "build with `-mod=readonly`");
    }
}

/// The command without `env A=b` and the folder of the program.
fn bare(command: &[String]) -> Vec<String> {
    let of_env = |word: &&String| **word == "env" || word.contains('=') || word.starts_with('-');
    let mut rest = command.to_vec();
    if command.first().is_some_and(|word| word == "env") {
        rest.drain(..command.iter().take_while(of_env).count());
    }
    if let Some(program) = rest.first_mut() {
        *program = program.rsplit('/').next().unwrap_or_default().to_owned();
    }
    rest
}

/// The arguments of `pip install`, in any spelling.
fn pip_install(command: &[String]) -> Option<&[String]> {
    let pip = command.iter().position(|word| matches!(word.rsplit('/').next(), Some("pip" | "pip3")))?;
    let install = command[pip..].iter().position(|word| word == "install")?;
    Some(&command[pip + install + 1..])
}

/// With `--require-hashes`, pip itself refuses files without versions and hashes.
fn check_pip(arguments: &[String], findings: &mut Findings) {
    let file = arguments.windows(2).find(|pair| pair[0] == "-r").map(|pair| &pair[1]);
    let is_checked = arguments.iter().any(|word| word == "--require-hashes");
    match file {
        None => findings.error(
            CheckRule::Pinned,
            "`pip install` without a requirements file",
            "list all packages with versions and hashes in a requirements.txt: `pip install --require-hashes -r …`",
        ),
        Some(file) if !is_checked => findings.error(
            CheckRule::Pinned,
            format!("`pip install -r {file}` does not check hashes, so indirect dependencies are not pinned"),
            "use `--require-hashes`, with hashes of all packages in the file: `pip-compile --generate-hashes` or \
             `uv pip compile` create such files",
        ),
        Some(_) => {}
    }
}

/// All files of this name below the folder, with their texts. `*.csproj` matches an ending.
fn texts(folder: &Path, name: &str) -> Vec<(PathBuf, String)> {
    let is_source = |child: &DirEntry| {
        let name = child.file_name().to_string_lossy();
        child.depth() == 0 || !name.starts_with('.') && name != "node_modules" && name != "target"
    };
    let is_it = |child: &DirEntry| {
        let found = child.file_name().to_string_lossy();
        name.strip_prefix('*').map_or(found == name, |ending| found.ends_with(ending))
    };
    let files =
        WalkDir::new(folder).follow_links(true).sort_by_file_name().into_iter().filter_entry(is_source);
    let files = files.flatten().filter(|child| child.file_type().is_file() && is_it(child));
    files.map(|file| (file.path().to_owned(), fs::read_to_string(file.path()).unwrap_or_default())).collect()
}

fn shown(folder: &Path, path: &Path) -> String {
    path.strip_prefix(folder).unwrap_or(path).display().to_string()
}

/// The first group of the first match, or the whole match.
fn first_match(pattern: &str, text: &str) -> Option<String> {
    // A test compiles the patterns.
    let found = Regex::new(pattern).ok()?.captures(text)?;
    found.get(1).or(found.get(0)).map(|group| group.as_str().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The findings in a folder with these files, for this command.
    fn found(files: &[(&str, &str)], command: &str) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
        let mut findings = Findings::default();
        check_command_line(folder.path(), &bare(&words), &mut findings);
        findings.sorted().into_iter().map(|finding| finding.what).collect()
    }

    #[test]
    fn every_pattern_compiles() {
        let managers = KNOWN.manager.iter().map(|manager| &manager.pattern);
        for pattern in managers.chain(KNOWN.floating.iter().map(|floating| &floating.pattern)) {
            Regex::new(pattern).unwrap_or_else(|error| panic!("{pattern}: {error}"));
        }
    }

    #[test]
    fn cargo_needs_lock_file_and_locked_flag() {
        let manifest = ("a/Cargo.toml", "[package]");
        assert_eq!(found(&[manifest, ("Cargo.lock", "")], "cargo build --locked"), [""; 0]);
        assert_eq!(found(&[manifest], "cargo build --locked"), ["no Cargo.lock beside a/Cargo.toml"]);
        assert_eq!(
            found(&[manifest, ("Cargo.lock", "")], "env A=b /usr/bin/cargo build"),
            ["`cargo` may change the lock file without `--locked`"]
        );
    }

    #[test]
    fn go_needs_go_sum_only_with_required_modules() {
        assert_eq!(found(&[("go.mod", "module a\n\ngo 1.25\n")], "go build ./a"), [""; 0]);
        let requires = ("go.mod", "module a\nrequire golang.org/x/sync v0.10.0\n");
        assert_eq!(found(&[requires], "go build ./a"), ["no go.sum beside go.mod"]);
        assert_eq!(found(&[requires, ("go.sum", "")], "go build ./a"), [""; 0]);
        assert_eq!(
            found(&[requires, ("go.sum", "")], "go build -mod=mod ./a"),
            ["`go -mod=mod` may change go.mod and go.sum"]
        );
    }

    #[test]
    fn npm_needs_ci_and_a_lock_file() {
        let package = ("package.json", r#"{ "dependencies": { "p-limit": "^6" } }"#);
        let lock = ("package-lock.json", "{}");
        assert_eq!(found(&[package, lock], "npm ci --omit=dev"), [""; 0]);
        assert_eq!(found(&[package, lock], "npm install"), ["`npm install` may ignore the lock file"]);
        assert_eq!(
            found(&[package], "npm ci"),
            ["no package-lock.json or npm-shrinkwrap.json beside package.json"]
        );
        assert_eq!(found(&[("package.json", "{\"dependencies\": {}}")], "npm ci"), [""; 0]);
    }

    #[test]
    fn pip_needs_requirements_file_with_hashes() {
        let pinned = ("requirements.txt", "# by hand\ntrio==0.31.0 \\\n    --hash=sha256:00\n");
        let pip = "{out}/venv/bin/python -m pip install --require-hashes -r requirements.txt";
        assert_eq!(found(&[pinned], pip), [""; 0]);
        let without = "{out}/venv/bin/pip install -r requirements.txt";
        assert_eq!(
            found(&[pinned], without),
            [
                "`pip install -r requirements.txt` does not check hashes, so indirect dependencies are not pinned"
            ]
        );
        assert_eq!(found(&[], "pip3 install trio"), ["`pip install` without a requirements file"]);
    }

    #[test]
    fn dotnet_ruby_and_elixir_packages_need_lock_files() {
        let project = ("a.csproj", "<PackageReference Include=\"X\" Version=\"1.*\" />");
        assert_eq!(found(&[project], "dotnet publish").len(), 2);
        assert_eq!(found(&[("a.csproj", "<Project />")], "dotnet publish"), [""; 0]);
        assert_eq!(found(&[("Gemfile", "")], "bundle install --frozen"), ["no Gemfile.lock beside Gemfile"]);
        assert_eq!(
            found(&[("mix.exs", "{:jason, \"~> 1.4\"}")], "mix compile"),
            ["no mix.lock beside mix.exs"]
        );
        assert_eq!(found(&[], "gcc -O2 sleep.c"), [""; 0]);
    }

    #[test]
    fn floating_versions_are_detected() {
        let floating = |tool: &str, text| {
            let known = KNOWN.floating.iter().find(|floating| floating.tool == tool).unwrap();
            first_match(&known.pattern, text)
        };
        assert_eq!(floating("mvn", "<version>[1.0,2.0)</version>").as_deref(), Some("[1.0,2.0)"));
        assert_eq!(floating("mvn", "<version>1-SNAPSHOT</version>").as_deref(), Some("1-SNAPSHOT"));
        assert_eq!(floating("mvn", "<version>1.10.2</version>"), None);
        assert_eq!(floating("gradle", "implementation(\"org.x:y:1.+\")").as_deref(), Some("1.+"));
        assert_eq!(floating("sbt", "\"a\" %% \"b\" % \"latest.release\"").as_deref(), Some("latest.release"));
        assert_eq!(
            floating("dotnet", "<PackageReference Include=\"X\" Version=\"1.*\" />").as_deref(),
            Some("1.*")
        );
    }
}
