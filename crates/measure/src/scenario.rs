//! The scenario of a run: it determines the program's arguments, its phases and the evidence for its verdict.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use taskscale_load::{Elsewhere, LoadOrder};

use super::BlackBoxCommand;

/// The scenario of a run.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scenario {
    /// All tasks wait at the same time.
    Hold(HoldParams),
    /// Tasks do operations as fast as they can.
    Work(WorkParams),
    /// A server serves connections.
    Serve(Box<ServeParams>),
    /// A black-box program, which need not know taskscale.
    BlackBox(Box<BlackBoxCommand>, HoldParams),
}

/// How long tasks wait, and the plateau that is expected.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct HoldParams {
    /// How long each task waits, in seconds. 0 if the program is not given it.
    pub hold_s: f64,
    /// A plateau shorter than this gets a warning, in seconds.
    pub plateau_s: f64,
    /// The period in which each task wakes, in seconds. `None` if tasks sleep without waking.
    pub period_s: Option<f64>,
    /// Estimated time to read the plateau, in seconds. Grows with processes and threads.
    pub reading_s: f64,
}

/// A server, and what its clients do once all are connected and have been idle.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ServeParams {
    /// How the server is observed and stopped. Its load is the clients.
    pub command: BlackBoxCommand,
    pub wait: HoldParams,
    pub order: LoadOrder,
}

/// The parameters of work: how many operations, and what its verdict needs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct WorkParams {
    pub operations: u64,
    /// For the second run of a pair, with twice the operations: the time of the first run's operations, in seconds.
    pub once_s: Option<f64>,
    /// Minimum duration of work that can be timed reliably, in seconds.
    pub least_s: f64,
    /// Whether all tasks are alive at once.
    pub all_alive: bool,
}

impl Scenario {
    pub fn wait(&self) -> Option<&HoldParams> {
        match self {
            Scenario::Hold(wait) | Scenario::BlackBox(_, wait) => Some(wait),
            Scenario::Serve(serve) => Some(&serve.wait),
            Scenario::Work(_) => None,
        }
    }

    /// How long each task waits, in seconds. 0 if the program is not given it.
    pub fn hold_s(&self) -> f64 {
        self.wait().map_or(0.0, |wait| wait.hold_s)
    }

    /// Whether tasks wake while they wait.
    pub fn wakes(&self) -> bool {
        self.wait().is_some_and(|wait| wait.period_s.is_some())
    }

    /// Whether all tasks are alive at once, so that limits on N apply.
    pub fn all_alive(&self) -> bool {
        self.work().is_none_or(|work| work.all_alive)
    }

    pub fn work(&self) -> Option<&WorkParams> {
        let Scenario::Work(work) = self else { return None };
        Some(work)
    }

    /// Number of operations. 0 if tasks wait.
    pub fn operations(&self) -> u64 {
        self.work().map_or(0, |work| work.operations)
    }

    pub fn black_box(&self) -> Option<&BlackBoxCommand> {
        match self {
            Scenario::BlackBox(command, _) => Some(command),
            Scenario::Serve(serve) => Some(&serve.command),
            _ => None,
        }
    }

    pub fn serve(&self) -> Option<&ServeParams> {
        let Scenario::Serve(serve) = self else { return None };
        Some(serve)
    }

    /// This scenario with the clients of a server on another machine, if one is given.
    #[must_use]
    pub fn with_clients(mut self, elsewhere: Option<&Elsewhere>) -> Scenario {
        if let (Scenario::Serve(serve), Some(elsewhere)) = (&mut self, elsewhere) {
            serve.order.address.set_ip(elsewhere.listen);
            serve.order.elsewhere = Some(elsewhere.clone());
            let command = serve.order.command(0);
            serve.command.load.iter_mut().for_each(|load| load.command.clone_from(&command));
        }
        self
    }

    /// The machine of the clients, if it is another.
    pub fn elsewhere(&self) -> Option<&Elsewhere> {
        self.serve()?.order.elsewhere.as_ref()
    }

    /// The arguments of a program of the catalog: `N SECONDS` or `N OPERATIONS`, and `--name value` for each of
    /// `params`. A server gets its address instead, because parameters go to its clients.
    pub fn arguments(&self, tasks: u64, params: &BTreeMap<String, String>) -> Vec<String> {
        let second = match self {
            Scenario::Serve(serve) => {
                // Any free port; the program prints it.
                return [tasks.to_string(), "--listen".into(), serve.order.address.to_string()].into();
            }
            Scenario::Work(work) => work.operations,
            Scenario::Hold(wait) | Scenario::BlackBox(_, wait) => wait.hold_s as u64,
        };
        let params = params.iter().flat_map(|(name, value)| [format!("--{name}"), value.clone()]);
        [tasks.to_string(), second.to_string()].into_iter().chain(params).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_have_numbers_and_non_default_parameters() {
        let params = BTreeMap::from([("tokens".to_owned(), "8".to_owned())]);
        let hold = Scenario::Hold(HoldParams { hold_s: 3.0, ..HoldParams::default() });
        assert_eq!(hold.arguments(1_000, &BTreeMap::new()), ["1000", "3"]);
        let work = Scenario::Work(WorkParams { operations: 50_000, ..WorkParams::default() });
        assert_eq!(work.arguments(10, &params), ["10", "50000", "--tokens", "8"]);
    }

    /// More threads than there is room for are doomed only if all of them live at once.
    #[test]
    fn scenarios_know_whether_all_tasks_are_alive_at_once() {
        let work =
            |all_alive| Scenario::Work(WorkParams { operations: 1, all_alive, ..WorkParams::default() });
        assert!(Scenario::Hold(HoldParams::default()).all_alive() && work(true).all_alive());
        assert!(!work(false).all_alive());
    }
}
