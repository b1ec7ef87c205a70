//! The faults that `--fault NAME[:ARG]` accepts.
//!
//! Only their names and arguments: `perform.rs` carries them out. README.md explains each.

use std::str::FromStr;

use strum::EnumString;

use crate::sizes::size;

/// When a fault strikes. `Launch`: last thing before `alive`. `Plateau`: halfway between `alive`
/// and the end of the wait. `Drain`: last thing before `done`. `End`: after `done`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString)]
#[strum(serialize_all = "kebab-case")]
pub enum FaultPhase {
    Launch,
    Plateau,
    Drain,
    End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString)]
#[cfg_attr(test, derive(strum::VariantArray))]
#[strum(serialize_all = "kebab-case")]
pub enum Fault {
    Crash,
    Exit,
    Hang,
    Oom,
    OomChild,
    FileLimit,
    SignalParent,
    Subgroups,
    Flood,
    FloodStderr,
    LongLine,
    Binary,
    NoAlive,
    AliveEarly,
    AliveTwice,
    AliveTooMany,
    Partial,
    Lie,
    NoDone,
    Failed,
    DoneShort,
    NoNewline,
    CloseStdout,
    EscapeText,
    ThreadLimit,
    ForkBomb,
    Orphan,
    OrphanHoldsStdout,
    Daemon,
    Stop,
    IgnoreTerm,
    Setsid,
    Escape,
    Grow,
    NoReady,
    ReadyLate,
    WrongCheck,
    WorkAfter,
    Flip,
    Swap,
    CloseEvery,
    StopAccepting,
    Double,
    Lose,
    Stray,
    NoPong,
    Stall,
    KeepAll,
    ChdirWrite,
    EnvDump,
    FdDump,
}

/// A fault with its arguments, where it has some.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaultArg {
    pub fault: Fault,
    pub phase: FaultPhase,
    /// A count, bytes, milliseconds, an exit code or a signal.
    pub number: u64,
}

impl Fault {
    /// Default phase and number. `None`: the argument must be given.
    fn defaults(self) -> (Option<FaultPhase>, Option<u64>) {
        use Fault::*;
        let launch = Some(FaultPhase::Launch);
        match self {
            Crash => (None, Some(libc::SIGSEGV as u64)),
            SignalParent => (None, Some(libc::SIGKILL as u64)),
            Exit => (None, None),
            Hang => (None, Some(0)),
            ForkBomb => (launch, Some(5000)),
            Flood | FloodStderr | LongLine | Binary | Partial | Failed | DoneShort => (launch, None),
            Grow | WorkAfter | Flip | CloseEvery | StopAccepting => (launch, None),
            Double | Lose | Stray => (launch, None),
            _ => (launch, Some(0)),
        }
    }
}

impl FromStr for FaultArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut parts = text.split(':');
        let fault: Fault = parts.next().unwrap_or_default().parse().map_err(|_| "unknown fault")?;
        let (mut phase, mut number) = fault.defaults();
        for part in parts {
            match part.parse() {
                Ok(told) => phase = Some(told),
                Err(_) => number = Some(signal(part).map_or_else(|| size(part), Ok)?),
            }
        }
        let phase = phase.ok_or("needs a phase: launch, plateau, drain or end")?;
        Ok(FaultArg { fault, phase, number: number.ok_or("needs a number")? })
    }
}

fn signal(name: &str) -> Option<u64> {
    let number = match name {
        "SEGV" => libc::SIGSEGV,
        "ABRT" => libc::SIGABRT,
        "BUS" => libc::SIGBUS,
        "ILL" => libc::SIGILL,
        "KILL" => libc::SIGKILL,
        "TERM" => libc::SIGTERM,
        "INT" => libc::SIGINT,
        "STOP" => libc::SIGSTOP,
        _ => return None,
    };
    Some(number as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fault_arguments_have_defaults_and_bounds() {
        let parsed =
            |text: &str| text.parse::<FaultArg>().map(|given| (given.fault, given.phase, given.number));
        assert_eq!(parsed("crash:launch"), Ok((Fault::Crash, FaultPhase::Launch, libc::SIGSEGV as u64)));
        assert_eq!(parsed("exit:end:255"), Ok((Fault::Exit, FaultPhase::End, 255)));
        assert_eq!(parsed("oom"), Ok((Fault::Oom, FaultPhase::Launch, 0)));
        assert_eq!(parsed("fork-bomb"), Ok((Fault::ForkBomb, FaultPhase::Launch, 5000)));
        assert_eq!(parsed("flood:1MiB:plateau"), Ok((Fault::Flood, FaultPhase::Plateau, 1 << 20)));
        for bad in
            ["", "crash", "crash:soon", "crash:launch:HUP", "exit:launch", "hang", "partial", "partial:x"]
        {
            assert!(parsed(bad).is_err(), "{bad}");
        }
    }
}
