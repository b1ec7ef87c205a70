//! Limit detection: which system limit a run hit.

use std::fs;

use serde::{Deserialize, Serialize};

use super::limits::{DetectedLimit, OPEN_FILES, SystemLimits, raised_by};
use crate::Kind;
use crate::LimitHit;
use crate::units::grouped;

/// The observations of a run that limits are detected by.
#[derive(Debug, Clone, Default)]
pub struct LimitEvidence<'a> {
    /// How often the run's cgroup refused a thread because of its own bound; `None` without a bound.
    pub refused_threads: Option<u64>,
    /// Requested tasks, N.
    pub tasks: u64,
    /// Tasks started before the first that could not start, where known.
    pub started: Option<u64>,
    /// Most threads seen at once.
    pub threads: u64,
    /// The program's own limit of open files, read when it printed that there were too many.
    pub open_files: Option<OwnFiles>,
    /// Whether one of its processes had that many open.
    pub files_used_up: bool,
    pub stderr: &'a str,
}

/// A process's own limit of open files. `None`: unlimited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnFiles {
    pub soft: u64,
    pub hard: Option<u64>,
}

impl OwnFiles {
    pub fn of(pid: u32) -> Option<OwnFiles> {
        OwnFiles::parse(&fs::read_to_string(format!("/proc/{pid}/limits")).ok()?)
    }

    /// The limit of a process that has at most a few descriptors left.
    pub fn used_up(pid: u32) -> Option<OwnFiles> {
        let open = fs::read_dir(format!("/proc/{pid}/fd")).ok()?.count() as u64;
        OwnFiles::of(pid).filter(|own| open + FEW_FILES >= own.soft)
    }

    fn parse(limits: &str) -> Option<OwnFiles> {
        let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
        let mut values = line.split_whitespace();
        Some(OwnFiles { soft: values.next()?.parse().ok()?, hard: values.next()?.parse().ok() })
    }
}

/// A server may reserve some descriptors, to close connections that it cannot serve.
const FEW_FILES: u64 = 4;

/// EMFILE, as C libraries, Go, Rust, Python, Java and Node.js word it.
const TOO_MANY_FILES: [&str; 2] = ["oo many open files", "EMFILE"];
/// ENFILE, likewise.
const TOO_MANY_FILES_IN_SYSTEM: [&str; 2] = ["oo many open files in system", "ENFILE"];

/// No more threads, likewise: EAGAIN of `pthread_create`, what Java, Python and Free Pascal make of it, and ENOMEM of a
/// new thread that maps its signal stack (Rust).
const NO_MORE_THREADS: [&str; 6] = [
    "esource temporarily unavailable",
    "EAGAIN",
    "unable to create native thread",
    "can't start new thread",
    "Failed to create new thread",
    "annot allocate memory",
];

/// Whether standard error reports too many open files.
pub fn reports_open_files(stderr: &[u8]) -> bool {
    let text = String::from_utf8_lossy(stderr);
    TOO_MANY_FILES.iter().any(|words| text.contains(words))
}

/// The limit that a run certainly hit: the kernel counted a refusal, or the program printed the error.
pub fn proven_limit(limits: &SystemLimits, evidence: &LimitEvidence) -> Option<DetectedLimit> {
    if evidence.refused_threads.is_some_and(|times| times > 0)
        && let Some(tightest) = limits.thread_headroom().into_iter().next()
    {
        return Some(tightest.into_hit());
    }
    let printed = |words: [&str; 2]| words.iter().any(|words| evidence.stderr.contains(words));
    if printed(TOO_MANY_FILES_IN_SYSTEM) {
        let value = limits.machine_files?;
        let (limit, remedy) =
            raised_by("fs.file-max", value, format!("sysctl -w fs.file-max={}", value.saturating_mul(10)));
        let sentence = format!("hit fs.file-max = {value} open files (whole machine)");
        return Some(DetectedLimit { limit, sentence, why: String::new(), remedy });
    }
    if printed(TOO_MANY_FILES) || evidence.files_used_up {
        // A runtime may have raised the limit for itself, as Go and Java do.
        let own = evidence.open_files.map(|own| OPEN_FILES.at(own.soft, own.hard));
        let (limit, remedy) = own.or_else(|| limits.open_files_limit())?;
        let sentence = format!("hit ulimit -n = {} open files", limit.value);
        return Some(DetectedLimit { limit, sentence, why: String::new(), remedy });
    }
    None
}

