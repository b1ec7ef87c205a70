//! `taskscale report` as a user runs it: formats, files, several campaigns, and what is refused.

use std::fs;
use std::os::unix::fs::symlink;

use crate::support::{FakeEntry, Finished, World, assert_harmless, list, write_script};

/// Two small campaigns, `one` and `two`, of a good entry and one that crashes.
fn world() -> World {
    let world = World::new(&[
        FakeEntry::new("well", "--anon-bytes-per-task 1KiB"),
        FakeEntry::new("crash", "--fault crash:plateau").kind("thread"),
    ]);
    world.run(world.campaign("one", "-n 1,500")).expect_code(1);
    world.run(world.campaign("two", "-n 1,500")).expect_code(1);
    world
}

/// `taskscale report ARGS` in the world's folder.
fn report(world: &World, args: &str) -> Finished {
    let args: Vec<&str> = std::iter::once("report").chain(args.split_whitespace()).collect();
    let mut command = world.command(&args);
    command.current_dir(world.path(""));
    world.run(command)
}

#[test]
fn every_format_of_every_campaign() {
    let world = world();
    for format in ["table", "markdown", "csv", "json", "github", "bencher", "svg"] {
        let finished = report(&world, &format!("one --format {format}"));
        finished.expect_code(0);
        assert!(
            finished.stdout.contains("fake/well") && finished.stdout.ends_with('\n'),
            "{}",
            finished.stdout
        );
        assert_harmless(format, &finished.stdout);
        // The same command gives the same text.
        assert_eq!(report(&world, &format!("one --format {format}")).stdout, finished.stdout, "{format}");
    }
    for format in ["table", "markdown", "csv", "json"] {
        let finished = report(&world, &format!("one two --format {format}"));
        finished.expect_code(0);
        assert!(finished.stdout.contains("one") && finished.stdout.contains("two"), "{}", finished.stdout);
        assert!(finished.stdout.contains("crashed"), "{}", finished.stdout);
    }
    report(&world, "one --format github").expect_said("fake/crash sleep 1 (crashed)");
    let charts = report(&world, "one --format svg --chart scaling").stdout;
    assert!(charts.contains("Memory over the number of tasks"));
    assert!(report(&world, "one --format svg -n 1").stdout.contains("Memory of 1 task<"));
    let samples = report(&world, "one two --format csv --samples").stdout;
    assert!(["one", "two"].iter().all(|folder| world.runs(folder).len() == 4));
    let taken = ["one", "two"].map(|folder| world.load(folder).samples.len());
    assert_eq!(samples.lines().count(), 1 + taken[0] + taken[1]);
    world.assert_nothing_left();
}

