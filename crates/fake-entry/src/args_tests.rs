use super::*;
use crate::faults::Phase;

fn options(line: &str) -> Options {
    match parse(line.split_whitespace().map(String::from)) {
        Ok(Invocation::Run(options)) => *options,
        other => panic!("{line}: {other:?}"),
    }
}

fn error(line: &str) -> String {
    match parse(line.split_whitespace().map(String::from)) {
        Err(message) => message,
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn flags_and_positionals_in_any_order() {
    let expected = options("--launch-ms 5 --no-protocol 10 2");
    assert_eq!(expected, options("10 --launch-ms=5 2 --no-protocol"));
    assert_eq!(expected, options("10 2 --no-protocol --launch-ms 5"));
    assert_eq!((expected.tasks, expected.seconds), (10, 2));
    assert_eq!(expected.launch, Duration::from_millis(5));
}

#[test]
fn what_grows_with_tasks() {
    let o = options(
        "--launch-ms 10 --launch-ms-per-1k 3 --anon-bytes 1MiB --anon-bytes-per-task 100 \
         --threads 2 --threads-per-task 1 500 1",
    );
    assert_eq!(o.launch, Duration::from_micros(11_500));
    assert_eq!(o.memory.anon, (1 << 20) + 50_000);
    assert_eq!(o.threads, 502);
    assert!(error("--anon-bytes-per-task 8GiB 9999999999999 1").contains("too large"));
    assert!(error("--launch-ms-per-1k 1000 1000000 1").contains("at most"));
}

#[test]
fn faults_and_where_they_begin() {
    let o = options("--fault crash:plateau:ABRT --fault partial:3 10 1");
    assert_eq!(o.faults, [Fault::Crash(Phase::Plateau, libc::SIGABRT), Fault::Partial(3)]);
    assert!(options("--fault partial:3 --faults-from 11 10 1").faults.is_empty());
    assert_eq!(options("--faults-from 10 --fault lie 10 1").faults, [Fault::Lie]);
}

#[test]
fn work_is_told_operations() {
    let o = options("--work --op-cpu-us 3 --op-sleep-us 2 --work-cpu-ms 5 10 1000");
    let (cpu, sleep) = (Duration::from_millis(8), Duration::from_millis(2));
    assert_eq!(o.work, Some(WorkOptions { operations: 1000, cpu, sleep, threads: false }));
    assert_eq!((o.tasks, o.seconds), (10, 0));
    // More operations than any wait may have seconds.
    assert_eq!(options("1 100000000 --work").work.map(|work| work.operations), Some(100_000_000));
}

#[test]
fn a_server_is_told_tasks_and_an_address() {
    let o = options("--serve chat --op-cpu-us 3 --op-sleep-us 2000 7 --listen 127.0.0.1:0");
    let (cpu, delay) = (Duration::from_micros(3), Duration::from_millis(2));
    let address = (Ipv4Addr::LOCALHOST, 0).into();
    let serve = ServeOptions { service: Service::Chat, address, cpu, delay, bytes_per_connection: 0 };
    assert_eq!((o.serve, o.tasks, o.listen), (Some(serve), 7, None));
    // Without a server it is a port that connections are held at.
    assert_eq!(options("1 1 --listen 80").listen, Some((Ipv4Addr::LOCALHOST, 80).into()));
}

#[test]
fn metrics() {
    let o = options("--metric a:b=1.5:ns/task --metric x=:y 1 1");
    let texts: Vec<_> = o.metrics.iter().map(|m| [&*m.name, &*m.value, &*m.unit]).collect();
    assert_eq!(texts, [["a:b", "1.5", "ns/task"], ["x", "", "y"]]);
    assert!(error("--metric a=1 1 1").contains("NAME=VALUE:UNIT"));
}

#[test]
fn wrong_usage_is_said() {
    for (line, words) in [
        ("", "got 0"),
        ("1", "got 1"),
        ("1 2 3", "got 3"),
        ("x 1", "tasks x: not a whole number"),
        ("1 1.5", "seconds 1.5: not a whole number"),
        ("1 301", "at most"),
        ("--nonsense 1 1", "unknown flag --nonsense"),
        ("1 1 -5", "unknown flag -5"),
        ("1 1 --threads", "--threads needs a value"),
        ("--threads many 1 1", "--threads many: not a whole number"),
        ("--burn-percent 101 1 1", "at most 100"),
        ("--file-bytes 1 1 1", "needs --file"),
        ("--file /x 1 1", "needs --file-bytes"),
        ("--fault nonsense 1 1", "unknown fault"),
        ("--drain-ms 300001 1 1", "at most"),
        ("--work 1", "expected <tasks> <operations>, got 1"),
        ("--serve echo 1", "needs --listen"),
        ("--serve echo 1 1 --listen 0", "expected <tasks> alone, got 2"),
        ("--serve echo --work 1 --listen 0", "exclude each other"),
        ("--serve tea 1 --listen 0", "echo or chat"),
        ("--serve echo 0 --listen 0", "at least one"),
        ("--serve echo 1 --listen nonsense:x", "not an address"),
        ("1 1 --listen 65536", "at most 65535"),
        ("--work 1 0", "operations 0: at least one"),
        ("--work --op-cpu-us 1000 1 300001", "work: at most"),
    ] {
        let message = error(line);
        assert!(message.contains(words), "{line}: {message}");
    }
}

/// The table in the README and the parser name the same flags.
#[test]
fn readme_lists_every_flag() {
    let readme = include_str!("../README.md");
    let mut listed: Vec<&str> = readme
        .lines()
        .filter_map(|line| line.strip_prefix("| `--"))
        .map(|rest| rest.split([' ', '`']).next().unwrap_or(rest))
        .collect();
    let mut parsed: Vec<&str> = VALUED.iter().map(|flag| &flag[2..]).collect();
    parsed.extend(["help", "version", "no-protocol", "work", "op-threads"]);
    listed.sort_unstable();
    parsed.sort_unstable();
    assert_eq!(listed, parsed);
    for flag in VALUED {
        let result = set(&mut Options::default(), &mut Raw::default(), flag, "1");
        assert_ne!(result, Err("unknown flag".to_owned()), "{flag}");
    }
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
            assert!(form.parse::<Fault>().is_ok(), "{form}");
        }
    }
    assert_eq!(names, crate::faults::NAMES);
}
