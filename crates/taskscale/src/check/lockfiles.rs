//! Checks that dependencies are pinned, so that a build next month creates the same program. Reads the build commands and
//! their files, and runs nothing.
//!
//! Knows the package managers in the table below. Other builds have only the toolchain to pin, whose version is recorded
//! with each sample.

use std::fs;
use std::path::{Path, PathBuf};

use regex_lite::Regex;

use super::{CheckRule, CheckSubject, Findings};

/// One package manager.
struct Manager {
    /// The first words of a command that fetches or chooses versions.
    command: &'static [&'static str],
    /// The file that declares dependencies, and a regular expression that finds one.
    declared: (&'static str, &'static str),
    /// Lock files, one of which must exist. None if the declaration pins.
    locks: &'static [&'static str],
    /// Arguments, one of which must be given so that the lock file is not changed. None if that is the default.
    flags: &'static [&'static str],
    /// The command to use instead, which follows the lock file. Empty if the command is right.
    instead: &'static str,
}

const fn manager(
    command: &'static [&'static str],
    declared: (&'static str, &'static str),
    locks: &'static [&'static str],
    flags: &'static [&'static str],
    instead: &'static str,
) -> Manager {
    Manager { command, declared, locks, flags, instead }
}

const NPM_DEPENDENCIES: &str = r#""(dev|optional|peer)?[dD]ependencies"\s*:\s*\{\s*""#;
const NPM_LOCKS: &[&str] = &["package-lock.json", "npm-shrinkwrap.json"];

