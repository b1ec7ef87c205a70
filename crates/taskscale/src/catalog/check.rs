//! The rules of `runtime.toml`: from wire types to validated ones, every fault with its line and column.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::fs;
use std::path::Path;

use regex_lite::Regex;
use taskscale_measure::Kind;
use toml::Spanned;

use super::error::CatalogError;
use super::manifest::{EntryToml, PostsToml, RuntimeToml};
use super::manifest_file::ManifestFile;
use super::model::{Entry, Library, LibraryPin, Recipe, Runtime, ToolchainSpec};
use super::names::{check_name, closest};
use super::number_of_tasks::{OPENED, unreadable_formula};
use super::workload::Workload;

/// A command with a placeholder for several arguments filled in.
fn spread(command: &[String], placeholder: &str, flags: &[String]) -> Vec<String> {
    let fill =
        |argument: &String| if argument == placeholder { flags.to_vec() } else { vec![argument.clone()] };
    command.iter().flat_map(fill).collect()
}

impl ManifestFile<'_> {
    pub fn validate(
        &self,
        wire: RuntimeToml,
        folder: &Path,
        workloads: &[Workload],
    ) -> Result<Runtime, CatalogError> {
        let folder_name = folder.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        let (offset, name) = (wire.name.span().start, wire.name.into_inner());
        if name != folder_name {
            let message =
                format!("name is `{name}` but the folder is `{folder_name}`: they must be the same");
            return Err(self.error(offset, message));
        }
        self.check_name("runtime", &name, offset)?;
        if wire.entries.is_empty() {
            return Err(self.error(0, "no [[entry]] (a runtime needs at least one)"));
        }
        let toolchain = ToolchainSpec {
            title: wire.title.clone(),
            version: wire.version,
            minimum: wire.minimum,
            install: wire.install,
            locate: wire.locate,
            versions: wire.versions,
            folder: folder.to_owned(),
            pinned: None,
        };
        let mut runtime = Runtime {
            name,
            title: wire.title,
            url: wire.url,
            toolchain: self.toolchain(toolchain, folder)?,
            folder: folder.to_owned(),
            entries: Vec::new(),
            libraries: wire.libraries,
        };
        let mut toolchains = BTreeMap::new();
        for (name, other) in wire.toolchains {
            toolchains.insert(name, self.toolchain(other, folder)?);
        }
        for (name, pin) in &runtime.libraries {
            self.check_pin(name, pin)?;
        }
        let mut earlier: Vec<EntryToml> = Vec::new();
        for mut wire in wire.entries {
            let (name, offset) = (wire.name.get_ref().clone(), wire.name.span().start);
            if earlier.iter().any(|earlier| *earlier.name.get_ref() == name) {
                return Err(self.error(offset, format!("entry `{name}` is defined twice: names must differ")));
            }
            self.check_name("entry", &name, offset)?;
            let place = EntryPlace { file: self, name: &name, offset, folder };
            wire.workloads = place.each_workload(&wire.workloads, workloads)?;
            if let Some(like) = &wire.like {
                let twin = place.twin(like, &earlier)?;
                wire.complete(twin);
            }
            runtime.entries.push(place.entry(wire.clone(), &runtime, &toolchains)?);
            earlier.push(wire);
        }
        Ok(runtime)
    }

    fn check_pin(&self, name: &str, pin: &LibraryPin) -> Result<(), CatalogError> {
        let fault = |message: String| {
            let offset = self.text.find("[library.").unwrap_or(0);
            self.error(offset, format!("library `{name}`: {message}"))
        };
        if pin.resolve.iter().chain(&pin.releases).any(|command| command.first().is_none_or(String::is_empty))
        {
            return Err(fault("empty command".into()));
        }
        let requirement = pin.requirement.as_ref().map(|pattern| Regex::new(pattern)).transpose();
        requirement.map_err(|error| fault(format!("requirement: {error}")))?;
        Ok(())
    }

    fn toolchain(&self, mut spec: ToolchainSpec, folder: &Path) -> Result<ToolchainSpec, CatalogError> {
        if spec.version.first().is_none_or(String::is_empty) {
            return Err(self.error(0, "version is empty: give the command that prints the version"));
        }
        if let Some(locate) = &mut spec.locate {
            locate.ask = locate.ask.take().filter(|words| !words.is_empty());
        }
        folder.clone_into(&mut spec.folder);
        Ok(spec)
    }

    fn check_name(&self, what: &str, name: &str, offset: usize) -> Result<(), CatalogError> {
        if check_name(name) {
            return Ok(());
        }
        Err(self.error(
            offset,
            format!("{what} name {name:?} must start with a lowercase letter or digit and contain only lowercase letters, digits, `-`, `_`, `+`, `.`"),
        ))
    }
}