/// The limit that a run hit that ended by itself: a proved one, or one that explains the number of started tasks.
/// Unless that number fits exactly, the sentence begins with `probably`.
pub fn detect_limit(limits: &SystemLimits, kind: Kind, evidence: &LimitEvidence) -> Option<DetectedLimit> {
    proven_limit(limits, evidence)
        .or_else(|| limit_inferred(limits, kind, evidence))
        .or_else(|| reported_limit(limits, kind, evidence))
}

/// The limit on memory mappings, if the program printed that it was refused a thread, its cgroup refused none,
/// and N threads can exhaust the mappings.
fn reported_limit(limits: &SystemLimits, kind: Kind, evidence: &LimitEvidence) -> Option<DetectedLimit> {
    let told = NO_MORE_THREADS.iter().any(|words| evidence.stderr.contains(words));
    if kind != Kind::Thread || evidence.refused_threads != Some(0) || !told {
        return None;
    }
    let (rooms, (limit, remedy)) = limits.mapping_headroom()?;
    if evidence.tasks < *rooms.start() {
        return None;
    }
    let sentence = format!("probably hit vm.max_map_count = {}", limit.value);
    let why = ": a thread or its stack was refused although no thread limit was hit".to_owned();
    Some(DetectedLimit { limit, sentence, why, remedy })
}

fn limit_inferred(limits: &SystemLimits, kind: Kind, evidence: &LimitEvidence) -> Option<DetectedLimit> {
    let started = evidence.started.unwrap_or(evidence.threads);
    if !kind.stackful() || started == 0 {
        return None;
    }
    // Without a bound no threads are reserved, and the number of the machine's other threads drifts. A bound that was
    // not hit rules these limits out.
    let near = |room: u64| (started as f64 - room as f64).abs() <= room as f64 * 0.03;
    // Where the program counted its tasks, the reason has their number already.
    let seen = match evidence.started {
        Some(_) => String::new(),
        None => format!(" near {} threads", grouped(started)),
    };
    let mut rooms = limits.thread_headroom().into_iter();
    let met = rooms.find(|room| near(room.room.saturating_add(room.kept)));
    if let Some(room) = met.filter(|_| evidence.refused_threads.is_none()) {
        let LimitHit { name, value, .. } = &room.limit;
        let sentence = format!("probably hit {name} = {value}");
        let why = format!("{seen}: room for {} threads", grouped(room.room.saturating_add(room.kept)));
        return Some(DetectedLimit { sentence, why, limit: room.limit, remedy: room.remedy });
    }
    let (_, (limit, remedy)) = limits.mapping_headroom()?;
    let (areas, fit) = mappings_per_task(started, limit.value)?;
    let hit = format!("hit vm.max_map_count = {}", limit.value);
    let sentence = match fit {
        // Threads counted while more were starting are not the number at which they failed.
        MappingFit::Exact if evidence.started.is_some() => hit,
        _ => format!("probably {hit}"),
    };
    let why = format!("{seen} ({areas} memory mappings per task)");
    Some(DetectedLimit { limit, sentence, why, remedy })
}

/// How well a number of tasks explains that `max_map_count` is exhausted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MappingFit {
    /// Except for the few mappings that every program has of its own.
    Exact,
    Near,
}

/// Memory mappings of a program besides those of its tasks: its text and libraries.
const OWN_AREAS: u64 = 128;
/// Fits may exceed the limit by this: the last stacks may have no guard page (Crystal).
const AREAS_TOO_MANY: u64 = 8;

