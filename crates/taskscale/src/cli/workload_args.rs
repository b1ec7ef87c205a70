//! Series on the command line: workloads, their parameters, numbers of CPUs.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, bail, ensure};

use super::args::ResultsArgs;
use super::output::eprint_status;
use crate::campaign::RunSettings;
use crate::catalog::{Catalog, SelectError, Selection, Workload, bytes_held, closest, select};
use crate::document::first_of;
use crate::record::{Hold, Plan};
use crate::units;

/// How many entries a message names before "and N more".
const NAMED: usize = 4;

/// Options that apply to all series.
#[derive(Debug, Clone, Default)]
pub(super) struct SeriesOptions {
    /// The numbers of tasks; by default each workload's own.
    pub tasks: Option<Vec<u64>>,
    /// Upper limit of a workload's own numbers of tasks.
    pub most_tasks: Option<u64>,
    pub params: Vec<(String, String)>,
    /// Empty: all.
    pub cpus: Vec<u32>,
    pub repetitions: u32,
}

/// A selected workload.
#[derive(Debug)]
pub(super) struct ChosenWorkload<'c> {
    workload: &'c Workload,
    params: BTreeMap<String, String>,
    tasks: Vec<u64>,
    /// Numbers of tasks that it does not take, and why.
    left_out: Vec<(u64, String)>,
}

/// The value of `-n`, ascending.
pub(super) fn task_counts(text: &str) -> Result<Vec<u64>> {
    let mut tasks = BTreeSet::new();
    for word in text.split(',') {
        let count = units::parse_count(word).context("-n")?;
        ensure!(tasks.insert(count), "-n: {} is given twice", units::count(count));
    }
    Ok(tasks.into_iter().collect())
}

/// The memory and time caps of runs.
pub(super) fn resume_options(args: &ResultsArgs) -> Result<RunSettings> {
    let memory_cap = args.memory_cap.as_deref().map(units::parse_bytes).transpose();
    let time_cap = args.timeout.as_deref().map(units::parse_duration).transpose();
    let (memory_cap_bytes, time_cap) = (memory_cap.context("--memory-cap")?, time_cap.context("--timeout")?);
    Ok(RunSettings { memory_cap_bytes, time_cap, ..RunSettings::default() })
}

/// The programs of entries for the workloads that were named, or for the default one.
pub(super) fn selected<'c>(
    catalog: &'c Catalog,
    entries: &[String],
    asked: &[String],
) -> Result<Selection<'c>, SelectError> {
    let default: Vec<String> = catalog.default_workload().map(|of| of.name.clone()).into_iter().collect();
    select(catalog, entries, if asked.is_empty() { &default } else { asked })
}

/// The values of `-p`: names and values.
pub(super) fn params(texts: &[String]) -> Result<Vec<(String, String)>> {
    let mut params: Vec<(String, String)> = Vec::new();
    for text in texts {
        let (name, value) =
            text.split_once('=').with_context(|| format!("-p: {text:?} is not NAME=VALUE"))?;
        ensure!(params.iter().all(|(known, _)| known != name), "-p: {name} is given twice");
        params.push((name.to_owned(), value.to_owned()));
    }
    Ok(params)
}

/// The value of `--cpus`, ascending: at most the CPUs of this machine.
pub(super) fn cpus(counts: &[u32]) -> Result<Vec<u32>> {
    let there = std::thread::available_parallelism().map_or(1, |cpus| cpus.get() as u32);
    let mut cpus = BTreeSet::new();
    for &count in counts {
        if count == 0 || count > there {
            bail!("--cpus: {count}: must be 1 to {there} (the CPUs that taskscale may use here)");
        }
        ensure!(cpus.insert(count), "--cpus: {count} is given twice");
    }
    Ok(cpus.into_iter().collect())
}

/// The parameters of one workload that were given and differ from the default.
pub(super) fn params_of(workload: &Workload, given: &[(String, String)]) -> Result<BTreeMap<String, String>> {
    let mut params = BTreeMap::new();
    for (name, text) in given {
        let Some(parameter) = workload.parameters.get(name) else { continue };
        let value = match text.as_str() {
            "0" => 0,
            text => units::parse_count(text).with_context(|| format!("-p {name}={text}"))?,
        };
        ensure!(
            (parameter.least..=parameter.most).contains(&value),
            "-p {name}={text}: must be {} to {} for `{}`",
            units::grouped(parameter.least),
            units::grouped(parameter.most),
            workload.name
        );
        if value != parameter.default {
            params.insert(name.clone(), value.to_string());
        }
    }
    Ok(params)
}

