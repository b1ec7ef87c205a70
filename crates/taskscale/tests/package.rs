//! The crate as it is published: whole, and at work where there is no repository.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use taskscale::catalog::embedded_files;

fn crate_folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The folder that this very test was built into.
fn target() -> PathBuf {
    let profile = Path::new(env!("CARGO_BIN_EXE_taskscale")).parent().expect("target/debug");
    profile.parent().expect("target").to_owned()
}

#[track_caller]
fn output(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

fn cargo(arguments: &[&str], folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO"));
    command.args(["--offline", "--quiet"]).args(arguments).current_dir(folder);
    command
}

#[test]
fn the_package_carries_the_whole_catalogue() {
    let listed = output(&mut cargo(&["package", "--list", "--allow-dirty"], crate_folder()));
    let listed: BTreeSet<&str> = listed.lines().collect();
    for name in
        ["README.md", "LICENSE-MIT", "LICENSE-APACHE", "assets/report.html", "templates/shell/runtime.toml"]
    {
        assert!(listed.contains(name), "{name} is not in the package");
    }
    let inside = |folder: &str| -> BTreeSet<String> {
        let names = listed.iter().filter_map(|name| name.strip_prefix(folder));
        names.map(|name| name.strip_suffix(".in").unwrap_or(name).to_owned()).collect()
    };
    let (plain, of_cargo) = (inside("packaged/runtimes/"), inside("packaged/cargo/"));
    assert_eq!(plain.intersection(&of_cargo).next(), None, "in both");
    let packaged: BTreeSet<&str> = plain.union(&of_cargo).map(String::as_str).collect();
    let wanted: BTreeSet<&str> = embedded_files().collect();
    let help = "see crates/taskscale/packaged/README.md for the links that are wanted";
    assert_eq!(wanted.difference(&packaged).collect::<Vec<_>>(), Vec::<&&str>::new(), "missing: {help}");
    assert_eq!(packaged.difference(&wanted).collect::<Vec<_>>(), Vec::<&&str>::new(), "too many: {help}");
}

/// Outside of the repository, from what `cargo package` made and from nothing else.
#[test]
fn the_package_builds_and_works_without_the_repository() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let made = folder.path().join("made");
    let package = ["package", "--no-verify", "--allow-dirty", "--target-dir"];
    output(cargo(&package, crate_folder()).arg(&made));
    let name = concat!("taskscale-", env!("CARGO_PKG_VERSION"));
    let archive = made.join(format!("package/{name}.crate"));
    output(Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(folder.path()));
    let unpacked = folder.path().join(name);

    // A folder of its own, as the program would take the place of the one that is tested; kept, for the dependencies.
    let target = target().join("packaged");
    output(cargo(&["build", "--locked", "--target-dir"], &unpacked).arg(&target));
    let program = folder.path().join("taskscale");
    fs::copy(target.join("debug/taskscale"), &program).expect("the program that was built");
    fs::remove_dir_all(&unpacked).expect("what was unpacked");

    let home = folder.path().join("home");
    fs::create_dir(&home).expect("a folder");
    let run = |arguments: &[&str]| {
        let mut command = Command::new(&program);
        command.args(arguments).current_dir(&home).env_clear().env("HOME", &home);
        output(command.envs(env::var_os("PATH").map(|path| ("PATH", path))))
    };
    let listed = run(&["list", "--json"]);
    let listed: serde_json::Value = serde_json::from_str(&listed).expect("JSON");
    let text = listed.to_string();
    let entries =
        taskscale::catalog::Catalog::load(&crate_folder().join("../../runtimes")).expect("a catalogue");
    for (_, entry) in entries.entries() {
        assert!(text.contains(&format!("{:?}", entry.full_name)), "{} is not listed", entry.full_name);
    }
    // After an entry whose Cargo.toml had another name in the package.
    run(&["new", "rust/mine", "-w", "ring", "--catalog", "mine"]);
    assert!(home.join("mine/rust/mine/Cargo.toml").is_file());
}
