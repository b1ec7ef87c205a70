//! Adds the hook to a Go program: `go build -overlay` compiles it as if it were in the program's folder.

use std::fs;
use std::path::{Path, PathBuf};

use sha2::Digest;

use super::adapter::GO;
use crate::catalog::{Entry, Runtime};

/// The entry with the hook compiled into its program for this workload; `None` without a `go build`. The
/// overlay is written into `folder`.
pub fn with_go_hook(
    runtime: &Runtime,
    entry: &Entry,
    workload: &str,
    folder: &Path,
) -> Result<Option<Entry>, String> {
    let mut entry = entry.clone();
    let Some(recipe) = entry.workloads.get_mut(workload) else { return Ok(None) };
    let is_build =
        |command: &&mut Vec<String>| command.get(..2).is_some_and(|words| words == ["go", "build"]);
    let Some(command) = recipe.build.iter_mut().find(is_build) else { return Ok(None) };
    let added = package(&runtime.folder, command).join("taskscale_probe.go");
    let hook = folder.join(GO.0);
    let overlay = serde_json::json!({ "Replace": { added.display().to_string(): hook } });
    let path = folder.join(format!("{}-{workload}.json", entry.name));
    fs::write(&path, overlay.to_string())
        .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    // After a `-C`, which must come first.
    let at = if command.get(2).is_some_and(|word| word == "-C") { 4 } else { 2 };
    command.insert(at, format!("-overlay={}", path.display()));
    // Builds are cached by name. This one must not replace the measured build or one with another hook.
    let hook: String = sha2::Sha256::digest(GO.1).iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    entry.name.push_str(&format!("-probe-{hook}"));
    Ok(Some(entry))
}

/// The folder of the package that a command builds.
fn package(runtime: &Path, command: &[String]) -> PathBuf {
    let inside = match command.iter().position(|word| word == "-C") {
        Some(at) => runtime.join(command.get(at + 1).map_or(".", String::as_str)),
        None => runtime.to_owned(),
    };
    // `./goroutine/sleep`, or `.`. Strip the dots: Go compares overlay paths as text.
    let last = command.last().map_or(".", String::as_str).trim_start_matches("./");
    if last == "." { inside } else { inside.join(last) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn package_folder_is_derived_from_go_build_command() {
        let of = |words: &str| {
            package(Path::new("/r/go"), &words.split(' ').map(str::to_owned).collect::<Vec<_>>())
        };
        assert_eq!(of("go build -o x ./goroutine/sleep"), Path::new("/r/go/goroutine/sleep"));
        assert_eq!(of("go build -C goroutine/chat -o x ."), Path::new("/r/go/goroutine/chat"));
    }
}