/// The workloads with the numbers of tasks that they take. An invalid -n is an error for a single workload, and skipped
/// for several.
pub(super) fn choose<'c>(
    asked: &SeriesOptions,
    workloads: &[&'c Workload],
) -> Result<Vec<ChosenWorkload<'c>>> {
    refuse_unknown_params(&asked.params, workloads)?;
    let strict = asked.tasks.is_some() && workloads.len() == 1;
    let mut all = Vec::new();
    for &workload in workloads {
        let params = params_of(workload, &asked.params)?;
        let most = asked.most_tasks.unwrap_or(u64::MAX);
        let own = || workload.tasks.iter().copied().filter(|tasks| *tasks <= most).collect();
        let (mut tasks, mut left_out) = (Vec::new(), Vec::new());
        for count in asked.tasks.clone().unwrap_or_else(own) {
            match workload.refuse(count, &params) {
                None => tasks.push(count),
                Some(why) if strict => bail!("-n {}: {why}", units::count(count)),
                Some(why) => left_out.push((count, why)),
            }
        }
        all.push(ChosenWorkload { workload, params, tasks, left_out });
    }
    if all.iter().all(|chosen| chosen.tasks.is_empty()) {
        let whys = all.iter().flat_map(|chosen| &chosen.left_out);
        let whys: Vec<String> =
            whys.map(|(count, why)| format!("-n {}: {why}", units::count(*count))).collect();
        ensure!(
            !whys.is_empty(),
            "nothing to measure: no selected entry has the workload at a number of tasks that is small enough"
        );
        bail!("{}", whys.join("; "));
    }
    Ok(all)
}

/// A plan for each series of the selected programs. Removes programs without a number of tasks. Reports what is
/// skipped.
pub(super) fn plans(asked: &SeriesOptions, hold: Hold, selection: &mut Selection) -> Result<Vec<Plan>> {
    let mut chosen = choose(asked, &selection.workloads())?;
    eprint_lacking(selection);
    for (count, why) in chosen.iter().flat_map(|chosen| &chosen.left_out) {
        eprint_status(&format!("skipped: N = {} ({why})", units::count(*count)));
    }
    chosen.retain(|chosen| !chosen.tasks.is_empty());
    let has_tasks = |workload: &Workload| chosen.iter().any(|of| of.workload.name == workload.name);
    selection.programs.retain(|program| has_tasks(program.workload));
    let entries = |workload: &Workload| {
        let does = selection.programs.iter().filter(|program| program.workload == workload);
        does.map(|program| program.entry.full_name.clone()).collect()
    };
    Ok(chosen.iter().flat_map(|of| of.plans(asked, hold, entries(of.workload))).collect())
}

impl ChosenWorkload<'_> {
    /// A plan for each number of CPUs.
    fn plans(&self, asked: &SeriesOptions, hold: Hold, entries: Vec<String>) -> Vec<Plan> {
        let ChosenWorkload { workload, params, tasks, .. } = self;
        let bare = Plan::of_holds(&workload.name, entries, tasks.clone(), asked.repetitions, hold);
        let (shape, operation) = (workload.shape, workload.operation.clone());
        let holds_bytes = bytes_held(workload, params);
        let plan = Plan { params: params.clone(), shape, operation, holds_bytes, ..bare };
        match asked.cpus.as_slice() {
            [] => vec![plan],
            cpus => cpus.iter().map(|&cpus| Plan { cpus: Some(cpus), ..plan.clone() }).collect(),
        }
    }
}

pub(super) fn refuse_unknown_params(params: &[(String, String)], workloads: &[&Workload]) -> Result<()> {
    let known = workloads.iter().flat_map(|workload| workload.parameters.keys());
    let known: Vec<&str> = known.map(String::as_str).collect();
    let unknown = params.iter().find(|(name, _)| !known.contains(&name.as_str()));
    let Some((name, _)) = unknown else { return Ok(()) };
    let which = match closest(name, known.iter().copied()) {
        Some(nearest) => format!("; did you mean `{nearest}`?"),
        None if known.is_empty() => " (it has none)".to_owned(),
        None => format!("; available: {}", known.join(", ")),
    };
    let names: Vec<&str> = workloads.iter().map(|workload| workload.name.as_str()).collect();
    bail!("-p {name}: not a parameter of {}{which}", names.join(", "));
}

