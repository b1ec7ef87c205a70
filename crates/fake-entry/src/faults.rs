//! The faults: what can be asked for with `--fault NAME[:ARG]`, and what they make the protocol say.
//!
//! Only their names and meaning; `perform.rs` carries them out.

use std::str::FromStr;

use crate::values::{number, size};

/// How many names `--fault` knows; a test counts the README's table against it.
#[cfg(test)]
pub const NAMES: usize = 58;

/// When a fault strikes. `Launch`: last thing before `alive`. `Plateau`: halfway between `alive`
/// and the end of the wait. `Drain`: last thing before `done`. `End`: after `done`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    Launch,
    Plateau,
    Drain,
    End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noise {
    /// Many lines on standard output.
    Flood,
    /// Many lines on standard error.
    FloodStderr,
    /// One line on standard output.
    LongLine,
    /// Bytes of all values on standard output, and a newline.
    Binary,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    Crash(Phase, libc::c_int),
    Exit(Phase, u8),
    Hang(Phase),
    Oom(Phase),
    OomChild,
    FileLimit,
    SignalParent(Phase, libc::c_int),
    Subgroups,
    Noise(Noise, u64, Phase),
    NoAlive,
    AliveEarly,
    AliveTwice,
    AliveTooMany,
    AliveGarbage,
    AliveNegative,
    AliveHuge,
    Partial(u64),
    Lie,
    NoDone,
    Failed(u64),
    DoneShort(u64),
    NoNewline,
    CloseStdout,
    EscapeText,
    ThreadLimit,
    ForkBomb(u64),
    Orphan,
    OrphanHoldsStdout,
    Daemon,
    Stop,
    IgnoreTerm,
    Setsid,
    /// Leaves its control groups.
    Escape,
    /// Takes so many bytes more every 20 ms of the wait.
    Grow(u64),
    TicksLeftOut,
    NoReady,
    ReadyTwice,
    /// `ready` once the work is over.
    ReadyLate,
    /// `done` before the work, and even before `ready`.
    DoneEarly,
    NoCheck,
    WrongCheck,
    /// So many milliseconds of CPU after `done`.
    WorkAfter(u64),
    /// Of a server: a byte of the message that comes after so many.
    Flip(u64),
    /// Of two messages the second goes first.
    Swap,
    /// Closes every so manieth connection at once.
    CloseEvery(u64),
    /// Takes so many connections, and then none.
    StopAccepting(u64),
    /// The delivery that comes after so many is made twice.
    Double(u64),
    /// It is not made.
    Lose(u64),
    /// What is said after so many messages goes to all rooms.
    Stray(u64),
    NoPong,
    /// Who does not read keeps its room waiting.
    Stall,
    /// What is not read is kept, however much it is.
    KeepAll,
    ChdirWrite,
    EnvDump,
    FdDump,
}

impl FromStr for Phase {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "launch" => Ok(Phase::Launch),
            "plateau" => Ok(Phase::Plateau),
            "drain" => Ok(Phase::Drain),
            "end" => Ok(Phase::End),
            _ => Err("a phase is launch, plateau, drain or end".to_owned()),
        }
    }
}

