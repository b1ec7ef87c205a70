//! What is read of each run at its plateau, right after its memory.

use std::cell::RefCell;
use std::rc::Rc;

use taskscale_measure::{OnReading, Timestamp};

use super::adapter::AdapterHook;
use super::mappings::Mappings;
use super::sheet::{Parts, RunParts};
use crate::record::{Sample, Status, last_attempts};

/// One reading of a run.
#[derive(Debug, Clone)]
struct PlateauReading {
    at: Timestamp,
    mappings: Result<Mappings, String>,
    /// What the adapter knows; without one, nothing.
    known: Result<Parts, String>,
}

/// The readings of all runs so far, shared with the hook that makes them.
#[derive(Debug, Clone, Default)]
pub struct Readings(Rc<RefCell<Vec<PlateauReading>>>);

impl Readings {
    /// For runs with or without an adapter.
    pub fn hook(&self, probe: Option<AdapterHook>) -> OnReading {
        let all = self.clone();
        Box::new(move |pids| {
            let at = Timestamp::now();
            let mappings = Mappings::of(pids).map_err(|error| format!("cannot read smaps: {error}"));
            let known = match (&probe, &mappings) {
                (Some(probe), Ok(mappings)) => probe.ask(pids, mappings),
                _ => Ok(Parts::new()),
            };
            all.0.borrow_mut().push(PlateauReading { at, mappings, known });
        })
    }

    /// The parts of each run of an entry that was ok, from its last reading, and what could not be read, once each.
    /// `samples`: those of all runs.
    pub fn of(&self, samples: &[Sample], entry: &str) -> (Vec<RunParts>, Vec<String>) {
        let readings = self.0.borrow();
        let (mut runs, mut faults) = (Vec::new(), Vec::new());
        let last = last_attempts(samples).into_iter();
        for sample in last.filter(|sample| *sample.entry == *entry && sample.status == Status::Ok) {
            let Some(plateau) = &sample.memory.plateau else { continue };
            // Runs follow each other: the next one's readings are later than the next one's start.
            let next =
                samples.iter().map(|other| other.started_at).filter(|at| *at > sample.started_at).min();
            let own = |reading: &&PlateauReading| {
                reading.at >= sample.started_at && next.is_none_or(|next| reading.at < next)
            };
            let own: Vec<&PlateauReading> = readings.iter().filter(own).collect();
            let Some(reading) = own.last() else { continue };
            // To be asked may change what is asked about, as collectors run: the first answer counts. A program that does
            // not print when its tasks are alive may have been asked too early.
            let mut answers = own.iter().filter(|reading| reading.known.is_ok());
            let answer = if sample.alive.is_some() { answers.next() } else { answers.next_back() };
            match (&reading.mappings, &answer.unwrap_or(reading).known) {
                (Ok(mappings), Ok(known)) => runs.push(RunParts {
                    repetition: sample.repetition,
                    tasks: sample.tasks,
                    plateau: plateau.clone(),
                    mappings: mappings.clone(),
                    known: known.clone(),
                }),
                (Err(fault), _) | (_, Err(fault)) if !faults.contains(fault) => faults.push(fault.clone()),
                _ => {}
            }
        }
        (runs, faults)
    }
}
