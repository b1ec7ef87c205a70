//! `taskscale site`: every link of every page leads somewhere, whatever the names of folders and the texts.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::stored::{results, store};
use crate::support::{FakeEntry, Finished, World};
use regex_lite::Regex;
use taskscale::catalog::Kind;

/// Begins the part that scripts draw on a campaign's page: what follows is data, not links.
const APP: &str = "<div id=\"app\">";

struct ReadPage {
    links: Vec<String>,
    anchors: BTreeSet<String>,
}

fn html_files(folder: &Path, inside: &str, found: &mut BTreeMap<String, ReadPage>) {
    let links = Regex::new(r#"\s(?:href|src)="([^"]*)""#).unwrap();
    let anchors = Regex::new(r#"\sid="([^"]*)""#).unwrap();
    for child in fs::read_dir(folder).unwrap().map(|child| child.unwrap()) {
        let path = format!("{inside}{}", child.file_name().to_string_lossy());
        if child.path().is_dir() {
            html_files(&child.path(), &format!("{path}/"), found);
        } else if path.ends_with(".html") {
            let text = fs::read_to_string(child.path()).unwrap();
            let text = text.split(APP).next().unwrap();
            let all =
                |of: &Regex| of.captures_iter(text).map(|found| unescaped(&found[1])).collect::<Vec<_>>();
            found.insert(path, ReadPage { links: all(&links), anchors: all(&anchors).into_iter().collect() });
        }
    }
}

fn unescaped(text: &str) -> String {
    let names = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")];
    names.into_iter().fold(text.to_owned(), |text, (name, c)| text.replace(name, c))
}

fn decoded(text: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let [first, more @ ..] = rest {
        let hex = (*first == b'%').then(|| std::str::from_utf8(&more[..2]).unwrap());
        bytes.push(hex.map_or(*first, |hex| u8::from_str_radix(hex, 16).unwrap()));
        rest = &more[hex.map_or(0, str::len)..];
    }
    String::from_utf8(bytes).unwrap()
}

/// Follows every link of every page, and checks that every page is reachable from the first.
fn assert_links_lead_somewhere(site: &Path) -> BTreeSet<String> {
    let mut pages = BTreeMap::new();
    html_files(site, "", &mut pages);
    let mut reached = BTreeSet::from(["index.html".to_owned()]);
    let mut waiting = vec!["index.html".to_owned()];
    while let Some(page) = waiting.pop() {
        for link in &pages[&page].links {
            if link.starts_with("https://") || link.starts_with("http://") {
                continue;
            }
            assert!(!link.contains(':') && !link.starts_with('/'), "{page}: {link} is not relative");
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let mut parts: Vec<String> = page.split('/').map(str::to_owned).collect();
            if !path.is_empty() {
                parts.pop();
            }
            for part in path.split('/').filter(|part| !part.is_empty()) {
                match part {
                    ".." => assert!(parts.pop().is_some(), "{page}: {link} leads out of the site"),
                    part => parts.push(decoded(part)),
                }
            }
            let to = parts.join("/");
            assert!(site.join(&to).is_file(), "{page}: {link} leads to {to}, which is not there");
            let Some(read) = pages.get(&to) else { continue };
            // Anchors that scripts create on a campaign's page. A test in a browser opens some.
            let is_drawn = to.starts_with("campaigns/") && (anchor == "main" || anchor.starts_with("part="));
            let there = anchor.is_empty() || is_drawn || read.anchors.contains(&decoded(anchor));
            assert!(there, "{page}: {link} names an anchor that {to} does not have");
            if reached.insert(to.clone()) {
                waiting.push(to);
            }
        }
    }
    let all: BTreeSet<String> = pages.into_keys().collect();
    let lost: Vec<_> = all.difference(&reached).collect();
    assert!(lost.is_empty(), "no link leads to {lost:?}");
    all
}

/// Makes the site of a folder of results.
fn site_of(world: &World, results: &str) -> Finished {
    let (results, out) = (world.path(results), world.path("site"));
    world.run(world.command(&["site", &results.display().to_string(), "-o", &out.display().to_string()]))
}

/// A campaign of two entries in the folder `measured` of a world.
fn measured() -> World {
    let world = World::new(&[FakeEntry::new("goroutine", ""), FakeEntry::new("thread", "").kind("thread")]);
    let entries = [("fake/goroutine", Kind::Stackless, Some(0)), ("fake/thread", Kind::Thread, None)];
    store(&world.path("measured"), &results(&entries, &[1, 2], 1));
    world
}

/// Copies the campaign into another folder, with a changed campaign.json.
fn copied(world: &World, to: &str, change: impl Fn(String) -> String) -> PathBuf {
    let (from, to) = (world.path("measured"), world.path(to));
    fs::create_dir_all(&to).unwrap();
    fs::copy(from.join("samples.jsonl"), to.join("samples.jsonl")).unwrap();
    let description = fs::read_to_string(from.join("campaign.json")).unwrap();
    fs::write(to.join("campaign.json"), change(description)).unwrap();
    to
}

#[test]
fn repository_site_has_every_page_and_working_links() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let world = World::new(&[]);
    let out = world.path("site");
    let mut command = Command::new(env!("CARGO_BIN_EXE_taskscale"));
    // From another folder: the documents are found next to the results.
    command.arg("site").arg(repository.join("results")).arg("-o").arg(&out).current_dir("/");
    command.env("TASKSCALE_CACHE", world.path("cache")).env_remove("TASKSCALE_CATALOG");
    let made = world.run_plain(command);
    made.expect_code(0);
    assert!(!made.stderr.contains("broken link") && !made.stderr.contains("left out"), "{}", made.stderr);
    assert_eq!(made.stdout.trim(), out.join("index.html").display().to_string());

    let pages = assert_links_lead_somewhere(&out);
    for page in
        ["docs/workloads.html", "CHANGELOG.html", "runtimes/go/README.html", "entries/go/goroutine.html"]
    {
        assert!(pages.contains(page), "{page}");
    }
    let text = |page: &str| fs::read_to_string(out.join(page)).unwrap();
    // What a browser must load before it shows anything.
    let start = text("index.html");
    assert!(start.len() + text("site.css").len() < 64 * 1024 && !start.contains("<script"));
    assert_eq!(start.matches("<svg").count(), 1);
    let highlights = start.split("<ul class=\"highlights\">").nth(1).unwrap().split("</ul>").next().unwrap();
    assert_eq!(highlights.matches("<li>").count(), 3, "{highlights}");
    // The answer comes before the list of results, and development last.
    let order = [
        "<table class=\"heat\">",
        "docs/choosing.html",
        "taskscale compare ",
        "id=\"campaigns\"",
        "<details>",
    ];
    let places = order.map(|part| start.find(part).unwrap_or_else(|| panic!("{part} is not there")));
    assert!(places.is_sorted(), "{places:?}");
    let heads = start.split("<table class=\"heat\">").nth(1).unwrap().split("</thead>").next().unwrap();
    assert!(heads.contains("Entry</th><th scope=\"col\" class=\"n\">sleep <small>N = "), "{heads}");
    let (listed, folded) = start.split_at(places[4]);
    let is_development = |text: &str| text.contains("campaigns/2026-11-22-posts.html");
    assert!(!is_development(listed) && is_development(folded));
    // README.md and docs/results.md show the campaign of the start page (tests/docs compares those two).
    let readme = fs::read_to_string(repository.join("README.md")).unwrap();
    let shown = Regex::new(r"<!-- result: taskscale report results/(\S+)").unwrap();
    let caption = start.split("<figcaption>").nth(1).unwrap().split("</figcaption>").next().unwrap();
    let page = format!("campaigns/{}.html", &shown.captures(&readme).expect("README's table")[1]);
    assert!(caption.contains(&format!("href=\"{page}\"")), "{page} is README's: {caption}");
    let entry = text("entries/go/goroutine.html");
    // Each value has its origin next to it: on the start page, in its table, in the list of entries, and on an
    // entry's page.
    assert!(caption.contains(", measured by the project"), "{caption}");
    assert!(start.contains("<th scope=\"col\">Measured by</th>") && start.contains("<td>project</td>"));
    let entries = text("entries.html");
    assert!(entries.contains("</a> <small>project</small></td>"));
    // Nearly every entry has a value from some results.
    let without = entries.matches(">no result<").count();
    assert!(
        without * 5 < entries.matches("<th scope=\"row\">").count(),
        "{without} entries without a result"
    );
    assert!(entry.contains("</a>, measured by the project"), "{entry}");
    assert!(
        entry.contains("runtimes/go/goroutine/sleep/main.go") && entry.contains("<caption>sleep"),
        "{entry}"
    );
    assert!(text("campaigns/2026-11-22-posts.html").contains("<a href=\"../index.html\">"));
}

#[test]
fn hostile_folder_names_and_texts_are_escaped() {
    let world = measured();
    let harm = "<img src=x onerror=alert(1)>{0}";
    copied(&world, "results/my machine #1/50% \"quick\"? & <b>", |text| {
        let mut campaign: serde_json::Value = serde_json::from_str(&text).unwrap();
        campaign["machine"]["hostname"] = harm.into();
        campaign["machine"]["cpu"] = harm.into();
        campaign["entries"][0]["why"] = harm.into();
        campaign["entries"][0]["url"] = "javascript:alert(1)".into();
        campaign.to_string()
    });
    let made = site_of(&world, "results");
    made.expect_code(0).expect_said("1 results page,").expect_said("no documents");
    assert_links_lead_somewhere(&world.path("site"));
    let page = world.path("site/campaigns/my machine #1/50% \"quick\"? & <b>.html");
    assert!(page.is_file());
    let start = fs::read_to_string(world.path("site/index.html")).unwrap();
    assert!(start.contains("&lt;img src=x") && !start.contains("<img") && !start.contains("<b>."), "{start}");
    assert!(
        start.contains("campaigns/my%20machine%20%231/50%25%20%22quick%22%3F%20%26%20%3Cb%3E.html"),
        "{start}"
    );
}

#[test]
fn entries_outside_the_catalog_have_pages_from_results() {
    let world = measured();
    let harm = "<img src=x onerror=alert(1)>";
    copied(&world, "results/a", |text| {
        text.replace("fake/goroutine", "other/../<b>x</b>").replace("for tests", harm)
    });
    // Its samples belong to an entry that this campaign lacks, and are left out.
    site_of(&world, "results").expect_code(0);
    let pages = assert_links_lead_somewhere(&world.path("site"));
    let page = pages.iter().find(|page| page.starts_with("entries/other/")).expect("a page of it");
    let text = fs::read_to_string(world.path("site").join(page)).unwrap();
    assert!(text.contains("&lt;b&gt;x&lt;/b&gt;") && !text.contains("<img"), "{text}");
}

#[test]
fn broken_results_are_reported_and_skipped() {
    let world = measured();
    copied(&world, "results/good", |text| text);
    copied(&world, "results/garbled", |text| text[..text.len() / 2].to_owned());
    copied(&world, "results/newer", |text| text.replacen("\"schema\": 1", "\"schema\": 99", 1));
    let made = site_of(&world, "results");
    made.expect_code(0).expect_said("1 results page,").expect_said("garbled").expect_said("schema: 99");
    let pages = assert_links_lead_somewhere(&world.path("site"));
    let shown: Vec<_> = pages.iter().filter(|page| page.starts_with("campaigns/")).collect();
    assert_eq!(shown, ["campaigns/good.html"]);

    fs::remove_dir_all(world.path("results/good")).unwrap();
    fs::remove_dir_all(world.path("site")).unwrap();
    site_of(&world, "results").expect_code(2).expect_said("no results in ").expect_said("--quick");
    assert!(!world.path("site").exists(), "nothing was written");
    site_of(&world, "nowhere").expect_code(2).expect_said("nowhere");
}

#[test]
fn rebuilding_a_site_removes_only_its_own_old_pages() {
    let world = measured();
    copied(&world, "results/first", |text| text);
    let second = copied(&world, "results/second", |text| text);
    site_of(&world, "results").expect_code(0);
    fs::write(world.path("site/CNAME"), "example.org").unwrap();
    fs::remove_dir_all(second).unwrap();
    site_of(&world, "results").expect_code(0);
    assert!(!world.path("site/campaigns/second.html").exists());
    assert_eq!(fs::read_to_string(world.path("site/CNAME")).unwrap(), "example.org");

    // A folder that is not a site is left unchanged.
    fs::remove_file(world.path("site/.taskscale-site")).unwrap();
    let before = world.snapshot();
    site_of(&world, "results").expect_code(2).expect_said("not of a site");
    assert_eq!(world.snapshot(), before);
}
