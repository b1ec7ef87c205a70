//! Recorded runs, judged by the current rules: TASKSCALE_BLESS=1 rewrites the expected traces/verdicts.txt.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use taskscale_measure::{
    DropReason, Measurement, ProgramEnd, RunEvent, Status, TimedEvent, Timeline, TraceError, analyze,
    read_trace, write_trace,
};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/traces")
}

fn traces() -> Vec<PathBuf> {
    let children = fs::read_dir(folder()).unwrap().map(|child| child.unwrap().path());
    let mut traces: Vec<PathBuf> =
        children.filter(|path| path.extension().is_some_and(|end| end == "jsonl")).collect();
    traces.sort();
    traces
}

/// A run in one line.
fn verdict(measured: &Measurement) -> String {
    let footprint = measured.memory.plateau.as_ref().map_or(0, |plateau| plateau.footprint_bytes);
    let ms = |seconds: Option<f64>| seconds.map_or("-".to_owned(), |s| format!("{:.0}", s * 1e3));
    let warnings: Vec<String> = measured.warnings.iter().map(|warning| format!("{warning:?}")).collect();
    format!(
        "{} alive={} footprint={} launch={} plateau={} wall={} cpu={} [{}] {}",
        measured.status,
        measured.alive.map_or("-".to_owned(), |alive| alive.to_string()),
        footprint,
        ms(measured.time.launch_s),
        ms(measured.time.plateau_s),
        ms(measured.time.wall_s),
        ms(measured.cpu.total_s()),
        warnings.join(" "),
        measured.reason.as_deref().unwrap_or("").replace('\n', " "),
    )
}

#[test]
fn kept_runs_have_the_recorded_verdicts() {
    let mut found = String::new();
    for path in traces() {
        let (spec, timeline) = read_trace(&path).unwrap_or_else(|error| panic!("{error}"));
        let name = path.file_stem().unwrap().to_string_lossy();
        found.push_str(&format!("{name}: {}\n", verdict(&analyze(&timeline, &spec)).trim_end()));
    }
    let recorded = folder().join("verdicts.txt");
    if std::env::var_os("TASKSCALE_BLESS").is_some() {
        fs::write(&recorded, &found).unwrap();
    }
    let recorded = fs::read_to_string(recorded).unwrap();
    for (found, recorded) in found.lines().zip(recorded.lines()) {
        assert_eq!(found, recorded);
    }
    assert_eq!(found.lines().count(), recorded.lines().count());
}

#[test]
fn a_rewritten_trace_reads_back_unchanged() {
    let temporary = tempfile::tempdir().unwrap();
    for path in traces() {
        let (spec, timeline) = read_trace(&path).unwrap();
        let copy = temporary.path().join(path.file_name().unwrap());
        write_trace(&copy, &spec, &timeline).unwrap();
        let (spec_again, again) = read_trace(&copy).unwrap();
        assert_eq!(again.events(), timeline.events(), "{}", path.display());
        assert_eq!(again.usage(), timeline.usage(), "{}", path.display());
        assert_eq!(analyze(&again, &spec_again), analyze(&timeline, &spec));
    }
}

/// A sample has the time at which its round began, perhaps before the event that discarded earlier ones.
#[test]
fn samples_after_a_dropped_reading_survive_rewriting() {
    let (spec, kept) = read_trace(&folder().join("how-it-ends-well.jsonl")).unwrap();
    let mut timeline = Timeline::new(kept.started_at, kept.host.clone());
    let point = kept.usage().points()[0];
    timeline.push(10, RunEvent::Usage(point));
    timeline.push(100, RunEvent::Dropped(DropReason::Grew));
    timeline.push(90, RunEvent::Usage(point));
    let ends = |event: &RunEvent| matches!(event, RunEvent::Ended(_) | RunEvent::Account(_));
    for kept in kept.events().iter().filter(|kept| ends(&kept.event)) {
        timeline.push(kept.at_ns, kept.event.clone());
    }
    assert_eq!(timeline.usage().points().len(), 1);
    let temporary = tempfile::tempdir().unwrap();
    let copy = temporary.path().join("copy.jsonl");
    write_trace(&copy, &spec, &timeline).unwrap();
    assert_eq!(read_trace(&copy).unwrap().1.usage(), timeline.usage());
}