#[test]
fn colours_come_where_they_are_wanted() {
    let world = world();
    let coloured = |args: &[&str], variables: &[(&str, &str)]| {
        let mut command = world.command(&[&["report"], args].concat());
        command.current_dir(world.path("")).env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
        command.envs(variables.iter().copied());
        world.run(command).stdout.contains("\u{1b}[")
    };
    assert!(!coloured(&["one"], &[]), "not in a pipe");
    assert!(coloured(&["one"], &[("CLICOLOR_FORCE", "1")]));
    assert!(!coloured(&["one"], &[("CLICOLOR_FORCE", "0")]));
    assert!(!coloured(&["one"], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
    assert!(coloured(&["one", "--color", "always"], &[("NO_COLOR", "1")]));
    assert!(!coloured(&["one", "--color", "never"], &[("CLICOLOR_FORCE", "1")]));
    assert!(!coloured(&["one", "--format", "csv", "--color", "always"], &[]), "CSV is for programs");
    world.assert_nothing_left();
}

#[test]
fn run_prints_the_formats_of_other_tools_as_well() {
    let world = World::new(&[FakeEntry::new("well", "")]);
    let finished = world.run(world.campaign("out", "-n 5 --format bencher"));
    finished.expect_code(0);
    let value: serde_json::Value = serde_json::from_str(&finished.stdout).expect("JSON and nothing else");
    assert!(value["fake/well sleep 5"]["footprint-bytes"]["value"].is_number(), "{value}");
    finished.expect_said("results: ");

    // Nothing that a service could keep: the samples are there all the same, and it is said.
    let world = World::new(&[FakeEntry::new("crash", "--fault crash:plateau")]);
    let finished = world.run(world.campaign("out", "-n 5 --format github"));
    finished.expect_code(1).expect_said("no values to export").expect_said("results: ");
    assert!(finished.stdout.is_empty());
    assert_eq!(world.runs("out").len(), 1);
}

#[test]
fn a_file_is_written_whole_or_not_at_all() {
    let world = world();
    let printed = report(&world, "one --format csv").stdout;
    let finished = report(&world, "one --format csv -o table.csv");
    finished.expect_code(0);
    assert!(finished.stdout.is_empty(), "{}", finished.stdout);
    let file = world.path("table.csv");
    assert_eq!(fs::read_to_string(&file).unwrap(), printed);

    // What is there is replaced; a link stays one.
    symlink("table.csv", world.path("link.csv")).unwrap();
    fs::write(&file, "old").unwrap();
    report(&world, "one --format csv -o link.csv").expect_code(0);
    assert_eq!(fs::read_to_string(&file).unwrap(), printed);
    assert!(fs::symlink_metadata(world.path("link.csv")).unwrap().is_symlink());

    // Where the report cannot be made, the old file stays.
    fs::write(world.path("chart.svg"), "old").unwrap();
    report(&world, "one two --format svg -o chart.svg")
        .expect_code(2)
        .expect_said("a chart shows one series");
    assert_eq!(fs::read_to_string(world.path("chart.svg")).unwrap(), "old");
    report(&world, "one -o nowhere/at/all.txt").expect_code(1).expect_said("nowhere/at/all.txt");
    // A device is written to, not replaced.
    report(&world, "one -o /dev/null").expect_code(0);
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
    let left: Vec<_> = list(&world.path(""))
        .into_iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "new"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn campaigns_named_alike_are_told_apart() {
    let world = world();
    for folder in ["monday", "tuesday"] {
        fs::create_dir(world.path(folder)).unwrap();
    }
    fs::rename(world.path("one"), world.path("monday/out")).unwrap();
    fs::rename(world.path("two"), world.path("tuesday/out")).unwrap();
    let csv = report(&world, "monday/out tuesday/out --format csv").stdout;
    assert!(csv.contains("\nmonday/out,") && csv.contains("\ntuesday/out,"), "{csv}");
    report(&world, "monday/out monday/../monday/out").expect_code(2).expect_said("given twice");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let world = world();
    for (args, said) in [
        ("one nothing", "no such folder: nothing"),
        ("one --samples", "--samples needs --format csv"),
        ("one --chart scaling", "--chart needs --format svg"),
        ("one --format svg --chart scaling -n 1", "a scaling chart needs 2"),
        ("one --format svg -n 7", "-n 7: not measured; available: 1, 500"),
        ("one --format svg -n 1x", "-n: \"x\" in \"1x\" is not a unit of a count"),
        ("one --format csv --metric launch", "--metric is for"),
        ("one two --metric speed", "invalid value 'speed'"),
        ("one two --format bencher", "one value per name"),
        ("one --format htlm", "possible values"),
    ] {
        let finished = report(&world, args);
        finished.expect_code(2).expect_said(said);
        assert!(finished.stdout.is_empty(), "{args}: {}", finished.stdout);
    }
}

/// Without a folder the newest campaign below taskscale-results/ is meant, and which that is is said.
#[test]
fn the_newest_campaign_is_reported_where_none_is_named() {
    let world = World::new(&[FakeEntry::new("well", "")]);
    report(&world, "").expect_code(2).expect_said("no results in ./taskscale-results");
    world.run(world.campaign("taskscale-results/z-first", "-n 1")).expect_code(0);
    world.run(world.campaign("taskscale-results/a-second", "-n 2")).expect_code(0);
    let newest = report(&world, "");
    newest.expect_code(0).expect_said("taskscale-results/a-second (the newest");
    assert_eq!(newest.stdout, report(&world, "taskscale-results/a-second").stdout);
    world.assert_nothing_left();
}

/// Entries, kinds and numbers of tasks are left out of what is shown; of the fit nothing is.
#[test]
fn a_report_is_of_what_was_asked_for() {
    let world = World::new(&[
        FakeEntry::new("well", "--anon-bytes-per-task 1KiB"),
        FakeEntry::new("more", "--anon-bytes-per-task 2KiB"),
        FakeEntry::new("os", "").kind("timer"),
    ]);
    world.run(world.campaign("one", "-n 1,500")).expect_code(0);
    let shows = |args: &str, those: &[&str]| {
        let finished = report(&world, &format!("one {args}"));
        finished.expect_code(0);
        for name in ["fake/well", "fake/more", "fake/os"] {
            assert_eq!(finished.stdout.contains(name), those.contains(&name), "{args}: {}", finished.stdout);
        }
        assert!(!finished.stdout.contains("ignored: of another"), "{args}: {}", finished.stdout);
        finished.stdout
    };
    shows("--entry fake/w*", &["fake/well"]);
    shows("--entry fake/well fake/os", &["fake/well", "fake/os"]);
    shows("--kind timer", &["fake/os"]);
    shows("--entry @posts --kind stackless", &["fake/well", "fake/more"]);
    shows("--entry fake --format svg", &["fake/well", "fake/more", "fake/os"]);
    shows("--entry fake/more --format csv --samples", &["fake/more"]);
    let all = ["fake/well", "fake/more", "fake/os"];
    let (whole, some) = (shows("--stats", &all), shows("--stats -n 500", &all));
    assert!(
        whole.contains("\n1 task ") && !some.contains("\n1 task ") && some.contains("\n500 tasks "),
        "{some}"
    );
    let fit = |text: &str| text.split("deviation").nth(1).map(str::to_owned);
    assert!(fit(&whole).is_some() && fit(&whole) == fit(&some), "{whole}\n{some}");
    let peaks = shows("--metric peak,launch", &all);
    assert!(peaks.contains("peak MiB") && peaks.contains("launch s") && !peaks.contains("CPU s"), "{peaks}");
    for (args, said) in [
        ("one --entry fake/wll", "did you mean `fake/well`?"),
        ("one --entry @nobody", "--entry @nobody: not in these results"),
        ("one --entry fake/well --kind timer", "no entry matches all filters"),
        ("one --kind timr", "timer"),
        ("one -n 7", "-n 7: not measured; available: 1, 500"),
        ("one -n 1,500 --format svg", "-n: a ranking chart takes one number of tasks"),
        ("one --entry fake/well --format html", "--entry: not for the page"),
        ("one --kind thread --open", "--kind: not for the page"),
        ("one --format csv --open", "--open shows the page"),
        (
            "one --format svg -o chart.png",
            "`taskscale report one --format svg | rsvg-convert --zoom 2 -o chart.png`",
        ),
    ] {
        report(&world, args).expect_code(2).expect_said(said);
    }
    assert!(!world.path("chart.png").exists());
    world.assert_nothing_left();
}

/// The page is written and handed to what the desktop opens pages with.
#[test]
fn the_page_is_opened() {
    let mut world = World::new(&[FakeEntry::new("well", "")]);
    world.run(world.campaign("one", "-n 1")).expect_code(0);
    fs::remove_file(world.path("one/report.html")).unwrap();
    let path = std::env::var("PATH").unwrap();
    world.env.insert("PATH".into(), world.path("none").display().to_string());
    report(&world, "one --open")
        .expect_code(1)
        .expect_said("xdg-open not found")
        .expect_said("one/report.html");
    let opener = world.path("desk/xdg-open");
    fs::create_dir(world.path("desk")).unwrap();
    write_script(&opener, "#!/bin/sh\nprintf %s \"$1\" > opened\n");
    world.env.insert("PATH".into(), format!("{}:{path}", world.path("desk").display()));
    let opened = report(&world, "one --open");
    opened.expect_code(0).expect_said("report: one/report.html");
    assert_eq!(fs::read_to_string(world.path("opened")).unwrap(), "one/report.html");
    assert!(fs::read_to_string(world.path("one/report.html")).unwrap().contains("fake/well"));
    report(&world, "one --open -o page.html").expect_code(0);
    assert_eq!(fs::read_to_string(world.path("opened")).unwrap(), "page.html");
    world.assert_nothing_left();
}
