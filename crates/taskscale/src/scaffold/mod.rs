//! New entries: a working program and its manifest, copied from an entry of the embedded catalog.
//!
//! Adds files, and text at the end of a manifest. Never overwrites. Must not know the command line.

mod cargo;
mod languages;
mod model;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use self::model::{Model, program_name};
use crate::catalog::{CatalogError, Runtime, check_name, workloads};
use crate::hint::hints;
pub use languages::{LANGUAGES, Language, language_of};

/// What to create.
#[derive(Debug, Clone)]
pub struct ScaffoldRequest<'a> {
    /// The catalog's folder. It need not exist.
    pub catalog: &'a Path,
    pub runtime: &'a str,
    pub entry: &'a str,
    pub language: &'static Language,
    /// The file extension, for other languages.
    pub extension: &'a str,
    /// One program each.
    pub workloads: &'a [String],
}

/// Why nothing was created.
#[derive(Debug, thiserror::Error, strum::EnumMessage)]
pub enum ScaffoldError {
    #[error(
        "{what} name {name:?}: must start with a lowercase letter or digit and contain only those and `-`, `_`, `+`, `.`"
    )]
    #[strum(message = "for example `taskscale new go/errgroup`")]
    Name { what: &'static str, name: String },
    #[error("no program for `{workload}` in {language} (available: {})", there.join(", "))]
    #[strum(message = "leave it out of -w; docs/reference/protocol.md describes what its program must do")]
    NoProgram { workload: String, language: &'static str, there: Vec<String> },
    #[error("cannot read the embedded catalog: {error}")]
    Model { error: CatalogError },
    #[error("already exists: {0}")]
    #[strum(message = "choose another name, or another catalog: --catalog DIR")]
    Exists(PathBuf),
    #[error("entry already exists: {runtime}/{entry}")]
    #[strum(message = "choose another name, or another catalog: --catalog DIR")]
    EntryExists { runtime: String, entry: String },
    #[error("{error} (fix it before adding an entry)")]
    Runtime { error: CatalogError },
    #[error("internal error: the new manifest is invalid, nothing was changed: {error}")]
    #[strum(message = "please report it, with that runtime.toml")]
    Invalid { error: CatalogError },
    #[error("cannot write {path}: {error}")]
    Io { path: PathBuf, error: io::Error },
}

hints!(ScaffoldError {
    ScaffoldError::Runtime { error } | ScaffoldError::Model { error } => error.hint(),
    ScaffoldError::Io { error, .. } => error.hint(),
});

/// Adds an entry to a catalog: to a new runtime, or to an existing one.
pub fn write(request: &ScaffoldRequest) -> Result<Changes, ScaffoldError> {
    for (what, name) in
        [("runtime", request.runtime), ("entry", request.entry), ("extension", request.extension)]
    {
        if !check_name(name) {
            return Err(ScaffoldError::Name { what, name: name.to_owned() });
        }
    }
    let language = request.language;
    let model = Model::of(language).map_err(|error| ScaffoldError::Model { error })?;
    let there = model.workloads();
    if let Some(workload) = request.workloads.iter().find(|workload| !there.contains(workload)) {
        let workload = workload.clone();
        return Err(ScaffoldError::NoProgram { workload, language: &language.title, there });
    }
    let folder = request.catalog.join(request.runtime);
    let manifest = folder.join("runtime.toml");
    let load = || Runtime::load(&folder, &workloads(request.catalog)?);
    let before = manifest.exists().then(load).transpose();
    let before = before.map_err(|error| ScaffoldError::Runtime { error })?;
    if before.iter().flat_map(|runtime| &runtime.entries).any(|entry| entry.name == request.entry) {
        let (runtime, entry) = (request.runtime.to_owned(), request.entry.to_owned());
        return Err(ScaffoldError::EntryExists { runtime, entry });
    }
    let new = if before.is_some() { folder.join(program_name(request.entry)) } else { folder.clone() };
    if new.exists() {
        return Err(ScaffoldError::Exists(new));
    }

    let mut changes = Changes::default();
    let written = fill(request, &model, before.as_ref(), &mut changes);
    let checked = written.and_then(|()| load().map_err(|error| ScaffoldError::Invalid { error }));
    checked.inspect_err(|_| changes.undo())?;
    Ok(changes)
}

/// Writes an entry. `before` is the existing runtime.
fn fill(
    request: &ScaffoldRequest,
    model: &Model,
    before: Option<&Runtime>,
    changes: &mut Changes,
) -> Result<(), ScaffoldError> {
    let ScaffoldRequest { catalog, runtime, entry, workloads, extension, .. } = *request;
    let folder = catalog.join(runtime);
    let manifest = folder.join("runtime.toml");
    for (name, text) in model.programs(workloads, entry, extension) {
        changes.create(&folder.join(name), &text)?;
    }
    for (name, text) in model.shared() {
        // For example a module file, which other entries use already.
        if !folder.join(name).exists() {
            changes.create(&folder.join(name), text)?;
        }
    }
    let paragraph = model.paragraph(workloads, runtime, entry, extension);
    match before {
        None => {
            changes.create(&manifest, &format!("{}\n{paragraph}", model.manifest_head(runtime)))?;
            changes.create(&folder.join("README.md"), &model.readme(runtime, entry))
        }
        Some(runtime) if runtime.toolchain.locate.is_none() => {
            // This manifest finds its programs in PATH.
            changes.append(&manifest, &paragraph.replace("{home}/bin/", "").replace("{home}/", ""))
        }
        Some(_) => changes.append(&manifest, &paragraph),
    }
}

/// What was created, to be undone after an error.
#[derive(Debug, Default)]
pub struct Changes {
    pub created: Vec<PathBuf>,
    folders: Vec<PathBuf>,
    /// The manifest that an entry was added to, if the runtime existed, with its previous length.
    pub extended: Option<(PathBuf, u64)>,
}

impl Changes {
    fn create(&mut self, path: &Path, text: &str) -> Result<(), ScaffoldError> {
        let fault = |error| ScaffoldError::Io { path: path.to_owned(), error };
        let parent = path.parent().unwrap_or(path);
        let missing: Vec<PathBuf> =
            parent.ancestors().take_while(|folder| !folder.exists()).map(Path::to_owned).collect();
        fs::create_dir_all(parent).map_err(fault)?;
        self.folders.extend(missing);
        let new = OpenOptions::new().write(true).create_new(true).open(path);
        let mut file = new.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => ScaffoldError::Exists(path.to_owned()),
            _ => fault(error),
        })?;
        self.created.push(path.to_owned());
        file.write_all(text.as_bytes()).map_err(fault)
    }

    /// Appends a paragraph.
    fn append(&mut self, path: &Path, text: &str) -> Result<(), ScaffoldError> {
        let fault = |error| ScaffoldError::Io { path: path.to_owned(), error };
        let before = fs::read(path).map_err(fault)?;
        let gap = if before.ends_with(b"\n") { "\n" } else { "\n\n" };
        let mut file = OpenOptions::new().append(true).open(path).map_err(fault)?;
        self.extended = Some((path.to_owned(), before.len() as u64));
        file.write_all(format!("{gap}{text}").as_bytes()).map_err(fault)
    }

    /// Undoes all changes, as far as possible.
    fn undo(&self) {
        if let Some((path, length)) = &self.extended {
            let _ = File::options().write(true).open(path).and_then(|file| file.set_len(*length));
        }
        for path in &self.created {
            let _ = fs::remove_file(path);
        }
        for folder in &self.folders {
            // Innermost first. Non-empty folders stay.
            let _ = fs::remove_dir(folder);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::LazyLock;

    fn request<'a>(catalog: &'a Path, runtime: &'a str, entry: &'a str) -> ScaffoldRequest<'a> {
        static SLEEP: LazyLock<Vec<String>> = LazyLock::new(|| vec!["sleep".to_owned()]);
        ScaffoldRequest {
            catalog,
            runtime,
            entry,
            language: language_of(runtime),
            extension: runtime,
            workloads: &SLEEP,
        }
    }

    fn load(catalog: &Path, runtime: &str) -> Runtime {
        Runtime::load(&catalog.join(runtime), &workloads(catalog).unwrap()).unwrap()
    }

    fn texts(folder: &Path) -> Vec<(PathBuf, String)> {
        let mut found = Vec::new();
        for child in fs::read_dir(folder).unwrap().flatten() {
            if child.path().is_dir() {
                found.extend(texts(&child.path()));
            } else {
                found.push((child.path(), fs::read_to_string(child.path()).unwrap()));
            }
        }
        found.sort();
        found
    }

    #[test]
    fn every_model_yields_valid_runtimes_and_entries() {
        let catalog = tempfile::tempdir().unwrap();
        for language in LANGUAGES.iter() {
            let runtime = language.names.first().map_or("perl", String::as_str);
            let model = Model::of(language).unwrap();
            let all = model.workloads();
            let made =
                ScaffoldRequest { language, workloads: &all, ..request(catalog.path(), runtime, "my-tasks") };
            let written = write(&made).unwrap();
            assert_eq!(written.extended, None);
            for (path, text) in texts(&catalog.path().join(runtime)) {
                assert!(!text.contains("@NAME@"), "{path:?}");
                assert!(written.created.contains(&path), "{path:?}");
            }
            // Further entries with one workload each, without files of the others.
            for workload in &all {
                let workloads = std::slice::from_ref(workload);
                let entry = format!("mine-{workload}");
                let written = write(&ScaffoldRequest { entry: &entry, workloads, ..made.clone() }).unwrap();
                assert!(written.extended.is_some(), "{}", language.title);
                let entries = load(catalog.path(), runtime).entries;
                let does: Vec<&String> =
                    entries.last().into_iter().flat_map(|entry| entry.workloads.keys()).collect();
                assert_eq!(does, [workload], "{}", language.title);
                let is_code = |path: &&PathBuf| {
                    let end = path.extension().and_then(|end| end.to_str());
                    !matches!(end, Some("toml" | "lock" | "csproj" | "xml" | "json" | "mod" | "sum" | "txt"))
                };
                let code: Vec<&PathBuf> = written.created.iter().filter(is_code).collect();
                let of = |path: &PathBuf, workload: &String| {
                    let stem = path.file_stem().unwrap_or_default().to_string_lossy().to_lowercase();
                    stem == **workload || stem.ends_with(&format!("-{workload}"))
                };
                let others = all.iter().filter(|other| *other != workload);
                let foreign = others.flat_map(|other| code.iter().filter(move |path| of(path, other)));
                assert_eq!(foreign.collect::<Vec<_>>(), [] as [&&PathBuf; 0], "{}", language.title);
                assert!(!code.is_empty(), "{}: {workload}", language.title);
            }
        }
    }

    /// Only a model's files and commands are copied.
    #[test]
    fn models_need_no_extra_variables_libraries_or_toolchains() {
        for language in LANGUAGES.iter() {
            let Model { entry, runtime, .. } = Model::of(language).unwrap();
            assert!(entry.env.is_empty() && entry.limit_env.is_empty(), "{}", entry.full_name);
            // A library of one workload, such as that of `chat`, is in its files.
            let library = entry.library.filter(|library| library.workloads.is_empty());
            assert_eq!((library, entry.toolchain), (None, runtime.toolchain), "{}", entry.full_name);
        }
    }

    #[test]
    fn scaffolds_use_only_their_own_folder() {
        let catalog = tempfile::tempdir().unwrap();
        for language in LANGUAGES.iter() {
            let runtime = language.names.first().map_or("perl", String::as_str);
            let all = Model::of(language).unwrap().workloads();
            for entry in ["my-tasks", "2.0+x"] {
                write(&ScaffoldRequest {
                    language,
                    workloads: &all,
                    ..request(catalog.path(), runtime, entry)
                })
                .unwrap();
            }
            let model = language.model.split_once('/').unwrap().1;
            let read = load(catalog.path(), runtime);
            for (entry, folder) in read.entries.iter().zip(["my-tasks", "n2-0-x"]) {
                for recipe in entry.workloads.values() {
                    let words = recipe.build.iter().flatten().chain(&recipe.run);
                    for word in words.clone() {
                        assert!(
                            !word.contains("{shared}") && !word.split('/').any(|part| part == model),
                            "{word}"
                        );
                    }
                    let is_own = |word: &String| word.split('/').any(|part| part.starts_with(folder));
                    assert!(words.clone().any(is_own), "{recipe:?}");
                }
            }
        }
    }

    #[test]
    fn existing_manifests_are_only_appended_to() {
        let catalog = tempfile::tempdir().unwrap();
        let folder = catalog.path().join("java");
        fs::create_dir(&folder).unwrap();
        let text = "# mine\nname = \"java\"\ntitle = \"J\"\nurl = \"https://e.org\"\nversion = [\"java\", \"-version\"]\n\
                    install = { other = \"x\" }\n\n[[entry]]\nname = \"a\"\ntitle = \"A\"\nkind = \"thread\"\nparallel = true\n\
                    style = \"tuned\"\nwhy = \"w\"\nworkloads.sleep = { run = [\"java\"] } # no line end";
        fs::write(folder.join("runtime.toml"), text).unwrap();
        let written = write(&request(catalog.path(), "java", "mine")).unwrap();
        assert_eq!(written.created, [folder.join("mine/Sleep.java")]);
        let now = fs::read_to_string(folder.join("runtime.toml")).unwrap();
        let added = now.strip_prefix(text).unwrap();
        assert!(added.starts_with("\n\n[[entry]]\nname = \"mine\"") && !added.contains("{home}"), "{added}");
        let error = write(&request(catalog.path(), "java", "a")).unwrap_err().to_string();
        assert_eq!(error, "entry already exists: java/a");
    }

    #[test]
    fn failed_scaffolds_leave_the_catalog_unchanged() {
        let catalog = tempfile::tempdir().unwrap();
        write(&request(catalog.path(), "go", "one")).unwrap();
        fs::create_dir(catalog.path().join("go/two")).unwrap();
        fs::write(catalog.path().join("go/two/notes"), "mine").unwrap();
        fs::create_dir(catalog.path().join("rust")).unwrap();
        let before = texts(catalog.path());
        for (runtime, entry, said) in [
            ("go", "two", "already exists: "),
            ("rust", "one", "already exists: "),
            ("go", "../three", "entry name \"../three\""),
            ("Go", "three", "runtime name \"Go\""),
        ] {
            let error = write(&request(catalog.path(), runtime, entry)).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
        // A broken manifest is not extended.
        fs::write(catalog.path().join("go/runtime.toml"), "name = ").unwrap();
        let error = write(&request(catalog.path(), "go", "three")).unwrap_err().to_string();
        assert!(error.contains("runtime.toml:1:") && error.contains("fix it before"), "{error}");
        fs::write(
            catalog.path().join("go/runtime.toml"),
            &before.iter().find(|(p, _)| p.ends_with("go/runtime.toml")).unwrap().1,
        )
        .unwrap();
        assert_eq!(texts(catalog.path()), before);
        let mut changes = Changes::default();
        changes.create(&catalog.path().join("new/deep/file"), "text").unwrap();
        changes.append(&catalog.path().join("go/runtime.toml"), "more").unwrap();
        changes.undo();
        assert_eq!(texts(catalog.path()), before);
        assert!(!catalog.path().join("new").exists());
    }

    #[test]
    fn a_workload_without_a_program_is_refused() {
        let catalog = tempfile::tempdir().unwrap();
        let workloads = ["sleep".to_owned(), "juggle".to_owned()];
        let asked = ScaffoldRequest { workloads: &workloads, ..request(catalog.path(), "go", "mine") };
        let error = write(&asked).unwrap_err().to_string();
        assert!(error.contains("`juggle` in Go (available: chat, echo, "), "{error}");
        assert_eq!(texts(catalog.path()), []);
    }

    #[test]
    fn languages_have_aliases() {
        let title = |name| language_of(name).title.as_str();
        assert_eq!((title("golang"), title("node"), title("dotnet")), ("Go", "Node.js", ".NET"));
        assert_eq!(title("perl"), "POSIX shell");
        assert_eq!(language_of("perl").title_of("perl"), "Perl");
        assert_eq!(language_of("go").title_of("go"), "Go");
    }
}
