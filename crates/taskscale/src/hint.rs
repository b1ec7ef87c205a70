//! What to do about an error: a command to run, or a cause.

use std::io::{Error as IoError, ErrorKind};

use taskscale_measure::MeasureError;
use taskscale_measure::units::UnitError;

/// The hint for failures whose cause is unknown.
pub const UNKNOWN: &str = "--verbose shows each step; `taskscale doctor` checks this machine";

/// An error with a hint on what to do about it.
pub trait Hint: std::error::Error {
    /// The hint below the message. `None` if the message is enough.
    fn hint(&self) -> Option<String>;
}

/// Implements `Hint` for an error enum: by these arms, or else by the strum message of the variant.
macro_rules! hints {
    ($error:ty { $($variant:pat => $hint:expr,)* }) => {
        impl $crate::hint::Hint for $error {
            fn hint(&self) -> Option<String> {
                #[allow(unused_imports, reason = "some errors have no arm that needs it")]
                use $crate::hint::Hint as _;
                match self {
                    $($variant => $hint,)*
                    _ => strum::EnumMessage::get_message(self).map(str::to_owned),
                }
            }
        }
    };
}
pub(crate) use hints;

impl Hint for IoError {
    fn hint(&self) -> Option<String> {
        let hint = match self.kind() {
            ErrorKind::NotFound
            | ErrorKind::ReadOnlyFilesystem
            | ErrorKind::NotADirectory
            | ErrorKind::AlreadyExists => return None,
            ErrorKind::PermissionDenied => "`ls -ld PATH` shows its owner and mode",
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
                "free space on that disk (`df -h`); results are kept, and the same command resumes"
            }
            ErrorKind::OutOfMemory => "free memory, or use fewer tasks: -n",
            _ if self.raw_os_error() == Some(libc::EMFILE) => {
                "raise the limit of open files: `ulimit -n 65536`"
            }
            _ => UNKNOWN,
        };
        Some(hint.to_owned())
    }
}

impl Hint for MeasureError {
    fn hint(&self) -> Option<String> {
        let hint = match self {
            MeasureError::Io { error, .. } => match error.kind() {
                ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
                    "`taskscale doctor` shows which cgroups this user can create, and how to get one"
                }
                _ => return error.hint(),
            },
            MeasureError::NotInitialized => return None,
            MeasureError::Launcher(_) => "`dmesg` may show the kernel's reason; the same command resumes",
        };
        Some(hint.to_owned())
    }
}

impl Hint for UnitError {
    fn hint(&self) -> Option<String> {
        // The messages of the other variants already list what is accepted.
        let UnitError::Ambiguous { number, binary, .. } = self else { return None };
        Some(format!("most tools mean {number}{binary}"))
    }
}
