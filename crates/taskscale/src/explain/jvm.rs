//! The JVM's adapter: histograms of the heap and native memory tracking, by `jcmd`.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::sheet::{AdapterAnswer, PartName, PartSource, Parts, ReservedHeap};

/// Asks the JVMs among these processes.
pub fn ask(pids: &[u32]) -> Result<AdapterAnswer, String> {
    let is_jvm = |pid: &&u32| {
        fs::read_to_string(format!("/proc/{pid}/maps")).is_ok_and(|maps| maps.contains("/libjvm.so"))
    };
    let mut answer = AdapterAnswer::default();
    for pid in pids.iter().filter(is_jvm) {
        let jcmd = jcmd_of(*pid)?;
        let run = |words: &[&str]| run(&jcmd, *pid, words);
        let (heap, native) = (run(&["GC.heap_info"])?, run(&["VM.native_memory", "summary"])?);
        let live = histogram(&run(&["GC.class_histogram"])?);
        let (low, high) = heap_range(&heap).ok_or_else(|| format!("unknown heap range: {heap}"))?;
        add(&mut answer.parts, &live, &native);
        let live_bytes = live.iter().map(|(_, bytes)| bytes).sum::<f64>()
            + answer.heap.map_or(0.0, |heap| heap.live_bytes);
        answer.heap = Some(ReservedHeap { low, high, live_bytes });
    }
    if answer.parts.is_empty() { Err("none of the processes is a JVM".to_owned()) } else { Ok(answer) }
}

/// The `jcmd` of the JDK that a process runs in.
fn jcmd_of(pid: u32) -> Result<PathBuf, String> {
    let java =
        fs::read_link(format!("/proc/{pid}/exe")).map_err(|error| format!("process {pid}: {error}"))?;
    let jcmd = java.with_file_name("jcmd");
    match jcmd.is_file() {
        true => Ok(jcmd),
        false => {
            Err(format!("the JVM has no jcmd: {} is missing (a JDK has it, a JRE may not)", jcmd.display()))
        }
    }
}

fn run(jcmd: &PathBuf, pid: u32, words: &[&str]) -> Result<String, String> {
    let output = Command::new(jcmd).arg(pid.to_string()).args(words).stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("{}: {error}", jcmd.display()))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(text);
    }
    let why = String::from_utf8_lossy(&output.stderr).into_owned() + &text;
    Err(format!("jcmd {}: {}", words.join(" "), why.lines().last().unwrap_or("it failed")))
}

/// Class and bytes: `   1:        100017       72012240  jdk.internal.vm.StackChunk (java.base@25)`.
fn histogram(text: &str) -> Vec<(String, f64)> {
    let line = |line: &str| {
        let mut words = line.split_whitespace();
        words.next()?.strip_suffix(':')?.parse::<u64>().ok()?;
        let (_, bytes, class) = (words.next()?, words.next()?, words.next()?);
        Some((class.to_owned(), bytes.parse().ok()?))
    };
    text.lines().filter_map(line).collect()
}

/// The addresses that are reserved for the heap: `… [0x0000000687000000, 0x00000007ffc00000)`, the first and the last.
fn heap_range(text: &str) -> Option<(u64, u64)> {
    let numbers = text.split("0x").skip(1).filter_map(|rest| {
        let digits: String = rest.chars().take_while(char::is_ascii_hexdigit).collect();
        u64::from_str_radix(&digits, 16).ok()
    });
    let line = numbers.take(2).collect::<Vec<_>>();
    match line[..] {
        [low, high] => Some((low, high)),
        _ => None,
    }
}

/// Categories of native memory tracking with their committed bytes, without what is known otherwise: the heap from its
/// histogram, stacks of threads from mappings; and without what the tracking itself takes.
/// `-                     Class (reserved=1048717KB, committed=141KB)`.
fn native(text: &str) -> Vec<(String, f64)> {
    let mut categories: Vec<(String, f64)> = Vec::new();
    for line in text.lines().map(str::trim) {
        let Some(bytes) = committed_bytes(line) else { continue };
        if let Some((name, _)) = line.strip_prefix('-').and_then(|line| line.split_once('(')) {
            categories.push((name.trim().to_owned(), bytes));
        } else if let Some((_, of_threads)) = categories.last_mut().filter(|_| line.starts_with("(stack:")) {
            *of_threads -= bytes;
        }
    }
    categories.retain(|(name, _)| !["Java Heap", "Native Memory Tracking"].contains(&name.as_str()));
    categories
}

fn committed_bytes(line: &str) -> Option<f64> {
    let committed = line.split("committed=").nth(1)?;
    let digits: String = committed.chars().take_while(char::is_ascii_digit).collect();
    let unit = if committed[digits.len()..].starts_with("KB") { 1024.0 } else { 1.0 };
    Some(digits.parse::<f64>().ok()? * unit)
}

fn add(parts: &mut Parts, live: &[(String, f64)], native_text: &str) {
    let mut put = |group: PartSource, name: String, bytes: f64| {
        *parts.entry(PartName { group, name }).or_default() += bytes
    };
    for (class, bytes) in live {
        put(PartSource::Live, class.clone(), *bytes);
    }
    for (name, bytes) in native(native_text) {
        put(PartSource::Unused, format!("JVM: {name} (committed)"), bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn histograms_heaps_and_native_memory_are_read() {
        let text = "\n num     #instances         #bytes  class name (module)\n----\n   1:        100017       72012240  \
                    jdk.internal.vm.StackChunk (java.base@25)\n   2:  3  168  [B (java.base@25)\nTotal  5  100\n";
        assert_eq!(
            histogram(text),
            [("jdk.internal.vm.StackChunk".to_owned(), 72_012_240.0), ("[B".to_owned(), 168.0)]
        );
        let heap = "123:\n garbage-first heap   total reserved 6170624K, committed 389120K, used 87654K \
                    [0x0000000687000000, 0x00000007ffc00000)\n  region size 4096K";
        assert_eq!(heap_range(heap), Some((0x6_8700_0000, 0x7_ffc0_0000)));
        let text = "Total: reserved=1KB, committed=2KB\n-                 Java Heap (reserved=6170624KB, committed=389120KB)\n\
                    -                     Class (reserved=1048717KB, committed=141KB)\n                            (classes #511)\n\
                    -                    Thread (reserved=2048KB, committed=300KB)\n                            (threads #20)\n\
                                                (stack: reserved=2000KB, committed=252KB)\n";
        let categories = [("Class".to_owned(), 141.0 * 1024.0), ("Thread".to_owned(), 48.0 * 1024.0)];
        assert_eq!(native(text), categories);
    }
}
