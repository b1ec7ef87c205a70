use super::*;
use crate::faults::FaultPhase;

fn parsed(line: &str) -> Result<Options, String> {
    Options::parse(line.split_whitespace().map(String::from))
}

fn options(line: &str) -> Options {
    parsed(line).unwrap_or_else(|error| panic!("{line}: {error}"))
}

#[test]
fn flags_and_positionals_parse_in_any_order() {
    let expected = options("--launch-ms 5 --no-protocol 10 2");
    assert_eq!(expected, options("10 --launch-ms=5 2 --no-protocol"));
    assert_eq!(expected, options("10 2 --no-protocol --launch-ms 7 --launch-ms 5"));
    assert_eq!((expected.tasks, expected.wait()), (10, Duration::from_secs(2)));
    assert_eq!(expected.launch, Duration::from_millis(5));
}

#[test]
fn per_task_values_are_multiplied() {
    let o = options("--anon-bytes 1MiB --anon-bytes-per-task 100 --threads 2 --threads-per-task 1 500 1");
    assert_eq!((o.anon_bytes, o.threads), ((1 << 20) + 50_000, 502));
}

#[test]
fn faults_start_from_a_number_of_tasks() {
    let o = options("--fault crash:plateau:ABRT --fault partial:3 10 1");
    let crash = FaultArg { fault: Fault::Crash, phase: FaultPhase::Plateau, number: libc::SIGABRT as u64 };
    assert_eq!((o.faults[0], o.number(Fault::Partial), o.has(Fault::Lie)), (crash, Some(3), false));
    assert!(options("--fault partial:3 --faults-from 11 10 1").faults.is_empty());
    assert!(options("--faults-from 10 --fault lie 10 1").has(Fault::Lie));
}

#[test]
fn work_flags_set_operations_and_times() {
    let o = options("--work --op-cpu-us 3 --op-sleep-us 2 --work-cpu-ms 5 10 1000");
    assert_eq!((o.work_cpu(), o.work_sleep()), (Duration::from_millis(8), Duration::from_millis(2)));
    assert_eq!(
        (o.tasks, o.operations(), o.wait(), o.start_cpu()),
        (10, 1000, Duration::ZERO, Duration::ZERO)
    );
    // More operations than any wait may have seconds.
    assert_eq!(options("1 100000000 --work").operations(), 100_000_000);
}

#[test]
fn a_server_takes_tasks_and_an_address() {
    let o = options("--serve chat --op-cpu-us 3 --op-sleep-us 2000 7 --listen 127.0.0.1:0");
    assert_eq!((o.op_cpu, o.op_sleep), (Duration::from_micros(3), Duration::from_millis(2)));
    assert_eq!((o.serve, o.tasks, o.start_cpu()), (Some(Service::Chat), 7, Duration::ZERO));
    // Without a server, connections to this port are only kept open.
    assert_eq!(options("1 1 --listen 80").listen, Some((Ipv4Addr::LOCALHOST, 80).into()));
}

#[test]
fn metrics_and_sizes_are_parsed() {
    let o = options("--say metric,a:b,1.5,ns/task --say metric,x,,y 1 1");
    assert_eq!(o.lines, "metric a:b 1.5 ns/task\nmetric x  y\n");
    assert_eq!(["0", "4097", "3KiB", "3GiB"].map(size), [Ok(0), Ok(4097), Ok(3072), Ok(3 << 30)]);
    for bad in ["", "KiB", "-1", "1.5MiB", "1 MiB", "1MB", "99999999999999999999", "9999999999GiB"] {
        assert!(size(bad).is_err(), "{bad}");
    }
}

#[test]
fn wrong_usage_is_an_error() {
    for line in [
        "",
        "1",
        "1 2 3",
        "x 1",
        "0 1",
        "1 1.5",
        "1 301",
        "--nonsense 1 1",
        "1 1 -5",
        "1 1 --threads",
        "--threads many 1 1",
        "--burn-percent 101 1 1",
        "--file-bytes 1 1 1",
        "--file /x 1 1",
        "--fault nonsense 1 1",
        "--drain-ms 300001 1 1",
        "--work 1",
        "--serve echo 1",
        "--serve echo 1 1 --listen 0",
        "--serve echo --work 1 --listen 0",
        "--serve tea 1 --listen 0",
        "--serve echo 1 --listen nonsense:x",
        "1 1 --listen 65536",
        "--work --op-cpu-us 1000 1 300001",
    ] {
        assert!(parsed(line).is_err(), "{line}");
    }
}

/// The table in the README and the parser name the same flags.
#[test]
fn readme_lists_every_flag() {
    let readme = include_str!("../README.md");
    let listed = readme.lines().filter_map(|line| line.strip_prefix("| `--"));
    let mut listed: Vec<&str> = listed.filter_map(|rest| rest.split([' ', '`']).next()).collect();
    let arms = include_str!("args.rs")
        .lines()
        .filter_map(|line| line.trim().strip_prefix('"')?.split_once("\" => "));
    let mut parsed: Vec<&str> = arms.map(|(name, _)| name).chain(["help", "version"]).collect();
    listed.sort_unstable();
    parsed.sort_unstable();
    assert_eq!(listed, parsed);
}

/// Every fault named in the README's table can be asked for as it is written there.
#[test]
fn readme_lists_every_fault() {
    let readme = include_str!("../README.md");
    let (_, faults) = readme.split_once("## Faults").expect("a section on faults");
    let mut names = 0;
    for line in faults.lines() {
        let Some(text) = line.strip_prefix("| `").and_then(|rest| rest.split('`').next()) else {
            continue;
        };
        names += 1;
        let required = text.split('[').next().unwrap_or(text).replace("PHASE", "drain");
        let all = text.replace(['[', ']'], "").replace("PHASE", "end");
        for form in [required, all] {
            let form = form
                .replace("SIGNAL", "ABRT")
                .replace("CODE", "7")
                .replace("BYTES", "5MiB")
                .replace("MAX", "9")
                .replace("MS", "10")
                .replace(":K", ":2");
            assert!(form.parse::<FaultArg>().is_ok(), "{form}");
        }
    }
    assert_eq!(names, <Fault as strum::VariantArray>::VARIANTS.len());
}
