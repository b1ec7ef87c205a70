//! What each task does: `workloads/*.toml`, read and validated.
//!
//! Other modules name no workload except `sleep`. docs/reference/workloads.md explains each key to authors.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;
use taskscale_load::Client;
use taskscale_measure::Kind;

use super::embedded::WORKLOADS;
use super::error::CatalogError;
use super::formula::Formula;
use super::manifest_file::ManifestFile;
use super::names::check_name;
use crate::units;

/// How a program is started, what it prints, and what is measured: docs/reference/protocol.md.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Serialize, Deserialize, IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Shape {
    /// All tasks wait at the same time: their memory is measured.
    #[default]
    Hold,
    /// Tasks do operations as fast as they can: the cost of one is measured.
    Work,
    /// A server serves connections: the cost of one is measured, idle and sending.
    Serve,
}

named!(Shape);

impl Shape {
    /// A number of tasks, or of connections for servers: `1 task`, `10k connections`.
    pub fn many(self, n: u64) -> String {
        let tasks = units::tasks(n);
        if self == Shape::Serve { tasks.replace("task", "connection") } else { tasks }
    }

    /// Minimum bytes of a task of a kind. The smallest in results/ are two to four times as large.
    pub fn least_bytes_per_task(self, kind: Kind) -> f64 {
        let task = match kind {
            Kind::Process => 32_768.0,
            // Its stack in the kernel alone has 16 KiB on most machines.
            Kind::Thread => 8_192.0,
            Kind::Stackful => 256.0,
            Kind::Stackless | Kind::Future => 32.0,
            Kind::Timer => 8.0,
            Kind::Program => 0.0,
        };
        match self {
            // The kernel keeps a socket for each connection.
            Shape::Serve => f64::max(task, 1_024.0),
            Shape::Hold => task,
            // Its tasks may be gone when memory is read.
            Shape::Work => 0.0,
        }
    }

    /// Whether all tasks are alive and idle at once, which is when memory is read.
    pub fn has_plateau(self) -> bool {
        self != Shape::Work
    }

    /// Whether it is `hold`, which records leave out: old ones have no shape.
    pub fn is_hold(&self) -> bool {
        *self == Shape::Hold
    }
}

/// A workload: what each task of a run does.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// The file's name, without its ending.
    #[serde(skip)]
    pub name: String,
    pub title: String,
    /// Whether it is the default workload.
    #[serde(default)]
    pub default: bool,
    pub shape: Shape,
    /// What a task does, in words.
    pub about: String,
    /// The question that the results answer.
    pub answers: String,
    /// The default numbers of tasks, ascending.
    pub tasks: Vec<u64>,
    /// Minimum number of tasks.
    #[serde(default = "one")]
    pub least_tasks: u64,
    /// The tasks are the leaves of trees of ten branches each: N is a power of ten, and operations are whole trees.
    #[serde(default)]
    pub whole_trees: bool,
    /// What one operation is. Only for `work`.
    pub operation: Option<String>,
    /// The result that the program must print as `check`, from `tasks`, `operations` and the parameters.
    pub check: Option<Formula>,
    /// Whether all N tasks are alive at once. Only for `work`: in other shapes they always are.
    #[serde(default)]
    pub all_alive: bool,
    /// Minimum number of threads or processes that a run creates, if its tasks are such (default: N).
    pub makes: Option<Formula>,
    /// Bytes that a task must keep, from the parameters.
    pub holds: Option<Formula>,
    /// Minimum bytes that each operation keeps until the end. Only for `work`.
    #[serde(default)]
    pub keeps: u64,
    /// The parameter for the period in which each task wakes, in milliseconds.
    pub wakes: Option<String>,
    /// Whether the waits of all tasks end at once, counted from the start of the program. Otherwise each counts
    /// from its own start.
    #[serde(default)]
    pub ends_together: bool,
    /// Maximum operations of a run.
    #[serde(default = "most_operations")]
    pub most_operations: u64,
    /// The clients of the server. Always and only for `serve`.
    pub client: Option<Client>,
    #[serde(default)]
    pub parameters: BTreeMap<String, Parameter>,
}

/// A number that the program is given as `--name value`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameter {
    /// What it changes, in words.
    pub about: String,
    pub default: u64,
    pub least: u64,
    pub most: u64,
    /// Its maximum, by `tasks`.
    pub at_most: Option<Formula>,
}

/// Parameters of a run, by name, as passed to the program.
pub type Params = BTreeMap<String, String>;

