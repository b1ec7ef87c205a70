//! taskscale without its repository: which catalog it uses, and what `new` writes.

use std::fs;
use std::process::Command;

use taskscale::catalog::embedded_name;

use crate::support::installed::{Installed, said};

#[test]
fn the_catalog_is_searched_in_order() {
    let installed = Installed::new();
    let used = |set: &dyn Fn(&mut Command), args: &[&str]| {
        let mut command = installed.command(args);
        // Without toolchains, so that no version command runs.
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
    assert_eq!(
        used(&variable, &["list", "perl/fork", "--catalog", "../option"]),
        "catalog: /here/../option (--catalog)"
    );
    assert_eq!(used(&variable, &["list", "perl/fork"]), "catalog: /variable ($TASKSCALE_CATALOG)");
    // A catalog with a few entries extends the embedded one.
    let carried = format!("/home/.cache/taskscale/catalogs/{}", embedded_name());
    let beside =
        format!("catalog: /here/runtimes and {carried} (the nearest runtimes/ and the embedded catalog)");
    assert_eq!(used(&nothing, &["list", "rust/floor"]), beside);
    let below = |command: &mut Command| {
        fs::create_dir_all(installed.path("here/deep/down")).unwrap();
        command.current_dir(installed.path("here/deep/down"));
    };
    assert_eq!(used(&below, &["list", "rust/floor"]), beside);
    let two = used(&nothing, &["list", "perl/fork", "--catalog", "../option", "--catalog", "../variable"]);
    assert_eq!(two, "catalog: /here/../option and /here/../variable (--catalog)");
    let embedded = used(&variable, &["list", "rust/floor", "--catalog", "embedded"]);
    assert!(embedded.ends_with("(embedded)"), "{embedded}");
    // With XDG's variable.
    let xdg = |command: &mut Command| {
        command.env("XDG_CACHE_HOME", installed.path("xdg"));
    };
    let embedded = used(&xdg, &["list", "rust/floor", "--catalog", "embedded"]);
    assert!(embedded.starts_with("catalog: /xdg/taskscale/catalogs/"), "{embedded}");
    // A catalog with its own workloads is complete.
    fs::create_dir(installed.path("here/workloads")).unwrap();
    assert_eq!(used(&nothing, &["list", "perl/fork"]), "catalog: /here/runtimes (the nearest runtimes/)");
    let doctor = |args: &[&str]| {
        let mut command = installed.command(args);
        command.env("PATH", installed.path("bin"));
        said(command)
    };
    let (_, stdout, _) = doctor(&["doctor"]);
    assert!(stdout.contains("here/runtimes (the nearest runtimes/)"), "{stdout}");
    let (_, stdout, stderr) = doctor(&["doctor", "--json"]);
    let told: serde_json::Value = serde_json::from_str(&stdout).expect("JSON alone");
    for section in
        ["machine", "control_groups", "limits", "connections", "disturbances", "folders", "toolchains"]
    {
        assert!(told[section][0]["says"].is_string(), "{section}: {stdout}");
    }
    assert!(told["limits"][0]["value"].is_u64() && stderr.is_empty(), "{stdout}\n{stderr}");
}

#[test]
fn new_lists_written_files() {
    let installed = Installed::new();
    let (code, stdout, stderr) = installed.run(&["new", "go/errgroup"]);
    assert_eq!(code, 0, "{stderr}");
    let created = ["sleep/main.go", "go.mod", "runtime.toml", "README.md"];
    let next = ["taskscale check go/errgroup", "taskscale run go/errgroup -n 1,10k"];
    for said in created.iter().chain(&next) {
        assert!(stdout.contains(said), "{said}: {stdout}");
    }
    assert!(stderr.contains("runtimes is a new catalog"), "{stderr}");
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
        (&["new", "go/b", "-w", "spwan"], "no workload `spwan`; did you mean `spawn`?"),
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
