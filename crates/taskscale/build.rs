//! Puts the catalogue's sources into the program, so that an installed `taskscale` needs no repository.
//!
//! Writes a Rust file with one `include_bytes!` per source file, and a digest of them all. Taken are the files below
//! `runtimes/` that git does not ignore; where there is no git, or no checkout, all but hidden ones and the folders that
//! build tools make. Where there is no `runtimes/` at all (a packaged crate), the program carries no catalogue.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use sha2::{Digest, Sha256};

/// Folders that build tools leave beside sources. A build of taskscale's own leaves none: this is for strays.
const MADE: [&str; 8] =
    ["target", "node_modules", "__pycache__", "obj", "_build", "zig-out", "zig-cache", "nimcache"];

fn main() {
    let root = Path::new(&env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("../../runtimes");
    println!("cargo::rerun-if-changed=build.rs");
    let mut files = Vec::new();
    if root.is_dir() {
        // All that lies below: a new file is embedded by the next build.
        println!("cargo::rerun-if-changed={}", root.display());
        files = listed_by_git(&root).unwrap_or_else(|| {
            let mut files = Vec::new();
            walk(&root, Path::new(""), &mut files);
            files
        });
        files.sort();
        files.dedup();
    } else {
        // Cargo runs a script again whose file is missing, which costs nothing where there is nothing to do.
        println!("cargo::warning=no runtimes/ beside crates/: this taskscale carries no catalogue");
    }

    let mut hash = Sha256::new();
    let mut code = String::from("pub(super) static FILES: &[(&str, &[u8])] = &[\n");
    for name in &files {
        let path = root.join(name).canonicalize().expect("a file that was just listed");
        let bytes = fs::read(&path).expect("a source file that can be read");
        let name = name.to_str().expect("source files have names in UTF-8");
        for part in [name.as_bytes(), &bytes] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        writeln!(code, "    ({name:?}, include_bytes!({:?})),", path.to_str().expect("a path in UTF-8"))
            .expect("a String takes everything");
    }
    let digest: String = hash.finalize().iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    writeln!(code, "];\n/// The first 48 bits of a SHA-256 over names and contents.\npub(super) const DIGEST: &str = {digest:?};")
        .expect("a String takes everything");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it")).join("catalog.rs");
    fs::write(&out, code).expect("cargo's folder can be written");
}

/// Paths below `root` that are tracked, or new and not ignored; `None` where git cannot say.
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
    // A copy of the sources inside another repository that ignores it.
    (!files.is_empty()).then_some(files)
}

fn walk(root: &Path, inside: &Path, files: &mut Vec<PathBuf>) {
    for child in fs::read_dir(root.join(inside)).into_iter().flatten().flatten() {
        let name = child.file_name();
        let shown = name.to_string_lossy();
        let path = inside.join(&name);
        if shown.starts_with('.') || MADE.contains(&shown.as_ref()) {
            continue;
        }
        if root.join(&path).is_dir() {
            walk(root, &path, files);
        } else {
            files.push(path);
        }
    }
}