impl FromStr for Fault {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut parts = text.split(':');
        let name = parts.next().unwrap_or_default();
        let args: Vec<&str> = parts.collect();
        let first = || {
            let missing = || format!("{name} needs an argument");
            args.first().copied().ok_or_else(missing)
        };
        let phase_or =
            |index: usize, otherwise: Phase| args.get(index).map_or(Ok(otherwise), |text| text.parse());
        let noise = |kind| Ok::<_, String>(Fault::Noise(kind, size(first()?)?, phase_or(1, Phase::Launch)?));
        // How many arguments the fault takes at most, and the fault.
        let (most, fault) = match name {
            "crash" => {
                let signal = args.get(1).map_or(Ok(libc::SIGSEGV), |text| signal(text))?;
                (2, Fault::Crash(first()?.parse()?, signal))
            }
            "exit" => {
                let code = args.get(1).ok_or("exit needs PHASE:CODE")?;
                let code = u8::try_from(number(code)?).map_err(|_| "a code is at most 255")?;
                (2, Fault::Exit(first()?.parse()?, code))
            }
            "hang" => (1, Fault::Hang(first()?.parse()?)),
            "oom" => (1, Fault::Oom(phase_or(0, Phase::Launch)?)),
            "oom-child" => (0, Fault::OomChild),
            "file-limit" => (0, Fault::FileLimit),
            "signal-parent" => {
                let signal = args.get(1).map_or(Ok(libc::SIGKILL), |text| signal(text))?;
                (2, Fault::SignalParent(first()?.parse()?, signal))
            }
            "subgroups" => (0, Fault::Subgroups),
            "flood" => (2, noise(Noise::Flood)?),
            "flood-stderr" => (2, noise(Noise::FloodStderr)?),
            "long-line" => (2, noise(Noise::LongLine)?),
            "binary" => (2, noise(Noise::Binary)?),
            "no-alive" => (0, Fault::NoAlive),
            "alive-early" => (0, Fault::AliveEarly),
            "alive-twice" => (0, Fault::AliveTwice),
            "alive-too-many" => (0, Fault::AliveTooMany),
            "alive-garbage" => (0, Fault::AliveGarbage),
            "alive-negative" => (0, Fault::AliveNegative),
            "alive-huge" => (0, Fault::AliveHuge),
            "partial" => (1, Fault::Partial(number(first()?)?)),
            "lie" => (0, Fault::Lie),
            "no-done" => (0, Fault::NoDone),
            "failed" => (1, Fault::Failed(number(first()?)?)),
            "done-short" => (1, Fault::DoneShort(number(first()?)?)),
            "no-newline" => (0, Fault::NoNewline),
            "close-stdout" => (0, Fault::CloseStdout),
            "escape-text" => (0, Fault::EscapeText),
            "thread-limit" => (0, Fault::ThreadLimit),
            "fork-bomb" => (1, Fault::ForkBomb(args.first().map_or(Ok(5000), |text| number(text))?)),
            "orphan" => (0, Fault::Orphan),
            "orphan-holds-stdout" => (0, Fault::OrphanHoldsStdout),
            "daemon" => (0, Fault::Daemon),
            "stop" => (0, Fault::Stop),
            "ignore-term" => (0, Fault::IgnoreTerm),
            "setsid" => (0, Fault::Setsid),
            "escape" => (0, Fault::Escape),
            "grow" => (1, Fault::Grow(size(first()?)?)),
            "ticks-left-out" => (0, Fault::TicksLeftOut),
            "no-ready" => (0, Fault::NoReady),
            "ready-twice" => (0, Fault::ReadyTwice),
            "ready-late" => (0, Fault::ReadyLate),
            "done-early" => (0, Fault::DoneEarly),
            "no-check" => (0, Fault::NoCheck),
            "wrong-check" => (0, Fault::WrongCheck),
            "work-after" => {
                let ms = Some(number(first()?)?).filter(|ms| *ms <= crate::args::LONGEST_MS);
                (1, Fault::WorkAfter(ms.ok_or("too long")?))
            }
            "flip" => (1, Fault::Flip(number(first()?)?)),
            "swap" => (0, Fault::Swap),
            "close-every" => {
                let every = Some(number(first()?)?).filter(|every| *every > 0);
                (1, Fault::CloseEvery(every.ok_or("at least 1")?))
            }
            "stop-accepting" => (1, Fault::StopAccepting(number(first()?)?)),
            "double" => (1, Fault::Double(number(first()?)?)),
            "lose" => (1, Fault::Lose(number(first()?)?)),
            "stray" => (1, Fault::Stray(number(first()?)?)),
            "no-pong" => (0, Fault::NoPong),
            "stall" => (0, Fault::Stall),
            "keep-all" => (0, Fault::KeepAll),
            "chdir-write" => (0, Fault::ChdirWrite),
            "env-dump" => (0, Fault::EnvDump),
            "fd-dump" => (0, Fault::FdDump),
            _ => return Err("unknown fault".to_owned()),
        };
        if args.len() > most {
            return Err(format!("{name} takes at most {most} arguments"));
        }
        Ok(fault)
    }
}

