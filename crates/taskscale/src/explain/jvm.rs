//! The JVM's adapter: histograms of the heap and native memory tracking, by `jcmd`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::sheet::{AdapterAnswer, PartSource, ReservedHeap, add_bytes};
use crate::toolchain::output_within;

/// Timeout for `jcmd`: a JVM answers once its threads have stopped.
const TIMEOUT: Duration = Duration::from_secs(60);

const NO_RANGE: &str = "this collector of the JVM prints no addresses of its heap, as ZGC (`--adapter none` leaves the adapter out)";
/// Before JDK 18 only the launcher can enable it: JDK-8256844.
const NOT_TRACKED: &str =
    "the JVM does not track native memory: before JDK 18 pass -XX:NativeMemoryTracking=summary to java";

/// Asks the JVMs among these processes.
pub fn ask(pids: &[u32]) -> Result<AdapterAnswer, String> {
    let is_jvm = |pid: &&u32| {
        fs::read_to_string(format!("/proc/{pid}/maps")).is_ok_and(|maps| maps.contains("/libjvm.so"))
    };
    let mut answer = AdapterAnswer::default();
    for pid in pids.iter().filter(is_jvm) {
        let jcmd = jcmd_of(*pid)?;
        let run = |words: &[&str]| run(&jcmd, *pid, words);
        let (heap, tracked) = (run(&["GC.heap_info"])?, run(&["VM.native_memory", "summary"])?);
        let live = histogram(&run(&["GC.class_histogram"])?);
        let (low, high) = heap_range(&heap).ok_or(NO_RANGE)?;
        if answer.heap.is_some_and(|other| (other.low, other.high) != (low, high)) {
            return Err(
                "several JVMs with different heaps (`--adapter none` leaves the adapter out)".to_owned()
            );
        }
        if !tracked.contains("committed=") {
            return Err(NOT_TRACKED.to_owned());
        }
        for (class, bytes) in &live {
            add_bytes(&mut answer.parts, PartSource::Live, class, *bytes);
        }
        for (name, bytes) in native(&tracked) {
            let name = format!("JVM: {name} (committed)");
            add_bytes(&mut answer.parts, PartSource::Unused, name, bytes);
        }
        let live_bytes = live.iter().map(|(_, bytes)| bytes).sum::<f64>()
            + answer.heap.map_or(0.0, |heap| heap.live_bytes);
        answer.heap = Some(ReservedHeap { low, high, live_bytes });
    }
    if answer.parts.is_empty() { Err("none of the processes is a JVM".to_owned()) } else { Ok(answer) }
}

/// The `jcmd` of the JDK that runs a process.
fn jcmd_of(pid: u32) -> Result<PathBuf, String> {
    let java =
        fs::read_link(format!("/proc/{pid}/exe")).map_err(|error| format!("process {pid}: {error}"))?;
    let jcmd = java.with_file_name("jcmd");
    let why = "is missing (a JDK has it, a JRE may not)";
    if jcmd.is_file() { Ok(jcmd) } else { Err(format!("the JVM has no jcmd: {} {why}", jcmd.display())) }
}

fn run(jcmd: &Path, pid: u32, words: &[&str]) -> Result<String, String> {
    let fault = |why: &str| format!("jcmd {}: {why}", words.join(" "));
    let mut command = Command::new(jcmd);
    // `jcmd` is a JVM too and would obey these options.
    command.arg(pid.to_string()).args(words).env_remove("JAVA_TOOL_OPTIONS");
    let output = output_within(&mut command, TIMEOUT).map_err(|error| fault(&error.to_string()))?;
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    if output.status.success() { Ok(text) } else { Err(fault(text.lines().last().unwrap_or("it failed"))) }
}

/// Class and bytes: `   1:        100017       72012240  jdk.internal.vm.StackChunk (java.base@25)`.
fn histogram(text: &str) -> Vec<(String, f64)> {
    let line = |line: &str| {
        let mut words = line.split_whitespace();
        words.next()?.strip_suffix(':')?.parse::<u64>().ok()?;
        let (_, bytes, class) = (words.next()?, words.next()?, words.next()?);
        // The address of a hidden class differs from run to run: `Main$$Lambda/0x00007f3c2424e410`.
        Some((class.split("/0x").next().unwrap_or(class).to_owned(), bytes.parse().ok()?))
    };
    text.lines().filter_map(line).collect()
}

/// Lowest and highest address reserved for the heap. G1 prints one range,
/// `[0x0000000687000000, 0x00000007ffc00000)`. Generational collectors print several.
fn heap_range(text: &str) -> Option<(u64, u64)> {
    let number = |word: &str| u64::from_str_radix(word.trim().strip_prefix("0x")?, 16).ok();
    let ranges = text.split('[').skip(1).filter_map(|rest| Some(rest.split_once(')')?.0));
    let numbers: Vec<u64> = ranges.flat_map(|range| range.split(',')).filter_map(number).collect();
    let (low, high) = (*numbers.iter().min()?, *numbers.iter().max()?);
    (low < high).then_some((low, high))
}

/// Categories of native memory tracking with their committed bytes, from lines such as
/// `-                     Class (reserved=1048717KB, committed=141KB)`.
///
/// Without the heap (see its histogram), thread stacks (see mappings) and the tracking itself.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn histogram_heap_range_and_native_memory_are_parsed() {
        let text = "\n num     #instances         #bytes  class name (module)\n----\n   1:        100017       72012240  \
                    jdk.internal.vm.StackChunk (java.base@25)\n   2:  3  168  [B (java.base@25)\nTotal  5  100\n";
        assert_eq!(
            histogram(text),
            [("jdk.internal.vm.StackChunk".to_owned(), 72_012_240.0), ("[B".to_owned(), 168.0)]
        );
        let heap = "123:\n garbage-first heap   total reserved 6170624K, committed 389120K, used 87654K \
                    [0x0000000687000000, 0x00000007ffc00000)\n  region size 4096K";
        assert_eq!(heap_range(heap), Some((0x6_8700_0000, 0x7_ffc0_0000)));
        let serial = " def new generation   total 9792K [0xf0000000, 0xf0aa0000, 0xf5550000)\n  eden space 8704K, 3% \
                      used [0xf0000000, 0xf0050000, 0xf0880000)\n tenured generation   total 21888K [0xf5550000, \
                      0xf6ab0000, 0xffffffff)\n";
        assert_eq!(heap_range(serial), Some((0xf000_0000, 0xffff_ffff)));
        assert_eq!(heap_range("42:\n ZHeap           used 4M, capacity 256M, max capacity 5992M"), None);
        let hidden =
            " 1:  2  32  Main$$Lambda/0x00007f3c2424e410 (x@1)\n 2:  1  16  Main$$Lambda/0x00007f3c24000000";
        assert_eq!(histogram(hidden).iter().filter(|(class, _)| class == "Main$$Lambda").count(), 2);
        let text = "Total: reserved=1KB, committed=2KB\n-                 Java Heap (reserved=6170624KB, committed=389120KB)\n\
                    -                     Class (reserved=1048717KB, committed=141KB)\n                            (classes #511)\n\
                    -                    Thread (reserved=2048KB, committed=300KB)\n                            (threads #20)\n\
                                                (stack: reserved=2000KB, committed=252KB)\n";
        let categories = [("Class".to_owned(), 141.0 * 1024.0), ("Thread".to_owned(), 48.0 * 1024.0)];
        assert_eq!(native(text), categories);
    }
}
