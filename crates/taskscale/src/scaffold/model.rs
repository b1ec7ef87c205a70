//! The entry that a new one copies: its programs under another name, and its paragraph of the manifest.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use super::cargo;
use super::languages::{Language, SHELL};
use crate::catalog::{
    CatalogError, Entry, Recipe, Runtime, embedded_texts, is_of_other_workload, named_children, workloads,
};

/// Paths and texts.
type TemplateFiles = Vec<(&'static str, &'static str)>;

pub(super) struct Model {
    language: &'static Language,
    pub(super) runtime: Runtime,
    pub(super) entry: Entry,
    /// All files of its runtime, by their paths in the runtime's folder.
    files: TemplateFiles,
}

impl Model {
    pub fn of(language: &'static Language) -> Result<Model, CatalogError> {
        let (runtime, entry) = language.model.split_once('/').unwrap_or_default();
        let files: TemplateFiles =
            if language.is_generic() { SHELL.to_vec() } else { embedded_texts(runtime).collect() };
        // Manifests are read from folders, as versions are looked up in the lock files next to them.
        let parent = std::env::temp_dir();
        let fault = |error| CatalogError::Unpack { path: parent.clone(), error };
        let temporary = tempfile::tempdir().map_err(fault)?;
        let catalog = temporary.path().join("runtimes");
        let folder = catalog.join(runtime);
        for (name, text) in &files {
            let path = folder.join(name);
            fs::create_dir_all(path.parent().unwrap_or(&folder)).map_err(fault)?;
            fs::write(path, text).map_err(fault)?;
        }
        let runtime = Runtime::load(&folder, &workloads(&catalog)?)?;
        let entry = runtime.entries.iter().find(|known| known.name == entry).cloned();
        Ok(Model { language, entry: entry.ok_or(CatalogError::NotFound)?, runtime, files })
    }

    /// The workloads with programs.
    pub fn workloads(&self) -> Vec<String> {
        self.entry.workloads.keys().cloned().collect()
    }

    fn text(&self, name: &str) -> Option<&'static str> {
        self.files.iter().find(|(path, _)| *path == name).map(|(_, text)| *text)
    }

    /// The files of these workloads' programs, for an entry of this name.
    pub fn programs(&self, workloads: &[String], entry: &str, extension: &str) -> BTreeMap<String, String> {
        let renamed = Renamed { model: &self.entry, program: program_name(entry), extension };
        let files: BTreeMap<&str, &str> =
            workloads.iter().flat_map(|workload| self.program(workload)).collect();
        let workspace = self.text("Cargo.toml").zip(self.text("Cargo.lock"));
        let code: String = files.values().copied().collect();
        let mut programs = BTreeMap::new();
        for (path, text) in files {
            let to = renamed.word(path);
            let text = match workspace {
                Some((manifest, lock)) if path.ends_with("/Cargo.toml") => {
                    let lock = cargo::lock(lock, &self.entry.name, &code, &renamed.program);
                    programs.insert(to.replace("Cargo.toml", "Cargo.lock"), lock);
                    cargo::package(text, manifest, &code)
                }
                _ => text.to_owned(),
            };
            programs.insert(to, self.head(path) + &renamed.text(&text));
        }
        programs
    }

    /// The files of one workload's program.
    fn program(&self, workload: &str) -> TemplateFiles {
        let (entry, folders) = (&self.entry, named_children(&self.entry, workload));
        let is_of_other = |path: &str, workload| is_of_other_workload(entry, workload, Path::new(path));
        // Belongs to this workload by its name, not just to no other.
        let is_own = |path| entry.workloads.keys().any(|other| other != workload && is_of_other(path, other));
        let mut files = self.files.clone();
        files.retain(|(path, _)| {
            path.split_once('/').is_some_and(|(folder, _)| folders.contains(folder))
                && !is_of_other(path, workload)
        });
        // Beside `ring/main.go`, `main.go` belongs to a workload that no path names.
        let own: Vec<_> =
            files.iter().filter(|(path, _)| is_own(path)).map(|(path, _)| extension(path)).collect();
        files.retain(|(path, _)| is_own(path) || !own.contains(&extension(path)));
        files
    }

    /// The comment at the top of a new program.
    fn head(&self, path: &str) -> String {
        let sign = match extension(path) {
            Some("rs" | "go" | "java" | "mjs" | "c" | "cs") => "//",
            Some("py" | "ex") => "#",
            // The shell's programs have their own.
            _ => return String::new(),
        };
        format!(
            "{sign} Created by `taskscale new` from {}. Replace it with your way of running tasks.\n\
             {sign} Its output is the protocol: flush each line, as pipes are buffered.\n",
            self.language.model
        )
    }

    /// Files that all entries of the runtime share.
    pub fn shared(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let of_package = ["README.md", "runtime.toml", "Cargo.toml", "Cargo.lock"];
        self.files.iter().copied().filter(move |(path, _)| !path.contains('/') && !of_package.contains(path))
    }

    /// The head of a new runtime's manifest.
    pub fn manifest_head(&self, runtime: &str) -> String {
        let text = self.text("runtime.toml").unwrap_or_default();
        let end =
            ["\n[toolchain.", "\n[library.", "\n[[entry]]"].iter().filter_map(|start| text.find(start)).min();
        let line = |key: &str, value: &str| format!("{key} = {}\n", quoted(value));
        text[..end.unwrap_or(text.len())]
            .replacen(&line("name", &self.runtime.name), &line("name", runtime), 1)
            .replacen(
                &line("title", &self.runtime.title),
                &line("title", &self.language.title_of(runtime)),
                1,
            )
    }

    /// The paragraph of a new entry.
    pub fn paragraph(&self, workloads: &[String], runtime: &str, entry: &str, extension: &str) -> String {
        let model = &self.entry;
        let said = |key: &str, value: String, comment: &str| {
            format!("{:<33} # {comment}\n", format!("{key} = {value}"))
        };
        let kinds = "what a task is: thread, process, stackful, stackless, future or timer";
        let why = "TODO: a sentence on why this is the way; the scaffold is a copy of";
        let mut text = [
            format!("[[entry]]\nname = {}\n", quoted(entry)),
            format!("title = {}\n", quoted(&format!("{} {entry}", self.language.title_of(runtime)))),
            said("kind", quoted(model.kind.name()), kinds),
            said("parallel", model.parallel.to_string(), "whether tasks run on several CPUs at once"),
            said("style", quoted(model.style.name()), "or \"tuned\""),
            format!("why = {}\n", quoted(&format!("{why} {}", self.language.model))),
        ]
        .concat();
        let renamed = Renamed { model, program: program_name(entry), extension };
        if !self.language.libraries.is_empty() {
            let libraries = self.language.libraries.replace("@NAME@", &renamed.program);
            writeln!(text, "# {libraries}").expect("a String takes everything");
        }
        for (workload, recipe) in model.workloads.iter().filter(|(name, _)| workloads.contains(name)) {
            text.push_str(&self.recipe(workload, recipe, &renamed));
        }
        text
    }

    fn recipe(&self, workload: &str, recipe: &Recipe, renamed: &Renamed) -> String {
        let command = |words: &Vec<String>| {
            // Flags belong to variants of the model, like `{shared}`.
            let words = words.iter().filter(|word| !["{flags}", "{build_flags}"].contains(&word.as_str()));
            toml::Value::from(
                words.map(|word| renamed.word(&word.replace("{shared}", "{out}"))).collect::<Vec<_>>(),
            )
        };
        let build: Vec<toml::Value> = recipe
            .build
            .iter()
            .map(|words| match words.first().map(String::as_str) {
                Some("cargo") => command(&cargo::command(words)),
                _ => command(words),
            })
            .collect();
        let run = format!("workloads.{workload}.run = {}\n", command(&recipe.run));
        match build.as_slice() {
            [] => run,
            [one] => format!("workloads.{workload}.build = {one}\n{run}"),
            several => format!("workloads.{workload}.build = {}\n{run}", toml::Value::from(several.to_vec())),
        }
    }

    pub fn readme(&self, runtime: &str, entry: &str) -> String {
        let toolchain = &self.runtime.toolchain;
        let least =
            toolchain.minimum.as_ref().map(|minimum| format!(" {} {minimum} or later.", toolchain.title));
        format!(
            "# {}\n\nInstall: {}.{}\n\n| entry | decisions |\n| --- | --- |\n\
             | `{entry}` | a copy of {}, by `taskscale new` |\n\nKnown limits:\n\n\
             - Untested: run it with a million tasks, and describe here what limits it.\n",
            self.language.title_of(runtime),
            toolchain.install_hint(),
            least.unwrap_or_default(),
            self.language.model,
        )
    }
}