impl Workload {
    /// The value of one of its formulas. `None` if it is undefined.
    fn value(&self, formula: &Formula, tasks: u64, operations: u64, params: &Params) -> Option<i128> {
        formula.value(&|name| match name {
            "tasks" => Some(tasks.into()),
            "operations" => Some(operations.into()),
            _ => match params.get(name) {
                Some(given) => given.parse().ok(),
                None => Some(self.parameters.get(name)?.default.into()),
            },
        })
    }

    /// Why this number of tasks with these parameters is invalid, if so.
    pub fn refuse(&self, tasks: u64, params: &Params) -> Option<String> {
        let name = &self.name;
        if tasks < self.least_tasks {
            return Some(format!("`{name}` needs at least {} tasks", self.least_tasks));
        }
        if self.whole_trees && !is_power_of_ten(tasks) {
            return Some(format!("`{name}` needs a power of ten (1, 10, 100, …)"));
        }
        let undefined = |check: &&Formula| self.value(check, tasks, self.most_operations, params).is_none();
        if self.check.as_ref().filter(undefined).is_some() {
            // Without an expected result, any result would count as correct.
            return Some(format!("`{name}` has no expected result: its `check` has no value"));
        }
        params.iter().find_map(|(param, value)| {
            let at_most = self.parameters.get(param)?.at_most.as_ref()?;
            let most = self.value(at_most, tasks, 0, params)?;
            (value.parse().is_ok_and(|value: i128| value > most))
                .then(|| format!("`{param}` of `{name}` is at most {most} at N = {tasks}"))
        })
    }
}

fn is_power_of_ten(number: u64) -> bool {
    number.checked_ilog10().is_some_and(|power| 10_u64.pow(power) == number)
}

fn one() -> u64 {
    1
}

/// Sums of all numbers below this are less than 2^53: exact in every language.
fn most_operations() -> u64 {
    100_000_000
}

/// The result that the program must print, from its arguments. `None` if it is undefined.
pub fn expected_check(workload: &Workload, tasks: u64, operations: u64, params: &Params) -> Option<String> {
    Some(workload.value(workload.check.as_ref()?, tasks, operations, params)?.to_string())
}

/// Minimum number of threads or processes that a run with default parameters creates, if its tasks are such.
pub fn expected_creations(workload: &Workload, tasks: u64, operations: u64) -> u64 {
    let default = Params::new();
    let makes = workload.makes.as_ref().and_then(|makes| workload.value(makes, tasks, operations, &default));
    makes.and_then(|makes| u64::try_from(makes).ok()).unwrap_or(tasks)
}

/// Bytes that each task must keep. `None` if undefined.
pub fn bytes_held(workload: &Workload, params: &Params) -> Option<u64> {
    u64::try_from(workload.value(workload.holds.as_ref()?, 1, 0, params)?).ok()
}

/// A parameter's value, or its default. `None` if the workload has no such parameter.
pub fn param(workload: &Workload, params: &Params, name: &str) -> Option<u64> {
    let default = workload.parameters.get(name)?.default;
    Some(params.get(name).and_then(|given| given.parse().ok()).unwrap_or(default))
}

/// The period in which each waiting task wakes, in seconds. `None` if tasks sleep through.
pub fn period_s(workload: &Workload, params: &Params) -> Option<f64> {
    Some(param(workload, params, workload.wakes.as_ref()?)? as f64 / 1e3)
}

/// The workloads folder of a catalog.
pub(super) fn beside(catalog: &Path) -> PathBuf {
    catalog.parent().unwrap_or(Path::new(".")).join("workloads")
}

/// The workloads of a catalog: those in the folder `workloads` next to it, or else the built-in ones.
pub fn workloads(catalog: &Path) -> Result<Vec<Workload>, CatalogError> {
    let beside = beside(catalog);
    let children = fs::read_dir(&beside).into_iter().flatten().flatten().map(|child| child.path());
    let mut paths: Vec<_> =
        children.filter(|path| path.extension().is_some_and(|extension| extension == "toml")).collect();
    if paths.is_empty() {
        return WORKLOADS.iter().map(|(name, text)| parse(&beside.join(name), text)).collect();
    }
    paths.sort();
    let read = |path: &PathBuf| {
        let unreadable = |error| CatalogError::Unreadable { path: path.clone(), error };
        parse(path, &fs::read_to_string(path).map_err(unreadable)?)
    };
    paths.iter().map(read).collect()
}

