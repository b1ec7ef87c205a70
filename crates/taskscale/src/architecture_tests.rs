//! docs/architecture.md against the `use` lines of the code.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

type Arrows = BTreeMap<String, BTreeSet<String>>;

/// The table of docs/architecture.md, and its modules in order.
fn drawn(page: &str) -> (Arrows, Vec<String>) {
    let (mut arrows, mut order) = (Arrows::new(), Vec::new());
    for line in page.lines() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let ["", module, uses, _, ""] = cells[..] else { continue };
        let Some(module) = module.strip_prefix('`').and_then(|module| module.strip_suffix('`')) else {
            continue;
        };
        let uses = uses.split(',').map(|used| used.trim().trim_matches('`').to_owned());
        arrows.insert(module.to_owned(), uses.filter(|used| !used.is_empty()).collect());
        order.push(module.to_owned());
    }
    (arrows, order)
}

/// The modules of the same crate that a module's code names, its tests aside.
fn named(module: &str, path: &Path, modules: &[String], into: &mut BTreeSet<String>) {
    if path.is_dir() {
        let mut children: Vec<_> = fs::read_dir(path).unwrap().map(|child| child.unwrap().path()).collect();
        children.sort();
        children.iter().for_each(|child| named(module, child, modules, into));
        return;
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let of_tests = ["tests.rs", "fixture.rs"].contains(&&*name) || name.ends_with("_tests.rs");
    if of_tests || !name.ends_with(".rs") {
        return;
    }
    let text = fs::read_to_string(path).unwrap();
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    for rest in code.split("crate::").skip(1) {
        let used: String = rest.chars().take_while(|c| c.is_ascii_lowercase() || *c == '_').collect();
        if used != module && modules.contains(&used) {
            into.insert(used);
        }
        assert!(!rest.starts_with('{'), "{}: `use crate::{{…}}` hides arrows from this test", path.display());
    }
}

#[test]
fn the_drawing_of_the_modules_is_true() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("../../docs/architecture.md")).unwrap();
    let (drawn, order) = drawn(&page);
    let code = fs::read_to_string(root.join("src/lib.rs")).unwrap();
    let modules = code.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'));
    assert_eq!(modules.map(str::to_owned).collect::<BTreeSet<_>>(), order.iter().cloned().collect());
    for (place, module) in order.iter().enumerate() {
        let (folder, file) = (root.join("src").join(module), root.join("src").join(format!("{module}.rs")));
        let mut uses = BTreeSet::new();
        for path in [folder, file].into_iter().filter(|path| path.exists()) {
            named(module, &path, &order, &mut uses);
        }
        assert_eq!(uses, drawn[module], "what {module} uses");
        let up: Vec<&String> = uses.iter().filter(|used| order[..place].contains(used)).collect();
        assert!(up.is_empty(), "{module} is below {up:?}");
    }
}
