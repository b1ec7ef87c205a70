//! The languages that there are templates for. Their files lie in `templates/`.

/// A language, or the shell that stands for any other.
#[derive(Debug)]
pub struct Language {
    pub title: &'static str,
    /// Names of runtimes that mean it, the usual one first. None: any.
    pub names: &'static [&'static str],
    /// The head of a new manifest.
    pub(super) runtime: &'static str,
    /// The paragraph of one entry.
    pub(super) entry: &'static str,
    pub(super) readme: &'static str,
    /// Files of the entry's folder.
    pub(super) files: &'static [(&'static str, &'static str)],
    /// Files of the runtime's folder that all entries share.
    pub(super) shared: &'static [(&'static str, &'static str)],
}

macro_rules! template {
    ($folder:literal, $file:literal) => {
        include_str!(concat!("../../templates/", $folder, "/", $file))
    };
}

macro_rules! language {
    ($title:literal, $names:expr, $folder:literal, [$($file:literal as $name:literal),*], [$($shared:literal),*]) => {
        Language {
            title: $title,
            names: $names,
            runtime: template!($folder, "runtime.toml"),
            entry: template!($folder, "entry.toml"),
            readme: template!($folder, "README.md"),
            files: &[$(($name, template!($folder, $file))),*],
            shared: &[$(($shared, template!($folder, $shared))),*],
        }
    };
}

/// Every language, the shell last.
pub static LANGUAGES: &[Language] = &[
    language!("Rust", &["rust", "rs"], "rust",
        ["Cargo.toml.in" as "Cargo.toml", "Cargo.lock" as "Cargo.lock", "main.rs" as "src/main.rs"], []),
    language!("Go", &["go", "golang"], "go", ["main.go" as "main.go"], ["go.mod"]),
    language!("Java", &["java"], "java", ["Sleep.java" as "Sleep.java"], []),
    language!("Node.js", &["node", "javascript", "nodejs", "js"], "javascript", ["sleep.mjs" as "sleep.mjs"], []),
    language!("Python", &["python", "python3", "py"], "python", ["sleep.py" as "sleep.py"], []),
    language!("C", &["c"], "c", ["sleep.c" as "sleep.c"], []),
    language!(".NET", &["dotnet", "csharp", "cs"], "csharp",
        ["sleep.csproj" as "sleep.csproj", "Program.cs" as "Program.cs"], []),
    language!("Elixir", &["elixir"], "elixir", ["sleep.ex" as "sleep.ex"], []),
    language!("POSIX shell", &[], "shell", ["sleep.sh" as "sleep.sh"], []),
];

/// The language that a runtime's name means; the shell where it means none.
pub fn language_of(name: &str) -> &'static Language {
    let named = LANGUAGES.iter().find(|language| language.names.contains(&name));
    named.unwrap_or(&LANGUAGES[LANGUAGES.len() - 1])
}

impl Language {
    /// Whether there is no template for what is meant: the program is in another language than the runtime's.
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