/// The measurement of a recorded run with edited events. An event is removed if `edit` returns false.
fn edited(name: &str, edit: impl Fn(&mut TimedEvent) -> bool) -> Measurement {
    let (spec, timeline) = read_trace(&folder().join(format!("{name}.jsonl"))).unwrap();
    let mut copy = Timeline::new(timeline.started_at, timeline.host.clone());
    for point in timeline.usage().points() {
        copy.push(point.sample.at_ns, RunEvent::Usage(*point));
    }
    for event in timeline.events() {
        let mut event = event.clone();
        if edit(&mut event) {
            copy.push(event.at_ns, event.event);
        }
    }
    analyze(&copy, &spec)
}

/// Cases that machines seldom produce.
#[test]
fn edited_runs_have_the_expected_verdicts() {
    type Edit = fn(&mut RunEvent);
    let account: [(Edit, Status, &str); 4] = [
        (
            |event| {
                if let RunEvent::Account(account) = event {
                    account.want.oom_kills = 1
                }
            },
            Status::KilledOom,
            "the machine or a parent cgroup was out of memory",
        ),
        (
            |event| {
                if let RunEvent::Account(account) = event {
                    account.came_back = true
                }
            },
            Status::Failed,
            "left the cgroup of the run and came back",
        ),
        (
            |event| {
                if let RunEvent::Reading(read) = event {
                    read.escaped = 2
                }
            },
            Status::Failed,
            "2 processes left the cgroup",
        ),
        (
            |event| {
                if let RunEvent::Reading(read) = event {
                    read.reading.contradiction = Some((9 << 20, 1 << 20))
                }
            },
            Status::NoPlateau,
            "its processes have 9.0 MiB of anonymous memory",
        ),
    ];
    for (edit, status, reason) in account {
        let run = edited("how-it-ends-well", |event| {
            edit(&mut event.event);
            true
        });
        assert_eq!(run.status, status, "{:?}", run.reason);
        assert!(run.reason.as_deref().unwrap_or("").contains(reason), "{:?}", run.reason);
    }
}

/// A process may leave its cgroup, work, and be gone when taskscale looks.
#[test]
fn cpu_time_spent_outside_the_cgroup_fails_the_run() {
    for (missing_s, status) in [(0.01, Status::Ok), (0.05, Status::Failed)] {
        let run = edited("work-well", |event| {
            if let RunEvent::Account(account) = &mut event.event {
                account.cpu.as_mut().unwrap().total_s -= missing_s;
            }
            true
        });
        assert_eq!(run.status, status, "{:?}", run.reason);
        assert!(run.reason.is_none_or(|reason| reason.contains("0.05 s of CPU time are missing")));
    }
}

/// A process that detached itself from the program is accounted to it no longer, but to the launcher.
#[test]
fn cpu_time_of_orphans_counts_toward_the_program() {
    let run = edited("work-well", |event| {
        if let RunEvent::Ended(ProgramEnd::Exited { orphans_s, .. }) = &mut event.event {
            *orphans_s += 1.0;
        }
        true
    });
    assert_eq!(run.status, Status::Failed);
    assert!(run.reason.is_some_and(|reason| reason.contains("of CPU time are missing")));
}

/// A line has the time at which it was read, which may be after the exit.
#[test]
fn work_ends_no_later_than_its_program() {
    let (spec, timeline) = read_trace(&folder().join("work-well.jsonl")).unwrap();
    let kept = analyze(&timeline, &spec);
    let late = edited("work-well", |event| {
        if matches!(&event.event, RunEvent::Line(line) if line.starts_with("done")) {
            event.at_ns += 60_000_000_000;
        }
        true
    });
    assert_eq!((late.status, late.time.drain_s), (Status::Ok, Some(0.0)), "{:?}", late.reason);
    assert_eq!(late.time.wall_s, kept.time.wall_s);
    let work = late.work.and_then(|work| work.wall_s);
    assert!(work <= late.time.wall_s, "{work:?}");
}

