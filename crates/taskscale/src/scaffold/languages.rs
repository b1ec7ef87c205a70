//! The languages of `new`, each with the entry of the catalog that it copies.

/// A language, or the shell for any other.
#[derive(Debug)]
pub struct Language {
    pub title: &'static str,
    /// Names of its runtimes, the usual one first. Empty for any other.
    pub names: &'static [&'static str],
    /// The entry to copy: of the embedded catalog, or of the shell's own files.
    pub model: &'static str,
    /// A comment about libraries for the manifest; `@NAME@` is the entry's folder.
    pub(super) libraries: &'static str,
}

/// The shell's runtime, which is in no catalog: it shows the protocol for any language.
pub(super) static SHELL: &[(&str, &str)] = &[
    ("runtime.toml", include_str!("../../templates/shell/runtime.toml")),
    ("process/sleep.sh", include_str!("../../templates/shell/process/sleep.sh")),
    ("process/spawn.sh", include_str!("../../templates/shell/process/spawn.sh")),
];

/// Every language, the shell last.
pub static LANGUAGES: &[Language] = &[
    Language {
        title: "Rust",
        names: &["rust", "rs"],
        model: "rust/thread",
        libraries: "This package has its own lock file: `cargo add LIBRARY --manifest-path @NAME@/Cargo.toml` pins a library.",
    },
    Language {
        title: "Go",
        names: &["go", "golang"],
        model: "go/goroutine",
        libraries: "`go get MODULE` in the runtime's folder pins a module in go.mod and go.sum.",
    },
    Language { title: "Java", names: &["java"], model: "java/virtual-thread", libraries: "" },
    Language {
        title: "Node.js",
        names: &["node", "javascript", "nodejs", "js"],
        model: "node/promise-timeout",
        libraries: "For packages: add package.json and package-lock.json, and build with `npm ci` into {out}.",
    },
    Language {
        title: "Python",
        names: &["python", "python3", "py"],
        model: "python/asyncio-create-task",
        libraries: "For packages: pin them with hashes in @NAME@/requirements.txt, and build a virtual environment in {out}.",
    },
    Language { title: "C", names: &["c"], model: "c/pthread", libraries: "" },
    Language {
        title: ".NET",
        names: &["dotnet", "csharp", "cs"],
        model: "dotnet/task-run",
        libraries: "For packages: add a packages.lock.json, and build with -p:RestoreLockedMode=true.",
    },
    Language { title: "Elixir", names: &["elixir"], model: "elixir/spawn", libraries: "" },
    Language {
        title: "POSIX shell",
        names: &[],
        model: "shell/process",
        libraries: "To compile, add a build = […] that writes to {out}, and use run = [\"{out}/…\"].",
    },
];

/// The language of a runtime's name; the shell for other names.
pub fn language_of(name: &str) -> &'static Language {
    let named = LANGUAGES.iter().find(|language| language.names.contains(&name));
    named.unwrap_or(&LANGUAGES[LANGUAGES.len() - 1])
}

impl Language {
    /// Whether it is the shell, in place of an unknown language.
    pub fn is_generic(&self) -> bool {
        self.names.is_empty()
    }

    /// The title of a runtime of this name.
    pub fn title_of(&self, runtime: &str) -> String {
        if !self.is_generic() {
            return self.title.to_owned();
        }
        let mut letters = runtime.chars();
        letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
    }
}
