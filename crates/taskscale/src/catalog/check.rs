//! The rules of `runtime.toml`: from wire types to validated ones, every fault with its line and column.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use regex_lite::Regex;
use taskscale_measure::Kind;

use super::error::CatalogError;
use super::manifest::{CommandsToml, EntryToml, EntryWorkloadToml, LibraryToml, PostsToml, RuntimeToml};
use super::manifest_file::ManifestFile;
use super::model::{Entry, Library, LibraryPin, Recipe, Runtime, ToolchainSpec};
use super::names::{check_name, closest};
use super::number_of_tasks::{asks_for_tasks, unreadable_formula};
use super::version_request::DottedVersion;

/// What entries of one runtime share.
struct RuntimeContext<'a> {
    name: &'a str,
    folder: &'a Path,
    toolchain: &'a ToolchainSpec,
    toolchains: &'a BTreeMap<String, ToolchainSpec>,
}

/// An entry, and what else its twins take from it.
struct CheckedEntry {
    entry: Entry,
    toolchain: Option<String>,
    /// With the place in the file of each.
    wires: BTreeMap<String, (usize, EntryWorkloadToml)>,
}

/// Where a recipe is: names for messages, offsets in the file, and the runtime's folder.
#[derive(Clone, Copy)]
struct RecipePlace<'a> {
    entry: &'a str,
    workload: &'a str,
    /// Of the entry.
    offset: usize,
    /// Of the workload.
    start: usize,
    folder: &'a Path,
}

/// A command with a placeholder for several arguments filled in.
fn spread(command: &[String], placeholder: &str, flags: &[String]) -> Vec<String> {
    let fill =
        |argument: &String| if argument == placeholder { flags.to_vec() } else { vec![argument.clone()] };
    command.iter().flat_map(fill).collect()
}

