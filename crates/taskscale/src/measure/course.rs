//! The course of a run: what the program is told, what it goes through, and what its verdict rests on.

use std::collections::BTreeMap;

use super::ExternalCommand;
use crate::load::{Elsewhere, LoadOrder};

/// What a run goes through.
#[derive(Debug, Clone)]
pub enum Course {
    /// All tasks wait at once.
    Hold(Wait),
    /// Operations are done as fast as they can be.
    Work(WorkOrder),
    /// Connections are served.
    Serve(Box<Serve>),
    /// A program that need not know anything of taskscale.
    External(Box<ExternalCommand>, Wait),
}

/// How long tasks wait, and what is to be seen of it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Wait {
    /// How long each task waits, in seconds; 0 where the program was not told.
    pub hold_s: f64,
    /// A plateau shorter than this is marked, in seconds.
    pub plateau_s: f64,
    /// How often each task wakes meanwhile, in seconds; absent where tasks sleep through.
    pub period_s: Option<f64>,
    /// How long reading the plateau is foreseen to take, in seconds: many processes or threads take their time.
    pub reading_s: f64,
}

/// A server, and what its clients do once all are connected and were at rest.
#[derive(Debug, Clone)]
pub struct Serve {
    /// How the server is watched and stopped; its load are the clients.
    pub command: ExternalCommand,
    pub wait: Wait,
    pub order: LoadOrder,
}

/// Operations to be done.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct WorkOrder {
    pub operations: u64,
    /// Of the second run of a pair, of twice the operations: how long the first one's lasted, in seconds.
    pub once_s: Option<f64>,
    /// Work that lasts less long is too short to be timed, in seconds.
    pub least_s: f64,
    /// All tasks are alive at once.
    pub all_alive: bool,
}

impl Course {
    pub fn wait(&self) -> Option<&Wait> {
        match self {
            Course::Hold(wait) | Course::External(_, wait) => Some(wait),
            Course::Serve(serve) => Some(&serve.wait),
            Course::Work(_) => None,
        }
    }

    /// How long each task waits, in seconds; 0 where the program is not told.
    pub fn hold_s(&self) -> f64 {
        self.wait().map_or(0.0, |wait| wait.hold_s)
    }

    /// Whether tasks wake meanwhile.
    pub fn wakes(&self) -> bool {
        self.wait().is_some_and(|wait| wait.period_s.is_some())
    }

    /// Whether all tasks are alive at once, so that what so many need at once is needed.
    pub fn all_alive(&self) -> bool {
        self.work().is_none_or(|work| work.all_alive)
    }

    pub fn work(&self) -> Option<&WorkOrder> {
        match self {
            Course::Work(work) => Some(work),
            _ => None,
        }
    }

    /// How many operations are done; none where tasks wait.
    pub fn operations(&self) -> u64 {
        self.work().map_or(0, |work| work.operations)
    }

    pub fn external(&self) -> Option<&ExternalCommand> {
        match self {
            Course::External(command, _) => Some(command),
            Course::Serve(serve) => Some(&serve.command),
            _ => None,
        }
    }

    pub fn serve(&self) -> Option<&Serve> {
        match self {
            Course::Serve(serve) => Some(serve),
            _ => None,
        }
    }

    /// The same with the clients of a server on another machine.
    #[must_use]
    pub fn with_clients(mut self, elsewhere: Option<&Elsewhere>) -> Course {
        if let (Course::Serve(serve), Some(elsewhere)) = (&mut self, elsewhere) {
            serve.order.address.set_ip(elsewhere.listen);
            serve.order.elsewhere = Some(elsewhere.clone());
            let command = serve.order.command(0);
            serve.command.load.iter_mut().for_each(|load| load.command.clone_from(&command));
        }
        self
    }

    /// The machine of the clients, where that is another.
    pub fn elsewhere(&self) -> Option<&Elsewhere> {
        self.serve()?.order.elsewhere.as_ref()
    }

    /// What follows the command of a program of the catalogue: `N SECONDS`, or `N OPERATIONS`, and `--name value` for
    /// each parameter that is not left at its default. A server is told where to listen: parameters are its clients'.
    pub fn arguments(&self, tasks: u64, params: &BTreeMap<String, String>) -> Vec<String> {
        let second = match self {
            Course::Serve(serve) => {
                // Any free port, which the program says.
                return [tasks.to_string(), "--listen".into(), serve.order.address.to_string()].into();
            }
            Course::Work(work) => work.operations,
            Course::Hold(wait) | Course::External(_, wait) => wait.hold_s as u64,
        };
        let params = params.iter().flat_map(|(name, value)| [format!("--{name}"), value.clone()]);
        [tasks.to_string(), second.to_string()].into_iter().chain(params).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_told_its_numbers_and_what_is_not_left_at_its_default() {
        let params = BTreeMap::from([("tokens".to_owned(), "8".to_owned())]);
        let hold = Course::Hold(Wait { hold_s: 3.0, ..Wait::default() });
        assert_eq!(hold.arguments(1_000, &BTreeMap::new()), ["1000", "3"]);
        let work = Course::Work(WorkOrder { operations: 50_000, ..WorkOrder::default() });
        assert_eq!(work.arguments(10, &params), ["10", "50000", "--tokens", "8"]);
    }

    /// A thread for each of more tasks than there is room for is hopeless only where all of them live at once.
    #[test]
    fn tasks_that_wait_are_alive_at_once_and_those_that_work_where_they_say_so() {
        let work = |all_alive| Course::Work(WorkOrder { operations: 1, all_alive, ..WorkOrder::default() });
        assert!(Course::Hold(Wait::default()).all_alive() && work(true).all_alive());
        assert!(!work(false).all_alive());
    }
}