/// How many memory mappings each of `started` tasks must have had, if they exhausted `max_map_count`. An exact fit is
/// any small whole number. A near fit is two or four mappings, which runtimes have, with up to 4% missing: a JVM has a
/// thousand mappings of its own, and runtimes that map stacks by the thousand stop at the last whole thousand (Ruby).
fn mappings_per_task(started: u64, max_map_count: u64) -> Option<(u64, MappingFit)> {
    let used = |areas: u64| areas.saturating_mul(started);
    let most = max_map_count.saturating_add(AREAS_TOO_MANY);
    let exact =
        (1..=6).find(|areas| (max_map_count.saturating_sub(OWN_AREAS)..=most).contains(&used(*areas)));
    let near = || [2, 4].into_iter().find(|areas| (max_map_count / 100 * 96..=most).contains(&used(*areas)));
    exact.map(|areas| (areas, MappingFit::Exact)).or_else(|| near().map(|areas| (areas, MappingFit::Near)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::tests::limits;

    #[test]
    fn a_counted_refusal_names_the_tightest_thread_limit() {
        let evidence = LimitEvidence { refused_threads: Some(1), ..LimitEvidence::default() };
        let met = detect_limit(&limits(), Kind::Thread, &evidence).unwrap();
        assert_eq!(met.limit.name, "kernel.pid_max");
        assert!(met.why.contains("room for 31,544 threads"), "{met:?}");
    }

    #[test]
    fn a_thread_limit_that_was_not_hit_is_not_named() {
        // A JVM's threads: two memory mappings each, and pid_max is hardly further away.
        let evidence =
            LimitEvidence { started: Some(32_098), refused_threads: Some(0), ..LimitEvidence::default() };
        assert_eq!(detect_limit(&limits(), Kind::Thread, &evidence).unwrap().limit.name, "vm.max_map_count");
        let unbounded = LimitEvidence { refused_threads: None, ..evidence };
        assert_eq!(detect_limit(&limits(), Kind::Thread, &unbounded).unwrap().limit.name, "kernel.pid_max");
    }

    #[test]
    fn tasks_whose_stacks_exhaust_max_map_count_hit_it() {
        let roomy = SystemLimits { pid_max: Some(4_194_304), ..limits() };
        let evidence = LimitEvidence { started: Some(32_600), ..LimitEvidence::default() };
        assert_eq!(detect_limit(&roomy, Kind::Stackful, &evidence).unwrap().limit.name, "vm.max_map_count");
        // A Rust thread takes four.
        let rust = LimitEvidence { started: Some(16_370), ..LimitEvidence::default() };
        let met = detect_limit(&roomy, Kind::Thread, &rust).unwrap();
        assert_eq!(met.sentence + &met.why, "hit vm.max_map_count = 65530 (4 memory mappings per task)");
        // Ruby's fibers come 1,024 at a time; the last of Crystal's have no guard page.
        for started in [31_743, 32_767] {
            let evidence = LimitEvidence { started: Some(started), ..LimitEvidence::default() };
            assert_eq!(
                detect_limit(&roomy, Kind::Stackful, &evidence).unwrap().limit.name,
                "vm.max_map_count"
            );
        }
        // A failure far from any limit has another cause, and tasks without a stack need no mappings.
        let few = LimitEvidence { started: Some(100), ..LimitEvidence::default() };
        assert_eq!(detect_limit(&roomy, Kind::Stackful, &few), None);
        assert_eq!(detect_limit(&roomy, Kind::Stackless, &evidence), None);
    }

    #[test]
    fn a_thread_refused_below_thread_limits_lacked_a_mapping() {
        let pascal = "cannot start task 23230 of 100000: Failed to create new thread";
        let stderr = "cannot start 100000 tasks at once: Resource temporarily unavailable (os error 11)";
        let rust = "failed to set up alternative stack guard page: Cannot allocate memory (os error 12)";
        for stderr in [pascal, rust, stderr] {
            let evidence = LimitEvidence {
                refused_threads: Some(0),
                tasks: 100_000,
                stderr,
                ..LimitEvidence::default()
            };
            let met = detect_limit(&limits(), Kind::Thread, &evidence).unwrap();
            assert!(met.sentence.starts_with("probably hit vm.max_map_count = 65530"), "{met:?}");
        }
        // No limit is named where it is unknown whether a thread limit was hit or what was refused, or where the stacks
        // are too few to exhaust the mappings.
        for (kind, refused_threads, stderr, tasks) in [
            (Kind::Thread, None, stderr, 100_000),
            (Kind::Stackless, Some(0), stderr, 100_000),
            (Kind::Thread, Some(0), "a bug", 100_000),
            (Kind::Thread, Some(0), stderr, 10_000),
        ] {
            let evidence = LimitEvidence { refused_threads, stderr, tasks, ..LimitEvidence::default() };
            assert_eq!(detect_limit(&limits(), kind, &evidence), None);
        }
    }

    #[test]
    fn arbitrary_crash_points_rarely_match_max_map_count() {
        let most = 65_530_u64;
        let fits: Vec<MappingFit> =
            (1..=most).filter_map(|started| Some(mappings_per_task(started, most)?.1)).collect();
        let share = |fit: MappingFit| fits.iter().filter(|found| **found == fit).count() as f64 / most as f64;
        assert!(share(MappingFit::Exact) < 0.006, "{}", share(MappingFit::Exact));
        assert!(share(MappingFit::Near) < 0.03, "{}", share(MappingFit::Near));
    }

    #[test]
    fn near_limits_are_only_probable() {
        let roomy = SystemLimits { pid_max: Some(4_194_304), ..limits() };
        let sentence = |started, threads| {
            let evidence = LimitEvidence { started, threads, ..LimitEvidence::default() };
            let met = detect_limit(&roomy, Kind::Thread, &evidence).unwrap();
            met.sentence + &met.why
        };
        // A JVM's threads.
        let near = "probably hit vm.max_map_count = 65530 (2 memory mappings per task)";
        assert_eq!(sentence(Some(32_098), 0), near);
        // Counted while the program was starting more.
        assert!(
            sentence(None, 16_370).starts_with("probably hit vm.max_map_count = 65530 near 16,370 threads")
        );
        let evidence = LimitEvidence { started: Some(32_500), ..LimitEvidence::default() };
        let sentence = detect_limit(&limits(), Kind::Thread, &evidence).unwrap().sentence;
        assert!(sentence.starts_with("probably hit kernel.pid_max = 32768"), "{sentence}");
    }

    #[test]
    fn open_file_limits_are_recognized_by_the_message() {
        let met = |limits: &SystemLimits, evidence| detect_limit(limits, Kind::Stackless, &evidence).unwrap();
        let evidence =
            LimitEvidence { stderr: "accept: Too many open files (os error 24)", ..LimitEvidence::default() };
        let found = met(&limits(), evidence.clone());
        assert_eq!(found.limit.lift.as_deref(), Some("ulimit -n 4096"));
        assert_eq!(found.remedy.as_deref(), Some("raise it to its hard limit: `ulimit -n 4096`"));
        // The program's own limit counts: Go raises it for itself.
        let own = LimitEvidence { open_files: Some(OwnFiles { soft: 4096, hard: Some(4096) }), ..evidence };
        let found = met(&limits(), own);
        assert_eq!(
            (found.limit.name.as_str(), found.limit.value, &found.limit.lift),
            ("ulimit -n", 4096, &None)
        );
        let machine = SystemLimits { machine_files: Some(9000), ..limits() };
        let evidence = LimitEvidence { stderr: "Too many open files in system", ..LimitEvidence::default() };
        assert_eq!(met(&machine, evidence).limit.name, "fs.file-max");
    }
}