/// From each manager's documentation of its lock file and of the option that protects it.
const MANAGERS: &[Manager] = &[
    // Cargo would create a missing lock file, and change an outdated one.
    manager(&["cargo"], ("Cargo.toml", ""), &["Cargo.lock"], &["--locked", "--frozen"], ""),
    // -mod=readonly is the default since Go 1.16.
    manager(&["go"], ("go.mod", r"(?m)^\s*require\b"), &["go.sum"], &[], ""),
    manager(&["npm", "ci"], ("package.json", NPM_DEPENDENCIES), NPM_LOCKS, &[], ""),
    manager(&["npm", "install"], ("package.json", NPM_DEPENDENCIES), NPM_LOCKS, &[], "npm ci"),
    manager(&["npm", "i"], ("package.json", NPM_DEPENDENCIES), NPM_LOCKS, &[], "npm ci"),
    manager(
        &["yarn"],
        ("package.json", NPM_DEPENDENCIES),
        &["yarn.lock"],
        &["--frozen-lockfile", "--immutable"],
        "",
    ),
    manager(&["pnpm"], ("package.json", NPM_DEPENDENCIES), &["pnpm-lock.yaml"], &["--frozen-lockfile"], ""),
    manager(
        &["bun", "install"],
        ("package.json", NPM_DEPENDENCIES),
        &["bun.lock", "bun.lockb"],
        &["--frozen-lockfile"],
        "",
    ),
    manager(
        &["deno"],
        ("deno.json", r#""imports"\s*:\s*\{\s*""#),
        &["deno.lock"],
        &["--frozen", "--frozen=true", "--cached-only"],
        "",
    ),
    manager(&["uv", "sync"], ("pyproject.toml", ""), &["uv.lock"], &["--locked", "--frozen"], ""),
    manager(&["poetry", "install"], ("pyproject.toml", ""), &["poetry.lock"], &[], ""),
    manager(&["bundle"], ("Gemfile", ""), &["Gemfile.lock"], &["--frozen", "--deployment", "--local"], ""),
    manager(
        &["composer", "install"],
        ("composer.json", r#""require"\s*:\s*\{\s*""#),
        &["composer.lock"],
        &[],
        "",
    ),
    manager(&["composer", "update"], ("composer.json", ""), &["composer.lock"], &[], "composer install"),
    manager(&["mix"], ("mix.exs", r"\{:\w+,\s*(~s|\[|\x22)"), &["mix.lock"], &[], ""),
    manager(&["rebar3"], ("rebar.config", r"\{deps,\s*\[\s*[^\]\s]"), &["rebar.lock"], &[], ""),
    manager(
        &["dotnet"],
        ("*.csproj", r"<PackageReference\b"),
        &["packages.lock.json"],
        &["--locked-mode", "-p:RestoreLockedMode=true", "/p:RestoreLockedMode=true"],
        "",
    ),
    manager(
        &["dotnet"],
        ("*.fsproj", r"<PackageReference\b"),
        &["packages.lock.json"],
        &["--locked-mode", "-p:RestoreLockedMode=true", "/p:RestoreLockedMode=true"],
        "",
    ),
    manager(
        &["shards"],
        ("shard.yml", r"(?m)^dependencies:"),
        &["shard.lock"],
        &["--frozen", "--production"],
        "",
    ),
    manager(&["nimble"], ("*.nimble", r#"(?m)^requires\s+"[^"]*[a-z]{2,}.*,"#), &["nimble.lock"], &[], ""),
    manager(&["cabal"], ("*.cabal", ""), &["cabal.project.freeze"], &[], ""),
    manager(&["stack"], ("stack.yaml", ""), &["stack.yaml.lock"], &[], ""),
    manager(
        &["swift"],
        ("Package.swift", r"\.package\("),
        &["Package.resolved"],
        &["--disable-automatic-resolution", "--only-use-versions-from-resolved-file"],
        "",
    ),
    manager(
        &["dart"],
        ("pubspec.yaml", r"(?m)^dependencies:"),
        &["pubspec.lock"],
        &["--enforce-lockfile"],
        "",
    ),
];

/// Version ranges, in files of managers without a lock file.
const FLOATING: &[(&str, &[&str], &str, &str)] = &[
    (
        "mvn",
        &["pom.xml"],
        r"<version>\s*([\[(][^<]*|LATEST|RELEASE|[^<]*-SNAPSHOT)\s*</version>",
        "use one version, such as <version>1.2.3</version>",
    ),
    (
        "gradle",
        &["build.gradle", "build.gradle.kts"],
        r#"["'][\w.-]+:[\w.-]+:([^"']*\+|latest\.[a-z]+|\[[^"']*)["']"#,
        "use one version, or add a gradle.lockfile",
    ),
    ("sbt", &["build.sbt"], r#"%\s*"([^"]*\+|latest\.[a-z]+)""#, "use one version"),
    (
        "dotnet",
        &["*.csproj", "*.fsproj"],
        r#"<PackageReference[^>]*Version="([^"]*\*[^"]*|[\[(][^"]*,[^"]*)""#,
        "use one version in PackageReference",
    ),
];

pub(super) fn look(subject: &CheckSubject, findings: &mut Findings) {
    let folder = &subject.runtime.folder;
    let commands: Vec<Vec<String>> =
        subject.entry.workloads[&subject.workload.name].build.iter().map(|command| bare(command)).collect();
    for command in &commands {
        look_at_command(folder, command, findings);
    }
    for (tool, files, pattern, fix) in FLOATING {
        let wrapper = format!("{tool}w");
        let used =
            |command: &Vec<String>| command.first().is_some_and(|word| word == tool || *word == wrapper);
        if !commands.iter().any(used) {
            continue;
        }
        for (path, text) in files.iter().flat_map(|name| texts(folder, name)) {
            if let Some(version) = first_match(pattern, &text) {
                findings.error(
                    CheckRule::Pinned,
                    format!("{} has an unpinned version: `{version}`", shown(folder, &path)),
                    *fix,
                );
            }
        }
    }
}

fn look_at_command(folder: &Path, command: &[String], findings: &mut Findings) {
    if let Some(arguments) = pip_install(command) {
        look_at_pip(folder, arguments, findings);
        return;
    }
    for manager in MANAGERS {
        if !command.iter().map(String::as_str).take(manager.command.len()).eq(manager.command.iter().copied())
        {
            continue;
        }
        let (declaration, pattern) = manager.declared;
        let declared: Vec<PathBuf> = texts(folder, declaration)
            .into_iter()
            .filter(|(_, text)| pattern.is_empty() || first_match(pattern, text).is_some())
            .map(|(path, _)| path)
            .collect();
        let Some(declaration) = declared.first() else { continue };
        let tool = manager.command.join(" ");
        let declaration = shown(folder, declaration);
        if !manager.instead.is_empty() {
            findings.error(
                CheckRule::Pinned,
                format!("`{tool}` may ignore the lock file"),
                format!("build with `{}`", manager.instead),
            );
        }
        if !manager.locks.iter().any(|lock| !texts(folder, lock).is_empty()) {
            findings.error(
                CheckRule::Pinned,
                format!("no {} beside {declaration}", manager.locks.join(" or ")),
                format!("create it with `{}`, and keep it with the sources", manager.command[0]),
            );
        }
        if !manager.flags.is_empty() && !command.iter().any(|word| manager.flags.contains(&word.as_str())) {
            findings.error(
                CheckRule::Pinned,
                format!("`{tool}` may change the lock file without `{}`", manager.flags[0]),
                format!("add `{}` to the build", manager.flags[0]),
            );
        }
    }
    if command.first().is_some_and(|word| word == "go") && command.iter().any(|word| word == "-mod=mod") {
        findings.error(
            CheckRule::Pinned,
            "`go -mod=mod` may change go.mod and go.sum",
            "build with `-mod=readonly`",
        );
    }
}

/// The command without `env A=b` and the folder of the program.
fn bare(command: &[String]) -> Vec<String> {
    let mut words = command.iter().peekable();
    if words.peek().is_some_and(|word| *word == "env") {
        words.next();
        while words.peek().is_some_and(|word| word.contains('=') || word.starts_with('-')) {
            words.next();
        }
    }
    let mut bare: Vec<String> = words.cloned().collect();
    if let Some(program) = bare.first_mut() {
        *program = program.rsplit('/').next().unwrap_or_default().to_owned();
    }
    bare
}

/// The arguments of `pip install`, in any spelling.
fn pip_install(command: &[String]) -> Option<&[String]> {
    let pip = command.iter().position(|word| {
        let name = word.rsplit('/').next().unwrap_or_default();
        name == "pip" || name == "pip3"
    })?;
    let install = command[pip..].iter().position(|word| word == "install")?;
    Some(&command[pip + install + 1..])
}

fn look_at_pip(folder: &Path, arguments: &[String], findings: &mut Findings) {
    let file =
        arguments.iter().zip(arguments.iter().skip(1)).find(|(flag, _)| *flag == "-r").map(|(_, file)| file);
    let Some(file) = file else {
        findings.error(
            CheckRule::Pinned,
            "`pip install` without a requirements file",
            "list all packages with versions and hashes in a requirements.txt: `pip install --require-hashes -r …`",
        );
        return;
    };
    let text = fs::read_to_string(folder.join(file)).unwrap_or_default();
    // A backslash continues a line.
    let joined = text.replace("\\\n", " ");
    let packages: Vec<&str> = joined
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#') && !line.starts_with('-'))
        .collect();
    if let Some(loose) = packages.iter().find(|line| !line.contains("==") || line.contains("==*")) {
        let name = loose.split(char::is_whitespace).next().unwrap_or_default();
        findings.error(
            CheckRule::Pinned,
            format!("{file} has an unpinned version: `{name}`"),
            "pin it: `name==1.2.3 --hash=sha256:…`; `pip-compile --generate-hashes` or `uv pip compile` create such files",
        );
    }
    let hashed = packages.iter().all(|line| line.contains("--hash="));
    if !hashed || !arguments.iter().any(|word| word == "--require-hashes") {
        findings.error(
            CheckRule::Pinned,
            format!("`pip install -r {file}` does not check hashes, so indirect dependencies are not pinned"),
            "use `--require-hashes`, with hashes of all packages in the file",
        );
    }
}

/// All files of this name below the folder, with their texts; `*.csproj` matches an ending.
fn texts(folder: &Path, name: &str) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for child in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = child.path();
        let child_name = child.file_name().to_string_lossy().into_owned();
        if path.is_dir()
            && !child_name.starts_with('.')
            && child_name != "node_modules"
            && child_name != "target"
        {
            found.extend(texts(&path, name));
        } else if name.strip_prefix('*').map_or(child_name == name, |ending| child_name.ends_with(ending)) {
            found.push((path.clone(), fs::read_to_string(&path).unwrap_or_default()));
        }
    }
    found.sort();
    found
}

fn shown(folder: &Path, path: &Path) -> String {
    path.strip_prefix(folder).unwrap_or(path).display().to_string()
}

/// The first group of the first match, or the whole match.
fn first_match(pattern: &str, text: &str) -> Option<String> {
    // The patterns are constants, which a test compiles.
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
        look_at_command(folder.path(), &bare(&words), &mut findings);
        findings.sorted().into_iter().map(|finding| finding.what).collect()
    }

    #[test]
    fn every_pattern_can_be_read() {
        for pattern in MANAGERS.iter().map(|m| m.declared.1).chain(FLOATING.iter().map(|f| f.2)) {
            Regex::new(pattern).unwrap_or_else(|error| panic!("{pattern}: {error}"));
        }
    }

    #[test]
    fn cargo_needs_its_lock_file_and_must_not_change_it() {
        let manifest = ("a/Cargo.toml", "[package]");
        assert_eq!(found(&[manifest, ("Cargo.lock", "")], "cargo build --locked"), [""; 0]);
        assert_eq!(found(&[manifest], "cargo build --locked"), ["no Cargo.lock beside a/Cargo.toml"]);
        assert_eq!(
            found(&[manifest, ("Cargo.lock", "")], "env A=b /usr/bin/cargo build"),
            ["`cargo` may change the lock file without `--locked`"]
        );
    }

    #[test]
    fn go_needs_sums_only_where_it_requires_modules() {
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
    fn npm_goes_by_its_lock_file_only_with_ci() {
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
    fn pip_needs_versions_and_hashes() {
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
        assert_eq!(
            found(&[("requirements.txt", "trio>=0.3 --hash=sha256:00")], pip),
            ["requirements.txt has an unpinned version: `trio>=0.3`"]
        );
        assert_eq!(found(&[], "pip3 install trio"), ["`pip install` without a requirements file"]);
    }

    #[test]
    fn others_are_known_by_the_table() {
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
    fn floating_versions_are_found() {
        let floating = |tool: &str, text| {
            let (.., pattern, _) = FLOATING.iter().find(|(name, ..)| *name == tool).unwrap();
            first_match(pattern, text)
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
