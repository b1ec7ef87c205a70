//! taskscale without its repository: the catalogue that it carries, what it keeps, what it removes, what it writes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use taskscale::campaign::{NotReady, prepare};
use taskscale::catalog::{Catalog, embedded_name, select};
use taskscale::scaffold::LANGUAGES;
use taskscale::toolchain::{Attend, Cache};
use tempfile::TempDir;

use crate::support::copy_program;

/// A taskscale that was installed, for a user who has nothing else.
struct Installed {
    root: TempDir,
}

/// Exit code, standard output, standard error.
type CommandOutput = (i32, String, String);

impl Installed {
    fn new() -> Installed {
        let installed = Installed { root: tempfile::tempdir().unwrap() };
        for folder in ["bin", "home", "tmp", "here"] {
            fs::create_dir(installed.path(folder)).unwrap();
        }
        // Not a link: what is installed is a copy.
        copy_program(Path::new(env!("CARGO_BIN_EXE_taskscale")), &installed.path("bin/taskscale"));
        installed
    }

    fn path(&self, inside: &str) -> PathBuf {
        self.root.path().join(inside)
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(self.path("bin/taskscale"));
        command.args(args).current_dir(self.path("here")).env_clear();
        // Toolchains live in the tester's own home (rustup does), and are told where.
        for name in ["PATH", "RUSTUP_HOME", "CARGO_HOME", "DOTNET_ROOT", "JAVA_HOME"] {
            command.envs(std::env::var_os(name).map(|value| (name, value)));
        }
        if let Some(home) = std::env::var_os("HOME").map(PathBuf::from) {
            for (name, folder) in [("RUSTUP_HOME", ".rustup"), ("CARGO_HOME", ".cargo")] {
                if std::env::var_os(name).is_none() && home.join(folder).is_dir() {
                    command.env(name, home.join(folder));
                }
            }
        }
        command
            .env("HOME", self.path("home"))
            .env("TMPDIR", self.path("tmp"))
            .env("TASKSCALE_LOCK", self.path("lock"));
        command
    }

    fn run(&self, args: &[&str]) -> CommandOutput {
        said(self.command(args))
    }
}