impl ManifestFile<'_> {
    pub fn validate(&self, wire: RuntimeToml, folder: &Path) -> Result<Runtime, CatalogError> {
        let folder_name = folder.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        if wire.name != folder_name {
            let message =
                format!("name is `{}` but the folder is `{folder_name}`: they must be the same", wire.name);
            return Err(self.error(self.find(&wire.name), message));
        }
        self.check_name("runtime", &wire.name, self.find(&wire.name))?;
        if wire.entries.is_empty() {
            return Err(self.error(0, "no [[entry]] (a runtime needs at least one)"));
        }
        let toolchain = self.toolchain(
            ToolchainSpec {
                title: wire.title.clone(),
                version: wire.version,
                minimum: wire.minimum,
                install: wire.install,
                locate: wire.locate,
                versions: wire.versions,
                folder: folder.to_owned(),
                pinned: None,
            },
            folder,
        )?;
        let mut toolchains = BTreeMap::new();
        for (name, other) in wire.toolchains {
            toolchains.insert(name, self.toolchain(other, folder)?);
        }
        let runtime =
            RuntimeContext { name: &wire.name, folder, toolchain: &toolchain, toolchains: &toolchains };
        for (name, pin) in &wire.libraries {
            self.check_pin(name, pin)?;
        }
        let mut entries: Vec<CheckedEntry> = Vec::new();
        for entry in wire.entries {
            let (name, offset) = (entry.name.get_ref(), entry.name.span().start);
            if entries.iter().any(|earlier| earlier.entry.name == *name) {
                return Err(self.error(offset, format!("entry `{name}` is defined twice: names must differ")));
            }
            entries.push(self.validate_entry(entry, &runtime, &entries)?);
        }
        Ok(Runtime {
            name: wire.name,
            title: wire.title,
            url: wire.url,
            toolchain,
            folder: folder.to_owned(),
            entries: entries.into_iter().map(|checked| checked.entry).collect(),
            libraries: wire.libraries,
        })
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
        if let Some(minimum) = &spec.minimum
            && !minimum.split('.').all(|part| part.parse::<u64>().is_ok())
        {
            return Err(self.error(
                self.find(minimum),
                format!("minimum `{minimum}` is not a dotted number such as `21` or `1.24`"),
            ));
        }
        if let Some(locate) = &mut spec.locate {
            locate.ask = locate.ask.take().filter(|words| !words.is_empty());
        }
        folder.clone_into(&mut spec.folder);
        Ok(spec)
    }

    /// Checks an entry; one that is `like` another takes from it what it does not say itself.
    fn validate_entry(
        &self,
        wire: EntryToml,
        runtime: &RuntimeContext,
        earlier: &[CheckedEntry],
    ) -> Result<CheckedEntry, CatalogError> {
        let offset = wire.name.span().start;
        let name = wire.name.into_inner();
        self.check_name("entry", &name, offset)?;
        let fault = |message: String| self.error(offset, format!("entry `{name}`{message}"));
        let find = |like: &String| {
            let twin = earlier.iter().find(|earlier| earlier.entry.name == *like);
            twin.ok_or_else(|| {
                let names = earlier.iter().map(|earlier| earlier.entry.name.as_str());
                let nearest = closest(like, names).map(|nearest| format!(": did you mean `{nearest}`?"));
                let nearest = nearest.unwrap_or_default();
                fault(format!(" is like `{like}`, but no entry above has that name{nearest}"))
            })
        };
        let twin = wire.like.as_ref().map(find).transpose()?;
        let twin_entry = twin.map(|twin| &twin.entry);
        if wire.why.trim().is_empty() {
            return Err(fault(" has an empty `why`".into()));
        }
        let missing = |key: &str| fault(format!(" has no `{key}`"));
        let kind = wire.kind.or(twin_entry.map(|twin| twin.kind)).ok_or_else(|| missing("kind"))?;
        let parallel =
            wire.parallel.or(twin_entry.map(|twin| twin.parallel)).ok_or_else(|| missing("parallel"))?;
        let toolchain_name = wire.toolchain.or(twin.and_then(|twin| twin.toolchain.clone()));
        let toolchain = match &toolchain_name {
            None => runtime.toolchain,
            Some(named) => runtime.toolchains.get(named).ok_or_else(|| {
                fault(format!(" names the toolchain `{named}`, but there is no [toolchain.{named}]"))
            })?,
        };
        let library = match wire.library {
            Some(library) => Some(self.library(library, &name, offset, runtime.folder)?),
            None => twin_entry.and_then(|twin| twin.library.clone()),
        };

        let mut wires = twin.map(|twin| twin.wires.clone()).unwrap_or_default();
        let mut own = BTreeSet::new();
        for (names, wire) in wire.workloads {
            let start = wire.span().start;
            let commands = wire.into_inner();
            for workload in names.split_whitespace() {
                self.check_name("workload", workload, start)?;
                if !own.insert(workload.to_owned()) {
                    return Err(
                        self.error(start, format!("entry `{name}` has the workload `{workload}` twice"))
                    );
                }
                wires.insert(workload.to_owned(), (start, commands.for_workload(workload)));
            }
        }
        if wires.is_empty() {
            return Err(fault(" has no workload: add workloads.sleep = { run = […] }".into()));
        }
        let mut workloads = BTreeMap::new();
        for (workload, (start, recipe)) in &wires {
            let place = RecipePlace { entry: &name, workload, offset, start: *start, folder: runtime.folder };
            let flags = (&*wire.flags, &*wire.build_flags);
            workloads.insert(workload.clone(), self.recipe(recipe, flags, &place)?);
        }
        let mut env = twin_entry.map(|twin| twin.env.clone()).unwrap_or_default();
        env.extend(wire.env);
        let mut limit_env = twin_entry.map(|twin| twin.limit_env.clone()).unwrap_or_default();
        limit_env.extend(wire.limit_env);
        let mut notes = twin_entry.map(|twin| twin.notes.clone()).unwrap_or_default();
        notes.extend(wire.notes);
        let omitted = wire.omitted.or_else(|| twin_entry.and_then(|twin| twin.omitted.clone()));
        if omitted.as_ref().is_some_and(|why| why.trim().is_empty()) {
            return Err(fault(": omitted is empty".into()));
        }
        let can_only_wait = kind == Kind::Timer && workloads.keys().eq(["sleep"]);
        let omitted = omitted.or_else(|| can_only_wait.then(|| ONLY_WAITS.to_owned()));
        if let Some(unknown) = library
            .iter()
            .flat_map(|library| &library.workloads)
            .find(|workload| !workloads.contains_key(*workload))
        {
            return Err(fault(format!(": library: {unknown}: it has no such workload")));
        }
        let posts = match wire.posts {
            PostsToml::InAll(false) => Vec::new(),
            PostsToml::InAll(true) => workloads.keys().cloned().collect(),
            PostsToml::In(named) => named,
        };
        if let Some(unknown) = posts.iter().find(|workload| !workloads.contains_key(*workload)) {
            return Err(
                self.error(offset, format!("entry `{name}`: posts: {unknown}: it has no such workload"))
            );
        }
        let entry = Entry {
            full_name: format!("{}/{name}", runtime.name),
            name,
            title: wire.title,
            kind,
            parallel,
            style: wire.style,
            reference: wire.reference,
            posts,
            unverified: wire.unverified,
            why: wire.why,
            notes,
            omitted,
            explain: wire.explain.or_else(|| twin_entry.and_then(|twin| twin.explain)),
            env,
            limit_env,
            toolchain: toolchain.clone(),
            library,
            versions: BTreeMap::new(),
            workloads,
        };
        Ok(CheckedEntry { entry, toolchain: toolchain_name, wires })
    }

    /// How a workload is done, with `flags` of its run and its build.
    fn recipe(
        &self,
        recipe: &EntryWorkloadToml,
        flags: (&[String], &[String]),
        place: &RecipePlace,
    ) -> Result<Recipe, CatalogError> {
        let RecipePlace { entry: name, workload, offset, start, folder } = *place;
        let fault = |message: String| self.error(offset, format!("entry `{name}`{message}"));
        let build = recipe.build.clone().map(CommandsToml::into_commands).unwrap_or_default();
        for command in build.iter().chain([&recipe.run]) {
            self.check_command(command, name, start, folder)?;
        }
        if let Some(why) = recipe.run.iter().find_map(|word| unreadable_formula(word)) {
            return Err(self.error(start, format!("entry `{name}`: {why}")));
        }
        if build.iter().flatten().any(|word| asks_for_tasks(word)) {
            let what = "uses {tasks} in its build, but only its run may";
            return Err(self.error(start, format!("entry `{name}` {what}")));
        }
        let used = |word: &str, commands: &[Vec<String>]| commands.iter().flatten().any(|arg| arg == word);
        let (run_flags, build_flags) = flags;
        if !run_flags.is_empty() && !used("{flags}", std::slice::from_ref(&recipe.run)) {
            return Err(fault(" has flags, but no argument of its run is `{flags}`".into()));
        }
        if !build_flags.is_empty() && !used("{build_flags}", &build) {
            return Err(fault(" has build_flags, but no argument of its build is `{build_flags}`".into()));
        }
        if recipe.unconfirmed.as_ref().is_some_and(|why| why.trim().is_empty()) {
            return Err(fault(format!(": workloads.{workload}.unconfirmed is empty")));
        }
        let minimum = recipe.minimum.as_ref().map(|minimum| {
            let why = || fault(format!(": workloads.{workload}.minimum {minimum:?} is no dotted number"));
            DottedVersion::parse(minimum).ok_or_else(why)
        });
        let minimum = minimum.transpose()?;
        let older = recipe.older.as_ref().map(|older| self.recipe(older, flags, place)).transpose()?;
        if older.is_some() && minimum.is_none() {
            return Err(fault(format!(": workloads.{workload}.older needs a `minimum` beside it")));
        }
        Ok(Recipe {
            build: build.iter().map(|command| spread(command, "{build_flags}", build_flags)).collect(),
            run: spread(&recipe.run, "{flags}", run_flags),
            library_faults: recipe.library_faults.clone(),
            unconfirmed: recipe.unconfirmed.clone(),
            fan_out: recipe.fan_out,
            minimum,
            older: older.map(Box::new),
        })
    }

    fn library(
        &self,
        wire: LibraryToml,
        entry: &str,
        offset: usize,
        folder: &Path,
    ) -> Result<Library, CatalogError> {
        let fault = |message: String| self.error(offset, format!("entry `{entry}`: library: {message}"));
        let pattern = Regex::new(&wire.version).map_err(|error| fault(error.to_string()))?;
        let path = folder.join(&wire.file);
        let text = fs::read_to_string(&path)
            .map_err(|error| fault(format!("cannot read {}: {error}", path.display())))?;
        let version = pattern.captures(&text).and_then(|found| found.get(1)).ok_or_else(|| {
            fault(format!("{} does not match /{}/, or it has no group", path.display(), wire.version))
        })?;
        let version = version.as_str().to_owned();
        let LibraryToml { name, file: lock_file, version: pattern, workloads } = wire;
        Ok(Library { name, version, lock_file, pattern, workloads })
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

    fn check_command(
        &self,
        command: &[String],
        entry: &str,
        offset: usize,
        folder: &Path,
    ) -> Result<(), CatalogError> {
        if command.first().is_none_or(String::is_empty) {
            return Err(self.error(offset, format!("entry `{entry}` has an empty command")));
        }
        for argument in command {
            if let Some(unknown) = unknown_placeholder(argument) {
                return Err(self.error(
                    offset,
                    format!("entry `{entry}`: unknown placeholder {unknown} (known: {{src}}, {{out}}, {{shared}}, {{home}}, {{workload}}, {{Workload}}, {{flags}}, {{build_flags}}, {{tasks}})"),
                ));
            }
            if let Some(relative) = argument.strip_prefix("{src}/")
                && !folder.join(relative).exists()
            {
                return Err(self.error(
                    offset,
                    format!("entry `{entry}` names a missing file: {}", folder.join(relative).display()),
                ));
            }
        }
        Ok(())
    }
}

/// Why a timer has `sleep` alone.
const ONLY_WAITS: &str = "a timer runs no code of its own, so it can only wait";

const PLACEHOLDERS: [&str; 7] =
    ["{src}", "{out}", "{shared}", "{home}", "{flags}", "{build_flags}", "{tasks}"];

fn unknown_placeholder(argument: &str) -> Option<&str> {
    let mut rest = argument;
    while let Some(start) = rest.find('{') {
        let end = rest[start..].find('}')? + start + 1;
        let word = &rest[start..end];
        let is_word =
            word.len() > 2 && word[1..word.len() - 1].chars().all(|c| c.is_ascii_lowercase() || c == '_');
        if is_word && !PLACEHOLDERS.contains(&word) {
            return Some(word);
        }
        rest = &rest[end..];
    }
    None
}