/// The name of the folder and the program of an entry.
pub(super) fn program_name(entry: &str) -> String {
    // Cargo allows neither dots nor a leading digit.
    let name = entry.replace(['.', '+'], "-");
    if name.starts_with(|first: char| first.is_ascii_digit()) { format!("n{name}") } else { name }
}

fn extension(path: &str) -> Option<&str> {
    Path::new(path).extension().and_then(OsStr::to_str)
}

fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

/// Renames a model's files and commands for a new entry.
struct Renamed<'a> {
    model: &'a Entry,
    program: String,
    /// Replaces `.sh`, for unknown languages.
    extension: &'a str,
}

impl Renamed<'_> {
    /// Renames a word of a command, or a path in the runtime's folder.
    fn word(&self, word: &str) -> String {
        let mut first = true;
        let part = |part: &str| {
            if part == "." || part.starts_with('{') {
                return part.to_owned();
            }
            self.part(part, std::mem::take(&mut first))
        };
        let renamed = word.split('/').map(part).collect::<Vec<_>>().join("/");
        match renamed.strip_suffix(".sh") {
            Some(stem) => format!("{stem}.{}", self.extension),
            None => renamed,
        }
    }

    /// Renames a part that begins with the model's name: `thread`, `thread-ring`, `thread.csproj`.
    fn part(&self, part: &str, first: bool) -> String {
        // Below its folder, `spawn.ex` is named after the workload, not after the entry `spawn`.
        let stem = part.split('.').next().unwrap_or(part);
        let names_entry = first || !self.model.workloads.contains_key(stem);
        match part.strip_prefix(self.model.name.as_str()) {
            Some(rest) if names_entry && (rest.is_empty() || rest.starts_with(['-', '.'])) => {
                format!("{}{rest}", self.program)
            }
            _ => part.to_owned(),
        }
    }

    /// Renames the program in its own messages.
    fn text(&self, text: &str) -> String {
        let (model, program) = (&self.model.name, &self.program);
        let mut text = text.replace(&format!("name = \"{model}\"\n"), &format!("name = \"{program}\"\n"));
        // A model's name that is also a workload's means the workload.
        if !self.model.workloads.contains_key(model) {
            text = text
                .replace(&format!("usage: {model} "), &format!("usage: {program} "))
                .replace(&format!("\"{model}: "), &format!("\"{program}: "));
        }
        for workload in self.model.workloads.keys() {
            text = text.replace(&format!("{model}-{workload}"), &format!("{program}-{workload}"));
        }
        text
    }
}
