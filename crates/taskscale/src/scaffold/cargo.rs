//! Turns a package of the catalog's Cargo workspace into one of its own.
//!
//! A workspace has one lock file, and with `--locked` cargo refuses one with a missing member or an unneeded package. So a
//! new package is its own workspace, and its lock file contains exactly what it needs.

use std::collections::BTreeMap;

use serde::Deserialize;

#[derive(Deserialize)]
struct Locked {
    name: String,
    version: String,
    #[serde(default)]
    dependencies: Vec<String>,
}

/// The package's manifest, with inherited values of the workspace written out. Libraries that `code` does not
/// name are left out, with the features that bring them, and so are `[[bin]]` tables: cargo finds programs by
/// their files.
pub(super) fn package(package: &str, workspace: &str, code: &str) -> String {
    let (mut text, mut table) = (String::new(), String::new());
    // A comment stays or goes with the line below it.
    let mut comment = String::new();
    for line in package.lines() {
        let key = line.split([' ', '.']).next().unwrap_or(line);
        let inherited = line.strip_suffix(".workspace = true").and_then(|key| {
            workspace.lines().find(|line| line.strip_prefix(key).is_some_and(|rest| rest.starts_with(" = ")))
        });
        let line = format!("{}\n", inherited.unwrap_or(line));
        if line.starts_with('[') {
            table = line.trim_end().to_owned();
        } else if line.starts_with('#') {
            comment.push_str(&line);
            continue;
        }
        let comment = std::mem::take(&mut comment);
        let brings = |library: &str| is_named(code, library.split('"').next().unwrap_or(library));
        let is_kept = match table.as_str() {
            "[[bin]]" => false,
            "[dependencies]" => !line.contains('=') || is_named(code, key),
            "[features]" => line.split("\"dep:").skip(1).all(brings),
            _ => true,
        };
        if is_kept {
            text.extend([comment, line]);
        }
    }
    text + "\n# Its own workspace, so that it does not use a lock file above this folder.\n[workspace]\n"
}

/// Whether code uses a library, which a lock file may name with its version.
fn is_named(code: &str, library: &str) -> bool {
    let library = library.split(' ').next().unwrap_or(library);
    code.contains(&format!("{}::", library.replace('-', "_")))
}

/// The part of a workspace's lock file that the package `from` needs for `code`, for a package called `name`.
pub(super) fn lock(workspace: &str, from: &str, code: &str, name: &str) -> String {
    const START: &str = "[[package]]\n";
    let mut paragraphs = workspace.split(START);
    let head = paragraphs.next().unwrap_or_default();
    let all: Vec<(&str, Locked)> =
        paragraphs.filter_map(|text| Some((text, toml::from_str(text).ok()?))).collect();
    let root = all.iter().find(|(_, package)| package.name == from).map(|(_, package)| package);
    let needs: Vec<&String> =
        root.iter().flat_map(|root| &root.dependencies).filter(|library| is_named(code, library)).collect();

    let mut wanted: BTreeMap<(&str, &str), String> = BTreeMap::new();
    let mut open = needs.clone();
    while let Some(need) = open.pop() {
        // `name`, or `name version` where the lock file has several of that name.
        let (name, version) = need.split_once(' ').map_or((need.as_str(), None), |(name, v)| (name, Some(v)));
        let is_it = |package: &Locked| package.name == name && version.is_none_or(|v| v == package.version);
        for (text, package) in all.iter().filter(|(_, package)| is_it(package)) {
            let text = format!("{START}{}\n", text.trim_end());
            if wanted.insert((&package.name, &package.version), text).is_none() {
                open.extend(&package.dependencies);
            }
        }
    }
    let mut own = format!("{START}name = \"{name}\"\nversion = \"0.0.0\"\n");
    if !needs.is_empty() {
        let lines: String = needs.iter().map(|need| format!(" \"{need}\",\n")).collect();
        own.push_str(&format!("dependencies = [\n{lines}]\n"));
    }
    wanted.insert((name, "0.0.0"), own);
    head.to_owned() + &wanted.into_values().collect::<Vec<_>>().join("\n")
}

/// A build command that finds the package by its folder, not in a workspace.
pub(super) fn command(words: &[String]) -> Vec<String> {
    let mut of_package = false;
    let word = |word: &String| match (std::mem::replace(&mut of_package, word == "-p"), word.as_str()) {
        (true, package) => format!("{package}/Cargo.toml"),
        (false, "-p") => "--manifest-path".to_owned(),
        (false, word) => word.to_owned(),
    };
    words.iter().map(word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_inline_workspace_settings_and_dependencies() {
        let workspace = "[workspace]\nmembers = [\"a\"]\n[workspace.package]\nedition = \"2024\"\n";
        let own = "[package]\nname = \"a\"\nedition.workspace = true\n\n[features]\nx = [\"dep:b\", \"dep:c-d\"]\ny = [\"dep:c-d\"]\n\n\
                   [dependencies]\n# No.\nb = \"1\"\n# Yes.\nc-d = \"1\"\n\n[[bin]]\nname = \"a-x\"\n";
        insta::assert_snapshot!(package(own, workspace, "use c_d::E;"), @r#"
        [package]
        name = "a"
        edition = "2024"

        [features]
        y = ["dep:c-d"]

        [dependencies]
        # Yes.
        c-d = "1"


        # Its own workspace, so that it does not use a lock file above this folder.
        [workspace]
        "#);
    }

    #[test]
    fn lock_files_have_only_needed_packages() {
        let of = |name: &str, version: &str, needs: &[&str]| {
            let needs: String = needs.iter().map(|need| format!(" \"{need}\",\n")).collect();
            let needs = if needs.is_empty() { needs } else { format!("dependencies = [\n{needs}]\n") };
            format!("\n[[package]]\nname = \"{name}\"\nversion = \"{version}\"\n{needs}")
        };
        let all = [
            of("a", "0.0.0", &["b 2.0.0", "d"]),
            of("b", "1.0.0", &[]),
            of("b", "2.0.0", &["c"]),
            of("c", "0.1.0", &[]),
            of("d", "0.0.0", &["b 1.0.0"]),
        ];
        let needed = format!(
            "version = 4\n{}{}{}",
            of("b", "2.0.0", &["c"]),
            of("c", "0.1.0", &[]),
            of("z", "0.0.0", &["b 2.0.0"])
        );
        let all = format!("version = 4\n{}", all.concat());
        // `b 2.0.0` is found by the name that code uses.
        assert_eq!(lock(&all, "a", "b::x()", "z"), needed);
        assert_eq!(lock(&all, "a", "", "z"), format!("version = 4\n{}", of("z", "0.0.0", &[])));
    }
}
