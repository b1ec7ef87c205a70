//! One campaign at a time on a machine: two would measure each other.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::time::Duration;

use super::{Interrupt, MeasureError};

/// Held for as long as it lives. The kernel lets go of it however the process ends.
#[derive(Debug)]
pub struct MachineLock {
    _file: Option<File>,
}

impl MachineLock {
    /// Waits until no other taskscale of any user measures on this machine; `waiting` is told once who does. Returns
    /// `None` if the user interrupts. `holder` is what others will be told of us.
    pub fn acquire(
        holder: &str,
        interrupt: &Interrupt,
        mut waiting: impl FnMut(&str),
    ) -> Result<Option<MachineLock>, MeasureError> {
        let path = lock_path();
        let open = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            // Others must be able to take the lock after us; a link planted in a folder for all is not followed.
            .mode(0o666)
            .custom_flags(libc::O_NOFOLLOW | libc::O_CLOEXEC)
            .open(&path);
        let mut file = match open {
            Ok(file) => file,
            // Another user's file that we may not write (fs.protected_regular): better unlocked than not at all.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                return Ok(Some(MachineLock { _file: None }));
            }
            Err(error) => return Err(MeasureError::Io { what: "open", path, error }),
        };
        let mut told = false;
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => {
                    return Err(MeasureError::Io { what: "lock", path, error });
                }
            }
            if !std::mem::replace(&mut told, true) {
                let mut text = String::new();
                // Who holds it is a courtesy: unreadable is no reason to stop waiting.
                let _ = file.rewind().and_then(|()| (&file).take(1000).read_to_string(&mut text));
                waiting(text.trim());
            }
            if interrupt.signal().is_some() {
                return Ok(None);
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        // Likewise a courtesy, on a disk that may be full.
        let _ = file.set_len(0).and_then(|()| file.rewind()).and_then(|()| file.write_all(holder.as_bytes()));
        Ok(Some(MachineLock { _file: Some(file) }))
    }
}

/// One path for all users of the machine. `TASKSCALE_LOCK` names another: for tests, which may measure side by side.
fn lock_path() -> PathBuf {
    std::env::var_os("TASKSCALE_LOCK").map_or_else(|| PathBuf::from("/tmp/taskscale.lock"), PathBuf::from)
}