/// taskscale may get no CPU right before the first task is due. A change seen later may come from tasks that
/// started late or from tasks that are ending, so only unchanged memory is evidence.
#[test]
fn a_late_last_look_proves_only_unchanged_memory() {
    let seen = |bytes: fn(u64) -> u64| {
        edited("cause-before-effect-well", |event| {
            if let RunEvent::LastLook(look) = &mut event.event {
                event.at_ns += 10_000_000_000;
                let standing = look.standing.as_mut().unwrap();
                standing.shown = bytes(standing.shown);
            }
            true
        })
    };
    let stands = seen(|bytes| bytes);
    assert_eq!(stands.status, Status::Ok, "{:?}", stands.reason);
    let changes: [fn(u64) -> u64; 2] = [|bytes| bytes + 900_000, |_| 0];
    for change in changes {
        let unwatched = seen(change);
        assert_eq!(unwatched.status, Status::NoPlateau);
        assert!(unwatched.reason.is_some_and(|reason| reason.contains("not scheduled")));
    }
}

/// Without the last look, a task that started after the reading would go unnoticed.
#[test]
fn a_run_without_a_last_look_is_doubted() {
    for name in ["how-it-ends-well", "wrong-output-alive-early"] {
        let unseen = edited(name, |event| !matches!(event.event, RunEvent::LastLook(_)));
        assert_eq!(unseen.status, Status::NoPlateau, "{name}: {:?}", unseen.reason);
    }
}

#[test]
fn invalid_traces_are_refused() {
    let temporary = tempfile::tempdir().unwrap();
    let kept = fs::read_to_string(folder().join("how-it-ends-well.jsonl")).unwrap();
    let whole: Vec<&str> = kept.lines().collect();
    let without = |event| -> String {
        whole.iter().filter(|line| !line.contains(event)).map(|line| format!("{line}\n")).collect()
    };
    let files: BTreeMap<&str, String> = [
        ("empty", String::new()),
        ("sample", "{\"schema\":1}\n".to_owned()),
        ("version", kept.replacen("\"taskscale_trace\":1", "\"taskscale_trace\":2", 1)),
        ("cut", whole[..whole.len() - 1].join("\n")),
        ("cut in a line", kept[..kept.len() - 20].to_owned()),
        ("unstarted", without("\"exec\"")),
        ("unended", without("\"ended\"")),
        ("event", kept.replace("\"plateau\":", "\"plateaux\":")),
    ]
    .into();
    for (name, text) in files {
        let path = temporary.path().join(name);
        fs::write(&path, text).unwrap();
        let error = read_trace(&path).unwrap_err();
        let right = match name {
            "empty" | "sample" => matches!(error, TraceError::NotATrace { .. }),
            "version" => matches!(error, TraceError::Version { version: 2, .. }),
            "unstarted" => matches!(error, TraceError::Lacks { event: "exec", .. }),
            "unended" => matches!(error, TraceError::Lacks { event: "ended", .. }),
            "event" => matches!(error, TraceError::Line { .. }),
            _ => matches!(error, TraceError::CutOff { .. }),
        };
        assert!(right && error.to_string().contains(name), "{name}: {error}");
    }
    let huge = temporary.path().join("huge");
    fs::File::create(&huge).unwrap().set_len(1 << 40).unwrap();
    assert!(matches!(read_trace(&huge).unwrap_err(), TraceError::TooLarge { .. }));
    for path in [temporary.path(), Path::new("/dev/zero"), Path::new("/no/such/file")] {
        assert!(matches!(read_trace(path).unwrap_err(), TraceError::Io { .. }));
    }
}
