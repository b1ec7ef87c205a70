//! A scripted program under a scripted cap.

use super::super::super::answer::{Answer, LimitReport};
use super::super::*;
use crate::record::{Campaign, LimitHit, Memory, Plan, Plateau, Status, test_campaign, test_sample};

pub(super) const MIB: u64 = 1 << 20;

/// A program under a memory cap.
pub(super) struct CappedProgram {
    pub(super) base: u64,
    pub(super) per_task: u64,
    /// Page cache of its files: reclaimed if the cap has no room for it, and read again if needed.
    pub(super) files: u64,
    /// Uses up to this many times what it needs before it collects garbage.
    pub(super) garbage: f64,
    /// Its own heap uses at most this share of the cap.
    pub(super) heap_share: f64,
    /// At most this many tasks start, with any memory.
    pub(super) system: u64,
    /// Slower by this factor near the cap.
    pub(super) thrash: f64,
    /// Launch time of a task, in seconds.
    pub(super) launch_per_task_s: f64,
    /// Crashes from this many tasks on.
    pub(super) crash: u64,
}

pub(super) const PLAIN: CappedProgram = CappedProgram {
    base: 3 * MIB,
    per_task: 500,
    files: 0,
    garbage: 1.0,
    heap_share: 1.0,
    system: u64::MAX,
    thrash: 1.0,
    launch_per_task_s: 1e-6,
    crash: u64::MAX,
};

impl CappedProgram {
    pub(super) fn run(&self, next_run: &NextRun, repetition: u32, time_s: f64, hold_s: f64) -> Sample {
        let mut sample = test_sample("x/y", next_run.trial_point.tasks);
        let cap = next_run.trial_point.cap_bytes;
        (sample.repetition, sample.hold_s) = (repetition, hold_s);
        let live = next_run.trial_point.tasks * self.per_task;
        let need = self.base + live;
        let tight = need as f64 > 0.9 * cap as f64 || live as f64 > 0.8 * self.heap_share * cap as f64;
        let launch_s = 0.01
            + next_run.trial_point.tasks as f64
                * self.launch_per_task_s
                * if tight { self.thrash } else { 1.0 };
        let heap = ((need as f64 * self.garbage) as u64).min(cap).max(need);
        let file_bytes = self.files.min(cap.saturating_sub(heap));
        let used = heap + file_bytes;
        sample.memory = Memory {
            cap_bytes: Some(cap),
            peak_bytes: Some(used.min(cap)),
            plateau: Some(Plateau {
                footprint_bytes: used,
                file_bytes,
                group_bytes: Some(used),
                ..Plateau::default()
            }),
            ..Memory::default()
        };
        (sample.time.launch_s, sample.time.plateau_s, sample.time.drain_s) =
            (Some(launch_s), Some(1.0), Some(0.0));
        (sample.cpu.user_s, sample.cpu.system_s) = (Some(launch_s), Some(0.0));
        let mut fails = |status, reason: &str| {
            sample.status = status;
            sample.reason = Some(reason.to_owned());
            sample.memory.plateau = None;
        };
        if next_run.trial_point.tasks > self.system {
            fails(Status::Limit, "hit vm.max_map_count = 65530");
            sample.limit =
                Some(Box::new(LimitHit { name: "vm.max_map_count".into(), value: 65_530, lift: None }));
        } else if next_run.trial_point.tasks >= self.crash {
            fails(Status::Crashed, "ended by SIGSEGV");
        } else if need > cap {
            fails(Status::KilledOom, "ran out of memory");
        } else if live as f64 > self.heap_share * cap as f64 {
            fails(Status::Failed, "exited with code 1");
            sample.stderr_tail = Some("java.lang.OutOfMemoryError: Java heap space\n".into());
            sample.memory.peak_bytes = Some(self.base + (self.heap_share * cap as f64) as u64);
        } else if launch_s > time_s {
            fails(Status::TimedOut, "ended");
            sample.time.wall_s = Some(time_s);
        }
        sample
    }
}

pub fn search_spec(find: Find) -> SearchSpec {
    SearchSpec {
        schema: 1,
        find,
        slowdown: 5.0,
        least_tasks: 1,
        rates: None,
        room_bytes: 8 << 30,
        time_cap_s: 300.0,
        env: Default::default(),
        entry_env: Default::default(),
        precision: 0.02,
        repetitions: 3,
        most_runs: 16,
    }
}

pub(super) fn drive(search_spec: &SearchSpec, program: &CappedProgram) -> Vec<Sample> {
    let mut samples: Vec<Sample> = Vec::new();
    loop {
        let search = replay(search_spec, Kind::Stackless, &samples);
        let Some(next_run) = search.next else { return samples };
        let hold_s = 2.0;
        let time_s = hold_s + allowed(search_spec, &search.seen, next_run.trial_point).allowance_s;
        samples.push(program.run(
            &next_run,
            samples.len() as u32 + 1,
            time_s.min(search_spec.time_cap_s),
            hold_s,
        ));
        assert!(samples.len() < 60, "the search does not end");
    }
}

pub(super) fn answer(search_spec: &SearchSpec, program: &CappedProgram) -> Answer {
    let samples = drive(search_spec, program);
    report(search_spec, &samples).answers.remove(0)
}

pub fn report(search_spec: &SearchSpec, samples: &[Sample]) -> LimitReport {
    let facts = crate::record::test_facts("x/y");
    let plan = Plan::of_holds("sleep", vec!["x/y".into()], Vec::new(), 1, HOLD);
    let campaign = Campaign {
        taskscale: "0.1.0".into(),
        command: vec!["taskscale".into(), "limit".into()],
        plan,
        entries: vec![facts],
        ..test_campaign()
    };
    LimitReport::build(&campaign, search_spec, samples)
}

pub(super) const IN_64: Find = Find::MostTasks { memory_bytes: 64 * MIB };
pub(super) const FOR_100K: Find = Find::LeastMemory { tasks: 100_000 };