fn parse(path: &Path, text: &str) -> Result<Workload, CatalogError> {
    let file = ManifestFile { path, text };
    let mut workload: Workload = toml::from_str(text).map_err(|error| file.syntax_error(&error))?;
    let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let fault = |key: &str, message: String| {
        let line_of =
            |key: &str| text.match_indices(key).find(|(at, _)| *at == 0 || text[..*at].ends_with('\n'));
        Err(file.error(line_of(key).map_or(0, |(at, _)| at), message))
    };
    if !check_name(&name) {
        return fault(
            "",
            format!("invalid workload name: {name:?} (use lowercase letters, digits, `-`, `_`, `+`, `.`)"),
        );
    }
    workload.name = name;
    let (works, serves) = (workload.shape == Shape::Work, workload.shape == Shape::Serve);
    let (has_operation, has_client) = (workload.operation.is_some(), workload.client.is_some());
    let ascends = workload.tasks.first() > Some(&0) && workload.tasks.is_sorted_by(|a, b| a < b);
    let faults = [
        (!ascends, "tasks", "tasks: one or more numbers above 0, ascending"),
        (works && !has_operation, "shape", "the shape `work` needs an `operation`"),
        (!works && has_operation, "operation", "only the shape `work` has an `operation`"),
        (
            serves != has_client,
            if has_client { "client" } else { "shape" },
            "the shape `serve` needs a `client`, and no other shape has one",
        ),
        (
            workload.all_alive && !works,
            "all_alive",
            "all_alive: only for the shape `work` (tasks that wait are always all alive)",
        ),
        (workload.keeps > 0 && !works, "keeps", "keeps: only for the shape `work`"),
        (
            workload.ends_together && !workload.shape.is_hold(),
            "ends_together",
            "ends_together: only for the shape `hold`",
        ),
    ];
    if let Some((_, key, message)) = faults.into_iter().find(|(is_fault, ..)| *is_fault) {
        return fault(key, message.to_owned());
    }
    let known =
        |name: &&str| ["tasks", "operations"].contains(name) || workload.parameters.contains_key(*name);
    let own = [("check", &workload.check), ("makes", &workload.makes), ("holds", &workload.holds)];
    let of_parameters = workload.parameters.values().map(|parameter| ("at_most", &parameter.at_most));
    for (key, formula) in own.into_iter().chain(of_parameters) {
        if let Some(name) = formula.iter().flat_map(Formula::names).find(|name| !known(name)) {
            return fault(key, format!("{key}: `{name}` is neither `tasks`, `operations` nor a parameter"));
        }
    }
    if let Some(name) = workload.wakes.as_ref().filter(|name| !workload.parameters.contains_key(*name)) {
        return fault("wakes", format!("wakes: `{name}` is not a parameter"));
    }
    for (name, parameter) in &workload.parameters {
        let Parameter { default, least, most, .. } = *parameter;
        if !(least..=most).contains(&default) {
            return fault(
                &format!("[parameters.{name}]"),
                format!("the default of `{name}`, {default}, is not within {least} to {most}"),
            );
        }
    }
    let senseless = workload.tasks.iter().find_map(|tasks| workload.refuse(*tasks, &BTreeMap::new()));
    match senseless {
        Some(why) => fault("tasks", format!("tasks: {why}")),
        None => Ok(workload),
    }
}