/// Context for errors about one entry: its name, its offset in the file, and the runtime's folder.
struct EntryPlace<'a> {
    file: &'a ManifestFile<'a>,
    name: &'a str,
    offset: usize,
    folder: &'a Path,
}

impl EntryPlace<'_> {
    /// An error at the entry's offset, which begins with its name.
    fn fault(&self, message: impl Display) -> CatalogError {
        self.fault_at(self.offset, message)
    }

    /// The same error at another offset.
    fn fault_at(&self, offset: usize, message: impl Display) -> CatalogError {
        self.file.error(offset, format!("entry `{}`{message}", self.name))
    }

    /// The recipes by workload. A key of `named` may list several.
    fn each_workload(
        &self,
        named: &BTreeMap<String, Spanned<Recipe>>,
        known: &[Workload],
    ) -> Result<BTreeMap<String, Spanned<Recipe>>, CatalogError> {
        let known: Vec<&str> = known.iter().map(|workload| workload.name.as_str()).collect();
        let mut each = BTreeMap::new();
        for (names, recipe) in named {
            let start = recipe.span().start;
            for workload in names.split_whitespace() {
                if !known.contains(&workload) {
                    let hint = match closest(workload, known.iter().copied()) {
                        Some(nearest) => format!("did you mean `{nearest}`?"),
                        None => format!("available: {}", known.join(", ")),
                    };
                    return Err(self.fault_at(start, format!(": unknown workload `{workload}`: {hint}")));
                }
                let own = Spanned::new(recipe.span(), recipe.get_ref().for_workload(workload));
                if each.insert(workload.to_owned(), own).is_some() {
                    return Err(self.fault_at(start, format!(" has the workload `{workload}` twice")));
                }
            }
        }
        Ok(each)
    }

    /// The earlier entry of this name.
    fn twin<'e>(&self, like: &str, earlier: &'e [EntryToml]) -> Result<&'e EntryToml, CatalogError> {
        earlier.iter().find(|earlier| earlier.name.get_ref() == like).ok_or_else(|| {
            let names = earlier.iter().map(|earlier| earlier.name.get_ref().as_str());
            let nearest = closest(like, names).map(|nearest| format!(": did you mean `{nearest}`?"));
            let nearest = nearest.unwrap_or_default();
            self.fault(format!(" is like `{like}`, but no entry above has that name{nearest}"))
        })
    }

    fn entry(
        &self,
        wire: EntryToml,
        runtime: &Runtime,
        toolchains: &BTreeMap<String, ToolchainSpec>,
    ) -> Result<Entry, CatalogError> {
        if wire.why.trim().is_empty() {
            return Err(self.fault(" has an empty `why`"));
        }
        let missing = |key: &str| self.fault(format!(" has no `{key}`"));
        let kind = wire.kind.ok_or_else(|| missing("kind"))?;
        let parallel = wire.parallel.ok_or_else(|| missing("parallel"))?;
        let toolchain = match &wire.toolchain {
            None => &runtime.toolchain,
            Some(named) => toolchains.get(named).ok_or_else(|| {
                self.fault(format!(" names the toolchain `{named}`, but there is no [toolchain.{named}]"))
            })?,
        };
        if wire.workloads.is_empty() {
            return Err(self.fault(" has no workload: add workloads.sleep = { run = […] }"));
        }
        let mut workloads = BTreeMap::new();
        for (workload, recipe) in &wire.workloads {
            let start = recipe.span().start;
            workloads.insert(workload.clone(), self.recipe(&wire, (workload, start), recipe.get_ref())?);
        }
        let library = wire.library.map(|library| self.library(library)).transpose()?;
        if wire.omitted.as_ref().is_some_and(|why| why.trim().is_empty()) {
            return Err(self.fault(": omitted is empty"));
        }
        let can_only_wait = kind == Kind::Timer && workloads.keys().eq(["sleep"]);
        let omitted = wire.omitted.or_else(|| can_only_wait.then(|| ONLY_WAITS.to_owned()));
        let posts = match wire.posts {
            None | Some(PostsToml::InAll(false)) => Vec::new(),
            Some(PostsToml::InAll(true)) => workloads.keys().cloned().collect(),
            Some(PostsToml::In(named)) => named,
        };
        let of_library = library.iter().flat_map(|library| &library.workloads);
        let mut named =
            of_library.map(|name| ("library", name)).chain(posts.iter().map(|name| ("posts", name)));
        if let Some((key, unknown)) = named.find(|(_, name)| !workloads.contains_key(*name)) {
            return Err(self.fault(format!(": {key}: {unknown}: it has no such workload")));
        }
        Ok(Entry {
            full_name: format!("{}/{}", runtime.name, self.name),
            name: self.name.to_owned(),
            title: wire.title,
            kind,
            parallel,
            style: wire.style,
            reference: wire.reference,
            posts,
            unverified: wire.unverified,
            why: wire.why,
            notes: wire.notes,
            omitted,
            explain: wire.explain,
            env: wire.env,
            limit_env: wire.limit_env,
            toolchain: toolchain.clone(),
            library,
            versions: BTreeMap::new(),
            workloads,
        })
    }

    /// The recipe of the workload at offset `start`, with the flags of its run and its build filled in.
    fn recipe(
        &self,
        wire: &EntryToml,
        (workload, start): (&str, usize),
        recipe: &Recipe,
    ) -> Result<Recipe, CatalogError> {
        let EntryToml { flags, build_flags, .. } = wire;
        for command in recipe.build.iter().chain([&recipe.run]) {
            self.check_command(command, start)?;
        }
        if let Some(why) = recipe.run.iter().find_map(|word| unreadable_formula(word)) {
            return Err(self.fault_at(start, format!(": {why}")));
        }
        if recipe.build.iter().flatten().any(|word| word.contains(OPENED)) {
            return Err(self.fault_at(start, " uses {tasks} in its build, but only its run may"));
        }
        if !flags.is_empty() && !recipe.run.iter().any(|word| word == "{flags}") {
            return Err(self.fault(" has flags, but no argument of its run is `{flags}`"));
        }
        if !build_flags.is_empty() && !recipe.build.iter().flatten().any(|word| word == "{build_flags}") {
            return Err(self.fault(" has build_flags, but no argument of its build is `{build_flags}`"));
        }
        if recipe.unconfirmed.as_ref().is_some_and(|why| why.trim().is_empty()) {
            return Err(self.fault(format!(": workloads.{workload}.unconfirmed is empty")));
        }
        let older = |older| self.recipe(wire, (workload, start), older);
        let older = recipe.older.as_deref().map(older).transpose()?;
        if older.is_some() && recipe.minimum.is_none() {
            return Err(self.fault(format!(": workloads.{workload}.older needs a `minimum` beside it")));
        }
        let build = recipe.build.iter().map(|words| spread(words, "{build_flags}", build_flags));
        Ok(Recipe {
            build: build.collect(),
            run: spread(&recipe.run, "{flags}", flags),
            older: older.map(Box::new),
            ..recipe.clone()
        })
    }

    /// A library, with its version found in its lock file.
    fn library(&self, library: Library) -> Result<Library, CatalogError> {
        let fault = |message: String| self.fault(format!(": library: {message}"));
        let pattern = Regex::new(&library.pattern).map_err(|error| fault(error.to_string()))?;
        let path = self.folder.join(&library.lock_file);
        let text = fs::read_to_string(&path)
            .map_err(|error| fault(format!("cannot read {}: {error}", path.display())))?;
        let version = pattern.captures(&text).and_then(|found| found.get(1)).ok_or_else(|| {
            fault(format!("{} does not match /{}/, or it has no group", path.display(), library.pattern))
        })?;
        Ok(Library { version: version.as_str().to_owned(), ..library })
    }

    fn check_command(&self, command: &[String], start: usize) -> Result<(), CatalogError> {
        if command.first().is_none_or(String::is_empty) {
            return Err(self.fault_at(start, " has an empty command"));
        }
        for argument in command {
            if let Some(unknown) = unknown_placeholder(argument) {
                return Err(self.fault_at(
                    start,
                    format!(": unknown placeholder {{{unknown}}} (known: {PLACEHOLDERS})"),
                ));
            }
            let source = argument.strip_prefix("{src}/").map(|relative| self.folder.join(relative));
            if let Some(path) = source.filter(|path| !path.exists()) {
                return Err(self.fault_at(start, format!(" names a missing file: {}", path.display())));
            }
        }
        Ok(())
    }
}

/// Why timers have only `sleep`.
const ONLY_WAITS: &str = "a timer runs no code of its own, so it can only wait";

/// All placeholders, including those of the workload, which are filled in before commands are checked.
const PLACEHOLDERS: &str =
    "{src}, {out}, {shared}, {home}, {workload}, {Workload}, {flags}, {build_flags}, {tasks}";

/// The name of the first unknown placeholder in a word of a command.
fn unknown_placeholder(argument: &str) -> Option<&str> {
    let names = argument.split('{').skip(1).filter_map(|rest| Some(rest.split_once('}')?.0));
    let is_name = |name: &&str| !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    let is_known = |name: &str| PLACEHOLDERS.split(", ").any(|known| known.trim_matches(['{', '}']) == name);
    names.filter(is_name).find(|name| !is_known(name))
}