fn signal(text: &str) -> Result<libc::c_int, String> {
    match text {
        "SEGV" => Ok(libc::SIGSEGV),
        "ABRT" => Ok(libc::SIGABRT),
        "BUS" => Ok(libc::SIGBUS),
        "ILL" => Ok(libc::SIGILL),
        "KILL" => Ok(libc::SIGKILL),
        "TERM" => Ok(libc::SIGTERM),
        "INT" => Ok(libc::SIGINT),
        "STOP" => Ok(libc::SIGSTOP),
        _ => Err("a signal is SEGV, ABRT, BUS, ILL, KILL, TERM, INT or STOP".to_owned()),
    }
}

/// What stands after `alive`; of several faults that change it the first counts.
pub fn alive_count(faults: &[Fault], tasks: u64) -> String {
    let changed = faults.iter().find_map(|fault| match fault {
        Fault::AliveTooMany => Some((u128::from(tasks) + 1).to_string()),
        Fault::AliveGarbage => Some("lots".to_owned()),
        Fault::AliveNegative => Some(format!("-{}", tasks.max(1))),
        Fault::AliveHuge => Some(format!("1{}", "0".repeat(30))),
        Fault::Partial(count) => Some(tasks.min(*count).to_string()),
        _ => None,
    });
    changed.unwrap_or_else(|| tasks.to_string())
}

/// Tasks or operations done, and those failed, as the program says.
pub fn outcome(faults: &[Fault], tasks: u64) -> (u64, u64) {
    let changed = faults.iter().find_map(|fault| match fault {
        Fault::Failed(count) => Some((tasks.saturating_sub(*count), tasks.min(*count))),
        Fault::DoneShort(count) => Some((tasks.saturating_sub(*count), 0)),
        _ => None,
    });
    changed.unwrap_or((tasks, 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_and_bounds_of_arguments() {
        assert_eq!("crash:launch".parse(), Ok(Fault::Crash(Phase::Launch, libc::SIGSEGV)));
        assert_eq!("exit:end:255".parse(), Ok(Fault::Exit(Phase::End, 255)));
        assert_eq!("oom".parse(), Ok(Fault::Oom(Phase::Launch)));
        assert_eq!("fork-bomb".parse(), Ok(Fault::ForkBomb(5000)));
        let flood = Fault::Noise(Noise::Flood, 1 << 20, Phase::Plateau);
        assert_eq!("flood:1MiB:plateau".parse(), Ok(flood));
        for bad in [
            "",
            "crash",
            "crash:soon",
            "crash:launch:HUP",
            "exit:launch",
            "exit:launch:256",
            "hang",
            "partial",
            "partial:x",
            "lie:1",
            "flood",
            "crash:launch:TERM:1",
        ] {
            assert!(bad.parse::<Fault>().is_err(), "{bad}");
        }
    }

    #[test]
    fn counts_that_are_said() {
        assert_eq!(alive_count(&[Fault::Lie], 7), "7");
        assert_eq!(alive_count(&[Fault::Partial(3)], 7), "3");
        assert_eq!(alive_count(&[Fault::Partial(9)], 7), "7");
        assert_eq!(alive_count(&[Fault::AliveTooMany], u64::MAX), "18446744073709551616");
        assert_eq!(alive_count(&[Fault::AliveHuge], 7).len(), 31);
        assert_eq!(outcome(&[], 7), (7, 0));
        assert_eq!(outcome(&[Fault::Failed(2)], 7), (5, 2));
        assert_eq!(outcome(&[Fault::Failed(9)], 7), (0, 7));
        assert_eq!(outcome(&[Fault::DoneShort(2)], 7), (5, 0));
    }
}
