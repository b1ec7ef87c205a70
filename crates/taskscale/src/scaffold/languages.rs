//! The languages that `new` knows, each with the entry of the catalogue whose programs it writes.

/// A language, or the shell that stands for any other.
#[derive(Debug)]
pub struct Language {
    pub title: &'static str,
    /// Names of runtimes that mean it, the usual one first. None: any.
    pub names: &'static [&'static str],
    /// The entry that a new one is written after: of the carried catalogue, or of the shell's own files.
    pub model: &'static str,
    /// What to know about libraries, for the manifest; `@NAME@` is the entry's folder.
    pub(super) libraries: &'static str,
}

/// The shell's runtime, which no catalogue has: it measures no language, and shows the protocol to any.
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
        libraries: "A package with a lock file of its own: `cargo add LIBRARY --manifest-path @NAME@/Cargo.toml` pins what you need.",
    },
    Language {
        title: "Go",
        names: &["go", "golang"],
        model: "go/goroutine",
        libraries: "`go get MODULE` in the runtime's folder pins what you need in go.mod and go.sum.",
    },
    Language { title: "Java", names: &["java"], model: "java/virtual-thread", libraries: "" },
    Language {
        title: "Node.js",
        names: &["node", "javascript", "nodejs", "js"],
        model: "node/promise-timeout",
        libraries: "With packages: keep package.json and package-lock.json, and build with `npm ci` into {out}.",
    },
    Language {
        title: "Python",
        names: &["python", "python3", "py"],
        model: "python/asyncio-create-task",
        libraries: "With packages: pin them with hashes in @NAME@/requirements.txt, and build a virtual environment in {out}.",
    },
    Language { title: "C", names: &["c"], model: "c/pthread", libraries: "" },
    Language {
        title: ".NET",
        names: &["dotnet", "csharp", "cs"],
        model: "dotnet/task-run",
        libraries: "With packages: keep a packages.lock.json, and build with -p:RestoreLockedMode=true.",
    },
    Language { title: "Elixir", names: &["elixir"], model: "elixir/spawn", libraries: "" },
    Language {
        title: "POSIX shell",
        names: &[],
        model: "shell/process",
        libraries: "What must be compiled gets a build = […] that writes to {out}; then run = [\"{out}/…\"].",
    },
];

/// The language that a runtime's name means; the shell where it means none.
pub fn language_of(name: &str) -> &'static Language {
    let named = LANGUAGES.iter().find(|language| language.names.contains(&name));
    named.unwrap_or(&LANGUAGES[LANGUAGES.len() - 1])
}

impl Language {
    /// Whether nothing is known of what is meant: the program is in another language than the runtime's.
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
