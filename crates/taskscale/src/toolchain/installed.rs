//! Which versions of a toolchain are installed.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::find::{candidates, find, globbed};
use crate::catalog::{DottedVersion, Locate, PinnedToolchain, ToolchainSpec};

/// The installed versions, ascending, each once: in `named` folders, where the toolchain is found by default,
/// and where version managers keep others. Runs each one's version command.
pub fn installed(spec: &ToolchainSpec, named: &[PathBuf]) -> Vec<PinnedToolchain> {
    let places = spec.versions.as_ref();
    let program = places.and_then(|places| places.program.clone());
    let program = program.or_else(|| Some(spec.locate.as_ref()?.program.clone()));
    // A folder that a user names has its programs in `bin/`.
    let command = spec.version.first().filter(|word| !named.is_empty() && !word.contains('/'));
    let Some(program) = program.or_else(|| command.map(|word| format!("bin/{word}"))) else {
        return Vec::new();
    };
    let usual = Locate { program: program.clone(), ..spec.locate.clone().unwrap_or_default() };
    let managed = places.iter().flat_map(|places| &places.folders).flat_map(|pattern| globbed(pattern));
    let mut homes = BTreeSet::new();
    let homes = named
        .iter()
        .cloned()
        .chain(candidates(&usual, None))
        .chain(managed)
        .filter_map(|home| home.canonicalize().ok())
        .filter(|home| home.join(&program).is_file() && homes.insert(home.clone()));
    let mut found: Vec<PinnedToolchain> = Vec::new();
    for home in homes.collect::<Vec<_>>() {
        let any = PinnedToolchain { home: home.clone(), version: DottedVersion(Vec::new()) };
        let toolchain = find(&ToolchainSpec { pinned: Some(any), ..spec.clone() }).ok();
        let version = toolchain.and_then(|toolchain| DottedVersion::first_in(&toolchain.version));
        let new = version.filter(|version| found.iter().all(|other| other.version != *version));
        found.extend(new.map(|version| PinnedToolchain { version, home }));
    }
    found.sort_by(|one, other| one.version.cmp(&other.version));
    found
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::process::Command;

    use super::*;
    use crate::catalog::{Install, VersionPlaces};

    /// A toolchain that prints a version. Written by another process: a child that a concurrent test forks
    /// would keep the file open for writing until its exec, and the kernel does not run such a file.
    fn install(folder: &Path, prints: &str) {
        let program = folder.join("bin/tool");
        fs::create_dir_all(program.parent().unwrap()).unwrap();
        let write = format!("echo '#!/bin/sh' > $0; echo 'echo {prints}' >> $0; chmod 755 $0");
        let written = Command::new("sh").arg("-c").arg(write).arg(&program).status().unwrap();
        assert!(written.success());
    }

    fn spec(folder: &Path) -> ToolchainSpec {
        ToolchainSpec {
            title: "Tool".to_owned(),
            version: vec!["tool".to_owned(), "--version".to_owned()],
            minimum: DottedVersion::parse("9"),
            install: Install { debian: None, other: "its site".to_owned() },
            locate: None,
            versions: Some(VersionPlaces {
                of: None,
                program: Some("bin/tool".to_owned()),
                folders: vec![format!("{}/managed/*", folder.display())],
                install: "manager install tool@{version}".to_owned(),
                page: None,
                env: [("TOOL_SWITCH".to_owned(), "off".to_owned())].into(),
            }),
            folder: folder.to_owned(),
            pinned: None,
        }
    }

    #[test]
    fn each_installed_version_is_found_once_in_its_folder() {
        let world = tempfile::tempdir().unwrap();
        let world = world.path().canonicalize().unwrap();
        install(&world.join("managed/a"), "tool 1.10.2");
        install(&world.join("managed/b"), "tool 1.9.0");
        install(&world.join("managed/c"), "tool 1.9.0");
        install(&world.join("managed/broken"), "\"\"; exit 1");
        install(&world.join("mine"), "v2.0-rc");
        let found = installed(&spec(&world), &[world.join("mine"), world.join("nothing")]);
        let shown: Vec<(String, PathBuf)> =
            found.iter().map(|one| (one.version.to_string(), one.home.clone())).collect();
        let expected = [("1.9.0", "managed/b"), ("1.10.2", "managed/a"), ("2.0", "mine")];
        assert_eq!(shown, expected.map(|(version, home)| (version.to_owned(), world.join(home))));
    }

    #[test]
    fn toolchains_of_another_version_are_refused() {
        let world = tempfile::tempdir().unwrap();
        install(&world.path().join("a"), "$TOOL_SWITCH 1.10.2");
        let pinned = |asked: &str| ToolchainSpec {
            pinned: Some(PinnedToolchain {
                home: world.path().join("a"),
                version: DottedVersion::parse(asked).unwrap(),
            }),
            ..spec(world.path())
        };
        assert_eq!(find(&pinned("1.10")).unwrap().version, "off 1.10.2");
        let error = find(&pinned("1.1")).unwrap_err().to_string();
        assert!(error.starts_with("Tool 1.1 is not there") && error.ends_with("is off 1.10.2"), "{error}");
    }
}
