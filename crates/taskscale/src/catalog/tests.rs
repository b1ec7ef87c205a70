//! What the catalog accepts, and its errors.

use std::fs;
use std::path::Path;

use super::{Catalog, DottedVersion, Kind, SelectError, Workload, default_selection, select, workloads};

/// The built-in workloads.
pub(crate) fn carried_workloads() -> Vec<Workload> {
    workloads(Path::new("/nowhere/runtimes")).unwrap()
}

const GOOD: &str = r#"
name = "x"
title = "X"
url = "https://example.org"
version = ["x", "--version"]
install = { debian = "x", other = "https://example.org" }

[[entry]]
name = "fiber"
title = "X fibers"
kind = "stackful"
parallel = true
style = "idiomatic"
posts = true
why = "the only way"
env = { A = "1" }
workloads.sleep = { build = ["xc", "{build_flags}", "-o", "{out}/sleep"], run = ["{out}/sleep", "{flags}"] }

[[entry]]
name = "fiber-small"
like = "fiber"
title = "X fibers, small stacks"
style = "tuned"
why = "--stack is documented"
flags = ["--stack", "4k"]
build_flags = ["-O3"]
env = { B = "2" }
"#;

fn load(manifest: &str) -> Result<Catalog, String> {
    let folder = tempfile::tempdir().unwrap();
    add(folder.path(), "x", manifest);
    Catalog::load(folder.path())
        .map_err(|error| error.to_string().replace(&folder.path().display().to_string(), ""))
}

fn add(catalog: &Path, name: &str, manifest: &str) {
    fs::create_dir_all(catalog.join(name)).unwrap();
    fs::write(catalog.join(name).join("runtime.toml"), manifest).unwrap();
}

fn fault(change: impl Fn(&str) -> String) -> String {
    load(&change(GOOD)).expect_err("a fault")
}

#[test]
fn twins_share_a_program_with_other_flags() {
    let catalog = load(GOOD).unwrap();
    let (_, base) = catalog.entry("x/fiber").unwrap();
    let (_, twin) = catalog.entry("x/fiber-small").unwrap();
    assert_eq!(base.workloads["sleep"].run, ["{out}/sleep"]);
    assert_eq!(base.workloads["sleep"].build, [["xc", "-o", "{out}/sleep"]]);
    assert_eq!(twin.workloads["sleep"].run, ["{out}/sleep", "--stack", "4k"]);
    assert_eq!(twin.workloads["sleep"].build, [["xc", "-O3", "-o", "{out}/sleep"]]);
    assert_eq!((twin.kind, twin.parallel, twin.posts.is_empty()), (Kind::Stackful, true, true));
    assert_eq!(twin.env.iter().map(|(k, v)| format!("{k}{v}")).collect::<Vec<_>>(), ["A1", "B2"]);
}

#[test]
fn older_forms_apply_below_the_minimum_version() {
    let with = |more: &str| load(&GOOD.replace("\"{flags}\"] }", &format!("\"{{flags}}\"]{more} }}")));
    let older = |minimum: &str| {
        format!(
            "older = {{ build = [\"xc\", \"{{build_flags}}\"], run = [\"{{out}}/old\", \"{{flags}}\"]{minimum} }}"
        )
    };
    let catalog = with(&format!(", minimum = \"14.8\", {}", older(", minimum = \"12\""))).unwrap();
    let recipe = &catalog.entry("x/fiber-small").unwrap().1.workloads["sleep"];
    let run = |version: &str| &*recipe.for_version(DottedVersion::parse(version).as_ref()).run;
    assert_eq!(run("14.8.0"), ["{out}/sleep", "--stack", "4k"]);
    assert_eq!(
        (run("14.7"), run("1")),
        (&["{out}/old", "--stack", "4k"].map(str::to_owned)[..], run("14.7"))
    );
    assert_eq!(recipe.for_version(None).run, run("15"));
    let error = with(&format!(", {}", older(""))).unwrap_err();
    assert!(error.contains("workloads.sleep.older needs a `minimum` beside it"), "{error}");
}

