//! Checks imports against docs/architecture.md and for cycles, that type names are unique, and that hints are
//! shown.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use regex_lite::Regex;

type Arrows = BTreeMap<String, BTreeSet<String>>;

/// Parses docs/architecture.md: what each module uses, and the modules in order.
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

/// Collects the modules of this crate that a module names, except in tests.
fn named(module: &str, path: &Path, modules: &[String], into: &mut BTreeSet<String>) {
    if path.is_dir() {
        let mut children: Vec<_> = fs::read_dir(path).unwrap().map(|child| child.unwrap().path()).collect();
        children.sort();
        children.iter().for_each(|child| named(module, child, modules, into));
        return;
    }
    if is_test(path) || path.extension().is_none_or(|end| end != "rs") {
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
fn the_diagram_of_modules_matches_the_code() {
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

/// A path of the code: the segments of a module, or of an item in it.
type CodePath = Vec<String>;

/// The code of a crate by module, and its re-exports by path, with their targets.
struct SourceTree {
    code: BTreeMap<CodePath, String>,
    exports: BTreeMap<CodePath, CodePath>,
}

impl SourceTree {
    fn read(source: &Path) -> SourceTree {
        let mut tree = SourceTree { code: BTreeMap::new(), exports: BTreeMap::new() };
        tree.add(source, &[]);
        for (module, code) in &tree.code {
            for (path, is_public) in uses(code) {
                let Some(target) = tree.absolute(module, &path).filter(|_| is_public) else { continue };
                let name = target.last().expect("a name").clone();
                tree.exports.insert([module.as_slice(), &[name]].concat(), target);
            }
        }
        tree
    }

    fn add(&mut self, folder: &Path, module: &[String]) {
        for child in fs::read_dir(folder).unwrap().map(|child| child.unwrap().path()) {
            let name = child.file_stem().unwrap().to_string_lossy().into_owned();
            if child.is_dir() {
                self.add(&child, &[module, &[name]].concat());
            } else if child.extension().is_some_and(|end| end == "rs") && !is_test(&child) {
                let text = fs::read_to_string(&child).unwrap();
                let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
                let code: Vec<&str> =
                    code.lines().map(|line| line.split("//").next().unwrap_or("")).collect();
                let own = if ["mod", "lib", "main"].contains(&&*name) { &[][..] } else { &[name] };
                self.code.insert([module, own].concat(), code.join("\n"));
            }
        }
    }

    /// Resolves a path written in `module` from the crate's root. `None` for other crates.
    fn absolute(&self, module: &[String], path: &[String]) -> Option<CodePath> {
        let ups = path.iter().take_while(|segment| *segment == "super").count();
        let own = [module, &path[..1]].concat();
        match path[0].as_str() {
            "crate" => Some(path[1..].to_vec()),
            "self" => Some([module, &path[1..]].concat()),
            "super" => Some([&module[..module.len().checked_sub(ups)?], &path[ups..]].concat()),
            _ => self.code.contains_key(&own).then(|| [module, path].concat()),
        }
    }

    /// The file that defines an item, after following re-exports.
    fn file_of(&self, path: &[String]) -> Option<CodePath> {
        let mut path = path.to_vec();
        // Longer chains of re-exports do not occur.
        for _ in 0..5 {
            let exported = (1..=path.len()).find_map(|end| {
                let target = self.exports.get(&path[..end]).filter(|target| path[..end] != target[..])?;
                Some([target, &path[end..]].concat())
            });
            match exported {
                Some(further) => path = further,
                None => break,
            }
        }
        (0..=path.len()).rev().map(|end| path[..end].to_vec()).find(|module| self.code.contains_key(module))
    }

    /// The files that each file uses.
    fn arrows(&self) -> BTreeMap<CodePath, BTreeSet<CodePath>> {
        let of = |(module, code): (&CodePath, &String)| {
            let used = uses(code).into_iter().filter_map(|(path, is_public)| {
                let path = self.absolute(module, &path)?;
                let own_child = is_public && path.starts_with(module);
                self.file_of(&path).filter(|file| !own_child && file != module)
            });
            (module.clone(), used.collect())
        };
        self.code.iter().map(of).collect()
    }
}

fn is_test(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    ["tests.rs", "fixture.rs"].contains(&&*name) || name.ends_with("_tests.rs")
}

/// The paths that code names, in `use` lines or in full, and whether they are re-exported.
fn uses(code: &str) -> Vec<(CodePath, bool)> {
    let (mut paths, mut rest) = (Vec::new(), code.to_owned());
    let line = Regex::new(r"(?m)^\s*(pub(\([a-z]+\))? )?use ([^;]+);").unwrap();
    for found in line.captures_iter(code) {
        let tree: String = found[3].split_whitespace().collect::<Vec<_>>().join(" ");
        paths.extend(branches(&tree).into_iter().map(|path| (path, found.get(1).is_some())));
        rest = rest.replace(&found[0], "");
    }
    let path = Regex::new(r"[A-Za-z_]\w*(::\w+)+").unwrap();
    paths.extend(path.find_iter(&rest).map(|found| (segments(found.as_str()), false)));
    paths
}

fn segments(path: &str) -> CodePath {
    let name = path.split(" as ").next().unwrap_or_default();
    name.trim().split("::").filter(|segment| !["self", "*"].contains(segment)).map(str::to_owned).collect()
}

/// The paths of `a::{b, c::{d, e}}`.
fn branches(tree: &str) -> Vec<CodePath> {
    let Some((before, inside)) = tree.split_once('{') else {
        return Some(segments(tree)).filter(|path| !path.is_empty()).into_iter().collect();
    };
    let (mut depth, mut from, mut parts) = (0, 0, Vec::new());
    let inside = inside.trim_end().trim_end_matches('}');
    for (at, char) in inside.char_indices() {
        match char {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&inside[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&inside[from..]);
    let whole = |part: &&str| format!("{before}{}", part.trim());
    parts.iter().filter(|part| !part.trim().is_empty()).flat_map(|part| branches(&whole(part))).collect()
}

/// The files that can be reached from a file.
fn reached(from: &CodePath, arrows: &BTreeMap<CodePath, BTreeSet<CodePath>>) -> BTreeSet<CodePath> {
    let (mut seen, mut left) = (BTreeSet::new(), vec![from]);
    while let Some(file) = left.pop() {
        left.extend(arrows[file].iter().filter(|used| seen.insert((*used).clone())));
    }
    seen
}

#[test]
fn imports_have_no_cycle() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut circles = BTreeSet::new();
    for member in fs::read_dir(root).unwrap().map(|member| member.unwrap()) {
        let arrows = SourceTree::read(&member.path().join("src")).arrows();
        let own = Some(member.file_name().to_string_lossy().into_owned()).filter(|name| name != "taskscale");
        let in_circle = arrows.keys().filter(|file| reached(file, &arrows).contains(*file));
        circles.extend(in_circle.map(|file| own.iter().chain(file).cloned().collect::<Vec<_>>().join("::")));
    }
    assert!(circles.is_empty(), "these files use each other in a circle: {circles:?}");
}

/// A name means one thing in the whole workspace.
#[test]
fn type_names_are_unique() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    // An associated type has the name that its trait gives it, and is indented.
    let line =
        Regex::new(r"(?m)^(?:\s*(?:pub(?:\([a-z ]+\))? )?(?:struct|enum|trait|union)|(?:pub(?:\([a-z ]+\))? )?type) (\w+)")
            .unwrap();
    let mut types: BTreeMap<String, usize> = BTreeMap::new();
    for member in fs::read_dir(root).unwrap().map(|member| member.unwrap()) {
        for code in SourceTree::read(&member.path().join("src")).code.values() {
            line.captures_iter(code).for_each(|found| *types.entry(found[1].to_owned()).or_default() += 1);
        }
    }
    let twice: Vec<_> = types.iter().filter(|(_, count)| **count > 1).collect();
    assert!(types.len() > 300 && twice.is_empty(), "{} types, defined twice: {twice:?}", types.len());
}

#[test]
fn every_error_with_a_hint_is_known_to_the_command_line() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let tree = SourceTree::read(&source);
    let line = Regex::new(r"(?:impl Hint for |hints!\()(\w+)").unwrap();
    let has_hint = |code| line.captures_iter(code).map(|found| found[1].replace("IoError", "io::Error"));
    let errors: BTreeSet<String> =
        tree.code.values().flat_map(|code| has_hint(code).collect::<Vec<_>>()).collect();
    let known = &tree.code[&segments("cli::failure")];
    assert!(errors.len() > 15, "{errors:?}");
    let unknown: Vec<&String> =
        errors.iter().filter(|error| !known.contains(&format!("of::<{error}>"))).collect();
    assert!(unknown.is_empty(), "their hints are never shown: {unknown:?}");
}
