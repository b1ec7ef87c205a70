//! Embeds the catalog's sources and the page of reports into the program, so that an installed `taskscale` needs no
//! repository.
//!
//! Writes a compressed file of each part of the page, one of all sources, and a Rust file with their names, lengths and
//! a digest. In the repository, embeds the files below `runtimes/` that git does not ignore; without git, all but hidden
//! files and folders of build tools. A packaged crate has them in `packaged/` (see its README.md).

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use sha2::{Digest, Sha256};

/// Folders that build tools create beside sources. Builds by taskscale do not.
const MADE: [&str; 8] =
    ["target", "node_modules", "__pycache__", "obj", "_build", "zig-out", "zig-cache", "nimcache"];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let packaged = Path::new(&env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("packaged");
    let in_repository = packaged.join("runtimes").is_symlink();
    let mut files = if in_repository { in_repository_files(&packaged) } else { packaged_files(&packaged) };
    assert!(!files.is_empty(), "no catalog in {} (see README.md there)", packaged.display());
    files.sort();
    files.dedup();

    let mut hash = Sha256::new();
    let mut code =
        String::from("/// Names and lengths, in packing order.\nstatic NAMES: &[(&str, usize)] = &[\n");
    let mut all = Vec::new();
    for (name, path) in &files {
        let path = path.canonicalize().expect("a file that was just listed");
        let bytes = fs::read(&path).expect("a source file that can be read");
        let name = name.to_str().expect("source files have names in UTF-8");
        for part in [name.as_bytes(), &bytes] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        println!("cargo::rerun-if-changed={}", path.display());
        writeln!(code, "    ({name:?}, {}),", bytes.len()).expect("a String takes everything");
        all.extend(bytes);
    }
    let digest: String = hash.finalize().iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    writeln!(code, "];\n/// The first 48 bits of a SHA-256 over names and contents.\npub(super) const DIGEST: &str = {digest:?};")
        .expect("a String takes everything");
    code.push_str(&workloads(&packaged.join("workloads")));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    // Compressed to a quarter of their size, which is a tenth of the program.
    write_packed(&out.join("catalog.deflate"), &all);
    let page = "assets/report.html";
    println!("cargo::rerun-if-changed={page}");
    let page = fs::read_to_string(page).expect("the page that report/ built");
    // The parts of the page before the data of the first view, after it, and after the details.
    let (before, rest) = page.split_once("@@TASKSCALE_DATA@@").expect("a place for the first view");
    let (between, after) = rest.split_once("@@TASKSCALE_DETAILS@@\n").expect("a place for the details");
    for (name, part) in [("before", before), ("between", between), ("after", after)] {
        write_packed(&out.join(format!("{name}.deflate")), part.as_bytes());
    }
    fs::write(out.join("catalog.rs"), code).expect("cargo's folder can be written");
}

fn write_packed(path: &Path, bytes: &[u8]) {
    fs::write(path, miniz_oxide::deflate::compress_to_vec(bytes, 9)).expect("cargo's folder can be written");
}

/// The workloads: small texts, for catalogs without their own.
fn workloads(folder: &Path) -> String {
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut names = walk(folder);
    names.retain(|name| name.extension().is_some_and(|extension| extension == "toml"));
    names.sort();
    assert!(!names.is_empty(), "no workload in {}", folder.display());
    let mut code = String::from("pub(super) static WORKLOADS: &[(&str, &str)] = &[\n");
    for name in names {
        let path = folder.join(&name).canonicalize().expect("a file that was just listed");
        writeln!(code, "    ({name:?}, include_str!({:?})),", path.to_str().expect("a path in UTF-8"))
            .expect("a String takes everything");
    }
    code + "];\n"
}

/// Names in the catalog, each with its file.
type Files = Vec<(PathBuf, PathBuf)>;

fn in_repository_files(packaged: &Path) -> Files {
    let root = packaged.join("runtimes");
    // Watches the whole folder, so that the next build embeds new files.
    println!("cargo::rerun-if-changed={}", root.display());
    let names = listed_by_git(&root).unwrap_or_else(|| walk(&root));
    names.into_iter().map(|name| (name.clone(), root.join(name))).collect()
}

/// All files. Those that cargo would leave out are packaged as `*.in`, and get their names back.
fn packaged_files(packaged: &Path) -> Files {
    let mut files = Files::new();
    for root in ["runtimes", "cargo"].map(|folder| packaged.join(folder)) {
        println!("cargo::rerun-if-changed={}", root.display());
        files.extend(walk(&root).into_iter().map(|name| {
            let is_renamed = name.extension().is_some_and(|extension| extension == "in");
            (if is_renamed { name.with_extension("") } else { name.clone() }, root.join(name))
        }));
    }
    files
}

/// Paths below `root` that are tracked, or new and not ignored. `None` without git.
fn listed_by_git(root: &Path) -> Option<Vec<PathBuf>> {
    let output = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard", "."])
        .current_dir(root)
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    let names = String::from_utf8(output.stdout).ok()?;
    // Tracked files that were deleted are still listed.
    let there = |name: &&str| !name.is_empty() && root.join(name).is_file();
    let files: Vec<PathBuf> = names.split('\0').filter(there).map(PathBuf::from).collect();
    // Git lists nothing for a copy of the sources in another repository that ignores it.
    (!files.is_empty()).then_some(files)
}

fn walk(root: &Path) -> Vec<PathBuf> {
    let (mut files, mut folders) = (Vec::new(), vec![PathBuf::new()]);
    while let Some(inside) = folders.pop() {
        for child in fs::read_dir(root.join(&inside)).into_iter().flatten().flatten() {
            let name = child.file_name();
            let shown = name.to_string_lossy();
            if shown.starts_with('.') || MADE.contains(&shown.as_ref()) {
                continue;
            }
            let path = inside.join(&name);
            if root.join(&path).is_dir() { &mut folders } else { &mut files }.push(path);
        }
    }
    files
}