#[test]
fn a_key_may_name_several_workloads() {
    let several = |good: &str| {
        good.replace("workloads.sleep", "workloads.\"sleep park\"")
            .replace("{out}/sleep", "{out}/{workload}")
            .replace("[\"{out}/{workload}\", ", "[\"{out}/{Workload}\", ")
    };
    let catalog = load(&several(GOOD)).unwrap();
    let (_, entry) = catalog.entry("x/fiber").unwrap();
    assert_eq!(entry.workloads["park"].build, [["xc", "-o", "{out}/park"]]);
    assert_eq!(entry.workloads["park"].run, ["{out}/Park"]);
    assert_eq!(entry.workloads["sleep"].run, ["{out}/Sleep"]);
    let (_, twin) = catalog.entry("x/fiber-small").unwrap();
    assert_eq!(twin.workloads["park"].run, ["{out}/Park", "--stack", "4k"]);
    let twice = several(GOOD).replace("env = { A", "workloads.park = { run = [\"park\"] }\nenv = { A");
    insta::assert_snapshot!(load(&twice).unwrap_err(), @"/x/runtime.toml:18:26: entry `fiber` has the workload `park` twice");
}

#[test]
fn manifest_errors_have_position_and_suggestion() {
    insta::assert_snapshot!(fault(|good| good.replace("posts = true", "post = true")), @r#"/x/runtime.toml:14:1: unknown field `post`, expected one of `name`, `like`, `toolchain`, `title`, `kind`, `parallel`, `style`, `reference`, `posts`, `unverified`, `why`, `notes`, `omitted`, `explain`, `env`, `limit_env`, `flags`, `build_flags`, `library`, `workloads`; did you mean `posts`?"#);
    insta::assert_snapshot!(fault(|good| good.replace("\"stackful\"", "\"stackfull\"")), @r#"/x/runtime.toml:11:8: unknown variant `stackfull`, expected one of `thread`, `process`, `stackful`, `stackless`, `future`, `timer`; did you mean `stackful`?"#);
    insta::assert_snapshot!(fault(|good| good.replace("title = \"X\"\n", "")), @r#"/x/runtime.toml:1:1: missing field `title`"#);
    insta::assert_snapshot!(fault(|good| good.replace("like = \"fiber\"", "like = \"fibre\"")), @r#"/x/runtime.toml:20:8: entry `fiber-small` is like `fibre`, but no entry above has that name: did you mean `fiber`?"#);
    insta::assert_snapshot!(fault(|good| good.replace("{out}/sleep\", \"{flags}", "{out}/sleep")), @r#"/x/runtime.toml:20:8: entry `fiber-small` has flags, but no argument of its run is `{flags}`"#);
    insta::assert_snapshot!(fault(|good| good.replace("\"{out}/sleep\", \"{flags}\"", "\"{src}/sleep.x\"")), @r#"/x/runtime.toml:17:19: entry `fiber` names a missing file: /x/sleep.x"#);
    insta::assert_snapshot!(fault(|good| good.replace("\"{out}/sleep\", \"{flags}\"", "\"{oot}/sleep\"")), @r#"/x/runtime.toml:17:19: entry `fiber`: unknown placeholder {oot} (known: {src}, {out}, {shared}, {home}, {workload}, {Workload}, {flags}, {build_flags}, {tasks})"#);
    insta::assert_snapshot!(fault(|good| good.replace("\"{out}/sleep\", \"{flags}\"", "\"{out}/sleep\", \"{tasks+n}\"")), @r#"/x/runtime.toml:17:19: entry `fiber`: `{tasks+n}`: use a formula of `tasks` only, such as {tasks+1024}"#);
    insta::assert_snapshot!(fault(|good| good.replace("\"xc\"", "\"xc{tasks}\"")), @r#"/x/runtime.toml:17:19: entry `fiber` uses {tasks} in its build, but only its run may"#);
    insta::assert_snapshot!(fault(|good| good.replace("fiber-small", "fiber")), @r#"/x/runtime.toml:20:8: entry `fiber` is defined twice: names must differ"#);
    insta::assert_snapshot!(fault(|good| good.replace("name = \"fiber\"", "name = \"../fiber\"")), @r#"/x/runtime.toml:9:8: entry name "../fiber" must start with a lowercase letter or digit and contain only lowercase letters, digits, `-`, `_`, `+`, `.`"#);
    insta::assert_snapshot!(fault(|good| good.replace("name = \"x\"", "name = \"y\"")), @r#"/x/runtime.toml:2:8: name is `y` but the folder is `x`: they must be the same"#);
    insta::assert_snapshot!(fault(|good| good.replace("parallel = true\n", "toolchain = \"z\"\nparallel = true\n")), @r#"/x/runtime.toml:9:8: entry `fiber` names the toolchain `z`, but there is no [toolchain.z]"#);
    insta::assert_snapshot!(fault(|_| "name = ".into()), @r#"/x/runtime.toml:1:8: string values must be quoted, expected literal string"#);
}

#[test]
fn empty_and_missing_catalogs_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let error = Catalog::load(folder.path()).unwrap_err().to_string();
    assert!(error.contains("no runtime in catalog"), "{error}");
    let error = Catalog::load(&folder.path().join("none")).unwrap_err().to_string();
    assert!(error.contains("cannot read"), "{error}");
}

fn selected(words: &[&str]) -> Result<Vec<String>, SelectError> {
    let folder = tempfile::tempdir().unwrap();
    add(folder.path(), "x", GOOD);
    add(folder.path(), "yy", &GOOD.replace("name = \"x\"", "name = \"yy\""));
    let catalog = Catalog::load(folder.path()).unwrap();
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    let chosen = select(&catalog, &words, &["sleep".to_owned()])?;
    Ok(chosen.entries().into_iter().map(|(_, entry)| entry.full_name.clone()).collect())
}

#[test]
fn selectors_select_each_entry_once() {
    assert_eq!(selected(&["yy", "x/fiber", "x/fiber"]).unwrap(), ["x/fiber", "yy/fiber", "yy/fiber-small"]);
    assert_eq!(selected(&["*/fiber-*"]).unwrap(), ["x/fiber-small", "yy/fiber-small"]);
    assert_eq!(selected(&["@posts"]).unwrap(), ["x/fiber", "yy/fiber"]);
    assert_eq!(selected(&["@idiomatic"]).unwrap(), ["x/fiber", "yy/fiber"]);
    assert_eq!(selected(&["@all"]).unwrap().len(), 4);
}

#[test]
fn a_catalog_without_original_entries_defaults_to_all() {
    let folder = tempfile::tempdir().unwrap();
    add(folder.path(), "x", GOOD);
    assert_eq!(default_selection(&Catalog::load(folder.path()).unwrap()), ["@posts"]);
    add(folder.path(), "x", &GOOD.replace("posts = true\n", ""));
    let catalog = Catalog::load(folder.path()).unwrap();
    assert_eq!(default_selection(&catalog), ["@all"]);
    let error = select(&catalog, &["@posts".to_owned()], &["sleep".to_owned()]).unwrap_err().to_string();
    assert_eq!(error, "empty set: `@posts` (this catalog has no entry in it)");
}

#[test]
fn unknown_selectors_get_a_suggestion() {
    let said = |word: &str| {
        let SelectError::Unknown { name, nearest } = selected(&[word]).unwrap_err() else { panic!("{word}") };
        SelectError::Unknown { name, nearest }.to_string()
    };
    assert_eq!(said("x/fibre"), "no entry `x/fibre` (did you mean `x/fiber`?)");
    assert_eq!(said("fiber"), "no entry `fiber` (did you mean `x/fiber`?)");
    assert_eq!(said("@post"), "no entry `@post` (did you mean `@posts`?)");
    assert_eq!(said("zzzzzzzzzz"), "no entry `zzzzzzzzzz`");
    assert_eq!(said("x/[fiber"), "no entry `x/[fiber` (did you mean `x/fiber`?)");
}

#[test]
fn the_first_of_two_catalogs_takes_precedence() {
    let (above, beneath) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    add(above.path(), "x", &GOOD.replace("fiber-small", "other").replace("the only way", "mine"));
    add(beneath.path(), "x", GOOD);
    add(beneath.path(), "a", &GOOD.replace("name = \"x\"", "name = \"a\""));
    let folders = [above.path().to_owned(), beneath.path().to_owned()];
    let catalog = Catalog::load_all(&folders).unwrap();
    let names: Vec<&str> = catalog.entries().map(|(_, entry)| entry.full_name.as_str()).collect();
    assert_eq!(names, ["a/fiber", "a/fiber-small", "x/fiber", "x/other", "x/fiber-small"]);
    let (runtime, entry) = catalog.entry("x/fiber").unwrap();
    assert_eq!((entry.why.as_str(), runtime.folder.as_path()), ("mine", above.path().join("x").as_path()));
    let error = select(&catalog, &["y".to_owned()], &[]).unwrap_err().to_string();
    assert!(error.contains("no entry `y`"), "{error}");
    assert!(matches!(Catalog::load_all(&[]), Err(super::CatalogError::NotFound)));
}
