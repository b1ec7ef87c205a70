use super::*;
use crate::catalog::Catalog;

fn catalog() -> Catalog {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../runtimes");
    Catalog::load(&folder).expect("the catalog of the repository")
}

fn there(versions: &[&str]) -> Vec<PinnedToolchain> {
    let one = |version: &&str| PinnedToolchain {
        version: DottedVersion::parse(version).unwrap(),
        home: PathBuf::from(format!("/node/{version}")),
    };
    versions.iter().map(one).collect()
}

fn axes(word: &str) -> Vec<VersionAxis> {
    VersionRequest::parse(word).unwrap().unwrap().axes
}

fn of(entry: &str, word: &str, versions: &[&str]) -> VersionResult<Vec<Entry>> {
    let catalog = catalog();
    let (runtime, entry) = catalog.entry(entry).expect("an entry");
    versioned(runtime, entry, &axes(word), &there(versions))
}

#[test]
fn each_version_becomes_an_entry_with_its_toolchain() {
    let found = of("node/promise-timeout", "node@16,22", &["16.20.2", "22.1.0", "22.3.1"]).unwrap();
    let names: Vec<&str> = found.iter().map(|entry| &*entry.full_name).collect();
    assert_eq!(names, ["node/promise-timeout@16", "node/promise-timeout@22"]);
    let pinned = found[1].toolchain.pinned.clone().unwrap();
    assert_eq!((&*pinned.home.to_string_lossy(), &*pinned.version.to_string()), ("/node/22.3.1", "22.3.1"));
    assert!(found.iter().all(|entry| entry.posts.is_empty()), "none stands for Node.js");
}

#[test]
fn library_and_runtime_versions_are_combined() {
    let found = of("python/trio", "x@python=3.12,3.13,trio=0.25,latest", &["3.12.1", "3.13.0"]).unwrap();
    let latest = catalog().entry("python/trio").unwrap().1.library.clone().unwrap().version;
    let names: Vec<&str> = found.iter().map(|entry| &*entry.name).collect();
    let expected = ["3.12,trio=0.25", &format!("3.12,trio={latest}"), "3.13,trio=0.25"];
    assert_eq!(names[..3], expected.map(|versions| format!("trio@python={versions}")));
    assert_eq!(names.len(), 4);
    assert_eq!(found[0].versions["trio"], "0.25");
    let counted = of("rust/tokio-spawn", "x@tokio=1.25..1.28", &[]).unwrap();
    let versions: Vec<&str> = counted.iter().map(|entry| &*entry.versions["tokio"]).collect();
    assert_eq!(versions, ["1.25", "1.26", "1.27", "1.28"]);
}

#[test]
fn versions_use_the_name_of_the_toolchain() {
    for word in ["kotlin@21", "kotlin@java=21"] {
        let found = of("kotlin/coroutine-launch", word, &["21.0.8", "25.0.3"]).unwrap();
        assert_eq!(found[0].full_name, "kotlin/coroutine-launch@java=21");
        assert_eq!(found[0].versions["java"], "21");
    }
    let error = of("kotlin/coroutine-launch", "kotlin@2.4", &["21.0.8"]).unwrap_err();
    assert_eq!(error.to_string(), "java 2.4 is not installed (found: 21.0.8)");
    let error = of("kotlin/coroutine-launch", "kotlin@kotlin=2.4", &["21.0.8"]).unwrap_err();
    assert!(error.to_string().contains("does not use `kotlin`"), "{error}");
}

#[test]
fn duplicate_requests_are_measured_once() {
    let names = |entry: &str, word: &str, there: &[&str]| {
        let found = of(entry, word, there).unwrap();
        found.into_iter().map(|entry| entry.name).collect::<Vec<_>>()
    };
    let node = names("node/promise-timeout", "x@22,20..22,22.3.1", &["20.1.0", "22.3.1"]);
    assert_eq!(node, ["promise-timeout@22", "promise-timeout@20"]);
    let tokio = names("rust/tokio-spawn", "x@tokio=1.27..1.28,1.28", &[]);
    assert_eq!(tokio, ["tokio-spawn@tokio=1.27", "tokio-spawn@tokio=1.28"]);
    let error = of("python/trio", "x@3.12,python=3.13", &["3.12.1", "3.13.0"]).unwrap_err();
    assert!(error.to_string().contains("versions of `python` are there twice"), "{error}");
    // Its version is like 4.2.18.Final.
    let netty = names("java/netty", "x@Netty=latest", &[]);
    assert!(DottedVersion::parse(netty[0].strip_prefix("netty@Netty=").unwrap()).is_some(), "{netty:?}");
}

#[test]
fn unusable_versions_and_toolchain_folders_are_refused() {
    let expand = |word: &str, named: &NamedToolchains| {
        expand(&mut catalog(), &[word.to_owned()], named).unwrap_err().to_string()
    };
    let error = expand("@posts@0.0.1", &Vec::new());
    assert!(error.contains("0.0.1 is not installed"), "{error}");
    let empty = tempfile::tempdir().unwrap();
    let named = |name: &str| vec![(name.to_owned(), empty.path().to_owned())];
    let error = expand("node@22", &named("nde"));
    assert!(error.contains("--toolchain nde: no entries have versions of `nde`"), "{error}");
    let error = expand("node@22", &named("node"));
    assert!(error.contains("it has no node that prints its version"), "{error}");
}

#[test]
fn missing_versions_are_reported_with_available_ones() {
    let error = of("node/promise-timeout", "node@18", &["16.20.2", "22.3.1"]).unwrap_err();
    assert_eq!(error.to_string(), "Node.js 18 is not installed (found: 16.20.2, 22.3.1)");
    let error = of("rust/thread", "x@tokio=1.28", &[]).unwrap_err();
    assert!(error.to_string().contains("rust/thread does not use `tokio`"), "{error}");
    let error = of("rust/tokio-spawn", "x@async-std=1", &[]).unwrap_err();
    assert!(error.to_string().contains("it uses tokio"), "{error}");
    let error = of("rust/tokio-spawn", "x@tokio=0.3..1.28", &[]).unwrap_err();
    assert!(error.to_string().contains("tokio=0.3..1.28: the versions may differ in their last"), "{error}");
    let error = of("python/pypy-asyncio-gather", "python@3.12", &["3.12.1"]);
    assert!(error.is_err_and(|error| error.to_string().contains("the toolchain PyPy")));
}

#[test]
fn library_versions_select_their_workloads() {
    let found = of("node/promise-timeout", "x@ws=8.18", &[]).unwrap();
    assert_eq!(found[0].name, "promise-timeout@ws=8.18");
    assert!(found[0].does("chat") && !found[0].does("sleep"));
}

#[test]
fn release_ranges_follow_the_release_list() {
    let all: Vec<DottedVersion> =
        there(&["0.9.1", "0.25.0", "0.25.2", "1.0.0"]).into_iter().map(|one| one.version).collect();
    let of = |range: &str| {
        let range = axes(&format!("x@lib={range}"))[0].wanted[0].clone();
        released("lib", &range, &all).map_err(|error| error.to_string())
    };
    assert_eq!(of("0.9..1.0").unwrap(), ["0.9", "0.25", "1.0"]);
    assert_eq!(of("0.25.0..1.0.0").unwrap(), ["0.25.0", "0.25.2", "1.0.0"]);
    assert_eq!(of("2.0..2.1").unwrap_err(), "lib=2.0..2.1: there is no such release (from 0.9.1 to 1.0.0)");
}
