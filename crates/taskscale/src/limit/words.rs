//! What a search for limits found, in words: beside the figures of its tables, and alone.

use super::rate::{connections, milliseconds};
use super::{Answer, Find, Question, Setting, ShownRun, State};
use crate::sheet::NONE;
use crate::units;

/// The reason, where there is no answer.
pub(super) fn no_answer(answer: &Answer, find: &Find) -> Option<String> {
    match answer.state {
        State::NothingHolds => {
            let reason = answer.fails.as_ref().and_then(|failed| failed.reason.clone()).unwrap_or_default();
            Some(format!("{}: {reason}", nothing(find)))
        }
        _ if answer.runs == 0 => Some("not run yet".to_owned()),
        _ if answer.tasks.is_none() && answer.probes.iter().all(|run| !run.holds) => {
            Some("not found yet: nothing that was tried has held".to_owned())
        }
        _ => None,
    }
}

/// How often the answer held when it was run again.
pub(super) fn held(answer: &Answer) -> String {
    let tally = answer.tried.filter(|_| answer.tasks.is_some());
    tally.map_or(NONE.to_owned(), |tried| format!("{} of {}", tried.held, tried.runs))
}

pub(super) fn limited_by(answer: &Answer) -> String {
    match answer.state {
        State::EverythingHolds => "nothing that was tried".to_owned(),
        _ => answer.limited_by.clone().unwrap_or_else(|| "unknown".to_owned()),
    }
}

/// The value of a run, of whatever is looked for.
pub fn sought(find: &Find, setting: Setting) -> String {
    let value = find.value(setting);
    match find {
        Find::MostTasks { .. } => format!("{} tasks", units::grouped(value)),
        Find::LeastMemory { .. } => units::bytes(value),
        Find::HighestRate { .. } => format!("{} messages/s", units::grouped(value)),
    }
}

/// Where nothing was found that holds.
pub(super) fn nothing(find: &Find) -> &'static str {
    match find {
        Find::MostTasks { .. } => "not even one task holds",
        Find::LeastMemory { .. } => "holds in no memory that this machine has",
        Find::HighestRate { .. } => "keeps up with no rate",
    }
}

/// Whether the search is done, whether the edge is sharp, and how the failing run beside the answer failed.
pub(super) fn below(answer: &Answer, question: &Question) -> Vec<String> {
    let find = &question.find;
    let beside = answer.fails.as_ref().and_then(|failed| failed.reason.clone());
    let wide =
        answer.width.map_or(String::new(), |width| format!(", {} % apart", units::decimal(width * 100.0, 1)));
    let open = match answer.state {
        State::Unfinished => Some(format!("not finished{wide}: the same command with its -o goes on")),
        State::Undecided => {
            let what = match answer.tasks {
                Some(_) => "not as near as asked".to_owned(),
                None => format!("no answer{}", unconfirmed(answer, find)),
            };
            Some(match answer.runs_of_search < question.most_runs as usize {
                // More runs would find nothing more.
                true => format!("{what}: even what is easiest held and failed"),
                false => format!(
                    "{what} after {}{wide}: --most-runs {} with the same -o goes on",
                    units::counted(answer.runs_of_search, "run"),
                    answer.runs_of_search + 8
                ),
            })
        }
        _ => None,
    };
    open.into_iter().chain(blurred(answer, find)).chain(beside).collect()
}

/// What was to be the answer, and how often it held.
fn unconfirmed(answer: &Answer, find: &Find) -> String {
    answer.tried.map_or(String::new(), |tried| {
        let what = sought(find, tried.setting());
        let times = if tried.runs == 1 { "time" } else { "times" };
        format!(": {what} held {} of {} {times} when run again", tried.held, tried.runs)
    })
}

/// Where runs both held and failed.
fn blurred(answer: &Answer, find: &Find) -> Option<String> {
    let (fails, sometimes) = answer.fails.as_ref().zip(answer.sometimes.as_ref())?;
    let of = |run: &ShownRun| sought(find, run.setting());
    let always = answer.setting().map(|setting| sought(find, setting));
    let (sometimes, fails) = (of(sometimes), of(fails));
    Some(match find {
        Find::MostTasks { .. } | Find::HighestRate { .. } => {
            let always = always.map_or(String::new(), |always| format!("every run held up to {always}, "));
            format!("the edge is not sharp: {always}some up to {sometimes}, and some failed from {fails} on")
        }
        Find::LeastMemory { .. } => {
            let always = always.map_or(String::new(), |always| format!("every run held from {always} on, "));
            format!(
                "the edge is not sharp: {always}some down to {sometimes}, and some failed from {fails} down"
            )
        }
    })
}

/// What a search came to, in a line.
pub fn sentence(answer: &Answer, find: &Find) -> String {
    let entry = &answer.entry;
    if let Some(why) = no_answer(answer, find) {
        return format!("{entry}: {why}");
    }
    let main = match (answer.setting(), find) {
        (Some(Setting { tasks, .. }), Find::HighestRate { p99_us, .. }) => {
            let rate = answer.setting().map_or(String::new(), |setting| sought(find, setting));
            let (over, bound) = (connections(tasks), milliseconds(*p99_us as f64));
            format!("keeps up with {rate} over {over}, p99 below {bound} ({})", held(answer))
        }
        (Some(Setting { tasks, cap_bytes, .. }), _) => {
            let (tasks, memory) = (units::grouped(tasks), units::bytes(cap_bytes));
            format!("{tasks} tasks hold in {memory} ({})", held(answer))
        }
        (None, _) => format!("no answer{}", unconfirmed(answer, find)),
    };
    let blurred = blurred(answer, find).map_or(String::new(), |text| format!("; {text}"));
    format!("{entry}: {main}{blurred}")
}
