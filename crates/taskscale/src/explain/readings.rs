//! Mappings and adapter answers, read at each run's plateau right after its memory.

use std::cell::RefCell;
use std::rc::Rc;

use taskscale_measure::{OnReading, Timestamp};

use super::adapter::AdapterHook;
use super::mappings::Mappings;
use super::sheet::{AdapterAnswer, RunParts};
use crate::record::{Sample, Status, last_attempts};

#[derive(Debug, Clone)]
struct PlateauReading {
    at: Timestamp,
    mappings: Result<Mappings, String>,
    /// The adapter's answer; empty without an adapter.
    known: Result<AdapterAnswer, String>,
}

/// The readings of all runs so far, shared with the hook that makes them.
#[derive(Debug, Clone, Default)]
pub struct Readings(Rc<RefCell<Vec<PlateauReading>>>);

impl Readings {
    /// The callback that takes a reading and asks the adapter, if any.
    pub fn hook(&self, probe: Option<AdapterHook>) -> OnReading {
        let all = self.clone();
        Box::new(move |pids| {
            let at = Timestamp::now();
            let mappings = Mappings::of(pids).map_err(|error| format!("cannot read smaps: {error}"));
            let known = match (&probe, &mappings) {
                (Some(probe), Ok(mappings)) => probe.ask(pids, mappings),
                (None, _) => Ok(AdapterAnswer::default()),
                (_, Err(fault)) => Err(fault.clone()),
            };
            all.0.borrow_mut().push(PlateauReading { at, mappings, known });
        })
    }

    /// The parts of each ok run of an entry, with the mappings of its last reading, and each distinct error.
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
            // Asking may change the memory, as a collector may run, so the first answer counts. A program that
            // does not print `alive` may have been asked too early: there the last answer counts.
            let mut answers = own.iter().filter(|reading| reading.known.is_ok());
            let answer = if sample.alive.is_some() { answers.next() } else { answers.next_back() };
            let known = &answer.unwrap_or(reading).known;
            for fault in reading.mappings.as_ref().err().into_iter().chain(known.as_ref().err()) {
                if !faults.contains(fault) {
                    faults.push(fault.clone());
                }
            }
            // Without mappings, the rows of kernel memory remain. A probed run without an answer is useless.
            let Ok(known) = known.clone() else { continue };
            runs.push(RunParts {
                repetition: sample.repetition,
                tasks: sample.tasks,
                plateau: plateau.clone(),
                mappings: reading.mappings.clone().unwrap_or_default(),
                known,
            });
        }
        // Slopes between runs with mappings and runs without would be false.
        if runs.iter().any(|run| run.mappings.classes.is_empty()) {
            runs.iter_mut().for_each(|run| run.mappings = Mappings::default());
        }
        (runs, faults)
    }
}

#[cfg(test)]
mod tests {
    use super::super::mappings::{MappedMemory, MappingClass};
    use super::super::sheet::{PartName, PartSource};
    use super::*;
    use crate::report::fixture;

    fn at(second: u32) -> Timestamp {
        serde_json::from_value(format!("2026-11-26T09:30:{second:02}Z").into()).unwrap()
    }

    fn run(tasks: u64, second: u32) -> Sample {
        let mut sample = fixture::sample("a/x", tasks, 1, 0, 100);
        sample.measurement.started_at = at(second);
        sample
    }

    /// A reading at this second: a heap of `bytes`, and the adapter's answer.
    fn reading(second: u32, bytes: u64, known: Result<f64, &str>) -> PlateauReading {
        let heap = (MappingClass::Heap, MappedMemory { mappings: 1, bytes });
        let name = PartName { group: PartSource::Live, name: "objects".to_owned() };
        PlateauReading {
            at: at(second),
            mappings: Ok(Mappings { classes: [heap].into(), ..Mappings::default() }),
            known: known.map(|bytes| AdapterAnswer::of([(name, bytes)].into())).map_err(str::to_owned),
        }
    }

    fn readings(all: Vec<PlateauReading>) -> Readings {
        Readings(Rc::new(RefCell::new(all)))
    }

    #[test]
    fn run_uses_last_mappings_and_first_adapter_answer() {
        let samples = [run(10, 0), run(20, 10)];
        let all = readings(vec![
            reading(1, 100, Ok(1.0)),
            reading(2, 200, Ok(2.0)),
            reading(10, 300, Err("it did not answer")),
            reading(12, 400, Ok(4.0)),
        ]);
        let (runs, faults) = all.of(&samples, "a/x");
        let shown: Vec<(u64, u64, f64)> = runs
            .iter()
            .map(|run| {
                (run.tasks, run.mappings.classes[&MappingClass::Heap].bytes, run.known.parts.values().sum())
            })
            .collect();
        assert_eq!((shown, faults), (vec![(10, 200, 1.0), (20, 400, 4.0)], vec![]));
        assert!(all.of(&samples, "a/y").0.is_empty());
    }

    #[test]
    fn run_with_unreadable_mappings_is_kept_with_the_error() {
        let unread =
            PlateauReading { mappings: Err("cannot read smaps".to_owned()), ..reading(1, 1, Ok(0.0)) };
        let (runs, faults) = readings(vec![unread]).of(&[run(10, 0)], "a/x");
        assert!(runs.len() == 1 && runs[0].mappings.classes.is_empty(), "{runs:?}");
        assert_eq!(faults, ["cannot read smaps"]);
    }

    #[test]
    fn unreadable_values_are_reported_once_and_failed_runs_skipped() {
        let mut failed = run(30, 20);
        failed.measurement.status = Status::NoPlateau;
        let samples = [run(10, 0), run(20, 10), failed];
        let lost = || Err("it did not answer");
        let all = readings(vec![reading(1, 1, lost()), reading(11, 2, lost()), reading(21, 3, Ok(1.0))]);
        let (runs, faults) = all.of(&samples, "a/x");
        assert!(runs.is_empty(), "{runs:?}");
        assert_eq!(faults, ["it did not answer"]);
    }
}