/// The sort position of a workload: tasks that wait, then tasks that work, then servers, then others.
pub fn reading_order(workload: &str) -> usize {
    const ORDER: [&str; 10] =
        ["sleep", "park", "state", "tick", "spawn", "ring", "map", "skynet", "echo", "chat"];
    ORDER.iter().position(|name| *name == workload).unwrap_or(ORDER.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::tests::carried_workloads;

    const GOOD: &str = "title = \"T\"\nshape = \"work\"\nabout = \"a\"\nanswers = \"b\"\ntasks = [1, 10]\n\
                        operation = \"an o\"\ncheck = \"operations * bytes + tasks\"\n\
                        [parameters.bytes]\nabout = \"c\"\ndefault = 4\nleast = 1\nmost = 9\n";

    fn read(text: &str) -> Result<Workload, String> {
        parse(Path::new("workloads/some.toml"), text).map_err(|error| error.to_string())
    }

    #[test]
    fn workloads_define_the_expected_check() {
        let workload = read(GOOD).unwrap();
        assert_eq!((workload.name.as_str(), workload.shape), ("some", Shape::Work));
        let given = BTreeMap::from([("bytes".to_owned(), "7".to_owned())]);
        assert_eq!(expected_check(&workload, 10, 100, &BTreeMap::new()).as_deref(), Some("410"));
        assert_eq!(expected_check(&workload, 10, 100, &given).as_deref(), Some("710"));
        assert_eq!(expected_creations(&workload, 10, 100), 10);
        assert_eq!(workload.refuse(3, &given), None);
        let bound = read(&GOOD.replace("most = 9", "most = 9\nat_most = \"tasks / 2\"")).unwrap();
        assert_eq!(bound.refuse(14, &given), None);
        let undefined = read(&GOOD.replace("* bytes", "/ (bytes - 7)")).unwrap();
        assert!(undefined.refuse(3, &given).is_some_and(|why| why.contains("its `check` has no value")));
        assert_eq!(undefined.refuse(3, &BTreeMap::new()), None);
        assert_eq!(bound.refuse(13, &given).as_deref(), Some("`bytes` of `some` is at most 6 at N = 13"));
        let makes = read(&GOOD.replace("check =", "makes = \"operations / 2\"\ncheck =")).unwrap();
        assert_eq!(expected_creations(&makes, 10, 100), 50);
        let holds = read(&GOOD.replace("check =", "holds = \"bytes * 2\"\ncheck =")).unwrap();
        assert_eq!((bytes_held(&holds, &BTreeMap::new()), bytes_held(&holds, &given)), (Some(8), Some(14)));
        assert_eq!(bytes_held(&makes, &given), None);
        let wakes = read(&GOOD.replace("check =", "wakes = \"bytes\"\ncheck =")).unwrap();
        assert_eq!(
            (period_s(&wakes, &BTreeMap::new()), period_s(&wakes, &given)),
            (Some(0.004), Some(0.007))
        );
        assert_eq!(period_s(&makes, &given), None);
    }

    #[test]
    fn workloads_know_whether_tasks_live_and_end_together() {
        let of = |known: fn(&Workload) -> bool| {
            let names = carried_workloads().into_iter().filter(known).map(|workload| workload.name);
            names.collect::<Vec<_>>()
        };
        assert_eq!(of(|workload| workload.all_alive), ["ring"]);
        assert_eq!(of(|workload| workload.ends_together), ["park", "tick"]);
        let waits = "title = \"T\"\nshape = \"hold\"\nabout = \"a\"\nanswers = \"b\"\ntasks = [1]\nall_alive = true\n";
        assert!(read(waits).unwrap_err().contains("some.toml:6:1: all_alive: only for the shape `work`"));
    }

    #[test]
    fn errors_have_a_position() {
        for (from, to, said) in [
            ("check =", "wakes = \"byte\"\ncheck =", "some.toml:7:1: wakes: `byte` is not a parameter"),
            (
                "check =",
                "ends_together = true\ncheck =",
                "some.toml:7:1: ends_together: only for the shape `hold`",
            ),
            ("[1, 10]", "[10, 1]", "workloads/some.toml:5:1: tasks: one or more"),
            ("operation = \"an o\"\n", "", "some.toml:2:1: the shape `work` needs"),
            ("\"work\"", "\"hold\"", "some.toml:6:1: only the shape `work`"),
            ("\"work\"", "\"wrok\"", "did you mean `work`?"),
            ("* bytes", "* byte", "some.toml:7:1: check: `byte` is neither"),
            ("* bytes", "*", "some.toml:7:9: expected a number"),
            ("[1, 10]", "[7]\nwhole_trees = true", "some.toml:5:1: tasks: `some` needs a power of ten"),
            ("[1, 10]", "[1]\nleast_tasks = 2", "some.toml:5:1: tasks: `some` needs at least 2 tasks"),
            (
                "default = 4",
                "default = 10",
                "some.toml:8:1: the default of `bytes`, 10, is not within 1 to 9",
            ),
            ("\"work\"", "\"serve\"", "some.toml:6:1: only the shape `work` has an `operation`"),
            ("check =", "client = \"echo\"\ncheck =", "some.toml:7:1: the shape `serve` needs"),
            ("title", "titel", "some.toml:1:1"),
        ] {
            let error = read(&GOOD.replace(from, to)).unwrap_err();
            assert!(error.contains(said), "{error}");
        }
    }

    #[test]
    fn embedded_workloads_match_the_repository() {
        let repository = workloads(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../runtimes")).unwrap();
        assert!(repository.iter().any(|workload| workload.shape == Shape::Work));
        assert_eq!(carried_workloads(), repository);
    }
}
