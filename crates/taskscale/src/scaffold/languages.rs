//! The languages that there are templates for. Their files lie in `templates/`.

/// A language, or the shell that stands for any other.
#[derive(Debug)]
pub struct Language {
    pub title: &'static str,
    /// Names of runtimes that mean it, the usual one first. None: any.
    pub names: &'static [&'static str],
    /// The head of a new manifest.
    pub(super) runtime: &'static str,
    /// The paragraph of one entry, less its programs.
    pub(super) entry: &'static str,
    pub(super) readme: &'static str,
    /// Files of the entry's folder that all of its programs share.
    pub(super) files: &'static [(&'static str, &'static str)],
    pub(super) programs: &'static [ProgramTemplate],
    /// Files of the runtime's folder that all entries share.
    pub(super) shared: &'static [(&'static str, &'static str)],
}

/// A program of one workload.
#[derive(Debug)]
pub(super) struct ProgramTemplate {
    pub workload: &'static str,
    /// Its lines of the entry's paragraph.
    pub lines: &'static str,
    pub files: &'static [(&'static str, &'static str)],
}

macro_rules! template {
    ($folder:literal, $file:literal) => {
        include_str!(concat!("../../templates/", $folder, "/", $file))
    };
}

macro_rules! files {
    ($folder:literal, [$($file:literal as $name:literal),*]) => {
        &[$(($name, template!($folder, $file))),*]
    };
}

macro_rules! language {
    (
        $title:literal, $names:expr, $folder:literal, $files:tt, [$($shared:literal),*],
        sleep $sleep:tt, spawn $spawn:tt
    ) => {
        Language {
            title: $title,
            names: $names,
            runtime: template!($folder, "runtime.toml"),
            entry: template!($folder, "entry.toml"),
            readme: template!($folder, "README.md"),
            files: files!($folder, $files),
            shared: &[$(($shared, template!($folder, $shared))),*],
            programs: &[
                ProgramTemplate {
                    workload: "sleep",
                    lines: template!($folder, "sleep.toml"),
                    files: files!($folder, $sleep),
                },
                ProgramTemplate {
                    workload: "spawn",
                    lines: template!($folder, "spawn.toml"),
                    files: files!($folder, $spawn),
                },
            ],
        }
    };
}

/// Every language, the shell last.
pub static LANGUAGES: &[Language] = &[
    language!("Rust", &["rust", "rs"], "rust",
        ["Cargo.toml.in" as "Cargo.toml", "Cargo.lock" as "Cargo.lock"], [],
        sleep ["sleep.rs" as "src/bin/sleep.rs"], spawn ["spawn.rs" as "src/bin/spawn.rs"]),
    language!("Go", &["go", "golang"], "go", [], ["go.mod"],
        sleep ["main.go" as "main.go"], spawn ["spawn.go" as "spawn/main.go"]),
    language!("Java", &["java"], "java", [], [],
        sleep ["Sleep.java" as "Sleep.java"], spawn ["Spawn.java" as "Spawn.java"]),
    language!("Node.js", &["node", "javascript", "nodejs", "js"], "javascript", [], [],
        sleep ["sleep.mjs" as "sleep.mjs"], spawn ["spawn.mjs" as "spawn.mjs"]),
    language!("Python", &["python", "python3", "py"], "python", [], [],
        sleep ["sleep.py" as "sleep.py"], spawn ["spawn.py" as "spawn.py"]),
    language!("C", &["c"], "c", [], [], sleep ["sleep.c" as "sleep.c"], spawn ["spawn.c" as "spawn.c"]),
    language!(".NET", &["dotnet", "csharp", "cs"], "csharp", [], [],
        sleep ["sleep.csproj" as "sleep.csproj", "Sleep.cs" as "Sleep.cs"],
        spawn ["spawn.csproj" as "spawn.csproj", "Spawn.cs" as "Spawn.cs"]),
    language!("Elixir", &["elixir"], "elixir", [], [],
        sleep ["sleep.ex" as "sleep.ex"], spawn ["spawn.ex" as "spawn.ex"]),
    language!("POSIX shell", &[], "shell", [], [],
        sleep ["sleep.sh" as "sleep.sh"], spawn ["spawn.sh" as "spawn.sh"]),
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

    /// The workloads that there are programs of.
    pub fn workloads(&self) -> Vec<&'static str> {
        self.programs.iter().map(|program| program.workload).collect()
    }

    pub(super) fn program(&self, workload: &str) -> Option<&'static ProgramTemplate> {
        self.programs.iter().find(|program| program.workload == workload)
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