fn said(mut command: Command) -> CommandOutput {
    let output = command.output().expect("taskscale starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().expect("no signal"), text(&output.stdout), text(&output.stderr))
}

fn builds(cache: &Path) -> usize {
    Cache::at(cache).kept_builds().unwrap().len()
}

#[test]
fn an_installed_binary_measures_from_the_catalogue_that_it_carries() {
    let installed = Installed::new();
    let unpacked = installed.path("home/.cache/taskscale/catalogs").join(embedded_name().unwrap());
    let (code, stdout, stderr) = installed.run(&["doctor"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains(" (embedded)"), "{stdout}");
    // Toolchains that are asked for their versions may leave files of their own.
    assert!(!installed.path("home/.cache/taskscale").exists(), "doctor unpacks the catalog");
    let (code, stdout, stderr) = installed.run(&["list"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains("rust/thread") && stdout.contains("go/goroutine"), "{stdout}");
    assert_eq!(stderr, format!("catalog: {} (embedded)\n", unpacked.display()));

    let (code, stdout, stderr) =
        installed.run(&["run", "rust/floor", "-n", "10", "-r", "1", "-o", "out", "--format", "json"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains("rust/floor"), "{stdout}");
    assert!(installed.path("here/out/samples.jsonl").is_file());
    let cache = installed.path("home/.cache/taskscale");
    assert_eq!(builds(&cache), 1);

    // Nothing is old yet.
    let (code, stdout, stderr) = installed.run(&["clean"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.starts_with("freed 0 B (0 of 2) in "), "{stdout}");
    assert_eq!(builds(&cache), 1);

    // A build of other sources, and a catalogue of another version.
    let old = cache.join("builds/rust/0123456789abcdef");
    fs::create_dir_all(&old).unwrap();
    fs::write(old.join("program"), vec![1; 3 << 20]).unwrap();
    fs::create_dir(cache.join("catalogs/0.0.1-abc")).unwrap();
    let (code, stdout, _) = installed.run(&["clean", "--dry-run"]);
    assert_eq!(code, 0);
    assert!(stdout.contains("would remove builds of rust (0123456789abcdef): 3.00 MiB\n"), "{stdout}");
    assert!(stdout.contains("would remove catalog 0.0.1-abc: "), "{stdout}");
    assert!(stdout.contains("\nwould free 3.") && stdout.contains(" MiB (2 of 4) in "), "{stdout}");
    assert!(old.exists(), "a dry run removes nothing");
    let (code, stdout, _) = installed.run(&["clean"]);
    assert_eq!(code, 0);
    assert!(stdout.contains("\nfreed 3.") && !old.exists(), "{stdout}");
    assert!(!cache.join("catalogs/0.0.1-abc").exists() && unpacked.is_dir());
    assert_eq!(builds(&cache), 1);

    let (code, stdout, _) = installed.run(&["clean", "--all"]);
    assert_eq!(code, 0);
    assert!(stdout.contains("(2 of 2)"), "{stdout}");
    assert!(builds(&cache) == 0 && !unpacked.exists());
    assert!(installed.path("here/out/samples.jsonl").is_file(), "campaigns are not touched");
}

#[test]
fn the_catalogue_is_looked_for_in_order() {
    let installed = Installed::new();
    let used = |set: &dyn Fn(&mut Command), args: &[&str]| {
        let mut command = installed.command(args);
        // Without toolchains: none is asked for its version.
        command.env("PATH", installed.path("bin"));
        set(&mut command);
        let (code, _, stderr) = said(command);
        assert_eq!(code, 0, "{stderr}");
        stderr.lines().next().unwrap_or_default().replace(&installed.root.path().display().to_string(), "")
    };
    for folder in ["option", "variable", "here/runtimes"] {
        let mut command = installed.command(&["new", "perl/fork"]);
        command.env("TASKSCALE_CATALOG", installed.path(folder));
        let (code, _, stderr) = said(command);
        assert_eq!(code, 0, "{stderr}");
    }
    let variable = |command: &mut Command| {
        command.env("TASKSCALE_CATALOG", installed.path("variable"));
    };
    let nothing = |_: &mut Command| {};
    assert_eq!(used(&variable, &["list", "--catalog", "../option"]), "catalog: /here/../option (--catalog)");
    assert_eq!(used(&variable, &["list"]), "catalog: /variable ($TASKSCALE_CATALOG)");
    // A few entries of one's own stand beside what taskscale carries.
    let carried = format!("/home/.cache/taskscale/catalogs/{}", embedded_name().unwrap());
    let beside =
        format!("catalog: /here/runtimes and {carried} (the nearest runtimes/ and the embedded catalog)");
    assert_eq!(used(&nothing, &["list"]), beside);
    let below = |command: &mut Command| {
        fs::create_dir_all(installed.path("here/deep/down")).unwrap();
        command.current_dir(installed.path("here/deep/down"));
    };
    assert_eq!(used(&below, &["list"]), beside);
    let two = used(&nothing, &["list", "--catalog", "../option", "--catalog", "../variable"]);
    assert_eq!(two, "catalog: /here/../option and /here/../variable (--catalog)");
    let embedded = used(&variable, &["list", "--catalog", "embedded"]);
    assert!(embedded.ends_with("(embedded)"), "{embedded}");
    // XDG's variable, where it is set.
    let xdg = |command: &mut Command| {
        command.env("XDG_CACHE_HOME", installed.path("xdg"));
    };
    let embedded = used(&xdg, &["list", "--catalog", "embedded"]);
    assert!(embedded.starts_with("catalog: /xdg/taskscale/catalogs/"), "{embedded}");
    // One that says what tasks do is whole.
    fs::create_dir(installed.path("here/workloads")).unwrap();
    assert_eq!(used(&nothing, &["list"]), "catalog: /here/runtimes (the nearest runtimes/)");
    let (_, stdout, _) = installed.run(&["doctor"]);
    assert!(stdout.contains("here/runtimes (the nearest runtimes/)"), "{stdout}");
    let (_, stdout, stderr) = installed.run(&["doctor", "--json"]);
    let told: serde_json::Value = serde_json::from_str(&stdout).expect("JSON alone");
    for section in
        ["machine", "control_groups", "limits", "connections", "disturbances", "folders", "toolchains"]
    {
        assert!(told[section][0]["says"].is_string(), "{section}: {stdout}");
    }
    assert!(told["limits"][0]["value"].is_u64() && stderr.is_empty(), "{stdout}\n{stderr}");
}

#[test]
fn new_says_what_it_wrote_and_where() {
    let installed = Installed::new();
    let (code, stdout, stderr) = installed.run(&["new", "go/errgroup"]);
    assert_eq!(code, 0, "{stderr}");
    insta::assert_snapshot!(stdout, @"
    created   runtimes/go/errgroup/sleep/main.go
    created   runtimes/go/go.mod
    created   runtimes/go/runtime.toml
    created   runtimes/go/README.md

    Next:
      taskscale check go/errgroup
      taskscale run go/errgroup -n 1,10k
      edit the program, and `why` in runtime.toml
    ");
    insta::assert_snapshot!(stderr, @"note: runtimes is a new catalog: commands in this folder add its entries to the embedded ones");
    let (code, stdout, stderr) = installed.run(&["list", "go/errgroup", "python/asyncio-gather"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains("\ngo/errgroup ") && stdout.contains("\npython/asyncio-gather "), "{stdout}");
    let (code, stdout, stderr) = installed.run(&["new", "go/second", "--catalog", "mine"]);
    assert_eq!((code, stderr.as_str()), (0, ""));
    assert!(stdout.contains("taskscale check go/second --catalog mine\n"), "{stdout}");
    let (code, stdout, stderr) = installed.run(&["new", "go/third", "-w", "spawn", "--catalog", "mine"]);
    assert_eq!((code, stderr.as_str()), (0, ""));
    assert!(stdout.contains("created   mine/go/third/spawn/main.go\n"), "{stdout}");
    assert!(stdout.contains("taskscale run go/third -w spawn -n 1,10k --catalog mine\n"), "{stdout}");
    for (args, expected) in [
        (&["new", "go/errgroup"][..], "already exists: go/errgroup"),
        (&["new", "golang/other"], "`taskscale new go/other`"),
        (&["new", "go"], "not an entry: `go`"),
        (&["new", "go/b", "-w", "spwan"], "no workload `spwan`: did you mean `spawn`?"),
        (&["new", "perl/b", "-w", "ring"], "no program for `ring` in POSIX shell (available: sleep, spawn)"),
        (&["new", "go/A"], "entry name \"A\""),
        (&["new", "../go/a"], "runtime name \"..\""),
        (
            &["new", "x/y", "--language", "pyton"],
            "rust, go, java, node, python, c, dotnet, elixir, shell; did you mean `python`?",
        ),
    ] {
        let (code, stdout, stderr) = installed.run(args);
        assert_eq!((code, stdout.as_str()), (2, ""), "{args:?}");
        assert!(stderr.contains(expected), "{args:?}: {stderr}");
    }
}

/// A runtime that is not installed is skipped, visibly; with TASKSCALE_REQUIRE=all that is a failure.
#[test]
#[ignore = "builds and checks a program in each language"]
fn what_new_writes_passes_a_check_at_once() {
    let installed = Installed::new();
    let names: Vec<&str> =
        LANGUAGES.iter().map(|language| language.names.first().map_or("perl", String::as_str)).collect();
    for name in &names {
        // Not all that there are, as each takes seconds: one more where builds are quick, and the one with a library.
        let workloads = match *name {
            "c" | "go" | "node" | "python" => "sleep,spawn,ring",
            "rust" => "sleep,spawn,map",
            _ => "sleep,spawn",
        };
        let (code, _, stderr) =
            installed.run(&["new", &format!("{name}/my-tasks"), "-w", workloads, "--catalog", "mine"]);
        assert_eq!(code, 0, "{name}: {stderr}");
    }
    let catalog = Catalog::load(&installed.path("here/mine")).unwrap();
    let all = select(&catalog, &["@all".into()], &[]).unwrap();
    let required = std::env::var("TASKSCALE_REQUIRE").is_ok_and(|value| value == "all");
    for entry in prepare(&Cache::at(installed.path("probe")), &all.programs, &Attend::NEVER, |_| {}) {
        match &entry.command {
            Ok(_) => {}
            Err(NotReady::NoToolchain(why)) if !required => println!("SKIPPED: {}: {why}", entry.facts.name),
            Err(why) => panic!("{}: {}", entry.facts.name, why.reason()),
        }
    }
    // In three parts side by side: programs mostly wait.
    std::thread::scope(|scope| {
        for (part, names) in names.chunks(names.len().div_ceil(3)).enumerate() {
            let installed = &installed;
            scope.spawn(move || {
                let mut command = installed.command(&["check", "--catalog", "mine", "--quiet"]);
                command.args(names).env("TASKSCALE_LOCK", installed.path(&format!("lock{part}")));
                // A package manager's own cache is where it always is.
                command.envs(std::env::var_os("HOME").map(|home| ("HOME", home)));
                command.env("TASKSCALE_CACHE", installed.path("cache"));
                let (code, stdout, stderr) = said(command);
                assert_eq!(code, 0, "{stdout}\n{stderr}");
                // What is left to be written is all that is asked for.
                let asked: Vec<&str> = stdout.lines().filter(|line| line.starts_with("  warning")).collect();
                assert!(asked.iter().all(|line| line.contains("`why` is not written yet")), "{stdout}");
            });
        }
    });
}
