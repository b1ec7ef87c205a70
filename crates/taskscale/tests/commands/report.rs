//! `taskscale report` as a user runs it: formats, files, several campaigns, and what is refused.

use std::fs;
use std::os::unix::fs::symlink;

use taskscale::catalog::Kind;

use crate::support::stored::{results, store};
use crate::support::{Finished, World, assert_harmless, list, write_script};

/// Two small campaigns, `one` and `two`, of a good entry and one that crashes.
fn world() -> World {
    let world = World::new(&[]);
    let stored = results(
        &[("fake/well", Kind::Stackless, Some(1 << 10)), ("fake/crash", Kind::Thread, None)],
        &[1, 500],
        1,
    );
    ["one", "two"].into_iter().for_each(|folder| store(&world.path(folder), &stored));
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
fn every_format_renders_all_results() {
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
    assert_eq!(samples.lines().count(), 1 + 2 * 4);
}

#[test]
fn colors_follow_option_environment_and_format() {
    let world = world();
    let colored = |args: &[&str], variables: &[(&str, &str)]| {
        let mut command = world.command(&[&["report"], args].concat());
        command.current_dir(world.path("")).env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
        command.envs(variables.iter().copied());
        world.run(command).stdout.contains("\u{1b}[")
    };
    assert!(!colored(&["one"], &[]), "not in a pipe");
    assert!(colored(&["one"], &[("CLICOLOR_FORCE", "1")]));
    assert!(!colored(&["one"], &[("CLICOLOR_FORCE", "0")]));
    assert!(!colored(&["one"], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
    assert!(colored(&["one", "--color", "always"], &[("NO_COLOR", "1")]));
    assert!(!colored(&["one", "--color", "never"], &[("CLICOLOR_FORCE", "1")]));
    assert!(!colored(&["one", "--format", "csv", "--color", "always"], &[]), "CSV is for programs");
}

#[test]
fn output_files_are_written_atomically() {
    let world = world();
    let printed = report(&world, "one --format csv").stdout;
    let finished = report(&world, "one --format csv -o table.csv");
    finished.expect_code(0);
    assert!(finished.stdout.is_empty(), "{}", finished.stdout);
    let file = world.path("table.csv");
    assert_eq!(fs::read_to_string(&file).unwrap(), printed);

    // An existing file is replaced. A link is kept.
    symlink("table.csv", world.path("link.csv")).unwrap();
    fs::write(&file, "old").unwrap();
    report(&world, "one --format csv -o link.csv").expect_code(0);
    assert_eq!(fs::read_to_string(&file).unwrap(), printed);
    assert!(fs::symlink_metadata(world.path("link.csv")).unwrap().is_symlink());

    // If the report cannot be made, the old file stays.
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
fn equal_folder_names_are_distinguished() {
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

/// Without a folder, the newest campaign below taskscale-results/ is reported, and named.
#[test]
fn the_newest_results_are_reported_by_default() {
    let world = World::new(&[]);
    report(&world, "").expect_code(2).expect_said("no results in ./taskscale-results");
    fs::create_dir(world.path("taskscale-results")).unwrap();
    for (folder, tasks, created_at) in
        [("z-first", 1, "2026-03-01T12:00:00Z"), ("a-second", 2, "2026-03-01T12:00:01Z")]
    {
        let (mut campaign, samples) = results(&[("fake/well", Kind::Stackless, Some(0))], &[tasks], 1);
        campaign.created_at = created_at.parse().unwrap();
        store(&world.path("taskscale-results").join(folder), &(campaign, samples));
    }
    let newest = report(&world, "");
    newest.expect_code(0).expect_said("taskscale-results/a-second (the newest");
    assert_eq!(newest.stdout, report(&world, "taskscale-results/a-second").stdout);
}

/// Filters by entry, kind and number of tasks apply to what is shown, not to the fit.
#[test]
fn filters_change_rows_but_not_the_fit() {
    let world = World::new(&[]);
    let entries = [
        ("fake/well", Kind::Stackless, Some(1 << 10)),
        ("fake/more", Kind::Stackless, Some(2 << 10)),
        ("fake/os", Kind::Timer, Some(0)),
    ];
    store(&world.path("one"), &results(&entries, &[1, 500], 1));
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
        ("one --entry fake/wll", "`fake/well`?"),
        ("one --entry @nobody", "--entry @nobody"),
        ("one --entry fake/well --kind timer", "--entry, --kind"),
        ("one --kind timr", "timer"),
        ("one -n 7", "1, 500"),
        ("one -n 1,500 --format svg", "-n"),
        ("one --entry fake/well --format html", "--entry"),
        ("one --kind thread --open", "--kind"),
        ("one --format csv --open", "--open"),
        ("one --format svg -o chart.png", "`rsvg-convert --zoom 2 chart.svg -o chart.png`"),
    ] {
        report(&world, args).expect_code(2).expect_said(said);
    }
    assert!(!world.path("chart.png").exists());
}

/// The page is written, and opened with the desktop's program.
#[test]
fn open_writes_and_opens_the_page() {
    let mut world = World::new(&[]);
    store(&world.path("one"), &results(&[("fake/well", Kind::Stackless, Some(0))], &[1], 1));
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
}
