//! Completions and manual pages.

use std::fs;

use crate::support::{FakeEntry, World};

#[test]
fn help_is_colored_only_on_request() {
    let world = World::new(&[FakeEntry::new("base", "")]);
    for topic in [&["help"][..], &["help", "run"], &["--help"]] {
        let plain = world.run(world.command(topic)).stdout;
        assert!(plain.contains("Options:") && !plain.contains('\x1b'), "{topic:?}: {plain}");
    }
    assert!(world.run(world.command(&["--color", "always", "help", "run"])).stdout.contains('\x1b'));
}

#[test]
fn completions_and_manual_cover_every_command() {
    let world = World::new(&[FakeEntry::new("base", "")]);
    let help = world.run(world.command(&["--help"])).stdout;
    let commands: Vec<&str> = help
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next())
        .filter(|name| !name.is_empty() && *name != "help")
        .collect();
    assert!(commands.contains(&"compare") && commands.len() >= 8, "{commands:?}");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = world.run(world.command(&["completions", shell]));
        script.expect_code(0);
        for word in commands.iter().chain(&["fail-above"]) {
            assert!(script.stdout.contains(word), "{shell} does not know {word}");
        }
        // The scripts of the other two do not complete positional arguments.
        if ["bash", "zsh", "fish"].contains(&shell) {
            assert!(script.stdout.contains("fake/base"), "{shell}");
        }
    }
    let page = world.run(world.command(&["man"]));
    page.expect_code(0);
    assert!(page.stdout.contains(".TH taskscale 1"), "{}", page.stdout);
    let pages = world.path("man1").display().to_string();
    world.run(world.command(&["man", "--output", &pages])).expect_code(0);
    for name in commands {
        let page = fs::read_to_string(world.path("man1").join(format!("taskscale-{name}.1"))).unwrap();
        assert!(page.contains(".SH EXAMPLES"), "{name}: {page}");
    }
}