/// Reports selected entries that lack a workload.
pub(super) fn eprint_lacking(selection: &Selection) {
    for (workload, entries) in &selection.lacking {
        let names: Vec<&str> = entries.iter().map(|entry| entry.full_name.as_str()).collect();
        eprint_status(&format!("skipped: no `{}` in {}", workload.name, first_of(&names, NAMED)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::{Parameter, Shape};

    fn workload() -> Workload {
        let tokens = Parameter { about: String::new(), default: 1, least: 1, most: 64, at_most: None };
        Workload {
            name: "ring".into(),
            title: "Ring".into(),
            default: false,
            shape: Shape::Work,
            about: String::new(),
            answers: String::new(),
            tasks: vec![2, 1_000, 1_000_000],
            least_tasks: 2,
            whole_trees: false,
            operation: Some("a hop".into()),
            check: None,
            all_alive: true,
            makes: None,
            holds: None,
            keeps: 0,
            wakes: None,
            ends_together: false,
            most_operations: 100,
            client: None,
            parameters: BTreeMap::from([("tokens".to_owned(), tokens)]),
        }
    }

    fn given(text: &str) -> Vec<(String, String)> {
        params(&[text.to_owned()]).unwrap()
    }

    #[test]
    fn each_cpu_count_yields_one_series() {
        let asked = SeriesOptions {
            most_tasks: Some(100_000),
            params: given("tokens=8"),
            cpus: vec![1, 2],
            repetitions: 3,
            ..SeriesOptions::default()
        };
        let hold = Hold::Chosen { plateau_s: 1.0 };
        let ring = workload();
        let plans = choose(&asked, &[&ring]).unwrap()[0].plans(&asked, hold, Vec::new());
        let names: Vec<String> = plans.iter().map(|plan| plan.series().to_string()).collect();
        assert_eq!(names, ["ring, tokens=8, 1 CPU", "ring, tokens=8, 2 CPUs"]);
        assert_eq!((plans[0].tasks.as_slice(), plans[0].runs_a_cell()), ([2, 1_000].as_slice(), 6));
    }

    #[test]
    fn invalid_task_counts_are_skipped_only_for_several_workloads() {
        let (ring, mut spawn) = (workload(), workload());
        (spawn.name, spawn.least_tasks) = ("spawn".into(), 1);
        let asked = |tasks: &[u64]| SeriesOptions { tasks: Some(tasks.to_vec()), ..SeriesOptions::default() };
        let both = choose(&asked(&[1, 1_000]), &[&ring, &spawn]).unwrap();
        assert_eq!(
            (both[0].tasks.as_slice(), both[1].tasks.as_slice()),
            ([1_000].as_slice(), [1, 1_000].as_slice())
        );
        assert_eq!(both[0].left_out, [(1, "`ring` needs at least 2 tasks".to_owned())]);
        let one = choose(&asked(&[1]), &[&ring, &spawn]).unwrap();
        assert_eq!(one.iter().map(|chosen| chosen.tasks.len()).collect::<Vec<_>>(), [0, 1]);
        let refused = |tasks: &[u64], all: &[&Workload]| choose(&asked(tasks), all).unwrap_err().to_string();
        assert_eq!(refused(&[1, 1_000], &[&ring]), "-n 1: `ring` needs at least 2 tasks");
        assert_eq!(refused(&[1], &[&ring, &ring]).matches("-n 1: `ring` needs").count(), 2);
    }

    #[test]
    fn explicit_default_parameter_yields_the_same_series() {
        assert_eq!(params_of(&workload(), &given("tokens=1")).unwrap(), BTreeMap::new());
    }

    #[test]
    fn invalid_parameters_are_refused() {
        let refused = |text: &str| {
            let given = given(text);
            let unknown = refuse_unknown_params(&given, &[&workload()]);
            unknown.and_then(|()| params_of(&workload(), &given)).unwrap_err().to_string()
        };
        assert!(refused("token=8").ends_with("did you mean `tokens`?"));
        assert!(refused("tokens=65").contains("1 to 64"));
        assert!(refused("tokens=0").contains("1 to 64"));
        assert!(refused("tokens=many").contains("-p tokens=many"));
        assert!(params(&["tokens".to_owned()]).is_err());
        assert!(cpus(&[0]).is_err() && cpus(&[100_000]).is_err() && cpus(&[1, 1]).is_err());
        assert_eq!(cpus(&[1]).unwrap(), [1]);
    }
}
