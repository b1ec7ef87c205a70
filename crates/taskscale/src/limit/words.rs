//! The words of a limit search: notes of its tables, and one-line answers.

use super::answer::{Answer, ShownRun};
use super::confirm::SearchStatus;
use super::search_spec::{Find, SearchSpec, TrialPoint};
use crate::catalog::Shape;
use crate::document::NONE;
use crate::units;

/// Why there is no answer, if so.
pub(super) fn no_answer(answer: &Answer, find: &Find) -> Option<String> {
    match answer.state {
        SearchStatus::NothingHolds => {
            let failed = answer.fails.as_ref();
            let reason = failed.and_then(|failed| failed.reason.clone()).unwrap_or_default();
            let nothing = match find {
                Find::MostTasks { .. } => {
                    let fewest = failed.map_or(1, |failed| failed.trial_point.tasks);
                    format!("fails with {}", units::tasks(fewest))
                }
                Find::LeastMemory { .. } => "fails with all memory that a run may use".to_owned(),
                Find::HighestRate { .. } => "fails at every rate".to_owned(),
            };
            Some(format!("{nothing}: {reason}"))
        }
        _ if answer.runs == 0 => Some("not run yet".to_owned()),
        _ if answer.tasks.is_none() && answer.probes.iter().all(|run| !run.holds) => {
            Some("not found yet: every run so far failed".to_owned())
        }
        _ => None,
    }
}

/// How many of the confirming runs of the answer passed.
pub(super) fn held(answer: &Answer) -> String {
    let tally = answer.tried.filter(|_| answer.tasks.is_some());
    tally.map_or(NONE.to_owned(), |tried| format!("{} of {}", tried.held, tried.runs))
}

pub(super) fn limited_by(answer: &Answer) -> String {
    match answer.state {
        SearchStatus::EverythingHolds => "no limit found".to_owned(),
        _ => answer.limited_by.clone().unwrap_or_else(|| "unknown".to_owned()),
    }
}

/// The searched value of a run, with its unit.
pub fn sought(find: &Find, trial_point: TrialPoint) -> String {
    let value = find.value(trial_point);
    match find {
        Find::MostTasks { .. } => units::counted(value, "task"),
        Find::LeastMemory { .. } => units::bytes(value),
        Find::HighestRate { .. } => format!("{} messages/s", units::grouped(value)),
    }
}

/// Whether the search is done, whether the boundary is sharp, and how the run beyond the answer failed.
pub(super) fn below(answer: &Answer, search_spec: &SearchSpec) -> Vec<String> {
    let find = &search_spec.find;
    let beside = answer.fails.as_ref().and_then(|failed| failed.reason.clone());
    let wide =
        answer.width.map_or(String::new(), |width| format!(", {}% apart", units::decimal(width * 100.0, 1)));
    let open = match answer.state {
        SearchStatus::Unfinished => {
            Some(format!("not finished{wide}; re-run the same command with its -o to resume"))
        }
        SearchStatus::Undecided => {
            let what = match answer.tasks {
                Some(_) => "less precise than requested".to_owned(),
                None => format!("no answer{}", unconfirmed(answer, find)),
            };
            Some(match answer.runs_of_search < search_spec.most_runs as usize {
                // More runs would find nothing more.
                true => format!("{what}: even the easiest value both passed and failed"),
                false => format!(
                    "{what} after {}{wide}; resume with --most-runs {} and the same -o",
                    units::counted(answer.runs_of_search, "run"),
                    answer.runs_of_search + 8
                ),
            })
        }
        _ => None,
    };
    open.into_iter().chain(blurred(answer, find)).chain(beside).collect()
}

/// The candidate answer, and how many of its confirming runs passed.
fn unconfirmed(answer: &Answer, find: &Find) -> String {
    answer.tried.map_or(String::new(), |tried| {
        let what = sought(find, tried.trial_point);
        format!(": {what} passed {} of {}", tried.held, units::counted(tried.runs, "confirming run"))
    })
}

/// Where runs both passed and failed.
fn blurred(answer: &Answer, find: &Find) -> Option<String> {
    let (fails, sometimes) = answer.fails.as_ref().zip(answer.sometimes.as_ref())?;
    let of = |run: &ShownRun| sought(find, run.trial_point);
    let always = answer.trial_point().map(|trial_point| sought(find, trial_point));
    let (sometimes, fails) = (of(sometimes), of(fails));
    let (always, way) = match find {
        Find::LeastMemory { .. } => (always.map(|always| format!("from {always} up")), "down"),
        _ => (always.map(|always| format!("up to {always}")), "up"),
    };
    let always = always.map_or(String::new(), |always| format!("all runs passed {always}, "));
    Some(format!("no sharp boundary: {always}some {way} to {sometimes}, and some failed from {fails} {way}"))
}

/// The result of a search, in one line.
pub fn sentence(answer: &Answer, find: &Find) -> String {
    let entry = &answer.entry;
    if let Some(why) = no_answer(answer, find) {
        return format!("{entry}: {why}");
    }
    let main = match (answer.trial_point(), find) {
        (Some(TrialPoint { tasks, .. }), Find::HighestRate { p99_us, .. }) => {
            let rate = answer.trial_point().map_or(String::new(), |trial_point| sought(find, trial_point));
            let (over, bound) = (Shape::Serve.many(tasks), units::milliseconds(*p99_us as f64));
            format!("keeps up with {rate} over {over}, p99 below {bound} ({})", held(answer))
        }
        (Some(TrialPoint { tasks, cap_bytes, .. }), _) => {
            let (tasks, memory) = (units::grouped(tasks), units::bytes(cap_bytes));
            format!("{tasks} tasks fit in {memory} ({})", held(answer))
        }
        (None, _) => format!("no answer{}", unconfirmed(answer, find)),
    };
    let blurred = blurred(answer, find).map_or(String::new(), |text| format!("; {text}"));
    format!("{entry}: {main}{blurred}")
}
