//! The released crate and wheel: complete, and working without the repository.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use tempfile::TempDir;

use crate::support::{copy_program, skipped};
use taskscale::catalog::embedded_files;

/// Maximum size of the packaged crate, in bytes: every `cargo install` downloads it.
const CRATE_BYTES: u64 = 2_000_000;

fn crate_folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The target folder of this test.
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
fn package_contains_the_whole_catalog() {
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

/// Builds outside of the repository, from the output of `cargo package` only.
#[test]
#[ignore = "nightly: compiles taskscale once more"]
fn the_package_builds_and_works_without_the_repository() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let made = folder.path().join("made");
    // All at once, as no registry has the libraries that taskscale needs.
    let libraries = ["taskscale-load", "taskscale-measure"];
    let mut package = cargo(&["package", "--no-verify", "--allow-dirty", "-p", "taskscale"], crate_folder());
    output(package.args(libraries.map(|name| format!("-p{name}"))).arg("--target-dir").arg(&made));
    let unpack = |name: &str| {
        let name = format!("{name}-{}", env!("CARGO_PKG_VERSION"));
        let archive = made.join(format!("package/{name}.crate"));
        output(Command::new("tar").arg("-xzf").arg(&archive).arg("-C").arg(folder.path()));
        (archive, folder.path().join(name))
    };
    let ((archive, unpacked), libraries) =
        (unpack("taskscale"), libraries.map(|name| (name, unpack(name).1)));

    let bytes = fs::metadata(&archive).expect("the packaged crate").len();
    assert!(bytes <= CRATE_BYTES, "the packaged crate has {bytes} bytes, and {CRATE_BYTES} are the most");

    let apart = apart();
    let mut build = cargo(&["build"], &unpacked);
    for (name, folder) in &libraries {
        build.args(["--config", &format!("patch.crates-io.{name}.path={:?}", folder.display().to_string())]);
    }
    // From the workspace's profile, which the package lacks.
    output(build.arg("--target-dir").arg(apart.path()).env("CARGO_PROFILE_DEV_DEBUG", "line-tables-only"));
    let program = folder.path().join("taskscale");
    copy_program(&apart.path().join("debug/taskscale"), &program);
    for folder in libraries.into_iter().map(|(_, folder)| folder).chain([unpacked]) {
        fs::remove_dir_all(folder).expect("what was unpacked");
    }
    works_alone(&program, folder.path());
}

/// Needs maturin, in PATH or named by MATURIN, and a Python that makes virtual environments.
#[test]
#[ignore = "nightly: compiles taskscale once more"]
fn the_wheel_installs_and_works_without_the_repository() {
    let maturin = env::var_os("MATURIN").unwrap_or("maturin".into());
    if Command::new(&maturin).arg("--version").output().is_err() {
        return skipped("no maturin: pip install maturin, or MATURIN=PATH");
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let environment = folder.path().join("environment");
    let made = Command::new("python3").args(["-m", "venv"]).arg(&environment).output();
    if !made.is_ok_and(|made| made.status.success()) {
        return skipped("no Python that makes virtual environments: apt install python3-venv");
    }

    // Unoptimized: optimization is not tested here. packaging/build makes the released wheel.
    let mut build = Command::new(maturin);
    build.args(["build", "--profile", "dev", "--compatibility", "linux", "--target-dir"]);
    let apart = apart();
    build.arg(apart.path()).arg("--out").arg(folder.path()).current_dir(crate_folder().join("../.."));
    output(&mut build);
    let wheels: Vec<PathBuf> = fs::read_dir(folder.path())
        .expect("a folder")
        .map(|child| child.expect("a file").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "whl"))
        .collect();
    let mut install = Command::new(environment.join("bin/pip"));
    install.args(["install", "--quiet", "--disable-pip-version-check", "--no-index"]).args(&wheels);
    output(&mut install);

    let show = "from importlib.metadata import distribution; wheel = distribution('taskscale'); \
                print(wheel.read_text('METADATA'), *wheel.files, sep='\\n')";
    let shown = output(Command::new(environment.join("bin/python")).args(["-c", show]));
    let readme = fs::read_to_string(crate_folder().join("../../README.md")).expect("README.md");
    for wanted in [
        concat!("\nVersion: ", env!("CARGO_PKG_VERSION"), "\n"),
        concat!("\nSummary: ", env!("CARGO_PKG_DESCRIPTION"), "\n"),
        concat!(" ", env!("CARGO_PKG_REPOSITORY"), "\n"),
        "/licenses/LICENSE-MIT\n",
        "/licenses/LICENSE-APACHE\n",
        &readme,
    ] {
        assert!(shown.contains(wanted), "{wanted:?} is not in {shown}");
    }
    works_alone(&environment.join("bin/taskscale"), folder.path());
}

