//! What a search for limits found, in words: beside the figures of its tables, and alone.

use super::{Answer, Find, Question, ShownRun, State};
use crate::sheet::NONE;
use crate::units;

/// The reason, where there is no answer.
pub(super) fn no_answer(answer: &Answer, nothing: &str) -> Option<String> {
    match answer.state {
        State::NothingHolds => {
            let reason = answer.fails.as_ref().and_then(|failed| failed.reason.clone()).unwrap_or_default();
            Some(format!("{nothing}: {reason}"))
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

/// Tasks or memory, whichever was looked for.
fn sought(find: &Find, tasks: u64, memory_bytes: u64) -> String {
    match find {
        Find::MostTasks { .. } => format!("{} tasks", units::grouped(tasks)),
        Find::LeastMemory { .. } => units::bytes(memory_bytes),
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
                    "{what} after {} runs{wide}: --most-runs {} with the same -o goes on",
                    answer.runs_of_search,
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
        let what = sought(find, tried.tasks, tried.memory_bytes);
        let times = if tried.runs == 1 { "time" } else { "times" };
        format!(": {what} held {} of {} {times} when run again", tried.held, tried.runs)
    })
}

/// Where runs both held and failed.
fn blurred(answer: &Answer, find: &Find) -> Option<String> {
    let (fails, sometimes) = answer.fails.as_ref().zip(answer.sometimes.as_ref())?;
    let of = |run: &ShownRun| sought(find, run.tasks, run.memory_bytes);
    let always = match (answer.tasks, answer.memory_bytes, find) {
        (Some(tasks), Some(bytes), Find::MostTasks { .. }) => {
            format!("every run held up to {}, ", sought(find, tasks, bytes))
        }
        (Some(tasks), Some(bytes), Find::LeastMemory { .. }) => {
            format!("every run held from {} on, ", sought(find, tasks, bytes))
        }
        _ => String::new(),
    };
    Some(match find {
        Find::MostTasks { .. } => format!(
            "the edge is not sharp: {always}some up to {}, and some failed from {} on",
            of(sometimes),
            of(fails)
        ),
        Find::LeastMemory { .. } => format!(
            "the edge is not sharp: {always}some down to {}, and some failed from {} down",
            of(sometimes),
            of(fails)
        ),
    })
}

/// What a search came to, in a line.
pub fn sentence(answer: &Answer, find: &Find) -> String {
    let entry = &answer.entry;
    let nothing = match find {
        Find::MostTasks { .. } => "not even one task holds",
        Find::LeastMemory { .. } => "it holds in no memory that this machine has",
    };
    if let Some(why) = no_answer(answer, nothing) {
        return format!("{entry}: {why}");
    }
    let main = match (answer.tasks, answer.memory_bytes) {
        (Some(tasks), Some(bytes)) => {
            format!("{} tasks hold in {} ({})", units::grouped(tasks), units::bytes(bytes), held(answer))
        }
        _ => format!("no answer{}", unconfirmed(answer, find)),
    };
    let blurred = blurred(answer, find).map_or(String::new(), |text| format!("; {text}"));
    format!("{entry}: {main}{blurred}")
}