#[test]
fn versions_and_addresses_agree_with_the_manifest() {
    let citation = fs::read_to_string(crate_folder().join("../../CITATION.cff")).expect("CITATION.cff");
    let said = |key: &str| citation.lines().find_map(|line| line.strip_prefix(key));
    assert_eq!(said("version: "), Some(env!("CARGO_PKG_VERSION")));
    assert_eq!(said("repository-code: "), Some(env!("CARGO_PKG_REPOSITORY")));

    let manifest = fs::read_to_string(crate_folder().join("Cargo.toml")).expect("Cargo.toml");
    let manifest: toml::Table = manifest.parse().expect("TOML");
    let binstall = &manifest["package"]["metadata"]["binstall"];
    for (target, place) in binstall["overrides"].as_table().expect("a table") {
        for key in ["pkg-url", "bin-dir"] {
            let general = binstall[key].as_str().expect("text");
            let of_glibc = general.replace("{ target }", &target.replace("-musl", "-gnu"));
            assert_eq!(place[key].as_str(), Some(of_glibc.as_str()), "{target}: {key}");
        }
    }
}

/// Runs in a clone of the last commit, with the scripts of this working tree.
#[test]
fn release_sets_the_version_everywhere_or_nowhere() {
    let repository = crate_folder().join("../..");
    if !repository.join(".git").exists() {
        return skipped("no git repository");
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let clone = folder.path().join("clone");
    output(Command::new("git").args(["clone", "--quiet", "--no-tags"]).arg(&repository).arg(&clone));
    let git = |arguments: &[&str]| {
        let identity = ["-c", "user.name=a test", "-c", "user.email=test@localhost"];
        output(Command::new("git").args(identity).args(arguments).current_dir(&clone))
    };
    let release = |version: &str| {
        let mut command = Command::new(clone.join("packaging/release"));
        command.arg(version).current_dir(&clone);
        for role in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{role}_NAME"), "a test");
            command.env(format!("GIT_{role}_EMAIL"), "test@localhost");
        }
        command.output().expect("packaging/release")
    };
    git(&["checkout", "--quiet", "-B", "main"]);
    for script in ["release", "notes"].map(|name| Path::new("packaging").join(name)) {
        copy_program(&repository.join(&script), &clone.join(&script));
    }
    let changelog = clone.join("CHANGELOG.md");
    let heading = "## [Unreleased]\n";
    let text = fs::read_to_string(&changelog).expect("CHANGELOG.md");
    fs::write(&changelog, text.replace(heading, &format!("{heading}\n- A line of a test.\n")))
        .expect("a file");

    let refused = |version: &str, why: &str| {
        let refused = release(version);
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(!refused.status.success() && said.contains(why), "{version}: {said}");
    };
    refused("99.0.0", "the tree is not clean");
    git(&["commit", "--quiet", "--all", "--allow-empty", "--message", "What is to be released"]);
    refused("99.0", "is no version");
    refused("0.0.0", "0.0.0 is below");

    let made = release("99.0.0");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    assert_eq!(git(&["tag", "--points-at", "HEAD"]), "v99.0.0\n");
    assert_eq!(git(&["status", "--porcelain"]), "");
    assert_eq!(
        output(&mut cargo(&["pkgid", "--locked", "--package", "taskscale"], &clone))
            .trim()
            .rsplit('#')
            .next(),
        Some("99.0.0")
    );
    let citation = fs::read_to_string(clone.join("CITATION.cff")).expect("CITATION.cff");
    assert!(citation.contains("\nversion: 99.0.0\n") && citation.contains("\ndate-released: "), "{citation}");
    let notes = output(Command::new(clone.join("packaging/notes")).arg("99.0.0"));
    assert!(notes.starts_with("- A line of a test.\n"), "{notes}");
    assert!(!notes.contains("\n## "), "{notes}");
    refused("99.0.0", "v99.0.0 is tagged already");
    refused("99.0.1", "a release with nothing in it");
}

/// A separate target folder, so that the tested program is not replaced. Artifacts of the tests are linked into
/// it. If that fails, they are built again.
fn apart() -> TempDir {
    let apart = tempfile::tempdir_in(target()).expect("a temporary folder");
    let profile = apart.path().join("debug");
    fs::create_dir(&profile).expect("a folder");
    for built in ["deps", "build", ".fingerprint"].map(|name| target().join("debug").join(name)) {
        let _ = Command::new("cp").args(["-a", "--link"]).arg(built).arg(&profile).output();
    }
    apart
}

/// A program without other files lists the whole catalog, and creates an entry from it.
#[track_caller]
fn works_alone(program: &Path, folder: &Path) {
    let home = folder.join("home");
    fs::create_dir(&home).expect("a folder");
    let run = |arguments: &[&str]| {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&home).env_clear().env("HOME", &home);
        output(command.envs(env::var_os("PATH").map(|path| ("PATH", path))))
    };
    assert_eq!(run(&["--version"]), concat!("taskscale ", env!("CARGO_PKG_VERSION"), "\n"));
    let listed = run(&["list", "--json"]);
    let listed: serde_json::Value = serde_json::from_str(&listed).expect("JSON");
    let text = listed.to_string();
    let entries =
        taskscale::catalog::Catalog::load(&crate_folder().join("../../runtimes")).expect("a catalog");
    for (_, entry) in entries.entries() {
        assert!(text.contains(&format!("{:?}", entry.full_name)), "{} is not listed", entry.full_name);
    }
    // Copies an entry whose Cargo.toml has another name in the package.
    run(&["new", "rust/mine", "-w", "ring", "--catalog", "mine"]);
    assert!(home.join("mine/rust/mine/Cargo.toml").is_file());
}
